// Traces with sessions: a turn waits for the end of the one before it, and for the recorded pause.
// The files are a few lines long, and the numbers are worked out by hand.
#include <algorithm>
#include <fstream>
#include <tuple>

#include <gmock/gmock.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/workloads/serving_workload.hpp"
#include "workloads/serving/trace_statistics.hpp"

namespace tiersim::session_traces_test {
namespace {

using testing::load_workload;
using testing::requests_at;
using testing::source_of;

constexpr Duration kMillisecond{kPicosecondsPerSecond / 1000};

class SessionTraces : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() / name;
    std::ofstream(path) << text;
    return path.string();
  }
  // Of blocks of 4.
  testing::LoadedWorkload load(const std::string& trace) const {
    return load_workload("trace: " + trace + "\nprefix_block: 4\n");
  }
  WorkloadConfig workload(const std::string& trace) const {
    testing::LoadedWorkload loaded = load(trace);
    EXPECT_EQ(loaded.mistakes, "");
    return loaded.config;
  }

 private:
  testing::TemporaryFolder folder_;
};

// Every request takes 100 ms. (ms, session, turn, prompt)
using Released = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
std::vector<Request> run(const WorkloadConfig& config) {
  const auto source = source_of(config);
  auto all = requests_at(*source, [](const Request&) { return 100 * kMillisecond; });
  EXPECT_EQ(std::ssize(all), request_count(config, 1));
  std::ranges::sort(all, {}, &Request::id);
  return all;
}
std::vector<Released> released(const std::vector<Request>& all) {
  std::vector<Released> out;
  for (const Request& r : all)
    out.emplace_back(r.arrival.time_since_epoch() / kMillisecond, r.session.session, r.session.turn,
                     r.input_tokens);
  return out;
}
std::size_t shared_blocks(const Request& a, const Request& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a.prefix, b.prefix).in1 - a.prefix.begin());
}

// Session a has turns at 0, at 100 + 50 and at 250 + 20 ms; b one at 40 ms; the line without a name
// is a session of its own.
TEST_F(SessionTraces, ATurnWaitsForTheAnswerAndTheRecordedPause) {
  const auto config = workload(
      "{file: " +
      write("log.csv",
            "t,in,out,chat,wait\n"
            "10,10,3,a,\n"
            "50,7,1,b,\n"
            "60,20,2,a,50\n"
            "90,30,5,a,20\n"
            "95,8,1,,\n") +
      ", columns: {arrival: t, input: in, output: out, session: chat, pause: wait}, time: ms}");
  EXPECT_EQ(session_count(config), 3);
  const auto all = run(config);
  EXPECT_EQ(released(all),
            (std::vector<Released>{
                {0, 0, 0, 10}, {40, 1, 0, 7}, {85, 2, 0, 8}, {150, 0, 1, 20}, {270, 0, 2, 30}}));
  EXPECT_EQ(all[3].session.end, SessionEnd::none);
  EXPECT_EQ(all[4].session.end, SessionEnd::done);
  EXPECT_FALSE(knows_all_arrivals(config));
  // 13 tokens of prompt and answer are 3 blocks of the next prompt; 22 are 5.
  EXPECT_EQ(shared_blocks(all[0], all[3]), 3U);
  EXPECT_EQ(shared_blocks(all[3], all[4]), 5U);
  EXPECT_EQ(shared_blocks(all[0], all[1]), 0U);
}

