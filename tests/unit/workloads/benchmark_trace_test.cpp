// Result files of `vllm bench serve` as traces: what is read of them, and the mistakes in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "workloads/serving/trace_file.hpp"

namespace tiersim::benchmark_trace_test {
namespace {

std::string told(const std::string& text) {
  const auto trace = parse_request_trace("t", TraceLines::of_text(text));
  if (trace) return "";
  std::string out;
  for (const ImportProblem& p : trace.error())
    out += fmt::format("{}:{}:{}: {}{}\n", p.where->file, p.where->line, p.where->column, p.message,
                       p.hint.empty() ? "" : " (" + p.hint + ")");
  return out;
}

std::string file(const std::string& inputs, const std::string& outputs, const std::string& starts) {
  return R"({"date": "20260301-101500", "num_prompts": 3, "total_input_tokens": 30, "input_lens": )" +
         inputs + R"(, "output_lens": )" + outputs +
         R"(, "generated_texts": ["\"input_lens\": ", "b"], "start_times": )" + starts +
         R"(, "itls": [[0.1], []]})" + "\n";
}

// The second request was sent first, and the third one failed.
TEST(BenchmarkTrace, RequestsComeWhenTheyWereSent) {
  const std::string text = file("[10, 20, 5]", "[3, 4, 0]", "[353400.5, 353399.25, 353401]");
  const auto trace = parse_request_trace("t", TraceLines::of_text(text));
  ASSERT_TRUE(trace) << told(text);
  ASSERT_EQ(trace->requests.size(), 2U);
  EXPECT_EQ(trace->requests[0].input_tokens, 20);
  EXPECT_EQ(trace->requests[0].output_tokens, 4);
  EXPECT_EQ(trace->requests[1].input_tokens, 10);
  EXPECT_EQ(trace->requests[1].output_tokens, 3);
  EXPECT_EQ((trace->requests[1].arrival - trace->requests[0].arrival).count(), 1'250'000'000'000);
}

// --append-result writes one run after another.
TEST(BenchmarkTrace, RunsThatWereAppendedFollowOneAnother) {
  const std::string text = file("[1]", "[1]", "[10]") + file("[2]", "[1]", "[12.5]");
  const auto trace = parse_request_trace("t", TraceLines::of_text(text));
  ASSERT_TRUE(trace) << told(text);
  ASSERT_EQ(trace->requests.size(), 2U);
  EXPECT_EQ((trace->requests[1].arrival - trace->requests[0].arrival).count(), 2'500'000'000'000);
}

TEST(BenchmarkTrace, JsonOfSeveralLinesHasOneMistake) {
  EXPECT_EQ(
      told("{\n  \"input_lens\": [1]\n}\n"),
      "t:1:1: begins JSON that goes on in the next line (one object on a line: jq -c . FILE)\n");
  EXPECT_EQ(told("[\n{}]\n"),
            "t:1:1: begins JSON that goes on in the next line (one object on a line: jq -c '.[]' "
            "FILE)\n");
}

TEST(BenchmarkTrace, ARunByAnotherClockIsRefused) {
  EXPECT_EQ(told(file("[1, 1]", "[1, 1]", "[10, 20]") + file("[2]", "[1]", "[12.5]")),
            "t:2:1: begins before the last request of the run above it (runs by another clock are "
            "another file)\n");
}

TEST(BenchmarkTrace, AMistakeHasItsPlace) {
  const std::string hint =
      "(`vllm bench serve --save-result --save-detailed` writes it, and start_times from its "
      "version of 2026 on)\n";
  EXPECT_EQ(told(R"({"duration": 3.5, "total_input_tokens": 30, "output_lens": [1]})"),
            "t:1:1: 'input_lens' is missing " + hint);
  EXPECT_EQ(told(R"({"input_lens": [1], "output_lens": [1]})"),
            "t:1:1: 'start_times' is missing " + hint);
  EXPECT_EQ(told(file("7", "[1]", "[1]")), "t:1:1: 'input_lens' is '7', and no list " + hint);
  EXPECT_EQ(told(file("[1, 2]", "[1]", "[1, 2]")),
            "t:1:1: 'output_lens' has 1 entries, and 'input_lens' 2 (the lists have one for each "
            "request)\n");
  EXPECT_EQ(told(file("[1, -2, 3.5]", "[1, 1, 1]", "[1, 2, null]")),
            "t:1:1: input_lens[1] is '-2' (it is a whole number from 1 to 100000000)\n"
            "t:1:1: start_times[2] is 'null' (it is a number from 0 to 100000000000)\n"
            "t:1:1: input_lens[2] is '3.5' (it is a whole number from 1 to 100000000)\n");
  EXPECT_THAT(told(R"({"input_lens": [1], "output_lens": [1)"),
              ::testing::HasSubstr("is no JSON from here on"));
  EXPECT_THAT(told(file("[1]", "[1]", "[1e999]")),
              ::testing::HasSubstr("has a number that cannot be"));
  EXPECT_EQ(told(file("[1]", "[0]", "[1]")), "t:1:1: there is no request\n");
}

}  // namespace
}  // namespace tiersim::benchmark_trace_test
