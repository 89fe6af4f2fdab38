#include "reports/serving/trace_fit_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

std::string time_value(Duration time) {
  return fmt::format("{:.9g} s", to_seconds(time));
}

std::string yaml(const LengthConfig& law) {
  switch (law.distribution) {
    case LengthDistribution::fixed:
      return fmt::format("{{tokens: {}}}", law.tokens);
    case LengthDistribution::uniform:
      return fmt::format("{{distribution: uniform, min: {}, max: {}}}", law.min, law.max);
    case LengthDistribution::lognormal:
      return fmt::format("{{distribution: lognormal, tokens: {}, sigma: {:.6g}, min: {}, max: {}}}",
                         law.tokens, law.sigma, law.min, law.max);
  }
  return "";
}

std::string yaml(const CountConfig& law) {
  switch (law.distribution) {
    case CountDistribution::fixed:
      return fmt::format("{{count: {}}}", law.count);
    case CountDistribution::uniform:
      return fmt::format("{{distribution: uniform, min: {}, max: {}}}", law.min, law.max);
    case CountDistribution::geometric:
      return fmt::format("{{distribution: geometric, mean: {:.6g}, max: {}}}", law.mean, law.max);
    case CountDistribution::lognormal:
      return fmt::format("{{distribution: lognormal, median: {:.6g}, sigma: {:.6g}, max: {}}}",
                         law.median, law.sigma, law.max);
  }
  return "";
}

std::string yaml(const PauseConfig& law) {
  switch (law.distribution) {
    case PauseDistribution::fixed:
      return fmt::format("{{time: {}}}", time_value(law.time));
    case PauseDistribution::exponential:
      return fmt::format("{{distribution: exponential, time: {}}}", time_value(law.time));
    case PauseDistribution::lognormal:
      return fmt::format("{{distribution: lognormal, time: {}, sigma: {:.6g}, max: {}}}",
                         time_value(law.time), law.sigma, time_value(law.max));
  }
  return "";
}

std::string yaml(const ArrivalConfig& arrivals) {
  if (arrivals.process == ArrivalProcess::at_once) return "{process: at_once}";
  std::string out = fmt::format("{{process: {}, requests_per_s: {:.6g}",
                                kArrivalProcessNames[static_cast<std::size_t>(arrivals.process)],
                                arrivals.requests_per_s);
  if (arrivals.process == ArrivalProcess::gamma)
    out += fmt::format(", variation: {:.6g}", arrivals.variation);
  return out + "}";
}

std::string sessions_yaml(const SessionConfig& sessions) {
  std::string out = fmt::format("  sessions:\n    count: {}\n    turns: {}\n", sessions.count,
                                yaml(sessions.turns));
  if (sessions.system_prompt > 0)
    out += fmt::format("    system_prompt: {}\n", sessions.system_prompt);
  if (sessions.groups)
    out +=
        fmt::format("    groups: {{count: {}, zipf: {:.4g}, prompt: {}}}\n", sessions.groups->count,
                    sessions.groups->zipf, yaml(sessions.groups->prompt));
  out += fmt::format("    first_prompt: {}\n", yaml(sessions.first_prompt));
  if (sessions.message)
    out += fmt::format("    message: {}\n    think_time: {}\n", yaml(*sessions.message),
                       yaml(sessions.think_time));
  return out;
}

std::string workload_yaml(const WorkloadConfig& workload) {
  std::string out = "workload:\n";
  if (!workload.sessions) out += fmt::format("  requests: {}\n", workload.requests);
  out += fmt::format("  arrivals: {}{}\n", yaml(*workload.arrivals),
                     workload.sessions ? "  # of sessions" : "");
  if (workload.input) out += fmt::format("  input: {}\n", yaml(*workload.input));
  out += fmt::format("  output: {}\n", yaml(*workload.output));
  if (!workload.sessions) return out;
  return out + fmt::format("  prefix_block: {}\n", workload.prefix_block) +
         sessions_yaml(*workload.sessions);
}