// Pauses of 170 - 130 = 40 and of 0, since the third turn came before the end of the second.
TEST_F(SessionTraces, APauseIsWhatIsLeftAfterTheEnd) {
  const auto config = workload(
      "{file: " +
      write("log.jsonl",
            "{\"r\": {\"start\": 100, \"stop\": 130}, \"n\": {\"in\": 10, \"out\": 3}, \"id\": 7}\n"
            "{\"r\": {\"start\": 170, \"stop\": 300}, \"n\": {\"in\": 9, \"out\": 3}, \"id\": 7}\n"
            "{\"r\": {\"start\": 290, \"stop\": 400}, \"n\": {\"in\": 13, \"out\": 3}, \"id\": "
            "7}\n") +
      ", columns: {arrival: r.start, input: n.in, output: n.out, session: id, end: r.stop}, time: "
      "ms}");
  const auto all = run(config);
  EXPECT_EQ(released(all), (std::vector<Released>{{0, 0, 0, 10}, {140, 0, 1, 9}, {240, 0, 2, 13}}));
  EXPECT_EQ(shared_blocks(all[0], all[1]), 0U);  // a shorter prompt is another text
  EXPECT_EQ(shared_blocks(all[1], all[2]), 3U);  // 12 tokens
}

// AIPerf's sessions in Mooncake's form: lengths and blocks are what a turn adds, in blocks of 4.
// The second session begins like the first one, with blocks 0 and 1.
TEST_F(SessionTraces, MooncakesFormHasSessionsToo) {
  const auto config =
      workload(write("trace.jsonl",
                     "{\"session_id\": \"a\", \"input_length\": 9, \"output_length\": 3, "
                     "\"hash_ids\": [0, 1, 2], \"timestamp\": 0.0, \"group_id\": 4}\n"
                     "{\"session_id\": \"a\", \"input_length\": 6, \"output_length\": 2, "
                     "\"hash_ids\": [10, 11], \"delay\": 50.5}\n"
                     "{\"session_id\": \"b\", \"input_length\": 10, \"output_length\": 3, "
                     "\"hash_ids\": [0, 1, 3], \"timestamp\": 20.25, \"is_restart\": true}\n"));
  const auto all = run(config);
  EXPECT_EQ(released(all), (std::vector<Released>{{0, 0, 0, 9}, {20, 1, 0, 10}, {150, 0, 1, 18}}));
  EXPECT_EQ(all[2].arrival.time_since_epoch(), 150 * kMillisecond + kMillisecond / 2);
  EXPECT_EQ(shared_blocks(all[0], all[1]), 2U);
  EXPECT_EQ(shared_blocks(all[0], all[2]), 3U);  // 12 tokens
}

// A record of AIPerf's profile_export.jsonl, and a span by OpenTelemetry's GenAI conventions, cut
// to what counts: the pauses are 700 - 500 = 200 ns and 1 s.
TEST_F(SessionTraces, LogsOfToolsAreReadByTheirKeys) {
  const auto record = [](int start, int end, int in, int out) {
    return "{\"metadata\": {\"x_correlation_id\": \"32ee4f33\", \"turn_index\": 0, "
           "\"request_start_ns\": " +
           std::to_string(start) + ", \"request_end_ns\": " + std::to_string(end) +
           R"(}, "metrics": {"input_sequence_length": {"value": )" + std::to_string(in) +
           ", \"unit\": \"tokens\"}, \"inter_chunk_latency\": {\"value\": [4.9, 5.3], \"unit\": "
           "\"ms\"}, \"output_sequence_length\": {\"value\": " +
           std::to_string(out) + ", \"unit\": \"tokens\"}}, \"error\": null}\n";
  };
  const auto records = run(workload(
      "{file: " + write("profile_export.jsonl", record(100, 500, 10, 3) + record(700, 900, 20, 3)) +
      ", columns: {arrival: metadata.request_start_ns, input: metrics.input_sequence_length.value, "
      "output: metrics.output_sequence_length.value, session: metadata.x_correlation_id, end: "
      "metadata.request_end_ns}, time: ns}"));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].arrival.time_since_epoch(), 100 * kMillisecond + Duration(200'000));
  EXPECT_EQ(records[1].input_tokens, 20);
  const auto span = [](const std::string& start, const std::string& end, int in) {
    return R"({"name": "chat m", "start_time": "2026-03-01T08:00:)" + start +
           R"(Z", "end_time": "2026-03-01T08:00:)" + end +
           "Z\", \"attributes\": {\"gen_ai.conversation.id\": \"c\", "
           "\"gen_ai.usage.input_tokens\": " +
           std::to_string(in) +
           ", \"gen_ai.usage.output_tokens\": 5}, \"events\": [{\"start_time\": 1}]}\n";
  };
  const auto spans = run(workload(
      "{file: " + write("spans.jsonl", span("00", "02", 10) + span("03.0", "04", 20)) +
      ", columns: {arrival: start_time, input: attributes.gen_ai.usage.input_tokens, output: "
      "attributes.gen_ai.usage.output_tokens, session: attributes.gen_ai.conversation.id, end: "
      "end_time}}"));
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[1].arrival.time_since_epoch(), 1100 * kMillisecond);
  EXPECT_EQ(spans[1].session.end, SessionEnd::done);
}

