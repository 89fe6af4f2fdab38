// Every shipped served workload as a record, read again: writing it gives the same text, and the
// compact form has the same content. shipped_scenarios_test.cpp does it with scenarios.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/record/compact_record.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/serving/serve.hpp"
#include "tests/support/shipped.hpp"
#include "tests/validation/shipped_checks.hpp"

namespace tiersim {

void testing::expect_round_trip(const RunRecord& before) {
  using Json = nlohmann::ordered_json;
  const std::string text = to_json(before);
  const auto after = read_record(text);
  ASSERT_TRUE(after) << after.error();
  EXPECT_EQ(to_json(*after), text);
  EXPECT_EQ(after->config, before.config);
  EXPECT_EQ(after->name, before.name);
  EXPECT_EQ(after->gpus, before.gpus);
  EXPECT_EQ(after->batch, before.batch);
  EXPECT_EQ(after->context, before.context);
  EXPECT_EQ(after->sharers, before.sharers);

  const std::string results = pretty_results(before);
  const std::string compact = compact_results(before);
  EXPECT_EQ(compact.find('\n'), std::string::npos);
  EXPECT_EQ(Json::parse(compact), Json::parse(results));
  const auto of_compact = read_results(compact);
  ASSERT_TRUE(of_compact) << of_compact.error();
  EXPECT_EQ(pretty_results(*of_compact), results);

  const auto with_setup = read_results(compact_results(before, Setup::included));
  ASSERT_TRUE(with_setup) << with_setup.error();
  EXPECT_EQ(pretty_results(*with_setup), results);
  EXPECT_EQ(with_setup->sharers, before.sharers);
  EXPECT_EQ(with_setup->batch, before.batch);
  const Json metrics = Json::parse(compact_metrics(before));
  EXPECT_EQ(metrics, (Json{{"metrics", Json::parse(results)["metrics"]}}));
}

namespace record_round_trip_test {
namespace {

class ShippedServing : public ::testing::TestWithParam<std::string> {
 protected:
  static RunRecord record() {
    Diagnostics diagnostics;
    const Document document = load_document(
        testing::configs() / GetParam(),
        {.config_root = testing::configs(), .importers = make_all_importers()}, diagnostics);
    const auto config = read<ServingConfig>(document, "serving", diagnostics);
    for (const Diagnostic& diagnostic : diagnostics.list()) ADD_FAILURE() << diagnostic.text();
    auto result = serve(config);
    EXPECT_TRUE(result) << (result ? "" : result.error());
    return *result;
  }
};

TEST_P(ShippedServing, RecordIsTheSameTextAfterReading) {
  testing::expect_round_trip(record());
}

INSTANTIATE_TEST_SUITE_P(Records, ShippedServing, ::testing::ValuesIn(testing::shipped("serving")),
                         [](const auto& instance) {  // files of two folders have one name
                           std::string path = instance.param;
                           std::ranges::replace(path, '/', '_');
                           return testing::test_name(path);
                         });

}  // namespace
}  // namespace record_round_trip_test
}  // namespace tiersim
