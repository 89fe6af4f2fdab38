// Copies rows of a table in pinned host memory to staging in device memory over the link. Bandwidth
// is bytes in flight over the round-trip time: some 70 KB at 1.3 us for PCIe gen5.
#pragma once
#include "kernels/device/hopper.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels {

constexpr int kGatherThreads = 256;

// staging[i] = table[rows[i]] for i < count, rows of row_units x 16 B; by loads of 16 B a thread,
// of which Unroll are in flight.
template <unsigned Unroll>
__global__ void __launch_bounds__(kGatherThreads)
    gather_loads(const uint4* table, const int* rows, std::int64_t count, int row_units,
                 uint4* staging) {
  const std::int64_t units = count * row_units;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto place = [&](std::int64_t unit) {
    const std::int64_t row = load(rows + unit / row_units);
    return table + row * row_units + unit % row_units;
  };
  for (; at + (Unroll - 1) * stride < units; at += Unroll * stride) {
    uint4 v[Unroll];
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) v[i] = load(place(at + i * stride));
    TS_UNROLL
    for (unsigned i = 0; i < Unroll; ++i) store(staging + at + i * stride, v[i]);
  }
  for (; at < units; at += stride) store(staging + at, load(place(at)));
}

// The same by bulk copies, one for each row: a ring of Stages rows in shared memory, each with a
// barrier. One thread of a block of 32 issues all of them; the copy engines of the multiprocessor
// do the work.
template <int Stages>
struct BulkRing {
  static constexpr int kBarrierBytes = (8 * Stages + 127) / 128 * 128;
  static constexpr int shared_bytes(int row_bytes) { return kBarrierBytes + Stages * row_bytes; }
};

template <int Stages>
__global__ void __launch_bounds__(kWarp)
    gather_bulk(const uint4* table, const int* rows, std::int64_t count, int row_units,
                uint4* staging) {
  if (threadIdx.x != 0) return;
  constexpr int kBehind = (Stages + 7) / 8;
  auto* barriers = shared_memory<std::uint64_t>();
  const int row_bytes = 16 * row_units;
  const auto slot = [&](int stage) {
    return shared_memory<unsigned char>(static_cast<std::size_t>(BulkRing<Stages>::kBarrierBytes) +
                                        static_cast<std::size_t>(stage) *
                                            static_cast<std::size_t>(row_bytes));
  };
  for (int stage = 0; stage < Stages; ++stage) barrier_init(barriers + stage, 1);
  fence_barrier_init();
  // The table row for row number i of this block, i = 0, 1, ...
  const auto row_of = [&](std::int64_t i) { return blockIdx.x + i * gridDim.x; };
  const auto fetch = [&](std::int64_t i) {
    const int stage = static_cast<int>(i % Stages);
    const std::int64_t row = load(rows + row_of(i));
    barrier_arrive_expect(barriers + stage, row_bytes);
    bulk_load(slot(stage), table + row * row_units, row_bytes, barriers + stage);
  };
  for (std::int64_t i = 0; i < Stages && row_of(i) < count; ++i) fetch(i);
  for (std::int64_t i = 0; row_of(i) < count; ++i) {
    const int stage = static_cast<int>(i % Stages);
    barrier_wait(barriers + stage, static_cast<int>(i / Stages % 2));
    bulk_store(staging + row_of(i) * row_units, slot(stage), row_bytes);
    bulk_store_commit();
    // A slot is free once its store has read it. It is refilled some stores later, so that no store
    // is waited for immediately.
    if (i >= kBehind && row_of(i - kBehind + Stages) < count) {
      bulk_store_wait_read<kBehind>();
      fetch(i - kBehind + Stages);
    }
  }
  bulk_store_wait<0>();
}

}  // namespace tiersim::kernels
