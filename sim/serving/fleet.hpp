#pragma once
// Which replicas take requests, where they fail and come back, or are started and stopped as the
// load asks for (fleet_config.hpp).
//
//   up        takes requests
//   failed    has lost everything; comes up after its repair
//   draining  takes no new requests, and is off after its last one
//   off       waits until it is wanted
//   starting  loads its weights, and comes up after that
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/serving/replica.hpp"

namespace tiersim {

class Fleet {
 public:
  /// The server's part.
  struct Hooks {
    std::function<void()> came_up;           ///< a replica takes requests again
    std::function<std::int64_t()> requests;  ///< that are at the server
  };
  /// All must outlive the fleet.
  Fleet(ServingParts& parts, std::span<const std::unique_ptr<Replica>> replicas, Hooks hooks);

  /// True where the configuration has such replicas.
  static bool is_needed(const ServerConfig& server) { return server.failures || server.scaling; }

  /// Begins, at time 0.
  void start();
  /// No request comes any more, and none is at the server: replicas fail and start no more.
  void end();

  bool is_up(std::size_t replica) const { return states_[replica] == State::up; }
  bool has_any_up() const { return up_ > 0; }
  /// A request has left the server.
  void left();

 private:
  enum class State : std::uint8_t { up, failed, draining, off, starting };

  Process fail_and_repair(std::size_t replica);
  Process scale();
  Process bring_up(std::size_t replica);
  void set(std::size_t replica, State state);
  std::int64_t count(State state) const;
  /// Replicas that are wanted now, by the most that were in the time of stabilization.
  std::int64_t wanted();
  void adjust(std::int64_t wanted);

  ServingParts& parts_;
  std::span<const std::unique_ptr<Replica>> replicas_;
  Hooks hooks_;
  std::vector<State> states_;
  std::int64_t up_ = 0;
  // by replica
  std::vector<Rng> times_;            // of service until a failure
  std::vector<ProcessRef> failing_;   // waits for its next failure
  std::vector<ProcessRef> starting_;  // waits until its weights can be loaded
  ProcessRef scaling_;
  std::deque<std::pair<SimTime, std::int64_t>> wishes_;  // times, and what was wanted
  bool ended_ = false;
};

}  // namespace tiersim
