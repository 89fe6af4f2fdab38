// The residual add at the end of a layer, fused with the inputs of an exit decision about the new
// state: its cosine with the state one layer before, or the sigmoid of a linear classifier (CALM,
// Schuster et al. 2022, section 3.5: hidden-state saturation and early-exit classifier), and the
// factor of the next layer's RMS norm.
//
//   state, delta, previous [rows][depth] bf16, classifier [depth] bf16
//   fresh [rows][depth] bf16 = state + delta; factor, confidence [rows] fp32
//
// A warp a row, 4 rows a block; all loads of a row (Units x 3 x 16 B a lane) are in flight before
// the first is used. Launch-bound at any batch of a decode step: 12 KB a row at most.
#pragma once
#include "kernels/device/conditional.cuh"
#include "kernels/device/exit_vote.cuh"
#include "kernels/device/math.cuh"

namespace tiersim::kernels {

enum class Confidence { cosine, classifier };

struct ResidualVote {
  const bf16* state;
  const bf16* delta;
  const bf16* other;  // previous of a row, or the classifier's weights
  float bias;         // of the classifier
  float epsilon;      // of the RMS norm
  int rows;
  int depth;  // a multiple of 8, at most 256 Units
  bf16* fresh;
  float* factor;
  float* confidence;
};

// Sums over a row: fresh^2, fresh other, other^2.
struct RowSums {
  float squares;
  float product;
  float others;
};

__device__ __forceinline__ unsigned word_of(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Adds two numbers of each to the sums and returns fresh, packed.
template <Confidence Measure>
__device__ __forceinline__ unsigned add_pair(unsigned state, unsigned delta, unsigned other,
                                             RowSums& sums) {
  const float low = low_float(state) + low_float(delta);
  const float high = high_float(state) + high_float(delta);
  sums.squares = multiply_add(low, low, multiply_add(high, high, sums.squares));
  sums.product =
      multiply_add(low, low_float(other), multiply_add(high, high_float(other), sums.product));
  if constexpr (Measure == Confidence::cosine) {
    sums.others = multiply_add(low_float(other), low_float(other),
                               multiply_add(high_float(other), high_float(other), sums.others));
  }
  return pack_bf16(low, high);
}

template <Confidence Measure, int Units>
__device__ __forceinline__ RowSums add_row(const ResidualVote& of, int row) {
  const std::int64_t first = static_cast<std::int64_t>(row) * of.depth;
  const auto unit_at = [](const bf16* array, std::int64_t at) {
    return load(reinterpret_cast<const uint4*>(array + at));
  };
  constexpr std::size_t kUnits{Units};
  uint4 state[kUnits], delta[kUnits], other[kUnits];
  TS_UNROLL
  for (int i = 0; i < Units; ++i) {
    const int k = 8 * (lane_index() + kWarp * i);
    state[i] = delta[i] = other[i] = make_uint4(0, 0, 0, 0);
    if (k < of.depth) {
      state[i] = unit_at(of.state, first + k);
      delta[i] = unit_at(of.delta, first + k);
      other[i] = unit_at(of.other, Measure == Confidence::cosine ? first + k : k);
    }
  }
  RowSums sums = {0, 0, 0};
  TS_UNROLL
  for (int i = 0; i < Units; ++i) {
    const int k = 8 * (lane_index() + kWarp * i);
    if (k >= of.depth) continue;
    unsigned fresh[4];
    TS_UNROLL
    for (int w = 0; w < 4; ++w) {
      fresh[w] =
          add_pair<Measure>(word_of(state[i], w), word_of(delta[i], w), word_of(other[i], w), sums);
    }
    store(reinterpret_cast<uint4*>(of.fresh + first + k),
          make_uint4(fresh[0], fresh[1], fresh[2], fresh[3]));
  }
  return {warp_sum(sums.squares), warp_sum(sums.product), warp_sum(sums.others)};
}

// Grid: rows / 4 rounded up, kVoteThreads threads, kVoteBytes of shared memory.
template <Confidence Measure, int Units, Mistake Planted = Mistake::none>
__global__ void __launch_bounds__(kVoteThreads) residual_vote(ResidualVote of, ExitState state) {
  const int row = static_cast<int>(blockIdx.x) * kVoteRows + warp_index();
  float confidence = 0;
  if (row < of.rows) {
    const RowSums sums = add_row<Measure, Units>(of, row);
    const float mean = sums.squares / static_cast<float>(of.depth);
    if constexpr (Measure == Confidence::cosine) {
      confidence = sums.product * inverse_root(sums.squares) * inverse_root(sums.others);
    } else {
      confidence = 1.0F / (1.0F + exp2_fast(-(sums.product + of.bias) * kLog2E));
    }
    if (lane_index() == 0) {
      store(of.factor + row, inverse_root(mean + of.epsilon));
      store(of.confidence + row, confidence);
    }
  }
  vote<Planted>(state, row, of.rows, confidence);
}

// Runs after the vote on one thread: publishes the status and resets it to 1 for the next layer's
// vote. all_exited: one int for the host to read. In a graph it also sets the condition of the next
// layer; with InGraph false the host decides.
template <bool InGraph>
__global__ void __launch_bounds__(1) exit_gate(int* status, int* all_exited, Condition next_layer) {
  const int all = load_coherent(status);
  store(all_exited, all);
  store(status, 1);
  if constexpr (InGraph) set_condition(next_layer, all != 0 ? 0U : 1U);
}

}  // namespace tiersim::kernels
