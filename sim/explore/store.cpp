#include "sim/explore/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "arch/base/config.hpp"
#include "sim/digest.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;
using arch::base::config::IoError;

namespace {

constexpr const char* kSchemaVersion = "tilesim-store-1";
constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sweeps (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL,
    identity TEXT NOT NULL UNIQUE, started_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS members (
    sweep INTEGER NOT NULL, ordinal INTEGER NOT NULL, hash TEXT NOT NULL, settings TEXT NOT NULL,
    PRIMARY KEY (sweep, ordinal)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL, model TEXT NOT NULL, status TEXT NOT NULL,
    error TEXT NOT NULL, scenario TEXT NOT NULL,
    device_settings TEXT NOT NULL, base_file TEXT NOT NULL, result TEXT NOT NULL,
    wall_s REAL NOT NULL, peak_mib REAL NOT NULL, finished_at TEXT NOT NULL,
    UNIQUE (hash, model));
)";
// The ids of points, given before any has ended. Stores of before 2026-11-28 have no such table.
constexpr const char* kIds = R"(
CREATE TABLE IF NOT EXISTS ids (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL, model TEXT NOT NULL, UNIQUE (hash, model));
INSERT OR IGNORE INTO ids SELECT id, hash, model FROM points;
)";
constexpr int kColumnCount = 12;
constexpr const char* kColumns =
    "id, hash, model, status, error, scenario, device_settings, base_file, result, wall_s, "
    "peak_mib, finished_at";
// What ends well: the point's own answer, good or bad.
constexpr const char* kEndedWell = "('ok', 'invalid')";

std::string now_text() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[sizeof "2000-01-01T00:00:00Z"] = {};
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::string json_of(const Settings& settings) {
    auto json = nlohmann::ordered_json::object();
    for (const auto& [key, value] : settings) {
        json[key] = value;
    }
    return json.dump();
}

StoredPoint point_in(const Statement& row) {
    StoredPoint point;
    point.id = row.integer(0);
    std::string* const texts[] = {&point.hash,      &point.model,    &point.status,
                                  &point.error,     &point.scenario, &point.device_settings,
                                  &point.base_file, &point.result};
    int column = 1;
    for (std::string* text : texts) {
        *text = row.text(column++);
    }
    point.wall_s = row.real(column++);
    point.peak_mib = row.real(column++);
    point.finished_at = row.text(column);
    return point;
}

// Text that every SQLite file starts with.
constexpr std::string_view kMagic = "SQLite format 3";

ConfigError no_store(const std::string& file) {
    return ConfigError(fmt::format("{}: is no {} store", file, kSchemaVersion));
}

Database open(const std::string& file, Store::Mode mode) {
    std::error_code error;
    if (mode == Store::Mode::Read && !std::filesystem::exists(file, error)) {
        throw IoError(fmt::format("{}: there is no such store; `tilesim sweep` writes them", file));
    }
    if (std::filesystem::is_directory(file, error)) {
        throw IoError(fmt::format("{}: is a directory, not a store", file));
    }
    std::string start(kMagic.size(), '\0');
    std::ifstream in(file, std::ios::binary);
    if (in.read(start.data(), static_cast<std::streamsize>(start.size())).gcount() > 0 &&
        start != kMagic) {
        throw no_store(file);
    }
    return Database(
        file, mode == Store::Mode::Create ? Database::Mode::Create : Database::Mode::Existing);
}

// Another store, as `other` in the database's statements.
class Attached {
  public:
    Attached(Database& database, const std::string& file) : database_(database) {
        Statement(database_, "ATTACH ? AS other").bind(1, file).run();
    }
    ~Attached() {
        try {
            database_.execute("DETACH other");
        } catch (const IoError&) {
            // A transaction that failed still holds it; it goes with the database.
        }
    }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

  private:
    Database& database_;
};

}  // namespace

nlohmann::ordered_json stored_json(const StoredPoint& point, const std::string& text) {
    auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!json.is_object()) {
        throw IoError(
            fmt::format("point {} of the store is damaged: it holds no JSON object ({}...)",
                        point.id, text.substr(0, 40)));
    }
    return json;
}

StoreLock::StoreLock(const std::string& store) : file_(store + ".lock") {
    check_output("--store", store);
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        throw IoError(fmt::format("{}: {}", file_, std::strerror(errno)));
    }
    // A record lock: worker processes do not inherit it, so it ends with this process.
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (::fcntl(descriptor_, F_SETLK, &lock) != 0) {
        ::fcntl(descriptor_, F_GETLK, &lock);
        ::close(descriptor_);
        throw IoError(fmt::format(
            "{}: another sweep (process {}) is writing this store; wait for it, or use another one",
            store, lock.l_pid));
    }
}

