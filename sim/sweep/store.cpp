#include "sim/sweep/store.hpp"

#include <algorithm>
#include <fstream>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/sweep/result_id.hpp"
#include "sim/sweep/store_schema.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

std::string columns_json(const std::vector<SpaceColumn>& columns) {
  Json out = Json::array();
  for (const SpaceColumn& column : columns)
    out.push_back({{"name", column.name}, {"key", column.key}, {"numeric", column.numeric}});
  return out.dump();
}

std::vector<SpaceColumn> columns_of(const std::string& json) {
  std::vector<SpaceColumn> out;
  for (const Json& column : Json::parse(json))
    out.push_back({column.at("name"), column.at("key"), column.at("numeric")});
  return out;
}

std::vector<std::string> labels_of(const std::vector<SpaceColumn>& columns,
                                   const std::string& json) {
  const Json labels = Json::parse(json);
  std::vector<std::string> out;
  for (const SpaceColumn& column : columns) {
    const auto it = labels.find(column.name);
    out.push_back(it == labels.end() ? "" : text_of(*it));
  }
  return out;
}

// The row is what was written, as its check says.
void expect_row(bool whole, const std::filesystem::path& store, const std::string& row) {
  if (!whole)
    throw DamagedStore(fmt::format("{}: {} is damaged: its check differs", store.string(), row));
}

DamagedStore two_results(const std::filesystem::path& store, const std::string& id) {
  return DamagedStore(
      fmt::format("{}: the result of {} is damaged: it is there twice", store.string(), id));
}

// Reads parts of a row that are JSON or a name.
template <class Read>
auto read_row(const std::filesystem::path& store, const std::string& row, Read&& read) {
  try {
    return read();
  } catch (const DamagedStore&) {
    throw;
  } catch (const std::exception& error) {
    throw DamagedStore(fmt::format("{}: {} is damaged: {}", store.string(), row, error.what()));
  }
}

std::int64_t check_of(const StoredSweep& sweep, const std::string& columns) {
  std::optional<std::string> points;
  if (sweep.points) points = fmt::to_string(*sweep.points);
  return row_check({sweep.name, sweep.file, sweep.digest, sweep.spec, sweep.version, sweep.extent,
                    columns, points});
}

StoredSweep read_sweep(const Statement& row) {
  StoredSweep out{.sweep = row.integer(0),
                  .name = row.text(1),
                  .file = row.text(2),
                  .digest = row.text(3),
                  .spec = row.text(4),
                  .version = row.text(5),
                  .extent = row.text(6),
                  .columns = columns_of(row.text(7)),
                  .points = {}};
  if (!row.is_null(8)) out.points = row.integer(8);
  return out;
}

StoredSweep sweep_of(const std::filesystem::path& store, const Statement& row) {
  const std::string place = fmt::format("sweep {}", row.integer(0));
  StoredSweep out = read_row(store, place, [&] { return read_sweep(row); });
  expect_row(check_of(out, row.text(7)) == row.integer(9), store, place);
  return out;
}

constexpr std::string_view kSweepColumns =
    "sweep, name, file, digest, spec, version, extent, columns, points, row_check";

PointStatus status_of(const std::string& name) {
  const auto* it = std::ranges::find(kPointStatusNames, name);
  if (it == kPointStatusNames.end()) throw DamagedStore("no status is called '" + name + '\'');
  return static_cast<PointStatus>(it - kPointStatusNames.begin());
}

std::string_view name_of(PointStatus status) {
  return kPointStatusNames[static_cast<std::size_t>(status)];
}

// Status, error, results and check in four columns from `first`.
PointOutcome outcome_of(const std::filesystem::path& store, const StoredSweep& like,
                        const std::string& id, const Statement& row, int first) {
  const std::string place = "the result of " + id;
  const std::int64_t check = row_check({id, like.extent, like.version, row.text(first),
                                        row.maybe_text(first + 1), row.maybe_text(first + 2)});
  expect_row(check == row.integer(first + 3), store, place);
  return {id, status_of(row.text(first)), row.text(first + 1), row.text(first + 2)};
}

}  // namespace

// The prepared statements, and the rows of the results of one extent and version.
struct SweepStore::Writing {
  struct Row {
    std::int64_t rowid = 0;
    bool failed = false;
  };

