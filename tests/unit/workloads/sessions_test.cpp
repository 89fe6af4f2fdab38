// Sessions: who is released when, with which prompt, and what prompts share. The numbers are worked
// out by hand.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tests/unit/workloads/serving_workload.hpp"
#include "workloads/sessions/agent_script.hpp"
#include "workloads/sessions/prompt_names.hpp"
#include "workloads/sessions/session_source.hpp"

namespace tiersim::sessions_test {
namespace {

using testing::requests_at;
using testing::source_of;
using testing::workload;

constexpr Duration kSecond{kPicosecondsPerSecond};

constexpr SimTime at(std::int64_t seconds) {
  return SimTime(seconds * kSecond);
}

WorkloadConfig sessions(const std::string& keys, const std::string& arrivals = "{process: at_once}",
                        std::int64_t prefix_block = 4) {
  return workload("arrivals: " + arrivals + "\noutput: {tokens: 3}\nprefix_block: " +
                  std::to_string(prefix_block) + "\nsessions: " + keys + "\n");
}

// Every request takes a second.
std::vector<Request> run(const WorkloadConfig& config, std::uint64_t seed = 1) {
  const auto source = source_of(config, seed);
  auto all = requests_at(*source, [](const Request&) { return kSecond; });
  EXPECT_EQ(std::ssize(all), request_count(config, seed));
  std::ranges::sort(all, {}, &Request::id);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].id, static_cast<std::int64_t>(i));
  return all;
}

using Released = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // second, agent, prompt
std::vector<Released> released(const std::vector<Request>& all) {
  std::vector<Released> out;
  for (const Request& request : all)
    out.emplace_back(request.arrival.time_since_epoch() / kSecond, request.session.agent,
                     request.input_tokens);
  return out;
}

std::size_t shared_blocks(const Request& a, const Request& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a.prefix, b.prefix).in1 - a.prefix.begin());
}

// 10 + 5 tokens, then 3 of the answer and 2 of the message more each time; a second at the server
// and 4 s of thought.
TEST(Sessions, ATurnWaitsForTheAnswerAndAPause) {
  const auto all =
      run(sessions("{count: 1, turns: {count: 3}, system_prompt: 10, first_prompt: "
                   "{tokens: 5}, message: {tokens: 2}, think_time: {time: 4 s}}"));
  EXPECT_EQ(released(all), (std::vector<Released>{{0, 0, 15}, {5, 0, 20}, {10, 0, 25}}));
  EXPECT_EQ(all[0].session.end, SessionEnd::none);
  EXPECT_EQ(all[1].session.turn, 1);
  EXPECT_EQ(all[2].session.end, SessionEnd::done);
}

// Four sessions of three turns, two prompts at the server: a pair a second.
TEST(Sessions, AReadyQueueSendsAsManyAsTheServerMayHave) {
  const std::string turns =
      "{count: 4, turns: {count: 3}, first_prompt: {tokens: 5}, message: {tokens: 2}, "
      "ready_queue: ";
  for (const std::string rounds : {"false", "true"}) {
    auto all = run(sessions(turns + "{in_flight: 2, rounds: " + rounds + "}}"));
    std::ranges::stable_sort(all, {}, &Request::arrival);
    ASSERT_EQ(all.size(), 12U);
    std::map<std::int64_t, std::int32_t> next;  // turn, by session
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].arrival, at(static_cast<std::int64_t>(i) / 2)) << rounds;
      EXPECT_EQ(all[i].session.turn, next[all[i].session.session]++);
      if (rounds == "true") {
        EXPECT_EQ(all[i].session.turn, static_cast<std::int32_t>(i) / 4);
      }
    }
  }
}

// Three sessions and two prompts at the server: the last of a round is alone there.
TEST(Sessions, ARoundEndsBeforeTheNextOne) {
  auto all =
      run(sessions("{count: 3, turns: {count: 2}, first_prompt: {tokens: 5}, message: "
                   "{tokens: 2}, ready_queue: {in_flight: 2, rounds: true}}"));
  std::ranges::stable_sort(all, {}, &Request::arrival);
  const std::vector<std::int64_t> seconds{0, 0, 1, 2, 2, 3};
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].arrival, at(seconds[i])) << i;
}

