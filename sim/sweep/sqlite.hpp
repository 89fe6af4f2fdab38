#pragma once
// SQLite, with errors as exceptions and statements that reset themselves. Errors of a store (a full
// disk, a file of another format) are not the fault of a point, so they end the command.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tiersim {

/// SQLite's message, with the file.
struct StoreError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A store that does not hold what was written to it.
struct DamagedStore : StoreError {
  using StoreError::StoreError;
};

class Sqlite {
 public:
  enum class Open : std::uint8_t { read, write, create };
  Sqlite(const std::filesystem::path& path, Open how);

  /// Executes statements without results.
  void execute(const std::string& sql);
  /// The id of the row inserted last.
  std::int64_t last_row() const;
  [[noreturn]] void fail() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> db_;
};

/// A prepared statement:
///
///   Statement find(db, "SELECT name FROM sweeps WHERE sweep = ?");
///   find.bind(1, 7);
///   while (find.step()) use(find.text(0));     // after the last row it can be bound again
class Statement {
 public:
  Statement(Sqlite& db, std::string_view sql);

  Statement& bind(int at, std::int64_t value);
  /// The text must live until the statement is stepped to its end or reset.
  Statement& bind(int at, std::string_view text);
  /// Binds bytes that are no text, likewise; text() gives them back.
  Statement& bind_bytes(int at, std::string_view bytes);
  Statement& bind(int at, std::nullptr_t);

  bool step();
  /// Runs a statement that has no rows, or whose rows are not needed.
  void run() {
    while (step()) {
    }
  }
  void reset();

  std::int64_t integer(int column) const;
  std::string text(int column) const;
  std::optional<std::string> maybe_text(int column) const;  ///< none for NULL
  bool is_null(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Sqlite* db_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// All or nothing: rolled back unless commit() is reached.
class Transaction {
 public:
  explicit Transaction(Sqlite& db) : db_(&db) { db.execute("BEGIN IMMEDIATE"); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Sqlite* db_;
};

}  // namespace tiersim
