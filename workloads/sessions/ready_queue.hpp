#pragma once
// The client of benchmarks such as SGLang's bench_multiturn: turns that may be sent wait at the
// client, which picks one by chance and has so many requests at the server at a time. A turn waits
// there for free: its times count from when it is sent.
#include <cstdint>
#include <memory>

#include "workloads/serving/request.hpp"
#include "workloads/sessions/session_config.hpp"

namespace tiersim {

/// `sessions` begin at time 0, all of them, and their turns follow each other without a pause. The
/// order of picking depends on `seed` and on the order in which the turns became ready.
std::unique_ptr<RequestSource> make_ready_queue(const ReadyQueueConfig& config, std::uint64_t seed,
                                                std::unique_ptr<RequestSource> sessions);

}  // namespace tiersim
