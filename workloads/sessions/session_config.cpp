#include "workloads/sessions/session_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/portable_math.hpp"
#include "workloads/serving/law_names.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kSigma = "Standard deviation of the logarithm.";

void describe_count(Fields& f, CountDistribution distribution, CountConfig& c) {
  const auto count = in_range(1, kMostTurns);
  constexpr std::string_view kMost = "What is drawn above becomes this.";
  switch (distribution) {
    case CountDistribution::fixed:
      f.required("count", c.count, "How many.", count);
      return;
    case CountDistribution::uniform:
      f.required("min", c.min, "Fewest.", count);
      f.required("max", c.max, "Most.", count);
      f.check(c.min <= c.max, "max", fmt::format("is below the fewest, {}", c.min), "raise it");
      return;
    case CountDistribution::geometric:
      f.required("mean", c.mean, "Mean, before the cut to `max`.", in_range(1.0, 1e5));
      f.optional("max", c.max, kMost, count);
      return;
    case CountDistribution::lognormal:
      f.required("median", c.median, "Median.", in_range(1.0, 1e5));
      f.required("sigma", c.sigma, kSigma, in_range(0.0, 10.0));
      f.required("max", c.max, kMost, count);
      return;
  }
}

void describe_pause(Fields& f, PauseDistribution distribution, PauseConfig& c) {
  const bool lognormal = distribution == PauseDistribution::lognormal;
  f.required("time", c.time,
             distribution == PauseDistribution::fixed ? "Of each."
             : lognormal                              ? "Median."
                                                      : "Mean.",
             at_least(Duration{}));
  if (!lognormal) return;
  f.required("sigma", c.sigma, kSigma, in_range(0.0, 10.0));
  f.required("max", c.max, "What is drawn above becomes this.", positive());
  f.check(c.time <= c.max, "max", "is below the median", "raise it");
}

// What follows an answer: shares that add up to at most 1, and the laws that they need.
void check_what_follows(Fields& f, const SessionConfig& c) {
  const double tools = c.tools ? c.tools->probability : 0;
  const double agents = c.sub_agents ? c.sub_agents->probability : 0;
  // Decimal fractions that add up to 1 may exceed it in binary.
  constexpr double kRounding = 1e-9;
  f.check(tools + agents <= 1 + kRounding, "sub_agents.probability",
          fmt::format("is above the {:g} that tools.probability leaves", 1 - tools),
          "the rest of the answers is for the user");
  const bool one_turn = c.turns.distribution == CountDistribution::fixed && c.turns.count == 1;
  f.check(one_turn || c.message || tools + agents >= 1 - kRounding, "message",
          "is missing: what the user adds to a later turn",
          "give its tokens, or tools.probability: 1 where no user takes part");
  f.check(c.message || c.think_time.time == Duration{}, "think_time",
          "has no effect: the user sends no message", "give `message` beside it, or leave it out");
  if (!c.sub_agents) return;
  const CountConfig& turns = c.sub_agents->turns;
  const bool one = turns.distribution == CountDistribution::fixed && turns.count == 1;
  f.check(one || c.tools, "tools", "is missing: what a sub-agent does between its turns",
          "give it, or sub_agents.turns: {count: 1}");
}

}  // namespace

void describe(Fields& f, CountConfig& c) {
  f.doc("How many.");
  std::string distribution = spelled(kCountDistributionNames, c.distribution);
  f.select("distribution", distribution,
           {{"fixed", "always as many"},
            {"uniform", "each number of a range equally often"},
            {"geometric", "1, 2, ...: after each the same probability of another one"},
            {"lognormal", "a median and the spread of the logarithm, rounded and cut"}},
           [&](const std::string& chosen, Fields& fields) {
             describe_count(fields, enumerator<CountDistribution>(kCountDistributionNames, chosen),
                            c);
           });
  c.distribution = enumerator<CountDistribution>(kCountDistributionNames, distribution);
}

void describe(Fields& f, PauseConfig& c) {
  f.doc("How long until the next turn.");
  std::string distribution = spelled(kPauseDistributionNames, c.distribution);
  f.select("distribution", distribution,
           {{"fixed", "all alike"},
            {"exponential", "a mean"},
            {"lognormal", "a median and the spread of the logarithm, cut at the top"}},
           [&](const std::string& chosen, Fields& fields) {
             describe_pause(fields, enumerator<PauseDistribution>(kPauseDistributionNames, chosen),
                            c);
           });
  c.distribution = enumerator<PauseDistribution>(kPauseDistributionNames, distribution);
}

void describe(Fields& f, SessionGroupsConfig& c) {
  f.doc("Sessions whose prompts begin alike, beyond the system prompt.");
  f.required("count", c.count, "Groups.", in_range(std::int64_t{1}, kMostSessionGroups));
  f.optional("zipf", c.zipf,
             "Group k has a share of the sessions in proportion to 1 / k^zipf; 0: all alike.",
             in_range(0.0, 10.0));
  f.required("prompt", c.prompt,
             "Tokens that all sessions of a group share, drawn once for each group.");
}

void describe(Fields& f, ToolsConfig& c) {
  f.doc("Tool calls between two turns.");
  f.optional("probability", c.probability,
             "Share of the answers, without last ones, that call a tool.", in_range(0.0, 1.0));
  f.required("time", c.time, "Time of a call.");
  f.required("result", c.result, "Tokens of a call's result, which the next prompt ends with.");
}

