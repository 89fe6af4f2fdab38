// Shuffles, votes, bits, integer and float arithmetic, bf16, e4m3.
#include "kernels/campaign/conformance.hpp"
#include "kernels/device/fp8.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/memory.cuh"

namespace tiersim::kernels::conformance {
namespace {

constexpr unsigned kThreads = 64;

// Twelve words for each thread.
__global__ void shuffle(const std::uint32_t* in, std::uint32_t* out) {
  const std::uint32_t value = load(in + threadIdx.x);
  const int by = static_cast<int>(value % 32U);
  std::uint32_t* to = out + 12U * threadIdx.x;
  store(to, __shfl_sync(kAllLanes, value, by));
  store(to + 1, __shfl_sync(kAllLanes, value, by + 32));
  store(to + 2, __shfl_xor_sync(kAllLanes, value, 1));
  store(to + 3, __shfl_xor_sync(kAllLanes, value, 21));
  store(to + 4, __shfl_up_sync(kAllLanes, value, 3));
  store(to + 5, __shfl_down_sync(kAllLanes, value, 7));
  const float real = static_cast<float>(by) * 0.5F;
  store(to + 6, __float_as_uint(__shfl_xor_sync(kAllLanes, real, 4)));
  const unsigned long long wide = 0x100000001ULL * value;
  store(to + 7, static_cast<std::uint32_t>(__shfl_down_sync(kAllLanes, wide, 1) >> 32U));
  const unsigned half = lane_index() < 16 ? 0xffffU : 0xffff0000U;
  store(to + 8, __shfl_xor_sync(half, value, 8));
  store(to + 9, __ballot_sync(kAllLanes, value % 3U == 0));
  store(to + 10, __ballot_sync(half, value % 2U == 0));
  const std::uint32_t any = __any_sync(kAllLanes, value % 61U == 0) ? 1 : 0;
  const std::uint32_t all = __all_sync(kAllLanes, value % 61U != 0) ? 2 : 0;
  store(to + 11, any + all);
}

// Eight words for each thread: bits, dp4a and rounding.
__global__ void arithmetic(const std::uint32_t* in, std::uint32_t* out) {
  const std::uint32_t a = load(in + threadIdx.x);
  const std::uint32_t b = load(in + kThreads + threadIdx.x);
  std::uint32_t* to = out + 8U * threadIdx.x;
  store(to, static_cast<std::uint32_t>(__popc(a)));
  store(to + 1, static_cast<std::uint32_t>(__clz(static_cast<int>(a >> (threadIdx.x % 32U)))));
  store(to + 2, static_cast<std::uint32_t>(__ffs(static_cast<int>(b << (threadIdx.x % 32U)))));
  store(to + 3, static_cast<std::uint32_t>(
                    dot4(static_cast<int>(a), static_cast<int>(b), static_cast<int>(a ^ b))));
  store(to + 4, __float_as_uint(multiply_add(__uint_as_float(a & 0xbfffffffU),
                                             __uint_as_float(b & 0xbfffffffU), 0.1F)));
  store(to + 5, static_cast<std::uint32_t>(min(static_cast<int>(a), static_cast<int>(b))));
  store(to + 6, max(a, b));
  store(to + 7, __float_as_uint(fmaxf(__int_as_float(static_cast<int>(a & 0xbfffffffU)), 0.5F)));
}

// Sums over 32, 16 and 4 lanes: the order of a sum is fixed, and so are its bits. (The factor is a
// power of two, so that contraction with the first sum does not change the result.)
__global__ void reduce(const std::uint32_t* in, std::uint32_t* out) {
  const float value = static_cast<float>(load(in + threadIdx.x)) * 0x1p-30F;
  std::uint32_t* to = out + 4U * threadIdx.x;
  store(to, __float_as_uint(warp_sum(value)));
  store(to + 1, __float_as_uint(warp_sum<16>(value)));
  store(to + 2, __float_as_uint(warp_sum<4>(value)));
  store(to + 3, __float_as_uint(warp_max(-value)));
}

__global__ void convert(const std::uint32_t* in, std::uint32_t* out) {
  const std::uint32_t bits = load(in + threadIdx.x + blockIdx.x * blockDim.x);
  const std::uint32_t other = load(in + threadIdx.x);
  std::uint32_t* to = out + std::size_t{4} * (threadIdx.x + blockIdx.x * blockDim.x);
  const float value = __uint_as_float(bits);
  store(to, pack_bf16(value, __uint_as_float(other)));
  store(to + 1, __float_as_uint(to_float(to_bf16(value))));
  store(to + 2, __float_as_uint(low_float(bits)));
  store(to + 3, __float_as_uint(high_float(bits)));
}

// Four words for each thread: e4m3 in every byte of a word, as bf16, exactly and times a scale.
__global__ void raise(const std::uint32_t* in, std::uint32_t* out) {
  const unsigned at = threadIdx.x + blockIdx.x * blockDim.x;
  const std::uint32_t word = load(in + at);
  store(out + std::size_t{4} * at, raise_e4m3(even_e4m3(word)));
  store(out + std::size_t{4} * at + 1, raise_e4m3(odd_e4m3(word)));
  const uint2 scaled = raise_word(word, 0.3F * kE4m3Factor);
  store(out + std::size_t{4} * at + 2, scaled.x);
  store(out + std::size_t{4} * at + 3, scaled.y);
}

// Every exponent, both signs, patterns that tie, infinities, both kinds of NaN.
Words float_patterns() {
  Words words = random_words(1024, 5);
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (const std::uint32_t fraction :
         {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0x18000U, 0x7f7fffU, 0x7f8000U}) {
      words.push_back(exponent << 23U | fraction);
      words.push_back(0x80000000U | exponent << 23U | fraction);
    }
  }
  return words;
}

enum class Approximate { exp2, log2, inverse_root };

template <Approximate Which>
__global__ void transcendental(const std::uint32_t* in, std::uint32_t* out) {
  const unsigned at = threadIdx.x + blockIdx.x * blockDim.x;
  const float value = __uint_as_float(load(in + at));
  float result = 0;
  if constexpr (Which == Approximate::exp2) result = exp2_fast(value);
  if constexpr (Which == Approximate::log2) result = log2_fast(value);
  if constexpr (Which == Approximate::inverse_root) result = inverse_root(value);
  store(out + at, __float_as_uint(result));
}

Words reals(float from, float to, std::uint64_t seed) {
  Words words = random_words(1024, seed);
  for (std::uint32_t& word : words) {
    const float share = static_cast<float>(word >> 8U) * 0x1p-24F;
    const float value = from + (to - from) * share;
    std::memcpy(&word, &value, sizeof word);
  }
  return words;
}

}  // namespace

