#include "sim/trace/trace_writer.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tiersim::trace_writer_test {
namespace {

constexpr SimTime at(std::int64_t picoseconds) {
  return SimTime(Duration(picoseconds));
}

struct Written {
  std::string text;
  TraceWriter writer{[this](std::string_view piece) { text += piece; }, {{"run_id", "abc"}}};

  nlohmann::json events() {
    writer.finish();
    return nlohmann::json::parse(text)["traceEvents"];
  }
};

TEST(TraceWriter, WritesPicosecondsAsMicrosecondsExactly) {
  Written w;
  const TraceTrack track = w.writer.add_track(w.writer.add_process("p"), "t");
  w.writer.slice(track, "c", "n", at(1), at(123'456'789'012'345), {{"wait", Duration(1'000'001)}});
  const std::string out = w.events().back().dump();
  EXPECT_NE(w.text.find(R"("ts": 0.000001, "dur": 123456789.012344)"), std::string::npos) << out;
  EXPECT_NE(w.text.find(R"("args": {"wait": 1.000001})"), std::string::npos) << out;
}

TEST(TraceWriter, NumbersOfTracksAreOfNoOtherTrackAndNoProcess) {
  Written w;
  std::set<int> numbers;
  for (const char* process : {"a", "b"}) {
    const int p = w.writer.add_process(process);
    EXPECT_TRUE(numbers.insert(p).second);
    for (const char* track : {"x", "x"})
      EXPECT_TRUE(numbers.insert(w.writer.add_track(p, track).track).second);
  }
  EXPECT_FALSE(numbers.contains(0));
}

TEST(TraceWriter, ArrowsHaveNumbersOfTheirOwnAndBindToWhatEncloses) {
  Written w;
  const TraceTrack track = w.writer.add_track(w.writer.add_process("p"), "t");
  w.writer.arrow("c", "n", track, at(0), track, at(5'000'000));
  w.writer.arrow("c", "n", track, at(0), track, at(7'000'000));
  const nlohmann::json events = w.events();
  const std::size_t first = events.size() - 4;
  EXPECT_EQ(events[first]["ph"], "s");
  EXPECT_EQ(events[first + 1]["ph"], "f");
  EXPECT_EQ(events[first + 1]["bp"], "e");
  EXPECT_EQ(events[first + 1]["ts"], 5);
  EXPECT_EQ(events[first]["id"], events[first + 1]["id"]);
  EXPECT_EQ(events[first + 2]["id"], events[first + 3]["id"]);
  EXPECT_NE(events[first]["id"], events[first + 2]["id"]);
}

// Names come from files of any origin.
TEST(TraceWriter, AnyNameIsText) {
  Written w;
  const std::string name = "a \"b\" \\ \n \xc3\xa4 \xff";
  w.writer.add_process(name);
  const std::string read = w.events()[0]["args"]["name"];
  EXPECT_EQ(read, "a \"b\" \\ \n \xc3\xa4 \xef\xbf\xbd");  // what is no UTF-8 is replaced
}

TEST(TraceWriter, SaysWhatTheTraceIsOfAndWhatItLeavesOut) {
  Written all;
  all.writer.finish();
  EXPECT_EQ(nlohmann::json::parse(all.text)["otherData"], nlohmann::json({{"run_id", "abc"}}));
  Written part;
  part.writer.finish(7);
  EXPECT_EQ(nlohmann::json::parse(part.text)["otherData"]["left_out_events"], "7");
}

TEST(TraceWriter, KeepsNoMoreThanABuffer) {
  std::size_t longest = 0;
  std::size_t all = 0;
  TraceWriter writer(
      [&](std::string_view piece) {
        longest = std::max(longest, piece.size());
        all += piece.size();
      },
      {});
  const int process = writer.add_process("p");
  for (std::int64_t i = 0; i < 10'000; ++i) writer.counter(process, "c", at(i), {{"v", i}});
  writer.finish();
  EXPECT_EQ(writer.events(), 10'000);
  EXPECT_GT(all, std::size_t{500'000});
  EXPECT_LT(longest, std::size_t{66'000});  // 64 KiB and an event
}

TEST(TraceLanes, TakesTheFirstTrackThatIsFree) {
  Written w;
  TraceLanes lanes(w.writer, w.writer.add_process("p"), "copies");
  const TraceTrack first = lanes.take(at(0), at(10));
  const TraceTrack second = lanes.take(at(5), at(20));
  EXPECT_NE(first.track, second.track);
  EXPECT_EQ(lanes.take(at(10), at(12)).track, first.track);  // touching is not overlapping
  EXPECT_EQ(lanes.take(at(12), at(30)).track, first.track);
  EXPECT_EQ(lanes.take(at(20), at(25)).track, second.track);
  std::vector<std::string> names;
  for (const auto& event : w.events())
    if (event["name"] == "thread_name") names.push_back(event["args"]["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"copies", "copies (2)"}));
}

}  // namespace
}  // namespace tiersim::trace_writer_test
