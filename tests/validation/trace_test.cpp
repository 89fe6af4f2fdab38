#include "sim/trace/step_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/trace/step_trace_devices.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::trace_test {
namespace {

const std::string kMaple = "scenarios/maple/llama2_7b_maple.yaml";

struct Traced {
  Expected<Simulation> result;
  nlohmann::json events;
  const Simulation& sim() const { return *result; }
};

Traced trace_of(const std::vector<std::string>& set = {}) {
  auto sim = simulate(testing::scenario(kMaple, set), Evaluation::all);
  EXPECT_TRUE(sim) << sim.error();
  std::string text;
  write_trace({&*sim, 1}, [&](std::string_view piece) { text += piece; });
  auto events = nlohmann::json::parse(text)["traceEvents"];
  return {std::move(sim), std::move(events)};
}

// Two GPUs with a pool and a switch in common.
const std::vector<std::string> kTwoGpus{"system.gpus.count=2", "system.shared.all=[pool]"};

// Over the processes, the last value of every counter.
std::map<std::string, ReadWrite> moved(const nlohmann::json& events) {
  std::map<std::pair<int, std::string>, ReadWrite> last;
  for (const auto& event : events) {
    if (event["ph"] != "C" || !event["args"].contains("read")) continue;
    ReadWrite& sum = last[{event["pid"].get<int>(), event["name"].get<std::string>()}];
    const auto read = event["args"]["read"].get<std::int64_t>();
    const auto write = event["args"]["write"].get<std::int64_t>();
    EXPECT_GE(read, sum.read);  // counters never fall
    EXPECT_GE(write, sum.write);
    sum = {read, write};
  }
  std::map<std::string, ReadWrite> sums;
  for (const auto& [counter, bytes] : last) {
    sums[counter.second].read += bytes.read;
    sums[counter.second].write += bytes.write;
  }
  return sums;
}

TEST(Trace, CountersEndAtTheTrafficOfTheAccounting) {
  for (const auto& set : {std::vector<std::string>{}, kTwoGpus}) {
    const Traced t = trace_of(set);
    const System& system = *t.sim().system;
    const auto sums = moved(t.events);
    EXPECT_EQ(sums.size(), t.sim().record.traffic_bytes.size());
    for (std::size_t d = 0; d < system.device_names().size(); ++d) {
      const std::string& device = system.device_names()[d];
      // The record counts one instance, which `sharers` GPUs use.
      const std::int64_t instances = system.gpus() / system.sharers(DeviceId(d));
      const ReadWrite& bytes = t.sim().record.traffic_bytes.at(device);
      EXPECT_EQ(sums.at(device + " bytes").read, bytes.read * instances) << device;
      EXPECT_EQ(sums.at(device + " bytes").write, bytes.write * instances) << device;
    }
  }
}

TEST(Trace, HasOneSpanForEachOperationWithinTheStep) {
  for (const auto& set : {std::vector<std::string>{}, kTwoGpus}) {
    const Traced t = trace_of(set);
    std::size_t spans = 0;
    double end_us = 0;
    for (const auto& event : t.events) {
      if (event["ph"] != "X" || event["cat"] == "device") continue;
      ++spans;
      end_us = std::max(end_us, event["ts"].get<double>() + event["dur"].get<double>());
    }
    EXPECT_EQ(spans, t.sim().execution.timings.size());
    EXPECT_NEAR(end_us, to_seconds(t.sim().execution.time) * 1e6, 1e-3);
  }
}

TEST(Trace, EachGpuIsAProcessWithItsName) {
  std::vector<std::string> names;
  for (const auto& event : trace_of(kTwoGpus).events)
    if (event["name"] == "process_name") names.push_back(event["args"]["name"].get<std::string>());
  const std::string scenario = testing::scenario(kMaple).name;
  EXPECT_EQ(names, (std::vector<std::string>{scenario + ", GPU 0", scenario + ", GPU 1",
                                             scenario + ": devices"}));
}

// Records the events by channel and instance.
class Told final : public ChannelObserver {
 public:
  void on_taken(ChannelId channel, std::size_t instance, SimTime now, Bytes taken) override {
    const Point& before = last[{channel.index(), instance}];
    EXPECT_GE(now, before.time);
    EXPECT_GE(taken, before.taken);
    last[{channel.index(), instance}] = {now, taken};
  }
  struct Point {
    SimTime time{};
    Bytes taken{};
  };
  std::map<std::pair<std::size_t, std::size_t>, Point> last;
};

TEST(Trace, WhoListensToTheChannelsMovesNoOperation) {
  for (const auto& set : {std::vector<std::string>{}, kTwoGpus}) {
    const auto sim = simulate(testing::scenario(kMaple, set), Evaluation::times);
    ASSERT_TRUE(sim) << sim.error();
    Told told;
    const Execution again = execute(sim->graph, *sim->system, sim->plans, &told);
    ASSERT_EQ(again.timings.size(), sim->execution.timings.size());
    for (std::size_t i = 0; i < again.timings.size(); ++i) {
      EXPECT_EQ(again.timings[i].start, sim->execution.timings[i].start) << i;
      EXPECT_EQ(again.timings[i].end, sim->execution.timings[i].end) << i;
    }
    // All bytes are reported.
    for (std::size_t c = 0; c < sim->system->channels().size(); ++c) {
      const auto found = told.last.find({c, 0});
      const Bytes taken = found == told.last.end() ? Bytes{} : found->second.taken;
      EXPECT_EQ(taken, sim->execution.busy[c]) << sim->system->channels()[c].name;
    }
  }
}

// 26 GB/s for 1 us are 26,000 B.
TEST(Trace, UtilisationIsBytesOverCapacityAndTime) {
  constexpr Bandwidth kCapacity = Bandwidth::from_base(26'000'000'000);
  constexpr Duration kWindow = std::chrono::microseconds(1);
  EXPECT_EQ(trace_utilisation(Bytes::from_base(13'000), kCapacity, kWindow), 0.5);
  EXPECT_EQ(trace_utilisation(Bytes::from_base(26), kCapacity, kWindow), 0.001);
  EXPECT_EQ(trace_utilisation(Bytes::from_base(26'100), kCapacity, kWindow), 1);
  EXPECT_EQ(trace_utilisation(Bytes{}, kCapacity, Duration{}), 0);
}

// Perfetto draws overlapping spans of one track as nested calls.
TEST(Trace, NoTwoSpansOfATrackOverlap) {
  // A prompt whose write-backs take long: those of several layers are on their way at the same
  // time.
  const Traced t = trace_of(
      {"step.kind=prefill", "step.batch=1", "step.context=1024", "what_if.far_bandwidth=0.01"});
  struct Span {
    std::int64_t start, end;  // ps
  };
  const auto picoseconds = [](const nlohmann::json& us) {
    return std::llround(us.get<double>() * 1e6);
  };
  std::map<int, std::vector<Span>> tracks;
  std::map<int, std::string> names;
  for (const auto& event : t.events) {
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
    if (event["ph"] != "X") continue;
    const std::int64_t start = picoseconds(event["ts"]);
    tracks[event["tid"]].push_back({start, start + picoseconds(event["dur"])});
  }
  EXPECT_EQ(names.size(), tracks.size());
  std::set<std::string> distinct;
  for (auto& [track, spans] : tracks) {
    EXPECT_TRUE(distinct.insert(names.at(track)).second) << names.at(track);
    std::ranges::sort(spans, {}, &Span::start);
    for (std::size_t i = 1; i < spans.size(); ++i)
      EXPECT_LE(spans[i - 1].end, spans[i].start) << names.at(track);
  }
  EXPECT_TRUE(distinct.contains("kernels"));
  EXPECT_FALSE(distinct.contains("kernels (2)"));
  EXPECT_TRUE(distinct.contains("transfer: write_back (2)"));
}

}  // namespace
}  // namespace tiersim::trace_test
