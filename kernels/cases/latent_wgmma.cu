#include "kernels/cases/latent_wgmma.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

#include "kernels/device/combine.cuh"
#include "kernels/device/combine_work.hpp"
#include "kernels/device/latent_decode_wgmma.cuh"
#include "kernels/device/latent_wgmma_work.hpp"
#include "kernels/runtime/launch.cuh"
#include "kernels/runtime/tensor_map.cuh"

namespace tiersim::kernels {
namespace {

constexpr int kMultiprocessors = 132;  // H200; only the choice of splits depends on it

int blocks_of(int heads, int per_block) {
  return (heads + per_block - 1) / per_block;
}

// Splits that minimise rounds of blocks times the tiles of a block. One further tile stands for the
// overhead of a block (queries, first copies, outputs).
int best_splits(int blocks_per_split, int tiles) {
  int best = 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int splits = 1; splits <= 64 && splits <= tiles; ++splits) {
    const int rounds = blocks_of(blocks_per_split * splits, kMultiprocessors);
    const std::int64_t cost = std::int64_t{rounds} * (blocks_of(tiles, splits) + 1);
    if (cost < least) {
      least = cost;
      best = splits;
    }
  }
  return best;
}

template <int Latent, Share How, Mistake Plant>
class LatentWgmma final : public LatentProblem {
  using Layout = LatentLayout<Latent, 64, How>;

 public:
  LatentWgmma(const LatentShape& shape, int blocks)
      : LatentProblem(shape, blocks * Layout::kSplitsPerBlock), blocks_(blocks) {}

  CaseInfo info() const override {
    return {"latent", "latent_decode", "wgmma", "bf16", named_shape(), false};
  }

  Work work() const override {
    const std::vector<std::int64_t> tokens(lengths().begin(), lengths().end());
    std::int64_t filled = 0;
    for (const std::int64_t length : tokens) {
      const std::int64_t tiles = (length + 63) / 64;
      const std::int64_t each = (tiles + blocks_ - 1) / blocks_;
      for (std::int64_t first = 0; first < tiles; first += each) {
        filled += std::min<std::int64_t>({Layout::kSplitsPerBlock, each, tiles - first});
      }
    }
    const LatentCut cut{shape().heads, Layout::kHeads,       Latent,       64,
                        blocks_,       How == Share::tokens, shape().paged};
    return latent_decode_wgmma_work(cut, tokens) +
           combine_splits_work(Latent, splits(), rows(), filled * shape().heads);
  }

  std::vector<LaunchUse> launches() const override {
    const std::string name = "latent_decode_wgmma<" + std::to_string(Latent) +
                             ",64,Share:" + std::to_string(static_cast<int>(How)) + ">";
    const Geometry main = geometry();
    return {{name, reinterpret_cast<const void*>(kernel()),
             std::int64_t{main.grid.x} * main.grid.y * main.grid.z, Layout::kThreads,
             Layout::kSharedBytes, Layout::kStages * Layout::kTileBytes},
            {"combine_splits<" + std::to_string(Latent) + ">",
             reinterpret_cast<const void*>(combine_splits<Latent>), combine_blocks(Latent, rows()),
             kCombineThreads, 0, std::int64_t{kCombineThreads} * 64}};
  }

  void prepare(int sets, std::uint64_t seed) override {
    LatentProblem::prepare(sets, seed);
    maps_.clear();
    const auto depth = static_cast<std::uint64_t>(row_dim());
    for (int set = 0; set < sets; ++set) {
      const auto query_rows = static_cast<unsigned>(std::min(64, shape().heads));
      maps_.push_back(
          {make_tensor_map(arrays(set).q.data(), static_cast<std::uint64_t>(rows()), depth,
                           depth * 2, query_rows, 64),
           make_tensor_map(arrays(set).kv.data(), static_cast<std::uint64_t>(cache_rows()), depth,
                           depth * 2, Layout::kTokens, 64)});
    }
  }

  void enqueue(Stream& stream, int set) override {
    const auto& [q_map, kv_map] = maps_[static_cast<std::size_t>(set)];
    const LatentArguments arguments{
        device_lengths(),     device_pages(),   shape().heads, shape().context,
        pages_per_sequence(), scale() * kLog2E, partial(),     lse()};
    launch(stream, kernel(), geometry(), q_map, kv_map, arguments);
    const auto blocks = static_cast<unsigned>(combine_blocks(Latent, rows()));
    launch(stream, combine_splits<Latent>, {dim3(blocks), dim3(kCombineThreads), 0}, partial(),
           lse(), splits(), rows(), arrays(set).out.data());
  }

