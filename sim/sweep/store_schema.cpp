#include "sim/sweep/store_schema.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <boost/crc.hpp>

#include "sim/config/json_text.hpp"
#include "sim/sweep/store.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kLayout = "tiersim.store/v3";

// Rows of results are found by their key; their rowid is the order of arrival. Ids come in random
// order, so an index of them would cost more than everything else while points come in. It is made
// when a run ends; a killed run leaves none.
constexpr const char* kTables = R"(
CREATE TABLE tiersim(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sweeps(
  sweep INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL UNIQUE,
  spec TEXT NOT NULL, version TEXT NOT NULL, extent TEXT NOT NULL, columns TEXT NOT NULL,
  points INTEGER, row_check INTEGER NOT NULL);
CREATE TABLE inputs(
  sweep INTEGER NOT NULL, file TEXT NOT NULL, settings TEXT NOT NULL, text TEXT NOT NULL,
  row_check INTEGER NOT NULL, PRIMARY KEY (sweep, file, settings)) WITHOUT ROWID;
CREATE TABLE points(
  sweep INTEGER NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL, labels TEXT NOT NULL,
  scenario TEXT NOT NULL, settings TEXT NOT NULL, row_check INTEGER NOT NULL,
  PRIMARY KEY (sweep, position)) WITHOUT ROWID;
CREATE TABLE results(
  id TEXT NOT NULL, extent TEXT NOT NULL, version TEXT NOT NULL, status TEXT NOT NULL, error TEXT,
  results TEXT, row_check INTEGER NOT NULL);
CREATE VIEW sweep_results AS
  SELECT s.sweep, s.name AS sweep_name, p.position, p.labels, p.scenario, p.settings, r.id, r.extent,
    r.version, r.status, r.error, r.results
  FROM sweeps s JOIN points p USING (sweep)
  JOIN results r ON r.id = p.id AND r.extent = s.extent AND r.version = s.version;
CREATE VIEW point_labels AS
  SELECT p.sweep, p.position, l.key AS axis, l.value AS label FROM points p, json_each(p.labels) l;
CREATE VIEW point_metrics AS
  SELECT r.sweep, r.position, r.id, m.key AS metric, json_extract(m.value, '$.value') AS value,
    json_extract(m.value, '$.unit') AS unit, json_extract(m.value, '$.class') AS class
  FROM sweep_results r, json_each(r.results, '$.metrics') m;
)";

bool has_tables(Sqlite& db) {
  Statement rows(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tiersim'");
  return rows.step();
}

constexpr const char* kIndex = "results_by_id ON results(id, extent, version)";

// Large pages need few writes for results of some kilobytes.
constexpr int kPageBytes = 32768;

// Results follow the order of their points, so that the file does not depend on the order of
// arrival. Only the keys are sorted, not the text.
constexpr const char* kCopy = R"(
INSERT INTO sweeps SELECT * FROM old.sweeps ORDER BY sweep;
INSERT INTO inputs SELECT * FROM old.inputs ORDER BY sweep, file, settings;
INSERT INTO points SELECT * FROM old.points ORDER BY sweep, position;
CREATE TEMP TABLE arrivals(first INTEGER PRIMARY KEY, result INTEGER NOT NULL);
INSERT INTO arrivals
  SELECT min((p.sweep << 40) + p.position), r.rowid FROM old.points p JOIN old.sweeps s USING (sweep)
  JOIN old.results r ON r.id = p.id AND r.extent = s.extent AND r.version = s.version
  GROUP BY r.rowid;
INSERT INTO results
  SELECT r.* FROM arrivals a CROSS JOIN old.results r ON r.rowid = a.result ORDER BY a.first;
DROP TABLE arrivals;
)";

void sync(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = file >= 0 && ::fsync(file) == 0;
  const std::error_code error(errno, std::generic_category());
  if (file >= 0) ::close(file);
  if (!done) throw StoreError(fmt::format("{}: {}", path.string(), error.message()));
}

// An empty file that was not there before, and is no link that somebody else has put there.
void create_new(const fs::path& path) {
  constexpr mode_t kMode = 0666;
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  if (file < 0)
    throw StoreError(fmt::format("{}: {}", path.string(), std::generic_category().message(errno)));
  ::close(file);
}

// True where the whole write-ahead log has gone into the file. An empty log may lie beside the new
// file for a moment; a log with pages of the old file would be taken for that of the new one.
bool empty_log(const fs::path& path) {
  Sqlite db(path, Sqlite::Open::write);
  Statement checkpoint(db, "PRAGMA wal_checkpoint(TRUNCATE)");
  checkpoint.step();
  return checkpoint.integer(0) == 0;
}

std::string quoted_path(const fs::path& path) {
  std::string out = "'";
  for (const char c : path.string()) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + '\'';
}

bool is_plain_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || !std::isfinite(value) || text == "-0") return false;
  return fmt::format("{}", value) == text;  // so that reading it gives the same text
}

}  // namespace

