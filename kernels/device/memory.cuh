// Loads and stores of global memory, one instruction each: T has 1, 2, 4, 8 or 16 bytes and the
// address is aligned to it. The emulator checks and counts each of them. It could not check a plain
// dereference of a global pointer, so kernels have none. Shared memory is dereferenced plainly.
#pragma once
#include "kernels/device/platform.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
// Loads memory that no thread writes during the kernel (read-only path).
template <class T>
__device__ __forceinline__ T load(const T* from) {
  return __ldg(from);
}
// Loads data that is read once, without L1. (ptxas takes .L2::evict_first with 32 B loads only, of
// sm_100.)
__device__ __forceinline__ uint4 load_streaming(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}
// Loads memory that this grid or the host may write: from L2, never from L1.
template <class T>
__device__ __forceinline__ T load_coherent(const T* from) {
  return __ldcg(from);
}
template <class T>
__device__ __forceinline__ void store(T* to, T value) {
  *to = value;
}
template <class T>
__device__ __forceinline__ void store_streaming(T* to, T value) {
  __stcs(to, value);
}
#else
template <class T>
T load(const T* from) {
  emulator::machine().memory.read_only(from, sizeof(T), sizeof(T));
  return *from;
}
inline uint4 load_streaming(const uint4* from) {
  return load(from);
}
template <class T>
T load_coherent(const T* from) {
  emulator::machine().memory.read(from, sizeof(T), sizeof(T));
  return *from;
}
template <class T>
void store(T* to, T value) {
  emulator::machine().memory.write(to, sizeof(T), sizeof(T));
  *to = value;
}
template <class T>
void store_streaming(T* to, T value) {
  store(to, value);
}
#endif

// Atomics of global memory (relaxed); each returns the previous value.
__device__ __forceinline__ int atomic_add(int* at, int value) {
#if TS_ON_CARD
  return atomicAdd(at, value);
#else
  emulator::machine().memory.update(at, 4, 4);
  return std::atomic_ref<int>(*at).fetch_add(value, std::memory_order_relaxed);
#endif
}
__device__ __forceinline__ int atomic_and(int* at, int value) {
#if TS_ON_CARD
  return atomicAnd(at, value);
#else
  emulator::machine().memory.update(at, 4, 4);
  return std::atomic_ref<int>(*at).fetch_and(value, std::memory_order_relaxed);
#endif
}
// The same in shared memory.
__device__ __forceinline__ int atomic_add_shared(int* at, int value) {
#if TS_ON_CARD
  return atomicAdd(at, value);
#else
  emulator::block().expect_shared(at, 4, 4, "an atomic in shared memory");
  return std::atomic_ref<int>(*at).fetch_add(value, std::memory_order_relaxed);
#endif
}

}  // namespace tiersim::kernels
