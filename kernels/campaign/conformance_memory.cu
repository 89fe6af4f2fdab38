// Loads and stores of every width, atomics, cp.async.
#include "kernels/campaign/conformance.hpp"
#include "kernels/device/async_copy.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels::conformance {
namespace {

constexpr unsigned kThreads = 128;

// Thread t copies unit t, in reverse: out[t] = in[kThreads - 1 - t].
template <class T>
__global__ void copy_units(const std::uint32_t* in, std::uint32_t* out) {
  const auto* from = reinterpret_cast<const T*>(in);
  store(reinterpret_cast<T*>(out) + threadIdx.x, load(from + (kThreads - 1 - threadIdx.x)));
}

__global__ void copy_streaming(const std::uint32_t* in, std::uint32_t* out) {
  const auto* from = reinterpret_cast<const uint4*>(in);
  store_streaming(reinterpret_cast<uint4*>(out) + threadIdx.x,
                  load_streaming(from + (threadIdx.x ^ 5U)));
}

// The stores of the block are read back without L1.
__global__ void copy_coherent(const std::uint32_t* in, std::uint32_t* out) {
  store(out + threadIdx.x, load(in + threadIdx.x) * 3U);
  __syncthreads();
  const std::uint32_t other = load_coherent(out + (threadIdx.x ^ 33U));
  __syncthreads();
  store(out + threadIdx.x, other);
}

// out[0, 16): sums of 4 blocks; out[16, 32): bits that no thread cleared; the rest is written by
// thread 0 of block 0 alone: the return values of atomics.
__global__ void add_up(const std::uint32_t* in, std::uint32_t* out) {
  auto* at = reinterpret_cast<int*>(out);
  const unsigned global = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = static_cast<int>(load(in + global));
  atomic_add(at + global % 16U, value);
  atomic_and(at + 16 + global % 16U, ~(1 << (value & 31)));
  auto* sums = shared_memory<int>();
  if (threadIdx.x < 4U) sums[threadIdx.x] = 7;
  __syncthreads();
  atomic_add_shared(sums + threadIdx.x % 4U, value);
  __syncthreads();
  if (threadIdx.x < 4U) store(at + 32U + 4U * blockIdx.x + threadIdx.x, sums[threadIdx.x]);
  if (global == 0) {
    const int first = atomic_add(at + 48, 5);
    const int second = atomic_and(at + 48, 6);
    atomic_add(at + 49, first);
    atomic_add(at + 50, second);
  }
}

// cp.async of 16, 8 and 4 bytes, in full, in part and of 0 bytes, in two groups.
__global__ void copy_asynchronously(const std::uint32_t* in, std::uint32_t* out) {
  auto* to = shared_memory<std::uint32_t>() + 8U * threadIdx.x;
  const std::uint32_t* from = in + 8U * threadIdx.x;
  const int words = static_cast<int>(threadIdx.x % 5U);  // 0..4 of the 16 bytes
  for (unsigned i = 0; i < 8; ++i) to[i] = 0xffffffffU;
  copy_async<16>(to, from, 4 * words);
  copy_async_commit();
  copy_async<8>(to + 4, from + 4, words < 3 ? 8 : 4);
  copy_async<4>(to + 6, from + 7);
  copy_async<4>(to + 7, from + 6, words == 0 ? 0 : 4);
  copy_async_commit();
  copy_async_wait<1>();
  const std::uint32_t early = to[0] ^ to[3];
  copy_async_wait<0>();
  __syncthreads();
  const std::uint32_t* other = shared_memory<std::uint32_t>() + 8U * (kThreads - 1 - threadIdx.x);
  for (unsigned i = 0; i < 8; ++i) store(out + 9U * threadIdx.x + i, other[i]);
  store(out + 9U * threadIdx.x + 8U, early);
}

}  // namespace

void add_memory_probes(Probes& probes) {
  const Geometry one{dim3(1), dim3(kThreads), 0};
  const auto add_copy = [&](const char* name, Kernel kernel, std::size_t words) {
    probes.push_back(probe(name, kernel, one, random_words(words, words), unwritten(words)));
  };
  add_copy("memory.copy_1", copy_units<unsigned char>, kThreads / 4);
  add_copy("memory.copy_2", copy_units<unsigned short>, kThreads / 2);
  add_copy("memory.copy_4", copy_units<unsigned>, kThreads);
  add_copy("memory.copy_8", copy_units<uint2>, std::size_t{2} * kThreads);
  add_copy("memory.copy_16", copy_units<uint4>, std::size_t{4} * kThreads);
  add_copy("memory.copy_16_streaming", copy_streaming, std::size_t{4} * kThreads);
  add_copy("memory.copy_4_coherent", copy_coherent, kThreads);
  Words start(51, 0xffffffffU);
  for (std::size_t i = 0; i < 16; ++i) start[i] = 0;
  for (std::size_t i = 48; i < 51; ++i) start[i] = 3;
  probes.push_back(probe("memory.atomics", add_up, {dim3(4), dim3(kThreads), 16},
                         random_words(std::size_t{4} * kThreads, 3), start));
  const Geometry staged{dim3(1), dim3(kThreads), 32 * std::size_t{kThreads}};
  probes.push_back(probe("memory.copy_async", copy_asynchronously, staged,
                         random_words(std::size_t{8} * kThreads, 4),
                         unwritten(std::size_t{9} * kThreads)));
}

}  // namespace tiersim::kernels::conformance
