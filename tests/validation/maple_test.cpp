// MAPLE's Table 1 from the shipped scenarios, by the figures themselves instead of the targets
// file, so that a mistake in either shows.
#include <gtest/gtest.h>

#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::maple_test {
namespace {

constexpr double kGiB = 1073741824.0;

struct Cell {
  double footprint;
  double load;
};

Cell simulated(const std::string& scenario, const std::vector<std::string>& set = {}) {
  const auto result = simulate(testing::scenario("scenarios/maple/" + scenario + ".yaml", set),
                               Evaluation::accounting);
  const auto& metrics = result->record.metrics;
  return {metrics.at("kv_footprint_bytes").value / kGiB, metrics.at("far_load_bytes").value / kGiB};
}

void expect_cell(const std::string& scenario, const std::vector<std::string>& set, Cell expected) {
  const Cell cell = simulated(scenario, set);
  EXPECT_EQ(cell.footprint, expected.footprint) << scenario;
  EXPECT_EQ(cell.load, expected.load) << scenario;
}

// 2 * 32 layers * 32 heads * 128 * 2 B * 2^20 tokens = 512 GiB; MAPLE adds 1/16 and loads 1/4;
// SparQ adds a key copy, loads 1/4 and 2 of 128 columns of the keys.
TEST(MapleTable1, Llama2_7B) {
  expect_cell("llama2_7b_dense_pool", {}, {512, 512});
  expect_cell("llama2_7b_sparq_r2", {}, {768, 132});
  expect_cell("llama2_7b_maple", {}, {544, 128});
}

TEST(MapleTable1, Llama2_13BAsPrintedNeedsHeadDim160) {
  const std::vector<std::string> printed{"model.head_dim=160"};
  expect_cell("llama2_13b_dense_pool", printed, {1000, 1000});
  expect_cell("llama2_13b_sparq_r2", printed, {1500, 256.25});
  expect_cell("llama2_13b_maple", printed, {1062.5, 250});
}

TEST(MapleTable1, Llama2_13BByPublishedDimensions) {
  expect_cell("llama2_13b_dense_pool", {}, {800, 800});
  expect_cell("llama2_13b_sparq_r2", {}, {1200, 206.25});
  expect_cell("llama2_13b_maple", {}, {850, 200});
}

TEST(MapleTable1, SparqAtItsOwnRankLoads192GiB) {
  expect_cell("llama2_7b_sparq_r32", {}, {768, 192});
}

TEST(MapleIntroduction, Llama405BTakes504GiBAsPublished) {
  const std::vector<std::string> gqa{"model.base=models/llama31_405b.yaml"};
  EXPECT_EQ(simulated("llama2_7b_dense_pool", gqa).footprint, 504);
}

TEST(MapleFigure3, ScreeningNeverCrossesToTheFarTier) {
  const auto sim =
      simulate(testing::scenario("scenarios/maple/llama2_7b_maple.yaml"), Evaluation::all);
  for (const Op& op : sim->graph.ops) {
    if (op.phase != Phase::screening) continue;
    for (const Access& access : op.accesses) EXPECT_EQ(access.tier, sim->system->tier("hbm"));
  }
}

TEST(MapleFigure1, TheKvShareGrowsWithTheContext) {
  double last = 0;
  for (const int context : {1024, 2048, 4096, 8192, 16384}) {
    const auto sim =
        simulate(testing::scenario("scenarios/maple/llama2_7b_dense_pool.yaml",
                                   {"step.batch=8", "step.context=" + std::to_string(context)}),
                 Evaluation::all);
    double gather = 0;
    for (const TimeShare& phase : sim->record.phases)
      if (phase.name == "gather") gather = phase.seconds;
    const double share = gather / sim->record.metrics.at("step_time_s").value;
    EXPECT_GT(share, last) << context;
    last = share;
  }
}

}  // namespace
}  // namespace tiersim::maple_test
