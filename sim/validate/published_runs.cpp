#include "sim/validate/published_runs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tiersim {
namespace {

double seconds(Duration time) {
  return static_cast<double>(time.count()) * 1e-12;
}

bool is_run_id(const std::string& id) {
  return !id.empty() && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

template <class List>
void check_ids(Fields& f, const List& list, const std::string& path) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string key = fmt::format("{}.{}.id", path, i);
    f.check(is_run_id(list[i].id), key, "is no name", "lower case, digits, - and _");
    for (std::size_t k = 0; k < i; ++k)
      f.check(list[k].id != list[i].id, key, "is that of another one, too", "each its own");
  }
}

}  // namespace

std::string_view record_metric(PublishedMetric metric) {
  constexpr std::array<std::string_view, 7> kNames{"tpot_s.mean",
                                                   "inter_token_latency_s.p50",
                                                   "ttft_s.mean",
                                                   "throughput_tokens_per_s",
                                                   "gpu_energy_j_per_token",
                                                   "power_w.mean",
                                                   "prefix_hit_rate"};
  return kNames[static_cast<std::size_t>(metric)];
}

std::string_view unit_of(PublishedMetric metric) {
  constexpr std::array<std::string_view, 7> kUnits{"s", "s", "s", "tokens/s", "J", "W", "1"};
  return kUnits[static_cast<std::size_t>(metric)];
}

std::optional<double> PublishedValues::value(PublishedMetric metric) const {
  if (metric == PublishedMetric::throughput) return throughput;
  if (metric == PublishedMetric::energy) return energy;
  if (metric == PublishedMetric::power) return power;
  if (metric == PublishedMetric::hit_rate) return hit_rate;
  const auto& time = *std::array{&tpot, &median_gap, &ttft}[static_cast<std::size_t>(metric)];
  return time ? std::optional(seconds(*time)) : std::nullopt;
}

double PublishedAims::value(PublishedMetric metric) const {
  return std::array{
      tpot, tpot, ttft, throughput, energy, power, hit_rate}[static_cast<std::size_t>(metric)];
}

void describe(Fields& f, PublishedValues& c) {
  constexpr Duration kMost(std::int64_t{1'000'000} * 1'000'000'000'000);
  f.doc("Published results of a run.");
  f.optional("tpot", c.tpot, "Mean time between two tokens of an answer.",
             in_range(Duration(1), kMost));
  f.optional("median_gap", c.median_gap, "Median time from token to token, of all answers.",
             in_range(Duration(1), kMost));
  f.optional("ttft", c.ttft, "Mean time to the first token.", in_range(Duration(1), kMost));
  f.optional("throughput", c.throughput, "Output tokens a second of all GPUs together.",
             in_range(1e-6, 1e12));
  f.optional("energy", c.energy, "Joules of all GPUs for an output token.", in_range(1e-9, 1e9));
  f.optional("power", c.power, "Mean power of a GPU with its memory, in watts.",
             in_range(1e-3, 1e6));
  f.optional(
      "hit_rate", c.hit_rate,
      "Share of the input tokens that prefix caches had, 0.085 for 8.5 %; above 0, since errors "
      "are shares of it.",
      in_range(1e-6, 1.0));
}

void describe(Fields& f, PublishedRun& c) {
  f.doc("One measurement.");
  f.required("id", c.id, "Name within the group.");
  f.optional("users", c.users, "Clients with one request each at a time.", in_range(1, 1'000'000));
  f.optional("set", c.set, "Settings on top of the group's, a.b=c.");
  f.required("published", c.published, "Published results.");
  const bool any = std::ranges::any_of(kPublishedMetrics, [&](PublishedMetric metric) {
    return c.published.value(metric).has_value();
  });
  f.check(any, "published", "is empty",
          "one of tpot, median_gap, ttft, throughput, energy, power, hit_rate");
}

void describe(Fields& f, PublishedGroup& c) {
  f.doc("Measurements of one engine on one machine, from one document.");
  f.required("id", c.id, "Name.");
  f.required("engine", c.engine, "Program that served, with its version.");
  f.required("setup", c.setup, "Model, element types, GPUs.");
  f.required("source", c.source, "Document, and the place in it.");
  f.required("config", c.config, "Serving file, relative to the configs folder.");
  f.optional("set", c.set, "Settings on top of it, a.b=c.");
  f.optional("requests_per_user", c.requests_per_user, "Of runs that have users.",
             in_range(1, 100'000));
  f.required("assumed", c.assumed,
             "Settings that the document does not state, and the values that are assumed.");
  f.optional("note", c.note, "Why the errors are what they are.");
  f.optional("wall", c.wall, "True where the runs differ in users only, up to more than fit.");
  f.optional(
      "counted", c.counted,
      "True where the summary counts them; false where another group has the same runs, with "
      "something else in place of what is not stated.");
  f.required("runs", c.runs, "The measurements.");
  f.check(!c.runs.empty(), "runs", "has none", "one at least");
  check_ids(f, c.runs, "runs");
  for (std::size_t i = 0; i < c.runs.size() && c.wall; ++i) {
    const bool rises = i == 0 || (c.runs[i - 1].users && c.runs[i].users > c.runs[i - 1].users);
    f.check(c.runs[i].users && rises, fmt::format("runs.{}.users", i),
            "does not rise from run to run", "wall: each run has more users than the one before");
  }
}

void describe(Fields& f, PublishedAims& c) {
  f.doc("Errors that one would like to stay below, as shares of what was printed.");
  f.optional("tpot", c.tpot, "Of the time between tokens, mean or median.", in_range(0.0, 1.0));
  f.optional("ttft", c.ttft, "Of the time to the first token.", in_range(0.0, 1.0));
  f.optional("throughput", c.throughput, "Of the output tokens a second.", in_range(0.0, 1.0));
  f.optional("energy", c.energy, "Of the joules for an output token.", in_range(0.0, 1.0));
  f.optional("power", c.power, "Of the mean power of a GPU.", in_range(0.0, 1.0));
  f.optional("hit_rate", c.hit_rate, "Of the share of the input that prefix caches had.",
             in_range(0.0, 1.0));
}

void describe(Fields& f, PublishedRuns& c) {
  f.doc("Published measurements of inference servers, and what simulates them.");
  f.optional("aims", c.aims, "Errors that one would like to stay below.");
  f.required("groups", c.groups, "Measurements by engine and machine.");
  f.check(!c.groups.empty(), "groups", "has none", "one at least");
  check_ids(f, c.groups, "groups");
}

std::vector<std::string> settings_of(const PublishedGroup& group, const PublishedRun& run) {
  std::vector<std::string> set = group.set;
  if (run.users) {
    set.push_back(fmt::format("workload.arrivals.users={}", *run.users));
    set.push_back(fmt::format("workload.requests={}", group.requests_per_user * *run.users));
  }
  set.insert(set.end(), run.set.begin(), run.set.end());
  return set;
}

}  // namespace tiersim