std::string distances_text(const std::vector<FitDistance>& distances) {
  std::string out;
  for (const FitDistance& each : distances)
    out += fmt::format("#   {:<29} {:.3f}  {:.3f}  of {} values\n", each.quantity, each.ks,
                       each.chance, each.seen);
  return out;
}

std::string error_text(const TraceFit& fit, const TraceFitOptions& options,
                       const std::string& trace) {
  std::string out = fmt::format(
      "# Laws fitted to {}: {} requests{}.\n"
      "# Kolmogorov-Smirnov distance between the trace and one that this file makes, and what two\n"
      "# samples of one law exceed in 5 % of all cases, if their values are independent{}:\n",
      printable(trace), fit.requests,
      fit.sessions > 0 ? fmt::format(" in {} sessions", fit.sessions) : "",
      fit.sessions > 0 ? "\n# (those of one session are not, which input tokens and gaps between "
                         "requests show)"
                       : "");
  out += distances_text(fit.distances);
  for (const std::string& limit : fit.limited)
    out += "# Beyond what a workload may have: " + limit + ".\n";
  if (!fit.held_out.empty())
    out += fmt::format(
               "# The same between the last third of the {} and laws fitted to the first two "
               "thirds:\n",
               fit.sessions > 0 ? "sessions" : "requests") +
           distances_text(fit.held_out);
  if (!fit.hit_rates.empty()) {
    out += fmt::format(
        "# Hit rate of an LRU cache by its capacity in blocks of {} tokens: trace, this file:\n",
        options.block);
    for (const FitHitRate& each : fit.hit_rates)
      out += fmt::format("#   {:>8}  {:.3f}  {:.3f}\n", each.blocks, each.trace, each.made);
    out += fmt::format(
        "# The largest difference is {:.3f}; between three traces that this file makes it is "
        "{:.3f}.\n",
        fit.hit_rate_difference, fit.hit_rate_chance);
    out += fmt::format(
        "# An answer is taken to last {} and {} a further token; a pause is the rest of the time\n"
        "# to the next turn. Sub-agents are turns of their session here, or sessions of their "
        "own.\n",
        time_value(options.answer.first_token), time_value(options.answer.token));
  }
  return out;
}

nlohmann::ordered_json json_of(const std::vector<FitDistance>& distances) {
  auto out = nlohmann::ordered_json::array();
  for (const FitDistance& each : distances)
    out.push_back({{"quantity", each.quantity},
                   {"ks", each.ks},
                   {"chance", each.chance},
                   {"values", each.seen}});
  return out;
}

}  // namespace

std::string fitted_yaml(const TraceFit& fit, const TraceFitOptions& options,
                        const std::string& trace) {
  std::string out = error_text(fit, options, trace) +
                    "schema: tiersim.serving/v1\nbase: bases/serving_llama3_8b.yaml\n"
                    "name: fitted workload\nmethod: {name: dense, kv_tier: near}\n" +
                    workload_yaml(fit.workload);
  if (fit.workload.sessions) out += "server: {prefix_cache: {}}\n";
  return out;
}

std::string fit_json(const TraceFit& fit) {
  nlohmann::ordered_json out{{"requests", fit.requests},
                             {"sessions", fit.sessions},
                             {"limited", fit.limited},
                             {"distances", json_of(fit.distances)},
                             {"held_out", json_of(fit.held_out)},
                             {"hit_rates", nlohmann::ordered_json::array()},
                             {"hit_rate_difference", fit.hit_rate_difference},
                             {"hit_rate_chance", fit.hit_rate_chance}};
  for (const FitHitRate& each : fit.hit_rates)
    out["hit_rates"].push_back(
        {{"blocks", each.blocks}, {"trace", each.trace}, {"made", each.made}});
  return out.dump(2) + '\n';
}

}  // namespace tiersim