StoreLock::~StoreLock() {
    ::close(descriptor_);  // the file stays: removing it would race with whoever opens it
}

Store::Store(const std::string& file, Mode mode) : database_(open(file, mode)) {
    // A killed process must lose nothing that was saved; a power cut may cost the last points.
    database_.execute("PRAGMA synchronous = NORMAL; PRAGMA journal_mode = PERSIST");
    const auto tables = [this](const char* name) {
        Statement row(database_,
                      fmt::format("SELECT count(*) FROM sqlite_master WHERE name LIKE '{}'", name));
        return row.step() ? row.integer(0) : 0;
    };
    if (mode == Mode::Create && tables("%") == 0) {
        Transaction transaction(database_);
        database_.execute(kSchema);
        Statement(database_, "INSERT INTO meta VALUES ('schema', ?)").bind(1, kSchemaVersion).run();
        transaction.commit();
    }
    if (tables("meta") == 0) {
        throw no_store(file);
    }
    struct stat now {};
    if (::stat(file.c_str(), &now) == 0) {
        place_ = {now.st_dev, now.st_ino};
    }
    Statement schema(database_, "SELECT value FROM meta WHERE name = 'schema'");
    if (!schema.step() || schema.text(0) != kSchemaVersion) {
        throw no_store(file);
    }
    if (mode == Mode::Create && tables("ids") == 0) {
        Transaction transaction(database_);
        database_.execute(kIds);
        transaction.commit();
    }
}

std::vector<std::string> Store::models() {
    std::vector<std::string> models;
    Statement rows(database_, "SELECT model FROM points GROUP BY model ORDER BY max(id)");
    while (rows.step()) {
        models.push_back(rows.text(0));
    }
    return models;
}

void Store::check_place() const {
    struct stat now {};
    if (::stat(database_.file().c_str(), &now) != 0 || now.st_dev != place_.device ||
        now.st_ino != place_.inode) {
        throw IoError(fmt::format(
            "{}: the store was removed or replaced while it was being written; the points since "
            "then are lost, the same command simulates them again",
            database_.file()));
    }
}

void Store::register_sweep(const SweepFile& sweep, const std::vector<Point>& points,
                           const std::string& model) {
    const std::string identity = sha1(
        fmt::format("{}\n{}\n{}\n{}", sweep.text, sweep.base_text, json_of(sweep.fixed), model));
    Transaction transaction(database_);
    Statement(database_,
              "INSERT OR IGNORE INTO sweeps (name, model, text, identity, started_at) "
              "VALUES (?, ?, ?, ?, ?)")
        .bind(1, sweep.name)
        .bind(2, model)
        .bind(3, sweep.text)
        .bind(4, identity)
        .bind(5, now_text())
        .run();
    Statement id(database_, "SELECT id FROM sweeps WHERE identity = ?");
    id.bind(1, identity).step();
    Statement member(database_, "INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?)");
    for (const Point& point : points) {
        member.bind(1, id.integer(0))
            .bind(2, point.ordinal)
            .bind(3, point.hash)
            .bind(4, json_of(point.settings))
            .run();
    }
    number_members();
    transaction.commit();
}

void Store::number_members() {
    database_.execute(
        "INSERT OR IGNORE INTO main.ids (hash, model) SELECT m.hash, s.model FROM main.members m "
        "JOIN main.sweeps s ON s.id = m.sweep ORDER BY m.sweep, m.ordinal");
}

std::set<std::string> Store::ended(const std::string& model) {
    std::set<std::string> hashes;
    Statement rows(database_, "SELECT hash FROM points WHERE model = ?");
    rows.bind(1, model);
    while (rows.step()) {
        hashes.insert(rows.text(0));
    }
    return hashes;
}

void Store::forget_failed(const std::string& model) {
    Statement(database_,
              fmt::format("DELETE FROM points WHERE model = ? AND status NOT IN {}", kEndedWell))
        .bind(1, model)
        .run();
}

void Store::save(const std::vector<StoredPoint>& points) {
    check_place();
    Transaction transaction(database_);
    Statement insert(database_,
                     "INSERT INTO points (id, hash, model, status, error, scenario, "
                     "device_settings, base_file, result, wall_s, peak_mib, finished_at) "
                     "VALUES ((SELECT id FROM ids WHERE hash = ?1 AND model = ?2), "
                     "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    for (const StoredPoint& point : points) {
        int column = 0;
        for (const std::string* text :
             {&point.hash, &point.model, &point.status, &point.error, &point.scenario,
              &point.device_settings, &point.base_file, &point.result}) {
            insert.bind(++column, *text);
        }
        insert.bind(++column, point.wall_s);
        insert.bind(++column, point.peak_mib);
        insert.bind(++column, now_text());
        insert.run();
    }
    transaction.commit();
}

