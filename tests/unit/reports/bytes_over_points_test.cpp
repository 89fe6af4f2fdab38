// Reports of bytes and bottlenecks over points, from records whose numbers can be summed mentally.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reports/bottleneck/bottleneck_report.hpp"
#include "reports/footprint/footprint_points.hpp"
#include "reports/footprint/record_bytes.hpp"
#include "reports/io/io_report.hpp"
#include "reports/io/io_rows.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::bytes_over_points_test {
namespace {

using Json = nlohmann::ordered_json;

// Four GPUs in two replicas of two; the pool is shared by all four. One GPU: 100 B of weights and
// 20 B of keys in HBM, 80 B of keys in the pool. A step of 10 sequences a replica at context 5
// gives 20 tokens in 0.1 s.
RunRecord four_gpus() {
  RunRecord out;
  out.name = "four";
  out.run_id = "f00";
  out.gpus = 4;
  out.batch = 10;
  out.context = 5;
  out.device.gpus_per_replica = 2;
  out.device.tier = "hbm";
  out.sharers = {{"hbm", 1}, {"link", 1}, {"pool", 4}};
  out.metrics["throughput_tokens_per_s"] = {200, "tokens/s", NumberClass::assumed, {}};
  out.metrics["step_time_s"] = {0.1, "s", NumberClass::assumed, {}};
  out.metrics["bound_s"] = {0.08, "s", NumberClass::assumed, {}};
  out.footprint_bytes = {{"hbm", 120}, {"pool", 320}};
  out.footprint_by_class = {{"hbm", {{"weights", 100}, {"keys", 20}}}, {"pool", {{"keys", 320}}}};
  out.capacity_bytes = {{"hbm", 240}, {"pool", 3200}};
  out.traffic_bytes = {{"hbm", {100, 20}}, {"link", {40, 0}}, {"pool", {160, 0}}};
  out.moved_bytes = {{"hbm", {150, 30}}, {"link", {40, 0}}, {"pool", {320, 0}}};
  out.traffic_by_class["hbm"] = {{{"weights", 100}}, {{"keys", 20}}};
  out.traffic_by_class["link"] = {{{"keys", 40}}, {}};
  out.traffic_by_class["pool"] = {{{"keys", 160}}, {}};
  out.channel_bytes = {{"hbm.bus", 240},
                       {"hbm.write", 30},
                       {"link.to_gpu", 50},
                       {"link.from_gpu", 10},
                       {"pool.bus", 400}};
  out.channel_utilisation = {{"hbm.bus", 0.5},
                             {"hbm.write", 0.1},
                             {"link.to_gpu", 0.75},
                             {"link.from_gpu", 0.2},
                             {"pool.bus", 0.25}};
  out.bound_shares = {{"link.to_gpu", 0.06}, {"hbm.bus", 0.015}, {"latency", 0.005}};
  out.bounded_by = "link.to_gpu";
  return out;
}

RunRecord half() {
  RunRecord out = four_gpus();
  out.footprint_by_class["hbm"]["weights"] = 50;
  out.traffic_bytes["link"] = {20, 0};
  out.traffic_by_class["link"].read["keys"] = 20;
  return out;
}

PointTable table_of(const std::vector<std::pair<std::vector<std::string>, RunRecord>>& points) {
  PointTable out;
  out.columns.resize(2);
  out.columns[0].name = "method";
  out.columns[1].name = "context";
  for (const auto& [labels, record] : points) {
    ReportPoint& point = out.points.emplace_back();
    point.position = static_cast<std::int64_t>(out.points.size()) - 1;
    point.labels = labels;
    point.record = std::make_shared<const RunRecord>(record);
  }
  return out;
}

TEST(RecordBytes, OfOneGpuAreThoseOfAnInstanceOverItsSharers) {
  const auto tiers = tier_bytes(four_gpus());
  ASSERT_EQ(tiers.size(), 2U);
  EXPECT_EQ(tiers[0].tier, "hbm");
  EXPECT_EQ(tiers[0].sum, 120);
  EXPECT_EQ(tiers[0].kv_cache, 20);
  EXPECT_EQ(tiers[0].full(), 0.5);
  EXPECT_EQ(tiers[1].sum, 80);  // 320 of four
  EXPECT_EQ(tiers[1].full(), 0.1);
  const auto devices = device_bytes(four_gpus());
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[2].payload.read, 40);
  EXPECT_EQ(devices[2].moved.read, 80);
}

