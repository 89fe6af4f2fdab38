#pragma once
// The blocks of sessions that pause for a tool, which the pool keeps for their next requests: the
// `preserve` of InferCept (Abhyankar et al., ICML 2024) with the limit in time of Continuum's pins
// (Li et al., arXiv 2511.02230). The entries of a session are pinned all or not at all, and no more
// of the pool than a limit, in which an entry of several sessions counts once. The class only
// counts; its user pins and releases.
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "workloads/serving/prefix_parts.hpp"
#include "workloads/serving/request.hpp"

namespace tiersim {

struct PauseLimits {
  Duration time{};          ///< of a session's pins
  std::int64_t blocks = 0;  ///< of the pool, for the pins of all sessions
};

class PausedSessions {
 public:
  explicit PausedSessions(const PauseLimits& limits) : limits_(limits) {}

  /// The session pauses at `now`, which never falls, and its next request will use these entries.
  /// False, without any change, where they exceed the limit.
  bool keep(const SessionPlace& place, const PrefixEntries& entries, SimTime now);
  /// These return entries to release: those of the session, if it has any; those of the session
  /// that paused first, if its time is over; and of the one that paused first, whatever its time.
  std::optional<PrefixEntries> take(const SessionPlace& place);
  std::optional<PrefixEntries> take_ended(SimTime now);
  std::optional<PrefixEntries> take_first();

  /// Entries of all paused sessions, once for each session.
  PrefixEntries entries() const;
  /// Distinct blocks of all of them.
  std::int64_t blocks() const { return blocks_; }

 private:
  using Agent = std::pair<std::int64_t, std::int32_t>;  // session, agent of it
  struct Paused {
    Agent agent;
    SimTime since{};
    PrefixEntries entries;
  };
  using ByAge = std::map<std::int64_t, Paused>;

  PrefixEntries take(ByAge::iterator at);

  PauseLimits limits_;
  ByAge paused_;                                                 // by the order of their pauses
  std::map<Agent, std::int64_t> numbers_;                        // keys of paused_
  std::unordered_map<std::uint64_t, std::int64_t> sessions_of_;  // by entry; for lookup only
  std::int64_t next_ = 0;
  std::int64_t blocks_ = 0;
};

}  // namespace tiersim
