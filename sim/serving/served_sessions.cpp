#include "sim/serving/served_sessions.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {

std::vector<ServedSession> sessions_of(std::span<const ServedRequest> requests,
                                       std::int64_t sessions) {
  std::vector<ServedSession> out(static_cast<std::size_t>(sessions));
  for (const ServedRequest& request : requests) {
    const std::int64_t number = request.session.session;
    TS_EXPECTS(number >= 0 && number < sessions, number, sessions);
    ServedSession& session = out[static_cast<std::size_t>(number)];
    if (session.requests++ == 0) session.begin = session.end = request.arrival;
    // Sub-agents overlap, so the time counts from the end of what was there before.
    session.busy += std::max(Duration{}, request.finished - std::max(request.arrival, session.end));
    session.end = std::max(session.end, request.finished);
    if (request.session.end != SessionEnd::none) session.how = request.session.end;
  }
  for (const ServedSession& session : out)
    TS_ENSURES(session.how != SessionEnd::none, session.requests);
  return out;
}

}  // namespace tiersim