void describe(Fields& f, SubAgentsConfig& c) {
  f.doc("Sub-agents, whose ends the next turn of their parent waits for.");
  f.required("probability", c.probability,
             "Share of the answers, without last ones, after which sub-agents begin.",
             in_range(0.0, 1.0));
  f.optional("count", c.count, "Sub-agents that begin together; one by default.");
  f.optional("turns", c.turns, "Turns of each, between which it calls tools; one by default.");
  f.optional("prefix", c.prefix, kSubAgentPrefixNames,
             "How a sub-agent's prompt begins: with the conversation of its parent, or with the "
             "system prompt and that of the group alone.");
  f.required("task", c.task, "Tokens that its first prompt adds to that.");
  f.required("result", c.result, "Tokens that each sub-agent adds to its parent's next prompt.");
}

void describe(Fields& f, SessionPriorityConfig& c) {
  f.doc("Sessions of one priority.");
  f.required("priority", c.priority, "A lower number goes first.", in_range(-1'000'000, 1'000'000));
  f.required("weight", c.weight, "Share of the sessions, relative to the other weights.",
             positive());
}

void describe(Fields& f, ReadyQueueConfig& c) {
  f.doc(
      "Turns wait at the client, as in SGLang's bench_multiturn; their times count once they are "
      "sent.");
  f.required("in_flight", c.in_flight, "Requests at the server at most.", in_range(1, 1'000'000));
  f.optional(
      "rounds", c.rounds,
      "True: no session takes its next turn before all have ended this one. False: a turn is "
      "ready once the one before has ended.");
}

void describe(Fields& f, SessionConfig& c) {
  f.doc("Sessions: requests whose prompts grow, each sent after the answer to the one before.");
  f.required("count", c.count, "Sessions.", in_range(std::int64_t{1}, kMostSessions));
  f.required("turns", c.turns, "Turns of a session, without those of sub-agents.");
  f.optional("system_prompt", c.system_prompt, "Tokens that begin every prompt.",
             in_range(std::int64_t{0}, kMostTokens));
  f.optional("groups", c.groups, "Sessions that share more than the system prompt.");
  f.required("first_prompt", c.first_prompt,
             "Tokens of a session's first prompt after those that it shares.");
  f.optional("message", c.message, "Tokens of a user's message, which begins a later turn.");
  f.optional("think_time", c.think_time, "Time from an answer to the user's message.");
  f.optional("tools", c.tools, "Tool calls, whose results begin later turns.");
  f.optional("sub_agents", c.sub_agents, "Sub-agents.");
  f.optional("abandonment", c.abandonment,
             "Probability that the user leaves after the 1st, 2nd, ... answer of a session, though "
             "another turn was to follow; the last one stands for all later answers.",
             in_range(0.0, 1.0));
  f.optional("priorities", c.priorities,
             "Priorities of sessions and of all their requests, for server.scheduler.order: "
             "priority; all are equal by default.");
  f.optional(
      "ready_queue", c.ready_queue,
      "A client that picks the next turn by chance and has so many at the server; by default "
      "each turn is sent when it is ready.");
  f.optional("max_context", c.max_context,
             "Tokens of a prompt and its answer; a session ends before a turn, or before "
             "sub-agents, that would need more.",
             in_range(2, kMostTokens));
  check_what_follows(f, c);
  if (c.ready_queue) {
    constexpr std::string_view kNoPause = "stands beside ready_queue, whose turns follow at once";
    f.check(c.think_time.time == Duration{}, "think_time", kNoPause, "leave one of the two out");
    f.check(!c.tools, "tools", kNoPause, "leave one of the two out");
    f.check(!c.sub_agents, "sub_agents", kNoPause, "leave one of the two out");
  }
  const double requests = static_cast<double>(c.count) * mean_requests(c);
  f.check(requests <= kMostRequests, "count",
          fmt::format("of {} makes about {:.3g} requests", c.count, requests),
          fmt::format("at most {:.0e} can be served in a run", kMostRequests));
}

double mean_of(const CountConfig& config) {
  switch (config.distribution) {
    case CountDistribution::fixed:
      return static_cast<double>(config.count);
    case CountDistribution::uniform:
      return (static_cast<double>(config.min) + static_cast<double>(config.max)) / 2;
    case CountDistribution::geometric: {
      // Sum over k from 1 to max of P(at least k) = (1 - 1 / mean)^(k - 1).
      const double again = 1 - 1 / config.mean;
      if (!(again > 0 && again < 1)) return 1;
      const double exponent = static_cast<double>(config.max) * portable_log(again);
      return config.mean * (1 - (exponent < -700 ? 0 : portable_exp(exponent)));
    }
    case CountDistribution::lognormal:
      return std::min(
          static_cast<double>(config.max),
          config.median * portable_exp(std::min(700.0, config.sigma * config.sigma / 2)));
  }
  return 1;
}

double mean_requests(const SessionConfig& config) {
  const double turns = mean_of(config.turns);
  if (!config.sub_agents) return turns;
  const SubAgentsConfig& agents = *config.sub_agents;
  return turns + (turns - 1) * agents.probability * mean_of(agents.count) * mean_of(agents.turns);
}

std::int64_t most_shared_tokens(const SessionConfig& config) {
  return config.system_prompt + (config.groups ? most_of(config.groups->prompt) : 0);
}

}  // namespace tiersim
