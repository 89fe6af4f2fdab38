// Impossible timings. The synthetic sets have known parameters and noise (synthetic_timings.hpp),
// 53 cases of three kernels; seeds 0 to 199.
#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/read/plausibility.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"
#include "tests/unit/hwmodels/synthetic_timings.hpp"

namespace tiersim::calibrate_plausibility_test {
namespace {

using ::testing::AllOf;
using testing::case_named;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testing::SyntheticTimings;

constexpr std::uint64_t kSeeds = 200;

std::set<std::string> names(const std::vector<TimingRefusal>& refusals) {
  std::set<std::string> out;
  for (const TimingRefusal& refusal : refusals) out.insert(refusal.name);
  return out;
}

std::vector<std::string> rules(const std::vector<TimingRefusal>& refusals) {
  std::vector<std::string> out;
  for (const TimingRefusal& refusal : refusals) out.push_back(refusal.rule);
  return out;
}

std::string text(const std::vector<TimingRefusal>& refusals) {
  std::string out;
  for (const TimingRefusal& refusal : refusals) out += tiersim::text(refusal) + '\n';
  return out;
}

using Slip = std::function<void(TimingCase&)>;

Slip time_by(double factor) {
  return [factor](TimingCase& timing) {
    timing.seconds *= factor;
    timing.low *= factor;
    timing.high *= factor;
  };
}

Slip bytes_by(double factor) {
  return [factor](TimingCase& timing) { timing.work.memory_bytes *= factor; };
}

// Number of seeds in which `rule` refuses the case, and no other, after the error.
std::uint64_t found(const std::string& name, const Slip& slip, const std::string& rule) {
  std::uint64_t count = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SyntheticTimings timings(seed);
    slip(case_named(timings.set(), name));
    const Plausible checked = check_timings(timings.set());
    const bool alone = names(checked.refused) == std::set<std::string>{name};
    const std::vector<std::string> why = rules(checked.refused);
    if (alone && std::ranges::find(why, rule) != why.end()) ++count;
  }
  return count;
}

// The stated rate of false alarms is 1e-3 a file: 0.2 in 200, so that one or more has a
// probability of at most 18 %, two or more 1.8 %. These seeds have none.
TEST(Plausibility, RefusesNoneOfTwoHundredCleanSets) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SyntheticTimings timings(seed);
    const Plausible checked = check_timings(timings.set());
    ASSERT_THAT(checked.refused, IsEmpty()) << "seed " << seed << '\n' << text(checked.refused);
    ASSERT_THAT(checked.kept, SizeIs(timings.set().cases.size()));
  }
}

// Five times the noise of the sets above; the peaks, 20 % away, are left out.
TEST(Plausibility, AllowsTheNoiseThatTheIntervalsState) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SyntheticTimings timings(seed, 0.1);
    timings.set().peaks.clear();
    const Plausible checked = check_timings(timings.set());
    ASSERT_THAT(checked.refused, IsEmpty()) << "seed " << seed << '\n' << text(checked.refused);
  }
}

TEST(Plausibility, FindsATimeInTheWrongUnitInEverySet) {
  for (const char* name :
       {"copy.65536", "copy.67108864", "copy.268435456", "decode.b16-s8192", "decode.b64-s32768"}) {
    EXPECT_EQ(found(name, time_by(1000), "unit slip"), kSeeds) << name;
    EXPECT_EQ(found(name, time_by(0.001), "unit slip"), kSeeds) << name;
  }
}

TEST(Plausibility, FindsElementsBitsAndThousandsForBytesInEverySet) {
  for (const char* name : {"copy.65536", "copy.67108864"}) {
    EXPECT_EQ(found(name, bytes_by(0.5), "elements for bytes"), kSeeds) << name;
    EXPECT_EQ(found(name, bytes_by(8), "bits for bytes"), kSeeds) << name;
    EXPECT_EQ(found(name, bytes_by(1.024), "KB against KiB"), kSeeds) << name;
  }
}

// Bytes of decoding are a sum of products of sizes, and no formula of one product holds them.
TEST(Plausibility, HoldsNoFormulaAgainstBytesThatAreASumOfProducts) {
  for (const char* name : {"decode.b1-s1024", "decode.b64-s32768"})
    EXPECT_EQ(found(name, bytes_by(0.5), "elements for bytes"), 0) << name;
}

