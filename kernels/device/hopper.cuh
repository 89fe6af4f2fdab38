// Data movement of sm_90: transaction barriers (mbarrier), bulk and tensor copies (TMA), register
// reallocation. Bulk copies complete a barrier phase: announce the bytes with
// barrier_arrive_expect, copy, then wait for the parity of the phase (0 first, then 1, 0, ...).
#pragma once
#include "kernels/device/async_copy.cuh"
#include "kernels/device/named_barrier.cuh"
#include "kernels/device/platform.cuh"

#if TS_ON_CARD
#include <cuda.h>
#endif

namespace tiersim::kernels {

#if TS_ON_CARD
using TensorMap = CUtensorMap;

// For one thread; then fence_barrier_init and a block barrier before the first use.
__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
// Arrives and announces the bytes of the copies of this phase.
__device__ __forceinline__ void barrier_arrive_expect(std::uint64_t* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Waits until the phase of this parity has completed.
__device__ __forceinline__ void barrier_wait(std::uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nWAIT_%=:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra WAIT_%=;\n}" ::"r"(
          shared_address(barrier)),
      "r"(parity)
      : "memory");
}
// bytes: a multiple of 16, both ends 16 B aligned; from: global memory or pinned host memory.
__device__ __forceinline__ void bulk_load(void* to, const void* from, int bytes,
                                          std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
// Loads a box of a two-dimensional tensor from column x and row y; the map holds the size of the
// box. Elements outside the tensor are zeros and count in the bytes.
__device__ __forceinline__ void tensor_load(void* to, const TensorMap* map, std::uint64_t* barrier,
                                            int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3, %4}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
}
__device__ __forceinline__ void prefetch_tensor_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// Stores from shared to global memory, in groups as copy_async does. Shared memory may be reused
// after the wait. Ordinary stores to it need fence_async_proxy by the storing thread, then a
// barrier.
__device__ __forceinline__ void bulk_store(void* to, const void* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int GroupsLeft>
__device__ __forceinline__ void bulk_store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(GroupsLeft) : "memory");
}
// Waits only until shared memory has been read; the stores may not be visible yet.
template <int GroupsLeft>
__device__ __forceinline__ void bulk_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GroupsLeft) : "memory");
}
// Orders ordinary accesses of shared memory before later copies and wgmma.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// Sets the registers of each thread of the warpgroup, a multiple of 8; all its warps call it.
template <int Registers>
__device__ __forceinline__ void raise_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void lower_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
#else
// bf16 matrix of `rows` rows of `columns`, `row_bytes` apart; boxes of box_rows x box_columns.
struct TensorMap {
  const void* base;
  std::uint64_t columns, rows, row_bytes;
  unsigned box_columns, box_rows;
  bool swizzled;  // 128 B: the 16 B units of each 128 B row are permuted by the number of the row
};

inline void barrier_init(std::uint64_t* barrier, int arrivals) {
  emulator::block().barrier_init(barrier, arrivals);
}
inline void fence_barrier_init() {}
inline void barrier_arrive(std::uint64_t* barrier) {
  emulator::block().barrier_arrive(barrier, 0);
}
inline void barrier_arrive_expect(std::uint64_t* barrier, int bytes) {
  emulator::block().barrier_arrive(barrier, bytes);
}
inline void barrier_wait(std::uint64_t* barrier, int parity, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  emulator::block().barrier_wait(barrier, static_cast<unsigned>(parity),
                                 {"barrier_wait", file, line});
}
void bulk_load(void* to, const void* from, int bytes, std::uint64_t* barrier);
void tensor_load(void* to, const TensorMap* map, std::uint64_t* barrier, int x, int y);
inline void prefetch_tensor_map(const TensorMap*) {}
inline void bulk_store(void* to, const void* from, int bytes) {
  emulator::block().bulk_store({to, from, static_cast<std::uint32_t>(bytes), 0});
}
inline void bulk_store_commit() {
  emulator::block().bulk_store_commit();
}
template <int GroupsLeft>
void bulk_store_wait() {
  emulator::block().bulk_store_wait(GroupsLeft);
}
template <int GroupsLeft>
void bulk_store_wait_read() {
  emulator::block().bulk_store_wait(GroupsLeft);
}
inline void fence_async_proxy() {
  emulator::block().show_to_async_proxy();
}
template <int Registers>
void raise_registers() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
}
template <int Registers>
void lower_registers() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
}
#endif

}  // namespace tiersim::kernels
