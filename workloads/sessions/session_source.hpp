#pragma once
// The requests of sessions (session_config.hpp) as a source. Memory grows with the sessions that
// are under way, not with requests.
#include <memory>

#include "workloads/serving/request.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

/// `config` has sessions, and was read without mistakes. `starts` gives a request for the begin of
/// each session, of which only the arrival counts, and takes its end as the end of that request.
std::unique_ptr<RequestSource> make_session_source(const WorkloadConfig& config, std::uint64_t seed,
                                                   std::unique_ptr<RequestSource> starts);

/// Number of requests of all sessions, in a time in proportion to it.
std::int64_t session_requests(const WorkloadConfig& config, std::uint64_t seed);

}  // namespace tiersim