// A factor of 2 in time against noise of at most 2 %: 0.69 in the logarithm, against at most
// 5.6 * 0.028 + log 1.5 = 0.56 of noise and model.
TEST(Plausibility, FindsHalfAndDoubleTimesAmongLargeCasesInEverySet) {
  EXPECT_EQ(found("copy.16777216", time_by(2), "off the trend"), kSeeds);
  EXPECT_EQ(found("copy.16777216", time_by(0.5), "off the trend"), kSeeds);
}

// A launch-bound case takes 3 us at any size, so a quarter more exceeds the next case.
TEST(Plausibility, FindsLessTimeForMoreWorkInEverySet) {
  EXPECT_EQ(found("decode.b1-s1024", time_by(4), "non-monotone"), kSeeds);
}

TimingCase one(const std::string& name, double bytes, double us) {
  TimingCase timing;
  timing.where = "f:1";
  timing.name = name;
  timing.kernel = name.substr(0, name.find('.'));
  timing.dtype = "bf16";
  timing.work.memory_bytes = bytes;
  timing.seconds = us * 1e-6;
  timing.low = 0.99 * timing.seconds;
  timing.high = 1.01 * timing.seconds;
  return timing;
}

TimingSet set_of(std::vector<TimingCase> cases) {
  TimingSet set;
  set.file = "f";
  set.l2_bytes = 60e6;
  set.peaks = {{"memory", 4e12, true, NumberClass::specification, "sheet"},
               {"memory", 1e12, false, NumberClass::measured, "a ceiling"},
               {"l2", 10e12, true, NumberClass::assumed, "clock"},
               {"link_read", 63e9, true, NumberClass::specification, "Gen5 x16"},
               {"link_write", 63e9, true, NumberClass::specification, "Gen5 x16"},
               {"flops.bf16", 1e15, true, NumberClass::specification, "sheet"}};
  set.cases = std::move(cases);
  return set;
}

std::string told(const TimingSet& set) {
  return text(check_timings(set).refused);
}

// 400 MB at 4 TB/s take 100 us.
TEST(Plausibility, HoldsColdCasesAgainstMemoryAndNotAgainstMeasuredCeilings) {
  EXPECT_EQ(told(set_of({one("a", 400e6, 101)})), "");
  EXPECT_EQ(told(set_of({one("a", 400e6, 99)})),
            "f:1: error: a: above the peak: 4e+08 B in 99 us is 4040.4 GB/s, above the memory peak "
            "of 4000 "
            "GB/s (sheet)\n");
}

// 40 MB fit in 60 MB of L2: 10 us from memory, 4 us from L2.
TEST(Plausibility, SaysWhereAColdCaseWasServedByL2) {
  EXPECT_THAT(told(set_of({one("a", 40e6, 8)})),
              HasSubstr("; labelled cold, but its working set fits L2 (4e+07 of 6e+07 B)"));
  EXPECT_EQ(
      told(set_of({one("a", 40e6, 3)})),  // above L2's 10 TB/s as well
      "f:1: error: a: above the peak: 4e+07 B in 3 us is 13333 GB/s, above the memory peak of 4000 "
      "GB/s (sheet)\n");
}

// Of 100 MB, warm, L2 may hold 60: the other 40 take 10 us from memory, and all of it 10 us from
// L2.
TEST(Plausibility, HoldsWarmCasesAgainstL2AndWhatItCannotHoldAgainstMemory) {
  TimingCase warm = one("a", 100e6, 11);
  warm.temperature = Temperature::warm;
  EXPECT_EQ(told(set_of({warm})), "");
  EXPECT_THAT(check_timings(set_of({warm})).warnings,
              ElementsAre(::testing::Field(&TimingWarning::rule, "above memory's peak")));
  warm = one("a", 200e6, 30);
  warm.temperature = Temperature::warm;
  EXPECT_EQ(told(set_of({warm})),
            "f:1: error: a: above the peak: 1.4e+08 B in 30 us is 4666.7 GB/s, above the memory "
            "peak of 4000 "
            "GB/s (sheet): that much of its 2e+08 B does not fit in L2\n");
  warm = one("a", 40e6, 3.9);
  warm.temperature = Temperature::warm;
  EXPECT_THAT(told(set_of({warm})), HasSubstr("above the l2 peak of 10000 GB/s (clock)"));
}