  Writing(Sqlite& db, const StoredSweep& like)
      : extent(like.extent),
        version(like.version),
        insert_point(db, "INSERT OR REPLACE INTO points VALUES (?,?,?,?,?,?,?)"),
        insert_result(db,
                      "INSERT INTO results(status, error, results, row_check, id, extent, version) "
                      "VALUES (?,?,?,?,?,?,?)"),
        replace_result(db,
                       "UPDATE results SET status = ?, error = ?, results = ?, row_check = ? "
                       "WHERE rowid = ?") {
    Statement all(
        db, "SELECT rowid, id, status = 'error' FROM results WHERE extent = ? AND version = ?");
    all.bind(1, extent).bind(2, version);
    while (all.step()) {
      const std::string id = all.text(1);
      const Row row{.rowid = all.integer(0), .failed = all.integer(2) != 0};
      if (!rows.emplace(ResultId::of(id), row).second) throw two_results(db.path(), id);
    }
  }

  std::string extent;
  std::string version;
  Statement insert_point;
  Statement insert_result;
  Statement replace_result;
  std::unordered_map<ResultId, Row, ResultIdHash> rows = {};
  bool whole = true;
};

bool SweepStore::is_store(const std::filesystem::path& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // a pipe would lose its data
  std::string head(kMagic.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return in && head == kMagic;
}

SweepStore::SweepStore(const std::filesystem::path& path, Access access)
    : db_(path, access == Access::read ? Sqlite::Open::read : Sqlite::Open::create) {
  if (access == Access::write) create_tables(db_);
  expect_tables(db_);
  // A commit reaches the file system at once, so it survives the end of this process; only a crash
  // of the machine may lose the last commits, each as a whole. Pages go from the log into the file
  // every 40 MB, since most of them change again before.
  if (access == Access::write)
    db_.execute(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=1250;");
}

SweepStore::SweepStore(SweepStore&&) noexcept = default;
SweepStore::~SweepStore() = default;

std::vector<StoredSweep> SweepStore::sweeps() {
  std::vector<StoredSweep> out;
  Statement rows(db_, fmt::format("SELECT {} FROM sweeps ORDER BY sweep", kSweepColumns));
  while (rows.step()) out.push_back(sweep_of(path(), rows));
  return out;
}

std::optional<StoredSweep> SweepStore::find(const std::string& digest) {
  Statement rows(db_, fmt::format("SELECT {} FROM sweeps WHERE digest = ?", kSweepColumns));
  rows.bind(1, digest);
  if (!rows.step()) return std::nullopt;
  return sweep_of(path(), rows);
}

std::int64_t SweepStore::add(const StoredSweep& sweep,
                             const std::vector<std::pair<Point, std::string>>& inputs) {
  Transaction transaction(db_);
  Statement next(db_, "SELECT coalesce(max(sweep), 0) + 1 FROM sweeps");
  next.step();
  const std::int64_t number = next.integer(0);
  next.reset();
  const std::string columns = columns_json(sweep.columns);
  Statement insert(
      db_, fmt::format("INSERT INTO sweeps({}) VALUES (?,?,?,?,?,?,?,?,?,?)", kSweepColumns));
  insert.bind(1, number).bind(2, sweep.name).bind(3, sweep.file).bind(4, sweep.digest);
  insert.bind(5, sweep.spec).bind(6, sweep.version).bind(7, sweep.extent).bind(8, columns);
  if (sweep.points)
    insert.bind(9, *sweep.points);
  else
    insert.bind(9, nullptr);
  insert.bind(10, check_of(sweep, columns)).run();
  for (const auto& [files, text] : inputs) add_input(number, files, text);
  transaction.commit();
  return number;
}

void SweepStore::add_input(std::int64_t sweep, const Point& files, const std::string& text) {
  const std::string set = Json(files.set).dump();
  const std::string file = files.scenario.string();
  Statement insert(db_, "INSERT OR IGNORE INTO inputs VALUES (?,?,?,?,?)");
  insert.bind(1, sweep).bind(2, file).bind(3, set).bind(4, text);
  insert.bind(5, row_check({file, set, text})).run();
}

void SweepStore::set_points(std::int64_t sweep, std::int64_t points) {
  Statement rows(db_, fmt::format("SELECT {} FROM sweeps WHERE sweep = ?", kSweepColumns));
  rows.bind(1, sweep);
  TS_EXPECTS(rows.step(), sweep);
  StoredSweep changed = sweep_of(path(), rows);
  const std::string columns = rows.text(7);
  rows.reset();
  changed.points = points;
  Statement update(db_, "UPDATE sweeps SET points = ?, row_check = ? WHERE sweep = ?");
  update.bind(1, points).bind(2, check_of(changed, columns)).bind(3, sweep).run();
}

std::vector<std::pair<Point, std::string>> SweepStore::inputs(std::int64_t sweep) {
  std::vector<std::pair<Point, std::string>> out;
  Statement rows(db_,
                 "SELECT file, settings, text, row_check FROM inputs WHERE sweep = ? "
                 "ORDER BY file, settings");
  rows.bind(1, sweep);
  while (rows.step()) {
    const std::string place = fmt::format("the input '{}' of sweep {}", rows.text(0), sweep);
    expect_row(row_check({rows.text(0), rows.text(1), rows.text(2)}) == rows.integer(3), path(),
               place);
    auto set = read_row(path(), place,
                        [&] { return Json::parse(rows.text(1)).get<std::vector<std::string>>(); });
    out.emplace_back(Point{rows.text(0), std::move(set)}, rows.text(2));
  }
  return out;
}

// `+` below: without an index of results, SQLite makes one for the query, but not if it takes the
// points of a sweep for few.
void SweepStore::done(std::int64_t sweep, bool failed,
                      const std::function<void(std::int64_t)>& visit) {
  Statement rows(db_,
                 "SELECT p.position FROM points p JOIN sweeps s USING (sweep) JOIN results r ON "
                 "r.id = p.id AND r.extent = s.extent AND r.version = s.version "
                 "WHERE +p.sweep = ? AND (? OR r.status != 'error') "
                 "ORDER BY p.sweep, p.position");
  rows.bind(1, sweep).bind(2, std::int64_t{failed});
  while (rows.step()) visit(rows.integer(0));
}

std::int64_t SweepStore::count(std::int64_t sweep, PointStatus status, const Shard& shard) {
  Statement rows(db_,
                 "SELECT count(*) FROM points p JOIN sweeps s USING (sweep) JOIN results r ON "
                 "r.id = p.id AND r.extent = s.extent AND r.version = s.version "
                 "WHERE +p.sweep = ? AND r.status = ? AND p.position % ? = ?");
  rows.bind(1, sweep).bind(2, name_of(status)).bind(3, shard.count).bind(4, shard.index - 1);
  rows.step();
  return rows.integer(0);
}

std::optional<StoredPoint> SweepStore::first(const StoredSweep& sweep, PointStatus status) {
  std::optional<StoredPoint> out;
  if (count(sweep.sweep, status) > 0)
    for_each(sweep, [&](const StoredPoint& point) {
      if (point.outcome.status == status) out = point;
      return !out;
    });
  return out;
}

void SweepStore::ids(const StoredSweep& like,
                     const std::function<void(const std::string&)>& visit) {
  Statement rows(db_,
                 "SELECT id FROM results WHERE extent = ? AND version = ? AND status != 'error'");
  rows.bind(1, like.extent).bind(2, like.version);
  while (rows.step()) visit(rows.text(0));
}

void SweepStore::begin_writing(const StoredSweep& sweep) {
  if (writing_ && writing_->whole && writing_->extent == sweep.extent &&
      writing_->version == sweep.version)
    return;
  writing_.reset();
  drop_index(db_);
  writing_ = std::make_unique<Writing>(db_, sweep);
}

void SweepStore::write(const StoredSweep& sweep, std::span<const StoredPoint> points) {
  begin_writing(sweep);
  writing_->whole = false;  // until the file matches `rows`
  Transaction transaction(db_);
  for (const auto& [point, outcome] : points) {
    const std::string labels = labels_json(sweep.columns, point.labels);
    const std::string set = settings_json(point.set);
    Statement& insert = writing_->insert_point;
    insert.bind(1, sweep.sweep).bind(2, point.position).bind(3, outcome.id);
    insert.bind(4, labels).bind(5, point.scenario).bind(6, set);
    insert.bind(
        7, row_check({fmt::to_string(point.position), outcome.id, labels, point.scenario, set}));
    insert.run();
    const bool is_of_another = outcome.status == PointStatus::ok && outcome.results.empty();
    if (!is_of_another) write_result(sweep, outcome);
  }
  transaction.commit();
  writing_->whole = true;
}

void SweepStore::write_result(const StoredSweep& sweep, const PointOutcome& outcome) {
  const auto [known, is_new] = writing_->rows.try_emplace(ResultId::of(outcome.id));
  Writing::Row& row = known->second;
  if (!is_new && !row.failed) return;
  const bool ok = outcome.status == PointStatus::ok;
  row.failed = outcome.status == PointStatus::error;
  Statement& write = is_new ? writing_->insert_result : writing_->replace_result;
  write.bind(1, name_of(outcome.status));
  ok ? write.bind(2, nullptr) : write.bind(2, outcome.problem);
  ok ? write.bind(3, outcome.results) : write.bind(3, nullptr);
  const std::optional<std::string> problem = ok ? std::nullopt : std::optional(outcome.problem);
  const std::optional<std::string> results = ok ? std::optional(outcome.results) : std::nullopt;
  write.bind(4, row_check({outcome.id, sweep.extent, sweep.version,
                           std::string(name_of(outcome.status)), problem, results}));
  if (!is_new) return write.bind(5, row.rowid).run();
  write.bind(5, outcome.id).bind(6, sweep.extent).bind(7, sweep.version).run();
  row.rowid = db_.last_row();
}

void SweepStore::end_writing() {
  if (!writing_) return;
  writing_.reset();
  index_results(db_, "main");
}

void SweepStore::for_each(const StoredSweep& sweep,
                          const std::function<bool(const StoredPoint&)>& visit) {
  Statement rows(
      db_,
      "SELECT p.position, p.labels, p.scenario, p.settings, p.row_check, r.id, r.status, "
      "r.error, r.results, r.row_check FROM points p JOIN results k ON k.id = p.id AND k.extent = "
      "? AND "
      "k.version = ? JOIN results r ON r.rowid = k.rowid "  // k's index has no text
      "WHERE +p.sweep = ? ORDER BY p.sweep, p.position");
  rows.bind(1, sweep.extent).bind(2, sweep.version).bind(3, sweep.sweep);
  while (rows.step())
    if (!visit(point_of_row(sweep, rows))) return;
}

StoredPoint SweepStore::point_of_row(const StoredSweep& sweep, const Statement& rows) const {
  const std::string place = fmt::format("point {} of sweep {}", rows.integer(0), sweep.sweep);
  const std::string id = rows.text(5);
  expect_row(
      rows.integer(4) == row_check({rows.text(0), id, rows.text(1), rows.text(2), rows.text(3)}),
      path(), place);
  return read_row(path(), place, [&] {
    return StoredPoint{{.position = rows.integer(0),
                        .scenario = rows.text(2),
                        .set = Json::parse(rows.text(3)).get<std::vector<std::string>>(),
                        .labels = labels_of(sweep.columns, rows.text(1))},
                       outcome_of(path(), sweep, id, rows, 6)};
  });
}

void SweepStore::expect_whole() {
  Statement check(db_, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok")
    throw DamagedStore(fmt::format("{}: the file is damaged: {}", path().string(), check.text(0)));
  for (const StoredSweep& sweep : sweeps()) {
    inputs(sweep.sweep);
    expect_points(sweep);
  }
  Statement twice(
      db_, "SELECT id FROM results GROUP BY id, extent, version HAVING count(*) > 1 LIMIT 1");
  if (twice.step()) throw two_results(path(), twice.text(0));
  Statement rows(db_, "SELECT id, extent, version, status, error, results, row_check FROM results");
  while (rows.step())
    expect_row(rows.integer(6) == row_check({rows.text(0), rows.text(1), rows.text(2), rows.text(3),
                                             rows.maybe_text(4), rows.maybe_text(5)}),
               path(), "the result of " + rows.text(0));
}

void SweepStore::expect_points(const StoredSweep& sweep) {
  Statement rows(db_,
                 "SELECT position, id, labels, scenario, settings, row_check FROM points "
                 "WHERE sweep = ?");
  rows.bind(1, sweep.sweep);
  while (rows.step()) {
    const std::string place = fmt::format("point {} of sweep {}", rows.integer(0), sweep.sweep);
    expect_row(rows.integer(5) == row_check({rows.text(0), rows.text(1), rows.text(2), rows.text(3),
                                             rows.text(4)}),
               path(), place);
    if (rows.integer(0) < 0 || rows.integer(0) >= sweep.points.value_or(INT64_MAX))
      throw DamagedStore(fmt::format("{}: {} is beyond its {} points", path().string(), place,
                                     sweep.points.value_or(0)));
  }
}

std::string SweepStore::id_of(const StoredSweep& sweep, std::int64_t position) {
  Statement rows(db_, "SELECT id FROM points WHERE sweep = ? AND position = ?");
  rows.bind(1, sweep.sweep).bind(2, position);
  TS_EXPECTS(rows.step(), position);
  return rows.text(0);
}

std::optional<PointOutcome> SweepStore::result(const StoredSweep& like, const std::string& id) {
  if (writing_ && writing_->extent == like.extent && writing_->version == like.version) {
    const auto row = writing_->rows.find(ResultId::of(id));
    if (row == writing_->rows.end()) return std::nullopt;
    Statement found(db_, "SELECT status, error, results, row_check FROM results WHERE rowid = ?");
    found.bind(1, row->second.rowid);
    if (!found.step()) return std::nullopt;
    return outcome_of(path(), like, id, found, 0);
  }
  Statement rows(db_,
                 "SELECT status, error, results, row_check FROM results WHERE id = ? AND "
                 "extent = ? AND version = ?");
  rows.bind(1, id).bind(2, like.extent).bind(3, like.version);
  if (!rows.step()) return std::nullopt;
  return outcome_of(path(), like, id, rows, 0);
}

}  // namespace tiersim
