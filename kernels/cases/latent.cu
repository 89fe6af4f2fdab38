#include "kernels/cases/latent.hpp"

#include "kernels/cases/latent_decode_case.cuh"
#include "kernels/cases/splits.hpp"

namespace tiersim::kernels {
namespace {

template <class Layout>
void add(CaseList& cases, const LatentShape& shape, int splits) {
  const std::string name = "latent.latent_decode.mma_sync." +
                           std::string(shape.paged ? "paged." : "") + "b" +
                           std::to_string(shape.batch) + "-s" + std::to_string(shape.context) +
                           "-h" + std::to_string(shape.heads) + "-d" +
                           std::to_string(shape.latent_dim) + "." + std::to_string(shape.rope_dim);
  cases.push_back({.name = name, .make = [shape, splits] {
                     return std::make_unique<LatentDecodeCase<Layout>>(shape, splits);
                   }});
}

template <class Layout>
void add_timed(CaseList& cases, int batch, int context, int heads, bool paged = false) {
  // Blocks of an H200's SM by shared memory; the queries and the first tiles are a block's start.
  constexpr std::int64_t kBlocks = 228 * 1024 / (Layout::kSharedBytes + 1024);
  constexpr SplitCosts kCosts = {
      .slots = 132 * kBlocks,
      .start_tokens = Layout::kRows + Layout::kTokens,
      .part_tokens = std::int64_t{Layout::kRows} * Layout::kLatent * 8 / (2 * Layout::kDepth)};
  add<Layout>(cases,
              {.batch = batch,
               .context = context,
               .heads = heads,
               .latent_dim = Layout::kLatent,
               .rope_dim = Layout::kDepth - Layout::kLatent,
               .paged = paged},
              splits_for(std::int64_t{batch} * (heads / Layout::kRows), context, kCosts));
}

template <class Layout>
void add_toy(CaseList& cases, std::vector<int> lengths, int context, int splits, bool paged) {
  add<Layout>(cases,
              {.batch = static_cast<int>(lengths.size()),
               .context = context,
               .heads = Layout::kRows,
               .latent_dim = Layout::kLatent,
               .rope_dim = Layout::kDepth - Layout::kLatent,
               .lengths = lengths,
               .paged = paged},
              splits);
}

void add_toys(CaseList& cases) {
  add_toy<LatentLayout512x64>(cases, {80}, 80, 1, false);
  add_toy<LatentLayout512x32>(cases, {80}, 80, 1, false);
  add_toy<LatentLayout512x16>(cases, {130, 7}, 130, 2, false);
  add_toy<LatentLayout256x128>(cases, {80}, 80, 1, false);
  add_toy<LatentLayout256x64>(cases, {70, 1}, 100, 2, true);
}

}  // namespace

void add_latent_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_toys(cases);
    return;
  }
  // The same bytes, intensities by the number of heads: MLA is 128 (one device) or 64 (one of two).
  add_timed<LatentLayout512x16>(cases, 64, 32768, 16);
  add_timed<LatentLayout512x32>(cases, 64, 32768, 32);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 64);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 128);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 256);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 64, true);
  // Shards: GLA-2 64 heads, TPLA 128.
  add_timed<LatentLayout256x64>(cases, 64, 32768, 64);
  add_timed<LatentLayout256x128>(cases, 64, 32768, 128);
  add_timed<LatentLayout256x128>(cases, 64, 32768, 256);
  add_timed<LatentLayout256x128>(cases, 64, 32768, 128, true);
  // From launch-bound on.
  for (const auto& [batch, context] :
       {std::pair{1, 1024}, {1, 8192}, {1, 131072}, {16, 8192}, {16, 32768}, {128, 8192}}) {
    add_timed<LatentLayout512x64>(cases, batch, context, 64);
    add_timed<LatentLayout256x128>(cases, batch, context, 128);
  }
  add_timed<LatentLayout256x64>(cases, 1, 8192, 64);
  add_timed<LatentLayout256x64>(cases, 16, 32768, 64);
}

}  // namespace tiersim::kernels