// 63 MB take 1000 us at the raw rate of the link, and 1195 us at its read model's 52.7 GB/s.
TEST(Plausibility, HoldsTheLinkAgainstItsRawRateAndWarnsAboveTheReadModel) {
  TimingCase gather = one("a", 0, 999);
  gather.work.link_read_bytes = 63e6;
  EXPECT_THAT(told(set_of({gather})), HasSubstr("above the link_read peak of 63 GB/s"));
  time_by(1.01)(gather);
  EXPECT_EQ(told(set_of({gather})), "");
  EXPECT_THAT(check_timings(set_of({gather})).warnings,
              ElementsAre(::testing::Field(&TimingWarning::rule, "above the read model")));
  time_by(1.2)(gather);
  EXPECT_THAT(check_timings(set_of({gather})).warnings, IsEmpty());
  std::swap(gather.work.link_read_bytes, gather.work.link_write_bytes);
  time_by(0.8)(gather);
  EXPECT_THAT(told(set_of({gather})), HasSubstr("above the link_write peak of 63 GB/s"));
}

TEST(Plausibility, HoldsFlopsAgainstThePeakOfTheirType) {
  TimingCase product = one("a", 0, 99);
  product.work.flops = 1e11;  // 100 us
  EXPECT_THAT(
      told(set_of({product})),
      HasSubstr("1e+11 FLOP in 99 us is 1010.1 TFLOP/s, above the flops.bf16 peak of 1000"));
  product.dtype = "bfloat16";
  EXPECT_THAT(told(set_of({product})), HasSubstr("flops.bf16"));
  product.dtype = "mixed";  // the fastest of them
  EXPECT_THAT(told(set_of({product})), HasSubstr("flops.bf16"));
  product.dtype = "fp8";
  EXPECT_EQ(told(set_of({product})), "");
  EXPECT_THAT(text(check_timings(set_of({product})).warnings),
              HasSubstr("no hard peak of 'flops.fp8' is known"));
}

TEST(Plausibility, RefusesAMedianOutsideItsInterval) {
  TimingCase odd = one("a", 1e6, 10);
  odd.low = 11e-6;
  EXPECT_THAT(told(set_of({odd})), HasSubstr("bad interval: its median of 10 us is not within its "
                                             "interval from 11 us to 10.1 us"));
}

// 0.5 ns a byte at 40 MB: in ms for us, 20 us would be right and are 0.02.
TEST(Plausibility, NamesAUnitSlipWhereAThousandTimesTheTimeWouldBePossible) {
  const std::string why = told(set_of({one("a", 40e6, 0.02)}));
  EXPECT_THAT(why, HasSubstr("above the memory peak of 4000 GB/s (sheet); a unit slip: 1000 times "
                             "that time would be possible"));
  TimingSet unknown = set_of({one("a", 40e6, 0.02)});
  std::erase_if(unknown.peaks, [](const TimingPeak& peak) { return peak.name == "l2"; });
  EXPECT_THAT(told(unknown), HasSubstr("a unit slip"));
  EXPECT_THAT(told(set_of({one("a", 40e6, 0.005)})), ::testing::Not(HasSubstr("a unit slip")));
}

TEST(Plausibility, RefusesAFileWhoseTimesAreAllAThousandTimesTooLong) {
  // Floors of 0.25, 25 and 50 us; launches of 4 us: 4, 29 and 54 us, in ns under "us".
  const TimingSet slow =
      set_of({one("copy.1", 1e6, 4000), one("copy.2", 100e6, 29000), one("copy.3", 200e6, 54000)});
  EXPECT_THAT(rules(check_timings(slow).refused),
              ElementsAre("unit slip", "unit slip", "unit slip"));
  EXPECT_THAT(told(slow),
              HasSubstr("unit slip: every case takes at least 1.08e+03 times as long as "
                        "its floor and as the fastest launch, this one 4000 us"));
  TimingSet dry = slow;
  dry.data_class = "none";
  EXPECT_EQ(told(dry), "");
  TimingSet one_right = slow;
  time_by(0.001)(one_right.cases[0]);
  EXPECT_THAT(told(one_right), ::testing::Not(HasSubstr("every case")));
}