TEST(RecordBytes, WireOfABusIsTheBusAndOfALinkBothDirections) {
  const auto devices = device_bytes(four_gpus());
  EXPECT_EQ(devices[0].wire, 240);  // its limit of writes is no second wire
  EXPECT_EQ(devices[1].wire, 60);
  EXPECT_EQ(devices[2].wire, 100);  // 400 of four
  EXPECT_EQ(devices[1].busiest, "to_gpu");
  EXPECT_EQ(devices[1].busy, 0.75);
}

TEST(RecordBytes, CountsAreOfAllGpus) {
  const RecordCounts counts = counts_of(four_gpus());
  EXPECT_EQ(counts.requests, 20);
  EXPECT_EQ(counts.new_tokens, 20);
  EXPECT_EQ(counts.cached_tokens, 100);
}

TEST(RecordBytes, WithoutASetupThereIsNoShareOfABatch) {
  RunRecord record = four_gpus();
  record.sharers.clear();
  EXPECT_EQ(counts_of(record).requests, 0);
  const Json link =
      Json::parse(io_json(table_of({{{"a", "1"}, record}}), {}))["points"][0]["devices"]["link"];
  EXPECT_TRUE(link["payload_per_request"].is_null());
  EXPECT_TRUE(link["payload_per_token"].is_null());
}

TEST(RecordBytes, OfAServerAreItsPoolAndWhatItHeldAtMost) {
  RunRecord record;
  record.gpus = 2;
  record.sharers = {{"hbm", 1}};
  record.serving = ServingRecord{};
  record.serving->counts.requests = 10;
  record.serving->counts.output_tokens = 50;
  record.serving->capacity.parts = {{"hbm", "installed", 1000, NumberClass::assumed},
                                    {"hbm", "left free (near_share)", 70, NumberClass::assumed},
                                    {"hbm", "weights", 600, NumberClass::assumed},
                                    {"pool", "installed", 4000, NumberClass::assumed},
                                    {"spare", "installed", 4000, NumberClass::assumed},
                                    {"hbm", "KV blocks", 300, NumberClass::assumed},
                                    {"hbm", "left over", 30, NumberClass::assumed}};
  record.serving->tiers = {{"hbm", 600, 1, 500}, {"pool", 4000, 1, 200}};
  record.traffic_bytes = {{"hbm", {400, 100}}};
  const auto tiers = tier_bytes(record);
  ASSERT_EQ(tiers.size(), 2U);  // nothing is held in the spare one
  EXPECT_EQ(tiers[0].sum, 900);
  EXPECT_EQ(tiers[0].by_class.size(), 2U);
  EXPECT_EQ(tiers[0].full(), 0.9);
  EXPECT_EQ(tiers[0].kv_cache, 300);
  EXPECT_EQ(tiers[1].sum, 100);  // of one of two GPUs
  EXPECT_EQ(tiers[1].full(), 0.025);
  const auto rows = io_rows(table_of({{{"a", "1"}, record}}), {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].per_request(), 100);  // 500 B on each of two GPUs, 10 requests
  EXPECT_EQ(rows[0].per_token(), 20);
}

TEST(TensorClasses, ComeInTheOrderOfTheirEnumeration) {
  EXPECT_EQ(in_class_order({"staging", "own", "keys", "weights", "keys", "KV blocks"}),
            (std::vector<std::string>{"weights", "keys", "staging", "KV blocks", "own"}));
}

