// cp.async: 16 (or 4, 8) bytes for each thread from global into shared memory, without registers in
// between. A copy has landed after a wait for its group, and is visible to other threads after a
// barrier.
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
// valid: bytes to read; the rest of the Bytes is filled with zeros (0 reads nothing).
template <int Bytes = 16>
__device__ __forceinline__ void copy_async(void* to, const void* from, int valid = Bytes) {
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(valid)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                 "l"(from), "n"(Bytes), "r"(valid)
                 : "memory");
  }
}
__device__ __forceinline__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until at most GroupsLeft of the newest groups of this thread are in flight.
template <int GroupsLeft>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(GroupsLeft) : "memory");
}
#else
template <int Bytes = 16>
void copy_async(void* to, const void* from, int valid = Bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  emulator::block().async_copy(
      {to, from, static_cast<std::uint32_t>(valid), static_cast<std::uint32_t>(Bytes - valid)});
}
inline void copy_async_commit() {
  emulator::block().async_commit();
}
template <int GroupsLeft>
void copy_async_wait() {
  emulator::block().async_wait(GroupsLeft);
}
#endif

}  // namespace tiersim::kernels
