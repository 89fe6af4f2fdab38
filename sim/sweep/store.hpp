#pragma once
// Results of sweeps in one SQLite file, with one layout for all commands:
//
//   sweeps         a SPEC (JSON), the version that ran it, its columns, its number of points
//   inputs         the files of a sweep at its start, with bases merged in
//   points         position in its sweep -> labels (JSON object), scenario, settings, id of result
//   results        id (SHA-256 of the canonical configuration), extent, version -> status, error,
//                  results
//   point_metrics  view: sweep, position, metric, value, unit, class; one row a number
//   point_labels   view: sweep, position, axis, label
//
// A result belongs to no sweep: all points with the same configuration share it. While points come
// in, the file is in WAL mode and every transaction is whole or absent, so that a killed process
// loses only unfinished work. The rows of `results` are then found through a map in memory, and an
// index is made at the end. compact() puts rows into one order: equal sweeps are then equal bytes,
// in whatever way they were run. Every row has a check of its fields, which is verified when the
// row is read. Errors are StoreError, those of a damaged row DamagedStore.
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
  /// Number of points with this status in a shard of a sweep.
  std::int64_t count(std::int64_t sweep, PointStatus status, const Shard& shard = {});
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
  /// The result id of a point of the sweep.
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
  void begin_writing(const StoredSweep& sweep);
  void write_result(const StoredSweep& sweep, const PointOutcome& outcome);
  void expect_points(const StoredSweep& sweep);
  StoredPoint point_of_row(const StoredSweep& sweep, const Statement& rows) const;

  Sqlite db_;
  std::unique_ptr<Writing> writing_;
};

/// Writes the rows of a store in their order into a new file that replaces it. No other process may
/// write to it meanwhile. Returns false, with the file unchanged, if another process is reading it.
bool compact(const std::filesystem::path& path);

/// {"context": 8192, "method": "MAPLE"}: plain numbers are written as numbers.
std::string labels_json(const std::vector<SpaceColumn>& columns,
                        const std::vector<std::string>& labels);

}  // namespace tiersim