std::vector<StoredSweep> Store::sweeps() {
    std::vector<StoredSweep> sweeps;
    Statement rows(database_,
                   "SELECT s.id, s.name, s.model, s.text, coalesce(p.status, ''), count(*) "
                   "FROM sweeps s JOIN members m ON m.sweep = s.id "
                   "LEFT JOIN points p ON p.hash = m.hash AND p.model = s.model "
                   "GROUP BY s.id, p.status ORDER BY s.id, p.status");
    while (rows.step()) {
        if (sweeps.empty() || sweeps.back().id != rows.integer(0)) {
            sweeps.push_back({rows.integer(0), rows.text(1), rows.text(2), rows.text(3), 0, 0, {}});
        }
        StoredSweep& sweep = sweeps.back();
        const std::string status = rows.text(4);
        sweep.points += rows.integer(5);
        if (!status.empty()) {
            sweep.finished += rows.integer(5);
            sweep.by_status.emplace_back(status, rows.integer(5));
        }
    }
    return sweeps;
}

std::optional<StoredPoint> Store::find(std::int64_t id) {
    Statement row(database_, fmt::format("SELECT {} FROM points WHERE id = ?", kColumns));
    return row.bind(1, id).step() ? std::optional{point_in(row)} : std::nullopt;
}

std::vector<StoredPoint> Store::points(std::int64_t sweep) {
    std::vector<StoredPoint> points;
    Statement rows(
        database_,
        fmt::format("SELECT {}, m.settings FROM (SELECT * FROM members WHERE sweep = ?1) m "
                    "JOIN points USING (hash) WHERE model = "
                    "(SELECT model FROM sweeps WHERE id = ?1) ORDER BY ordinal",
                    kColumns));
    rows.bind(1, sweep);
    while (rows.step()) {
        points.push_back(point_in(rows));
        points.back().settings = rows.text(kColumnCount);
    }
    return points;
}

std::optional<Store::Cost> Store::mean_cost(const std::string& sweep) {
    Statement row(
        database_,
        "SELECT count(*), avg(wall_s), avg(length(scenario) + length(result)) FROM points "
        "WHERE status = 'ok' AND hash IN (SELECT hash FROM members JOIN sweeps "
        "ON members.sweep = sweeps.id WHERE sweeps.name = ?)");
    if (!row.bind(1, sweep).step() || row.integer(0) == 0) {
        return std::nullopt;
    }
    return Cost{row.real(1), row.real(2)};
}

void Store::announce(const std::string& other) {
    const Attached attached(database_, other);
    Transaction transaction(database_);
    database_.execute(
        "INSERT OR IGNORE INTO main.sweeps (name, model, text, identity, started_at) "
        "SELECT name, model, text, identity, started_at FROM other.sweeps ORDER BY id;"
        "INSERT OR IGNORE INTO main.members SELECT mine.id, m.ordinal, m.hash, m.settings FROM "
        "other.members m "
        "JOIN other.sweeps theirs ON theirs.id = m.sweep "
        "JOIN main.sweeps mine ON mine.identity = theirs.identity");
    transaction.commit();
}

std::int64_t Store::merge(const std::string& other) {
    const Attached attached(database_, other);
    Transaction transaction(database_);
    const auto count = [this] {
        Statement row(database_, "SELECT count(*) FROM main.points");
        row.step();
        return row.integer(0);
    };
    const std::int64_t before = count();
    // With ids of ours.
    number_members();
    database_.execute(
        "INSERT OR IGNORE INTO main.ids (hash, model) SELECT hash, model FROM other.points "
        "ORDER BY id");
    const std::string columns = std::string{kColumns}.substr(4);
    database_.execute(
        fmt::format("INSERT OR IGNORE INTO main.points (id, {}) SELECT mine.id, {} FROM "
                    "other.points JOIN main.ids mine USING (hash, model)",
                    columns, columns));
    const std::int64_t added = count() - before;
    transaction.commit();
    return added;
}

void Store::check() {
    Statement integrity(database_, "PRAGMA integrity_check");
    if (!integrity.step() || integrity.text(0) != "ok") {
        throw IoError(fmt::format("{}: damaged: {}", database_.file(), integrity.text(0)));
    }
    Statement twice(database_,
                    "SELECT count(*) - count(DISTINCT hash || ' ' || model) FROM points");
    if (!twice.step() || twice.integer(0) != 0) {
        throw IoError(fmt::format("{}: damaged: a point stands twice", database_.file()));
    }
}

}  // namespace tilesim::sim::explore