void add_warp_probes(Probes& probes) {
  const Geometry one{dim3(1), dim3(kThreads), 0};
  const Words in = random_words(std::size_t{2} * kThreads, 6);
  const auto words = [](std::size_t a_thread) { return unwritten(a_thread * kThreads); };
  probes.push_back(probe("warp.shuffle_and_vote", shuffle, one, in, words(12)));
  probes.push_back(probe("warp.arithmetic", arithmetic, one, in, words(8)));
  probes.push_back(probe("warp.reduce", reduce, one, in, words(4)));
  const Words patterns = float_patterns();
  const Geometry many{dim3(static_cast<unsigned>(patterns.size() / kThreads)), dim3(kThreads), 0};
  probes.push_back(probe("warp.bf16", convert, many, patterns, unwritten(4 * patterns.size())));
  Words bytes(256);
  for (std::uint32_t i = 0; i < 256; ++i) {
    bytes[i] = i | (i + 85U) % 256U << 8U | (i + 170U) % 256U << 16U | (255U - i) << 24U;
  }
  probes.push_back(probe("warp.e4m3", raise, {dim3(4), dim3(kThreads), 0}, bytes, unwritten(1024)));
  // ex2.approx, lg2.approx and rsqrt.approx: 2 units in the last place; the emulator's error is 1
  // (PTX ISA, CUDA programming guide). Results below the smallest normal number are flushed to
  // zero. Near 1, lg2 has an absolute bound of 2^-22.
  const Geometry sixteen{dim3(16), dim3(kThreads), 0};
  Words exponents = reals(-40.0F, 40.0F, 7);
  exponents[0] = 0xff800000U;  // -inf
  exponents[1] = 0xc47a0000U;  // -1000
  exponents[2] = 0;
  exponents[3] = 0xc3020000U;  // -130: subnormal
  probes.push_back(probe("warp.exp2_fast", transcendental<Approximate::exp2>, sixteen, exponents,
                         unwritten(1024), {3, 0x1p-126F}));
  probes.push_back(probe("warp.log2_fast", transcendental<Approximate::log2>, sixteen,
                         reals(1e-6F, 1e6F, 8), unwritten(1024), {3, 0}));
  probes.push_back(probe("warp.log2_fast_near_1", transcendental<Approximate::log2>, sixteen,
                         reals(0.5F, 2.0F, 9), unwritten(1024), {3, 0x1p-22F}));
  probes.push_back(probe("warp.inverse_root", transcendental<Approximate::inverse_root>, sixteen,
                         reals(1e-6F, 1e6F, 10), unwritten(1024), {3, 0}));
}

}  // namespace tiersim::kernels::conformance
