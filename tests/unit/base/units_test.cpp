#include "sim/base/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/units_text.hpp"

namespace tiersim::units_test {
namespace {

using namespace std::chrono_literals;
using namespace tiersim::literals;

TEST(Units, TransferTimeRoundsUpToAPicosecond) {
  EXPECT_EQ(1_B / Bandwidth::from_base(3), Duration(333'333'333'334));  // 1/3 s
  EXPECT_EQ(4000_B / 1_GBps, 4000ns);
  EXPECT_EQ(0_B / 1_GBps, 0ns);
}

TEST(Units, TransferLargerThan4GiBDoesNotWrap) {
  EXPECT_EQ(512_GiB / 1_GBps, 549'755'813'888ns);
}

TEST(Units, ComputeTimeIsOperationsOverRate) {
  EXPECT_EQ(1000_GFLOP / 1_TFLOPps, 1s);
}

TEST(Units, RoundUpCountsWholeGranules) {
  EXPECT_EQ(round_up(0_B, 32_B), 0_B);
  EXPECT_EQ(round_up(1_B, 32_B), 32_B);
  EXPECT_EQ(round_up(64_B, 32_B), 64_B);
}

TEST(Units, ScaleRoundsToWholeUnitsInTheNamedDirection) {
  EXPECT_EQ(scale_up(10_B, 0.25), 3_B);
  EXPECT_EQ(scale_down(10_B, 0.25), 2_B);
  EXPECT_EQ(scale_up(8_B, 0.25), 2_B);
}

TEST(Units, OverflowThrowsInEveryOperation) {
  const Bytes most = Bytes::from_base(std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(most + 1_B, UnitOverflow);
  EXPECT_THROW(most * 2, UnitOverflow);
  EXPECT_THROW(0_B - most - 2_B, UnitOverflow);
  EXPECT_THROW(most / Bandwidth::from_base(1), UnitOverflow);
  EXPECT_THROW(scale_up(most, 2.0), UnitOverflow);
  EXPECT_THROW(repeated(Duration(std::int64_t{1} << 62), 2), UnitOverflow);
}

// Must not compile: addition across dimensions, or a bare number as a quantity.
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Bandwidth>);
static_assert(!Addable<Bytes, int>);
static_assert(!std::is_convertible_v<int, Bytes>);

template <class T>
std::string parsed(std::string_view text) {
  const auto value = parse_quantity<T>(text);
  return value ? format_quantity<T>(*value) : "error: " + value.error();
}

TEST(UnitsText, DecimalAndBinaryPrefixesDiffer) {
  EXPECT_EQ(*parse_quantity<Bytes>("64 KiB"), 65536_B);
  EXPECT_EQ(*parse_quantity<Bytes>("64 KB"), 64000_B);
  EXPECT_EQ(*parse_quantity<Bandwidth>("4.8 TB/s"), 4800_GBps);
  EXPECT_EQ(*parse_quantity<Duration>("1e-3 ms"), 1us);
  EXPECT_EQ(*parse_quantity<FlopRate>("989.4 TFLOP/s"), FlopRate::from_base(989'400'000'000'000));
}

TEST(UnitsText, ErrorsNameTheValueAndTheUnitsAllowed) {
  EXPECT_EQ(parsed<Duration>("600"),
            "error: '600' has no unit (expected one of: ps, ns, us, ms, s)");
  EXPECT_EQ(
      parsed<Duration>("5 GB/s"),
      "error: '5 GB/s' is a bandwidth where a duration is expected (one of: ps, ns, us, ms, s)");
  EXPECT_EQ(parsed<Bytes>("5 gb"),
            "error: unknown unit 'gb' in '5 gb' (did you mean 'GB'? case matters)");
  // Not 'GB/s' in another case: that would be eight times as much.
  EXPECT_EQ(parsed<Bandwidth>("400 Gb/s"),
            "error: unknown unit 'Gb/s' in '400 Gb/s' (bits are written 'Gbit/s')");
  EXPECT_EQ(parsed<Duration>("5 parsec"),
            "error: unknown unit 'parsec' in '5 parsec' (expected one of: ps, ns, us, ms, s)");
  EXPECT_EQ(parsed<Duration>("5ns"), "error: '5ns' needs one space between number and unit");
  EXPECT_EQ(parsed<Duration>("fast"),
            "error: 'fast' is not a duration: a number, a space and one of: ps, ns, us, ms, s");
  EXPECT_EQ(parsed<Bytes>("-1 B"), "error: '-1 B' is negative");
  EXPECT_EQ(parsed<Bytes>("0.5 B"), "error: '0.5 B' is not a whole number of base units");
  EXPECT_EQ(parsed<Bytes>("1e30 B"), "error: '1e30 B' is too large");
  EXPECT_EQ(parsed<Bytes>("9999999 TiB"), "error: '9999999 TiB' is too large");
  EXPECT_EQ(parsed<Bytes>("nan B").substr(0, 5), "error");
}

TEST(UnitsText, CanonicalTextIsTheShortestExactOne) {
  EXPECT_EQ(format_quantity(141_GB), "141 GB");
  EXPECT_EQ(format_quantity(65536_B), "64 KiB");
  EXPECT_EQ(format_quantity(0_B), "0 B");
  EXPECT_EQ(format_quantity(Bandwidth::from_base(31'500'000'000)), "31.5 GB/s");
  EXPECT_EQ(format_quantity(Duration(107'000)), "107 ns");
}

TEST(UnitsText, EveryValueSurvivesTheRoundTrip) {
  std::uint64_t x = 1;
  for (int i = 0; i < 2000; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    const auto base = static_cast<std::int64_t>(x >> (1U + x % 60U));
    const Bytes bytes = Bytes::from_base(base);
    ASSERT_EQ(*parse_quantity<Bytes>(format_quantity(bytes)), bytes) << format_quantity(bytes);
    const Duration time(base);
    ASSERT_EQ(*parse_quantity<Duration>(format_quantity(time)), time) << format_quantity(time);
  }
}

}  // namespace
}  // namespace tiersim::units_test