TEST(Plausibility, RefusesElementsForBytesWithoutAType) {
  for (const int size : {2, 4, 8}) {
    std::vector<TimingCase> cases;
    for (const std::int64_t rows : {1024, 2048, 4096, 8192}) {
      cases.push_back(one("copy." + std::to_string(rows), static_cast<double>(rows * size), 10));
      cases.back().dtype.clear();
      cases.back().shape = {{"rows", rows}};
    }
    EXPECT_EQ(told(set_of(cases)), "");
    cases[2].work.memory_bytes /= size;
    EXPECT_THAT(rules(check_timings(set_of(cases)).refused), ElementsAre("elements for bytes"));
  }
}

TEST(Plausibility, RefusesOneCaseWithoutBytesAmongThoseThatHaveSome) {
  std::vector<TimingCase> cases{one("copy.1", 1e6, 5), one("copy.2", 2e6, 5), one("copy.3", 0, 5),
                                one("copy.4", 4e6, 5)};
  EXPECT_EQ(
      told(set_of(cases)),
      "f:1: error: copy.3: no bytes: it moves 0 bytes of memory, each of the 3 other cases of "
      "'copy' some\n");
  cases[2].shape = {{"rows", 0}};
  EXPECT_EQ(told(set_of(cases)), "");
  cases[2].shape.clear();
  cases[1].work.memory_bytes = 0;
  cases[1].seconds *= 1.001;  // not one row twice
  EXPECT_EQ(told(set_of(cases)), "");
}

TEST(Plausibility, TakesTheFirstWordOfANameForItsKernel) {
  TimingCase wrong = one("latent_decode/dense_decode/a", 1e6, 10);
  wrong.kernel = "dense_decode";
  TimingCase other = one("latent_decode/b", 2e6, 20);
  other.kernel = "latent_decode";
  const std::string says = "its name says latent_decode, but its kernel is ";
  EXPECT_THAT(told(set_of({wrong, other})), HasSubstr(says + "dense_decode"));
  wrong.name = "latent_decode/a";
  wrong.kernel = "decode";
  EXPECT_THAT(told(set_of({wrong, other})), HasSubstr(says + "decode"));
  wrong.name = "dense.decode.a";  // of a family
  EXPECT_EQ(told(set_of({wrong, other})), "");
}

TEST(Plausibility, WarnsWhereAllTimesAreFarAboveTheirFloors) {
  std::vector<TimingCase> slow;
  for (const double megabytes : {100, 200, 400}) {  // 25 us and more; half a ms for each us
    slow.push_back(one("copy." + std::to_string(megabytes), megabytes * 1e6, megabytes * 125));
  }
  EXPECT_THAT(text(check_timings(set_of(slow)).warnings),
              HasSubstr("unit slip: all 3 cases that move or compute for more than 10 us take at "
                        "least 500 times their floor"));
}

TEST(Plausibility, RefusesOneRowTwiceAndTwoTimesOfOneCase) {
  EXPECT_THAT(told(set_of({one("a.1", 1e6, 10), one("a.1", 1e6, 10)})),
              HasSubstr("duplicate: the same kernel, sizes and work as 'a.1' at f:1, with the same "
                        "time: one row twice"));
  const Plausible twice = check_timings(set_of({one("a.1", 1e6, 10), one("a.1", 1e6, 11)}));
  EXPECT_THAT(rules(twice.refused), ElementsAre("duplicate", "duplicate"));
  EXPECT_THAT(text(twice.refused), HasSubstr("10 us, but 11 us for the same kernel"));
  // Two names may be two cases, which are refused only where they clearly differ.
  const Plausible near = check_timings(set_of({one("a.1", 1e6, 10), one("a.2", 1e6, 10.1)}));
  EXPECT_THAT(near.refused, IsEmpty());
  EXPECT_THAT(rules(near.warnings), ElementsAre("duplicate"));
  EXPECT_THAT(rules(check_timings(set_of({one("a.1", 1e6, 10), one("a.2", 1e6, 20)})).refused),
              ElementsAre("duplicate", "duplicate"));
}

