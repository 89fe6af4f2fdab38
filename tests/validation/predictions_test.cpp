// The recorded predictions: the kernels of the set move and compute as much as the kernels' own
// formulas state at the shapes to be timed, and the committed file has the predictions of the
// models.
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "kernels/device/combine_work.hpp"
#include "kernels/device/decoder_layer_work.hpp"
#include "kernels/device/dense_decode_work.hpp"
#include "kernels/device/host_gather_work.hpp"
#include "kernels/device/latent_wgmma_work.hpp"
#include "kernels/device/maple_screen_work.hpp"
#include "kernels/device/selected_attention_work.hpp"
#include "kernels/device/sparq_work.hpp"
#include "kernels/device/topk_work.hpp"
#include "sim/step/importers.hpp"
#include "sim/step/system.hpp"
#include "sim/validate/prediction_run.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::predictions_test {
namespace {

using kernels::Work;

const std::filesystem::path kSet = testing::configs() / "predictions/h200.yaml";
const std::filesystem::path kRecord =
    std::filesystem::path(TIERSIM_SOURCE_DIR) / "reports/targets/h200_predictions.yaml";

LoadOptions options(std::vector<std::string> set = {}) {
  return {.overrides = std::move(set),
          .config_root = testing::configs(),
          .importers = make_all_importers()};
}

PredictedSet shipped_predictions(std::vector<std::string> set = {}) {
  Diagnostics diagnostics;
  PredictedSet made = answer_questions(kSet, options(std::move(set)), diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return made;
}

std::int64_t moved(const PredictedKernel& kernel, const std::string& tier, Direction direction) {
  std::int64_t sum = 0;
  for (const PredictedAccess& access : kernel.accesses)
    if (access.tier == tier && access.direction == direction) sum += access.bytes.in_base();
  return sum;
}

/// One kernel of the set against a formula.
void expect_work(const PredictionSet& set, const std::string& name, const Work& work) {
  SCOPED_TRACE(name);
  const PredictedKernel& kernel = set.kernels.at(name);
  EXPECT_EQ(moved(kernel, "hbm", Direction::read), work.read_bytes);
  EXPECT_EQ(moved(kernel, "hbm", Direction::write), work.written_bytes);
  EXPECT_EQ(moved(kernel, "pool", Direction::read), work.link_read_bytes);
  EXPECT_EQ(moved(kernel, "pool", Direction::write), work.link_written_bytes);
  EXPECT_EQ(kernel.flops.in_base(), work.issued_flops);
}

PredictionSet read_set() {
  Diagnostics diagnostics;
  const Document document = load_document(kSet, options(), diagnostics);
  auto set = read<PredictionSet>(document, "prediction_set", diagnostics);
  EXPECT_EQ(diagnostics.text(), "");
  return set;
}

TEST(PredictionsOnRecord, LatentKernelsAreThoseThatAreTimed) {
  const PredictionSet set = read_set();
  const std::vector<std::int64_t> lengths(64, 32768);
  struct Shape {
    const char* name;
    kernels::LatentCut cut;
    std::int64_t parts;  // parts that the combine joins
  };
  // Two splits of every sequence: 128 blocks on 132 multiprocessors.
  for (const Shape& shape :
       {Shape{"mla_tp2", {64, 64, 512, 64, 2}, 2}, Shape{"tpla", {128, 128, 256, 64, 2}, 2},
        Shape{"kimi_mla_tp2", {32, 64, 512, 64, 2}, 2},
        Shape{"kimi_tpla", {64, 64, 256, 64, 2, true}, 4}}) {
    const std::int64_t rows = 64 * shape.cut.heads;
    expect_work(set, shape.name, kernels::latent_decode_wgmma_work(shape.cut, lengths));
    expect_work(
        set, std::string(shape.name) + "_combine",
        kernels::combine_splits_work(shape.cut.latent, shape.parts, rows, shape.parts * rows));
  }
}

TEST(PredictionsOnRecord, ScreeningKernelsAreThoseThatAreTimed) {
  const PredictionSet set = read_set();
  const std::vector<int> sixteen(16, 8192);
  const std::vector<int> thirty_two(32, 8192);
  expect_work(set, "maple_screen", kernels::maple_screen_work<32>(sixteen, 32, 2048, 2));
  expect_work(set, "gather_rows", kernels::host_gather_work((512 << 20) / 256, 256, 16));
  expect_work(set, "selected_attention_b16",
              kernels::selected_attention_work<128>(sixteen, 32, 2048, 1, 2));
  expect_work(set, "selected_attention_b32",
              kernels::selected_attention_work<128>(thirty_two, 32, 2048, 1, 2));
  expect_work(set, "dense_b32", kernels::dense_decode_work({32, 1, 128, 1}, thirty_two, 1));
  expect_work(set, "sparq_topk", kernels::topk_work<kernels::Float32>(thirty_two, 32, 2048, 2));
}

// The kernel asks for 32 of the 128 numbers of every row; memory moves sectors of 16 numbers. None
// of a sector's is chosen with probability C(112, 32) / C(128, 32).
TEST(PredictionsOnRecord, OneCopyOfTheKeysMovesTheSectorsThatAreTouched) {
  double untouched = 1;
  for (int i = 0; i < 16; ++i) untouched *= (96.0 - i) / (128.0 - i);
  Work work = kernels::sparq_scores_work(std::vector<int>(32, 8192), 32, 8192, 128, 32, false);
  const std::int64_t keys = std::int64_t{32} * 32 * 8192 * 256;
  work.read_bytes += std::llround(static_cast<double>(keys) * (1 - untouched)) - keys / 4;
  expect_work(read_set(), "sparq_scores_one_copy", work);
}

TEST(PredictionsOnRecord, EarlyExitKernelsAreThoseThatAreTimed) {
  const PredictionSet set = read_set();
  for (const std::int64_t batch : {1, 64}) {
    const bool one = batch == 1;
    const std::string suffix = "_b" + std::to_string(batch);
    Work layer =
        kernels::layer_projections_work({768, 2048, 12, batch, one ? 1 : 4},
                                        one ? kernels::WideParts::none : kernels::WideParts::large);
    for (std::int64_t i = 0; i < batch; ++i)
      layer = layer + kernels::step_sequence_work(12, 64, true) +
              kernels::step_sequence_work(12, 512, false);
    expect_work(set, "t5_layer" + suffix, layer + kernels::step_bias_work(12, 64));
    expect_work(set, "t5_head" + suffix,
                kernels::lm_head_work(32128, batch, 768, 128, one ? 8 : 64));
    expect_work(set, "t5_head_combine" + suffix,
                kernels::lm_head_combine_work(32128 / 128, batch, false));
    expect_work(set, "t5_fill" + suffix,
                one ? kernels::kv_fill_work(6, 768, 768, 1, 1)
                    : kernels::kv_fill_wide_work(6, 768, 768, 64, 64, 64));
  }
}

TEST(PredictionsOnRecord, AreWhatTheModelsSay) {
  const std::string made = to_yaml(shipped_predictions());
  if (std::getenv("TIERSIM_UPDATE_GOLDEN") != nullptr) std::ofstream(kRecord) << made;
  std::ifstream in(kRecord);
  std::ostringstream committed;
  committed << in.rdbuf();
  EXPECT_EQ(committed.str(), made)
      << "run: tiersim predict configs/predictions/h200.yaml -o " << kRecord;
}

// 2.4206 GB at .92 of 4.8 TB/s are 548 us; 309 GFLOP at .8 of 989 TFLOP/s are 391 us. Writes, two
// launches and the combine are on both sides and below 6 % of either.
TEST(PredictionsOnRecord, TheRatioIsThatOfBytesToArithmetic) {
  const PredictedSet made = shipped_predictions({"draws=40"});
  const double by_hand = 2420.637952 / (0.92 * 4800) / (309.237645 / (0.8 * 989));
  EXPECT_NEAR(made.answers[0].simulated, by_hand, 0.06 * by_hand);
}

TEST(Predict, AWiderNumberMakesAWiderInterval) {
  const PredictedSet narrow =
      shipped_predictions({"draws=200", "system.sm.to_gpu.ci95.0=35.1 GB/s"});
  const PredictedSet wide = shipped_predictions({"draws=200", "system.sm.to_gpu.ci95.0=30 GB/s"});
  const auto& before = narrow.answers[2];
  const auto& after = wide.answers[2];
  ASSERT_EQ(before.quantity.id, "maple.host_loads.row256");
  EXPECT_EQ(before.simulated, after.simulated);
  EXPECT_EQ(before.high - before.low < after.high - after.low, true);
  // The lower end of the input's interval; a launch and the latency of 3.6 us in 15 ms take .03 %,
  // and 200 draws hold the 2.5 % quantile between those of ranks 4.5 and 5.5: within .5 %.
  EXPECT_NEAR(after.low, 30, 0.005 * 30);
}

TEST(Predict, WithoutIntervalsOfNumbersHasNone) {
  std::vector<std::string> none{"draws=40"};
  for (const char* path : {"gpu.efficiency=0.8", "gpu.launch=2 us", "sm.to_gpu=35.2 GB/s",
                           "tiers.hbm.memory.read_efficiency=0.92", "links.pcie.latency=1170 ns"})
    none.push_back(std::string("system.") + path);
  const PredictedSet made = shipped_predictions(none);
  EXPECT_TRUE(made.uncertain.empty());
  for (const PredictedAnswer& answer : made.answers) {
    EXPECT_EQ(answer.low, answer.simulated);
    EXPECT_EQ(answer.high, answer.simulated);
  }
}

TEST(Predict, LaunchesShareTheWork) {
  const PredictionSet set = read_set();
  const System system(set.system);
  PredictedKernel one{.flops = {},
                      .accesses = {{"hbm", Direction::read, Bytes::from_base(8 << 20), {}}}};
  PredictedKernel eight = one;
  eight.launches = 8;
  // Seven launches of 2 us and seven latencies of 365 ns more; times are rounded up to 1 ps.
  EXPECT_NEAR(predicted_seconds(system, eight) - predicted_seconds(system, one), 7 * 2.365e-6,
              8e-12);
}

TEST(Predict, SaysWhetherWhatWasStatedHolds) {
  const auto status = [](const char* stated) {
    return shipped_predictions({"draws=40", std::string("quantities.2.stated=") + stated})
        .answers[2]
        .status;
  };
  EXPECT_EQ(status("{low: 30, high: 40}"), StatedStatus::consistent);
  EXPECT_EQ(status("{low: 35, high: 50}"), StatedStatus::partly);
  EXPECT_EQ(status("{low: 20, high: 30}"), StatedStatus::inconsistent);
  EXPECT_EQ(status("{low: 40, high: 50}"), StatedStatus::inconsistent);
}

TEST(Predict, NamesEveryMistakeOfASet) {
  Diagnostics diagnostics;
  answer_questions(
      kSet,
      options({"date=2026", "quantities.0.of.0.kernel=mla", "kernels.tpla.accesses.0.tier=l2"}),
      diagnostics);
  const std::string text = diagnostics.text();
  for (const char* expected : {"'2026' is no date", "no kernel is named 'mla'",
                               "no tier is named 'l2' (the tiers are: hbm, pool)"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nis not in:\n" << text;
}

TEST(Predict, NamesMistakesWithinAQuestion) {
  Diagnostics diagnostics;
  answer_questions(kSet, options({"quantities.0.stated.low=2", "quantities.2.kind=ratio"}),
                   diagnostics);
  const std::string text = diagnostics.text();
  for (const char* expected : {"quantities.0.stated.low: is above high",
                               "quantities.2.to: is missing (a rate has only `of`"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\nis not in:\n" << text;
}

}  // namespace
}  // namespace tiersim::predictions_test
