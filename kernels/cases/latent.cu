#include "kernels/cases/latent.hpp"

#include "kernels/cases/latent_decode_case.cuh"
#include "kernels/cases/latent_shard_case.cuh"
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
  // Blocks on an SM of an H200 by shared memory. The start of a block loads the queries and the
  // first tiles.
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

template <int Latent, class In>
void add_append(CaseList& cases, const AppendShape& shape) {
  const std::string name =
      "latent.append_latent." + std::string(sizeof(In) == 2 ? "bf16" : "fp32") +
      (shape.paged ? ".paged" : "") + ".b" + std::to_string(shape.batch) + "-s" +
      std::to_string(shape.context) + "-d" + std::to_string(Latent) + ".64";
  cases.push_back({.name = name, .make = [shape] {
                     return std::make_unique<AppendLatentCase<Latent, In>>(shape);
                   }});
}

void add_join(CaseList& cases, int batch, int width) {
  cases.push_back({.name = "latent.join_shards.one_shot.b" + std::to_string(batch) + "-w" +
                           std::to_string(width),
                   .make = [=] { return std::make_unique<JoinShardsCase>(batch, width); },
                   .warm_too = true});
}

void add_toys(CaseList& cases) {
  add_toy<LatentLayout512x64>(cases, {80}, 80, 1, false);
  add_toy<LatentLayout512x32>(cases, {80}, 80, 1, false);
  add_toy<LatentLayout512x16>(cases, {130, 7}, 130, 2, false);
  add_toy<LatentLayout256x128>(cases, {80}, 80, 1, false);
  add_toy<LatentLayout256x64>(cases, {70, 1}, 100, 2, true);
  add_append<256, bf16>(cases, {.batch = 5, .context = 100});
  add_append<256, bf16>(cases, {.batch = 3, .context = 100, .paged = true});
  add_append<512, float>(cases, {.batch = 4, .context = 64});
  add_join(cases, 3, 1000);
}

}  // namespace

void add_latent_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_toys(cases);
    return;
  }
  // The same bytes with intensity by the number of heads: MLA has 128 (one device) or 64 (one of
  // two).
  add_timed<LatentLayout512x16>(cases, 64, 32768, 16);
  add_timed<LatentLayout512x32>(cases, 64, 32768, 32);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 64);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 128);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 256);
  add_timed<LatentLayout512x64>(cases, 64, 32768, 64, true);
  // Shards: 64 heads of GLA-2, 128 heads of TPLA.
  add_timed<LatentLayout256x64>(cases, 64, 32768, 64);
  add_timed<LatentLayout256x128>(cases, 64, 32768, 128);
  add_timed<LatentLayout256x128>(cases, 64, 32768, 256);
  add_timed<LatentLayout256x128>(cases, 64, 32768, 128, true);
  // The smallest of these sizes are bound by the launch.
  for (const auto& [batch, context] :
       {std::pair{1, 1024}, {1, 8192}, {1, 131072}, {16, 8192}, {16, 32768}, {128, 8192}}) {
    add_timed<LatentLayout512x64>(cases, batch, context, 64);
    add_timed<LatentLayout256x128>(cases, batch, context, 128);
  }
  add_timed<LatentLayout256x64>(cases, 1, 8192, 64);
  add_timed<LatentLayout256x64>(cases, 16, 32768, 64);
  for (const int batch : {1, 64, 1024, 16384}) {
    add_append<256, bf16>(cases, {.batch = batch, .context = 64});
    add_append<512, bf16>(cases, {.batch = batch, .context = 64});
  }
  add_append<256, float>(cases, {.batch = 64, .context = 64});
  add_append<256, bf16>(cases, {.batch = 64, .context = 64, .paged = true});
  // DeepSeek's hidden width; sums of 14 KB to 1.4 GB.
  for (const int batch : {1, 16, 64, 128, 1024, 8192, 32768}) add_join(cases, batch, 7168);
}

}  // namespace tiersim::kernels
