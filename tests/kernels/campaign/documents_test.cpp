#include "kernels/campaign/documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/kernels/campaign/sample_document.hpp"

namespace tiersim::kernels::bench::documents_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Changes the member at a path ("benchmarks/0/work/read_bytes"); a null value removes it.
void plant(Json& document, const std::string& path, const Json& value) {
  const std::size_t slash = path.find('/');
  const std::string first = path.substr(0, slash);
  if (document.is_array()) {
    Json::Array values = document.array();
    Json& inner = values.at(static_cast<std::size_t>(std::stoi(first)));
    if (slash == std::string::npos) {
      inner = value;
    } else {
      plant(inner, path.substr(slash + 1), value);
    }
    document = Json(std::move(values));
    return;
  }
  if (slash != std::string::npos) {
    Json inner = document.at(first);
    plant(inner, path.substr(slash + 1), value);
    document.set(first, std::move(inner));
  } else if (!value.is_null()) {
    document.set(first, value);
  } else {
    Json::Object kept;
    for (const auto& member : document.object()) {
      if (member.first != first) kept.push_back(member);
    }
    document = Json(std::move(kept));
  }
}

Verdict with(const std::string& path, const Json& value) {
  Json document = sample_timings();
  plant(document, path, value);
  return judge(document, true);
}

TEST(Documents, HoldWhenNothingIsWrong) {
  const Verdict verdict = judge(sample_timings(), true);
  EXPECT_THAT(verdict.malformed, IsEmpty());
  EXPECT_THAT(verdict.impossible, IsEmpty());
}

TEST(Documents, SurviveTheirText) {
  EXPECT_TRUE(judge(Json::parse(sample_timings().dump(3)), true).holds());
}

TEST(Documents, RefuseAnotherShape) {
  EXPECT_THAT(with("schema", "other/v1").malformed, ElementsAre(HasSubstr("unknown schema")));
  EXPECT_THAT(with("schema", Json()).malformed, ElementsAre(HasSubstr("no 'schema'")));
  EXPECT_THAT(with("context/seed", "one").malformed, ElementsAre(HasSubstr("context.seed")));
  EXPECT_THAT(with("benchmarks/0/extra", 1).malformed,
              ElementsAre(HasSubstr("'extra' is not known")));
  EXPECT_THAT(with("benchmarks/0/work/flops", Json()).malformed,
              ElementsAre(HasSubstr("'flops' is missing")));
  EXPECT_THAT(with("context/stage", "composition").malformed,
              ElementsAre(HasSubstr("does not write")));
  EXPECT_THAT(judge(Json(1), true).malformed, ElementsAre(HasSubstr("no 'schema'")));
}

TEST(Documents, NeverTakeTheEmulatorForACard) {
  EXPECT_THAT(with("context/device/kind", "emulator").malformed,
              ElementsAre(HasSubstr("the emulator measures nothing")));
  EXPECT_THAT(with("context/sizes", "toy").malformed,
              ElementsAre(HasSubstr("toy sizes measure nothing")));
  EXPECT_THAT(with("context/class", "none").malformed, ElementsAre(HasSubstr("not a measurement")));
}

TEST(Documents, TakeADryRunWhereMeasurementsAreNotAskedFor) {
  Json document = sample_timings();
  plant(document, "context/device/kind", "emulator");
  plant(document, "context/sizes", "toy");
  plant(document, "context/class", "none");
  EXPECT_TRUE(judge(document, false).holds());
  EXPECT_FALSE(judge(document, true).holds());
}

TEST(Documents, WantAPeakToHoldTimingsAgainst) {
  EXPECT_THAT(with("context/peaks", Json::Array{}).malformed,
              ElementsAre(HasSubstr("no hard peak of memory")));
  EXPECT_THAT(with("context/peaks/0/hard", false).malformed,
              ElementsAre(HasSubstr("no hard peak of memory")));
}

TEST(Documents, WantOneEntryAName) {
  const std::string first = sample_timings().at("benchmarks").array().front().at("name").text();
  EXPECT_THAT(with("benchmarks/1/name", first).malformed,
              ::testing::Contains(HasSubstr("stands twice")));
  EXPECT_THAT(with("benchmarks/1/name", "A b").malformed,
              ::testing::Contains(HasSubstr("has other characters")));
}

