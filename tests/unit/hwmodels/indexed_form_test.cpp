// Attention over positions that an indexer chooses: modules that can be counted by hand, their
// parts, planted truth that a fit must find again, and the operations of a step that follow it.
#include "hwmodels/forms/indexed_form.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "hwmodels/compute/roofline_gpu.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::indexed_form_test {
namespace {

const GpuSheet kSheet{.memory = 4e12, .peak = 1e15, .l2_bytes = 50e6, .warm = 0, .sms = 100};
// t0, memory, peak, corner, scores, choice, passes, slot, waves, row.
const std::vector<double> kTruth{1e-4, 0.8, 0.5, 8, 0.5, 2e-5, 5, 5e-8, 8, 1e-6};
constexpr std::size_t kOneBlock = 1;  // variant: one block on an SM
constexpr std::size_t kPadded = 4;    // variant: the same, with all slots of the choice

double seconds(const IndexedCase& c, std::size_t variant = kOneBlock) {
  return indexed_form().physics(c.sizes(), kSheet, kTruth, variant);
}
IndexedCase part(double which, IndexedCase c) {
  c.part = which;
  return c;
}

// 200 million weights, 128 heads, 8192 positions.
constexpr IndexedCase kStep{.sequences = 32, .before = 8191, .weights = 2e8};

TEST(IndexedForm, TakesTheTimeOfItsParts) {
  const double shortest = 1e-4 / 25;
  // 32 tokens of two blocks with 2048 slots on 100 SMs: one wave.
  EXPECT_NEAR(seconds(part(3, kStep)), shortest + 2048 * 5e-8, 1e-9);
  // 64 tokens are two.
  IndexedCase twice = kStep;
  twice.sequences = 64;
  EXPECT_NEAR(seconds(part(3, twice)), shortest + 2 * 2048 * 5e-8, 1e-9);
  // Five passes over 4 bytes of 32 * 8192 pairs, after a floor.
  EXPECT_NEAR(seconds(part(2, kStep)), shortest + 2e-5 + 5 * 4 * 32 * 8192 / 4e12, 1e-9);
  // 132 bytes of as many index keys at .8 of 4 TB/s, and 64 heads of 128 at half of the fp8 peak.
  const double keys = 132. * 32 * 8192 / 3.2e12;
  const double scores = 2. * 32 * 8192 * 64 * 128 / 1e15;
  EXPECT_NEAR(seconds(part(1, kStep)),
              shortest + std::cbrt(keys * keys * keys + scores * scores * scores), 1e-9);
  // The module has them all, its products' 400 MB at .8 of 4 TB/s, and a row of each token.
  double parts = 0;
  for (const double which : {1., 2., 3.}) parts += seconds(part(which, kStep)) - shortest;
  EXPECT_NEAR(seconds(kStep), 1e-4 + 4e8 / 3.2e12 + 32 * 1e-6 / 100 + parts, 1e-7);
}

TEST(IndexedForm, ChoosesOnlyAmongMorePositions) {
  IndexedCase few = kStep;
  few.before = 511;
  EXPECT_NEAR(seconds(part(2, few)), 1e-4 / 25, 1e-12);
  // Some kernels work on the slots that are empty, too.
  EXPECT_NEAR(seconds(part(3, few)), 1e-4 / 25 + 512 * 5e-8, 1e-9);
  EXPECT_NEAR(seconds(part(3, few), kPadded), seconds(part(3, kStep), kPadded), 1e-12);
}

// Waves of blocks for 64 tokens on 100 SMs. A block takes the same time for any number of heads.
TEST(IndexedForm, HasBlocksOfMoreOrFewerHeadsByVariant) {
  const auto waves = [](const char* name, double heads) {
    const auto variants = indexed_form().variants();
    const auto at = static_cast<std::size_t>(std::ranges::find(variants, name) - variants.begin());
    IndexedCase c = part(3, kStep);
    c.sequences = 64;
    c.heads = heads;
    return std::round((seconds(c, at) - 1e-4 / 25) / (2048 * 5e-8));
  };
  EXPECT_EQ(waves("1 block of an SM", 128), 2);             // two blocks a token
  EXPECT_EQ(waves("1 block of an SM, 128 heads", 128), 1);  // one
  EXPECT_EQ(waves("1 block of an SM, 128 heads", 32), 1);
  EXPECT_EQ(waves("2 blocks of an SM, padded, 128 heads", 128), 1);
  EXPECT_EQ(waves("1 block of an SM, 8 or 32 heads", 8), 1);
  EXPECT_EQ(waves("1 block of an SM, 8 or 32 heads", 32), 3);    // four blocks of 8
  EXPECT_EQ(waves("1 block of an SM, 8 or 32 heads", 64), 2);    // two of 32
  EXPECT_EQ(waves("2 blocks of an SM, 8 or 32 heads", 128), 2);  // four
}

TEST(IndexedForm, TakesNoLessTimeForMoreWork) {
  double last = 0;
  for (const double sequences : {1., 2., 30., 31., 100., 1000.}) {
    IndexedCase c = kStep;
    c.sequences = sequences;
    EXPECT_GE(seconds(c), last);
    last = seconds(c);
  }
  last = 0;
  for (const double before : {0., 1., 100., 2046., 2047., 2048., 10000., 100000.}) {
    IndexedCase c = kStep;
    c.before = before;
    EXPECT_GE(seconds(c), last);
    last = seconds(c);
  }
  last = 0;
  for (const double heads : {1., 16., 64., 65., 128.}) {
    IndexedCase c = kStep;
    c.heads = heads;
    EXPECT_GE(seconds(c), last);
    last = seconds(c);
  }
}

TEST(IndexedForm, AFitFindsPlantedTimes) {
  std::vector<FormTiming> rows;
  for (const double heads : {8., 16., 32., 64., 128.})
    for (const double index_heads : {32., 64.})
      for (double sequences = 1; sequences <= 1024; sequences *= 2)
        for (const double before : {127., 1023., 4095., 16383., 65535.}) {
          const IndexedCase c{.sequences = sequences,
                              .before = before,
                              .heads = heads,
                              .index_heads = index_heads,
                              .weights = 1e6 * (40 + heads)};
          rows.push_back({c.sizes(), std::to_string(heads + index_heads), seconds(c)});
        }
  const FormFit fit = fit_form(indexed_form(), rows, kSheet);
  EXPECT_LT(fit.unseen.median, 0.03);
  EXPECT_LT(fit.unseen.p90, 0.1);
  EXPECT_NEAR(fit.model.parameters[7], kTruth[7], 0.2 * kTruth[7]);
}

std::unique_ptr<ComputeUnit> gpu() {
  FormFit fit;
  fit.model = {.form = &indexed_form(), .variant = kOneBlock, .parameters = kTruth, .surface = {}};
  fit.least = {0, 1, 1, 1, 1, 32, 2048, 1e7, 2, 2};
  fit.most = {0, 1024, 1, 131071, 128, 64, 2048, 3e8, 2, 2};
  fit.scatter = {0.9, 1.2};
  std::string text =
      "schema: tiersim.device/v1\n"
      "part: h200\n"
      "peak_bf16: {value: 1000 TFLOP/s, class: specification, source: data sheet}\n"
      "peak_int8: {value: 1000 TFLOP/s, class: specification, source: data sheet}\n"
      "efficiency: {value: 0.8, class: assumed, source: a guess}\n"
      "launch: {value: 2 us, class: assumed, source: a guess}\n";
  const std::string timed =
      timed_kernels_yaml("tiersim calibrate", "h200/engine-1", "h200",
                         {{"module step", "screening", "bf16", "made up", &fit, kSheet}});
  text += timed.substr(timed.find("timed_kernels:"));
  Diagnostics diagnostics;
  const Document document = load_text(text, "gpu.yaml", {}, diagnostics);
  const auto config = read<RooflineGpuConfig>(document, "device", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return make_device(config);
}

KernelTime time_of(const ComputeUnit& unit, KernelFamily family, const IndexedShape& shape) {
  return unit.time({.family = family,
                    .arithmetic = Arithmetic::fp8,
                    .flops = Flops::from_base(1000),
                    .memory_bytes = Bytes::from_base(1000),
                    .memory_peak = Bandwidth::from_base(4'000'000'000'000),
                    .indexed = shape});
}

// Attention follows the module's fit, whatever its family; what it takes is no timing of its own.
TEST(TimedIndexed, FollowsThePartsOfAModuleWithAWiderInterval) {
  const auto unit = gpu();
  const IndexedShape attention{.part = IndexedPart::attention,
                               .sequences = 32,
                               .before = 8191,
                               .heads = 128,
                               .index_heads = 64,
                               .top_k = 2048};
  const KernelTime time = time_of(*unit, KernelFamily::latent_attention, attention);
  EXPECT_NEAR(to_seconds(time.launch + time.body), seconds(part(3, kStep)), 1e-9);
  EXPECT_TRUE(time.beyond_timed);
  EXPECT_NEAR(time.spread.low, 0.81, 1e-12);
  const TimedNames ran{time.timed_kernel};
  EXPECT_EQ(unit->basis(KernelFamily::latent_attention, &ran).basis, "fitted");
}

TEST(TimedIndexed, OfAnotherMethodFollowsTheDataSheet) {
  const auto unit = gpu();
  EXPECT_EQ(time_of(*unit, KernelFamily::screening, {}).timed_kernel, "");
  EXPECT_EQ(time_of(*unit, KernelFamily::latent_attention, {}).timed_kernel, "");
}

}  // namespace
}  // namespace tiersim::indexed_form_test
