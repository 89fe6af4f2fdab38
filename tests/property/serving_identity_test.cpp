// Changes that must not affect a serving run: the notation of its file, the seed where nothing is
// drawn, and the names of the requests.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "sim/serving/serve.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::serving_identity_test {
namespace {

using Settings = std::vector<std::string>;

RunRecord run(const Document& document, Diagnostics& diagnostics) {
  const auto config = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  auto record = serve(config);
  EXPECT_TRUE(record) << record.error();
  return *std::move(record);
}
RunRecord run_text(const std::string& text) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "serving_identity.yaml";
  std::ofstream(path) << text;
  Diagnostics diagnostics;
  const Document document = load_document(
      path, {.config_root = testing::configs(), .importers = make_all_importers()}, diagnostics);
  return run(document, diagnostics);
}
RunRecord run_file(const std::string& file, const Settings& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / file,
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  return run(document, diagnostics);
}

TEST(ServingIdentity, DoesNotDependOnTheOrderOfKeys) {
  const RunRecord one = run_text(R"(schema: tiersim.serving/v1
base: bases/serving_llama2_7b.yaml
name: order of keys
method: {name: dense, kv_tier: near}
workload:
  requests: 40
  arrivals: {process: gamma, requests_per_s: 20, variation: 3}
  input: {distribution: uniform, min: 1, max: 900}
  output: {distribution: uniform, min: 1, max: 90}
server: {scheduler: {policy: prefill_first, max_sequences: 16}, routing: round_robin}
seed: 4
)");
  const RunRecord other = run_text(R"(schema: tiersim.serving/v1
base: bases/serving_llama2_7b.yaml
seed: 4
server: {routing: round_robin, scheduler: {max_sequences: 16, policy: prefill_first}}
workload:
  output: {max: 90, min: 1, distribution: uniform}
  input: {max: 900, distribution: uniform, min: 1}
  arrivals: {variation: 3, requests_per_s: 20, process: gamma}
  requests: 40
method: {kv_tier: near, name: dense}
name: order of keys
)");
  EXPECT_EQ(one.run_id, other.run_id);
  EXPECT_EQ(to_json(one), to_json(other));
}

TEST(ServingIdentity, DoesNotDependOnTheSeedWhereNothingIsDrawn) {
  const Settings set{"workload.requests=20", "workload.output.tokens=30"};
  Settings seeded = set;
  seeded.push_back("seed=99");
  const RunRecord one = run_file("serving/llama2_7b_h100.yaml", set);
  const RunRecord other = run_file("serving/llama2_7b_h100.yaml", seeded);
  EXPECT_NE(one.run_id, other.run_id);
  EXPECT_EQ(pretty_results(one), pretty_results(other));
}

// Names of prefix blocks are only names: other numbers for the same blocks give the same trace.
TEST(ServingIdentity, DoesNotDependOnWhatBlocksAreCalled) {
  const auto write = [](const std::string& name, std::int64_t factor) {
    const auto path = std::filesystem::path(::testing::TempDir()) / name;
    std::ofstream out(path);
    for (std::int64_t k = 0; k < 30; ++k)
      out << R"({"timestamp": )" << 100 * k << R"(, "input_length": 1600, "output_length": )"
          << 1 + k % 7 << R"(, "hash_ids": [)" << factor * 1 << ", " << factor * (2 + k % 3) << ", "
          << factor * (10 + k % 5) << ", " << factor * (100 + k) << "]}\n";
    return path.string();
  };
  const auto replay = [](const std::string& path) {
    return run_file("serving/trace_mooncake.yaml", {"workload.trace=" + path});
  };
  const RunRecord one = replay(write("blocks.jsonl", 1));
  const RunRecord other = replay(write("other_blocks.jsonl", 7919));
  EXPECT_GT(one.serving->counts.cached_tokens, 0);
  EXPECT_EQ(pretty_results(one), pretty_results(other));
}

}  // namespace
}  // namespace tiersim::serving_identity_test
