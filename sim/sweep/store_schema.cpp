#include "sim/sweep/store_schema.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <boost/crc.hpp>

#include "sim/config/json_text.hpp"
#include "sim/sweep/store.hpp"

namespace tiersim {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kLayout = "tiersim.store/v5";

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
CREATE TABLE forms(
  form INTEGER PRIMARY KEY, scenario TEXT NOT NULL, settings TEXT NOT NULL,
  UNIQUE (scenario, settings));
CREATE TABLE points(
  sweep INTEGER NOT NULL, position INTEGER NOT NULL, id BLOB NOT NULL, labels TEXT NOT NULL,
  form INTEGER NOT NULL, answer TEXT, row_check INTEGER NOT NULL,
  PRIMARY KEY (sweep, position)) WITHOUT ROWID;
CREATE TABLE kinds(
  kind INTEGER PRIMARY KEY, extent TEXT NOT NULL, version TEXT NOT NULL, UNIQUE (extent, version));
CREATE TABLE shapes(shape INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE results(
  id BLOB NOT NULL, kind INTEGER NOT NULL, status TEXT NOT NULL, error TEXT, shape INTEGER,
  results TEXT, row_check INTEGER NOT NULL);
CREATE VIEW sweep_results AS
  SELECT s.sweep, s.name AS sweep_name, p.position,
    (SELECT json_group_object(json_extract(s.columns, '$[' || l.key || '].name'),
       json(p.labels -> l.key)) FROM json_each(p.labels) l WHERE l.type != 'null') AS labels,
    f.scenario,
    (SELECT json_group_array(CASE e.type WHEN 'text' THEN e.value ELSE
       json_extract(e.value, '$[0]') ||
       CASE json_type(p.labels, '$[' || json_extract(e.value, '$[1]') || ']')
         WHEN 'text' THEN p.labels ->> json_extract(e.value, '$[1]')
         ELSE p.labels -> json_extract(e.value, '$[1]') END END)
     FROM json_each(f.settings) e) AS settings,
    lower(hex(r.id)) AS id, k.extent, k.version, r.status, r.error, r.results, h.text AS shape,
    p.answer
  FROM sweeps s JOIN kinds k ON k.extent = s.extent AND k.version = s.version
  JOIN points p ON p.sweep = s.sweep JOIN forms f ON f.form = p.form
  JOIN results r ON r.id = p.id AND r.kind = k.kind LEFT JOIN shapes h ON h.shape = r.shape;
CREATE VIEW point_labels AS
  SELECT p.sweep, p.position, json_extract(s.columns, '$[' || l.key || '].name') AS axis,
    l.value AS label
  FROM sweeps s JOIN points p ON p.sweep = s.sweep, json_each(p.labels) l WHERE l.type != 'null';
CREATE VIEW point_metrics AS
  SELECT p.sweep, p.position, lower(hex(r.id)) AS id, m.key AS metric,
    CASE WHEN r.shape IS NULL THEN json_extract(m.value, '$.value')
      ELSE json_extract(r.results, '$[' || json_extract(m.value, '$.value') || ']') END AS value,
    json_extract(m.value, '$.unit') AS unit, json_extract(m.value, '$.class') AS class
  FROM sweeps s JOIN kinds k ON k.extent = s.extent AND k.version = s.version
  JOIN points p ON p.sweep = s.sweep JOIN results r ON r.id = p.id AND r.kind = k.kind
  LEFT JOIN shapes h ON h.shape = r.shape, json_each(coalesce(h.text, r.results), '$.metrics') m;
)";

bool has_tables(Sqlite& db) {
  Statement rows(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tiersim'");
  return rows.step();
}

constexpr const char* kIndex = "results_by_id ON results(id, kind)";

// Large pages need few writes for results of some kilobytes.
constexpr int kPageBytes = 32768;

// Results follow the order of their points, so that the file does not depend on the order of
// arrival. Only the keys are sorted, not the text.
constexpr const char* kCopy = R"(
INSERT INTO sweeps SELECT * FROM old.sweeps ORDER BY sweep;
INSERT INTO inputs SELECT * FROM old.inputs ORDER BY sweep, file, settings;
INSERT INTO kinds(extent, version)
  SELECT extent, version FROM old.sweeps GROUP BY extent, version ORDER BY min(sweep);
CREATE TEMP TABLE moved_forms(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
INSERT INTO moved_forms
  SELECT form, row_number() OVER (ORDER BY min((sweep << 40) + position)) FROM old.points
  GROUP BY form;
INSERT INTO forms
  SELECT m.new, f.scenario, f.settings FROM moved_forms m JOIN old.forms f ON f.form = m.old
  ORDER BY m.new;
INSERT INTO points
  SELECT p.sweep, p.position, p.id, p.labels, m.new, p.answer, p.row_check FROM old.points p
  CROSS JOIN moved_forms m ON m.old = p.form ORDER BY p.sweep, p.position;
DROP TABLE moved_forms;
CREATE TEMP TABLE arrivals(first INTEGER PRIMARY KEY, result INTEGER NOT NULL);
INSERT INTO arrivals
  SELECT min((p.sweep << 40) + p.position), r.rowid FROM old.points p JOIN old.sweeps s USING (sweep)
  JOIN old.kinds k ON k.extent = s.extent AND k.version = s.version
  JOIN old.results r ON r.id = p.id AND r.kind = k.kind
  GROUP BY r.rowid;
CREATE TEMP TABLE moved_shapes(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
INSERT INTO moved_shapes
  SELECT r.shape, row_number() OVER (ORDER BY min(a.first))
  FROM arrivals a CROSS JOIN old.results r ON r.rowid = a.result WHERE r.shape IS NOT NULL
  GROUP BY r.shape;
INSERT INTO shapes
  SELECT m.new, h.text FROM moved_shapes m JOIN old.shapes h ON h.shape = m.old ORDER BY m.new;
INSERT INTO results
  SELECT r.id, n.kind, r.status, r.error, m.new, r.results, r.row_check
  FROM arrivals a CROSS JOIN old.results r ON r.rowid = a.result
  JOIN old.kinds k ON k.kind = r.kind
  JOIN kinds n ON n.extent = k.extent AND n.version = k.version
  LEFT JOIN moved_shapes m ON m.old = r.shape ORDER BY a.first;
DROP TABLE arrivals;
DROP TABLE moved_shapes;
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

std::int64_t row_check(std::initializer_list<std::optional<std::string_view>> fields) {
  boost::crc_32_type sum;
  for (const std::optional<std::string_view>& field : fields) {
    if (field) {
      const fmt::format_int length(field->size());
      sum.process_bytes(length.data(), length.size());
    } else {
      sum.process_byte('-');
    }
    sum.process_byte(' ');
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
      INSERT OR IGNORE INTO main.kinds(extent, version)
        SELECT extent, version FROM other.kinds ORDER BY kind;
      INSERT OR IGNORE INTO main.shapes(text) SELECT text FROM other.shapes ORDER BY shape;
      INSERT OR IGNORE INTO main.forms(scenario, settings)
        SELECT scenario, settings FROM other.forms ORDER BY form;
      INSERT OR IGNORE INTO main.points
        SELECT m.sweep, p.position, p.id, p.labels, n.form, p.answer, p.row_check
        FROM other.points p
        JOIN other.sweeps o USING (sweep) JOIN main.sweeps m USING (digest)
        JOIN other.forms f ON f.form = p.form
        JOIN main.forms n ON n.scenario = f.scenario AND n.settings = f.settings;
      INSERT INTO main.results
        SELECT r.id, n.kind, r.status, r.error, g.shape, r.results, r.row_check
        FROM other.results r JOIN other.kinds k ON k.kind = r.kind
        JOIN main.kinds n ON n.extent = k.extent AND n.version = k.version
        LEFT JOIN other.shapes h ON h.shape = r.shape LEFT JOIN main.shapes g ON g.text = h.text
        WHERE true
        ON CONFLICT DO UPDATE SET status = excluded.status, error = excluded.error,
        shape = excluded.shape, results = excluded.results, row_check = excluded.row_check
        WHERE main.results.status = 'error' AND excluded.status != 'error';
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
  out.execute("PRAGMA old.cache_size=-65536;");  // ids are looked up in no order
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
