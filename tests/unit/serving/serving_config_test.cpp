// Serving files: every shipped one is read, and its canonical text gives the same configuration.
#include "sim/serving/serving_config.hpp"

#include <gtest/gtest.h>

#include "tests/support/shipped.hpp"

namespace tiersim::serving_config_test {
namespace {

ServingConfig serving(const std::string& path, const std::vector<std::string>& set,
                      Diagnostics& diagnostics) {
  const Document document = load_document(
      testing::configs() / path,
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  return read<ServingConfig>(document, "serving", diagnostics);
}

ServingConfig serving(const std::string& path, const std::vector<std::string>& set = {}) {
  Diagnostics diagnostics;
  auto config = serving(path, set, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.list()) ADD_FAILURE() << diagnostic.text();
  return config;
}

const std::string kPoisson = "serving/llama3_8b_h100_poisson.yaml";

class ShippedServing : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedServing, IsTheSameConfigurationFromItsCanonicalText) {
  const ServingConfig config = serving(GetParam());
  const std::string text = canonical_json(config);
  Diagnostics diagnostics;
  const auto again =
      read<ServingConfig>(load_text(text, "record.json", {}, diagnostics), "serving", diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.list().front().text();
  EXPECT_EQ(canonical_json(again), text);
  EXPECT_EQ(canonical_text_for_id(again), canonical_text_for_id(config));
}

TEST_P(ShippedServing, SaysWhereEveryNumberComesFrom) {
  for (const SourcedNumber& number : list_numbers(serving(GetParam())))
    EXPECT_NE(number.source, "") << number.path;
}

// Files of different folders may have one name.
std::string name_of(const ::testing::TestParamInfo<std::string>& test) {
  std::string out;
  for (const auto& part : std::filesystem::path(test.param))
    out += (out.empty() ? "" : "_") + testing::test_name(part.string());
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, ShippedServing, ::testing::ValuesIn(testing::shipped("serving")),
                         name_of);

TEST(ServingConfig, HasNoBatchAndNoContextOfAStep) {
  const std::string text = canonical_json(serving(kPoisson));
  EXPECT_NE(
      text.find(
          R"("step":{"weight_type":"bf16","weight_types":{},"kv_type":"bf16","state_type":"fp32","expert_skew":0,"overlap":"serial",)"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("\"region\""), std::string::npos);
}

TEST(ServingConfig, TakesAnotherServerAndSettingsOfIt) {
  const ServingConfig ideal = serving(kPoisson, {"server.base=servers/no_host.yaml"});
  EXPECT_EQ(ideal.server.host.iteration.value, Duration{});
  EXPECT_EQ(ideal.server.scheduler.max_sequences, 256);
  const ServingConfig shorter = serving(kPoisson, {"server.host.iteration=100 us"});
  EXPECT_EQ(shorter.server.host.iteration.value, Duration(100'000'000));
  EXPECT_EQ(shorter.server.host.iteration.number_class, NumberClass::assumed);
  EXPECT_EQ(shorter.server.host.iteration.source, "command line");
}

// An undescribed server is all zeros with a class, for code that fills in the fields it needs.
TEST(ServerConfig, SaysOfUnstatedNumbersThatTheyAre) {
  const auto numbers = list_numbers(ServerConfig{});
  ASSERT_EQ(numbers.size(), 9U);
  for (const SourcedNumber& number : numbers) {
    EXPECT_EQ(number.number_class, NumberClass::assumed) << number.path;
    EXPECT_EQ(number.source, "not stated: none") << number.path;
  }
}

// 1024 GB of host memory for eight GPUs: each replica of two has 256 GB.
TEST(ServingConfig, GivesAReplicaItsPartOfASharedTier) {
  const std::string file = "serving/llama2_7b_rtx4090_prefix_cache.yaml";
  const auto mistakes = [&](const std::string& capacity) {
    Diagnostics diagnostics;
    serving(file,
            {"system.base=systems/h100_nvlink.yaml", "system.gpus.count=8", "parallel.tensor=2",
             "server.prefix_cache.tiers.0.capacity=" + capacity},
            diagnostics);
    return diagnostics.text();
  };
  EXPECT_EQ(mistakes("256 GB"), "");
  EXPECT_NE(mistakes("257 GB").find("is above the 256 GB that a replica has of tier 'pool'"),
            std::string::npos)
      << mistakes("257 GB");
}

}  // namespace
}  // namespace tiersim::serving_config_test
