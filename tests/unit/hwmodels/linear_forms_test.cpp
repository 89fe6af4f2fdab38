// Linear attention: times that can be counted by hand, their limits, planted truth that a fit must
// find again, and the operations of a step that follow such fits.
#include <gtest/gtest.h>

#include "hwmodels/calibrate/fit/form_fit.hpp"
#include "hwmodels/calibrate/fit/write_forms.hpp"
#include "hwmodels/compute/roofline_gpu.hpp"
#include "hwmodels/forms/conv_form.hpp"
#include "hwmodels/forms/scan_form.hpp"
#include "hwmodels/forms/update_form.hpp"
#include "hwmodels/forms/warm_memory.hpp"
#include "sim/config/describe.hpp"

namespace tiersim::linear_forms_test {
namespace {

// 100 SMs, 4 TB/s: a step, whose memory is cold.
const GpuSheet kSheet{.memory = 4e12, .peak = 1e15, .l2_bytes = 50e6, .warm = 0, .sms = 100};

// t0, c0, c1, resident, waves, memory, l2_speed, l2_share, l2_corner, sharpness.
const std::vector<double> kUpdate{4e-6, 1e-7, 1e-7, 4, 8, 0.8, 40, 0.5, 2, 8};
// t0, c0, c1, c2, waves, peak, passes, states, l2_speed, l2_share, l2_corner, corner, sharpness.
const std::vector<double> kScan{5e-6, 4e-6, 1e-8, 2e-6, 2, 0.5, 1, 0.01, 40, 0.5, 2, 8, 8};
// As of update_form.
const std::vector<double> kConv{2e-6, 1e-7, 1e-7, 4, 8, 0.8, 40, 0.5, 2, 8};

double update_seconds(const LinearCase& c, const GpuSheet& gpu = kSheet) {
  return update_form().physics(c.sizes(), gpu, kUpdate, 0);
}
double scan_seconds(LinearCase c, std::size_t variant = 1, const GpuSheet& gpu = kSheet) {
  c.decode = 0;
  return scan_form().physics(c.sizes(), gpu, kScan, variant);
}
double conv_seconds(const ConvCase& c) {
  return conv_form().physics(c.sizes(), kSheet, kConv, 0);
}

TEST(UpdateForm, TakesTheTimeOfItsStates) {
  // One sequence: a floor, and one state with one token; its 4 MB take 1.3 us beside that, which
  // the blend of power 8 passes on.
  EXPECT_NEAR(update_seconds({.sequences = 1}), 4e-6 + 1.3e-6, 0.05e-6);
  // 1024 sequences read and write 32 states of 64 KiB each: 4.295 GB at .8 of 4 TB/s.
  EXPECT_NEAR(update_seconds({.sequences = 1024}), 4e-6 + 4.295e9 / 3.2e12, 0.02e-3);
}

TEST(UpdateForm, ReadsAStateOnceAndWritesItForEachToken) {
  const double one = update_seconds({.sequences = 1024, .tokens = 1}) - 4e-6;
  const double four = update_seconds({.sequences = 1024, .tokens = 4}) - 4e-6;
  EXPECT_NEAR(four / one, 5.0 / 2, 0.02);
}

TEST(UpdateForm, FindsStatesInL2WhereABenchmarkRepeatsItself) {
  GpuSheet warm = kSheet;
  warm.warm = 1;
  const LinearCase small{.sequences = 8};  // 17 MB of 25
  EXPECT_LT(update_seconds(small, warm), update_seconds(small));
  const LinearCase large{.sequences = 1024};
  // 25 of 2150 MB would be there, of which the square of that share is found.
  EXPECT_NEAR(update_seconds(large, warm), update_seconds(large), 1.5e-4 * update_seconds(large));
}

TEST(ScanForm, FollowsTheChunksOfAHead) {
  GpuSheet free = kSheet;  // neither operations nor bytes count
  free.peak = 1e18;
  free.memory = 1e16;
  const auto seconds = [&](double sequences, std::size_t variant) {
    return scan_seconds({.sequences = sequences, .tokens = 32768}, variant, free);
  };
  // 64 heads on 100 SMs: one wave of 512 chunks.
  EXPECT_NEAR(seconds(2, 1), 5e-6 + 4e-6 + 64e-8 + 512 * 2e-6, 1e-8);
  // 128 heads are two waves of one head on an SM, or one wave of two.
  EXPECT_NEAR(seconds(4, 1), 5e-6 + 2 * (4e-6 + 64e-8 + 512 * 2e-6), 1e-8);
  EXPECT_NEAR(seconds(4, 2), seconds(2, 2), 1e-8);
}

TEST(ScanForm, TakesTheTimeOfItsOperationsWhereHeadsAreMany) {
  // FLOPs of a token and head: 2 * 64 * 5 * 128 for the scores and what they weigh, 6 * 128 * 128
  // for the state, and 2 * 64 * 64 / 3 for the inverse; half of 10^15 a second.
  GpuSheet free = kSheet;
  free.sms = 1e6;
  free.memory = 1e16;
  const double flops = 2048. * 8192 * (81920 + 98304 + 8192. / 3);
  EXPECT_NEAR(scan_seconds({.sequences = 64, .tokens = 8192}, 1, free), 5e-6 + flops / 0.5e15,
              1e-6);
}

TEST(ScanForm, CountsWholeChunks) {
  const double first = scan_seconds({.sequences = 1, .tokens = 65});
  EXPECT_NEAR(scan_seconds({.sequences = 1, .tokens = 128}), first, 1e-7);
  EXPECT_NEAR(scan_seconds({.sequences = 1, .tokens = 129}), first + 2e-6, 1e-7);
}

TEST(ConvForm, TakesTheTimeOfItsBlocksAndBytes) {
  // A block of one token and 256 channels.
  EXPECT_NEAR(conv_seconds({.channels = 256}), 2e-6 + 2e-7, 1e-9);
  // 32768 tokens of 8192 channels, read and written in bf16, at .8 of 4 TB/s.
  const double bytes = 4.0 * 32768 * 8192;
  EXPECT_NEAR(conv_seconds({.sequences = 1, .tokens = 32768, .decode = 0}), 2e-6 + bytes / 3.2e12,
              0.03 * bytes / 3.2e12 + 4e-5);
}

TEST(LinearForms, TakeNoLessTimeForMoreWork) {
  double update = 0;
  double scan = 0;
  double conv = 0;
  for (const double sequences : {1., 2., 3., 8., 50., 51., 400., 4000.}) {
    const double next = update_seconds({.sequences = sequences});
    EXPECT_GE(next, update);
    update = next;
    const double longer = scan_seconds({.sequences = sequences, .tokens = 100});
    EXPECT_GE(longer, scan);
    scan = longer;
    const double wider = conv_seconds({.sequences = sequences});
    EXPECT_GE(wider, conv);
    conv = wider;
  }
  scan = conv = 0;
  for (const double tokens : {1., 7., 8., 9., 64., 65., 1000., 30000.}) {
    const double longer = scan_seconds({.sequences = 3, .tokens = tokens});
    EXPECT_GE(longer, scan);
    scan = longer;
    const double wider = conv_seconds({.sequences = 3, .tokens = tokens, .decode = 0});
    EXPECT_GE(wider, conv);
    conv = wider;
  }
}

TEST(LinearForms, AFitFindsPlantedTimes) {
  std::vector<FormTiming> rows;
  for (const double heads : {4., 8., 12., 16., 32., 48., 64.})
    for (double batch = 1; batch <= 1024; batch *= 2) {
      const LinearCase c{.sequences = batch, .key_heads = heads / 2, .value_heads = heads};
      rows.push_back({c.sizes(), std::to_string(heads), update_seconds(c)});
    }
  const FormFit fit = fit_form(update_form(), rows, kSheet);
  EXPECT_NEAR(fit.model.parameters[5], kUpdate[5], 0.03 * kUpdate[5]);
  EXPECT_LT(fit.unseen.median, 0.02);
  EXPECT_LT(fit.unseen.p90, 0.06);
}

TEST(WarmMemory, LosesWhatDoesNotFit) {
  GpuSheet warm = kSheet;
  warm.warm = 1;
  const WarmRates rates{.memory = 0.5, .l2_speed = 40, .l2_share = 1, .l2_corner = 1};
  // 100 MB of which 50 fit: half of it at 2 TB/s.
  EXPECT_NEAR(warm_memory_time({.kept = 100e6, .moved = 100e6}, rates, warm), 25e-6, 1e-8);
  EXPECT_NEAR(warm_memory_time({.kept = 100e6, .moved = 100e6}, rates, kSheet), 50e-6, 1e-8);
  EXPECT_NEAR(warm_memory_time({.kept = 40e6, .moved = 40e6}, rates, warm), 40e6 / 160e12, 1e-8);
}

FormFit fitted(const KernelForm& form, std::vector<double> parameters, std::size_t variant,
               std::vector<double> least, std::vector<double> most) {
  FormFit fit;
  fit.model = {
      .form = &form, .variant = variant, .parameters = std::move(parameters), .surface = {}};
  fit.least = std::move(least);
  fit.most = std::move(most);
  fit.scatter = {0.9, 1.1};
  return fit;
}

std::unique_ptr<ComputeUnit> gpu() {
  const FormFit update = fitted(update_form(), kUpdate, 0, {1, 1, 1, 1, 2, 128, 128, 4, 0},
                                {1024, 1, 1, 16, 64, 128, 128, 4, 0});
  const FormFit scan = fitted(scan_form(), kScan, 1, {1, 1, 0, 1, 2, 128, 128, 4, 0},
                              {64, 32768, 0, 16, 64, 128, 128, 4, 0});
  const FormFit conv = fitted(conv_form(), kConv, 0, {1, 1, 1, 768, 4}, {1024, 1, 1, 12288, 4});
  std::string text =
      "schema: tiersim.device/v1\n"
      "part: h200\n"
      "peak_bf16: {value: 1000 TFLOP/s, class: specification, source: data sheet}\n"
      "peak_int8: {value: 1000 TFLOP/s, class: specification, source: data sheet}\n"
      "efficiency: {value: 0.8, class: assumed, source: a guess}\n"
      "launch: {value: 2 us, class: assumed, source: a guess}\n";
  const std::string timed =
      timed_kernels_yaml("tiersim calibrate", "h200/engine-1", "h200",
                         {{"update", "linear_attention", "bf16", "made up", &update, kSheet},
                          {"scan", "linear_attention", "bf16", "made up", &scan, kSheet},
                          {"conv", "causal_conv", "bf16", "made up", &conv, kSheet}});
  text += timed.substr(timed.find("timed_kernels:"));
  Diagnostics diagnostics;
  const Document document = load_text(text, "gpu.yaml", {}, diagnostics);
  const auto config = read<RooflineGpuConfig>(document, "device", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return make_device(config);
}

KernelWork work(KernelFamily family, const LinearShape& shape) {
  return {.family = family,
          .flops = Flops::from_base(1000),
          .memory_bytes = Bytes::from_base(1000),
          .memory_peak = Bandwidth::from_base(4'000'000'000'000),
          .linear = shape};
}

constexpr LinearShape kStep{.sequences = 64,
                            .key_heads = 16,
                            .value_heads = 32,
                            .key_dim = 128,
                            .value_dim = 128,
                            .taps = 4};

double seconds(const KernelTime& time) {
  return to_seconds(time.launch + time.body);
}

TEST(TimedLinear, TakesTheKernelOfItsPhase) {
  const auto unit = gpu();
  const KernelTime step = unit->time(work(KernelFamily::linear_attention, kStep));
  EXPECT_NEAR(seconds(step), update_seconds({.sequences = 64}), 1e-9);
  EXPECT_FALSE(step.beyond_timed);
  EXPECT_LT(step.spread.low, 1);
  LinearShape prompt = kStep;
  prompt.decode = false;
  prompt.tokens = 1000;
  const KernelTime scan = unit->time(work(KernelFamily::linear_attention, prompt));
  EXPECT_NEAR(seconds(scan), scan_seconds({.sequences = 64, .tokens = 1000}), 1e-9);
  EXPECT_FALSE(scan.beyond_timed);
}

TEST(TimedLinear, ConvolvesQueriesKeysAndValues) {
  const auto unit = gpu();
  const KernelTime conv = unit->time(work(KernelFamily::causal_conv, kStep));
  EXPECT_NEAR(seconds(conv), conv_seconds({.sequences = 64, .channels = 8192}), 1e-9);
  EXPECT_FALSE(conv.beyond_timed);
}

TEST(TimedLinear, SaysWhereNothingLikeItWasTimed) {
  const auto unit = gpu();
  LinearShape kda = kStep;
  kda.decay_by_element = true;
  EXPECT_TRUE(unit->time(work(KernelFamily::linear_attention, kda)).beyond_timed);
  LinearShape half = kStep;
  half.state_bits = 16;
  EXPECT_TRUE(unit->time(work(KernelFamily::linear_attention, half)).beyond_timed);
}

// Nobody timed the rule of Mamba-2, which follows the data sheet; its convolution is the same.
TEST(TimedLinear, LeavesTheUpdateOfMamba2ToTheDataSheet) {
  const auto unit = gpu();
  LinearShape mamba = kStep;
  mamba.corrects = false;
  EXPECT_EQ(unit->time(work(KernelFamily::linear_attention, mamba)).timed_kernel, "");
  EXPECT_NE(unit->time(work(KernelFamily::causal_conv, mamba)).timed_kernel, "");
}

}  // namespace
}  // namespace tiersim::linear_forms_test