// The order of the sessions in a round differs between seeds, and is not that of their numbers.
TEST(Sessions, AReadyQueueIsPickedByChance) {
  const auto order = [](std::uint64_t seed) {
    auto all = run(sessions("{count: 20, turns: {count: 1}, first_prompt: {tokens: 5}, "
                            "ready_queue: {in_flight: 1}}"),
                   seed);
    std::ranges::stable_sort(all, {}, &Request::arrival);
    std::vector<std::int64_t> out;
    for (const Request& request : all) out.push_back(request.session.session);
    return out;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  EXPECT_FALSE(std::ranges::is_sorted(order(1)));
}

// Blocks of 4: a prompt of 15 with its answer has 18 tokens, 4 whole blocks; the next prompt of 20
// begins with all of them, and so does each later one.
TEST(Sessions, ALaterPromptBeginsWithTheEarlierOneAndItsAnswer) {
  const auto all =
      run(sessions("{count: 1, turns: {count: 3}, system_prompt: 10, first_prompt: "
                   "{tokens: 5}, message: {tokens: 2}}"));
  EXPECT_EQ(all[0].prefix.size(), 4U);
  EXPECT_EQ(all[0].named_tokens, 18);
  EXPECT_EQ(all[1].prefix.size(), 5U);  // 23 tokens
  EXPECT_EQ(shared_blocks(all[0], all[1]), 4U);
  EXPECT_EQ(shared_blocks(all[1], all[2]), 5U);
}

// Two sessions share 2 blocks of the system prompt of 10 tokens, and nothing of what follows.
TEST(Sessions, SessionsShareTheSystemPromptAlone) {
  const auto all =
      run(sessions("{count: 2, turns: {count: 1}, system_prompt: 10, first_prompt: {tokens: 50}}"));
  EXPECT_EQ(shared_blocks(all[0], all[1]), 2U);
}

// 8 tokens of the system and 8 of a group: 4 blocks within a group, 2 between groups.
TEST(Sessions, AGroupSharesItsOwnPromptToo) {
  const auto all =
      run(sessions("{count: 40, turns: {count: 1}, system_prompt: 8, groups: {count: 2, prompt: "
                   "{tokens: 8}}, first_prompt: {tokens: 8}}"));
  std::set<std::size_t> seen;
  for (std::size_t i = 1; i < all.size(); ++i) seen.insert(shared_blocks(all[0], all[i]));
  EXPECT_EQ(seen, (std::set<std::size_t>{2, 4}));
}

// The parent's prompt of 15 and its answer of 3 begin those of two sub-agents, which add 7. Each
// calls a tool for 2 s, which returns 6 tokens. The parent waits for both, and adds 4 tokens each.
TEST(Sessions, AParentWaitsForItsSubAgents) {
  const auto config = sessions(
      "{count: 1, turns: {count: 2}, system_prompt: 10, first_prompt: {tokens: 5}, "
      "tools: {probability: 0, time: {time: 2 s}, result: {tokens: 6}}, sub_agents: "
      "{probability: 1, count: {count: 2}, turns: {count: 2}, task: {tokens: 7}, result: "
      "{tokens: 4}}}");
  EXPECT_EQ(released(run(config)),
            (std::vector<Released>{
                {0, 0, 15}, {1, 1, 25}, {1, 2, 25}, {4, 1, 34}, {4, 2, 34}, {5, 0, 26}}));
  const auto all = run(config);
  EXPECT_EQ(shared_blocks(all[0], all[1]), 4U);  // 18 tokens
  EXPECT_EQ(shared_blocks(all[1], all[2]), 4U);
  EXPECT_EQ(shared_blocks(all[0], all[5]), 4U);
  EXPECT_EQ(all[3].session.end, SessionEnd::none);  // of a sub-agent, not of the session
  EXPECT_EQ(all[5].session.end, SessionEnd::done);
  // The second sub-agent takes 10 s for its last turn: the parent goes on at 14 s.
  const auto source = source_of(config);
  const auto slow = requests_at(*source, [](const Request& request) {
    return request.session.agent == 2 && request.session.turn == 1 ? 10 * kSecond : kSecond;
  });
  EXPECT_EQ(slow.back().arrival, at(14));
}

TEST(Sessions, ASubAgentMayBeginWithTheSystemPromptAlone) {
  const auto all = run(
      sessions("{count: 1, turns: {count: 2}, system_prompt: 10, first_prompt: {tokens: 5}, "
               "message: {tokens: 1}, sub_agents: {probability: 1, prefix: system_prompt, task: "
               "{tokens: 7}, result: {tokens: 4}}}"));
  EXPECT_EQ(released(all), (std::vector<Released>{{0, 0, 15}, {1, 1, 17}, {2, 0, 22}}));
  EXPECT_EQ(shared_blocks(all[0], all[1]), 2U);
}

// After the first answer nobody leaves, after the second one everybody.
TEST(Sessions, AUserLeavesAfterAnAnswer) {
  const auto all =
      run(sessions("{count: 5, turns: {count: 4}, first_prompt: {tokens: 5}, message: "
                   "{tokens: 2}, abandonment: [0, 1]}"));
  EXPECT_EQ(all.size(), 10U);
  for (const Request& request : all)
    EXPECT_EQ(request.session.end,
              request.session.turn == 1 ? SessionEnd::abandoned : SessionEnd::none);
}

// 8, 13 and 18 tokens with the answers, of at most 17.
TEST(Sessions, ASessionEndsBeforeItsContextIsTooLong) {
  const auto all =
      run(sessions("{count: 1, turns: {count: 9}, first_prompt: {tokens: 5}, message: "
                   "{tokens: 2}, max_context: 17}"));
  EXPECT_EQ(released(all), (std::vector<Released>{{0, 0, 5}, {1, 0, 10}}));
  EXPECT_EQ(all.back().session.end, SessionEnd::full);
}

// 8 tokens, and 8 + 7 + 3 of a sub-agent, of at most 17: the session ends before it.
TEST(Sessions, ASessionEndsBeforeASubAgentsContextIsTooLong) {
  const auto all =
      run(sessions("{count: 1, turns: {count: 9}, first_prompt: {tokens: 5}, message: "
                   "{tokens: 2}, max_context: 17, sub_agents: {probability: 1, task: "
                   "{tokens: 7}, result: {tokens: 1}}}"));
  EXPECT_EQ(all.size(), 1U);
  EXPECT_EQ(all.back().session.end, SessionEnd::full);
}

// Two users, of whom each begins the next of six sessions of 2 s when one has ended.
TEST(Sessions, UsersOfAClosedLoopHaveOneSessionAtATime) {
  const auto all =
      run(sessions("{count: 6, turns: {count: 2}, first_prompt: {tokens: 5}, message: "
                   "{tokens: 2}}",
                   "{process: closed_loop, users: 2}"));
  std::vector<std::int64_t> begins;
  for (const Request& request : all)
    if (request.session.begins()) begins.push_back(request.arrival.time_since_epoch() / kSecond);
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 0, 2, 2, 4, 4}));
}

