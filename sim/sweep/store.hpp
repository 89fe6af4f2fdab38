#pragma once
// Results of sweeps in one SQLite file, with one layout for all commands:
//
//   sweeps         a SPEC (JSON), the version that ran it, its columns, its number of points
//   inputs         the files of a sweep at its start, with bases merged in
//   forms          scenario and settings that points share, but for values that are labels
//   points         position in its sweep -> labels (JSON list), form, id of result, and the answer
//                  to the sweep's question (break_even_record.hpp)
//   kinds          extent and version that results share
//   shapes         results without their numbers, where a sweep keeps metrics only
//   results        id (SHA-256 of the canonical configuration), kind -> status, error, results, or
//                  shape and numbers (store_text.hpp)
//   sweep_results  view: a point with its settings and its result
//   point_metrics  view: sweep, position, metric, value, unit, class; one row a number
//   point_labels   view: sweep, position, axis, label
//
// A result belongs to no sweep: all points with the same configuration share it. While points come
// in, the file is in WAL mode and every transaction is whole or absent, so that a killed process
// loses only unfinished work. The rows of `results` are then found through a map in memory, and an
// index is made at the end. compact() puts rows into one order: equal sweeps are then equal bytes,
// in whatever way they were run. Every row of a point or a result has a check of its fields, the
// shared ones included, which is verified when the row is read. Errors are StoreError, those of a
// damaged row DamagedStore.
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/runner/point_loader.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/sqlite.hpp"
#include "sim/sweep/store_text.hpp"

namespace tiersim {

enum class PointStatus : std::uint8_t {
  ok,
  infeasible,  ///< a configuration that does not fit the hardware: a result, not a failure
  error,       ///< mistakes of this combination of settings only
};
inline constexpr std::array<std::string_view, 3> kPointStatusNames{"ok", "infeasible", "error"};

/// Part `index` of `count`, from 1: every count-th position.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;

  bool contains(std::int64_t position) const { return position % count == index - 1; }
  /// Number of the shard's points among `all`.
  std::int64_t points(std::int64_t all) const { return (all + count - index) / count; }
};

struct StoredSweep {
  std::int64_t sweep = 0;  ///< number in this store, from 1
  std::string name = {};
  std::string file = {};     ///< SPEC as given
  std::string digest = {};   ///< of SPEC, version and inputs: the identity of the sweep
  std::string spec = {};     ///< canonical JSON
  std::string version = {};  ///< of tiersim
  std::string extent = {};   ///< reading and the kept part: "times/results"
  std::vector<SpaceColumn> columns = {};
  std::optional<std::int64_t> points = {};  ///< none until a search has ended
};

struct PointOutcome {
  std::string id = {};
  PointStatus status = PointStatus::ok;
  std::string problem = {};  ///< in one line; empty if ok
  std::string results = {};  ///< JSON; empty if not ok, or if already in the store
  /// Of this point of the sweep, not of its configuration: the answer to the question of
  /// break-even as JSON; empty if there is none.
  std::string answer = {};
};

struct StoredPoint {
  SpacePoint point = {};
  PointOutcome outcome = {};
};

class SweepStore {
 public:
  enum class Access : std::uint8_t { read, write };
  /// Access::write makes a missing file. Throws if the file is not a store.
  SweepStore(const std::filesystem::path& path, Access access);
  /// True where the file is an SQLite database rather than a configuration or record.
  static bool is_store(const std::filesystem::path& path);
  SweepStore(SweepStore&&) noexcept;
  ~SweepStore();

  std::vector<StoredSweep> sweeps();
  std::optional<StoredSweep> find(const std::string& digest);
  /// Adds a sweep and returns its number in the store.
  std::int64_t add(const StoredSweep& sweep,
                   const std::vector<std::pair<Point, std::string>>& inputs);
  void set_points(std::int64_t sweep, std::int64_t points);
  std::vector<std::pair<Point, std::string>> inputs(std::int64_t sweep);
  void add_input(std::int64_t sweep, const Point& files, const std::string& text);

  /// Visits points of the sweep with a result; those with an error only if `failed` is true.
  void done(std::int64_t sweep, bool failed, const std::function<void(std::int64_t)>& visit);
  /// Numbers of points by PointStatus in a shard of a sweep.
  using Counts = std::array<std::int64_t, kPointStatusNames.size()>;
  Counts counts(std::int64_t sweep, const Shard& shard = {});
  std::int64_t count(std::int64_t sweep, PointStatus status) {
    return counts(sweep)[static_cast<std::size_t>(status)];
  }
  /// The first point, by position, with this status.
  std::optional<StoredPoint> first(const StoredSweep& sweep, PointStatus status);
  /// Ids of all results of this version and extent, without those of status `error`.
  void ids(const StoredSweep& like, const std::function<void(const std::string&)>& visit);

  /// Writes points in one transaction. A result with an error is replaced; any other existing one
  /// stays. No other process may write to the file meanwhile.
  void write(const StoredSweep& sweep, std::span<const StoredPoint> points);
  /// Makes the index of results; without it reading is slower but complete.
  void end_writing();

  /// Visits the points in order of position until `visit` returns false.
  void for_each(const StoredSweep& sweep, const std::function<bool(const StoredPoint&)>& visit);
  /// The same with the points alone that `chooses` is true for; the results of others are not read.
  void for_each(const StoredSweep& sweep, const std::function<bool(const SpacePoint&)>& chooses,
                const std::function<bool(const StoredPoint&)>& visit);
  /// The result id of a point of the sweep. Throws DamagedStore if the point has no row.
  std::string id_of(const StoredSweep& sweep, std::int64_t position);
  /// The result of a configuration: nothing if the store has none.
  std::optional<PointOutcome> result(const StoredSweep& like, const std::string& id);

  /// Reads every row; throws DamagedStore with the first one that is not as it was written.
  void expect_whole();
  /// Adds the sweeps, points and results of the other store that are missing here.
  void merge(const std::filesystem::path& other);

  const std::filesystem::path& path() const { return db_.path(); }

 private:
  struct Writing;
  // Scenario and settings of points.
  struct Form {
    std::string scenario;
    SettingsForm settings;
  };
  void begin_writing(const StoredSweep& sweep);
  void write_point(const StoredSweep& sweep, const StoredPoint& stored);
  void write_result(const StoredSweep& sweep, const PointOutcome& outcome);
  void expect_points(const StoredSweep& sweep);
  void expect_results();
  std::int64_t kind_of(const StoredSweep& sweep);
  const Form& form(std::int64_t number);
  const std::string& shape(std::int64_t number);
  SpacePoint point_of_row(const StoredSweep& sweep, const Statement& row);
  PointOutcome outcome_of_row(const std::string& extent, const std::string& version,
                              const std::string& id, const Statement& row, int first);

  Sqlite db_;
  std::unordered_map<std::int64_t, Form> forms_;          // those read so far
  std::unordered_map<std::int64_t, std::string> shapes_;  // likewise
  std::unique_ptr<Writing> writing_;
};

/// Writes the rows of a store in their order into a new file that replaces it. No other process may
/// write to it meanwhile. Returns false, with the file unchanged, if another process is reading it.
bool compact(const std::filesystem::path& path);

/// {"context": 8192, "method": "MAPLE"}: plain numbers are written as numbers.
std::string labels_json(const std::vector<SpaceColumn>& columns,
                        const std::vector<std::string>& labels);

}  // namespace tiersim
