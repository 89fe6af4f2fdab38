// The memory of one GPU of a replica, against sums worked out here from the published dimensions.
// All in bf16, 2 B. DeepSeek-V3 (arXiv 2412.19437, section 4.2): 61 layers, the first 3 without
// experts; 7168 wide; 128 heads of 128 + 64 with values of 128; latents of 1536 and 512; MLP 18432,
// experts 256 + 1 of 2048; vocabulary 129280. Elements of the cache: TPLA, arXiv 2508.15881,
// sections 1 and 5.4.1.
#include "reports/footprint/footprint_report.hpp"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reports/footprint/gpu_memory.hpp"
#include "sim/step/simulate.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::footprint_test {
namespace {

using Set = std::vector<std::string>;
using Weights = std::map<std::string, std::int64_t>;

const std::string kMla = "scenarios/tpla/deepseek_v3_mla.yaml";    // TP2, without experts
const std::string kTpla = "scenarios/tpla/deepseek_v3_tpla.yaml";  // TP2, two slices
const std::string kWithExperts = "model.base=models/deepseek_v3.yaml";

RunRecord record_of(const std::string& path, const Set& set = {}) {
  const auto result = simulate(testing::scenario(path, set), Evaluation::accounting);
  EXPECT_TRUE(result) << (result ? "" : result.error());
  return result->record;
}

// Weights of one GPU; also checks that the record's bytes are twice as many.
Weights weights_of(const RunRecord& record) {
  Weights out;
  for (const WeightRecord& part : record.device.weights) {
    EXPECT_EQ(part.bytes, 2 * part.weights) << part.part;
    out[part.part] = part.weights;
  }
  return out;
}

std::int64_t sum(const Weights& weights) {
  std::int64_t out = 0;
  for (const auto& [part, count] : weights) out += count;
  return out;
}

// Heads are split in two: so are q_b, kv_b and o. Latents, and what makes them, are on both.
const Weights kMlaTp2{
    {"q_a", 61L * 7168 * 1536},
    {"q_b", 61L * 1536 * (64 * 192)},
    {"kv_a", 61L * 7168 * (512 + 64)},
    {"kv_b", 61L * 512 * 64 * (128 + 128)},
    {"o", 61L * (64 * 128) * 7168},
    {"mlp", 3L * 3 * 7168 * 9216},
    {"embedding", 64'640L * 7168},
    {"head", 64'640L * 7168},
    {"other", 61L * (1536 + 512 + 7168) + 3L * 7168 + 7168},
};

// The latent is split in two: so are kv_a, but for the rotary key, and kv_b. Each GPU has all
// heads, hence all of q_b and o.
const Weights kTplaTp2{
    {"q_a", 61L * 7168 * 1536},
    {"q_b", 61L * 1536 * (128 * 192)},
    {"kv_a", 61L * 7168 * (256 + 64)},
    {"kv_b", 61L * 256 * 128 * (128 + 128)},
    {"o", 61L * (128 * 128) * 7168},
    {"mlp", 3L * 3 * 7168 * 9216},
    {"embedding", 64'640L * 7168},
    {"head", 64'640L * 7168},
    {"other", 61L * (1536 + 256 + 7168) + 3L * 7168 + 7168},
};

Weights with_experts(Weights weights) {
  weights["router"] = 58L * 7168 * 256;
  weights["experts"] = 58L * 256 * 3 * 7168 * 1024;  // half of each
  weights["shared_experts"] = 58L * 3 * 7168 * 1024;
  weights["other"] += 58L * (7168 + 256);  // a norm, and the router's biases
  return weights;
}

TEST(Footprint, HeadsAndCacheOfOneGpu) {
  const DeviceRecord mla = record_of(kMla).device;
  EXPECT_EQ(mla.kv_elements_per_token_layer, 512 + 64);
  EXPECT_EQ(mla.query_heads, 64);
  const DeviceRecord tpla = record_of(kTpla).device;
  EXPECT_EQ(tpla.kv_elements_per_token_layer, 512 / 2 + 64);
  EXPECT_EQ(tpla.query_heads, 128);
  const DeviceRecord four = record_of("scenarios/tpla/deepseek_v3_tpla_tp4.yaml").device;
  EXPECT_EQ(four.kv_elements_per_token_layer, 320);
  EXPECT_EQ(four.query_heads, 64);
  EXPECT_EQ(four.gpus_per_replica, 4);
  const DeviceRecord apart = record_of("scenarios/tpla/deepseek_v3_mla_dp.yaml").device;
  EXPECT_EQ(apart.kv_elements_per_token_layer, 576);
  EXPECT_EQ(apart.query_heads, 128);
  EXPECT_EQ(apart.sequences, 16 / 2);
}

TEST(Footprint, WeightsOfMlaOnTwoGpus) {
  EXPECT_EQ(weights_of(record_of(kMla)), kMlaTp2);
  EXPECT_EQ(weights_of(record_of(kMla, {kWithExperts})), with_experts(kMlaTp2));
}

TEST(Footprint, WeightsOfTplaOnTwoGpus) {
  EXPECT_EQ(weights_of(record_of(kTpla)), kTplaTp2);
  EXPECT_EQ(weights_of(record_of(kTpla, {kWithExperts})), with_experts(kTplaTp2));
}

// 80 layers, 8192 wide, 64 heads of 128 over 8 of keys and values, MLP 28672, vocabulary 128256.
TEST(Footprint, GroupedQueriesOnFourGpus) {
  const RunRecord record = record_of(
      kMla, {"model.base=models/llama3_70b.yaml", "parallel.tensor=4", "system.gpus.count=4"});
  EXPECT_EQ(record.device.kv_elements_per_token_layer, 2 * 2 * 128);
  EXPECT_EQ(record.device.query_heads, 16);
  EXPECT_EQ(weights_of(record), (Weights{
                                    {"q", 80L * 8192 * (16 * 128)},
                                    {"kv", 80L * 8192 * 2 * (2 * 128)},
                                    {"o", 80L * (16 * 128) * 8192},
                                    {"mlp", 80L * 3 * 8192 * 7168},
                                    {"embedding", 32'064L * 8192},
                                    {"head", 32'064L * 8192},
                                    {"other", 80L * 2 * 8192 + 8192},
                                }));
}

// 16 sequences of 32768 positions, 61 layers.
TEST(Footprint, MemoryOfOneGpu) {
  for (const auto& [path, elements, weights] :
       {std::tuple{kMla, 576L, sum(kMlaTp2)}, std::tuple{kTpla, 320L, sum(kTplaTp2)}}) {
    const std::vector<GpuMemory> tiers = gpu_memory(record_of(path));
    ASSERT_EQ(tiers.size(), 1U);
    const GpuMemory& hbm = tiers.front();
    EXPECT_EQ(hbm.weights, 2 * weights);
    EXPECT_EQ(hbm.kv_cache, 2 * elements * 61 * 16 * 32768);
    // Each of two buffers for 16 rows of 7168; the kernel's splits are not stated.
    EXPECT_EQ(hbm.workspace, 2L * 2 * 16 * 7168);
    EXPECT_EQ(hbm.sum(), hbm.weights + hbm.kv_cache + hbm.activations + hbm.workspace);
    EXPECT_EQ(hbm.capacity, 72'000'000'000);  // 0.9 of 80 GB
    EXPECT_TRUE(hbm.fits());
  }
}

// With experts: the residual stream twice, then what 8 + 1 half experts read and write, for 16
// tokens. Without: what 64 heads read and write where they multiply with the unpacking of the
// latent. Then half of the logits, and all of them.
TEST(Footprint, ActivationsOfOneGpu) {
  const std::int64_t logits = 16L * 64'640 + 16L * 129'280;
  const std::int64_t experts = 16L * (2 * 7168 + 9 * (1024 + 7168));
  EXPECT_EQ(gpu_memory(record_of(kMla, {kWithExperts})).front().activations,
            2 * (experts + logits));
  const std::int64_t unpacking = 16L * (2 * 7168 + 64 * (128 + 512));
  EXPECT_EQ(gpu_memory(record_of(kMla)).front().activations, 2 * (unpacking + logits));
}

// Room over the cache of one sequence. What else grows with the batch is under 0.6 MB a sequence:
// 9 (1024 + 7168) + 2 x 7168 + 1.5 x 129280 + 2 x 7168 elements.
TEST(Footprint, TheLargestBatchFillsTheRoom) {
  for (const auto& [path, elements, weights] :
       {std::tuple{kMla, 576L, sum(kMlaTp2)}, std::tuple{kTpla, 320L, sum(kTplaTp2)}})
    for (const std::int64_t context : {32768L, 131'072L}) {
      const RunRecord record = record_of(path, {"step.context=" + std::to_string(context)});
      const std::int64_t room = 72'000'000'000 - 2 * weights;
      const std::int64_t sequence = 2 * elements * 61 * context;
      const std::int64_t batch = room / sequence;
      ASSERT_GT(room % sequence, batch * 600'000) << "choose another context";
      EXPECT_EQ(record.metrics.at("max_batch").value, static_cast<double>(batch));
    }
}

TEST(Footprint, TheReportHasTheExactCounts) {
  const FootprintReport report{
      .contexts = {1024},
      .cases = {{.scenario = "a.yaml",
                 .record = std::make_shared<const RunRecord>(record_of(kTpla)),
                 .largest = {{.batch = 7}}}}};
  const auto json = nlohmann::json::parse(to_json(report));
  const auto& scenario = json["scenarios"][0];
  EXPECT_EQ(scenario["device"]["kv_elements_per_token_layer"], 320);
  EXPECT_EQ(scenario["tiers"]["hbm"]["kv_cache_bytes"], 2L * 320 * 61 * 16 * 32768);
  EXPECT_EQ(scenario["largest_batch"][0]["batch"], 7);
  Weights weights;
  for (const auto& part : scenario["device"]["weights"]) weights[part["name"]] = part["weights"];
  EXPECT_EQ(weights, kTplaTp2);
}

}  // namespace
}  // namespace tiersim::footprint_test
