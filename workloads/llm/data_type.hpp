#pragma once
// Element types of stored tensors, with their sizes.
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// The 4-bit floating formats have their scales with them, each of 8 bits: mxfp4 for 32 elements
/// (OCP Microscaling Formats 1.0), nvfp4 for 16; nvfp4's further scale of a whole tensor is not
/// counted. Nor are the scales of the other types: they are a few percent, and layouts differ.
/// int4_g32 is the exception, with a scale of 16 bits for 32 elements.
enum class DataType : std::uint8_t {
  fp16,
  bf16,
  fp8,
  int8,
  int4,
  fp8_block,  ///< fp8 with a scale for 128 x 128 weights; other kernels run it
  mxfp4,
  nvfp4,
  int4_g32,
};
inline constexpr std::array<std::string_view, 9> kDataTypeNames{
    "fp16", "bf16", "fp8", "int8", "int4", "fp8_block", "mxfp4", "nvfp4", "int4_g32"};

/// Elements that share a scale, and its bits; no elements: scales are not counted.
struct ScaleGroup {
  std::int64_t elements = 0;
  std::int64_t bits = 0;
};
constexpr ScaleGroup scale_group(DataType type) {
  if (type == DataType::mxfp4) return {32, 8};
  if (type == DataType::nvfp4) return {16, 8};
  return type == DataType::int4_g32 ? ScaleGroup{32, 16} : ScaleGroup{};
}
/// Without scales.
constexpr std::int64_t bits(DataType type) {
  constexpr std::array<std::int64_t, kDataTypeNames.size()> kBits{16, 16, 8, 8, 4, 8, 4, 4, 4};
  return kBits[static_cast<std::size_t>(type)];
}
/// The same with an element's part of its scale.
constexpr double bits_with_scales(DataType type) {
  const ScaleGroup group = scale_group(type);
  const double scale = group.elements == 0
                           ? 0.0
                           : static_cast<double>(group.bits) / static_cast<double>(group.elements);
  return static_cast<double>(bits(type)) + scale;
}
/// Bytes of this many elements stored contiguously with their scales, rounded up.
constexpr Bytes stored(std::int64_t elements, DataType type) {
  Bytes in_bits = Bytes::from_base(elements) * bits(type);
  if (const ScaleGroup group = scale_group(type); group.elements > 0)
    in_bits += Bytes::from_base((elements + group.elements - 1) / group.elements) * group.bits;
  return Bytes::from_base(in_bits.in_base() / 8 + (in_bits.in_base() % 8 != 0 ? 1 : 0));
}

/// The arithmetic of a matrix product with weights of this type: 4-bit weights are widened before
/// they are multiplied, but for nvfp4, whose inputs are quantised alike; 8-bit weights are
/// multiplied directly.
constexpr Arithmetic arithmetic_of(DataType weights) {
  if (weights == DataType::fp8) return Arithmetic::fp8;
  if (weights == DataType::nvfp4) return Arithmetic::fp4;
  if (weights == DataType::fp8_block) return Arithmetic::fp8_block;
  return weights == DataType::int8 ? Arithmetic::int8 : Arithmetic::bf16;
}

}  // namespace tiersim