TEST(Plausibility, RefusesANameThatItsFieldsContradict) {
  TimingCase timing = one("decode.b4-s1024-h16-kv2.row4kb", 1e6, 10);
  timing.shape = {
      {"batch", 4}, {"context", 1024}, {"kv_heads", 2}, {"group", 8}, {"row_bytes", 4096}};
  EXPECT_EQ(told(set_of({timing})), "");
  timing.shape["context"] = 2048;
  EXPECT_THAT(told(set_of({timing})),
              HasSubstr("mislabelled: its name says 's1024', but its shape has context = 2048"));
  timing.shape["context"] = 1024;
  timing.shape["group"] = 4;
  EXPECT_THAT(told(set_of({timing})), HasSubstr("'h16', but its shape has kv_heads*group = 8"));
  timing = one("copy.fp32/warm", 1e6, 10);
  EXPECT_THAT(told(set_of({timing})), AllOf(HasSubstr("its name says warm, but its temperature is "
                                                      "cold"),
                                            HasSubstr("its name says fp32, but its operands are "
                                                      "bf16")));
  timing = one("copy.a", 1e6, 10);
  TimingCase other = one("gather.a", 2e6, 20);
  timing.kernel = "gather";
  EXPECT_THAT(told(set_of({timing, other})), "");
  other.kernel = "copy";
  EXPECT_THAT(told(set_of({timing, other})),
              AllOf(HasSubstr("its name says copy, but its kernel is gather"),
                    HasSubstr("its name says gather, but its kernel is copy")));
}

// 2 bytes an element: 1024 x 64 and so on are counts of elements, not bytes.
TEST(Plausibility, RefusesAFileWhoseBytesAreAllElementCounts) {
  std::vector<TimingCase> cases;
  for (const std::int64_t rows : {1024, 2048, 4096}) {
    cases.push_back(one("copy." + std::to_string(rows), 64.0 * static_cast<double>(rows), 10));
    cases.back().shape = {{"rows", rows}, {"width", 64}};
  }
  EXPECT_THAT(rules(check_timings(set_of(cases)).refused),
              ElementsAre("elements for bytes", "elements for bytes", "elements for bytes"));
  for (TimingCase& timing : cases) timing.dtype = "int8";
  EXPECT_EQ(told(set_of(cases)), "");
}

// 2 MB in 10 us, but 1 MB in 13: 0.262 in the logarithm. Two comparisons allow 3.9 standard errors
// and 12 %: 0.028 + 0.113 with intervals of +-1 %, 0.226 + 0.113 with intervals of +-8 %.
TEST(Plausibility, AllowsMoreBetweenWiderIntervals) {
  TimingCase small = one("copy.1", 1e6, 13);
  TimingCase large = one("copy.2", 2e6, 10);
  EXPECT_THAT(check_timings(set_of({small, large})).refused, SizeIs(2));
  for (TimingCase* timing : {&small, &large}) {
    timing->low = 0.92 * timing->seconds;
    timing->high = 1.08 * timing->seconds;
  }
  EXPECT_EQ(told(set_of({small, large})), "");
}

TEST(Plausibility, ComparesOnlyWhatIsSpreadAlike) {
  TimingCase few = one("copy.few", 1e6, 100);
  TimingCase many = one("copy.many", 2e6, 50);
  EXPECT_THAT(names(check_timings(set_of({few, many})).refused), SizeIs(2));
  few.shape = {{"blocks", 1}};
  many.shape = {{"blocks", 8}};
  EXPECT_EQ(told(set_of({few, many})), "");
  few.shape = {{"row_bytes", 32}, {"rows", 1000}};  // small rows are slow
  many.shape = {{"row_bytes", 4096}, {"rows", 16}};
  EXPECT_EQ(told(set_of({few, many})), "");
}

