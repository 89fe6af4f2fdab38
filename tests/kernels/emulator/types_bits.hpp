// Properties of both sets of types, the emulator's and the CUDA toolkit's, as bits. Two sources
// define them, since the types have the same names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiersim::kernels {

struct TypesBits {
  std::uint16_t (*to_bf16)(std::uint32_t float_bits);
  std::uint32_t (*to_float)(std::uint16_t bf16_bits);
  // Sizes, alignments and member offsets of the vector types and dim3, in a fixed order.
  std::vector<std::size_t> (*layout)();
};
TypesBits own_types();
TypesBits toolkit_types();

}  // namespace tiersim::kernels
