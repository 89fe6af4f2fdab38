#include "reports/footprint/footprint_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reports/footprint/gpu_memory.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::footprint_report_test {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Two GPUs with a slice each; a pool of 64 GiB that both fill.
RunRecord record() {
  RunRecord r;
  r.name = "demo";
  r.run_id = "0123456789abcdef";
  r.config = "{}";
  r.batch = 4;
  r.context = 2048;
  r.gpus = 2;
  r.device = {.gpus_per_replica = 2,
              .tensor = 2,
              .latent_slices = 2,
              .attention = "tensor",
              .tier = "hbm",
              .layers = 3,
              .sequences = 4,
              .query_heads = 8,
              .kv_elements_per_token_layer = 320,
              .weights = {{"q_a", kGiB / 2, kGiB / 2, kGiB},
                          {"kv_a", 5 * kGiB, 9 * kGiB, 10 * kGiB},
                          {"other", 1, 3000, 2}}};
  r.footprint_by_class = {
      {"copies", {}},
      {"hbm",
       {{"weights", 11 * kGiB + 2}, {"keys", 2 * kGiB}, {"lowrank_keys", kGiB}, {"staging", 7}}},
      {"pool", {{"keys", 32 * kGiB}, {"indices", 16}}}};
  r.capacity_bytes = {{"copies", 1}, {"hbm", 16 * kGiB}, {"pool", 64 * kGiB}};
  r.sharers = {{"copies", 1}, {"hbm", 1}, {"pool", 2}};
  return r;
}

FootprintReport report_of(RunRecord r) {
  return {.contexts = {1000, 131'072},
          .cases = {{.scenario = "a/demo.yaml",
                     .record = std::make_shared<const RunRecord>(std::move(r)),
                     .largest = {{.batch = 7}, {.batch = {}, .problem = "too long"}}}}};
}

TEST(GpuMemory, IsOfOneGpuAndItsOwnMemoryFirst) {
  const auto tiers = gpu_memory(record());
  ASSERT_EQ(tiers.size(), 2U);  // nothing lies in `copies`
  EXPECT_EQ(tiers[0].tier, "hbm");
  EXPECT_EQ(tiers[0].weights, 11 * kGiB + 2);
  EXPECT_EQ(tiers[0].kv_cache, 3 * kGiB);
  EXPECT_EQ(tiers[0].rest, 7);
  EXPECT_EQ(tiers[0].sum(), 14 * kGiB + 2 + 7);
  EXPECT_EQ(tiers[1].kv_cache, 16 * kGiB);
  EXPECT_EQ(tiers[1].rest, 8);
  EXPECT_EQ(tiers[1].by_class.at("indices"), 8);
}

TEST(GpuMemory, FitsUpToTheLastByteOfAllThatShareATier) {
  RunRecord r = record();
  const std::int64_t all = 32 * kGiB + 16;
  r.capacity_bytes["pool"] = all;
  EXPECT_TRUE(gpu_memory(r)[1].fits());
  r.capacity_bytes["pool"] = all - 1;
  EXPECT_FALSE(gpu_memory(r)[1].fits());
}

TEST(FootprintReport, PrintsWhatOneGpuHas) {
  const auto tables = testing::tables_for(tables_of(report_of(record())), TableForm::people);
  ASSERT_EQ(tables.size(), 4U);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      testing::shown(tables[0]),
      (std::vector<Texts>{{"demo", "2", "tensor 2, 2 latent slices", "3", "8", "320", "4", "4"}}));
  EXPECT_EQ(
      testing::shown(tables[1]),
      (std::vector<Texts>{
          {"demo", "2K", "hbm", "11 GiB", "3 GiB", "-", "-", "7 B", "14 GiB", "16 GiB", "1", "yes"},
          {"demo", "2K", "pool", "-", "16 GiB", "-", "-", "8 B", "16 GiB", "64 GiB", "2", "yes"}}));
  EXPECT_EQ(testing::shown(tables[3]), (std::vector<Texts>{{"demo", "7", "-"}}));
  EXPECT_EQ(tables[3].columns[1].title, "1000");
  EXPECT_EQ(tables[3].columns[2].title, "128K");
  EXPECT_EQ(tables[3].notes, (Texts{"demo at 128K: too long"}));
}

// A short fraction, or a percentage; empty for parts that every GPU holds in full.
TEST(FootprintReport, SaysWhichShareOfTheWeightsAGpuHas) {
  const Table weights = tables_of(report_of(record()))[2];
  EXPECT_EQ(
      testing::shown(weights),
      (std::vector<std::vector<std::string>>{{"demo", "1 GiB", "10 GiB (5/9)", "2 B (< 0.1 %)"}}));
  EXPECT_TRUE(weights.notes.empty());
  RunRecord r = record();
  r.footprint_by_class["hbm"]["weights"] += 3 * kGiB;
  EXPECT_EQ(tables_of(report_of(r))[2].notes,
            (std::vector<std::string>{"demo: and 3 GiB of its method"}));
}

TEST(FootprintReport, HasAColumnForEveryPartOfAnyScenario) {
  FootprintReport report = report_of(record());
  RunRecord other = record();
  other.device.weights = {{"q", 1, 1, 2}, {"kv_a", 1, 1, 2}, {"mlp", 1, 1, 2}, {"other", 1, 1, 2}};
  report.cases.push_back(report_of(other).cases.front());
  const Table weights = tables_of(report)[2];
  std::vector<std::string> titles;
  for (const Column& column : weights.columns) titles.push_back(column.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"scenario", "q", "q_a", "kv_a", "mlp", "other"}));
  EXPECT_EQ(testing::shown(weights)[0][1], "-");
  EXPECT_EQ(testing::shown(weights)[1][2], "-");
}

TEST(FootprintReport, HasEveryByteForPrograms) {
  const auto tables = testing::tables_for(tables_of(report_of(record())), TableForm::csv);
  EXPECT_EQ(testing::exact(tables[1])[0][3], std::to_string(11 * kGiB + 2));
  EXPECT_EQ(testing::exact(tables[2])[1],
            (std::vector<std::string>{"demo", "kv_a", std::to_string(5 * kGiB),
                                      std::to_string(9 * kGiB), std::to_string(10 * kGiB)}));
  EXPECT_EQ(testing::heads(tables[3], TableForm::csv)[2], "131072");
  const auto scenario = nlohmann::json::parse(to_json(report_of(record())))["scenarios"].at(0);
  EXPECT_EQ(scenario["file"], "a/demo.yaml");
  EXPECT_EQ(scenario["device"]["weights"][1]["model_weights"], 9 * kGiB);
  EXPECT_EQ(scenario["tiers"]["pool"]["sum_bytes"], 16 * kGiB + 8);
  EXPECT_EQ(scenario["tiers"]["pool"]["shared_by_gpus"], 2);
  EXPECT_EQ(scenario["largest_batch"][0], (nlohmann::json{{"context", 1000}, {"batch", 7}}));
  EXPECT_EQ(scenario["largest_batch"][1]["batch"], nullptr);
  EXPECT_EQ(scenario["largest_batch"][1]["problem"], "too long");
}

}  // namespace
}  // namespace tiersim::footprint_report_test
