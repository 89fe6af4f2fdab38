// The readers of traces: hand-made lines, the shipped excerpts against the rules that made them,
// lines with random faults, and the published files where the folder with them is named by the
// environment variable TIERSIM_TRACES.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/base/rng.hpp"
#include "sim/base/sha256.hpp"
#include "tests/support/test_length.hpp"
#include "tests/unit/config/sample_text.hpp"
#include "tests/unit/workloads/serving_workload.hpp"
#include "workloads/serving/trace_file.hpp"

namespace tiersim::serving_traces_test {
namespace {

using sample::Folder;
using testing::all_requests;
using testing::load_workload;

const std::string kHead = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

std::string told(const std::string& text) {
  const auto trace = parse_request_trace("t", TraceLines::of_text(text));
  if (trace) return "accepted";
  std::string out;
  for (const ImportProblem& p : trace.error())
    out += fmt::format("{}:{}:{}: {}{}\n", p.where->file, p.where->line, p.where->column, p.message,
                       p.hint.empty() ? "" : " (" + p.hint + ")");
  return out;
}

RequestTrace parsed(const std::string& text) {
  auto trace = parse_request_trace("t", TraceLines::of_text(text));
  EXPECT_TRUE(trace) << told(text);
  return trace ? *std::move(trace) : RequestTrace{};
}

std::int64_t ps(const TraceRequest& request) {
  return request.arrival.time_since_epoch().count();
}

// The names of a prompt's blocks, numbered from 0 as they appear in the file: a name says only
// which blocks are the same.
std::vector<std::uint32_t> names(const RequestTrace& trace, std::size_t request) {
  std::map<std::uint64_t, std::uint32_t> numbers;
  for (const std::uint64_t name : trace.names)
    numbers.try_emplace(name, static_cast<std::uint32_t>(numbers.size()));
  std::vector<std::uint32_t> out;
  for (const std::uint64_t name : trace.prefix(trace.requests.at(request)))
    out.push_back(numbers.at(name));
  return out;
}

TEST(AzureTrace, KeepsTimesToThePicosecond) {
  const auto trace = parsed(kHead +
                            "2023-11-16 18:17:03.9799600,4808,10\n"
                            "2023-11-16 18:17:04.0319600,3180,8\n"
                            "2023-11-16 18:17:05,1,1\n"
                            "2023-11-16 18:17:05.000000000001,2,3");
  ASSERT_EQ(trace.requests.size(), 4U);
  EXPECT_EQ(ps(trace.requests[0]), 0);
  EXPECT_EQ(ps(trace.requests[1]), 52'000'000'000);
  EXPECT_EQ(ps(trace.requests[2]), 1'020'040'000'000);
  EXPECT_EQ(ps(trace.requests[3]), 1'020'040'000'001);
  EXPECT_EQ(trace.requests[0].input_tokens, 4808);
  EXPECT_EQ(trace.requests[0].output_tokens, 10);
  EXPECT_EQ(trace.requests[3].line, 5);
  EXPECT_TRUE(names(trace, 0).empty());
}

TEST(AzureTrace, CrossesMidnightAndTheEndsOfMonths) {
  const auto gap = [](const std::string& a, const std::string& b) {
    const auto trace = parsed(kHead + a + ",1,1\n" + b + ",1,1\n");
    return ps(trace.requests.at(1)) / kPicosecondsPerSecond;
  };
  EXPECT_EQ(gap("2023-11-16 23:59:59.5", "2023-11-17 00:00:00.5"), 1);
  EXPECT_EQ(gap("2023-12-31 23:59:00", "2024-01-01 00:00:00"), 60);
  EXPECT_EQ(gap("2023-02-28 00:00:00", "2023-03-01 00:00:00"), 86'400);
  EXPECT_EQ(gap("2024-02-28 00:00:00", "2024-03-01 00:00:00"), 2 * 86'400);
}

TEST(AzureTrace, IsPutInTheOrderOfArrivalAndKeepsThatOfTheFileInTies) {
  const auto trace = parsed(kHead +
                            "2023-11-16 00:00:02,1,1\r\n2023-11-16 00:00:01,2,2\r\n"
                            "2023-11-16 00:00:02,3,3\r\n2023-11-16 00:00:01,4,4\r\n");
  std::vector<std::int32_t> inputs;
  for (const TraceRequest& r : trace.requests) inputs.push_back(r.input_tokens);
  EXPECT_EQ(inputs, (std::vector<std::int32_t>{2, 4, 1, 3}));
}

TEST(AzureTrace, NamesEveryMistakeWithItsLine) {
  EXPECT_EQ(told(kHead + "2023-11-16 00:00:00,1,1\n"
                         "2023-11-16 00:00:00,1\n"
                         "\n"
                         "2023-02-29 00:00:00,0,1\n"
                         "2023-11-16 24:00:00,-1,1e3\n"
                         "2023-11-16 00:00:00.0000000000001,100000001, 7\n"
                         "2023-11-16T00:00:00,1,\n"),
            "t:3:1: has 2 columns (there are 3: TIMESTAMP,ContextTokens,GeneratedTokens)\n"
            "t:4:1: is empty (take it out)\n"
            "t:5:1: TIMESTAMP is '2023-02-29 00:00:00' (it is a time such as 2023-11-16 "
            "18:17:03.9799600)\n"
            "t:5:21: ContextTokens is '0' (a request has a token in and one out at least; take the "
            "line out)\n"
            "t:6:1: TIMESTAMP is '2023-11-16 24:00:00' (it is a time such as 2023-11-16 "
            "18:17:03.9799600)\n"
            "t:6:21: ContextTokens is '-1' (it is a whole number from 1 to 100000000)\n"
            "t:6:24: GeneratedTokens is '1e3' (it is a whole number from 1 to 100000000)\n"
            "t:7:1: TIMESTAMP is '2023-11-16 00:00:00.0000000000001' (it is a time such as "
            "2023-11-16 18:17:03.9799600)\n"
            "t:7:35: ContextTokens is '100000001' (it is a whole number from 1 to 100000000)\n"
            "t:7:45: GeneratedTokens is ' 7' (it is a whole number from 1 to 100000000)\n"
            "t:8:1: TIMESTAMP is '2023-11-16T00:00:00' (it is a time such as 2023-11-16 "
            "18:17:03.9799600)\n"
            "t:8:23: GeneratedTokens is '' (it is a whole number from 1 to 100000000)\n");
}

TEST(AzureTrace, ShowsTwentyMistakesAndCountsTheRest) {
  std::string text = kHead;
  for (int i = 0; i < 25; ++i) text += "x\n";
  const auto trace = parse_request_trace("t", TraceLines::of_text(text));
  ASSERT_FALSE(trace);
  ASSERT_EQ(trace.error().size(), 21U);
  EXPECT_EQ(trace.error()[19].message, "has 1 columns");
  EXPECT_EQ(trace.error()[19].where->line, 21);
  EXPECT_EQ(trace.error()[20].message, "5 more mistakes from here on");
  EXPECT_EQ(trace.error()[20].where->line, 22);
}

TEST(AzureTrace, EndsWhereSimulatedTimeDoes) {
  EXPECT_EQ(told(kHead + "2024-01-01 00:00:00,1,1\n2024-04-16 00:00:00,1,1\n"), "accepted");
  EXPECT_EQ(
      told(kHead + "2024-01-01 00:00:00,1,1\n2024-04-18 00:00:00,1,1\n"),
      "t:3:1: comes more than 106 days after the first request (simulated time ends there; cut "
      "the trace)\n");
}

TEST(RequestTrace, KnowsWhatIsNoTrace) {
  const std::string hint =
      "(known are CSV that begins with TIMESTAMP,ContextTokens,GeneratedTokens, and JSON lines "
      "that "
      "begin with {; name the columns of any other CSV or JSON lines: trace: {file: PATH, columns: "
      "{arrival: A, input: B, output: C}})\n";
  EXPECT_EQ(told(""), "t:1:1: is empty " + hint);
  EXPECT_EQ(
      told("schema: tiersim.scenario/v1 and so on and so on\n"),
      "t:1:1: begins with 'schema: tiersim.scenario/v1 and so on an...', which no known trace "
      "does " +
          hint);
  EXPECT_EQ(told(kHead), "t:1:1: there is no request\n");
}

std::string line(const std::string& time, const std::string& in, const std::string& out,
                 const std::string& ids) {
  return "{\"timestamp\": " + time + ", \"input_length\": " + in + ", \"output_length\": " + out +
         ", \"hash_ids\": " + ids + "}\n";
}

TEST(MooncakeTrace, ReadsTimesLengthsAndBlocks) {
  const auto trace =
      parsed(line("1000", "600", "5", "[0, 1]") + line("27482", "700", "6", "[0, 2]"));
  ASSERT_EQ(trace.requests.size(), 2U);
  EXPECT_EQ(ps(trace.requests[0]), 0);
  EXPECT_EQ(ps(trace.requests[1]), 26'482'000'000'000);
  EXPECT_EQ(trace.requests[1].input_tokens, 700);
  EXPECT_EQ(trace.requests[1].output_tokens, 6);
  EXPECT_EQ(names(trace, 0), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(names(trace, 1), (std::vector<std::uint32_t>{0, 2}));
}

// Block 7 after 5 is not block 7 after 6, nor block 7 at the start.
TEST(MooncakeTrace, NamesABlockByAllBeforeIt) {
  const auto trace = parsed(line("0", "1024", "1", "[5, 7]") + line("0", "1024", "1", "[6, 7]") +
                            line("0", "512", "1", "[7]") + line("0", "1536", "1", "[5, 7, 7]") +
                            line("0", "512", "1", "[18446744073709551615]"));
  EXPECT_EQ(names(trace, 0), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(names(trace, 1), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(names(trace, 2), (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(names(trace, 3), (std::vector<std::uint32_t>{0, 1, 5}));
  EXPECT_EQ(names(trace, 4), (std::vector<std::uint32_t>{6}));
}

TEST(MooncakeTrace, NamesEveryMistakeWithItsLine) {
  const std::string good = line("0", "1", "1", "[]");
  EXPECT_EQ(
      told(good + "{\"timestamp\": 0\n" + "[1]\n" + "7\n" + line("-1", "1", "1", "[]") +
           line("0", "1.5", "1", "[]") + line("0", "\"a\"", "1", "[]") + line("0", "1", "0", "[]") +
           line("0", "1", "null", "3") + line("0", "1", "1", "3") + line("0", "1", "1", "[-3]") +
           line("0", "1", "1", "[[]]") + line("0", "1", "1", "{}") +
           line("0", "1", "1", "[], \"timestamp\": 1") + line("0", "1", "1", "[], \"session\": 1") +
           "{\"input_length\": 3}\n" + good + "{} {}\n"),
      "t:2:16: is no JSON from here on\n"
      "t:3:1: is a list (a line is an object)\n"
      "t:4:1: is a number (a line is an object)\n"
      "t:5:1: timestamp is -1 (it is a number of milliseconds, and not below 0)\n"
      "t:6:1: input_length is '1.5' (it is a whole number, and not below 0)\n"
      "t:7:1: input_length is the text 'a' (it is a whole number, and not below 0)\n"
      "t:8:1: output_length is '0' (a request has a token in and one out at least; take the line "
      "out)\n"
      "t:9:1: output_length is null (it is a whole number, and not below 0)\n"
      "t:10:1: hash_ids is a number (it is a list of whole numbers from 0)\n"
      "t:11:1: an element of hash_ids is -3 (it is a whole number, and not below 0)\n"
      "t:12:1: an element of hash_ids is a list (it is a whole number, and not below 0)\n"
      "t:13:1: hash_ids is an object (it is a list of whole numbers from 0)\n"
      "t:14:1: 'timestamp' is given twice\n"
      "t:15:1: unknown key 'session' (the keys are timestamp, input_length, output_length, "
      "hash_ids, session_id, delay, group_id, is_restart)\n"
      "t:16:1: 'timestamp' is missing\n"
      "t:18:4: is no JSON from here on\n");
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

const std::filesystem::path kShipped = std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs/traces";

// Draws as the rules in configs/serving/trace_azure.yaml and trace_mooncake.yaml have them.
class Draws {
 public:
  std::int64_t next() {
    x_ = x_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>(x_ >> 33U);
  }
  std::int64_t below(std::int64_t n) { return next() % n; }

 private:
  std::uint64_t x_ = 1;
};

TEST(ShippedAzureExcerpt, IsWhatItsRuleMakes) {
  const auto trace = parsed(text_of(kShipped / "azure_form_excerpt.csv"));
  ASSERT_EQ(trace.requests.size(), 48U);
  Draws draws;
  std::int64_t time = 0;  // in 100 ns
  for (std::size_t i = 0; i < 48; ++i) {
    const TraceRequest& request = trace.requests[i];
    if (i > 0) time += draws.below(10'000'000);
    const std::int64_t drawn = draws.next();
    ASSERT_EQ(ps(request), time * 100'000) << i;
    ASSERT_EQ(request.input_tokens,
              1 + static_cast<std::int64_t>((Int128{2000} * drawn * drawn) >> 62U));
    ASSERT_EQ(request.output_tokens, 1 + draws.below(200));
  }
}

TEST(ShippedMooncakeExcerpt, IsWhatItsRuleMakes) {
  const auto trace = parsed(text_of(kShipped / "mooncake_form_excerpt.jsonl"));
  ASSERT_EQ(trace.requests.size(), 48U);
  Draws draws;
  std::int64_t time = 0;  // in ms
  std::uint32_t next = 1;
  std::array<std::vector<std::uint32_t>, 6> users;
  users.fill({0});
  for (std::size_t i = 0; i < 48; ++i) {
    const TraceRequest& request = trace.requests[i];
    if (i > 0) time += draws.below(1000);
    auto& said = users.at(static_cast<std::size_t>(draws.below(6)));
    for (std::int64_t more = 1 + draws.below(3); more > 0; --more) said.push_back(next++);
    ASSERT_EQ(ps(request), time * 1'000'000'000) << i;
    ASSERT_EQ(names(trace, i), said) << i;
    ASSERT_EQ(request.input_tokens,
              512 * (static_cast<std::int64_t>(said.size()) - 1) + 1 + draws.below(512));
    ASSERT_EQ(request.output_tokens, 1 + draws.below(200));
    said.pop_back();
    if (said.size() >= 12) said = {0};
  }
}

TEST(TraceImport, LeavesACountADigestAndThePath) {
  const auto file = kShipped / "azure_form_excerpt.csv";
  const auto loaded = load_workload("trace: azure_form_excerpt.csv\n", {}, kShipped / "w.yaml");
  ASSERT_EQ(loaded.mistakes, "");
  ASSERT_TRUE(loaded.config.trace);
  EXPECT_EQ(loaded.config.trace->requests.value, 48);
  EXPECT_EQ(loaded.config.trace->requests.source, file.string());
  EXPECT_EQ(loaded.config.trace->digest, sha256_hex(text_of(file)));
  EXPECT_EQ(request_count(loaded.config, 1), 48);
  const std::string json = canonical_json(loaded.config);
  EXPECT_EQ(canonical_json(testing::workload(json)), json);
}

TEST(TraceImport, GivesTheSameRunIdWhereverTheFileLies) {
  const auto here = load_workload("trace: azure_form_excerpt.csv\n", {}, kShipped / "w.yaml");
  const Folder folder("trace");
  const auto copy = folder.write("other_name.csv", text_of(kShipped / "azure_form_excerpt.csv"));
  const auto there = load_workload("trace: " + copy.string() + "\n");
  EXPECT_EQ(canonical_text_for_id(here.config), canonical_text_for_id(there.config));
  EXPECT_NE(canonical_json(here.config), canonical_json(there.config));
}

TEST(TraceImport, StandsForArrivalsAndLengths) {
  const std::string made =
      "requests: 9\narrivals: {requests_per_s: 1}\ninput: {tokens: 1}\noutput: {tokens: 1}\n";
  const std::string file = (kShipped / "azure_form_excerpt.csv").string();
  EXPECT_EQ(load_workload(made + "trace: " + file + "\nreplay: {skip: 48}\n").mistakes,
            "w.yaml:2:1: error: arrivals: cannot stand beside a trace (the trace says it; take one "
            "of the two out)\n"
            "w.yaml:3:1: error: input: cannot stand beside a trace (the trace says it; take one of "
            "the two out)\n"
            "w.yaml:4:1: error: output: cannot stand beside a trace (the trace says it; take one "
            "of the two out)\n"
            "w.yaml:6:10: error: replay.skip: leaves no request (the trace has 48)\n");
  EXPECT_EQ(load_workload("trace: " + file + "\nrequests: 47\nreplay: {skip: 2}\n").mistakes,
            "w.yaml:2:1: error: requests: is above the 46 that the trace has after replay.skip "
            "(lower it, or leave it out for all)\n");
  EXPECT_EQ(load_workload("trace: " + file + "\nreplay: {skip: 48}\n").mistakes,
            "w.yaml:2:10: error: replay.skip: leaves no request (the trace has 48)\n");
}

TEST(TraceImport, ReportsMistakesOfTheFileWithTheirLines) {
  const Folder folder("trace");
  const auto file = folder.write("bad.csv", kHead + "2023-11-16 00:00:00,1,1\nx,1,1\n");
  EXPECT_EQ(
      load_workload("trace: " + file.string() + "\n").mistakes,
      file.string() +
          ":3:1: error: TIMESTAMP is 'x' (it is a time such as 2023-11-16 18:17:03.9799600)\n");
}

TEST(TraceSource, SkipsCutsAndHurries) {
  auto config = load_workload(
                    "trace: mooncake_form_excerpt.jsonl\nrequests: 10\n"
                    "replay: {skip: 5, speed: 4}\n",
                    {}, kShipped / "w.yaml")
                    .config;
  const auto trace = parsed(text_of(kShipped / "mooncake_form_excerpt.jsonl"));
  const auto requests = all_requests(config);
  ASSERT_EQ(requests.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    const TraceRequest& recorded = trace.requests[i + 5];
    EXPECT_EQ(requests[i].id, static_cast<std::int64_t>(i));
    EXPECT_EQ(requests[i].input_tokens, recorded.input_tokens);
    EXPECT_EQ(requests[i].output_tokens, recorded.output_tokens);
    EXPECT_EQ(requests[i].arrival.time_since_epoch().count() * 4,
              ps(recorded) - ps(trace.requests[5]));
    const auto prefix = trace.prefix(recorded);
    EXPECT_EQ(requests[i].prefix, PrefixBlocks(prefix.begin(), prefix.end()));
  }
}

TEST(TraceSource, SaysThatTheFileIsAnotherOne) {
  const Folder folder("trace");
  const auto file = folder.write("changes.csv", kHead + "2023-11-16 00:00:00,1,1\n");
  const auto config = load_workload("trace: " + file.string() + "\n").config;
  folder.write("changes.csv", kHead + "2023-11-16 00:00:00,1,2\n");
  const auto changed = make_request_source(config, 1);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error(), "the trace '" + file.string() +
                                 "' is not the file of this configuration any more: its "
                                 "SHA-256 is " +
                                 sha256_hex(text_of(file)) + ", and replay.sha256 is " +
                                 config.trace->digest +
                                 " (bring the file back, or load it anew by `trace: PATH`)");
  std::filesystem::remove(file);
  const auto gone = make_request_source(config, 1);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error(),
            "cannot read the trace '" + file.string() + "': No such file or directory");
}

TEST(TraceSource, RefusesBlocksThatDoNotFitThePrompt) {
  auto config = load_workload("trace: mooncake_form_excerpt.jsonl\nprefix_block: 1024\n", {},
                              kShipped / "w.yaml")
                    .config;
  const auto source = make_request_source(config, 1);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error(), (kShipped / "mooncake_form_excerpt.jsonl").string() +
                                ":1: hash_ids has 2 blocks, and a prompt of 717 tokens has 1 of "
                                "prefix_block, 1024 tokens");
}

// Any text is a trace or gives errors with a line number each, of which the first 20 are listed.
void check_answer(const std::string& text, const std::string& why) {
  const auto trace = parse_request_trace("t", TraceLines::of_text(text));
  if (trace) {
    ASSERT_FALSE(trace->requests.empty()) << why;
    for (const TraceRequest& r : trace->requests)
      ASSERT_TRUE(r.input_tokens > 0 && r.output_tokens > 0 && r.line > 0) << why;
    return;
  }
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  ASSERT_FALSE(trace.error().empty()) << why;
  ASSERT_LE(trace.error().size(), 21U) << why;
  for (std::size_t i = 0; i < std::min<std::size_t>(20, trace.error().size()); ++i) {
    const ImportProblem& problem = trace.error()[i];
    ASSERT_TRUE(problem.where) << why << problem.message;
    ASSERT_TRUE(problem.where->line >= 1 && problem.where->line <= lines) << why << problem.message;
    ASSERT_GE(problem.where->column, 1) << why << problem.message;
  }
}

std::string damaged(std::string text, Rng& rng) {
  constexpr std::string_view kBytes =
      "0123456789,.:-[]{}\" \n\r\0\x80\xff"
      "eE+Tntf\\";
  for (std::uint64_t n = 1 + rng.below(4); n > 0 && !text.empty(); --n) {
    const std::size_t at = rng.below(text.size());
    const char byte = kBytes[rng.below(kBytes.size())];
    switch (rng.below(4)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1 + rng.below(8));
        break;
      default:
        text.insert(at, text.substr(rng.below(text.size()), 1 + rng.below(40)));
    }
  }
  return text;
}

TEST(RequestTrace, AnswersAnyTextWithATraceOrLines) {
  const auto seeds = static_cast<std::uint64_t>(testing::draws_of(3000, 3000));
  for (const char* name : {"azure_form_excerpt.csv", "mooncake_form_excerpt.jsonl"}) {
    const std::string whole = text_of(kShipped / name);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Rng rng(seed, name);
      check_answer(damaged(whole, rng), fmt::format("{}, seed {}: ", name, seed));
      if (HasFatalFailure()) return;
    }
  }
}

class PublishedTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TIERSIM_TRACES");
    if (folder == nullptr) GTEST_SKIP() << "TIERSIM_TRACES names no folder with the traces";
    folder_ = folder;
  }
  RequestTrace read(const std::string& file) const {
    const std::string text = text_of(folder_ / file);
    const auto begin = std::chrono::steady_clock::now();
    auto trace = parsed(text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    RecordProperty("seconds " + file, std::to_string(took.count()));
    fmt::print("{}: {:.1f} ms\n", file, 1e3 * took.count());
    return trace;
  }
  std::filesystem::path folder_;
};

TEST_F(PublishedTraces, OfAzureAreRead) {
  const auto code = read("azure_llm_2023_code.csv");
  ASSERT_EQ(code.requests.size(), 8819U);
  EXPECT_EQ(code.requests.front().input_tokens, 4808);
  // 18:17:03.9799600 to 19:14:19.9280160 are 57 min 15.9480560 s.
  EXPECT_EQ(ps(code.requests.back()), 3'435'948'056'000'000);
  const auto conversation = read("azure_llm_2023_conv.csv");
  ASSERT_EQ(conversation.requests.size(), 19'366U);
  EXPECT_EQ(conversation.requests.back().output_tokens, 183);
  // 18:15:46.6805900 to 19:14:08.4025270 are 58 min 21.7219370 s.
  EXPECT_EQ(ps(conversation.requests.back()), 3'501'721'937'000'000);
}

TEST_F(PublishedTraces, OfMooncakeNameBlocksByAllBeforeThemAlready) {
  const auto trace = read("mooncake_fast25_conversation.jsonl");
  ASSERT_EQ(trace.requests.size(), 12'031U);
  EXPECT_EQ(ps(trace.requests.back()), 3'536'999'000'000'000);
  EXPECT_EQ(trace.names.size(), 288'500U);
  std::set<std::uint64_t> different(trace.names.begin(), trace.names.end());
  EXPECT_EQ(different.size(), 182'790U);  // as many as there are ids in the file
  for (const TraceRequest& r : trace.requests)
    ASSERT_EQ(r.prefix_size, (r.input_tokens + 511) / 512) << "line " << r.line;
  // The file's own ids count up as they appear.
  const std::string text = text_of(folder_ / "mooncake_fast25_conversation.jsonl");
  EXPECT_NE(text.find("\"hash_ids\": [0, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27]"),
            std::string::npos);
  EXPECT_EQ(names(trace, 1), (std::vector<std::uint32_t>{0, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                                                         24, 25, 26, 27}));
}

}  // namespace
}  // namespace tiersim::serving_traces_test
