#pragma once
// Element types of stored tensors, with their sizes.
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// The scales of quantised groups are not counted: they are a few percent, and layouts differ.
enum class DataType : std::uint8_t {
  fp16,
  bf16,
  fp8,
  int8,
  int4,
  fp8_block,  ///< fp8 with a scale for 128 x 128 weights; other kernels run it
};
inline constexpr std::array<std::string_view, 6> kDataTypeNames{"fp16", "bf16", "fp8",
                                                                "int8", "int4", "fp8_block"};
constexpr std::int64_t bits(DataType type) {
  constexpr std::array<std::int64_t, 6> kBits{16, 16, 8, 8, 4, 8};
  return kBits[static_cast<std::size_t>(type)];
}
/// Bytes of this many elements stored contiguously, rounded up.
constexpr Bytes stored(std::int64_t elements, DataType type) {
  const Bytes in_bits = Bytes::from_base(elements) * bits(type);
  return Bytes::from_base(in_bits.in_base() / 8 + (in_bits.in_base() % 8 != 0 ? 1 : 0));
}

/// The arithmetic of a matrix product with weights of this type: 4-bit weights are widened before
/// they are multiplied, 8-bit weights are multiplied directly.
constexpr Arithmetic arithmetic_of(DataType weights) {
  if (weights == DataType::fp8) return Arithmetic::fp8;
  if (weights == DataType::fp8_block) return Arithmetic::fp8_block;
  return weights == DataType::int8 ? Arithmetic::int8 : Arithmetic::bf16;
}

}  // namespace tiersim
