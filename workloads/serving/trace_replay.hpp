#pragma once
// What the sources of a trace share: whether its file changed, and the time at which a recorded
// moment comes in the run.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/base/units.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

/// When and how long a file was, to see that it did not change.
struct TraceFileState {
  std::uintmax_t size = 0;
  std::filesystem::file_time_type time = {};
  friend bool operator==(const TraceFileState&, const TraceFileState&) = default;
};
inline TraceFileState state_of(const std::string& path) {
  std::error_code error;
  return {std::filesystem::file_size(path, error), std::filesystem::last_write_time(path, error)};
}

/// Replays recorded times from 0 on.
class Replay {
 public:
  explicit Replay(const TraceConfig& config) : speed_(config.speed) {}

  SimTime at(Duration recorded) const {
    if (speed_ == 1) return SimTime(recorded);  // exact also where a double cannot hold picoseconds
    const double ps = static_cast<double>(recorded.count()) / speed_;
    if (!(ps < 9.2e18)) throw UnitOverflow();
    return SimTime(Duration(std::llround(ps)));
  }

 private:
  double speed_;
};

}  // namespace tiersim
