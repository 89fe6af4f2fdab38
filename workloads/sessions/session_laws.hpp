#pragma once
// Draws from the laws of sessions. All platforms give the same bits.
#include <cstdint>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/base/units.hpp"
#include "workloads/sessions/session_config.hpp"

namespace tiersim {

/// By at most one draw of the stream each. Throws UnitOverflow for a pause beyond 106 days.
std::int64_t draw_count(const CountConfig& config, Rng& rng);
Duration draw_pause(const PauseConfig& config, Rng& rng);

/// Numbers from 0 to n - 1, where k has a share in proportion to 1 / (k + 1)^exponent.
class Zipf {
 public:
  Zipf(std::int64_t n, double exponent);
  std::int64_t draw(Rng& rng) const;

 private:
  std::vector<double> up_to_;  // share of 0 to k; the last one is 1
};

/// The laws of a workload's sessions, and the prompts that its groups share.
class SessionLaws {
 public:
  /// Each session and each of its agents has random streams of its own, so that no order of calls
  /// matters. `sessions` and `output` are copied.
  SessionLaws(const SessionConfig& sessions, const LengthConfig& output, std::uint64_t seed);

  const SessionConfig& sessions() const { return sessions_; }
  const LengthConfig& output() const { return output_; }
  std::uint64_t seed() const { return seed_; }

  /// The group of a session, from 0; without groups 0.
  std::int64_t group_of(std::int64_t session) const;
  /// The priority of a session and of all its requests.
  std::int64_t priority_of(std::int64_t session) const;
  /// Tokens that a group shares after the system prompt.
  std::int64_t group_tokens(std::int64_t group) const;
  /// Probability that the user leaves after this answer, from 1 on.
  double abandonment(std::int64_t answer) const;

 private:
  SessionConfig sessions_;
  LengthConfig output_;
  std::uint64_t seed_;
  Zipf groups_;
  std::vector<std::int64_t> group_tokens_;
};

}  // namespace tiersim
