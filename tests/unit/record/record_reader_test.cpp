#include "sim/record/record_reader.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/record/compact_record.hpp"

namespace tiersim::record_reader_test {
namespace {

using Json = nlohmann::ordered_json;

RunRecord small_record() {
  RunRecord out;
  out.tiersim_version = "1.2.3";
  out.run_id = "abc";
  out.numbers = {{"system.gpu.launch", "2 us", NumberClass::fitted, "a fit", true,
                  Interval<std::string>{"1 us", "3 us"}},
                 {"system.gpu.price", "1 USD", NumberClass::assumed, "", false, {}}};
  out.draws = DrawsRecord{.draws = 200, .seed = 1, .numbers = 1};
  out.config =
      R"({"name":"a \"b\" \u007f","step":{"batch":3,"context":7},)"
      R"("system":{"gpus":{"count":8,"hosts":2},"shared":{"host":["link"],"all":["pool"]}}})";
  out.name = "a \"b\" \x7f";
  out.gpus = 8;
  out.batch = 3;
  out.context = 7;
  out.sharers = {{"hbm", 1}, {"link", 4}, {"pool", 8}};
  out.device.tier = "hbm";
  out.device.weights = {{"q", 10, 20, 5}};
  out.metrics["step_time_s"] = {0.1, "s", NumberClass::measured, Interval<double>{0.05, 1e-300}};
  out.metrics["step_flops"] = {9007199254740991, "FLOP", NumberClass::specification, {}};
  out.footprint_bytes = {{"hbm", 9'000'000'000'000'000'001}};
  out.footprint_by_class = {{"hbm", {{"weights", 9'000'000'000'000'000'001}}}};
  for (const char* device : {"hbm", "link", "pool"}) out.traffic_bytes[device] = {1, 2};
  out.traffic_by_class["pool"] = {{{"keys", 1}}, {}};
  out.channel_utilisation["pool.bus"] = 1.0 / 3;
  out.time_split = {{"weights", 0}, {"kv", 1e-12}};
  out.kernel_times = {{"gemm", 1, NumberClass::fitted, "fitted", "x", Interval<double>{0, 2}, 0.5}};
  out.bounded_by = "pool.bus";
  out.costs_unstated = {"hbm: price"};
  return out;
}

std::string error_of(const Json& record) {
  const auto read = read_record(record.dump());
  EXPECT_FALSE(read);
  return read ? "" : read.error();
}

TEST(RecordReader, GivesBackWhatWasWritten) {
  const RunRecord record = small_record();
  const auto read = read_record(to_json(record));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(to_json(*read), to_json(record));
  EXPECT_EQ(read->config, record.config);
  EXPECT_EQ(read->name, record.name);
  EXPECT_EQ(read->sharers, record.sharers);  // 8 GPUs on 2 hosts: 4 of a host, 8 in all
  EXPECT_EQ(read->footprint_bytes, record.footprint_bytes);
}

TEST(RecordReader, SaysWhereAMistakeIs) {
  const Json good = Json::parse(to_json(small_record()));
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json out = good;
    out[Json::json_pointer(pointer)] = value;
    return error_of(out);
  };
  const std::string of = " (a record of tiersim 1.2.3)";
  EXPECT_EQ(with("/results/metrics/step_time_s/value", "fast"),
            "results.metrics.step_time_s.value: is no number" + of);
  EXPECT_EQ(with("/results/metrics/step_time_s/class", "sure"),
            "results.metrics.step_time_s.class: 'sure' is none of measured, fitted, "
            "specification, announced, assumed" +
                of);
  EXPECT_EQ(with("/results/metrics/step_time_s/ci95", {1}),
            "results.metrics.step_time_s.ci95: is no list of two" + of);
  EXPECT_EQ(with("/results/time_split/1/seconds", nullptr),
            "results.time_split[1].seconds: is no number" + of);
  EXPECT_EQ(with("/results/footprint_bytes/hbm", 0.5),
            "results.footprint_bytes.hbm: is no whole number" + of);
  EXPECT_EQ(with("/results/footprint_bytes/hbm", std::uint64_t{1} << 63),
            "results.footprint_bytes.hbm: is no whole number" + of);
  EXPECT_EQ(with("/results/phases", Json::object()), "results.phases: is no list" + of);
  EXPECT_EQ(with("/provenance/numbers/0/in_times", 1),
            "provenance.numbers[0].in_times: is neither true nor false" + of);
  Json without = good;
  without["results"]["traffic_bytes"]["pool"].erase("write");
  EXPECT_EQ(error_of(without), "results.traffic_bytes.pool: has no 'write'" + of);
  without = good;
  without.erase("provenance");
  EXPECT_EQ(error_of(without), "has no 'provenance' (a record of tiersim unknown)");
}

