#include "kernels/cases/dense.hpp"

#include "kernels/cases/dense_decode_case.cuh"
#include "kernels/cases/splits.hpp"

namespace tiersim::kernels {
namespace {

// For an H200: three blocks an SM; the ring of a block holds 128 tokens. A part writes and reads
// 128 numbers of 4 bytes for each head of a group; a token has 512 bytes.
constexpr SplitCosts costs_of(int group) {
  return {.slots = std::int64_t{132} * 3, .start_tokens = 128, .part_tokens = 2 * group};
}

template <int Group, int Stages>
void add(CaseList& cases, const DenseShape& shape, int splits) {
  std::string name = Group == 1 ? "dense.dense_decode.fma" : "dense.gqa_decode.mma_sync";
  name += ".ring" + std::to_string(Stages) + ".b" + std::to_string(shape.batch) + "-s" +
          std::to_string(shape.context) + "-h" + std::to_string(shape.kv_heads * Group) + "-kv" +
          std::to_string(shape.kv_heads);
  cases.push_back({.name = name, .make = [shape, splits] {
                     return std::make_unique<DenseDecodeCase<Group, Stages>>(shape, splits);
                   }});
}

template <int Group, int Stages = 2>
void add_timed(CaseList& cases, int batch, int context, int kv_heads) {
  add<Group, Stages>(cases,
                     {.batch = batch, .context = context, .kv_heads = kv_heads, .group = Group},
                     splits_for(std::int64_t{batch} * kv_heads, context, costs_of(Group)));
}

void add_toy(CaseList& cases) {
  add<1, 2>(cases, {.batch = 3, .context = 200, .kv_heads = 2, .lengths = {200, 1, 77}}, 2);
  add<1, 3>(cases, {.batch = 2, .context = 100, .kv_heads = 2, .lengths = {100, 64}}, 1);
  add<4, 2>(cases, {.batch = 2, .context = 100, .kv_heads = 2, .group = 4, .lengths = {99, 16}}, 1);
  add<8, 2>(cases, {.batch = 3, .context = 200, .kv_heads = 1, .group = 8, .lengths = {7, 0, 200}},
            2);
  add<16, 2>(cases, {.batch = 1, .context = 130, .kv_heads = 1, .group = 16}, 3);
}

}  // namespace

void add_dense_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_toy(cases);
    return;
  }
  // Llama-2-7B's layer in MAPLE's setting is b128-s8192-h32. Sizes go down to where launches
  // dominate.
  add_timed<1>(cases, 128, 8192, 32);
  add_timed<1, 3>(cases, 128, 8192, 32);
  add_timed<1>(cases, 128, 1024, 32);
  add_timed<1>(cases, 32, 8192, 32);
  add_timed<1>(cases, 16, 8192, 32);
  add_timed<1>(cases, 4, 8192, 32);
  add_timed<1>(cases, 1, 32768, 32);
  add_timed<1>(cases, 1, 8192, 32);
  add_timed<1>(cases, 1, 1024, 32);
  // GQA on one of two devices: 4 key heads of 128, for comparison with the latent methods.
  add_timed<8>(cases, 64, 32768, 4);
  add_timed<8>(cases, 16, 32768, 4);
  add_timed<8>(cases, 1, 131072, 4);
  add_timed<8>(cases, 1, 8192, 4);
  // The same bytes with other arithmetic intensities.
  add_timed<1>(cases, 16, 32768, 4);
  add_timed<4>(cases, 16, 32768, 4);
  add_timed<16>(cases, 16, 32768, 4);
}

}  // namespace tiersim::kernels
