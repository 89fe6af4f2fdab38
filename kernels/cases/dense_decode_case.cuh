// Dense decode by our kernels: the split pass, and the combine where there is more than one split.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/dense_problem.hpp"
#include "kernels/device/combine.cuh"
#include "kernels/device/combine_work.hpp"
#include "kernels/device/dense_decode.cuh"
#include "kernels/device/dense_decode_work.hpp"
#include "kernels/device/gqa_decode.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

// Group 1 is dense_decode, larger groups are gqa_decode. Planted and missing_shared_bytes are for
// tests.
template <int Group, int Stages = 2, Mistake Planted = Mistake::none>
class DenseDecodeCase : public DenseProblem {
 public:
  static constexpr int kDim = 128;

  DenseDecodeCase(DenseShape shape, int splits, int missing_shared_bytes = 0)
      : DenseProblem(std::move(shape), splits), missing_shared_bytes_(missing_shared_bytes) {}

  CaseInfo info() const override {
    return {.family = "dense",
            .kernel = kName,
            .variant = (Group == 1 ? "fma.ring" : "mma_sync.ring") + std::to_string(Stages),
            .dtype = "bf16",
            .shape = named_shape()};
  }
  Work work() const override {
    Work work = dense_decode_work({.kv_heads = shape().kv_heads,
                                   .group = shape().group,
                                   .head_dim = kDim,
                                   .splits = splits()},
                                  shape().lengths, Group == 1 ? 1 : 16);
    if (splits() == 1) return work;
    std::int64_t filled = 0;
    for (const int length : shape().lengths) {
      filled += filled_splits(length, splits(), kSplitTile) * shape().kv_heads * Group;
    }
    return work + combine_splits_work(kDim, splits(), rows(), filled);
  }
  std::vector<LaunchUse> launches() const override {
    const std::int64_t blocks = std::int64_t{splits()} * shape().kv_heads * shape().batch;
    std::vector<LaunchUse> uses = {{.kernel = std::string(kName) + "<128, " +
                                              (Group == 1 ? "" : std::to_string(Group) + ", ") +
                                              std::to_string(Stages) + ">",
                                    .function = reinterpret_cast<const void*>(kernel()),
                                    .blocks = blocks,
                                    .threads = kThreads,
                                    .shared_bytes = kSharedBytes,
                                    .bytes_in_flight_per_block = kSharedBytes}};
    if (splits() > 1) {
      uses.push_back({.kernel = "combine_splits<128>",
                      .function = reinterpret_cast<const void*>(&combine_splits<kDim>),
                      .blocks = combine_blocks(kDim, rows()),
                      .threads = kCombineThreads,
                      .bytes_in_flight_per_block = kCombineThreads * 64});
    }
    return uses;
  }
  void enqueue(Stream& stream, int set) override {
    Arrays& in = arrays(set);
    const DenseArguments arguments = {.q = in.q.data(),
                                      .k = in.k.data(),
                                      .v = in.v.data(),
                                      .lengths = device_lengths(),
                                      .context = shape().context,
                                      .scale_log2 = scale() * kLog2E,
                                      .result = {partial(), lse(), in.out.data()}};
    const dim3 grid(static_cast<unsigned>(splits()), static_cast<unsigned>(shape().kv_heads),
                    static_cast<unsigned>(shape().batch));
    launch(stream, kernel(),
           {grid, dim3(kThreads), std::size_t{kSharedBytes} - std::size_t(missing_shared_bytes_)},
           arguments);
    if (splits() > 1) {
      launch(stream, combine_splits<kDim>,
             {dim3(static_cast<unsigned>(combine_blocks(kDim, rows()))), dim3(kCombineThreads)},
             partial(), lse(), splits(), rows(), in.out.data());
    }
  }

 private:
  using Layout = std::conditional_t<Group == 1, DenseDecodeLayout<kDim, Stages>,
                                    GqaDecodeLayout<kDim, Group, Stages>>;
  static constexpr const char* kName = Group == 1 ? "dense_decode" : "gqa_decode";
  static constexpr int kThreads = Layout::kThreads;
  static constexpr int kSharedBytes = Layout::kSharedBytes;
  static constexpr int kSplitTile = Layout::kSplitTile;
  static auto kernel() -> void (*)(const DenseArguments) {
    if constexpr (Group == 1) {
      return &dense_decode<kDim, Stages, Planted>;
    } else {
      return &gqa_decode<kDim, Group, Stages, Planted>;
    }
  }

  int missing_shared_bytes_;
};

}  // namespace tiersim::kernels
