// Bytes of each method on a small model with grouped queries, worked out by hand.
#include <gtest/gtest.h>

#include "sim/step/importers.hpp"
#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::methods_test {
namespace {

// 2 layers, 4 query heads over 2 KV heads of 128 elements (rows of 256 B), 3 sequences of 64
// positions.
constexpr std::int64_t kLayers = 2;
constexpr std::int64_t kSequences = 6;
constexpr std::int64_t kContext = 64;
constexpr std::int64_t kRow = 256;
constexpr std::int64_t kKeys = kLayers * kSequences * kContext * kRow;

RunRecord record(const std::string& method, std::vector<std::string> set = {}) {
  const std::vector<std::string> small{
      "model.layers=2",     "model.hidden=512",       "model.heads=4", "model.kv_heads=2",
      "model.head_dim=128", "model.intermediate=256", "step.batch=3",  "step.context=64"};
  set.insert(set.end(), small.begin(), small.end());
  const auto result = simulate(
      testing::scenario("scenarios/maple/llama2_7b_" + method + ".yaml", set), Evaluation::all);
  EXPECT_TRUE(result);
  return result->record;
}

std::int64_t read(const RunRecord& r, const char* device, const char* tensor_class) {
  const BytesByClass& bytes = r.traffic_by_class.at(device).read;
  const auto it = bytes.find(tensor_class);
  return it == bytes.end() ? 0 : it->second;
}

TEST(Dense, LoadsEveryRow) {
  const RunRecord r = record("dense_pool");
  EXPECT_EQ(read(r, "pool", "keys"), kKeys);
  EXPECT_EQ(read(r, "pool", "values"), kKeys);
  EXPECT_EQ(r.footprint_bytes.at("pool"), 2 * kKeys);
}

TEST(Sparq, LoadsTwoColumnsOf128AndAQuarterOfTheRows) {
  const RunRecord r = record("sparq_r2");
  EXPECT_EQ(read(r, "pool", "key_copy"), kKeys * 2 / 128);
  EXPECT_EQ(read(r, "pool", "keys"), kKeys / 4);
  EXPECT_EQ(read(r, "pool", "values"), kKeys / 4);
  EXPECT_EQ(r.footprint_bytes.at("pool"), 3 * kKeys);
  EXPECT_EQ(r.traffic_by_class.at("pool").write.at("key_copy"), kKeys / kContext);
}

// One copy loads a 32 B sector for each column: 2 of 8 sectors of a row; all of them from 4 columns
// on.
TEST(Sparq, OneCopyLoadsSectorsAndNeverMoreThanTheKeys) {
  const RunRecord two = record("sparq_r2", {"method.key_copies=1"});
  EXPECT_EQ(read(two, "pool", "keys"), kKeys * 2 / 8 + kKeys / 4);
  const RunRecord most = record("sparq_r32", {"method.key_copies=1"});
  EXPECT_EQ(read(most, "pool", "keys"), kKeys + kKeys / 4);
  EXPECT_EQ(most.footprint_bytes.at("pool"), 2 * kKeys);
  EXPECT_EQ(most.moved_bytes.at("pool").read, kKeys + 2 * kKeys / 4);
}

TEST(RowCache, ALookupTakesItsTimeInEveryLayer) {
  const std::string cache = "method.fetch.hot_rows={share: 0.3125, hit_rate: 0.5}";
  const double without = record("maple", {cache}).metrics.at("step_time_s").value;
  const double with =
      record("maple", {cache, "method.fetch.lookup=31 us"}).metrics.at("step_time_s").value;
  EXPECT_NEAR(with - without, kLayers * 31e-6, 1e-9);
}

TEST(Maple, ScreensFromTheNearTierAndLoadsAQuarterOfTheRows) {
  const RunRecord r = record("maple");
  EXPECT_EQ(read(r, "hbm", "lowrank_keys"), kKeys / 8);  // a quarter of the width, a byte each
  EXPECT_EQ(read(r, "pool", "lowrank_keys"), 0);
  EXPECT_EQ(read(r, "pool", "keys") + read(r, "pool", "values"), 2 * kKeys / 4);
  EXPECT_EQ(r.footprint_bytes.at("pool"), 2 * kKeys);
  EXPECT_EQ(r.footprint_by_class.at("hbm").at("lowrank_keys"), kKeys / 8);
  EXPECT_EQ(read(r, "hbm", "indices"), kLayers * kSequences * (kContext / 4) * 2);
}

// Scattered writes of 2 B take many times their payload of a port; they must not crowd out the
// stream of the gather beside them: ports arbitrate by flit.
TEST(Sparq, TheWriteBackOfScatteredElementsHardlySlowsTheFetch) {
  const auto sim =
      simulate(testing::scenario("scenarios/maple/llama2_7b_sparq_r2.yaml"), Evaluation::all);
  for (std::size_t i = 0; i < sim->plans.size(); ++i) {
    if (sim->graph.ops[i].kind != OpKind::transfer || sim->graph.ops[i].phase == Phase::write_back)
      continue;
    const OpTiming& timing = sim->execution.timings[i];
    const double alone = to_seconds(sim->plans[i].uncontended(sim->system->channels()));
    EXPECT_LE(to_seconds(timing.end - timing.start), 1.02 * alone)
        << describe_op(sim->graph.ops[i]);
  }
}

TEST(Scenario, TheLargestBatchIsOneThatDecodeAccepts) {
  const ScenarioConfig config =
      testing::scenario("scenarios/maple/llama2_7b_maple.yaml",
                        {"step.context=1", "system.tiers.hbm.memory.capacity=9000 TB",
                         "system.tiers.pool.memory.capacity=9000 TB"});
  EXPECT_EQ(largest_batch(config, System(config.system)), 1'000'000);
}

std::string mistakes(const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / "scenarios/maple/llama2_7b_maple.yaml",
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  static_cast<void>(read<ScenarioConfig>(document, "scenario", diagnostics));
  return diagnostics.text();
}

TEST(Scenario, DevicesHaveNamesOfTheirOwnAndPathsCrossALinkOnce) {
  EXPECT_NE(
      mistakes({"system.links.hbm.base=devices/root_complex.yaml"}).find("name of another device"),
      std::string::npos);
  EXPECT_NE(
      mistakes({"system.links.sm.base=devices/root_complex.yaml"}).find("name of another device"),
      std::string::npos);
  EXPECT_NE(mistakes({"system.tiers.pool.path=[pcie, pcie]"}).find("has link 'pcie' twice"),
            std::string::npos);
  EXPECT_NE(mistakes({"system.tiers.pool.path=[pcei]"}).find("no link is named 'pcei'"),
            std::string::npos);
}

TEST(Simulate, WhatCannotBeCountedIsAnErrorAndNoAbort) {
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{"step.batch=1000000", "step.context=100000000"},
        {"system.tiers.pool.memory.peak=1 KB/s"},
        {"system.links.cxl_switch.latency=1 s", "system.links.cxl_switch.crossings=16",
         "system.sm.in_flight=1 B"}}) {
    const auto result =
        simulate(testing::scenario("scenarios/maple/llama2_7b_maple.yaml", set), Evaluation::all);
    ASSERT_FALSE(result) << set.front();
    EXPECT_NE(result.error().find("beyond what can be counted"), std::string::npos)
        << result.error();
  }
}