// Twice the size across L2 may take far more than twice the time.
TEST(Plausibility, ComparesNothingAcrossTheEdgeOfL2) {
  TimingCase inside = one("copy.in", 40e6, 6);
  TimingCase outside = one("copy.out", 80e6, 30);
  inside.temperature = outside.temperature = Temperature::warm;
  EXPECT_EQ(told(set_of({inside, outside})), "");
  inside.work.memory_bytes = 400e6;
  outside.work.memory_bytes = 800e6;
  time_by(30)(inside);
  time_by(30)(outside);
  EXPECT_THAT(told(set_of({inside, outside})), HasSubstr("one of the two is wrong"));
}

// A spike of 1.4 among eight sizes a factor of 2 apart, bandwidth-bound, 0.5 % of noise: within
// what the pairs allow (1.5), beyond what the line of its neighbours does.
TEST(Plausibility, RefusesWhatIsFarFromTheLineOfItsNeighbours) {
  std::vector<TimingCase> cases;
  for (int i = 0; i < 8; ++i) {
    cases.push_back(one("copy." + std::to_string(i), 100e6 * (1 << i), 50.0 * (1 << i)));
  }
  EXPECT_EQ(told(set_of(cases)), "");
  time_by(1.4)(cases[4]);
  EXPECT_THAT(
      told(set_of(cases)),
      StartsWith("f:1: error: copy.4: off the trend: 1120 us is 1.4 times what 'copy.3' and "
                 "'copy.5' on its two sides say"));
}

TEST(Plausibility, CarriesTheRowsThatTheirReaderRefused) {
  TimingSet set = set_of({one("a", 1e6, 10)});
  set.refused = {{"f:9", "b", "wrong result", "3 elements came out wrong"}};
  const Plausible checked = check_timings(set);
  EXPECT_EQ(text(checked.refused), "f:9: error: b: wrong result: 3 elements came out wrong\n");
  EXPECT_THAT(checked.kept, SizeIs(1));
}

// The planted ones: a time in us labelled ns, a read of 70 GB/s over Gen5 x16, and an append at
// 6 TB/s from memory of 4.8.
TEST(Plausibility, RefusesThreePlantedImpossibilitiesOfAFileAtOnce) {
  const std::string name = "tests/unit/hwmodels/data/three_impossible.json";
  std::ostringstream content;
  content << std::ifstream(std::string(TIERSIM_SOURCE_DIR) + '/' + name).rdbuf();
  const auto timings = read_timings(name, content.str(), {});
  ASSERT_TRUE(timings.has_value()) << timings.error().text();
  const Plausible checked = check_timings(*timings);
  EXPECT_THAT(names(checked.refused),
              ElementsAre("dense.join.67108864/cold", "host_gather.gather.loads.row256b.65536/cold",
                          "latent.append.b16/cold"));
  EXPECT_THAT(rules(checked.refused), ElementsAre("unit slip", "above the peak", "above the peak"));
  EXPECT_THAT(checked.kept, SizeIs(timings->cases.size() - 3));
}

// A card reads short rows, and rows of a large table in host memory, at a fraction of the rate of
// others. Equal rows of an equal table are still compared.
TEST(Plausibility, ComparesNoOtherRowsOrTables) {
  const auto gathered = [](std::int64_t row_bytes, std::int64_t table_rows, std::int64_t rows,
                           double seconds) {
    TimingCase timing;
    timing.name = std::to_string(row_bytes) + '-' + std::to_string(table_rows) + '-' +
                  std::to_string(rows) + "/cold";
    timing.kernel = "mine";
    timing.shape = {{"row_bytes", row_bytes}, {"table_rows", table_rows}, {"rows", rows}};
    timing.work.memory_bytes = static_cast<double>(row_bytes * rows);
    timing.seconds = timing.low = timing.high = seconds;
    return timing;
  };
  TimingSet set;
  set.cases = {gathered(32, 1 << 20, 1 << 18, 80e-6), gathered(512, 1 << 20, 1 << 14, 25e-6),
               gathered(256, 1 << 20, 1 << 18, 1e-3), gathered(256, 1 << 23, 1 << 18, 3e-3)};
  EXPECT_THAT(check_timings(set).refused, IsEmpty());
  set.cases.push_back(gathered(256, 1 << 23, 1 << 17, 6e-3));
  EXPECT_THAT(rules(check_timings(set).refused), ElementsAre("non-monotone", "non-monotone"));
}

}  // namespace
}  // namespace tiersim::calibrate_plausibility_test
