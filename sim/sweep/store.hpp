#pragma once
// Results of sweeps in one SQLite file, of the same layout for every command:
//
//   sweeps    a SPEC (JSON), the version that ran it, its columns, how many points it has
//   inputs    the files of a sweep as they were when it began, bases merged in
//   points    position in its sweep -> labels (JSON object), scenario and settings, id of its
//   result results   id (SHA-256 of the canonical configuration), extent, version -> status, error,
//   results view point_metrics   sweep, position, metric, value, unit, class: one row a number view
//   point_labels    sweep, position, axis, label
//
// A result belongs to no sweep: whoever has a point with the same configuration finds it. While
// points come in, the file is in WAL mode and every transaction is whole or absent, so that a
// killed process loses only what it had not finished. What is where in `results` is known in memory
// then, and an index is made at the end. compact() puts rows into one order: the same
// sweeps are then the same bytes, however they were run. Errors are StoreError.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/runner/point_loader.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/sqlite.hpp"

namespace tiersim {

enum class PointStatus : std::uint8_t {
  ok,
  infeasible,  ///< a configuration that does not fit the hardware: an answer, no failure
  error,       ///< mistakes that only this combination of settings has
};
inline constexpr std::array<std::string_view, 3> kPointStatusNames{"ok", "infeasible", "error"};

/// Part `index` of `count`, from 1: every count-th position.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;

  bool contains(std::int64_t position) const { return position % count == index - 1; }
  /// Points of so many that it has.
  std::int64_t points(std::int64_t all) const { return (all + count - index) / count; }
};

struct StoredSweep {
  std::int64_t sweep = 0;  ///< number in this store, from 1
  std::string name = {};
  std::string file = {};     ///< SPEC as it was given
  std::string digest = {};   ///< of SPEC, version and inputs: what makes it this sweep
  std::string spec = {};     ///< canonical JSON
  std::string version = {};  ///< of tiersim
  std::string extent = {};   ///< reading and what is kept of it: "times/results"
  std::vector<SpaceColumn> columns = {};
  std::optional<std::int64_t> points = {};  ///< none while a search is not at its end
};

struct PointOutcome {
  std::string id = {};
  PointStatus status = PointStatus::ok;
  std::string problem = {};  ///< where not ok, in one line
  std::string results = {};  ///< JSON; empty where not ok, or where the store has it already
};

struct StoredPoint {
  SpacePoint point = {};
  PointOutcome outcome = {};
};

class SweepStore {
 public:
  enum class Access : std::uint8_t { read, write };
  /// Makes the file where it is to be written and is not there. An error where it is no store.
  SweepStore(const std::filesystem::path& path, Access access);
  /// Whether the file is an SQLite database, to tell it from configurations and records.
  static bool is_store(const std::filesystem::path& path);
  SweepStore(SweepStore&&) noexcept;
  ~SweepStore();

  std::vector<StoredSweep> sweeps();
  std::optional<StoredSweep> find(const std::string& digest);
  /// Its number is given by the store.
  std::int64_t add(const StoredSweep& sweep,
                   const std::vector<std::pair<Point, std::string>>& inputs);
  void set_points(std::int64_t sweep, std::int64_t points);
  std::vector<std::pair<Point, std::string>> inputs(std::int64_t sweep);
  void add_input(std::int64_t sweep, const Point& files, const std::string& text);

  /// Points of the sweep with a result; those with an error only where `failed` is true.
  void done(std::int64_t sweep, bool failed, const std::function<void(std::int64_t)>& visit);
  /// Points of a part of a sweep that have this status.
  std::int64_t count(std::int64_t sweep, PointStatus status, const Shard& shard = {});
  /// The first by position with this status.
  std::optional<StoredPoint> first(const StoredSweep& sweep, PointStatus status);
  /// Ids of all results of this version and extent, but for those of status `error`.
  void ids(const StoredSweep& like, const std::function<void(const std::string&)>& visit);

  /// In one transaction. A result of an error is replaced, any other that is there stays. Nobody
  /// else writes to the file meanwhile.
  void write(const StoredSweep& sweep, std::span<const StoredPoint> points);
  /// Makes results quick to find again; without it all is there, and slower to read.
  void end_writing();

  /// By position; `visit` returns false to stop.
  void for_each(const StoredSweep& sweep, const std::function<bool(const StoredPoint&)>& visit);
  /// The id of a point that the sweep has.
  std::string id_of(const StoredSweep& sweep, std::int64_t position);
  /// Of the configuration alone: nothing where the store has no such result.
  std::optional<PointOutcome> result(const StoredSweep& like, const std::string& id);

  /// Throws where the file is damaged.
  void expect_whole();
  /// Adds the sweeps, points and results that the other store has and this one has not.
  void merge(const std::filesystem::path& other);

  const std::filesystem::path& path() const { return db_.path(); }

 private:
  struct Writing;
  void begin_writing(const StoredSweep& sweep);
  void write_result(const StoredSweep& sweep, const PointOutcome& outcome);
  StoredPoint point_of_row(const StoredSweep& sweep, const Statement& rows) const;

  Sqlite db_;
  std::unique_ptr<Writing> writing_;
};

/// Writes the rows of a store in their order into a new file that replaces it. No other process may
/// be writing to it. False where one is reading just now, so that the file stays as it is.
bool compact(const std::filesystem::path& path);

/// {"context": 8192, "method": "MAPLE"}: labels that are plain numbers are numbers.
std::string labels_json(const std::vector<SpaceColumn>& columns,
                        const std::vector<std::string>& labels);

}  // namespace tiersim
