// Methods that keep rows in the far tier, served: as many sequences run as the near tier has room
// for their compact data, which is more than for their rows; each token takes longer, and an
// iteration takes what the engine gives for a step of that batch.
//
// near(n) and far(n) below are the bytes of a sequence of n positions that the method's card
// states, with staging and lists of one layer. A block of the pool has the mean growth over 64
// blocks (kv_layout.hpp), and what a sequence has beside its blocks is reserved for each that may
// run.
#include <functional>

#include <fmt/format.h>

#include "sim/step/executor.hpp"
#include "tests/theory/serving_run.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim::sparse_offload_served_test {
namespace {

using Count = std::int64_t;
using Settings = std::vector<std::string>;

constexpr Count kBlock = 16;
constexpr Count kLong = 1 << 20;
constexpr Count kInput = 4351;  // its first decode step is at 4352 = 17 * 256, a point of the grid
constexpr Count kLayers = 32;
constexpr Count kHeads = 8;      // of keys and values
constexpr Count kKey = 128 * 2;  // bytes of a key, or of a value
constexpr Count kRows = kHeads * 2 * kKey;
// For methods that keep nothing of a sequence near, so that fewer than 512 fit.
constexpr double kSmallRoom = 0.1195;

Count over(Count of, Count parts) {
  return (of + parts - 1) / parts;
}
Count sixteenth(Count n) {
  return over(n, 16);
}

struct Served {
  std::string name;
  Settings far;
  Settings near;  // the same model with every row in HBM
  std::function<Count(Count)> near_bytes;
  std::function<Count(Count)> far_bytes;
  bool is_capped = false;  // the choice stops growing
  Count state = 0;         // bytes of a sequence of any length, in blocks of the pool
  double near_share = 0.135;
};
std::ostream& operator<<(std::ostream& out, const Served& s) {
  return out << s.name;
}

Count rows_far(Count n) {
  return kLayers * n * kRows;
}
// The bytes of a list for each KV head. An entry has 2 bytes, and 4 in contexts beyond 65536.
Count list(Count entries, Count n = 0) {
  return entries * kHeads * (n <= 65'536 ? 2 : 4);
}

const std::string kSet = "method=";
const std::string kScheduler =
    "server.scheduler={policy: prefill_first, max_batched_tokens: 8192, max_sequences: 512}";
const Settings kDense{kSet + "{name: dense, kv_tier: near}"};

// The parts that depend on the model: Llama-3 8B, whose layers have 4 KiB of rows a position.
std::vector<Served> of_llama() {
  return {
      {"maple",
       {kSet + "{name: maple, budget: 0.0625, rank_ratio: 0.25, key_type: int8}"},
       kDense,
       [](Count n) {
         return kLayers * n * kHeads * 32 + sixteenth(n) * kRows + list(sixteenth(n));
       },
       rows_far},
      {"sparq",
       {kSet + "{name: sparq, budget: 0.0625, rank: 32}"},
       kDense,
       [](Count n) { return n * kHeads * 32 * 2 + sixteenth(n) * kRows + list(sixteenth(n)); },
       [](Count n) { return rows_far(n) + kLayers * n * kHeads * kKey; },
       false,
       0,
       kSmallRoom},
      {"quest",
       {kSet + "{name: quest, budget: 0.0625, dense_layers: 0}"},
       kDense,
       [](Count n) {
         const Count pages = sixteenth(sixteenth(n));
         return kLayers * sixteenth(n) * kRows + std::min(n, pages * 16) * kRows + list(pages);
       },
       rows_far},
      {"loki",
       {kSet + "{name: loki, budget: 0.0625, rank: 32}"},
       kDense,
       [](Count n) { return n * kHeads * 64 + sixteenth(n) * kRows + list(sixteenth(n)); },
       rows_far,
       false,
       0,
       kSmallRoom},
      {"infinigen",
       {kSet + "{name: infinigen, budget: 0.0625, partial: 0.25}",
        "step.overlap=prefetch_screening"},
       kDense,
       [](Count n) {
         return kLayers * n * kHeads * 64 + (n + sixteenth(n)) * kRows + 2 * list(sixteenth(n));
       },
       rows_far},
      {"shadowkv",
       {kSet + "{name: shadowkv, budget: 0.0625, rank: 160, outliers: 48, local: 4}"},
       kDense,
       [](Count n) {
         const Count chunks = over(std::min(sixteenth(n), n - std::min<Count>(n, 52 * 8)), 8);
         return kLayers * (n * 160 * 2 + over(n, 8) * kHeads * kKey) +
                std::min(n, chunks * 8) * kRows + list(chunks);
       },
       [](Count n) { return kLayers * n * kHeads * kKey; },
       false,
       kLayers * (160 * kHeads * kKey + 52 * 8 * kRows)},
      {"nsa",
       {kSet + "{name: nsa, kv_tier: far}"},
       {kSet + "{name: nsa, kv_tier: near}"},
       [](Count n) {
         const Count blocks = over(n, 64);
         const Count fixed = blocks <= 3 ? n : n - (blocks - 3) * 64;
         const Count chosen = std::min<Count>(13, over(n - fixed, 64));
         const Count compressed = n < 32 ? 0 : (n - 32) / 16 + 1;
         return kLayers * compressed * kRows + chosen * 64 * kRows + list(chosen, n);
       },
       rows_far,
       true,
       kLayers * (512 + 32 + 3 * 64) * kRows,
       0.165},
  };
}

// Six layers of DeepSeek-V3.2: a latent of 576 elements for all heads, and an index key of 132 B.
Served of_latents() {
  constexpr Count kFew = 6;
  constexpr Count kLatent = 576 * 2;
  const Settings model{"model.base=models/deepseek_v32.yaml", "model.layers=6",
                       "step.weight_type=fp8"};
  Settings far = model;
  far.push_back(kSet + "{name: dsa, kv_tier: far}");
  Settings near = model;
  near.push_back(kSet + "{name: dsa}");
  return {"dsa",
          far,
          near,
          [](Count n) {
            const Count chosen = std::min<Count>(n, 2048);
            return kFew * n * 132 + chosen * kLatent + list(chosen, n) / kHeads;
          },
          [](Count n) { return kFew * n * kLatent; },
          true,
          0,
          0.295};
}

class SparseOffload : public ::testing::TestWithParam<Served> {};

ServingConfig config_of(const Served& of, const Settings& method, Count requests) {
  Settings set{"server.base=servers/no_host.yaml",
               "server.kv.watermark=0",
               "measure.warm_up=0",
               "workload.arrivals={process: at_once}",
               kScheduler,
               fmt::format("placement.near_share={}", of.near_share),
               fmt::format("workload.requests={}", requests),
               fmt::format("workload.input={{tokens: {}}}", kInput),
               "workload.output={tokens: 2}"};
  set.insert(set.end(), method.begin(), method.end());
  return testing::serving_config("serving/llama3_8b_h200_maple.yaml", set);
}

KvLayout layout_of(const ServingConfig& config) {
  const System system = build_stage_system(config.scenario);
  auto layout = kv_layout(config, system);
  EXPECT_TRUE(layout) << layout.error();
  return layout ? *std::move(layout) : KvLayout{};
}

Count part(const KvLayout& layout, std::string_view tier, std::string_view what) {
  Count sum = 0;
  for (const KvCapacity::Part& p : layout.capacity.parts)
    if (p.tier == tier && p.what == what) sum += p.bytes;
  return sum;
}

Count fitting(const KvLayout& layout) {
  return layout.blocks / layout.blocks_of(kInput + 1);
}

// The growth of a sequence, of 64 blocks, for each of them. Where a choice stops growing it is that
// of a long sequence, and what came before is reserved for every sequence.
Count growth(const std::function<Count(Count)>& bytes, Count from) {
  return bytes(from + 64 * kBlock) - bytes(from);
}
Count a_block(const Served& of, const std::function<Count(Count)>& bytes) {
  return over(growth(bytes, of.is_capped ? kLong : kBlock), 64);
}

TEST_P(SparseOffload, HasRoomForAsManySequencesAsTheCardStates) {
  const KvLayout layout = layout_of(config_of(GetParam(), GetParam().far, 1));
  const Count near = a_block(GetParam(), GetParam().near_bytes);
  const Count far = a_block(GetParam(), GetParam().far_bytes);
  EXPECT_EQ(layout.block_bytes[0], Bytes::from_base(near));
  EXPECT_EQ(layout.block_bytes[1], Bytes::from_base(far));
  const Count reserved = GetParam().is_capped
                             ? GetParam().near_bytes(kLong) - near * (kLong / kBlock)
                             : GetParam().near_bytes(kBlock) - near;
  const Count first = std::max<Count>(0, reserved);
  EXPECT_EQ(part(layout, "hbm", "buffers of 512 sequences"), 512 * first);
  Count room = part(layout, "hbm", "installed");
  for (const char* taken : {"left free (near_share)", "weights", "activations", "workspace",
                            "buffers of 512 sequences", "left free (kv.share)"})
    room -= part(layout, "hbm", taken);
  const Count of_pool = part(layout, "pool", "installed") / far;
  EXPECT_EQ(layout.blocks, std::min(room / near, of_pool));
  const Count blocks = over(kInput + 1, kBlock) + over(GetParam().state, near);
  EXPECT_EQ(layout.blocks_of(kInput + 1), blocks);
}

// 8192 rows of all sequences of Llama-3 8B stay in HBM under maple: 32 layers of 4 KiB each are set
// aside, and the far tier has room for as many positions more. One sequence alone then runs as if
// every row lay near, and a full server has its compact data there as before.
TEST(SparseOffloadUnderPressure, SpillsOnlyWhatIsMore) {
  const Served maple = of_llama().front();
  const auto under = [](const std::string& more) {
    return Settings{kSet +
                    "{name: maple, budget: 0.0625, rank_ratio: 0.25, key_type: int8, fetch: {" +
                    more + "}}"};
  };
  const KvLayout spills = layout_of(config_of(maple, under("near_rows: 8192"), 1));
  const KvLayout far = layout_of(config_of(maple, maple.far, 1));
  EXPECT_EQ(part(spills, "hbm", "rows kept near"), 8192 * kLayers * kRows);
  EXPECT_EQ(spills.block_bytes, far.block_bytes);
  const Count block = far.block_bytes[0].in_base();
  EXPECT_NEAR(static_cast<double>(far.blocks - spills.blocks),
              static_cast<double>(8192 * kLayers * kRows) / static_cast<double>(block), 1);
  EXPECT_EQ(part(spills, "pool", "KV blocks"),
            (spills.blocks - 8192 / kBlock) * far.block_bytes[1].in_base());
  // With its low-rank keys in the pool a kept row saves its keys and values there, and no more.
  Settings pooled = under("near_rows: 8192");
  pooled.front().insert(pooled.front().find("fetch"), "lowrank_tier: far, ");
  const KvLayout parted = layout_of(config_of(maple, pooled, 1));
  EXPECT_EQ(part(parted, "pool", "KV blocks"),
            parted.blocks * parted.block_bytes[1].in_base() - 8192 * kLayers * kRows);

  const auto time = [&](const Settings& method, Count sequences) {
    const testing::Served served = testing::run_server(config_of(maple, method, sequences));
    Duration longest{};
    for (const IterationSample& sample : served.iterations)
      if (sample.decodes == sequences && sample.prompt_tokens == 0)
        longest = std::max(longest, sample.end - sample.gpu);
    EXPECT_GT(longest, Duration{});
    return longest;
  };
  EXPECT_EQ(time(under("near_rows: 8192"), 1), time(under("near_share: 1"), 1));
  EXPECT_LT(time(under("near_rows: 8192"), 1), time(maple.far, 1));
  // 2048 rows of each of four sequences of 4352.
  EXPECT_EQ(time(under("near_rows: 8192"), 4), time(under("near_share: 0.47058823529411764"), 4));
}

TEST_P(SparseOffload, RunsAsManySequencesAsFitAndMoreThanWithRowsNear) {
  const Count far = fitting(layout_of(config_of(GetParam(), GetParam().far, 1)));
  const Count near = fitting(layout_of(config_of(GetParam(), GetParam().near, 1)));
  EXPECT_GE(near, 1);
  EXPECT_GT(far, near);
  const auto run = [&](const Settings& method, Count fits) {
    const ServingConfig config = config_of(GetParam(), method, fits + 2);
    const testing::Served served = testing::run_server(config);
    Count most = 0;
    const IterationSample* full = nullptr;
    for (const IterationSample& sample : served.iterations) {
      most = std::max({most, sample.running, sample.decodes});
      if (sample.decodes == fits && sample.prompt_tokens == 0) full = &sample;
    }
    EXPECT_EQ(most, fits);
    return full ? full->end - full->gpu : Duration{};
  };
  const Duration of_far = run(GetParam().far, far);
  const Duration of_near = run(GetParam().near, near);
  EXPECT_GT(of_near, Duration{});
  EXPECT_GT(of_far, of_near);

  // One step of the engine, of as many sequences.
  const ServingConfig config = config_of(GetParam(), GetParam().far, far);
  const System system = build_stage_system(config.scenario);
  AttentionContext replica = context_of(config.scenario, system);
  replica.step.batch = far;
  replica.step.context = kInput + 1;
  const StepGraph graph = build_step(replica, *config.scenario.method.method, system.tier_names());
  const Duration step = execute(graph, system, system.plan(graph)).time;
  // Operations that run one after another are each rounded to 3 ps (iteration_cost.hpp).
  EXPECT_NEAR(
      static_cast<double>(of_far.count()), static_cast<double>(step.count()),
      3.0 * static_cast<double>(graph.ops.size()) + 1e-6 * static_cast<double>(step.count()));
}

std::vector<Served> all() {
  std::vector<Served> out = of_llama();
  out.push_back(of_latents());
  return out;
}

INSTANTIATE_TEST_SUITE_P(Methods, SparseOffload, ::testing::ValuesIn(all()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace tiersim::sparse_offload_served_test