TEST(RecordReader, NamesWhatANewerTiersimAdded) {
  Json record = Json::parse(to_json(small_record()));
  record["results"]["humidity"] = 1;
  EXPECT_EQ(error_of(record),
            "results: 'humidity' is unknown to this tiersim (a record of tiersim 1.2.3)");
  record["results"].erase("humidity");
  record["results"]["metrics"]["new_metric"] = {{"value", 1}, {"unit", "1"}, {"class", "fitted"}};
  const auto read = read_record(record.dump());  // the name of a metric is data
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->metrics.at("new_metric").value, 1);
}

TEST(RecordReader, ReportsAnUnknownMemberBeforeMistakesBelow) {
  Json record = Json::parse(to_json(small_record()));
  record["results"]["metrics"]["step_time_s"]["value"] = "fast";
  record["results"]["device"]["colour"] = "green";
  record["provenance"]["numbers"][1]["ci95"] = {"1"};
  const std::string of = " (a record of tiersim 1.2.3)";
  EXPECT_EQ(error_of(record), "provenance.numbers[1].ci95: is no list of two" + of);
  record["results"]["humidity"] = 1;
  record["provenance"]["numbers"][1].erase("ci95");
  EXPECT_EQ(error_of(record), "results: 'humidity' is unknown to this tiersim" + of);
  record["results"].erase("humidity");
  EXPECT_EQ(error_of(record), "results.metrics.step_time_s.value: is no number" + of);
  record["results"]["metrics"]["step_time_s"]["value"] = 1;
  EXPECT_EQ(error_of(record), "results.device: 'colour' is unknown to this tiersim" + of);
  record["weather"] = 1;
  EXPECT_EQ(error_of(record), "'weather' is unknown to this tiersim" + of);
}

TEST(RecordReader, TakesMembersInAnyOrder) {
  const std::string text = to_json(small_record());
  nlohmann::json sorted = nlohmann::json::parse(text);  // keys by the alphabet
  sorted["config"] = nullptr;
  std::string config = sorted.dump();
  config.replace(config.find("\"config\":null"), 13,
                 "\"config\":" + Json::parse(text)["config"].dump());
  const auto read = read_record(config);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(to_json(*read), text);
}

TEST(RecordReader, SaysWhatItsConfigurationLacks) {
  const Json good = Json::parse(to_json(small_record()));
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json out = good;
    out[Json::json_pointer(pointer)] = value;
    return error_of(out);
  };
  const std::string of = " (a record of tiersim 1.2.3)";
  EXPECT_EQ(with("/config", Json{{"name", "x"}}), "config: has no 'step'" + of);
  EXPECT_EQ(with("/config/step", 1), "config.step: is no object" + of);
  EXPECT_EQ(with("/config/step/batch", "many"), "config.step.batch: is no whole number" + of);
  EXPECT_EQ(with("/config/system/gpus/hosts", 0), "config.system.gpus: has no hosts" + of);
  EXPECT_EQ(with("/config/system/shared/all", {1}), "config.system.shared.all[0]: is no text" + of);
}

TEST(RecordReader, RefusesARepeatedKey) {
  std::string text = to_json(small_record());
  text.insert(text.find("\"batch\""), "\"batch\": 4, ");
  const auto read = read_record(text);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().find("key 'batch' stands twice"), std::string::npos) << read.error();
  const auto results = read_results(R"({"metrics": {}, "metrics": {}})");
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error(), "1:17: key 'metrics' stands twice");
}

TEST(RecordReader, RefusesWhatIsNoRecord) {
  for (const char* text : {"", "{", "[]", "{}", R"({"schema": "tiersim.record/v2"})"})
    EXPECT_FALSE(read_record(text)) << text;
  for (const char* text : {"", "{", "[]", "1", R"({"metrics": []})"})
    EXPECT_FALSE(read_results(text)) << text;
}

TEST(CompactRecord, IsTheSameJsonOnOneLine) {
  const RunRecord record = small_record();
  EXPECT_EQ(Json::parse(compact_results(record)), Json::parse(pretty_results(record)));
  EXPECT_EQ(compact_results(record).find('\n'), std::string::npos);
  EXPECT_EQ(compact_metrics(record),
            R"({"metrics":{"step_flops":{"value":9007199254740991,"unit":"FLOP",)"
            R"("class":"specification"},"step_time_s":{"value":0.1,"unit":"s",)"
            R"("class":"measured","ci95":[0.05,1e-300]}}})");
}

TEST(CompactRecord, OfMetricsAloneIsReadAsARecordWithNothingElse) {
  const auto read = read_results(compact_metrics(small_record()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->metrics.at("step_time_s").ci95->low, 0.05);
  EXPECT_TRUE(read->footprint_bytes.empty());
  EXPECT_TRUE(read->sharers.empty());
}

TEST(CompactRecord, KeepsTheSetupWhereAsked) {
  const RunRecord record = small_record();
  const auto read = read_results(compact_metrics(record, Setup::included));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->name, record.name);
  EXPECT_EQ(read->gpus, 8);
  EXPECT_EQ(read->batch, 3);
  EXPECT_EQ(read->context, 7);
  EXPECT_EQ(read->sharers, record.sharers);
}

}  // namespace
}  // namespace tiersim::record_reader_test
