#pragma once
// Sessions: series of requests whose prompts grow, as those of agents and of conversations. The
// prompt of a turn is that of the turn before, its answer, and new tokens.
//
//   workload:
//     arrivals: {process: poisson, requests_per_s: 0.2}   # sessions a second
//     output: {distribution: lognormal, tokens: 800, sigma: 0.67, max: 8192}
//     sessions:
//       count: 500
//       turns: {distribution: geometric, mean: 12, max: 60}
//       system_prompt: 32000                              # begins every prompt
//       groups: {count: 100, zipf: 0.6, prompt: {tokens: 10000}}
//       first_prompt: {tokens: 5000}
//       message: {tokens: 200}                            # of the user, after think_time
//       think_time: {distribution: exponential, time: 30 s}
//       tools: {probability: 0.7, time: {time: 2 s}, result: {tokens: 4000}}
//       sub_agents: {probability: 0.05, count: {count: 3}, turns: {count: 4},
//                    task: {tokens: 500}, result: {tokens: 1000}}
//       abandonment: [0, 0.02]
//       priorities: [{priority: 0, weight: 1}, {priority: 10, weight: 3}]
//       max_context: 128000
//
// What follows an answer that is not the last of its session:
//
//   user        a message, after the user has thought
//   tools       the result of a tool call, after the call's time
//   sub_agents  sub-agents begin at once, each with its own turns, between which it calls tools.
//               The parent's next turn is released when the last of them has ended; its new tokens
//               are the results of all
//
// Sessions are open or closed by `arrivals`, and closed in themselves: a turn waits for the end of
// the one before.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"
#include "workloads/serving/length_config.hpp"

namespace tiersim {

enum class CountDistribution : std::uint8_t {
  fixed,
  uniform,
  geometric,  ///< 1, 2, ...: each next one with the same probability
  lognormal,  ///< rounded to whole numbers
};
inline constexpr std::array<std::string_view, 4> kCountDistributionNames{"fixed", "uniform",
                                                                         "geometric", "lognormal"};
inline constexpr std::int64_t kMostTurns = 100'000;
inline constexpr std::int64_t kMostSessions = 1'000'000;       // of a workload
inline constexpr std::int64_t kMostSessionGroups = 1'000'000;  // of a workload
inline constexpr double kMostRequests = 1e7;                   // of all sessions, on average

/// How many of something, at least 1.
struct CountConfig {
  CountDistribution distribution = CountDistribution::fixed;
  std::int64_t count = 1;  ///< fixed
  double mean = 1;         ///< geometric, before the cut to `max`
  double median = 1;       ///< lognormal
  double sigma = 0;        ///< lognormal: standard deviation of the logarithm
  std::int64_t min = 1;    ///< uniform
  std::int64_t max = kMostTurns;
};
void describe(Fields& f, CountConfig& c);

enum class PauseDistribution : std::uint8_t { fixed, exponential, lognormal };
inline constexpr std::array<std::string_view, 3> kPauseDistributionNames{"fixed", "exponential",
                                                                         "lognormal"};

/// The time between an answer and the turn after it.
struct PauseConfig {
  PauseDistribution distribution = PauseDistribution::fixed;
  Duration time{};   ///< fixed: every pause; exponential: the mean; lognormal: the median
  double sigma = 0;  ///< lognormal: standard deviation of the logarithm
  Duration max{};    ///< lognormal: what is drawn above becomes this
};
void describe(Fields& f, PauseConfig& c);

/// Sessions that share the beginning of their prompts, such as the instructions of a repository.
/// Group k of n has a share in proportion to 1 / k^zipf of the sessions.
struct SessionGroupsConfig {
  std::int64_t count = 1;
  double zipf = 0;
  LengthConfig prompt = {};  ///< after the system prompt; drawn once for each group
};
void describe(Fields& f, SessionGroupsConfig& c);

struct ToolsConfig {
  double probability = 1;  ///< that an answer which is not the last one is followed by a call
  PauseConfig time = {};
  LengthConfig result = {};  ///< new tokens of the next turn
};
void describe(Fields& f, ToolsConfig& c);

/// How the prompt of a sub-agent begins.
enum class SubAgentPrefix : std::uint8_t {
  conversation,   ///< with all that its parent has, so that it shares the parent's cache (a fork)
  system_prompt,  ///< with the system prompt and the group's prompt alone
};
inline constexpr std::array<std::string_view, 2> kSubAgentPrefixNames{"conversation",
                                                                      "system_prompt"};

/// Sub-agents have none of their own.
struct SubAgentsConfig {
  double probability = 0;  ///< that an answer which is not the last one is followed by them
  CountConfig count = {};
  CountConfig turns = {};
  SubAgentPrefix prefix = SubAgentPrefix::conversation;
  LengthConfig task = {};    ///< new tokens of a sub-agent's first prompt
  LengthConfig result = {};  ///< what each adds to the parent's next prompt
};
void describe(Fields& f, SubAgentsConfig& c);

/// Sessions of one priority.
struct SessionPriorityConfig {
  std::int64_t priority = 0;  ///< a lower number goes first
  double weight = 1;          ///< share of the sessions, relative to the other weights
};
void describe(Fields& f, SessionPriorityConfig& c);

/// Turns that are ready wait at the client, which sends one by chance where there is room.
struct ReadyQueueConfig {
  std::int64_t in_flight = 1;  ///< requests at the server at most
  /// True: no session takes its next turn before all have ended this one.
  bool rounds = false;
};
void describe(Fields& f, ReadyQueueConfig& c);

struct SessionConfig {
  std::int64_t count = 1;  ///< sessions
  CountConfig turns = {};  ///< of a session, without those of sub-agents
  std::int64_t system_prompt = 0;
  std::optional<SessionGroupsConfig> groups = {};
  LengthConfig first_prompt = {};  ///< after what is shared
  std::optional<LengthConfig> message = {};
  PauseConfig think_time = {};
  std::optional<ToolsConfig> tools = {};
  std::optional<SubAgentsConfig> sub_agents = {};
  /// Probability that the user leaves after the k-th answer, though it was not to be the last one;
  /// the last of the list holds for all later answers.
  std::vector<double> abandonment = {};
  std::vector<SessionPriorityConfig> priorities = {};  ///< none: all are 0
  std::optional<ReadyQueueConfig> ready_queue = {};    ///< none: a turn is sent once it is ready
  /// Tokens of a prompt with its answer. A session ends before a turn, or before sub-agents, that
  /// would need more.
  std::int64_t max_context = kMostTokens;
};
void describe(Fields& f, SessionConfig& c);

/// Mean number of requests of a session whose users never leave and that never meets max_context.
///
///   E[T] + (E[T] - 1) p E[n] E[t]     T turns; p, n, t: probability, number, turns of sub-agents
double mean_requests(const SessionConfig& config);

/// Mean of what the law gives, of the lognormal law before rounding and the cut.
double mean_of(const CountConfig& config);

/// Tokens that every prompt of a session may begin with at most.
std::int64_t most_shared_tokens(const SessionConfig& config);

}  // namespace tiersim
