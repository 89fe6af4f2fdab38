// How points and results are read from a store, and their rows checked.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "sim/sweep/store_rows.hpp"
#include "sim/sweep/store_schema.hpp"

namespace tiersim {
namespace store_rows {

void expect_row(bool whole, const std::filesystem::path& store, const std::string& row) {
  if (!whole)
    throw DamagedStore(fmt::format("{}: {} is damaged: its check differs", store.string(), row));
}

DamagedStore damaged(const std::filesystem::path& store, const std::string& row,
                     std::string_view why) {
  return DamagedStore(fmt::format("{}: {} is damaged: {}", store.string(), row, why));
}

DamagedStore two_results(const std::filesystem::path& store, const std::string& id) {
  return DamagedStore(
      fmt::format("{}: the result of {} is damaged: it is there twice", store.string(), id));
}

PointStatus status_of(const std::string& name) {
  const auto* it = std::ranges::find(kPointStatusNames, name);
  if (it == kPointStatusNames.end())
    throw std::runtime_error("no status is called '" + name + '\'');
  return static_cast<PointStatus>(it - kPointStatusNames.begin());
}

std::string_view name_of(PointStatus status) {
  return kPointStatusNames[static_cast<std::size_t>(status)];
}

std::int64_t check_of(const SpacePoint& point, const std::string& id, const std::string& answer) {
  std::string labels = labels_row(point.labels);
  return row_check({fmt::to_string(point.position), id, labels, point.scenario,
                    settings_json(point.set),
                    answer.empty() ? std::nullopt : std::optional<std::string_view>(answer)});
}

std::int64_t check_of(std::string_view extent, std::string_view version,
                      const PointOutcome& outcome) {
  const bool ok = outcome.status == PointStatus::ok;
  return row_check({outcome.id, extent, version, name_of(outcome.status),
                    ok ? std::nullopt : std::optional<std::string_view>(outcome.problem),
                    ok ? std::optional<std::string_view>(outcome.results) : std::nullopt});
}

}  // namespace store_rows

void SweepStore::for_each(const StoredSweep& sweep,
                          const std::function<bool(const StoredPoint&)>& visit) {
  for_each(sweep, {}, visit);
}

void SweepStore::for_each(const StoredSweep& sweep,
                          const std::function<bool(const SpacePoint&)>& chooses,
                          const std::function<bool(const StoredPoint&)>& visit) {
  Statement rows(
      db_,
      "SELECT p.position, p.id, p.labels, p.form, p.answer, p.row_check, r.status, r.error, "
      "r.shape, "
      "r.results, r.row_check FROM points p JOIN results k ON k.id = p.id AND k.kind = ? "
      "JOIN results r ON r.rowid = k.rowid "  // k's index has no text
      "WHERE +p.sweep = ? ORDER BY p.sweep, p.position");
  rows.bind(1, kind_of(sweep)).bind(2, sweep.sweep);
  while (rows.step()) {
    SpacePoint point = point_of_row(sweep, rows);
    if (chooses && !chooses(point)) continue;
    StoredPoint stored{std::move(point),
                       outcome_of_row(sweep.extent, sweep.version, id_text(rows.text(1)), rows, 6)};
    stored.outcome.answer = rows.text(4);
    if (!visit(stored)) return;
  }
}

std::int64_t SweepStore::kind_of(const StoredSweep& sweep) {
  Statement rows(db_, "SELECT kind FROM kinds WHERE extent = ? AND version = ?");
  rows.bind(1, sweep.extent).bind(2, sweep.version);
  return rows.step() ? rows.integer(0) : 0;
}

const SweepStore::Form& SweepStore::form(std::int64_t number) {
  if (const auto known = forms_.find(number); known != forms_.end()) return known->second;
  Statement rows(db_, "SELECT scenario, settings FROM forms WHERE form = ?");
  rows.bind(1, number);
  if (!rows.step()) throw std::runtime_error(fmt::format("there is no form {}", number));
  return forms_.emplace(number, Form{rows.text(0), SettingsForm(rows.text(1))}).first->second;
}

const std::string& SweepStore::shape(std::int64_t number) {
  if (const auto known = shapes_.find(number); known != shapes_.end()) return known->second;
  Statement rows(db_, "SELECT text FROM shapes WHERE shape = ?");
  rows.bind(1, number);
  if (!rows.step()) throw std::runtime_error(fmt::format("there is no shape {}", number));
  return shapes_.emplace(number, rows.text(0)).first->second;
}

// Position, id, labels, form, answer and check in the first six columns.
SpacePoint SweepStore::point_of_row(const StoredSweep& sweep, const Statement& row) {
  const std::string place = fmt::format("point {} of sweep {}", row.integer(0), sweep.sweep);
  SpacePoint out = store_rows::read_row(path(), place, [&] {
    const Form& of = form(row.integer(3));
    SpacePoint point{.position = row.integer(0), .scenario = of.scenario};
    point.labels = labels_of(row.text(2));
    if (point.labels.size() != sweep.columns.size())
      throw std::runtime_error("it has other columns");
    point.set = of.settings.of(point.labels);
    return point;
  });
  store_rows::expect_row(
      store_rows::check_of(out, id_text(row.text(1)), row.text(4)) == row.integer(5), path(),
      place);
  return out;
}

// Status, error, shape, results and check in five columns from `first`.
PointOutcome SweepStore::outcome_of_row(const std::string& extent, const std::string& version,
                                        const std::string& id, const Statement& row, int first) {
  const std::string place = "the result of " + id;
  PointOutcome out = store_rows::read_row(path(), place, [&] {
    return PointOutcome{id, store_rows::status_of(row.text(first)), row.text(first + 1),
                        row.is_null(first + 2)
                            ? row.text(first + 3)
                            : join_numbers(shape(row.integer(first + 2)), row.text(first + 3))};
  });
  store_rows::expect_row(store_rows::check_of(extent, version, out) == row.integer(first + 4),
                         path(), place);
  return out;
}

void SweepStore::expect_whole() {
  // With the indices, by which results are found.
  Statement check(db_, "PRAGMA integrity_check(1)");
  if (!check.step() || check.text(0) != "ok")
    throw DamagedStore(fmt::format("{}: the file is damaged: {}", path().string(), check.text(0)));
  for (const StoredSweep& sweep : sweeps()) {
    inputs(sweep.sweep);
    expect_points(sweep);
  }
  expect_results();
}

void SweepStore::expect_results() {
  Statement twice(db_, "SELECT id FROM results GROUP BY id, kind HAVING count(*) > 1 LIMIT 1");
  if (twice.step()) throw store_rows::two_results(path(), id_text(twice.text(0)));
  Statement rows(db_,
                 "SELECT r.id, k.extent, k.version, r.status, r.error, r.shape, r.results, "
                 "r.row_check FROM results r LEFT JOIN kinds k ON k.kind = r.kind");
  while (rows.step()) outcome_of_row(rows.text(1), rows.text(2), id_text(rows.text(0)), rows, 3);
}

void SweepStore::expect_points(const StoredSweep& sweep) {
  Statement rows(
      db_, "SELECT position, id, labels, form, answer, row_check FROM points WHERE sweep = ?");
  rows.bind(1, sweep.sweep);
  while (rows.step()) {
    const SpacePoint point = point_of_row(sweep, rows);
    if (point.position < 0 || point.position >= sweep.points.value_or(INT64_MAX))
      throw DamagedStore(fmt::format("{}: point {} of sweep {} is beyond its {} points",
                                     path().string(), point.position, sweep.sweep,
                                     sweep.points.value_or(0)));
  }
}

}  // namespace tiersim
