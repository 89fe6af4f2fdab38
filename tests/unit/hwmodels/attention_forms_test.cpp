// Decode and prefill attention: limits that can be counted by hand, and planted truth that a fit
// must find again.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/forms/decode_form.hpp"
#include "hwmodels/forms/prefill_form.hpp"

namespace tiersim::attention_forms_test {
namespace {

const GpuSheet kGpu{.memory = 4.8e12, .peak = 989e12, .l2_bytes = 50e6, .sms = 132};

const std::vector<double> kDecode{5e-6, 3e-6, 5e-9, 5e10, 0.9, 5,  0.4,
                                  2.5,  1e-6, 1e-9, 25,   0.8, 1.4};
const std::vector<double> kPrefill{1e-5, 5e-7, 0.6, 150, 2, 0.8, 2, 1.2, 2, 2, 2e-6};

double decode(const DecodeCase& c, std::size_t variant = 0) {
  return decode_form().physics(c.sizes(), kGpu, kDecode, variant);
}
double prefill(const PrefillCase& c, std::size_t variant = 1) {
  return prefill_form().physics(c.sizes(), kGpu, kPrefill, variant);
}

TEST(DecodeForm, TakesTheTimeOfItsBytesWhereTheyAreMany) {
  const DecodeCase c{.batch = 64, .kv_heads = 8, .group = 4, .head_dim = 128, .context = 32768};
  const double bytes = 64. * 8 * 32768 * 128 * 2 * 2;  // 8.6 GB
  EXPECT_GT(decode(c), bytes / (0.9 * kGpu.memory));
  EXPECT_LT(decode(c), 1.1 * bytes / (0.9 * kGpu.memory));
}

TEST(DecodeForm, TakesItsFloorForOneShortSequence) {
  EXPECT_GT(decode({.kv_heads = 8}), 8e-6);  // t0 and one block
  EXPECT_LT(decode({.kv_heads = 8}), 9.5e-6);
}

TEST(DecodeForm, SplitsALongContextOverTheGpu) {
  // 8 blocks on 132 SMs have 16.5 pieces each. A piece moves 4067193 B at 50 GB/s, 81 us; all move
  // 537 MB at 4.3 TB/s, 124 us; and floors add less than 15 us.
  const DecodeCase c{.batch = 1, .kv_heads = 8, .group = 4, .context = 131072};
  const double memory = 8. * 131072 * 512 / (0.9 * kGpu.memory);
  EXPECT_GT(decode(c), memory);
  EXPECT_LT(decode(c), 15e-6 + memory + 81.4e-6);
  // Without splits one SM alone would take 16 times as long.
  EXPECT_LT(decode(c), 131072. * 512 / 5e10 / 5);
}

TEST(DecodeForm, ReadsNoMoreThanTheWindow) {
  DecodeCase windowed{.batch = 64, .kv_heads = 8, .group = 4, .context = 65536, .window = 128};
  DecodeCase short_context = windowed;
  short_context.context = 128;
  EXPECT_LT(decode(windowed), 1.3 * decode(short_context));
}

TEST(DecodeForm, HalfTheBytesOfAnElementAreNoSlower) {
  for (const double batch : {1., 8., 64., 600.}) {
    DecodeCase c{.batch = batch, .kv_heads = 8, .group = 4, .context = 8192};
    const double wide = decode(c);
    c.kv_bytes = 1;
    EXPECT_LE(decode(c), wide);
  }
}

TEST(DecodeForm, AFitFindsPlantedTimesOfShapesThatItDidNotSee) {
  std::vector<FormTiming> rows;
  for (const double kv : {1., 2., 4., 8., 16.})
    for (const double group : {1., 2., 4., 8.})
      for (const double batch : {1., 4., 16., 64., 256., 1024.})
        for (const double context : {16., 128., 1024., 8192., 65536.}) {
          const DecodeCase c{.batch = batch, .kv_heads = kv, .group = group, .context = context};
          rows.push_back({c.sizes(), fmt::format("{} {}", group, kv), decode(c)});
        }
  const FormFit fit = fit_form(decode_form(), rows, kGpu);
  EXPECT_EQ(fit.model.variant, 0U);
  EXPECT_LT(fit.unseen.median, 0.01);
  EXPECT_LT(fit.unseen.p90, 0.05);
}

TEST(PrefillForm, TakesTheTimeOfItsOperationsWhereTheyAreMany) {
  const PrefillCase c{.batch = 8, .kv_heads = 8, .group = 4, .tokens = 16384};
  const double flops = 4. * 8 * 32 * 128 * (16384. * 16385 / 2);
  EXPECT_GT(prefill(c), flops / (0.6 * kGpu.peak));
  EXPECT_LT(prefill(c), 1.25 * flops / (0.6 * kGpu.peak));
}

TEST(PrefillForm, APrefixCostsWhatItsPairsCost) {
  const PrefillCase whole{.batch = 8, .kv_heads = 8, .group = 4, .tokens = 16384};
  PrefillCase half = whole;
  half.tokens = 8192;
  PrefillCase rest = half;
  rest.prefix = 8192;
  EXPECT_NEAR(prefill(half) + prefill(rest), prefill(whole), 0.05 * prefill(whole));
}

TEST(PrefillForm, AWindowLeavesOutWhatItDoesNotReach) {
  PrefillCase c{.batch = 8, .kv_heads = 8, .group = 4, .tokens = 16384};
  const double whole = prefill(c);
  c.window = 1024;  // a sixteenth of the positions, an eighth of the causal pairs
  EXPECT_LT(prefill(c), 0.25 * whole);
  c.window = 16384;
  EXPECT_DOUBLE_EQ(prefill(c), whole);
}

TEST(PrefillForm, AFitFindsPlantedTimesAndTheTile) {
  std::vector<FormTiming> rows;
  for (const double kv : {1., 2., 4., 8., 16.})
    for (const double group : {1., 2., 4., 8.})
      for (const double batch : {1., 2., 8., 32.})
        for (const double tokens : {1., 16., 100., 512., 1100., 4096., 16384.}) {
          const PrefillCase c{.batch = batch, .kv_heads = kv, .group = group, .tokens = tokens};
          rows.push_back({c.sizes(), fmt::format("{} {}", group, kv), prefill(c, 4)});
        }
  const FormFit fit = fit_form(prefill_form(), rows, kGpu);
  EXPECT_EQ(prefill_form().variants()[fit.model.variant], "128 rows of group");
  EXPECT_LT(fit.unseen.median, 0.01);
  EXPECT_LT(fit.unseen.p90, 0.05);
}

}  // namespace
}  // namespace tiersim::attention_forms_test