TEST(Baseline, IsThePointWithTheSameOtherLabels) {
  const PointTable table = table_of({{{"dense", "1"}, four_gpus()},
                                     {{"dense", "2"}, half()},
                                     {{"MAPLE", "1"}, half()},
                                     {{"MAPLE", "2"}, half()},
                                     {{"MAPLE", "3"}, half()}});
  const auto baseline = baseline_of_points(table, "dense");
  ASSERT_TRUE(baseline) << baseline.error();
  EXPECT_EQ(baseline->records[0], table.points[0].record);
  EXPECT_EQ(baseline->records[2], table.points[0].record);
  EXPECT_EQ(baseline->records[3], table.points[1].record);
  EXPECT_EQ(baseline->records[4], nullptr);
  const auto named = baseline_of_points(table, "method=dense");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->records, baseline->records);
}

TEST(Baseline, OfOnePointIsOneForAll) {
  const PointTable table = table_of({{{"dense", ""}, four_gpus()}, {{"MAPLE", "2"}, half()}});
  const auto baseline = baseline_of_points(table, "dense");
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->records[1], table.points[0].record);
}

TEST(Baseline, OfAnotherSubGridIsThePointWithTheSameSettings) {
  PointTable table = table_of({{{"dense", "1", ""}, four_gpus()},
                               {{"dense", "2", ""}, half()},
                               {{"MAPLE", "2", "0.5"}, half()},
                               {{"MAPLE", "3", "0.5"}, half()}});
  table.columns[1].key = "step.context";
  table.columns.push_back(table.columns[1]);
  table.columns[2].name = "budget";
  table.columns[2].key = "method.budget";
  const auto baseline = baseline_of_points(table, "dense");
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->records[2], table.points[1].record);
  EXPECT_EQ(baseline->records[3], nullptr);
}

TEST(Baseline, SaysWhichLabelsThereAre) {
  const PointTable table = table_of({{{"dense", "1"}, four_gpus()}, {{"1", "2"}, half()}});
  const auto unknown = baseline_of_points(table, "dens");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error(), "no point is labelled 'dens' (method: dense, 1; context: 1, 2)");
  const auto twice = baseline_of_points(table, "1");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error(), "'1' is a label of method and of context; write method=1");
  EXPECT_TRUE(baseline_of_points(table, "method=1"));
}

TEST(FootprintPoints, AreOfARequestAndOfAToken) {
  const PointTable table = table_of({{{"dense", "1"}, four_gpus()}, {{"MAPLE", "1"}, half()}});
  const auto baseline = baseline_of_points(table, "dense");
  const Json json = Json::parse(to_json(FootprintReport{}, table, *baseline));
  EXPECT_EQ(json["baseline"], "dense");
  const Json& hbm = json["points"][0]["tiers"]["hbm"];
  EXPECT_EQ(hbm["bytes_per_request"], 120.0 * 4 / 20);
  EXPECT_EQ(hbm["kv_bytes_per_request"], 4);
  EXPECT_EQ(hbm["kv_bytes_per_token"], 0.8);
  EXPECT_EQ(hbm["of_baseline"], 1);
  EXPECT_EQ(json["points"][1]["tiers"]["hbm"]["of_baseline"], 70.0 / 120);
  EXPECT_EQ(json["points"][1]["labels"], (Json{{"method", "MAPLE"}, {"context", "1"}}));
}

TEST(FootprintPoints, TablesShowOnlyLabelsThatDiffer) {
  const PointTable table = table_of({{{"dense", "1"}, four_gpus()}, {{"MAPLE", "1"}, half()}});
  const auto baseline = baseline_of_points(table, "dense");
  const auto tables = testing::tables_for(footprint_tables(table, *baseline), TableForm::people);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].columns[0].title, "method");
  EXPECT_EQ(tables[0].columns[1].title, "tier");
  EXPECT_EQ(testing::shown(tables[0])[3],
            (std::vector<std::string>{"MAPLE", "hbm", "50 B (x 0.5)", "20 B (x 1)",
                                      "70 B (x 0.583)", "29.2 %"}));
  // Both tiers: 120 + 80 B before, 70 + 80 B now.
  EXPECT_EQ(testing::shown(tables[0])[5][1], "all");
  EXPECT_EQ(testing::shown(tables[0])[5][4], "150 B (x 0.75)");
  const auto exact = testing::tables_for(footprint_tables(table, {}), TableForm::csv);
  ASSERT_EQ(exact.size(), 1U);
  EXPECT_EQ(testing::exact(exact[0])[1],
            (std::vector<std::string>{"dense", "hbm", "weights", "100", "240", "20", "4"}));
}

