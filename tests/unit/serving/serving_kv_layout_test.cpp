// Use of a GPU's memory and the number of blocks left, worked out by hand from the published
// dimensions of the models. A server also has room for the largest batch of a scenario.
#include "sim/serving/kv_layout.hpp"

#include <map>

#include <fmt/format.h>

#include "sim/serving/replica.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::serving_kv_layout_test {
namespace {

ServingConfig config(const std::string& file, const std::vector<std::string>& set = {}) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / file,
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  auto out = read<ServingConfig>(document, "serving", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return out;
}

const std::string kLlama2 = "serving/llama2_7b_h100.yaml";

Expected<KvLayout> layout_of(const ServingConfig& of) {
  return kv_layout(of, build_stage_system(of.scenario));
}
KvLayout layout(const std::string& file, const std::vector<std::string>& set = {}) {
  auto out = layout_of(config(file, set));
  EXPECT_TRUE(out) << out.error();
  return *std::move(out);
}

// "hbm weights" and such, to bytes.
std::map<std::string, std::int64_t> parts(const KvLayout& of) {
  std::map<std::string, std::int64_t> out;
  for (const KvCapacity::Part& part : of.capacity.parts)
    out[part.tier + ' ' + part.what] += part.bytes;
  return out;
}

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kShown = 81'559 * kMiB;  // of an H100, by its driver

// Llama-2 7B in fp16 on nine tenths of 81559 MiB, 1024 sequences and 8192 tokens an iteration.
//   weights      2 (32000 * 4096 * 2 + 32 (4 * 4096^2 + 3 * 4096 * 11008 + 2 * 4096) + 4096)
//   activations  2 * 8192 (2 * 4096 + 4096 + 3 * 4096): residual stream twice, the projection of
//                queries, keys and values; and logits 2 * 1024 * 32000
//   block        16 positions * 32 layers * (keys + values) * 4096 * 2 B = 8 MiB
TEST(KvLayout, LeavesOfAnH100WhatLlama2WithoutAnyCacheLeaves) {
  const KvLayout kv = layout(kLlama2);
  auto of = parts(kv);
  EXPECT_EQ(of["hbm installed"], kShown);
  EXPECT_EQ(of["hbm left free (near_share)"], kShown - kShown * 9 / 10);
  EXPECT_EQ(of["hbm weights"], 2 * 6'738'415'616);
  EXPECT_EQ(of["hbm activations"], 384 * kMiB + 2 * 1024 * 32'000);
  EXPECT_EQ(of["hbm runtime reserve"], 768 * kMiB);
  EXPECT_EQ(kv.capacity.block_bytes, 8 * kMiB);
  // (76968728985 - 13476831232 - 468189184 - 805306368) / 8388608 = 7417.0
  EXPECT_EQ(kv.blocks, 7417);
  EXPECT_EQ(kv.capacity.positions, 7417 * 16);
  EXPECT_EQ(of["hbm KV blocks"], 7417 * 8 * kMiB);
  EXPECT_EQ(kv.capacity.limited_by, "hbm");
  EXPECT_EQ(kv.groups, std::vector<BlockGroup>{{}});
  EXPECT_EQ(kv.blocks_of(17), 2);
}

TEST(KvLayout, SaysWhereEveryByteIs) {
  for (const std::string& file : testing::shipped("serving")) {
    if (file.find("validation") != std::string::npos) continue;
    SCOPED_TRACE(file);
    const ServingConfig of = config(file);
    const auto kv = layout_of(of);
    ASSERT_TRUE(kv) << kv.error();
    auto sums = parts(*kv);
    const System system = build_stage_system(of.scenario);
    for (const std::string& tier : system.tier_names()) {
      if (!sums.contains(tier + " KV blocks")) continue;
      std::int64_t rest = sums[tier + " installed"];
      for (const KvCapacity::Part& part : kv->capacity.parts)
        if (part.tier == tier && part.what != "installed") rest -= part.bytes;
      EXPECT_EQ(rest, 0) << tier;
    }
  }
}

TEST(KvLayout, TakesTheShareOfTheTierThatItMayFill) {
  const std::vector<std::string> half{"placement.near_share=0.5"};
  const KvLayout kv = layout(kLlama2, half);
  EXPECT_EQ(parts(kv)["hbm left free (near_share)"], kShown / 2);
  EXPECT_EQ(kv.blocks, (kShown / 2 - 13'476'831'232 - 468'189'184 - 805'306'368) / (8 * kMiB));
}

TEST(KvLayout, HasNoBlocksWhereTheModelDoesNotFit) {
  const auto kv = layout_of(config(kLlama2, {"placement.near_share=0.1"}));
  ASSERT_FALSE(kv);
  EXPECT_EQ(
      kv.error(),
      "no block of keys and values fits: installed 79.65 GiB, left free (near_share) 71.68 GiB, "
      "weights 12.55 GiB, activations 446.5 MiB, runtime reserve 768 MiB in tier 'hbm'");
}

// Blocks of other sizes hold the same positions, less what is left over.
TEST(KvLayout, HoldsAsManyPositionsInBlocksOfAnySize) {
  constexpr std::int64_t kPositions = (kShown * 9 / 10 - 14'750'326'784) / (512 * 1024);
  for (const std::int64_t block : {1, 3, 16, 128}) {
    const KvLayout kv = layout(kLlama2, {"server.kv.block=" + std::to_string(block)});
    EXPECT_EQ(kv.blocks, kPositions / block) << block;
  }
}

// TPLA: half of the latent of 512 and the whole rotary key of 64 on either GPU.
TEST(KvLayout, HasHalfOfALatentOnEachOfTwoGpus) {
  const std::string file = "serving/llama2_7b_tpla_h100x2.yaml";
  const KvLayout sliced = layout(file);
  EXPECT_EQ(sliced.capacity.block_bytes, 16 * 32 * (512 / 2 + 64) * 2);
  const KvLayout whole = layout(file, {"parallel.latent_slices=1"});
  EXPECT_EQ(whole.capacity.block_bytes, 16 * 32 * (512 + 64) * 2);
}

// DP attention: a block is whole on one of the two GPUs, which have sequences of their own. The
// weights of attention are whole as well, and the products of a token group are those of both.
TEST(KvLayout, HasBlocksOnEachGpuWhereEachHasSequencesOfItsOwn) {
  const std::string file = "serving/llama2_7b_tpla_h100x2.yaml";
  const KvLayout whole = layout(file, {"parallel.latent_slices=1"});
  const KvLayout spread = layout(file, {"parallel={attention: data, latent_slices: 1}"});
  EXPECT_EQ(whole.pools, 1);
  EXPECT_EQ(whole.gpus_of_block, 2);
  EXPECT_EQ(whole.gathered(), Bytes::from_base(2 * whole.capacity.block_bytes));
  EXPECT_EQ(spread.pools, 2);
  EXPECT_EQ(spread.gpus_of_block, 1);
  EXPECT_EQ(spread.capacity.block_bytes, whole.capacity.block_bytes);
  EXPECT_EQ(spread.gathered(), Bytes::from_base(spread.capacity.block_bytes));
  auto of = parts(spread);
  EXPECT_EQ(spread.blocks, 2 * (of["hbm KV blocks"] / spread.capacity.block_bytes));
  EXPECT_LT(of["hbm left over"], spread.capacity.block_bytes);
}

// Four groups of two GPUs: a block is on both GPUs of one group.
TEST(KvLayout, HasBlocksOnEachGroupThatAttendsTogether) {
  const std::string file = "serving/fabric/deepseek_v3_h20_dp4.yaml";
  const KvLayout kv = layout(file);
  EXPECT_EQ(kv.pools, 4);
  EXPECT_EQ(kv.gpus_of_block, 2);
  EXPECT_EQ(kv.capacity.block_bytes, 16 * 61 * (512 + 64) * 2);  // every GPU has the whole latent
  EXPECT_EQ(kv.gathered(), Bytes::from_base(2 * kv.capacity.block_bytes));
  EXPECT_EQ(kv.blocks, 4 * (parts(kv)["hbm KV blocks"] / kv.capacity.block_bytes));
  const KvLayout one = layout(file, {"parallel={attention: tensor, attention_tensor: ~}"});
  EXPECT_EQ(one.pools, 1);
  EXPECT_GT(kv.blocks, 3 * one.blocks);  // 4 times, less the weights of attention
  EXPECT_LT(kv.blocks, 4 * one.blocks);
}

// Buffers for the rows of a far layer hold no copy that is lost with them.
TEST(KvLayout, CopiesWhatIsCachedNotWhereItIsFetchedTo) {
  const std::vector<std::string> far{"method.kv_tier=far"};
  const std::string file = "serving/llama2_7b_h100_swap.yaml";
  const KvLayout kv = layout(file, far);
  const System system = build_stage_system(config(file, far).scenario);
  const std::size_t near = system.tier("hbm").index();
  const std::size_t pool = system.tier("pool").index();
  EXPECT_GT(kv.block_bytes[near], Bytes{});
  EXPECT_EQ(kv.cached_bytes[near], Bytes{});
  EXPECT_EQ(kv.cached_bytes[pool], Bytes::from_base(8 * kMiB));
  EXPECT_EQ(kv.gathered(), Bytes::from_base(8 * kMiB));
}

// Swapped blocks go to a tier that holds nothing else.
TEST(KvLayout, SwapsToWhatIsLeftOverOfTheFarTier) {
  const std::string file = "serving/llama2_7b_h100_swap.yaml";
  const auto error = [&](const std::vector<std::string>& set) {
    const auto kv = layout_of(config(file, set));
    return kv ? std::string() : kv.error();
  };
  EXPECT_EQ(error({"server.kv.swap_space=80 MiB"}), "");
  EXPECT_EQ(error({"server.kv.swap_space=1 MiB"}),
            "server.kv.swap_space: 1 MiB is below the 8 MiB of 16 positions");
  // Blocks of the pool and swapped blocks share it.
  const ServingConfig of = config(file, {"method.kv_tier=far"});
  const System system = build_stage_system(of.scenario);
  const auto kv = layout_of(of);
  ASSERT_TRUE(kv) << kv.error();
  const std::int64_t pool = system.capacity(system.tier("pool")).in_base();
  EXPECT_EQ(kv->blocks + block_limits(of, system, *kv).swap_blocks, pool / (8 * kMiB));
}

// A window of 4096 positions has 256 blocks, for any length of the prompt.
TEST(KvLayout, HasAMostOfASequenceUnderAWindow) {
  const KvLayout kv = layout(kLlama2, {"model.base=models/mistral_7b.yaml"});
  EXPECT_EQ(kv.groups, (std::vector<BlockGroup>{{.most = 256}}));
  EXPECT_EQ(kv.capacity.block_bytes, 16 * 32 * 2 * 8 * 128 * 2);
  EXPECT_EQ(kv.blocks_of(100), 7);
  EXPECT_EQ(kv.blocks_of(100'000), 256);
}

// MAPLE: keys and values are far; near are int8 keys of a quarter of the width, and of one layer
// staging for a sixteenth of the rows with 2 B for the position of each.
TEST(KvLayout, SplitsABlockOverTiers) {
  const ServingConfig of = config("serving/llama3_8b_h200_maple.yaml");
  const auto kv = layout_of(of);
  ASSERT_TRUE(kv) << kv.error();
  const System system = build_stage_system(of.scenario);
  const auto bytes = [&](const char* tier) {
    return kv->block_bytes[system.tier(tier).index()].in_base();
  };
  constexpr std::int64_t kRows = 16 * 8 * 128 * 2;  // keys of a block in one layer, as many values
  EXPECT_EQ(bytes("pool"), 32 * 2 * kRows);
  EXPECT_EQ(bytes("hbm"), 32 * 16 * 8 * (128 / 4) + 2 * kRows / 16 + 8 * 2);
  EXPECT_EQ(kv->capacity.limited_by, "hbm");
}

// A pool that two replicas share is halved, also for what is swapped out.
TEST(KvLayout, SharesASharedTierEvenly) {
  const std::string swap = "serving/llama2_7b_h100_swap.yaml";
  const auto limits = [&](const std::vector<std::string>& set) {
    const ServingConfig of = config(swap, set);
    const System system = build_stage_system(of.scenario);
    const auto kv = kv_layout(of, system);
    EXPECT_TRUE(kv) << kv.error();
    return block_limits(of, system, *kv);
  };
  const BlockLimits alone = limits({});
  const BlockLimits halved = limits({"system.gpus.count=2", "system.shared={host: [pool]}"});
  EXPECT_EQ(alone.blocks, halved.blocks);
  EXPECT_EQ(halved.swap_blocks, alone.swap_blocks / 2);
  const BlockLimits stated = limits({"server.kv.swap_space=80 MiB"});
  EXPECT_EQ(stated.swap_blocks, 10);
}

TEST(KvLayout, CountsTiersOfThePrefixCacheInBlocks) {
  const ServingConfig of = config("serving/trace_mooncake.yaml",
                                  {"server.prefix_cache.tiers=[{tier: pool, capacity: 640 MiB}]"});
  const System system = build_stage_system(of.scenario);
  const auto kv = kv_layout(of, system);
  ASSERT_TRUE(kv) << kv.error();
  const BlockLimits limits = block_limits(of, system, *kv);
  EXPECT_EQ(limits.prefix_block, 512);
  EXPECT_EQ(limits.block, 16);
  // 128 KiB a position, so 2 MiB a block.
  EXPECT_EQ(limits.prefix_levels, std::vector<PrefixLevel>{320});
}

// With all else as in a decode step of the batch, a server with the largest batch of a scenario has
// the blocks for it, and one with more sequences does not. They may differ by one sequence, and by
// half a percent more where pages are fetched for several query heads: the pages of all of them
// together grow a little less than the context, and the cost of a block is computed at a short
// context.
class LargestBatch : public ::testing::TestWithParam<std::string> {};

TEST_P(LargestBatch, HasItsBlocksInAServer) {
  ServingConfig of;
  of.scenario = testing::scenario(GetParam());
  const System system = build_stage_system(of.scenario);
  const std::int64_t batch = largest_batch(of.scenario, system);
  of.server.scheduler.max_batched_tokens = 1;
  const auto has_room = [&](std::int64_t sequences) {
    of.server.scheduler.max_sequences = sequences;
    const auto kv = kv_layout(of, system);
    return kv && kv->blocks / kv->blocks_of(of.scenario.step.context) >= sequences;
  };
  const std::int64_t rounding = 1 + batch / 100;
  EXPECT_TRUE(has_room(std::max<std::int64_t>(1, batch - rounding))) << batch;
  EXPECT_FALSE(has_room(batch + 1 + rounding)) << batch;
}

std::vector<std::string> decode_steps() {
  std::vector<std::string> out = testing::shipped("scenarios/methods");
  std::erase_if(out, [](const std::string& file) { return file.find("_prefill.") < file.size(); });
  return out;
}

INSTANTIATE_TEST_SUITE_P(Shipped, LargestBatch, ::testing::ValuesIn(decode_steps()),
                         [](const auto& of) { return testing::test_name(of.param); });

// gpt-oss 20B: 12 layers with a window of 128 and 12 full ones, of 8 heads of 64 each. A block has
// the 16 positions of 12 layers in 2 B: 12 * 16 * 2 * 8 * 64 * 2 = 393,216 B. A sequence has one
// for each 16 positions, and at most 8 more.
TEST(KvLayout, OfLayersOfTwoTypesHasBlocksOfAShareOfTheLayers) {
  const KvLayout kv = layout(kLlama2, {"model.base=models/gpt_oss_20b.yaml"});
  EXPECT_EQ(kv.groups, (std::vector<BlockGroup>{{.blocks = 1, .most = 8}, {.blocks = 1}}));
  EXPECT_EQ(kv.capacity.block_bytes, 393'216);
  EXPECT_EQ(kv.blocks_of(16), 2);
  EXPECT_EQ(kv.blocks_of(128), 16);
  EXPECT_EQ(kv.blocks_of(1024), 64 + 8);
}

// Gemma 3 27B: 52 windowed layers and 10 full ones share blocks of 2 layers.
TEST(KvLayout, OfUnequalNumbersOfLayersHasBlocksOfTheirCommonDivisor) {
  const KvLayout kv = layout(kLlama2, {"model.base=models/gemma3_27b.yaml"});
  EXPECT_EQ(kv.groups, (std::vector<BlockGroup>{{.blocks = 26, .most = 64}, {.blocks = 5}}));
  EXPECT_EQ(kv.capacity.block_bytes, 2 * 16 * 2 * 16 * 128 * 2);
}

// Kimi Linear: 7 latent layers of 576 elements make blocks of 16 positions, 16 * 7 * 576 * 2 B =
// 129,024 B; the states of 20 layers, 20 (32 * 128 * 128 * 4 + 3 * 12288 * 2) B = 43,417,600 B,
// take 337 more of every sequence.
TEST(KvLayout, StatesTakeBlocksOfTheSamePool) {
  const KvLayout kv = layout(kLlama2, {"model.base=models/kimi_linear_48b_a3b.yaml",
                                       "system.base=systems/h200_cxl_pool.yaml"});
  EXPECT_EQ(kv.capacity.block_bytes, 129'024);
  EXPECT_EQ(kv.groups, (std::vector<BlockGroup>{{}, {.blocks = 337, .most = 1, .is_state = true}}));
  EXPECT_EQ(kv.capacity.state_blocks, 337);
  EXPECT_EQ(kv.blocks_of(1), 1 + 337);
  EXPECT_EQ(kv.blocks_of(1024), 64 + 337);
  EXPECT_EQ(kv.capacity.positions, kv.blocks * 16);
}

// GLM-5.2: all 78 layers keep every position, and 21 an index key of 132 B beside the 576 elements
// of a latent.
TEST(KvLayout, CountsIndexKeysOfTheLayersThatHaveThem) {
  const KvLayout kv = layout(kLlama2, {"model.base=models/glm52.yaml", "method={name: dsa}",
                                       "system.base=systems/b200_nvlink_8gpu.yaml",
                                       "parallel.tensor=8", "step.weight_type=fp8"});
  EXPECT_EQ(kv.groups, std::vector<BlockGroup>{{}});
  EXPECT_EQ(kv.cached_bytes.front().in_base(), 16 * (78 * 576 * 2 + 21 * 132));
  EXPECT_EQ(kv.block_bytes, kv.cached_bytes);
}

// Rows lie in the host; the GPU has index keys of 21 layers, and for each sequence 4096 slots in 78
// layers, a list of 2048 entries of 4 B and staging of the 103 rows that a choice misses in a long
// context, however long it is. Two more sequences take as much more.
TEST(KvLayout, HotRowsAreBuffersOfASequenceAndRowsBlocksOfTheFarTier) {
  const auto with = [](std::int64_t rows, std::int64_t sequences) {
    return layout(kLlama2,
                  {"model.base=models/glm52.yaml", "system.base=systems/rtx_pro_6000_8gpu.yaml",
                   "parallel.tensor=8", "step={weight_type: int4, kv_type: fp8_block}",
                   fmt::format("method={{name: dsa, kv_tier: far, fetch: {{hot_rows: {{rows: {}, "
                               "overlap: 0.95}}}}}}",
                               rows),
                   fmt::format("server.scheduler.max_sequences={}", sequences)});
  };
  constexpr std::int64_t kSlot = 78 * 656;
  const KvLayout two = with(4096, 2);
  const auto near = two.block_bytes.front().in_base();
  EXPECT_EQ(near, 16 * 21 * 132);
  EXPECT_EQ(two.block_bytes.back().in_base(), 16 * kSlot);
  const auto buffers = [&](std::int64_t rows, std::int64_t sequences) {
    return parts(with(rows, sequences)).at(fmt::format("hbm buffers of {} sequences", sequences));
  };
  EXPECT_EQ(buffers(4096, 4) - buffers(4096, 2), buffers(4096, 2));
  EXPECT_EQ(buffers(6144, 2) - buffers(4096, 2), 2 * 2048 * kSlot);
  EXPECT_EQ(buffers(4096, 2), 2 * (4096 * kSlot + 2048 * 4 + 103 * 656));
}

// MiniMax-M3 on four GPUs: one KV head of 128 each in 60 layers, and in 57 an index key of 256 B.
TEST(KvLayout, CountsIndexKeysOnEachGpuOfATensorGroup) {
  const KvLayout kv = layout(kLlama2, {"model.base=models/minimax_m3.yaml", "method={name: msa}",
                                       "system.base=systems/b200_nvlink_8gpu.yaml",
                                       "parallel.tensor=4", "step.weight_type=fp8"});
  EXPECT_EQ(kv.groups, std::vector<BlockGroup>{{}});
  EXPECT_EQ(kv.cached_bytes.front().in_base(), 16 * (60 * 2 * 128 * 2 + 57 * 256));
}

// DeepSeek-V4-Flash: of 256 positions 21 layers have 64 rows of 1024 B with an index key of 132 B,
// and 20 have 2 rows. A sequence has states of 17,842,176 B at every length: 43 rings of 128 rows,
// and what compressors keep.
TEST(KvLayout, RowsOfSeveralPositionsMakeBlocksAndWindowsStates) {
  const KvLayout kv =
      layout(kLlama2, {"model.base=models/deepseek_v4_flash.yaml", "method={name: csa}",
                       "system.base=systems/h200_nvlink_8gpu.yaml", "parallel.tensor=8",
                       "server.kv.block=256", "step.kv_type=bf16"});
  const std::int64_t rows = 21 * 64 * (1024 + 132) + 20 * 2 * 1024;
  EXPECT_EQ(kv.capacity.block_bytes, rows);
  const std::int64_t state = 43 * 128 * 1024 + 21 * (65'536 + 16'384) + 20 * 524'288;
  EXPECT_EQ(kv.state_bytes.in_base(), state);
  EXPECT_EQ(kv.groups, (std::vector<BlockGroup>{
                           {}, {.blocks = state / rows + 1, .most = 1, .is_state = true}}));
  EXPECT_EQ(kv.blocks_of(1), 1 + kv.capacity.state_blocks.value());
  EXPECT_EQ(kv.blocks_of(10 * 256), 10 + kv.capacity.state_blocks.value());
}

// Llama 4 Scout on eight GPUs: 36 of 48 layers attend within chunks of 8192 positions, 512
// stretches of 16.
TEST(KvLayout, KnowsTheChunksOfLayers) {
  const KvLayout kv =
      layout("serving/trace_mooncake.yaml",
             {"model.base=models/llama4_scout.yaml", "system.base=systems/h100_nvlink.yaml",
              "system.gpus.count=8", "parallel.tensor=8", "server.prefix_cache.tiers=[]"});
  EXPECT_EQ(kv.groups,
            (std::vector<BlockGroup>{{.blocks = 3, .most = 512, .chunk = 8192}, {.blocks = 1}}));
}

TEST(KvLayout, LongBlocksOfTiersAreOfModelsThatKeepEveryPosition) {
  const auto error = [](const std::string& model) {
    const auto kv = layout_of(
        config("serving/agents_qwen3_30b_h200.yaml",
               {"model.base=models/" + model,
                "server.prefix_cache.tiers=[{tier: pool, capacity: 100 GB, block: 256}]"}));
    return kv ? std::string() : kv.error();
  };
  EXPECT_EQ(error("qwen3_30b_a3b.yaml"), "");
  for (const char* const model : {"gpt_oss_20b", "kimi_linear_48b_a3b"})
    EXPECT_EQ(error(std::string(model) + ".yaml").substr(0, 41),
              "server.prefix_cache.tiers.0.block: model ");
}

TEST(KvLayout, FarWeightsFitInTheirTiers) {
  const auto error = [](const std::string& capacity) {
    const auto kv = layout_of(config(
        "serving/llama2_7b_h100.yaml",
        {"system.base=systems/h200_host_dram.yaml",
         "system.tiers.nvme={memory: {base: devices/nvme_gen4.yaml, capacity: {value: " + capacity +
             ", class: assumed, source: a test}}, path: [pcie, root_complex]}",
         "placement={near: hbm, far: pool, weights: {share: 0.9, tiers: {pool: 0.5, nvme: "
         "0.5}}}"}));
    return kv ? std::string() : kv.error();
  };
  EXPECT_EQ(error("6 GB"), "");
  EXPECT_EQ(error("5 GB"),
            "placement.weights: 5.428 GiB on each GPU is above the 4.657 GiB that it may fill of "
            "tier 'nvme'");
}

// A tier below the pool holds the states of Kimi Linear (337 blocks), which are more than the 32
// blocks of a named block. Where keys and values lie elsewhere, a copy of them has no place.
TEST(KvLayout, HasRoomForCopiesOfStatesOrSaysWhyNot) {
  const auto error = [](const std::string& set) {
    const auto kv = layout_of(
        config("serving/trace_mooncake.yaml", {"model.base=models/kimi_linear_48b_a3b.yaml",
                                               "system.base=systems/h200_cxl_pool.yaml", set}));
    return kv ? std::string() : kv.error();
  };
  EXPECT_EQ(error("server.prefix_cache.tiers=[{tier: pool, capacity: 43481088 B}]"), "");
  EXPECT_EQ(error("server.prefix_cache.tiers=[{tier: pool, capacity: 40 MiB}]"),
            "server.prefix_cache.tiers: 'pool': 40 MiB is below the 41.47 MiB of the states of a "
            "sequence");
  EXPECT_EQ(error("method.kv_tier=far"),
            "server.prefix_cache: copies of states take blocks of tier 'hbm', and method 'dense' "
            "keeps keys and values elsewhere, too");
}

// A head of one layer has a 33rd layer of keys and values in every block, which is copied with the
// others, and weights that join two vectors and make a layer: 2 (2 * 4096^2 + 4 * 4096^2 + 3 * 4096
// * 11008 + 5 * 4096). Logits are of 4 rows a sequence, and need more than the largest prompt.
TEST(KvLayout, HoldsTheCacheAndTheWeightsOfADraft) {
  const KvLayout kv =
      layout(kLlama2, {"speculation={draft: {kind: eagle}, tokens: 3, acceptance: {rate: 0.7}}"});
  EXPECT_EQ(kv.capacity.block_bytes, 33 * kMiB / 4);
  EXPECT_EQ(kv.gathered().in_base(), 33 * kMiB / 4);
  auto of = parts(kv);
  constexpr std::int64_t kWide = 4096;
  EXPECT_EQ(of["hbm weights"],
            2 * (6'738'415'616 + 6 * kWide * kWide + 3 * kWide * 11'008 + 5 * kWide));
  EXPECT_EQ(of["hbm buffers of 1024 sequences"], 0);
}

}  // namespace
}  // namespace tiersim::serving_kv_layout_test
