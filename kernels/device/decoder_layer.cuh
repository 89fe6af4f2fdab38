// Projections of a T5 v1.1 decoder layer for one step of decoding (Raffel et al. 2020, section 2.1;
// v1.1: gated GELU, Shazeer 2020, "GLU variants improve transformer"). The RMS norm before a
// projection needs no separate launch: its gain is folded into the weights offline and its factor
// comes from the token's numbers as they pass by.
//
//   state [tokens][depth] bf16; weights [rows][depth] bf16, gains folded in where normed
//
// All: grid (rows / 16, tokens / 8 Columns rounded up), kSkinnyThreads threads. Limited by HBM
// (T5-base: 16.5 MB of weights a layer, 3.8 us) and in practice by eight dependent launches of
// about 2 us each: the design estimate at B=1 is 16-20 us a layer.
#pragma once
#include "kernels/device/cache_append.cuh"
#include "kernels/device/skinny_product.cuh"

namespace tiersim::kernels {

struct Tokens {
  const bf16* numbers;  // [count][depth]
  int count;
  int depth;
  float epsilon;  // of the RMS norm; unused without a norm
};

__device__ __forceinline__ int first_skinny_row() {
  return static_cast<int>(blockIdx.x) * kSkinnyRows;
}
template <int Columns>
__device__ __forceinline__ int first_skinny_token() {
  return static_cast<int>(blockIdx.y) * 8 * Columns;
}
template <int Columns, int Matrices, bool Normed, Mistake Planted>
__device__ __forceinline__ void project_tokens(
    const Tokens& from, const bf16* const (&weights)[std::size_t{Matrices}]) {
  const int first_token = first_skinny_token<Columns>();
  SkinnyOperands<Matrices> of;
  TS_UNROLL
  for (int m = 0; m < Matrices; ++m) {
    of.weights[m] = weights[m] + static_cast<std::int64_t>(first_skinny_row()) * from.depth;
  }
  of.tokens = from.numbers + static_cast<std::int64_t>(first_token) * from.depth;
  of.tokens_left = from.count - first_token;
  of.depth = from.depth;
  skinny_product<Normed, Matrices, Columns, Planted>(of);
}

// Projection of the self attention: weights [3 inner][depth], rows of the queries, the keys, the
// values. query [tokens][inner] bf16; keys and values go to the cache. inner is cache.heads x 64.
template <int Columns, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kSkinnyThreads, Columns == 4 ? 2 : 3)
    project_qkv(Tokens from, const bf16* weights, bf16* query, CacheAppend cache) {
  project_tokens<Columns, 1, true, Planted>(from, {weights});
  const int first_token = first_skinny_token<Columns>();
  const int inner = cache.heads * kHeadSize;
  const int which = first_skinny_row() / inner;  // inner is a multiple of a block's rows
  const int first_row = first_skinny_row() - which * inner;
  over_skinny_pairs<Columns>(from.count - first_token, [&](int token, int row) {
    const int t = first_token + token;
    const float2 sum = skinny_sum<1, Columns>(0, token, row);
    const float factor = skinny_factor<1, Columns>(token, from.depth, from.epsilon);
    bf16* to = query + static_cast<std::int64_t>(t) * inner + first_row + row;
    if (which > 0) {
      to = (which == 1 ? cache.keys : cache.values) +
           cache_offset(cache, t, first_row + row, load(cache.positions + t));
    }
    store(reinterpret_cast<unsigned*>(to), pack_bf16(sum.x * factor, sum.y * factor));
  });
}

// out [tokens][rows] bf16 = RMS norm(from) weights^T, rows = 16 gridDim.x.
template <int Columns, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kSkinnyThreads, Columns == 4 ? 2 : 3)
    project_normed(Tokens from, const bf16* weights, bf16* out) {
  project_tokens<Columns, 1, true, Planted>(from, {weights});
  const int first_token = first_skinny_token<Columns>();
  const auto rows = static_cast<std::int64_t>(gridDim.x) * kSkinnyRows;
  over_skinny_pairs<Columns>(from.count - first_token, [&](int token, int row) {
    const float2 sum = skinny_sum<1, Columns>(0, token, row);
    const float factor = skinny_factor<1, Columns>(token, from.depth, from.epsilon);
    store(
        reinterpret_cast<unsigned*>(out + (first_token + token) * rows + first_skinny_row() + row),
        pack_bf16(sum.x * factor, sum.y * factor));
  });
}

// out [tokens][rows] bf16 = residual + from weights^T, no norm.
template <int Columns, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kSkinnyThreads, Columns == 4 ? 2 : 3)
    project_residual(Tokens from, const bf16* weights, const bf16* residual, bf16* out) {
  project_tokens<Columns, 1, false, Planted>(from, {weights});
  const int first_token = first_skinny_token<Columns>();
  const auto rows = static_cast<std::int64_t>(gridDim.x) * kSkinnyRows;
  over_skinny_pairs<Columns>(from.count - first_token, [&](int token, int row) {
    const float2 sum = skinny_sum<1, Columns>(0, token, row);
    const std::int64_t at = (first_token + token) * rows + first_skinny_row() + row;
    const unsigned before = load(reinterpret_cast<const unsigned*>(residual + at));
    store(reinterpret_cast<unsigned*>(out + at),
          pack_bf16(low_float(before) + sum.x, high_float(before) + sum.y));
  });
}

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, T5 v1.1's form of GELU; 1 + tanh(u) is
// 2 / (1 + exp(-2 u)).
__device__ __forceinline__ float gelu(float x) {
  const float u = 0.7978845608F * (x + 0.044715F * x * x * x);
  return x / (1.0F + exp2_fast(-2.0F * u * kLog2E));
}

// out [tokens][rows] bf16 = gelu(n gate^T) * (n linear^T), n = RMS norm(from). weights
// [rows / 32][2][32][depth]: 32 rows of the gate, the same 32 of the linear part, and so on.
constexpr int kGatedRows = 32;
template <int Columns, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kSkinnyThreads, 2)
    project_gated(Tokens from, const bf16* weights, bf16* out) {
  // The row of the weights is twice that of the output, apart from the position within its 32.
  const int shift = first_skinny_row() / kGatedRows * kGatedRows;
  const bf16* gate = weights + static_cast<std::int64_t>(shift) * from.depth;
  project_tokens<Columns, 2, true, Planted>(from, {gate, gate + kGatedRows * from.depth});
  const int first_token = first_skinny_token<Columns>();
  const auto rows = static_cast<std::int64_t>(gridDim.x) * kSkinnyRows;
  over_skinny_pairs<Columns>(from.count - first_token, [&](int token, int row) {
    const float2 a = skinny_sum<2, Columns>(0, token, row);
    const float2 b = skinny_sum<2, Columns>(1, token, row);
    const float factor = skinny_factor<2, Columns>(token, from.depth, from.epsilon);
    const std::int64_t at = (first_token + token) * rows + first_skinny_row() + row;
    store(reinterpret_cast<unsigned*>(out + at),
          pack_bf16(gelu(a.x * factor) * (b.x * factor), gelu(a.y * factor) * (b.y * factor)));
  });
}

}  // namespace tiersim::kernels