// Two more GPUs have the MLPs, 60 B each, and get 30 B each over their link.
RunRecord apart() {
  RunRecord out = four_gpus();
  out.ffn_gpus = 2;
  out.footprint_by_class["ffn.hbm"] = {{"weights", 60}};
  out.traffic_bytes["ffn.link"] = {30, 0};
  out.sharers["ffn.hbm"] = out.sharers["ffn.link"] = 1;
  return out;
}

TEST(FootprintPoints, OfTwoKindsOfGpusHaveNoSum) {
  const PointTable table = table_of({{{"apart", "1"}, apart()}});
  const auto tables = testing::tables_for(footprint_tables(table, {}), TableForm::people);
  for (const auto& row : testing::shown(tables[0])) EXPECT_EQ(std::ranges::count(row, "all"), 0);
  const Json tiers = Json::parse(to_json(FootprintReport{}, table, {}))["points"][0]["tiers"];
  EXPECT_EQ(tiers["ffn.hbm"]["bytes_per_request"], 60.0 * 2 / 20);
  EXPECT_EQ(tiers["hbm"]["bytes_per_request"], 120.0 * 4 / 20);
}

TEST(IoPoints, CountTheGpusThatHaveADevice) {
  const Json devices =
      Json::parse(io_json(table_of({{{"apart", "1"}, apart()}}), {}))["points"][0]["devices"];
  EXPECT_EQ(devices["ffn.link"]["payload_per_request"], 30.0 * 2 / 20);
  EXPECT_EQ(devices["link"]["payload_per_request"], 40.0 * 4 / 20);
}

TEST(FootprintPoints, SayWhichPointsTheyLack) {
  PointTable table = table_of({{{"dense", "1"}, four_gpus()}, {{"MAPLE", "1"}, RunRecord{}}});
  ReportPoint& point = table.points.emplace_back();
  point.labels = {"Quest", "1"};
  point.problem = "does not fit";
  const auto tables = footprint_tables(table, {});
  ASSERT_EQ(tables[0].notes.size(), 2U);
  EXPECT_EQ(tables[0].notes[0], "not there: 1 point (1 does not fit); the first: does not fit");
  EXPECT_NE(tables[0].notes[1].find("1 point whose record says nothing of tiers"),
            std::string::npos);
}

TEST(IoPoints, KeepThreeKindsOfBytesApart) {
  const auto rows = io_rows(table_of({{{"dense", "1"}, four_gpus()}}), {});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].moved_ratio(), 1.5);  // 180 of 120
  EXPECT_EQ(rows[0].wire_ratio(), 2);     // 240 of 120
  EXPECT_EQ(rows[1].wire_ratio(), 1.5);   // 60 of 40
  EXPECT_EQ(rows[2].per_token(), 40.0 * 4 / 20);
  EXPECT_EQ(rows[2].per_request(), 8);
}

TEST(IoPoints, HopsOfOnePathAreOneRow) {
  const PointTable table = table_of({{{"dense", "1"}, four_gpus()}, {{"MAPLE", "1"}, half()}});
  const auto tables = testing::tables_for(io_tables(table, {}), TableForm::people);
  ASSERT_EQ(tables.size(), 3U);
  std::vector<std::string> devices;
  for (const auto& row : testing::shown(tables[1])) devices.push_back(row[1] + ' ' + row[2]);
  // In the other point the link carried 20 B only, so it has another row than the pool.
  EXPECT_EQ(devices,
            (std::vector<std::string>{"hbm read", "hbm written", "link, pool read", "hbm read",
                                      "hbm written", "link read", "pool read"}));
}