constexpr const char* kAgents =
    "{count: 200, turns: {distribution: geometric, mean: 5, max: 40}, system_prompt: 100, groups: "
    "{count: 5, zipf: 1, prompt: {distribution: uniform, min: 10, max: 50}}, first_prompt: "
    "{distribution: lognormal, tokens: 50, sigma: 1, max: 1000}, message: {distribution: uniform, "
    "min: 1, max: 50}, think_time: {distribution: exponential, time: 20 s}, tools: {probability: "
    "0.6, time: {distribution: lognormal, time: 2 s, sigma: 1, max: 60 s}, result: {tokens: 30}}, "
    "sub_agents: {probability: 0.2, count: {distribution: uniform, min: 1, max: 3}, turns: "
    "{distribution: lognormal, median: 2, sigma: 0.5, max: 9}, task: {tokens: 20}, result: "
    "{tokens: 10}}, abandonment: [0.05], max_context: 1500}";

// A workload is the same on every server: the prompts do not depend on how long answers take.
TEST(Sessions, PromptsDependOnNoTimes) {
  const auto config = sessions(kAgents, "{process: poisson, requests_per_s: 1}");
  const auto with = [&](std::int64_t factor) {
    const auto source = source_of(config, 3);
    auto all = requests_at(*source, [&](const Request& request) {
      return (1 + request.input_tokens * factor % 17) * kSecond;
    });
    std::ranges::sort(all, {}, [](const Request& r) {
      return std::tuple(r.session.session, r.session.agent, r.session.turn);
    });
    return all;
  };
  const auto a = with(1);
  const auto b = with(7);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].input_tokens, b[i].input_tokens) << i;
    EXPECT_EQ(a[i].output_tokens, b[i].output_tokens) << i;
    EXPECT_EQ(a[i].prefix, b[i].prefix) << i;
    EXPECT_EQ(a[i].session.end, b[i].session.end) << i;
  }
}

