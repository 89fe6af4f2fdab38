#include "sim/sweep/store.hpp"

#include <algorithm>
#include <fstream>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/sweep/result_id.hpp"
#include "sim/sweep/store_rows.hpp"
#include "sim/sweep/store_schema.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;
using store_rows::check_of;
using store_rows::expect_row;
using store_rows::name_of;
using store_rows::read_row;
using store_rows::two_results;

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

std::string whole_id(const Sqlite& db, const std::string& bytes) {
  constexpr std::size_t kBytes = 32;
  if (bytes.size() != kBytes)
    throw DamagedStore(fmt::format("{}: the result of {} is damaged: it has no run id",
                                   db.path().string(), id_text(bytes)));
  return id_text(bytes);
}

// True where results of this extent consist of the same texts and other numbers.
bool has_shapes(std::string_view extent) {
  return extent.ends_with("/metrics");
}

}  // namespace

// The prepared statements, the numbers of shared parts, and the rows of the results of one kind.
struct SweepStore::Writing {
  struct Row {
    std::int64_t rowid = 0;
    bool failed = false;
  };

  Writing(Sqlite& db, const StoredSweep& like, std::int64_t kind_number)
      : extent(like.extent),
        version(like.version),
        kind(kind_number),
        insert_point(db, "INSERT OR REPLACE INTO points VALUES (?,?,?,?,?,?,?)"),
        insert_form(db, "INSERT INTO forms(scenario, settings) VALUES (?,?)"),
        insert_shape(db, "INSERT INTO shapes(text) VALUES (?)"),
        insert_result(db,
                      "INSERT INTO results(status, error, shape, results, row_check, id, kind) "
                      "VALUES (?,?,?,?,?,?,?)"),
        replace_result(db,
                       "UPDATE results SET status = ?, error = ?, shape = ?, results = ?, "
                       "row_check = ? WHERE rowid = ?") {
    Statement all(db, "SELECT rowid, id, status = 'error' FROM results WHERE kind = ?");
    all.bind(1, kind);
    while (all.step()) {
      const std::string id = whole_id(db, all.text(1));
      const Row row{.rowid = all.integer(0), .failed = all.integer(2) != 0};
      if (!rows.emplace(ResultId::of(id), row).second) throw two_results(db.path(), id);
    }
    Statement known(db, "SELECT scenario || char(10) || settings, form FROM forms");
    while (known.step()) forms.emplace(known.text(0), known.integer(1));
    Statement texts(db, "SELECT text, shape FROM shapes");
    while (texts.step()) shapes.emplace(texts.text(0), texts.integer(1));
  }

  std::string extent;
  std::string version;
  std::int64_t kind;
  Statement insert_point;
  Statement insert_form;
  Statement insert_shape;
  Statement insert_result;
  Statement replace_result;
  std::unordered_map<ResultId, Row, ResultIdHash> rows = {};
  std::unordered_map<std::string, std::int64_t> forms = {};   // by scenario, newline, settings
  std::unordered_map<std::string, std::int64_t> shapes = {};  // by text
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
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=1250; "
        "PRAGMA cache_size=-65536;");  // ids are looked up in no order
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
                 "SELECT p.position FROM points p JOIN sweeps s USING (sweep) "
                 "JOIN kinds k ON k.extent = s.extent AND k.version = s.version "
                 "JOIN results r ON r.id = p.id AND r.kind = k.kind "
                 "WHERE +p.sweep = ? AND (? OR r.status != 'error') "
                 "ORDER BY p.sweep, p.position");
  rows.bind(1, sweep).bind(2, std::int64_t{failed});
  while (rows.step()) visit(rows.integer(0));
}

SweepStore::Counts SweepStore::counts(std::int64_t sweep, const Shard& shard) {
  Statement rows(db_,
                 "SELECT r.status, count(*) FROM points p JOIN sweeps s USING (sweep) "
                 "JOIN kinds k ON k.extent = s.extent AND k.version = s.version "
                 "JOIN results r ON r.id = p.id AND r.kind = k.kind "
                 "WHERE +p.sweep = ? AND p.position % ? = ? GROUP BY r.status");
  rows.bind(1, sweep).bind(2, shard.count).bind(3, shard.index - 1);
  Counts out{};
  while (rows.step()) {
    const PointStatus status =
        store_rows::read_row(path(), fmt::format("a result of sweep {}", sweep),
                             [&] { return store_rows::status_of(rows.text(0)); });
    out[static_cast<std::size_t>(status)] = rows.integer(1);
  }
  return out;
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
  Statement rows(db_, "SELECT id FROM results WHERE kind = ? AND status != 'error'");
  rows.bind(1, kind_of(like));
  while (rows.step()) visit(whole_id(db_, rows.text(0)));
}