 private:
  static auto kernel() { return latent_decode_wgmma<Latent, 64, How, Plant>; }
  Geometry geometry() const {
    return {dim3(static_cast<unsigned>(blocks_),
                 static_cast<unsigned>(blocks_of(shape().heads, Layout::kHeads)),
                 static_cast<unsigned>(shape().batch)),
            dim3(Layout::kThreads), Layout::kSharedBytes};
  }

  int blocks_;  // blocks over the tokens of a sequence
  std::vector<std::pair<TensorMap, TensorMap>> maps_;
};

template <Mistake Plant>
std::unique_ptr<Case> make(const LatentShape& shape, int splits) {
  if ((shape.latent_dim != 256 && shape.latent_dim != 512) || shape.rope_dim != 64 ||
      shape.heads % 16 != 0 || (shape.heads > 64 && shape.heads % 64 != 0)) {
    throw std::invalid_argument("latent_decode_wgmma has no such shape");
  }
  if (!shape.paged && shape.context % 64 != 0) {
    throw std::invalid_argument("a contiguous cache holds whole tiles of 64 tokens");
  }
  const bool all_heads = shape.latent_dim == 256 && shape.heads % 128 == 0;
  const int per_block = all_heads ? 128 : 64;
  if (splits == 0) {
    splits = best_splits(shape.batch * blocks_of(shape.heads, per_block), shape.context / 64);
  }
  if (shape.latent_dim == 512) {
    return std::make_unique<LatentWgmma<512, Share::values, Plant>>(shape, splits);
  }
  if (all_heads) return std::make_unique<LatentWgmma<256, Share::heads, Plant>>(shape, splits);
  return std::make_unique<LatentWgmma<256, Share::tokens, Plant>>(shape, splits);
}

// A model's attention: batch, context, heads, width of the latent.
void add(CaseList& cases, const std::string& model, int batch, int context, int heads, int latent) {
  LatentShape shape;
  shape.batch = batch;
  shape.context = context;
  shape.heads = heads;
  shape.latent_dim = latent;
  shape.rope_dim = 64;
  cases.push_back({"latent.latent_decode.wgmma." + model + "-b" + std::to_string(batch) + "-s" +
                       std::to_string(context) + "-h" + std::to_string(heads) + "-d" +
                       std::to_string(latent),
                   [shape] { return make_latent_wgmma(shape); }});
}

}  // namespace

std::unique_ptr<Case> make_latent_wgmma(const LatentShape& shape, int splits) {
  return make<Mistake::none>(shape, splits);
}

#if !TS_ON_CARD
std::unique_ptr<Case> make_broken_latent_wgmma(const LatentShape& shape, int splits,
                                               Mistake mistake) {
  switch (mistake) {
    case Mistake::ring_overwritten:
      return make<Mistake::ring_overwritten>(shape, splits);
    case Mistake::announces_too_little:
      return make<Mistake::announces_too_little>(shape, splits);
    case Mistake::no_tail_mask:
      return make<Mistake::no_tail_mask>(shape, splits);
    case Mistake::no_barrier_before_probabilities:
      return make<Mistake::no_barrier_before_probabilities>(shape, splits);
    default:
      return make<Mistake::none>(shape, splits);
  }
}
#endif

void add_latent_wgmma_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add(cases, "mla", 2, 192, 64, 512);
    add(cases, "tpla", 1, 128, 128, 256);
    add(cases, "gla2", 1, 192, 64, 256);
    return;
  }
  // Sizes from a launch to over 1 GB, then intensity at fixed bytes by the number of heads.
  constexpr std::pair<int, int> kSizes[] = {{1, 1024},  {1, 32768},  {8, 8192},
                                            {32, 8192}, {128, 8192}, {64, 32768}};
  for (const auto& [batch, context] : kSizes) {
    add(cases, "mla", batch, context, 128, 512);
    add(cases, "mla-tp2", batch, context, 64, 512);
    add(cases, "tpla", batch, context, 128, 256);
    add(cases, "gla2", batch, context, 64, 256);
  }
  for (const int latent : {256, 512}) {
    for (const int heads : {16, 32, 64, 128, 256}) {
      add(cases, "intensity", 32, 16384, heads, latent);
    }
  }
  add(cases, "kimi-mla-tp2", 64, 32768, 32, 512);
  add(cases, "kimi-tpla", 64, 32768, 64, 256);
}

}  // namespace tiersim::kernels