TEST(Documents, WantOrderedStatistics) {
  const std::string node = "benchmarks/0/dependent_node/";
  EXPECT_THAT(with(node + "high_ns", 1.0).malformed,
              ElementsAre(HasSubstr("the median is outside its interval")));
  EXPECT_THAT(with(node + "low_ns", 1e9).malformed,
              ElementsAre(HasSubstr("the median is outside its interval")));
  EXPECT_THAT(with(node + "percentiles_ns/p90", 1.0).malformed,
              ElementsAre(HasSubstr("'p90' is below the one before")));
  EXPECT_THAT(with(node + "percentiles_ns/p99", Json()).malformed,
              ElementsAre(HasSubstr("'p99' is missing")));
  EXPECT_THAT(with(node + "percentiles_ns/p98", 1e9).malformed,
              ElementsAre(HasSubstr("a percentile that nobody knows")));
  EXPECT_THAT(with("benchmarks/0/launch/high_ns", -1e9).malformed,
              ElementsAre(HasSubstr("launch: the median")));
  EXPECT_THAT(with("benchmarks/0/real_time", 1e7).malformed,
              ElementsAre(HasSubstr("real_time is not the median")));
}

TEST(Documents, WantASlope) {
  EXPECT_THAT(with("benchmarks/0/points/1/nodes", 1).malformed,
              ElementsAre(HasSubstr("node counts do not ascend")));
  const Json point = sample_timings().at("benchmarks").array()[0].at("points").array()[0];
  EXPECT_THAT(with("benchmarks/0/points", Json::Array{point}).malformed,
              ElementsAre(HasSubstr("takes two node counts")));
}

TEST(Documents, WantOneHoldOutACase) {
  EXPECT_THAT(with("benchmarks/1/held_out", true).malformed,
              ElementsAre(HasSubstr("held out in one process and not in another")));
}

TEST(Documents, RefuseWhatWasNotShownCorrect) {
  EXPECT_THAT(with("benchmarks/0/agreement/compared", 0).malformed,
              ElementsAre(HasSubstr("without having been compared")));
  EXPECT_THAT(with("benchmarks/0/agreement/error", 0.5).impossible,
              ElementsAre(HasSubstr("error 0.5 above the tolerance")));
}