void SweepStore::begin_writing(const StoredSweep& sweep) {
  if (writing_ && writing_->whole && writing_->extent == sweep.extent &&
      writing_->version == sweep.version)
    return;
  writing_.reset();
  drop_index(db_);
  Statement(db_, "INSERT OR IGNORE INTO kinds(extent, version) VALUES (?,?)")
      .bind(1, sweep.extent)
      .bind(2, sweep.version)
      .run();
  writing_ = std::make_unique<Writing>(db_, sweep, kind_of(sweep));
}

void SweepStore::write(const StoredSweep& sweep, std::span<const StoredPoint> points) {
  begin_writing(sweep);
  writing_->whole = false;  // until the file matches `rows`
  Transaction transaction(db_);
  for (const StoredPoint& stored : points) {
    write_point(sweep, stored);
    const PointOutcome& outcome = stored.outcome;
    const bool is_of_another = outcome.status == PointStatus::ok && outcome.results.empty();
    if (!is_of_another) write_result(sweep, outcome);
  }
  transaction.commit();
  writing_->whole = true;
}

void SweepStore::write_point(const StoredSweep& sweep, const StoredPoint& stored) {
  const SpacePoint& point = stored.point;
  const std::string settings = settings_form(sweep.columns, point);
  const auto [form, is_new] =
      writing_->forms.try_emplace(point.scenario + '\n' + settings, std::int64_t{});
  if (is_new) {
    writing_->insert_form.bind(1, point.scenario).bind(2, settings).run();
    form->second = db_.last_row();
  }
  const std::string labels = labels_row(point.labels);
  const std::string id = id_bytes(stored.outcome.id);
  Statement& insert = writing_->insert_point;
  insert.bind(1, sweep.sweep).bind(2, point.position).bind_bytes(3, id).bind(4, labels);
  const std::string& answer = stored.outcome.answer;
  insert.bind(5, form->second);
  answer.empty() ? insert.bind(6, nullptr) : insert.bind(6, answer);
  insert.bind(7, check_of(point, stored.outcome.id, answer)).run();
}

void SweepStore::write_result(const StoredSweep& sweep, const PointOutcome& outcome) {
  const auto [known, is_new] = writing_->rows.try_emplace(ResultId::of(outcome.id));
  Writing::Row& row = known->second;
  if (!is_new && !row.failed) return;
  const bool ok = outcome.status == PointStatus::ok;
  row.failed = outcome.status == PointStatus::error;
  SplitNumbers split;
  if (ok && has_shapes(sweep.extent)) split = split_numbers(outcome.results);
  const bool has_shape = !split.shape.empty();
  std::int64_t shape = 0;
  if (has_shape) {
    const auto [same, is_first] = writing_->shapes.try_emplace(split.shape, std::int64_t{});
    if (is_first) {
      writing_->insert_shape.bind(1, split.shape).run();
      same->second = db_.last_row();
    }
    shape = same->second;
  }
  Statement& write = is_new ? writing_->insert_result : writing_->replace_result;
  write.bind(1, name_of(outcome.status));
  ok ? write.bind(2, nullptr) : write.bind(2, outcome.problem);
  has_shape ? write.bind(3, shape) : write.bind(3, nullptr);
  ok ? write.bind(4, has_shape ? split.numbers : outcome.results) : write.bind(4, nullptr);
  write.bind(5, check_of(sweep.extent, sweep.version, outcome));
  if (!is_new) return write.bind(6, row.rowid).run();
  const std::string id = id_bytes(outcome.id);
  write.bind_bytes(6, id).bind(7, writing_->kind).run();
  row.rowid = db_.last_row();
}

void SweepStore::end_writing() {
  if (!writing_) return;
  writing_.reset();
  index_results(db_, "main");
}

std::string SweepStore::id_of(const StoredSweep& sweep, std::int64_t position) {
  Statement rows(db_, "SELECT id FROM points WHERE sweep = ? AND position = ?");
  rows.bind(1, sweep.sweep).bind(2, position);
  if (!rows.step())
    throw store_rows::damaged(path(), fmt::format("point {}", position), "it has no row");
  return id_text(rows.text(0));
}

std::optional<PointOutcome> SweepStore::result(const StoredSweep& like, const std::string& id) {
  constexpr const char* kColumns = "SELECT status, error, shape, results, row_check FROM results ";
  if (writing_ && writing_->extent == like.extent && writing_->version == like.version) {
    const auto row = writing_->rows.find(ResultId::of(id));
    if (row == writing_->rows.end()) return std::nullopt;
    Statement found(db_, std::string(kColumns) + "WHERE rowid = ?");
    found.bind(1, row->second.rowid);
    if (!found.step()) return std::nullopt;
    return outcome_of_row(like.extent, like.version, id, found, 0);
  }
  const std::string bytes = id_bytes(id);
  Statement rows(db_, std::string(kColumns) + "WHERE id = ? AND kind = ?");
  rows.bind_bytes(1, bytes).bind(2, kind_of(like));
  if (!rows.step()) return std::nullopt;
  return outcome_of_row(like.extent, like.version, id, rows, 0);
}

}  // namespace tiersim
