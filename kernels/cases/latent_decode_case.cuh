// Latent decode on mma.sync: the split pass, and the combine where there is more than one split.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/latent_problem.hpp"
#include "kernels/device/combine.cuh"
#include "kernels/device/combine_work.hpp"
#include "kernels/device/latent_decode.cuh"
#include "kernels/device/latent_decode_work.hpp"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

// Blocks of 64 heads over 512 + 64 (MLA), or of 32 and 16 where there are fewer heads; of 128 over
// 256 + 64 (TPLA); of 64 over 256 + 64 (GLA-2; two of these blocks fit an SM).
using LatentLayout512x64 = LatentDecodeLayout<512, 64, 2, 2, 4, 64, 2>;
using LatentLayout512x32 = LatentDecodeLayout<512, 64, 2, 1, 4, 64, 2>;
using LatentLayout512x16 = LatentDecodeLayout<512, 64, 1, 1, 4, 64, 2>;
using LatentLayout256x128 = LatentDecodeLayout<256, 64, 4, 2, 2, 64, 3>;
using LatentLayout256x64 = LatentDecodeLayout<256, 64, 2, 2, 2, 32, 3>;

// "LatentDecodeLayout<512,64,...>", as in the register budgets.
template <int First, int... More>
std::string layout_name(LatentDecodeLayout<First, More...>) {
  std::string name = "LatentDecodeLayout<" + std::to_string(First);
  ((name += "," + std::to_string(More)), ...);
  return name + ">";
}

// Planted and missing_shared_bytes are for tests.
template <class Layout, Mistake Planted = Mistake::none>
class LatentDecodeCase : public LatentProblem {
 public:
  // shape.heads: a multiple of Layout::kRows.
  LatentDecodeCase(LatentShape shape, int splits, int missing_shared_bytes = 0)
      : LatentProblem(std::move(shape), splits), missing_shared_bytes_(missing_shared_bytes) {}

  CaseInfo info() const override {
    return {.family = "latent",
            .kernel = "latent_decode",
            .variant = "mma_sync",
            .dtype = "bf16",
            .shape = named_shape()};
  }
  Work work() const override {
    Work work = latent_decode_work({.latent = Layout::kLatent,
                                    .rope = Layout::kDepth - Layout::kLatent,
                                    .heads = shape().heads,
                                    .splits = splits(),
                                    .paged = shape().paged,
                                    .block_heads = Layout::kRows,
                                    .threads = Layout::kThreads,
                                    .tile = Layout::kTokens},
                                   lengths());
    if (splits() == 1) return work;
    std::int64_t filled = 0;
    for (const int length : lengths()) {
      filled += filled_splits(length, splits(), Layout::kTokens) * shape().heads;
    }
    return work + combine_splits_work(Layout::kLatent, splits(), rows(), filled);
  }
  std::vector<LaunchUse> launches() const override {
    const std::int64_t blocks =
        std::int64_t{shape().heads / Layout::kRows} * splits() * shape().batch;
    std::vector<LaunchUse> uses = {
        {.kernel = "latent_decode<" + layout_name(Layout{}) + ">",
         .function = reinterpret_cast<const void*>(&latent_decode<Layout, Planted>),
         .blocks = blocks,
         .threads = Layout::kThreads,
         .shared_bytes = Layout::kSharedBytes,
         .bytes_in_flight_per_block = (Layout::kStages - 1) * Layout::kStageBytes}};
    if (splits() > 1) {
      uses.push_back({.kernel = "combine_splits<" + std::to_string(Layout::kLatent) + ">",
                      .function = reinterpret_cast<const void*>(&combine_splits<Layout::kLatent>),
                      .blocks = combine_blocks(Layout::kLatent, rows()),
                      .threads = kCombineThreads,
                      .bytes_in_flight_per_block = kCombineThreads * 64});
    }
    return uses;
  }
  void enqueue(Stream& stream, int set) override {
    Arrays& in = arrays(set);
    const LatentDecodeArguments arguments = {.q = in.q.data(),
                                             .kv = in.kv.data(),
                                             .lengths = device_lengths(),
                                             .page_table = device_pages(),
                                             .context = shape().context,
                                             .pages_per_sequence = pages_per_sequence(),
                                             .scale_log2 = scale() * kLog2E,
                                             .result = {partial(), lse(), in.out.data()}};
    const dim3 grid(static_cast<unsigned>(shape().heads / Layout::kRows),
                    static_cast<unsigned>(splits()), static_cast<unsigned>(shape().batch));
    launch(stream, latent_decode<Layout, Planted>,
           {grid, dim3(Layout::kThreads),
            std::size_t{Layout::kSharedBytes} - std::size_t(missing_shared_bytes_)},
           arguments);
    if (splits() > 1) {
      launch(stream, combine_splits<Layout::kLatent>,
             {dim3(static_cast<unsigned>(combine_blocks(Layout::kLatent, rows()))),
              dim3(kCombineThreads)},
             partial(), lse(), splits(), rows(), in.out.data());
    }
  }

 private:
  int missing_shared_bytes_;
};

}  // namespace tiersim::kernels