// The sample moves 3 GB in 1 ms: 3 TB/s of 4.8.
TEST(Documents, RefuseImpossibleTimings) {
  EXPECT_THAT(with("benchmarks/0/work/read_bytes", std::int64_t{3'800'000'001}).impossible,
              ElementsAre(HasSubstr("above the memory peak of 4.8e+12")));
  EXPECT_THAT(with("benchmarks/0/work/issued_flops", std::int64_t{990'000'000'000}).impossible,
              ElementsAre(HasSubstr("above the flops.bf16 peak")));
  EXPECT_THAT(with("benchmarks/0/work/link_read_bytes", std::int64_t{64'000'000}).impossible,
              ElementsAre(HasSubstr("above the link_read peak")));
}

TEST(Documents, HoldWarmTimingsAgainstL2) {
  Json document = sample_timings();
  plant(document, "benchmarks/0/work/read_bytes", std::int64_t{5'000'000'000});
  EXPECT_THAT(judge(document, true).impossible, ElementsAre(HasSubstr("memory peak")));
  plant(document, "benchmarks/0/temperature", "warm");
  EXPECT_THAT(judge(document, true).impossible, IsEmpty());
  plant(document, "benchmarks/0/work/read_bytes", std::int64_t{12'000'000'000});
  EXPECT_THAT(judge(document, true).impossible, ElementsAre(HasSubstr("l2 peak")));
}

TEST(Documents, TakeHardPeaksFromTheDevice) {
  EXPECT_THAT(with("context/peaks/0/value", 1e13).malformed,
              ElementsAre(HasSubstr("the hard peak memory of this device is 4.8")));
  EXPECT_THAT(with("context/peaks/1/hard", false).malformed,
              ElementsAre(HasSubstr("the hard peak l2"), HasSubstr("does not have")));
  Json::Array peaks = sample_timings().at("context").at("peaks").array();
  peaks.push_back(peaks.front());
  EXPECT_THAT(with("context/peaks", Json(peaks)).malformed, ElementsAre(HasSubstr("one twice")));
  EXPECT_THAT(with("context/device/pcie_width", 512).malformed,
              ::testing::Contains(HasSubstr("more than 16 lanes")));
}

TEST(Documents, BoundTheMemoryPeakOfAnUnlistedDevice) {
  Json document = sample_timings();
  plant(document, "context/device/name", "Some Card");
  plant(document, "context/peaks", to_json(datasheet_peaks("Some Card", 5, 16, 4e12)));
  EXPECT_TRUE(judge(document, true).holds());
  plant(document, "context/peaks/0/value", 1e14);
  EXPECT_THAT(judge(document, true).malformed, ElementsAre(HasSubstr("no bus makes this")));
}

TEST(Documents, WantACardThatIsKnown) {
  EXPECT_THAT(with("context/device/name", "emulator").malformed,
              ::testing::Contains(HasSubstr("no card is called 'emulator'")));
  for (const char* member : {"device/driver", "device/runtime", "build/nvcc"}) {
    EXPECT_THAT(with(std::string("context/") + member, "").malformed,
                ElementsAre(HasSubstr("measured without a")));
  }
  EXPECT_THAT(with("context/device/multiprocessors", 0).malformed,
              ElementsAre(HasSubstr("0 multiprocessors")));
  EXPECT_THAT(with("benchmarks/0/launches/0/known", false).malformed,
              ElementsAre(HasSubstr("no card knew its launch")));
  EXPECT_THAT(with("benchmarks", Json::Array{}).malformed,
              ElementsAre(HasSubstr("nothing is there")));
}

TEST(Documents, WantAPeakOfEveryOperandType) {
  Json document = sample_timings();
  plant(document, "benchmarks/0/work/flops", std::int64_t{1'000'000});
  EXPECT_TRUE(judge(document, true).holds());
  plant(document, "benchmarks/0/dtype", "bf17");
  EXPECT_THAT(judge(document, true).malformed,
              ElementsAre(HasSubstr("no hard peak of flops.bf17")));
  plant(document, "benchmarks/0/dtype", "mixed");
  EXPECT_TRUE(judge(document, true).holds());
  plant(document, "benchmarks/0/work/flops", std::int64_t{2'000'000'000'000});
  EXPECT_THAT(judge(document, true).impossible, ElementsAre(HasSubstr("flops.mixed peak")));
}

TEST(Documents, WantTheNameOfTheCase) {
  EXPECT_THAT(with("benchmarks/0/repetition_index", 2).malformed,
              ElementsAre(HasSubstr("not that of its case")));
  EXPECT_THAT(with("benchmarks/0/case", "other").malformed,
              ElementsAre(HasSubstr("not that of its case")));
  EXPECT_THAT(with("benchmarks/0/run_name", "other").malformed,
              ElementsAre(HasSubstr("not that of its case")));
  EXPECT_THAT(with("benchmarks/1/repetitions", 1).malformed,
              ElementsAre(HasSubstr("more processes than there were")));
}

// All statistics of a record are halved: only the points show the error.
TEST(Documents, WantSlopesOfTheirPoints) {
  Json document = sample_timings();
  const Json half = interval_json({700'000, 700'001, 699'999});
  plant(document, "benchmarks/0/dependent_node", half);
  plant(document, "benchmarks/0/real_time", half.at("median_ns"));
  EXPECT_THAT(judge(document, true).malformed,
              ElementsAre(HasSubstr("dependent_node does not follow from its points")));
  EXPECT_THAT(with("benchmarks/0/launch", interval_json({1.0})).malformed,
              ElementsAre(HasSubstr("launch does not follow from its points")));
  EXPECT_THAT(with("benchmarks/0/points/0/min_ns", 1.1e6).malformed,
              ElementsAre(HasSubstr("the median of a point is outside")));
  EXPECT_THAT(with("benchmarks/0/dependent_node/percentiles_ns/p50", 1'000'000.5).malformed,
              ::testing::Contains(HasSubstr("not percentile 'p50'")));
}

TEST(Documents, HoldChecksAgainstTheirTolerance) {
  Json document = sample_checks();
  EXPECT_TRUE(judge(document, true).holds());
  plant(document, "benchmarks/0/agreement/error", 1.0);
  EXPECT_THAT(judge(document, true).impossible, ElementsAre(HasSubstr("above the tolerance")));
  plant(document, "benchmarks/0/status", "disagrees");
  EXPECT_THAT(judge(document, true).impossible, ElementsAre(HasSubstr("disagrees")));
}

TEST(Documents, HaveAStageForEachSchema) {
  EXPECT_STREQ(schema_of_stage("correctness"), kChecksSchema);
  EXPECT_STREQ(schema_of_stage("ceilings_again"), kTimingsSchema);
  EXPECT_STREQ(schema_of_stage("composition"), kCompositionSchema);
  EXPECT_THROW(schema_of_stage("build"), std::invalid_argument);
}

TEST(Documents, ShipTheirSchema) {
  std::ifstream in(TIERSIM_SOURCE_DIR "/configs/schema/campaign.schema.json");
  std::ostringstream shipped;
  shipped << in.rdbuf();
  EXPECT_EQ(shipped.str(), shipped_schema())
      << "run: validate_timings --schema > configs/schema/campaign.schema.json";
}

}  // namespace
}  // namespace tiersim::kernels::bench::documents_test