// Times of arrival count for first turns; a pause stays as it was recorded.
TEST_F(SessionTraces, SpeedMovesTheBeginsOfSessionsAlone) {
  auto config =
      workload("{file: " + write("log.csv", "t,in,out,s,p\n0,5,1,a,\n100,5,1,b,\n200,9,1,a,60\n") +
               ", columns: {arrival: t, input: in, output: out, session: s, pause: p}, time: ms}");
  config.trace->speed = 2;
  EXPECT_EQ(released(run(config)),
            (std::vector<Released>{{0, 0, 0, 5}, {50, 1, 0, 5}, {160, 0, 1, 9}}));
}

TEST_F(SessionTraces, MistakesAreToldAtTheirPlaces) {
  const std::string columns =
      ", columns: {arrival: t, input: in, output: out, session: s, pause: p}, time: ms}";
  const auto told = [&](const std::string& name, const std::string& text) {
    const std::string path = write(name, text);
    std::string out = load("{file: " + path + columns).mistakes;
    for (std::size_t at = 0; (at = out.find(path)) != std::string::npos;)
      out.replace(at, path.size(), name);
    return out;
  };
  EXPECT_EQ(told("a.csv", "t,in,out,s,p\n0,5,1,a,\n1,5,1,a,-3\n2,5,1,a,\n"),
            "a.csv:3:9: error: p is '-3' (it is a number of the unit of the arrivals (s beside "
            "iso), and not below 0)\n"
            "a.csv:4:1: error: is a later turn of its session without a pause (it has one of its "
            "own, or the turn before has an end)\n");
  EXPECT_EQ(told("b.csv", "t,in,out,s,p\n5,5,1,a,\n1,5,1,b,\n"),
            "b.csv:3:1: error: sessions do not begin in the order of the file (sort the lines by "
            "time of arrival)\n");
  // The first one that comes too late, not the latest one.
  EXPECT_TRUE(told("d.csv", "t,in,out,s,p\n5,5,1,a,\n1,5,1,b,\n0,5,1,c,\n9,5,1,d,\n")
                  .starts_with("d.csv:3:1: error: sessions do not begin in the order"));
  EXPECT_EQ(
      told("c.csv", "t,in,out,s\n5,5,1,a\n"),
      "c.csv:1:1: error: there is no column 'p' (did you mean 't'? there are: t, in, out, s)\n");
}