// The copies of the two halves run in turn, so one half computes while the other's rows come: the
// step is the copies, or close to it, where serial it is copies and kernels.
TEST(Overlap, MicroBatchesHideKernelsBehindCopies) {
  const auto step = [](const std::vector<std::string>& set) {
    const auto sim =
        simulate(testing::scenario("scenarios/methods/llama3_8b_maple.yaml", set), Evaluation::all);
    return std::pair{to_seconds(sim->execution.time), to_seconds(sim->bound.time)};
  };
  for (const char* bandwidth : {"what_if.far_bandwidth=1", "what_if.far_bandwidth=4"}) {
    const auto [serial, serial_bound] = step({bandwidth});
    const auto [halves, halves_bound] = step({bandwidth, "step.overlap=micro_batches"});
    EXPECT_LT(halves, serial);
    EXPECT_LT(halves - halves_bound, 0.1 * (serial - halves_bound)) << bandwidth;
  }
}

// Tensors in the GPU's own memory are near, also where the far tier is the same.
TEST(Placement, NothingIsFarWhereBothTiersAreTheSame) {
  const auto sim = simulate(testing::scenario("scenarios/methods/llama3_8b_maple.yaml",
                                              {"placement.far=hbm", "step.batch=1"}),
                            Evaluation::all);
  EXPECT_EQ(sim->record.metrics.at("screening_far_bytes").value, 0);
  EXPECT_EQ(sim->record.metrics.at("far_load_bytes").value, 0);
  EXPECT_GT(sim->record.metrics.at("screening_near_bytes").value, 0);
}

// 4 sinks and 2044 rows are kept of every sequence, however long.
TEST(Capacity, CountsThePositionsThatAreKept) {
  const auto sim = simulate(testing::scenario("scenarios/methods/llama3_8b_streaming_llm.yaml"),
                            Evaluation::all);
  const auto& metrics = sim->record.metrics;
  EXPECT_EQ(metrics.at("kv_capacity_tokens").value, 2048 * metrics.at("max_batch").value);
}

}  // namespace
}  // namespace tiersim::methods_test
