// The CUDA language for an ordinary compiler: keywords, built-in variables and the intrinsics of
// the kernels. Only device/platform.cuh includes it, when not compiling for a card.
//
// __shared__ is left undefined on purpose: kernels take all shared memory as one dynamic array, so
// that its size is exact and every access beyond it is caught.
#pragma once
#include <math.h>  // NOLINT(modernize-deprecated-headers): fmaxf and the like, unqualified as in CUDA

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/emulator/launch.hpp"
#include "kernels/emulator/matrix.hpp"
#include "kernels/emulator/types.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): CUDA's names
#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __grid_constant__
#undef __shared__
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

#define threadIdx (::tiersim::emulator::block().self().index)
#define blockIdx (::tiersim::emulator::block().index)
#define blockDim (::tiersim::emulator::block().shape)
#define gridDim (::tiersim::emulator::block().grid)

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  tiersim::emulator::block().synchronize({"__syncthreads", file, line});
}
inline void __syncwarp(unsigned mask = 0xffffffffU, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  tiersim::emulator::block().warp_operation(mask, 1, nullptr, {"__syncwarp", file, line}, true);
}

namespace tiersim::emulator {

enum class Shuffle { index, exclusive_or, up, down };
std::uint64_t shuffle(Shuffle kind, unsigned mask, std::uint64_t bits, int argument, Site site);
unsigned ballot(unsigned mask, bool predicate, Site site);

template <class T>
T shuffle_value(Shuffle kind, unsigned mask, T value, int argument, Site site) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = shuffle(kind, mask, bits, argument, site);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace tiersim::emulator

#define TS_EMULATED_SHUFFLE(name, kind)                                                    \
  template <class T>                                                                       \
  T name(unsigned mask, T value, int argument, const char* file = __builtin_FILE(),        \
         int line = __builtin_LINE()) {                                                    \
    return tiersim::emulator::shuffle_value(tiersim::emulator::Shuffle::kind, mask, value, \
                                            argument, {#name, file, line});                \
  }
TS_EMULATED_SHUFFLE(__shfl_sync, index)
TS_EMULATED_SHUFFLE(__shfl_xor_sync, exclusive_or)
TS_EMULATED_SHUFFLE(__shfl_up_sync, up)
TS_EMULATED_SHUFFLE(__shfl_down_sync, down)
#undef TS_EMULATED_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, bool predicate, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
  return tiersim::emulator::ballot(mask, predicate, {"__ballot_sync", file, line});
}
inline bool __any_sync(unsigned mask, bool predicate, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  return tiersim::emulator::ballot(mask, predicate, {"__any_sync", file, line}) != 0;
}
inline bool __all_sync(unsigned mask, bool predicate, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  return tiersim::emulator::ballot(mask, predicate, {"__all_sync", file, line}) == mask;
}

inline int __popc(unsigned bits) {
  return std::popcount(bits);
}
inline int __clz(int bits) {
  return std::countl_zero(static_cast<unsigned>(bits));
}
inline int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
inline unsigned __float_as_uint(float value) {
  return std::bit_cast<unsigned>(value);
}
inline float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
inline int __float_as_int(float value) {
  return std::bit_cast<int>(value);
}
inline float __int_as_float(int bits) {
  return std::bit_cast<float>(bits);
}

constexpr int min(int a, int b) {
  return b < a ? b : a;
}
constexpr int max(int a, int b) {
  return a < b ? b : a;
}
constexpr unsigned min(unsigned a, unsigned b) {
  return b < a ? b : a;
}
constexpr unsigned max(unsigned a, unsigned b) {
  return a < b ? b : a;
}
constexpr long min(long a, long b) {
  return b < a ? b : a;
}
constexpr long max(long a, long b) {
  return a < b ? b : a;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