// A first turn has a timestamp and a later one a delay, by the names of the form's own keys.
TEST_F(SessionTraces, MooncakesSessionsHaveOneTimeALine) {
  const auto turn = [](const std::string& times, std::int64_t tokens = 9) {
    return R"({"session_id": "a", "input_length": )" + std::to_string(tokens) +
           ", \"output_length\": 3" + times + "}\n";
  };
  const auto told = [&](const std::string& text) {
    const std::string path = write("trace.jsonl", text);
    std::string out = load(path).mistakes;
    for (std::size_t at = 0; (at = out.find(path)) != std::string::npos;)
      out.replace(at, path.size(), "t");
    return out;
  };
  const std::string timestamp = ", \"timestamp\": 5";
  const std::string delay = ", \"delay\": 5";
  EXPECT_EQ(told(turn(timestamp) + turn(delay)), "");
  EXPECT_EQ(told(turn(timestamp) + turn(timestamp + delay)),
            "t:2:1: error: has both a 'timestamp' and a 'delay' (the first turn of a session has a "
            "timestamp, and a later one a delay)\n");
  EXPECT_EQ(told(turn(delay)),
            "t:1:1: error: is the first turn of its session, and has no 'timestamp' (milliseconds "
            "since the start of the trace, in place of the delay)\n");
  EXPECT_EQ(told(turn(timestamp) + turn(timestamp)),
            "t:2:1: error: is a later turn of its session, and has no 'delay' (milliseconds after "
            "the end of the turn before, in place of the timestamp)\n");
  // 60, 60 + 3 + 40 = 103 million tokens, and once for each session.
  EXPECT_EQ(told(turn(timestamp, 60'000'000) + turn(delay, 39'999'997)), "");
  EXPECT_EQ(told(turn(timestamp, 60'000'000) + turn(delay, 39'999'998) + turn(delay)),
            "t:2:1: error: makes a prompt of 100000001 tokens with the turns before it (at most "
            "100000000 of a session)\n");
}

TEST_F(SessionTraces, WhatATurnAddsIsNoPromptForStatistics) {
  const std::string path = write(
      "trace.jsonl",
      "{\"session_id\": \"a\", \"input_length\": 9, \"output_length\": 3, \"timestamp\": 0}\n");
  const auto trace = parse_request_trace(path, TraceLines(path));
  ASSERT_FALSE(trace);
  const std::string message = "has the tokens that a turn adds, not those of its prompt";
  EXPECT_EQ(trace.error().front().message, message);
  const auto statistics = trace_statistics(path, {}, 1);
  ASSERT_FALSE(statistics);
  EXPECT_EQ(statistics.error().front().message, message);
}

// Conversations of agents in blocks of 4, which say no time of their begins.
constexpr const char* kConversations =
    R"({"id": "a", "block_size": 4, "requests": [)"
    R"({"t": 0, "in": 10, "out": 3, "hash_ids": [1, 2], "api_time": 2, "think_time": 0.0}, )"
    R"({"t": 2.5, "in": 14, "out": 2, "hash_ids": [1, 2, 3], "api_time": 1, "think_time": 0.5}, )"
    R"({"type": "subagent", "t": 9.5, "duration_ms": 5000, "requests": [)"
    R"({"t": 0, "in": 8, "out": 1, "hash_ids": [1, 2], "api_time": 1}, )"
    R"({"t": 3, "in": 9, "out": 1, "hash_ids": [1, 2], "think_time": 1.25}]}, )"
    R"({"t": 10, "in": 20, "out": 1, "hash_ids": [1, 2, 3, 4, 5], "think_time": 6.5}]})"
    "\n"
    R"({"id": "b", "block_size": 4, "requests": [{"t": 0, "in": 5, "out": 0}, )"
    R"({"t": 4, "in": 6, "out": 1, "hash_ids": [1], "model": "any"}]})"
    "\n";

// The sub-agent begins 9.5 - 5 - 3.5 = 1 s after the answer before it. Its last request ends at
// 4.5 + 3 = 7.5 s, and the turn after it comes 2.5 s later. A request without an answer is none.
TEST_F(SessionTraces, ConversationsHaveSubAgentsAndNoTimes) {
  const auto loaded = load_workload("trace: " + write("agents.jsonl", kConversations) +
                                    "\narrivals: {process: at_once}\n");
  ASSERT_EQ(loaded.mistakes, "");
  EXPECT_EQ(loaded.config.prefix_block, 4);  // of the file
  EXPECT_EQ(loaded.config.trace->left_out, 1);
  EXPECT_EQ(session_count(loaded.config), 2);
  const auto all = run(loaded.config);
  EXPECT_EQ(released(all), (std::vector<Released>{{0, 0, 0, 10},
                                                  {0, 1, 0, 6},
                                                  {600, 0, 1, 14},
                                                  {1700, 0, 2, 8},
                                                  {3050, 0, 3, 9},
                                                  {5650, 0, 4, 20}}));
  EXPECT_EQ(shared_blocks(all[0], all[2]), 2U);
  EXPECT_EQ(shared_blocks(all[2], all[5]), 3U);
  EXPECT_EQ(shared_blocks(all[0], all[1]), 0U);  // names count within a conversation
}

