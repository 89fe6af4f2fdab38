// Rows of a step of sparse offload, from two memories in one launch: those that lru_update did not
// find come from pinned host memory into their slots of the hot buffer, and, staged, all rows of
// the list are laid side by side, those found from their slots.
//
//   moves     [batch][k]         int2   of lru_update: rows to fetch, then rows found
//   misses    [batch]            int32  rows to fetch
//   lengths   [batch]            int32  staged only: the list has min(k, length) rows
//   table     [rows][RowUnits]   16 B   in host memory
//   rows      [batch][context]   int32  the row of the table that each token has
//   buffer    [batch][slots][RowUnits]
//   staging   [batch][k][RowUnits]      staged only; rows past the list are left as they are
//
// Launch: grid (blocks a sequence, batch), kHotGatherThreads, no shared memory.
//
// Threads take units of 16 B side by side, rows to fetch first: a warp reads 512 contiguous bytes
// of a row of 656, and loads over the link are in flight before those of the device. A slot is read
// or written, never both, so that blocks need no order. Rows are not whole sectors of 32 B, so that
// two slots may share one: rows are read from L2, never from L1.
//
// Limiter: the link. 32 KB in flight a block; 70 KB fill PCIe gen5 (1.3 us x 55 GB/s), NVLink-C2C
// wants ten times that. With few misses the launch and one round trip: 4 to 5 us.
#pragma once
#include "kernels/device/hot_gather_work.hpp"
#include "kernels/device/lru_update_work.hpp"
#include "kernels/device/memory.cuh"
#include "kernels/device/mistakes.hpp"

namespace tiersim::kernels {

struct HotGatherArguments {
  const int2* moves;
  const int* misses;
  const int* lengths;
  const uint4* table;
  const int* rows;
  uint4* buffer;
  uint4* staging;
  int k;
  int slots;
  int context;
};

// The copies of one sequence. InShared: its moves are in shared memory.
template <int RowUnits, bool Staged, bool InShared, Mistake M>
class HotGather {
 public:
  __device__ __forceinline__ HotGather(const HotGatherArguments& arguments, int sequence,
                                       const int2* moves, int misses, int count)
      : table_(arguments.table),
        moves_(moves),
        rows_(arguments.rows + std::int64_t{sequence} * arguments.context),
        buffer_(arguments.buffer + std::int64_t{sequence} * arguments.slots * RowUnits),
        staging_(arguments.staging + std::int64_t{sequence} * arguments.k * RowUnits),
        misses_(misses),
        count_(Staged ? count : misses) {}

  // Copies units first, first + stride, ...; Loads of them are in flight.
  template <int Loads>
  __device__ __forceinline__ void copy(int first, int stride) const {
    TS_NO_UNROLL
    for (int unit = first; unit < units(); unit += Loads * stride) {
      int2 moves[std::size_t{Loads}];
      const uint4* from[std::size_t{Loads}];
      uint4 values[std::size_t{Loads}];
      TS_UNROLL
      for (int i = 0; i < Loads; ++i) {
        if (unit + i * stride < units()) moves[i] = move(unit + i * stride);
      }
      TS_UNROLL
      for (int i = 0; i < Loads; ++i) {
        if (unit + i * stride < units()) from[i] = source(unit + i * stride, moves[i]);
      }
      TS_UNROLL
      for (int i = 0; i < Loads; ++i) {
        if (unit + i * stride < units()) values[i] = load_coherent(from[i]);
      }
      TS_UNROLL
      for (int i = 0; i < Loads; ++i) {
        if (unit + i * stride < units()) write(unit + i * stride, moves[i], values[i]);
      }
    }
  }

 private:
  __device__ __forceinline__ int units() const { return count_ * RowUnits; }
  __device__ __forceinline__ int2 move(int unit) const {
    return InShared ? moves_[unit / RowUnits] : load(moves_ + unit / RowUnits);
  }

  // One kind of load serves both memories, so that no branch comes between the loads of a thread.
  __device__ __forceinline__ const uint4* source(int unit, int2 move) const {
    const bool fetched = unit / RowUnits < misses_ && M != Mistake::wrong_source;
    const std::int64_t row = fetched ? load(rows_ + move.x) : move.y & 0xffff;
    return (fetched ? table_ : buffer_) + row * RowUnits + unit % RowUnits;
  }
  __device__ __forceinline__ void write(int unit, int2 move, uint4 value) const {
    if (unit / RowUnits < misses_) store(slot(move) + unit % RowUnits, value);
    if constexpr (Staged) {
      const std::int64_t position = move.y >> kMovePositionShift & 0xffff;
      store(staging_ + position * RowUnits + unit % RowUnits, value);
    }
  }

  __device__ __forceinline__ uint4* slot(int2 move) const {
    return buffer_ + std::int64_t{move.y & 0xffff} * RowUnits;
  }

  const uint4* table_;
  const int2* moves_;
  const int* rows_;
  uint4* buffer_;
  uint4* staging_;
  int misses_;
  int count_;
};

template <int RowUnits, bool Staged, Mistake M = Mistake::none>
__global__ void __launch_bounds__(kHotGatherThreads)
    hot_gather(const HotGatherArguments arguments) {
  const int sequence = static_cast<int>(blockIdx.y);
  const HotGather<RowUnits, Staged, false, M> gather(
      arguments, sequence, arguments.moves + std::int64_t{sequence} * arguments.k,
      load(arguments.misses + sequence),
      Staged ? min(arguments.k, load(arguments.lengths + sequence)) : 0);
  gather.template copy<kHotGatherLoads>(
      static_cast<int>(blockIdx.x) * kHotGatherThreads + static_cast<int>(threadIdx.x),
      static_cast<int>(gridDim.x) * kHotGatherThreads);
}

}  // namespace tiersim::kernels
