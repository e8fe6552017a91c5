#include "sim/explore/database.hpp"

#include <fmt/format.h>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {

namespace {

constexpr int kBusyTimeoutMilliseconds = 30'000;

int flags_of(Database::Mode mode) {
    // Reading too: what a killed process left half done must be undone first. SQLite falls back to
    // reading alone where the file is write-protected.
    const int flags = SQLITE_OPEN_READWRITE;
    return mode == Database::Mode::Create ? flags | SQLITE_OPEN_CREATE : flags;
}

}  // namespace

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database.handle_.get(), sql.data(), static_cast<int>(sql.size()),
                             &statement, nullptr));
    statement_.reset(statement);
}

void Statement::check(int code) const {
    if (code != SQLITE_OK) {
        database_.fail();
    }
}

Statement& Statement::bind(int index, std::string_view text) {
    check(sqlite3_bind_text(statement_.get(), index, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
    return *this;
}

Statement& Statement::bind(int index, std::int64_t number) {
    check(sqlite3_bind_int64(statement_.get(), index, number));
    return *this;
}

Statement& Statement::bind(int index, double number) {
    check(sqlite3_bind_double(statement_.get(), index, number));
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        database_.fail();
    }
    return code == SQLITE_ROW;
}

void Statement::run() {
    while (step()) {
    }
    check(sqlite3_reset(statement_.get()));
}

std::string Statement::text(int column) const {
    const auto* bytes =
        reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr ? std::string{} : std::string(bytes, static_cast<std::size_t>(size));
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

Database::Database(const std::string& file, Mode mode) : file_(file) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &handle, flags_of(mode), nullptr);
    handle_.reset(handle);
    if (code != SQLITE_OK) {
        fail();
    }
    sqlite3_busy_timeout(handle, kBusyTimeoutMilliseconds);
}

void Database::execute(const std::string& sql) {
    if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail();
    }
}

void Database::fail() const {
    throw arch::base::config::IoError(fmt::format("{}: {}", file_, sqlite3_errmsg(handle_.get())));
}

Transaction::~Transaction() {
    if (open_) {  // an exception is on its way; SQLite rolls back on closing in any case
        sqlite3_exec(database_.handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void Transaction::commit() {
    database_.execute("COMMIT");
    open_ = false;
}

}  // namespace tilesim::sim::explore