TEST_F(SessionTraces, ConversationsBeginByTheArrivalsOfTheWorkload) {
  const std::string trace = "trace: " + write("agents.jsonl", kConversations);
  const auto one = load_workload(trace + "\narrivals: {process: closed_loop, users: 1}\n" +
                                 "replay: {max_pause: 300 ms}\n");
  ASSERT_EQ(one.mistakes, "");
  EXPECT_EQ(released(run(one.config)), (std::vector<Released>{{0, 0, 0, 10},
                                                              {400, 0, 1, 14},
                                                              {800, 0, 2, 8},
                                                              {1200, 0, 3, 9},
                                                              {1600, 0, 4, 20},
                                                              {1700, 1, 0, 6}}));
  EXPECT_THAT(load_workload(trace + "\n").mistakes,
              ::testing::HasSubstr("arrivals: is missing: the trace says no time of any session"));
  EXPECT_THAT(
      load_workload(trace + "\narrivals: {process: at_once}\nreplay: {speed: 2}\n").mistakes,
      ::testing::HasSubstr("replay.speed: has no effect: sessions begin by `arrivals`"));
  auto other = one.config;
  other.prefix_block = 8;
  const auto source = make_request_source(other, 1);
  ASSERT_FALSE(source);
  EXPECT_THAT(
      source.error(),
      ::testing::HasSubstr("its named blocks have 4 tokens, and workload.prefix_block is 8"));
}

TEST_F(SessionTraces, AMistakeInAConversationHasItsPlace) {
  const auto told = [&](const std::string& requests,
                        const std::string& head = R"("id": "a", "block_size": 4)") {
    const std::string path =
        write("agents.jsonl", "{" + head + ", \"requests\": " + requests + "}\n");
    std::string out = load_workload("trace: " + path + "\narrivals: {process: at_once}\n").mistakes;
    for (std::size_t at = 0; (at = out.find(path)) != std::string::npos;)
      out.replace(at, path.size(), "t");
    return out;
  };
  const std::string fine = R"([{"t": 0, "in": 5, "out": 1}])";
  EXPECT_EQ(told(fine), "");
  EXPECT_EQ(told(fine, R"("block_size": 4)"), "t:1:1: error: 'id' is missing (it is a text)\n");
  EXPECT_EQ(told(fine, R"("id": "a", "block_size": 0)"),
            "t:1:1: error: block_size is '0' (it is a whole number from 1 to 100000000)\n");
  EXPECT_EQ(told(R"([{"t": 0, "in": 5, "out": 1}, {"t": 1, "in": -5, "out": 1}])"),
            "t:1:1: error: requests[1].in is '-5' (it is a whole number from 1 to 100000000)\n");
  EXPECT_EQ(
      told(R"([{"t": 0, "in": 5, "out": 1, "think_time": "long"}])"),
      "t:1:1: error: requests[0].think_time is '\"long\"' (it is a number from 0 to 1e+08)\n");
  EXPECT_EQ(told(R"([{"t": 0, "in": 5, "out": 1, "hash_ids": [1, 2, 3]}])"),
            "t:1:1: error: requests[0].hash_ids has 3 blocks of 4 tokens, and its prompt of 5 "
            "tokens has 2\n");
  EXPECT_EQ(told(R"([{"t": 0, "in": 5, "out": 1, "hash_ids": [1.5]}])"),
            "t:1:1: error: requests[0].hash_ids is '1.5' (it is a list of whole numbers from 0)\n");
  EXPECT_EQ(
      told(R"([{"type": "subagent", "t": 1, "requests": [{"type": "subagent", "requests": []}]}])"),
      "t:1:1: error: requests[0].requests[0].type is '\"subagent\"' (it is n or s within a "
      "sub-agent)\n");
  EXPECT_EQ(told("[]"), "t:1:1: error: there is no request\n");
  EXPECT_EQ(told("[7]"),
            "t:1:1: error: requests[0] is '7' (it is an object with `in` and `out`)\n");
  EXPECT_EQ(told("{}"), "t:1:1: error: requests is '{...}' (it is a list of requests)\n");
  EXPECT_EQ(told(R"([{"in": 5, "out": 1}, {"type": "x", "t": 0, "in": 5, "out": 1}])"),
            "t:1:1: error: 'requests[0].t' is missing (it is a number of seconds)\n"
            "t:1:1: error: requests[1].type is '\"x\"' (it is n, s or subagent)\n");
  EXPECT_EQ(told(fine, R"("id": "a", "block_size": 4, "hash_id_scope": "all")"),
            "t:1:1: error: hash_id_scope is '\"all\"' (it is local or global)\n");
  EXPECT_EQ(told("[NaN]").substr(0, 45), "t:1:43: error: is no JSON from here on (a lin");
}

