// Factors of a speed-up: against the engine, against every order of exchanging ingredients, and
// against ratios that follow from widths, bytes and FLOPs by hand.
#include "sim/study/step_pair.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/validation/speedup_pairs.hpp"

namespace tiersim::speedup_test {
namespace {

using testing::kIngredients;
using testing::kMla;
using testing::kTpla;
using testing::kUnpadded;
using testing::on;
using testing::pair;
using testing::Settings;
using testing::tiles_of;
using testing::Way;

double factor(const Speedup& s, Ingredient i) {
  return s.factors[static_cast<std::size_t>(i)];
}

double product(const Speedup& s) {
  return std::accumulate(s.factors.begin(), s.factors.end(), 1.0, std::multiplies<>());
}

void expect_only(const Speedup& s, Ingredient one) {
  for (std::size_t i = 0; i < kIngredients; ++i)
    if (i != static_cast<std::size_t>(one)) {
      EXPECT_EQ(s.factors[i], 1) << kIngredientNames[i];
    }
  EXPECT_NEAR(factor(s, one), s.ratio, 1e-12);
}

// Tokens/s of all GPUs.
double engine_rate(const Way& way, std::int64_t batch, const AttentionKernelConfig& kernel) {
  ScenarioConfig config = way.config();
  config.step.batch = batch;
  config.attention_kernel = kernel;
  const auto result = simulate(config, Evaluation::times);
  if (!result) throw std::runtime_error(result.error());
  return result->record.metrics.at("throughput_tokens_per_s").value;
}

// The engine has each operation in whole picoseconds: 1000 of them in a step of 1 ms or more are
// 1e-6 of it. Logarithms and exponentials are good to 4e-16 each, over 64 sets.
void expect_as_the_engine(const Way& base, const Way& other, const AttentionKernelConfig& kernel,
                          std::int64_t base_batch, std::int64_t other_batch) {
  const Speedup s = pair(base, other, base_batch, other_batch).speedup(kernel, Duration{});
  const double of_base = engine_rate(base, base_batch, kernel);
  const double of_other = engine_rate(other, other_batch, kernel);
  const std::string where = base.name + " " + other.name + " " + base.set.front();
  EXPECT_NEAR(s.base.tokens_per_s / of_base, 1, 1e-6) << where;
  EXPECT_NEAR(s.other.tokens_per_s / of_other, 1, 1e-6) << where;
  EXPECT_NEAR(s.ratio / (of_other / of_base), 1, 1e-6) << where;
  EXPECT_NEAR(product(s) / s.ratio, 1, 1e-12) << where;
}

TEST(StepPair, RatioIsTheEnginesOnEveryMachineAndRegion) {
  for (const char* machine : {"h100_nvlink", "h100_nvlink_660", "h200_nvlink", "h20_nvlink",
                              "a100_nvlink", "b200_nvlink"})
    for (const std::string_view region : kRegionNames)
      expect_as_the_engine(kMla.with(on(machine, std::string(region))),
                           kTpla.with(on(machine, std::string(region))), tiles_of(128), 8, 12);
}

TEST(StepPair, RatioIsTheEnginesForEveryWayToShare) {
  const Settings machine = on("h100_nvlink_660", "step");
  const Settings four{"system.gpus.count=4", "parallel.tensor=4"};
  // As FlashAttention-3: wide values in tiles of 64 rows.
  const AttentionKernelConfig by_width{
      .tiles = {{.value_width = 256, .rows = 128}, {.value_width = 512, .rows = 64}}};
  for (const auto& kernel : {kUnpadded, tiles_of(64), tiles_of(128), by_width}) {
    const Way mla = kMla.with(machine);
    expect_as_the_engine(mla, kTpla.with(machine).with({"parallel.output_projection=split"}),
                         kernel, 8, 12);
    expect_as_the_engine(mla, Way{"deepseek_v3_gla2"}.with(machine), kernel, 8, 9);
    // Seven sequences on two GPUs: one has four.
    expect_as_the_engine(mla, Way{"deepseek_v3_mla_dp"}.with(machine), kernel, 8, 7);
    expect_as_the_engine(mla.with(four), Way{"deepseek_v3_tpla_tp4"}.with(machine).with(four),
                         kernel, 8, 12);
  }
}

TEST(StepPair, RatioIsTheEnginesInPrefill) {
  for (const char* latent : {"explicit_heads", "absorbed"})
    for (const auto& kernel : {kUnpadded, tiles_of(128)}) {
      Settings set = on("h100_nvlink", "step");
      set.insert(set.end(),
                 {"step.kind=prefill", "step.context=2048", std::string("step.latent=") + latent});
      expect_as_the_engine(kMla.with(set), kTpla.with(set), kernel, 1, 1);
    }
}

TEST(StepPair, AWayAgainstItselfHasOnlyOnes) {
  const Way way = kTpla.with(on("h20_nvlink", "layers"));
  const Speedup s = pair(way, way, 9, 9).speedup(tiles_of(64), Duration(1'000'000'000));
  EXPECT_EQ(s.ratio, 1);
  for (const double one : s.factors) EXPECT_EQ(one, 1);
}

// Tiles and host come from speedup(), not from the scenarios.
TEST(StepPair, TilesAndHostOfTheScenariosDoNotCount) {
  const Settings set = on("h20_nvlink", "step");
  const Speedup plain = pair(kMla.with(set), kTpla.with(set), 8, 8).speedup(kUnpadded, Duration{});
  const Settings more{"attention_kernel.base=kernels/tiles_128.yaml",
                      "system.host={step: {value: 9 ms, class: assumed, source: none}}"};
  const Speedup same = pair(kMla.with(set).with(more), kTpla.with(set).with(more), 8, 8)
                           .speedup(kUnpadded, Duration{});
  EXPECT_EQ(same.base.tokens_per_s, plain.base.tokens_per_s);
  EXPECT_EQ(same.factors, plain.factors);
}

TEST(StepPair, ExchangedWaysHaveTheInverseFactors) {
  const Settings set = on("h100_nvlink_660", "attention_block");
  const Way split = kTpla.with(set).with({"parallel.output_projection=split"});
  const Speedup there =
      pair(kMla.with(set), split, 8, 12).speedup(tiles_of(128), Duration(1'000'000'000));
  const Speedup back =
      pair(split, kMla.with(set), 12, 8).speedup(tiles_of(128), Duration(1'000'000'000));
  EXPECT_NEAR(there.ratio * back.ratio, 1, 1e-12);
  for (std::size_t i = 0; i < kIngredients; ++i)
    EXPECT_NEAR(there.factors[i] * back.factors[i], 1, 1e-12) << kIngredientNames[i];
  EXPECT_EQ(there.base.batch, 8);
  EXPECT_EQ(there.other.batch, 12);
}

// With a change of one ingredient only, its factor is the whole ratio.
TEST(StepPair, OneIngredientAloneIsTheRatio) {
  const Way block = kMla.with(on("h100_nvlink", "attention_block"));
  const auto compare = [&](const Way& other, std::int64_t batch) {
    return pair(block, other, 16, batch).speedup(kUnpadded, Duration{});
  };
  const Speedup batch = compare(block, 24);
  expect_only(batch, Ingredient::batch);
  EXPECT_GT(batch.ratio, 1);
  const Speedup weights = compare(block.with({"step.weight_type=fp8"}), 16);
  expect_only(weights, Ingredient::weights);
  EXPECT_GT(weights.ratio, 1);
  const Speedup slow = compare(block.with({"system.fabrics.tensor.collective.one_shot=1 ms",
                                           "system.fabrics.tensor.collective.two_shot=1 ms"}),
                               16);
  expect_only(slow, Ingredient::collectives);
  EXPECT_LT(slow.ratio, 0.5);
}

// A sequence and layer of MLA: 32768 rows of 1152 B and 64 heads' queries of 576 and outputs of
// 512 elements; a slice: rows of 640 B, 128 heads, 320 and 256. The same launches, no arithmetic
// limit: less the starts of two kernels in each, times are as bytes (reads at .92 of the peak; the
// few writes are slower by less than 1e-3 of all).
TEST(StepPair, BytesAloneAreTheRatioWhereMemoryIsTheLimit) {
  const Settings set = on("h100_nvlink", "attention");
  const Speedup s = pair(kMla.with(set), kTpla.with(set), 24, 24).speedup(kUnpadded, Duration{});
  expect_only(s, Ingredient::bytes);
  const double mla = 32768 * 1152 + 64 * 2 * (576 + 512);
  const double tpla = 32768 * 640 + 128 * 2 * (320 + 256);
  constexpr double kRate = 0.92 * 3352e9;
  constexpr double kStarts = 2 * (2e-6 + 365e-9);
  const double by_hand = (24 * mla / kRate + kStarts) / (24 * tpla / kRate + kStarts);
  EXPECT_NEAR(s.ratio / by_hand, 1, 2e-3);
  EXPECT_EQ(s.base.limit, StepLimit::hbm);
  EXPECT_EQ(s.other.limit, StepLimit::hbm);
}

// 64 and 32 heads in tiles of 128 rows execute the same, the second with three times its FLOPs as
// padding. An H20 has 32 useful FLOPs for each byte of HBM and the cache asks for 60 or more, so
// that times are as FLOPs; beside them are the starts of two kernels, and 1e-3 for the new row.
TEST(StepPair, FlopsAndPaddingMayCancel) {
  const Settings set = on("h20_nvlink", "attention");
  Settings four = set;
  four.insert(four.end(), {"system.gpus.count=4", "parallel.tensor=4"});
  const StepPair heads = pair(kMla.with(set), kMla.with(four), 8, 8);
  constexpr double kStarts = 2 * (2e-6 + 365e-9);
  // Heads of 8 sequences in one layer.
  const auto time = [](double rows) {
    return kStarts + 8.0 * 32768 * rows * 2 * (576 + 512) / (0.8 * 148e12);
  };
  const Speedup padded = heads.speedup(tiles_of(128), Duration{});
  EXPECT_NEAR(padded.ratio, 1, 2e-3);
  // FLOPs exchanged first: 128 rows become 64; after the padding: 256 become 128.
  const double by_hand = std::sqrt(time(128) / time(64) * time(256) / time(128));
  EXPECT_NEAR(factor(padded, Ingredient::flops), by_hand, 2e-3 * by_hand);
  EXPECT_NEAR(factor(padded, Ingredient::padding), 1 / by_hand, 2e-3);
  const Speedup none = heads.speedup(kUnpadded, Duration{});
  EXPECT_EQ(factor(none, Ingredient::padding), 1);
  EXPECT_NEAR(factor(none, Ingredient::flops), time(64) / time(32), 2e-3 * 2);
}

// The parts of a step, from the graph that the engine runs.
struct Parts {
  Op attention;
  double attentions = 0;
  double useful = 0;
  double padded = 0;  // padding over useful
  double stores = 0;
  double weights = 0;
  double collectives = 0;
  double tokens = 0;
};

Parts parts_of(const Way& way, std::int64_t batch, const AttentionKernelConfig& kernel) {
  ScenarioConfig config = way.config();
  config.step.batch = batch;
  config.attention_kernel = kernel;
  const System system = build_system(config);
  const StepGraph graph = build_graph(config, system);
  Parts out;
  out.tokens = static_cast<double>(graph.tokens);
  for (const Op& op : graph.ops) {
    const double seconds = to_seconds(system.plan(op).uncontended(system.channels()));
    if (op.phase == Phase::attention) {
      out.attention = op;
      out.attentions += 1;
      const auto padding = static_cast<double>(op.padding.in_base());
      out.useful = static_cast<double>(op.flops.in_base()) - padding;
      out.padded = padding / out.useful;
    } else if (op.kind == OpKind::collective) {
      out.collectives += seconds;
    } else {
      (op.phase == Phase::write_back ? out.stores : out.weights) += seconds;
    }
  }
  return out;
}

// Each factor is the mean, over all 720 orders, of the effect of its exchange.
TEST(StepPair, FactorsAreMeansOverAllOrders) {
  const Settings set = on("h100_nvlink_660", "attention_block");
  const Way base = kMla.with(set);
  const Way other = kTpla.with(set).with({"parallel.output_projection=split"});
  const AttentionKernelConfig kernel = tiles_of(128);
  const Duration host(1'000'000'000);
  const std::array<std::array<Parts, 2>, 2> parts{
      {{parts_of(base, 8, kernel), parts_of(base, 12, kernel)},
       {parts_of(other, 8, kernel), parts_of(other, 12, kernel)}}};
  const System system = build_system(base.config());
  const auto log_rate = [&](const std::array<std::size_t, kIngredients>& of) {
    const auto from = [&](Ingredient i) -> const Parts& {
      return parts[of[static_cast<std::size_t>(i)]]
                  [of[static_cast<std::size_t>(Ingredient::batch)]];
    };
    Op op = from(Ingredient::bytes).attention;
    op.flops = Flops::from_base(
        std::llround(from(Ingredient::flops).useful * (1 + from(Ingredient::padding).padded)));
    const double attention = to_seconds(system.plan(op).uncontended(system.channels()));
    const double time = attention * from(Ingredient::bytes).attentions +
                        from(Ingredient::bytes).stores + from(Ingredient::weights).weights +
                        from(Ingredient::collectives).collectives + to_seconds(host);
    return std::log(from(Ingredient::bytes).tokens / time);
  };
  std::array<double, kIngredients> sums{};
  std::array<std::size_t, kIngredients> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  int orders = 0;
  do {
    std::array<std::size_t, kIngredients> of{};
    double before = log_rate(of);
    for (const std::size_t i : order) {
      of[i] = 1;
      const double after = log_rate(of);
      sums[i] += after - before;
      before = after;
    }
    ++orders;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(orders, 720);
  const Speedup s = pair(base, other, 8, 12).speedup(kernel, host);
  for (std::size_t i = 0; i < kIngredients; ++i) {
    EXPECT_NEAR(s.factors[i], std::exp(sums[i] / orders), 1e-9) << kIngredientNames[i];
    EXPECT_GT(std::abs(s.factors[i] - 1), 1e-3) << kIngredientNames[i];  // all of them matter here
  }
}

}  // namespace
}  // namespace tiersim::speedup_test
