#include "kernels/campaign/physics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tiersim::kernels::bench::physics_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 1000 B/s of memory, 5000 of L2, 100 and 50 of the link, 10 000 FLOP/s.
const Peaks& toy_peaks() {
  static const Peaks peaks = {{"memory", 1000, true, "specification", "data sheet"},
                              {"memory", 900, false, "measured", "read_sum"},
                              {"l2", 5000, true, "assumed", "guess"},
                              {"link_read", 100, true, "specification", "link"},
                              {"link_write", 50, true, "specification", "link"},
                              {"flops.bf16", 10000, true, "specification", "data sheet"}};
  return peaks;
}

Timed timed(Work work, double seconds, bool warm = false) {
  return {"family.kernel", "bf16", work, warm, seconds};
}

Work moving(std::int64_t read, std::int64_t written) {
  Work work;
  work.read_bytes = read;
  work.written_bytes = written;
  return work;
}

TEST(Physics, AllowsThePeakAndRefusesAByteMore) {
  EXPECT_THAT(violations(timed(moving(600, 400), 1), toy_peaks()), IsEmpty());
  EXPECT_THAT(violations(timed(moving(600, 401), 1), toy_peaks()),
              ElementsAre(AllOf(HasSubstr("family.kernel"), HasSubstr("1001 in 1 s"),
                                HasSubstr("memory peak of 1000"), HasSubstr("data sheet"))));
}

TEST(Physics, HoldsAWarmTimingAgainstL2) {
  EXPECT_THAT(violations(timed(moving(4000, 0), 1, true), toy_peaks()), IsEmpty());
  EXPECT_THAT(violations(timed(moving(5001, 0), 1, true), toy_peaks()),
              ElementsAre(HasSubstr("l2 peak")));
}

TEST(Physics, RefusesALinkInEitherDirection) {
  Work work;
  work.link_read_bytes = 101;
  work.link_written_bytes = 51;
  EXPECT_THAT(violations(timed(work, 1), toy_peaks()),
              ElementsAre(HasSubstr("link_read peak"), HasSubstr("link_write peak")));
}

TEST(Physics, CountsIssuedArithmetic) {
  Work work;
  work.flops = 9000;
  work.issued_flops = 10001;
  EXPECT_THAT(violations(timed(work, 1), toy_peaks()), ElementsAre(HasSubstr("flops.bf16")));
  work.issued_flops = 10000;
  EXPECT_THAT(violations(timed(work, 1), toy_peaks()), IsEmpty());
}

TEST(Physics, RefusesTimesThatAreNotAboveZero) {
  EXPECT_THAT(violations(timed(moving(1, 0), 0), toy_peaks()),
              ElementsAre(HasSubstr("above zero")));
  EXPECT_THAT(violations(timed(moving(1, 0), -1), toy_peaks()),
              ElementsAre(HasSubstr("above zero")));
  EXPECT_THAT(violations(timed(moving(1, 0), std::stod("nan")), toy_peaks()),
              ElementsAre(HasSubstr("above zero")));
}

TEST(Physics, DoesNotEnforceAMeasuredCeiling) {
  EXPECT_THAT(violations(timed(moving(950, 0), 1), toy_peaks()), IsEmpty());
  const std::vector<Share> seen = shares(timed(moving(450, 0), 1), toy_peaks());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_DOUBLE_EQ(seen[0].share, 0.45);
  EXPECT_DOUBLE_EQ(seen[1].share, 0.5);
}

TEST(Physics, FloorsByTheMeasuredCeilingWhereThereIsOne) {
  const Floor by_bytes = floor_of(timed(moving(900, 900), 1), toy_peaks());
  EXPECT_DOUBLE_EQ(by_bytes.seconds, 2);
  EXPECT_EQ(by_bytes.bound, "memory");
  Work work = moving(900, 0);
  work.flops = 30000;
  const Floor by_flops = floor_of(timed(work, 1), toy_peaks());
  EXPECT_DOUBLE_EQ(by_flops.seconds, 3);
  EXPECT_EQ(by_flops.bound, "flops.bf16");
}

double value_of(const Peaks& peaks, const std::string& name) {
  for (const Peak& peak : peaks) {
    if (peak.name == name) return peak.value;
  }
  return 0;
}

TEST(Datasheets, KnowTheH200) {
  const Peaks peaks = datasheet_peaks("NVIDIA H200", 5, 16, 0);
  EXPECT_DOUBLE_EQ(value_of(peaks, "memory"), 4.8e12);
  EXPECT_DOUBLE_EQ(value_of(peaks, "flops.bf16"), 989e12);
  EXPECT_NEAR(value_of(peaks, "link_read"), 63.015e9, 1e6);  // 16 x 32/8 GB/s x 128/130
  for (const Peak& peak : peaks) {
    EXPECT_TRUE(peak.hard);
    EXPECT_FALSE(peak.source.empty());
  }
}

TEST(Datasheets, TakeTheLongestName) {
  EXPECT_DOUBLE_EQ(value_of(datasheet_peaks("NVIDIA GH200 144G HBM3e", 0, 0, 0), "memory"), 4.9e12);
}

TEST(Datasheets, TakeTheDriversBandwidthOfAnUnknownPartOrNothing) {
  const Peaks peaks = datasheet_peaks("Some Card", 4, 8, 1e12);
  EXPECT_EQ(peaks.front().name, "memory");
  EXPECT_EQ(peaks.front().number_class, "assumed");
  EXPECT_THROW(datasheet_peaks("Some Card", 4, 8, 0), std::runtime_error);
}

TEST(Peaks, SurviveTheirFile) {
  const Peaks back = peaks_from_json(Json::parse(to_json(toy_peaks()).dump()));
  ASSERT_EQ(back.size(), toy_peaks().size());
  EXPECT_EQ(back[1].name, "memory");
  EXPECT_EQ(back[1].value, 900);
  EXPECT_FALSE(back[1].hard);
  EXPECT_EQ(back[1].source, "read_sum");
}

}  // namespace
}  // namespace tiersim::kernels::bench::physics_test