// A request or a sub-agent that is not replayed still takes its recorded time: the second turn
// comes 51 - 1 s after the first one's answer.
TEST_F(SessionTraces, WhatIsLeftOutOfAConversationTakesItsTime) {
  for (const std::string between :
       {R"({"t": 20, "in": 5, "out": 0, "think_time": 19, "api_time": 1})",
        R"({"type": "subagent", "t": 40, "duration_ms": 1000, "requests": []})",
        R"({"type": "subagent", "t": 40, "requests": [{"t": 1, "in": 5, "out": 0}]})"}) {
    const std::string trace = R"({"id": "a", "block_size": 4, "requests": [)"
                              R"({"t": 0, "in": 5, "out": 1, "api_time": 1}, )" +
                              between +
                              R"(, {"t": 51, "in": 6, "out": 1, "think_time": 30}]})"
                              "\n";
    const auto loaded = load_workload("trace: " + write("agents.jsonl", trace) +
                                      "\narrivals: {process: at_once}\n");
    ASSERT_EQ(loaded.mistakes, "") << between;
    EXPECT_EQ(released(run(loaded.config)),
              (std::vector<Released>{{0, 0, 0, 5}, {50'100, 0, 1, 6}}))
        << between;
  }
}

TEST_F(SessionTraces, NamesOfAGlobalScopeAreThoseOfAllConversations) {
  for (const std::string scope : {"local", "global"}) {
    std::string trace;
    for (const std::string id : {"a", "b"})
      trace += R"({"id": ")" + id + R"(", "block_size": 4, "hash_id_scope": ")" + scope +
               R"(", "requests": [{"t": 0, "in": 8, "out": 1, "hash_ids": [1, 2]}]})"
               "\n";
    const auto statistics = trace_statistics(write("agents.jsonl", trace), {}, 1);
    ASSERT_TRUE(statistics);
    EXPECT_EQ(statistics->reuse.distinct(), scope == "global" ? 2 : 4);
  }
}

TEST_F(SessionTraces, StatisticsOfConversationsHaveNoRates) {
  const auto statistics = trace_statistics(write("agents.jsonl", kConversations), {}, 1);
  ASSERT_TRUE(statistics);
  EXPECT_FALSE(statistics->timed);
  EXPECT_EQ(statistics->requests, 6);
  EXPECT_EQ(statistics->sessions, 2);
  EXPECT_EQ(statistics->left_out, 1);
  EXPECT_EQ(statistics->block, 4);
}

}  // namespace
}  // namespace tiersim::session_traces_test
