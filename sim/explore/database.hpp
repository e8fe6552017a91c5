// SQLite with every return code checked: what fails throws IoError with the file's name.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tilesim::sim::explore {

class Database;

// A prepared statement; parameters are bound from 1, columns read from 0.
class Statement {
  public:
    Statement(Database& database, std::string_view sql);

    Statement& bind(int index, std::string_view text);
    Statement& bind(int index, std::int64_t number);
    Statement& bind(int index, double number);
    // True while there is a row.
    bool step();
    // Runs to the end and makes it ready for the next parameters.
    void run();

    std::string text(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    void check(int code) const;

    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
  public:
    enum class Mode { Create, Existing };
    Database(const std::string& file, Mode mode);

    void execute(const std::string& sql);
    const std::string& file() const { return file_; }
    [[noreturn]] void fail() const;  // with SQLite's own words

  private:
    friend class Statement;
    friend class Transaction;
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    std::string file_;
    std::unique_ptr<sqlite3, Close> handle_;
};

// Everything until `commit`, or nothing.
class Transaction {
  public:
    explicit Transaction(Database& database) : database_(database) {
        database_.execute("BEGIN IMMEDIATE");
    }
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

  private:
    Database& database_;
    bool open_ = true;
};

}  // namespace tilesim::sim::explore
