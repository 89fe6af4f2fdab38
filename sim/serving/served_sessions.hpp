#pragma once
// The sessions of a run, made of its requests.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/serving/observations.hpp"

namespace tiersim {

struct ServedSession {
  SimTime begin{};  ///< arrival of its first request
  SimTime end{};    ///< last token of its last request
  /// Time in which at least one of its requests was at the server: all of it but the pauses.
  Duration busy{};
  std::int64_t requests = 0;  ///< with those of sub-agents
  SessionEnd how = SessionEnd::none;
};

/// The sessions by their number. `requests` are in the order of arrival and have all ended.
std::vector<ServedSession> sessions_of(std::span<const ServedRequest> requests,
                                       std::int64_t sessions);

}  // namespace tiersim
