// CUDA's built-in vector types and bf16, for compilers without CUDA's headers. With
// TS_EMULATOR_CUDA_TYPES the toolkit's types are used instead; a test compares both bit for bit.
#pragma once
#include <bit>
#include <cstdint>

#if defined(TS_EMULATOR_CUDA_TYPES)
#include <cuda_bf16.h>
#include <vector_functions.h>
#include <vector_types.h>
#else
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
constexpr int2 make_int2(int x, int y) {
  return {x, y};
}
constexpr int4 make_int4(int x, int y, int z, int w) {
  return {x, y, z, w};
}
constexpr uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
constexpr uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
constexpr float2 make_float2(float x, float y) {
  return {x, y};
}
constexpr float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}

// The upper half of a float: 8 bits of exponent, 7 of fraction.
struct __nv_bfloat16 {  // NOLINT(bugprone-reserved-identifier): CUDA's name
  std::uint16_t bits;
};

// Rounds to nearest, ties to even; every NaN becomes 0x7fff, as on the card.
constexpr __nv_bfloat16 __float2bfloat16(float value) {  // NOLINT(bugprone-reserved-identifier)
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {0x7fff};
  const std::uint32_t round = 0x7fffU + ((bits >> 16) & 1U);
  return {static_cast<std::uint16_t>((bits + round) >> 16)};
}
constexpr float __bfloat162float(__nv_bfloat16 value) {  // NOLINT(bugprone-reserved-identifier)
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
#endif
