#include "sim/serving/setup_text.hpp"

#include <fmt/format.h>

#include "sim/base/display.hpp"
#include "sim/serving/pools.hpp"

namespace tiersim {
namespace {

template <class Names, class Enum>
std::string word(const Names& names, Enum value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

// The kind of prefix cache, by all that is not the default.
std::string prefix_cache_text(const PrefixCacheConfig& cache) {
  const auto by = [](Eviction policy) {
    return policy == Eviction::lru ? "" : fmt::format(" by {}", name_of(policy));
  };
  const auto lifetime = [](const std::optional<Duration>& ttl) {
    return ttl ? fmt::format(" for {}", display(*ttl)) : "";
  };
  std::string out = "prefix cache" + by(cache.eviction_policy) + lifetime(cache.ttl);
  for (std::size_t i = 0; i < cache.tiers.size(); ++i) {
    const PrefixTier& tier = cache.tiers[i];
    out += fmt::format(", {} of {}{}{}", display(tier.capacity), tier.tier,
                       by(tier.eviction_policy), lifetime(tier.ttl));
    if (tier.shared) out += " (shared by all replicas)";
    if (tier.exclusive) out += " (exclusive)";
    if (const auto block = cache.block_of(i)) out += fmt::format(" (in blocks of {})", *block);
    if (tier.compression) out += fmt::format(" (compressed to 1/{:g})", tier.compression->ratio);
  }
  if (cache.load == LoadPolicy::if_faster) out += ", loaded where that is faster";
  if (cache.prefetch)
    out += cache.prefetch->into == PrefetchInto::pool ? ", prefetched"
                                                      : ", prefetched into the nearest tier";
  if (cache.layerwise_load) out += ", loaded layer by layer";
  if (cache.moved_by == MovedBy::kernel) out += ", moved by kernels";
  if (cache.tool_calls)
    out += cache.tool_calls->blocks == PausedBlocks::discard
               ? ", dropped while tools run"
               : fmt::format(", kept up to {} while tools run", display(cache.tool_calls->time));
  return out;
}

std::string policy_text(const ServerConfig& server) {
  std::string out = fmt::format("{} batching, at most {} sequences",
                                word(kSchedulerPolicyNames, server.scheduler.policy),
                                server.scheduler.max_sequences);
  if (server.scheduler.policy != SchedulerPolicy::static_batch)
    out += fmt::format(" and {} tokens an iteration", server.scheduler.max_batched_tokens);
  if (server.scheduler.receive_interval > 1)
    out += fmt::format(", requests looked for after {} decodes", server.scheduler.receive_interval);
  out += fmt::format("; preemption by {}", word(kPreemptionNames, server.kv.preemption));
  if (server.prefix_cache) out += "; " + prefix_cache_text(*server.prefix_cache);
  return out;
}

std::string length_text(const LengthConfig& length) {
  switch (length.distribution) {
    case LengthDistribution::fixed:
      return fmt::format("{}", length.tokens);
    case LengthDistribution::uniform:
      return fmt::format("{} to {}", length.min, length.max);
    case LengthDistribution::lognormal:
      return fmt::format("{} (median, sigma {:g})", length.tokens, length.sigma);
  }
  return "";
}

std::string limit_text(const ArrivalConfig& arrivals) {
  return arrivals.max_in_flight ? fmt::format(", at most {} in flight", *arrivals.max_in_flight)
                                : "";
}

std::string arrivals_text(const ArrivalConfig& arrivals) {
  switch (arrivals.process) {
    case ArrivalProcess::at_once:
      return "all at once";
    case ArrivalProcess::closed_loop:
      return fmt::format(
          "closed loop of {} users{}{}", arrivals.users,
          arrivals.think_time > Duration{} ? ", who think for " + display(arrivals.think_time) : "",
          arrivals.ramp_up > Duration{} ? ", who begin over " + display(arrivals.ramp_up) : "");
    case ArrivalProcess::fixed_rate:
      return fmt::format("{:g} a second, evenly{}", arrivals.requests_per_s, limit_text(arrivals));
    case ArrivalProcess::poisson:
      return fmt::format("{:g} a second, Poisson{}", arrivals.requests_per_s, limit_text(arrivals));
    case ArrivalProcess::gamma:
      return fmt::format("{:g} a second, Gamma of variation {:g}{}", arrivals.requests_per_s,
                         arrivals.variation, limit_text(arrivals));
  }
  return "";
}

// The folder of a file is not a result of a run.
std::string base_name(const std::string& file) {
  return file.substr(file.find_last_of('/') + 1);
}

// "32000 + 5000 (median, sigma 1.48)": what is shared, and what is not.
std::string first_prompt_text(const SessionConfig& sessions) {
  std::string out;
  if (sessions.system_prompt > 0) out += fmt::format("{} + ", sessions.system_prompt);
  if (sessions.groups) out += fmt::format("{} + ", length_text(sessions.groups->prompt));
  return out + length_text(sessions.first_prompt);
}

std::string queue_text(const SessionConfig& sessions) {
  if (!sessions.ready_queue) return "";
  return fmt::format(", {} requests in flight{}", sessions.ready_queue->in_flight,
                     sessions.ready_queue->rounds ? ", in rounds" : "");
}

std::string workload_text(const WorkloadConfig& workload) {
  if (workload.trace)
    return fmt::format("trace {}{}{}", base_name(workload.trace->requests.source),
                       workload.trace->speed == 1
                           ? ""
                           : fmt::format(", {:g} times as fast", workload.trace->speed),
                       workload.arrivals ? "; sessions " + arrivals_text(*workload.arrivals) : "");
  std::string out = workload.arrivals ? arrivals_text(*workload.arrivals) : "";
  if (workload.input) out += fmt::format("; {} tokens in", length_text(*workload.input));
  if (workload.sessions)
    out = fmt::format("{} sessions, {}{}; first prompts of {} tokens", workload.sessions->count,
                      out, queue_text(*workload.sessions), first_prompt_text(*workload.sessions));
  if (workload.output) out += fmt::format(", {} out", length_text(*workload.output));
  return out;
}

}  // namespace

ServingRecord setup_of(const ServingConfig& config, std::int64_t replicas) {
  ServingRecord out{.model = config.scenario.model.name,
                    .method = config.scenario.method.name,
                    .system = config.scenario.system.name,
                    .policy = policy_text(config.server),
                    .workload = workload_text(config.workload),
                    .replicas = replicas};
  if (config.server.disaggregation)
    out.prefill_replicas = config.server.disaggregation->prefill_replicas;
  if (config.prefill) {
    const ScenarioConfig prefill = prefill_scenario(config);
    out.prefill_replicas = tiersim::replicas(prefill);
    out.prefill_system = prefill.system.name;
    out.prefill_gpus = prefill.parallel.devices();
  }
  if (config.measure.slo_ttft) out.slo_ttft_s = to_seconds(*config.measure.slo_ttft);
  if (config.measure.slo_tpot) out.slo_tpot_s = to_seconds(*config.measure.slo_tpot);
  if (config.measure.slo_session) out.slo_session_s = to_seconds(*config.measure.slo_session);
  return out;
}

}  // namespace tiersim