TEST(Bottlenecks, NameTheNextOneAndTheMostThatIsGained) {
  RunRecord other = four_gpus();  // more work of one channel than the critical path is long
  other.bounded_by = "pool.bus";
  const auto all = bottlenecks(table_of({{{"dense", "1"}, four_gpus()}, {{"MAPLE", "1"}, other}}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].bound_by, "link.to_gpu");
  EXPECT_DOUBLE_EQ(all[0].share(), 0.75);
  // The bus works 50 of 100 ms, of a bound of 80; a quarter of the chain would be left.
  ASSERT_TRUE(all[0].next);
  EXPECT_EQ(all[0].next->cause, "hbm.bus");
  EXPECT_DOUBLE_EQ(all[0].next->share, 0.625);
  EXPECT_DOUBLE_EQ(*all[0].most_gain, 1.6);
  EXPECT_EQ(all[1].bound_by, "pool.bus");
  EXPECT_EQ(all[1].share(), 0);
  EXPECT_DOUBLE_EQ(*all[1].most_gain, 1);       // the chain is as long
  EXPECT_EQ(causes_of(all)[0], "link.to_gpu");  // one point each; the larger mean share
}

TEST(Bottlenecks, OfAServerAreWhatWorksMostOfTheTime) {
  RunRecord record;
  record.serving = ServingRecord{};
  record.channel_utilisation = {{"hbm.bus", 0.9}, {"pcie.to_gpu", 0.1}};
  record.metrics["gpu_busy_share"] = {0.95, "1", NumberClass::assumed, {}};
  record.metrics["host_wait_share"] = {0.05, "1", NumberClass::assumed, {}};
  const auto all = bottlenecks(table_of({{{"dense", "1"}, record}}));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].bound_by, "gpu");
  ASSERT_TRUE(all[0].next);
  EXPECT_EQ(all[0].next->cause, "hbm.bus");
  EXPECT_FALSE(all[0].most_gain);
}

TEST(BottleneckReport, CountsThePointsOfEachCause) {
  RunRecord other = four_gpus();
  other.bound_shares = {{"hbm.bus", 1}};
  other.bounded_by = "hbm.bus";
  const PointTable table = table_of({{{"a", "1"}, four_gpus()},
                                     {{"a", "2"}, other},
                                     {{"a", "3"}, four_gpus()},
                                     {{"a", "4"}, RunRecord{}}});
  const Json json = Json::parse(bottleneck_json(table));
  EXPECT_EQ(json["causes"][0]["cause"], "link.to_gpu");
  EXPECT_EQ(json["causes"][0]["points"], 2);
  EXPECT_DOUBLE_EQ(json["causes"][0]["mean_share"].get<double>(), 0.5);
  EXPECT_FALSE(json["points"][3].contains("bound_by"));
  const auto tables = bottleneck_tables(table);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(testing::shown(tables[1])[0],
            (std::vector<std::string>{"1", "100 ms", "80 ms", "link.to_gpu", "75.0 %", "hbm.bus",
                                      "62.5 %", "x 1.6"}));
}

TEST(BottleneckFigure, HasABarForEachPointOfFewAndACellForEachOfMany) {
  std::vector<std::pair<std::vector<std::string>, RunRecord>> points;
  for (int i = 0; i < 40; ++i)
    points.push_back({{i < 20 ? "a" : "b", std::to_string(i % 20)}, four_gpus()});
  const auto rectangles = [](const std::string& svg) {
    std::size_t count = 0;
    for (std::size_t at = svg.find("<rect"); at != std::string::npos;
         at = svg.find("<rect", at + 1))
      ++count;
    return count;
  };
  // Three causes: three samples in the legend, three segments a bar; the page is a rectangle.
  EXPECT_EQ(rectangles(bottleneck_svg(table_of(points))), 1U + 3U + 40U * 3U);
  points.push_back({{"c", "0"}, four_gpus()});
  EXPECT_EQ(rectangles(bottleneck_svg(table_of(points))), 1U + 3U + 41U);
}

}  // namespace
}  // namespace tiersim::bytes_over_points_test
