// Traces of a user's own: columns by name, times of every kind, files that are packed or too large
// to hold, and the text of each mistake.
#include <zlib.h>

#include <array>
#include <fstream>

#include <fmt/format.h>

#include "tests/unit/config/sample_text.hpp"
#include "tests/unit/workloads/serving_workload.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/serving/trace_time.hpp"

namespace tiersim::serving_own_traces_test {
namespace {

using sample::Folder;
using testing::all_requests;
using testing::load_workload;

constexpr Int128 kSecond = kPicosecondsPerSecond;

const TraceFormat kFormat{.columns = {"at", "in", "out"}};

std::string told(const std::string& text, const TraceFormat& format = kFormat) {
  const auto trace = parse_request_trace("t", TraceLines::of_text(text), format);
  std::string out;
  if (trace) {
    for (const TraceRequest& r : trace->requests)
      out += fmt::format("{} {} {}\n", r.arrival.time_since_epoch().count(), r.input_tokens,
                         r.output_tokens);
    return out;
  }
  for (const ImportProblem& p : trace.error())
    out += fmt::format("{}:{}:{}: {}{}\n", p.where->file, p.where->line, p.where->column, p.message,
                       p.hint.empty() ? "" : " (" + p.hint + ")");
  return out;
}

TraceFormat with_time(TraceTime time) {
  TraceFormat format = kFormat;
  format.time = time;
  return format;
}

TEST(OwnTrace, ColumnsStandInAnyOrderAmongOthers) {
  EXPECT_EQ(told("id,out,at,model,in\na,5,10,\"x, y\",100\nb,6,10.25,z,200\n"),
            "0 100 5\n250000000000 200 6\n");
}

TEST(OwnTrace, TakesQuotesSpacesSemicolonsTabsCarriageReturnsAndAByteOrderMark) {
  const std::string expected = "0 100 5\n1000000000000 200 6\n";
  EXPECT_EQ(told("\"at\", \"in\" ,out\r\n\"1\", 100 ,5\r\n2,\"200\",6\r\n"), expected);
  EXPECT_EQ(told("at;in;out\n1;100;5\n2;200;6"), expected);
  EXPECT_EQ(told("at\tin\tout\n1\t100\t5\n2\t200\t6\n"), expected);
  EXPECT_EQ(told("\xEF\xBB\xBF"
                 "at,in,out\n1,100,5\n2,200,6\n\n\n"),
            expected);
  TraceFormat quoted = kFormat;
  quoted.columns.input = "tokens \"in\"";
  EXPECT_EQ(told("at,\"tokens \"\"in\"\"\",out\n1,100,5\n", quoted), "0 100 5\n");
}

TEST(OwnTrace, ReadsJsonLinesWithoutHashes) {
  const std::string expected = "0 100 5\n1500000000000 200 6\n";
  EXPECT_EQ(told("{\"at\": 1, \"in\": 100, \"out\": 5, \"user\": {\"at\": 9, \"x\": [1, 2]}}\n"
                 "{\"x\": null, \"out\": 6, \"at\": 2.5, \"in\": 200}\n"),
            expected);
  EXPECT_EQ(told("{\"at\": \"2026-03-01T00:00:00Z\", \"in\": \"100\", \"out\": 5}\n"
                 "{\"at\": \"2026-03-01T00:00:01.5Z\", \"in\": 200, \"out\": 6}\n"),
            expected);
}

TEST(OwnTrace, PutsRequestsInTheOrderOfArrival) {
  EXPECT_EQ(told("at,in,out\n3,1,1\n1,2,2\n3,3,3\n2,4,4\n"),
            fmt::format("0 2 2\n{0} 4 4\n{1} 1 1\n{1} 3 3\n", static_cast<std::int64_t>(kSecond),
                        static_cast<std::int64_t>(2 * kSecond)));
}

TEST(OwnTrace, ComparesTimesOfSeveralZones) {
  // 09:00 in Berlin's winter is 08:00 UTC; 13:30 at +05:30 too.
  EXPECT_EQ(told("at,in,out\n2026-01-01T09:00:00+01:00,1,1\n2026-01-01 08:00:02Z,2,2\n"
                 "2026-01-01T13:30:03.5+0530,3,3\n2026-01-01T00:00:04-08,4,4\n"),
            "0 1 1\n2000000000000 2 2\n3500000000000 3 3\n4000000000000 4 4\n");
}

TEST(OwnTrace, ReadsNumbersOfTheNamedUnit) {
  const std::string text = "at,in,out\n1700000000000,1,1\n1700000000250.5,2,2\n";
  EXPECT_EQ(told(text, with_time(TraceTime::ms)), "0 1 1\n250500000000 2 2\n");
  EXPECT_EQ(told(text, with_time(TraceTime::us)), "0 1 1\n250500000 2 2\n");
  EXPECT_EQ(told(text, with_time(TraceTime::ns)), "0 1 1\n250500 2 2\n");
  EXPECT_EQ(told(text, with_time(TraceTime::s)), "0 1 1\n250500000000000 2 2\n");
}

TEST(TraceTime, IsExactToThePicosecond) {
  EXPECT_EQ(*parse_decimal_time("0.3", 0), 300'000'000'000);  // no double is 0.3
  EXPECT_EQ(*parse_decimal_time("1.7e9", 0), 1'700'000'000 * kSecond);
  EXPECT_EQ(*parse_decimal_time("-2.5E-3", 0), -2'500'000'000);
  EXPECT_EQ(*parse_decimal_time("0.0000000000019", 0), 1);
  EXPECT_EQ(*parse_decimal_time("00012", -9), 12'000);
  for (const char* text : {"", ".", "-", "1e", "1e1000", "1,5", "0x10", "nan", "inf", "1 ", "1.2.3",
                           "999999999999999999999999999999999999999999"})
    EXPECT_FALSE(parse_decimal_time(text, 0)) << text;
}

TEST(TraceTime, KnowsWhatIsNoDate) {
  EXPECT_EQ(parse_time_stamp("1970-01-02T00:00:00Z")->time, 86'400 * kSecond);
  EXPECT_TRUE(parse_time_stamp("2024-02-29 23:59:59.123456789012345")->zoned == false);
  for (const char* text : {"2023-02-29T00:00:00", "2026-01-01", "2026-01-01T24:00:00",
                           "2026-01-01T00:60:00", "2026-01-01T00:00:60", "2026-01-01T00:00:00.",
                           "2026-01-01T00:00:00+", "2026-01-01T00:00:00+19:00", "26-01-01T00:00:00",
                           "2026-01-01T00:00:00 UTC", "2026-01-01T00:00:00+01:000"})
    EXPECT_FALSE(parse_time_stamp(text)) << text;
}

TEST(OwnTrace, NamesAWrongColumnWithTheNearestOne) {
  TraceFormat format = kFormat;
  format.columns = {"arival", "in", "tokens"};
  EXPECT_EQ(
      told("id,arrival,in,in,out\n1,1,1,1,1\n", format),
      "t:1:1: there is no column 'arival' (did you mean 'arrival'? there are: id, arrival, in, "
      "in, out)\n"
      "t:1:15: a second column 'in' (rename one of them)\n"
      "t:1:1: there is no column 'tokens' (there are: id, arrival, in, in, out)\n");
  EXPECT_EQ(told("{\"At\": 1, \"in\": 2, \"out\": 3}\n"),
            "t:1:1: 'at' is missing (did you mean 'At'? there are: At)\n");
}

TEST(OwnTrace, NamesEveryMistakeWithItsPlace) {
  EXPECT_EQ(told("at,in,out\n"
                 "1,100,5\n"
                 "1,-100,0\n"
                 "\n"
                 "soon,1.5,\n"
                 "2026-01-01T00:00:00Z,1,1\n"
                 "2,1\n"
                 "2,1,1,1\n"
                 "2,\"1,1\n"
                 "2,\"1\"1,1\n"),
            "t:3:3: in is '-100' (it is a whole number from 1 to 100000000)\n"
            "t:3:8: out is '0' (a request has a token in and one out at least; take the line out)\n"
            "t:4:1: is empty (take it out)\n"
            "t:5:1: at is 'soon' (it is a number of seconds)\n"
            "t:5:6: in is '1.5' (it is a whole number from 1 to 100000000)\n"
            "t:5:10: out is '' (it is a whole number from 1 to 100000000)\n"
            "t:6:1: at is '2026-01-01T00:00:00Z' (times before it are numbers of seconds; a trace "
            "has one "
            "kind of time)\n"
            "t:7:1: has 2 columns, and the first line has 3 (a value with a separator stands in "
            "double quotes)\n"
            "t:8:1: has 4 columns, and the first line has 3 (a value with a separator stands in "
            "double quotes)\n"
            "t:9:3: the quotation that begins here does not end (a value stands on one line, and a "
            "quote in it is doubled)\n"
            "t:10:6: '1,1' after a value in quotes (a quote in a value is doubled)\n");
  EXPECT_EQ(told("at,in,out\n2026-01-01T00:00:00Z,1,1\n2026-01-01T00:00:00,1,1\n5,1,1\n"),
            "t:3:1: at is '2026-01-01T00:00:00', without a time zone (the time of line 2 is with "
            "one; times without a zone cannot be compared with others)\n"
            "t:4:1: at is '5' (it is a time such as 2026-03-01T08:00:00.25+01:00, as those before "
            "it)\n");
  EXPECT_EQ(told("{\"at\": 1, \"in\": 2, \"out\": 3}\nx\n{\"at\": 1, \"at\": 1}\n"
                 "{\"at\": [], \"in\": {}, \"out\": true}\n{\"at\": 1 2}\n"),
            "t:2:1: is 'x' (a line is an object)\n"
            "t:3:1: 'at' is given twice\n"
            "t:4:2: at is 'a list' (it is a number of seconds)\n"
            "t:4:12: in is 'an object' (it is a whole number from 1 to 100000000)\n"
            "t:4:22: out is 'true' (it is a whole number from 1 to 100000000)\n"
            "t:5:10: is no JSON from here on\n");
  EXPECT_EQ(told("at,in,out\n0,1,1\n1700000000,1,1\n"),
            "t:3:1: comes more than 106 days after the first request (simulated time ends there; "
            "cut the trace, or name the unit of its times: `time: ms` beside `columns`)\n");
}

const std::string kMapping =
    "trace: {file: log.csv, columns: {arrival: at, input: in, output: out}";

TEST(OwnTraceImport, KeepsTheFormForARerun) {
  const Folder folder("own");
  folder.write("log.csv", "at,in,out\n1000,1,2\n1500,3,4\n");
  const auto loaded =
      load_workload(kMapping + ", time: ms}\nreplay: {speed: 2}\n", {}, folder.path() / "w.yaml");
  ASSERT_EQ(loaded.mistakes, "");
  const auto requests = all_requests(loaded.config);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].arrival.time_since_epoch().count(), 250'000'000'000);
  EXPECT_EQ(requests[1].input_tokens, 3);
  const std::string json = canonical_json(loaded.config);
  EXPECT_NE(json.find("\"time\":\"ms\""), std::string::npos) << json;
  EXPECT_EQ(all_requests(testing::workload(json)).size(), 2U);
}

TEST(OwnTraceImport, ReportsMistakesInItsDescriptionAtTheirPlace) {
  const Folder folder("own");
  folder.write("log.csv", "at,in,out\n1000,1,2\n");
  const auto at = folder.path() / "w.yaml";
  const auto mistakes = [&](const std::string& text) {
    std::string out = load_workload(text, {}, at).mistakes;
    for (std::size_t found; (found = out.find(folder.path().string() + '/')) != std::string::npos;)
      out.erase(found, folder.path().string().size() + 1);
    return out;
  };
  EXPECT_EQ(mistakes("trace: {columns: {arrival: at, input: in, output: out}}\n"),
            "w.yaml:1:1: error: trace: missing required key 'file'\n");
  EXPECT_EQ(mistakes("trace: {file: log.csv}\n"),
            "w.yaml:1:8: error: trace: missing required key 'columns'\n");
  EXPECT_EQ(mistakes("trace: {file: log.csv, columns: {arival: at, input: in, output: out}}\n"),
            "w.yaml:1:34: error: trace.columns: unknown key 'arival' (did you mean 'arrival'?)\n");
  EXPECT_EQ(
      mistakes(kMapping + ", time: minutes}\n"),
      "w.yaml:1:78: error: trace.time: unknown value 'minutes' (one of: iso, s, ms, us, ns)\n");
  EXPECT_EQ(mistakes("trace: {file: log.cs, columns: {arrival: at, input: in, output: out}}\n"),
            "w.yaml:1:15: error: there is no file 'log.cs' (looked for log.cs)\n");
  EXPECT_EQ(mistakes("trace: {file: log.csv, columns: {arrival: At, input: in, output: out}}\n"),
            "log.csv:1:1: error: there is no column 'At' (did you mean 'at'? there are: at, in, "
            "out)\n");
}

void pack(const std::filesystem::path& path, const std::vector<std::string>& members) {
  std::filesystem::remove(path);
  for (const std::string& text : members) {
    gzFile file = gzopen(path.c_str(), "ab");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
              static_cast<int>(text.size()));
    gzclose(file);
  }
}

TEST(OwnTraceFile, IsUnpackedMemberByMember) {
  const Folder folder("own");
  pack(folder.path() / "log.csv", {"at,in,out\n1,1,2\n2,3", ",4\n3,5,6\n"});
  const auto loaded = load_workload(kMapping + "}\n", {}, folder.path() / "w.yaml");
  ASSERT_EQ(loaded.mistakes, "");
  const auto requests = all_requests(loaded.config);
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[1].input_tokens, 3);
  EXPECT_EQ(requests[1].output_tokens, 4);
  const auto whole = std::filesystem::file_size(folder.path() / "log.csv");
  std::filesystem::resize_file(folder.path() / "log.csv", whole - 3);
  const std::string cut = load_workload(kMapping + "}\n", {}, folder.path() / "w.yaml").mistakes;
  EXPECT_NE(cut.find("log.csv:1:1: error: is damaged: gzip cannot read it to its end"),
            std::string::npos)
      << cut;
}

// Lines that straddle the pieces in which a file is read, and a file beyond the 16 MiB of a
// configuration. Request i comes at i ms and has i mod 1000 + 1 tokens in.
TEST(OwnTraceFile, OfAnySizeIsReplayedInItsOrder) {
  const Folder folder("own");
  constexpr int kRequests = 700'000;
  {
    std::ofstream out(folder.path() / "log.csv");
    out << "note,at,in,out\n";
    for (int i = 0; i < kRequests; ++i)
      out << "some words about it,0" << i << ',' << i % 1000 + 1 << ",1\n";
  }
  ASSERT_GT(std::filesystem::file_size(folder.path() / "log.csv"), std::uintmax_t{16} << 20U);
  const auto loaded =
      load_workload(kMapping + ", time: ms}\nreplay: {skip: 3}\n", {}, folder.path() / "w.yaml");
  ASSERT_EQ(loaded.mistakes, "");
  ASSERT_EQ(loaded.config.trace->requests.value, kRequests);
  const auto source = testing::source_of(loaded.config);
  for (int i = 0; i < kRequests - 3; ++i) {
    const auto request = source->next();
    ASSERT_TRUE(request);
    ASSERT_EQ(request->id, i);
    ASSERT_EQ(request->arrival.time_since_epoch().count(), i * std::int64_t{1'000'000'000});
    ASSERT_EQ(request->input_tokens, (i + 3) % 1000 + 1);
  }
  EXPECT_FALSE(source->next());
}

TEST(OwnTraceFile, ThatChangesDuringTheRunEndsIt) {
  const Folder folder("own");
  folder.write("log.csv", "at,in,out\n1,1,1\n2,1,1\n");
  const auto loaded = load_workload(kMapping + "}\n", {}, folder.path() / "w.yaml");
  const auto source = testing::source_of(loaded.config);
  ASSERT_TRUE(source->next());
  folder.write("log.csv", "at,in,out\n1,1,1\n2,1,100\n");
  EXPECT_THROW(source->next(), SourceFailure);
}

}  // namespace
}  // namespace tiersim::serving_own_traces_test
