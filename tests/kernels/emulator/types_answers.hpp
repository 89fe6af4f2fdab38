// Included by types_own.cpp and types_toolkit.cpp only, each with its own types.
#pragma once
#include <cstring>

#include "kernels/emulator/types.hpp"
#include "tests/kernels/emulator/types_bits.hpp"

namespace tiersim::kernels {
namespace {

std::uint16_t to_bf16_bits(std::uint32_t float_bits) {
  const __nv_bfloat16 value = __float2bfloat16(std::bit_cast<float>(float_bits));
  std::uint16_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint32_t to_float_bits(std::uint16_t bf16_bits) {
  __nv_bfloat16 value;
  std::memcpy(static_cast<void*>(&value), &bf16_bits, sizeof bf16_bits);
  return std::bit_cast<std::uint32_t>(__bfloat162float(value));
}

template <class T>
void describe(std::vector<std::size_t>& layout, const T& value) {
  std::uint32_t words[sizeof(T) / 4];
  std::memcpy(words, &value, sizeof(T));
  layout.insert(layout.end(), {sizeof(T), alignof(T)});
  for (const std::uint32_t word : words) layout.push_back(word);
}

std::vector<std::size_t> describe_all() {
  std::vector<std::size_t> layout{sizeof(__nv_bfloat16), alignof(__nv_bfloat16)};
  describe(layout, make_int2(1, -2));
  describe(layout, make_int4(1, -2, 3, -4));
  describe(layout, make_uint2(1, 2));
  describe(layout, make_uint4(1, 2, 3, 4));
  describe(layout, make_float2(1.5F, -2.5F));
  describe(layout, make_float4(1.5F, 2.5F, -3.5F, 4.5F));
  describe(layout, uint3{1, 2, 3});
  describe(layout, dim3(5));
  describe(layout, dim3(5, 6, 7));
  return layout;
}

constexpr TypesBits kAnswers{to_bf16_bits, to_float_bits, describe_all};

}  // namespace
}  // namespace tiersim::kernels
