#include "reports/compare/record_difference.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reports/compare/difference_text.hpp"
#include "tests/unit/reports/table_texts.hpp"

namespace tiersim::record_difference_test {
namespace {

using Json = nlohmann::ordered_json;

RunRecord base() {
  RunRecord out;
  out.name = "base";
  out.run_id = "0123456789abcdef";
  out.config = R"({"name":"base","step":{"batch":4},"list":[1,2],"gpu":{"peak":{"value":"1 TB/s",)"
               R"("class":"specification","source":"sheet"}}})";
  out.metrics["step_time_s"] = {2, "s", NumberClass::assumed, Interval<double>{1, 3}};
  out.metrics["step_flops"] = {100, "FLOP", NumberClass::specification, {}};
  out.metrics["screening_flops"] = {0, "FLOP", NumberClass::specification, {}};
  out.footprint_by_class = {{"hbm", {{"weights", 10}}}};
  out.traffic_bytes = {{"hbm", {10, 1}}};
  out.time_split = {{"kv", 1.5}, {"weights", 0.5}};
  out.channel_utilisation = {{"hbm.bus", 0.5}};
  out.bounded_by = "hbm.bus";
  return out;
}

RunRecord changed() {
  RunRecord out = base();
  out.config = R"({"name":"base","step":{"batch":8},"list":[1,3],"gpu":{"peak":{"value":"1 TB/s",)"
               R"("class":"measured","source":"bench"}},"more":true})";
  out.metrics["step_time_s"] = {4, "s", NumberClass::fitted, Interval<double>{3.5, 5}};
  out.metrics["step_flops"] = {101, "FLOP", NumberClass::specification, {}};
  out.metrics["screening_flops"] = {7, "FLOP", NumberClass::specification, {}};
  out.metrics["max_batch"] = {3, "sequences", NumberClass::specification, {}};
  out.footprint_by_class["pool"]["keys"] = 5;
  out.traffic_bytes["hbm"].read = 30;
  out.bounded_by = "pool.bus";
  return out;
}

std::vector<std::string> names(const ValueDifferences& values) {
  std::vector<std::string> out;
  for (const ValueDifference& value : values.differ) out.push_back(value.name);
  return out;
}

TEST(RecordDifference, OfARecordAndItselfIsNone) {
  const RunRecord record = base();
  const RecordDifference d = difference_of(record, record);
  EXPECT_TRUE(d.config.empty());
  EXPECT_TRUE(d.metrics.differ.empty());
  EXPECT_EQ(d.metrics.compared, 3U);
  const Json json = Json::parse(difference_json({"a", &record}, {"b", &record}, d));
  EXPECT_EQ(json["same_results"], true);
  EXPECT_EQ(json["config"], Json::array());
}

TEST(RecordDifference, OfSettingsIsByPathWithClassAndSource) {
  const RecordDifference d = difference_of(base(), changed());
  EXPECT_EQ(d.settings, 5U);  // name, step.batch, list, gpu.peak, more
  ASSERT_EQ(d.config.size(), 4U);
  EXPECT_EQ(d.config[0].path, "step.batch");
  EXPECT_EQ(d.config[0].b.value, "8");
  EXPECT_EQ(d.config[1].path, "list");
  EXPECT_EQ(d.config[1].a.value, "[1,2]");
  EXPECT_EQ(d.config[2].path, "gpu.peak");
  EXPECT_EQ(d.config[2].a.number_class, "specification");
  EXPECT_EQ(d.config[2].b.source, "bench");
  EXPECT_EQ(d.config[3].path, "more");
  EXPECT_EQ(d.config[3].a.value, "");
}

TEST(RecordDifference, OfMetricsIsLargestFirst) {
  const RecordDifference d = difference_of(base(), changed());
  // One that the other side lacks and one that was 0 are beyond any factor; then x 2, then 1 %.
  EXPECT_EQ(names(d.metrics), (std::vector<std::string>{"max_batch", "screening_flops",
                                                        "step_time_s", "step_flops"}));
  const ValueDifference& time = d.metrics.differ[2];
  EXPECT_EQ(time.difference(), 2);
  EXPECT_EQ(time.relative(), 1);
  EXPECT_EQ(time.overlap(), false);  // [1, 3] and [3.5, 5]
  EXPECT_FALSE(d.metrics.differ[0].difference());
  EXPECT_FALSE(d.metrics.differ[1].relative());
  EXPECT_EQ(d.metrics.differ[1].difference(), 7);
  EXPECT_FALSE(d.metrics.differ[3].overlap());
}

TEST(RecordDifference, IntervalsThatTouchOverlapAndAMissingOneIsUnknown) {
  ValueDifference value{.name = "x", .a = ValueDifference::Side{.value = 1}, .b = {}};
  value.b = ValueDifference::Side{.value = 2, .number_class = {}, .ci95 = Interval<double>{1, 3}};
  EXPECT_FALSE(value.overlap());  // the accuracy of the 1 is not known
  value.a->ci95 = Interval<double>{0, 1};
  EXPECT_EQ(value.overlap(), true);
  value.b->ci95 = Interval<double>{1.1, 3};
  EXPECT_EQ(value.overlap(), false);
}

TEST(RecordDifference, OfBytesIsByPlace) {
  const RecordDifference d = difference_of(base(), changed());
  EXPECT_EQ(names(d.footprint), std::vector<std::string>{"pool, keys"});
  EXPECT_EQ(names(d.traffic), std::vector<std::string>{"hbm, read"});
  EXPECT_EQ(d.traffic.compared, 2U);
  EXPECT_TRUE(d.times.differ.empty());
}

TEST(RecordDifference, TablesShowBothSides) {
  const RunRecord a = base();
  const RunRecord b = changed();
  const auto tables = difference_tables({"a.yaml", &a}, {"b.yaml", &b}, difference_of(a, b));
  ASSERT_EQ(tables.size(), 5U);
  EXPECT_EQ(testing::shown(tables[0])[1],
            (std::vector<std::string>{"B", "b.yaml", "base", "0123456789ab", "pool.bus"}));
  EXPECT_EQ(tables[1].title, "Settings: 4 of 5 differ");
  EXPECT_EQ(testing::shown(tables[1])[2],
            (std::vector<std::string>{"gpu.peak", "1 TB/s", "1 TB/s", "specification -> measured",
                                      "sheet -> bench"}));
  EXPECT_EQ(testing::shown(tables[2])[2],
            (std::vector<std::string>{"step_time_s", "2 s [1 s, 3 s]", "4 s [3.5 s, 5 s]", "+2 s",
                                      "+100.0 %", "apart", "assumed -> fitted"}));
  EXPECT_EQ(testing::shown(tables[4])[0],
            (std::vector<std::string>{"hbm, read", "10 B", "30 B", "+20 B", "+200.0 %"}));
}

TEST(RecordDifference, WithoutAConfigurationSaysSo) {
  RunRecord a = base();
  a.config.clear();
  const RunRecord b = base();
  const RecordDifference d = difference_of(a, b);
  EXPECT_FALSE(d.configurations_known);
  EXPECT_TRUE(Json::parse(difference_json({"a", &a}, {"b", &b}, d))["config"].is_null());
}

}  // namespace
}  // namespace tiersim::record_difference_test