void create_tables(Sqlite& db) {
  if (has_tables(db)) return;
  if (Statement(db, "SELECT 1 FROM sqlite_master").step()) return;  // a file of another program
  db.execute(fmt::format("PRAGMA page_size={}", kPageBytes));       // for an empty file
  Transaction transaction(db);
  if (!has_tables(db)) {  // another process may have made them
    db.execute(kTables);
    Statement(db, "INSERT INTO tiersim VALUES ('layout', ?)").bind(1, kLayout).run();
  }
  transaction.commit();
}

void expect_tables(Sqlite& db) {
  if (!has_tables(db)) throw StoreError(db.path().string() + ": no store of tiersim's sweeps");
  Statement rows(db, "SELECT value FROM tiersim WHERE key = 'layout'");
  const std::string layout = rows.step() ? rows.text(0) : "none";
  if (layout != kLayout)
    throw StoreError(fmt::format("{}: a store of layout {}, this tiersim reads {}",
                                 db.path().string(), layout, kLayout));
}

void index_results(Sqlite& db, const std::string& schema) {
  db.execute(fmt::format("CREATE UNIQUE INDEX IF NOT EXISTS {}.{}", schema, kIndex));
}

void drop_index(Sqlite& db) {
  db.execute("DROP INDEX IF EXISTS results_by_id");
}

std::int64_t row_check(std::initializer_list<std::optional<std::string>> fields) {
  boost::crc_32_type sum;
  for (const std::optional<std::string>& field : fields) {
    const std::string length = field ? fmt::format("{} ", field->size()) : "- ";
    sum.process_bytes(length.data(), length.size());
    if (field) sum.process_bytes(field->data(), field->size());
  }
  return sum.checksum();
}

std::string settings_json(const std::vector<std::string>& set) {
  std::string out = "[";
  for (const std::string& option : set)
    out += (out.size() > 1 ? "," : "") + detail::json_string(option);
  return out + ']';
}

std::string labels_json(const std::vector<SpaceColumn>& columns,
                        const std::vector<std::string>& labels) {
  std::string out = "{";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (labels[i].empty()) continue;
    if (out.size() > 1) out += ',';
    out += detail::json_string(columns[i].name) + ':';
    out += is_plain_number(labels[i]) ? labels[i] : detail::json_string(labels[i]);
  }
  return out + '}';
}

void SweepStore::merge(const fs::path& other) {
  Sqlite(other, Sqlite::Open::read);  // throws if the file is missing
  end_writing();
  index_results(db_, "main");
  SweepStore source(other, Access::read);
  db_.execute("ATTACH " + quoted_path(other) + " AS other");
  {
    Transaction transaction(db_);
    // Numbers of sweeps differ between stores; digests do not.
    db_.execute(R"(
      INSERT INTO main.sweeps(name, file, digest, spec, version, extent, columns, points, row_check)
        SELECT name, file, digest, spec, version, extent, columns, points, row_check FROM other.sweeps
        WHERE digest NOT IN (SELECT digest FROM main.sweeps) ORDER BY sweep;
      INSERT OR IGNORE INTO main.inputs
        SELECT m.sweep, i.file, i.settings, i.text, i.row_check FROM other.inputs i
        JOIN other.sweeps o USING (sweep) JOIN main.sweeps m USING (digest);
      INSERT OR IGNORE INTO main.points
        SELECT m.sweep, p.position, p.id, p.labels, p.scenario, p.settings, p.row_check
        FROM other.points p
        JOIN other.sweeps o USING (sweep) JOIN main.sweeps m USING (digest);
      INSERT INTO main.results SELECT * FROM other.results WHERE true
        ON CONFLICT DO UPDATE SET status = excluded.status, error = excluded.error,
        results = excluded.results, row_check = excluded.row_check WHERE main.results.status = 'error' AND excluded.status != 'error';
    )");
    for (const StoredSweep& theirs : source.sweeps()) {
      const StoredSweep ours = find(theirs.digest).value();
      if (theirs.points && !ours.points) set_points(ours.sweep, *theirs.points);
    }
    transaction.commit();
  }
  db_.execute("DETACH other");
}

namespace {

void copy_in_order(const fs::path& from, const fs::path& to) {
  Sqlite out(to, Sqlite::Open::create);
  out.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;");
  out.execute("ATTACH " + quoted_path(from) + " AS old");
  create_tables(out);
  index_results(out, "old");  // a killed run left none
  Transaction transaction(out);
  out.execute(kCopy);
  index_results(out, "main");
  transaction.commit();
  out.execute("DETACH old");
}

}  // namespace

bool compact(const fs::path& given) {
  const fs::path path = fs::canonical(given);  // replaces the target of a link, not the link
  fs::path temporary = path;
  temporary += ".compact";
  fs::remove(temporary);  // left by a killed process
  create_new(temporary);
  bool free = false;
  try {
    copy_in_order(path, temporary);
    sync(temporary);
    free = empty_log(path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  if (!free) {
    fs::remove(temporary);
    return false;
  }
  fs::rename(temporary, path);
  for (const char* beside : {"-wal", "-shm"}) fs::remove(path.string() + beside);
  return true;
}

}  // namespace tiersim