TEST(Sessions, OneLawMovesNoDrawOfAnother) {
  const auto of = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    auto all = run(sessions(text));
    std::ranges::sort(all, {}, [](const Request& r) {
      return std::tuple(r.session.session, r.session.agent, r.session.turn);
    });
    return all;
  };
  const auto base = of(kAgents, "", "");
  const auto slower = of(kAgents, "time: 20 s", "time: 90 s");
  ASSERT_EQ(base.size(), slower.size());
  bool later = false;
  for (std::size_t i = 0; i < base.size(); ++i) {
    EXPECT_EQ(base[i].input_tokens, slower[i].input_tokens) << i;
    EXPECT_LE(base[i].arrival, slower[i].arrival) << i;
    later = later || base[i].arrival < slower[i].arrival;
  }
  EXPECT_TRUE(later);
}

// X = T + 6 B(T - 1, 0.2) with T geometric of mean 5: E = 5 + 4 * 1.2 = 9.8; the variance is
// 2.2^2 * 20 + 4 * 36 * 0.16 = 119.84, so the mean of 10000 has a standard deviation of 0.1095.
TEST(Sessions, HaveAsManyRequestsAsTheClosedForm) {
  const auto config = sessions(
      "{count: 10000, turns: {distribution: geometric, mean: 5}, first_prompt: {tokens: "
      "5}, message: {tokens: 2}, tools: {probability: 0.3, time: {time: 1 s}, result: "
      "{tokens: 1}}, sub_agents: {probability: 0.2, count: {count: 2}, turns: {count: 3}, "
      "task: {tokens: 7}, result: {tokens: 1}}}");
  EXPECT_NEAR(mean_requests(*config.sessions), 9.8, 1e-9);
  EXPECT_NEAR(static_cast<double>(request_count(config, 1)) / 10000, 9.8, 4 * 0.1095);
}

// Cut at 3: 1, 2 and 3 with probabilities 1/4, 3/16 and 9/16; the mean is 4 (1 - (3/4)^3) = 37/16.
TEST(CountLaw, TheMeanOfAGeometricOneKnowsTheCut) {
  const CountConfig config{.distribution = CountDistribution::geometric, .mean = 4, .max = 3};
  EXPECT_NEAR(mean_of(config), 37.0 / 16, 1e-12);
  Rng rng(1, "test");
  double sum = 0;
  for (int i = 0; i < 10000; ++i) sum += static_cast<double>(draw_count(config, rng));
  EXPECT_NEAR(sum / 10000, 37.0 / 16, 4 * 0.83 / 100);  // standard deviation 0.827
}

// Shares of 1, 1/2 and 1/3 over 11/6.
TEST(Zipf, SharesFallWithTheRank) {
  const Zipf zipf(3, 1);
  Rng rng(1, "test");
  std::array<int, 3> counts{};
  for (int i = 0; i < 11000; ++i) ++counts.at(static_cast<std::size_t>(zipf.draw(rng)));
  // Binomial: standard deviations of at most 52.3.
  EXPECT_NEAR(counts[0], 6000, 4 * 52.3);
  EXPECT_NEAR(counts[1], 3000, 4 * 52.3);
  EXPECT_NEAR(counts[2], 2000, 4 * 52.3);
}

TEST(PromptNames, AreSharedUpToTheFirstOtherText) {
  PromptNames a(4);
  a.append(1, 6);
  PromptNames b = a;
  a.append(2, 7);
  b.append(3, 7);
  ASSERT_EQ(a.names().size(), 3U);  // 13 tokens
  EXPECT_EQ(a.names()[0], b.names()[0]);
  EXPECT_NE(a.names()[1], b.names()[1]);
  EXPECT_NE(a.names()[2], b.names()[2]);
  PromptNames whole(4);  // the same text from its first token on, in one piece of 12
  whole.append(1, 12);
  EXPECT_EQ(whole.names()[0], a.names()[0]);
}

}  // namespace
}  // namespace tiersim::sessions_test
