#include "sim/sweep/sqlite.hpp"

#include <sqlite3.h>

#include <fmt/format.h>

namespace tiersim {

void Sqlite::Close::operator()(sqlite3* db) const {
  sqlite3_close(db);
}

Sqlite::Sqlite(const std::filesystem::path& path, Open how) : path_(path) {
  const int flags = how == Open::read    ? SQLITE_OPEN_READONLY
                    : how == Open::write ? SQLITE_OPEN_READWRITE
                                         : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* db = nullptr;
  // An absolute name, because SQLite gives "file:..." and ":memory:" a special meaning.
  const std::string name = std::filesystem::absolute(path).string();
  const int status = sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(db);
  if (status != SQLITE_OK) fail();
  constexpr int kPatienceMs = 10'000;  // wait for another process to commit
  sqlite3_busy_timeout(db, kPatienceMs);
}

void Sqlite::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Sqlite::last_row() const {
  return sqlite3_last_insert_rowid(db_.get());
}

void Sqlite::fail() const {
  constexpr int kKind = 0xff;
  const int kind = db_ ? sqlite3_errcode(db_.get()) & kKind : SQLITE_NOMEM;
  if (kind == SQLITE_CORRUPT)
    throw DamagedStore(
        fmt::format("{}: the file is damaged: {}", path_.string(), sqlite3_errmsg(db_.get())));
  throw StoreError(
      fmt::format("{}: {}", path_.string(), db_ ? sqlite3_errmsg(db_.get()) : "not enough memory"));
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(Sqlite& db, std::string_view sql) : db_(&db) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db.db_.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
    db.fail();
  statement_.reset(statement);
}

Statement& Statement::bind(int at, std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), at, value) != SQLITE_OK) db_->fail();
  return *this;
}

Statement& Statement::bind(int at, std::string_view text) {
  // The null destructor is SQLITE_STATIC: SQLite does not copy the text.
  if (sqlite3_bind_text64(statement_.get(), at, text.data() == nullptr ? "" : text.data(),
                          text.size(), nullptr, SQLITE_UTF8) != SQLITE_OK)
    db_->fail();
  return *this;
}

Statement& Statement::bind_bytes(int at, std::string_view bytes) {
  if (sqlite3_bind_blob64(statement_.get(), at, bytes.data(), bytes.size(), nullptr) != SQLITE_OK)
    db_->fail();
  return *this;
}

Statement& Statement::bind(int at, std::nullptr_t) {
  if (sqlite3_bind_null(statement_.get(), at) != SQLITE_OK) db_->fail();
  return *this;
}

bool Statement::step() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  sqlite3_reset(statement_.get());
  if (status != SQLITE_DONE) db_->fail();
  return false;
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return {
      reinterpret_cast<const char*>(text),  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
      static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::optional<std::string> Statement::maybe_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return text(column);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Transaction::~Transaction() {
  if (db_ == nullptr) return;
  try {
    db_->execute("ROLLBACK");
  } catch (const StoreError&) {  // the earlier error is already on its way
  }
}

void Transaction::commit() {
  db_->execute("COMMIT");
  db_ = nullptr;
}

}  // namespace tiersim
