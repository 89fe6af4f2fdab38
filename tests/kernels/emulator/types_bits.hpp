// The same questions to both sets of types, the emulator's own and the CUDA toolkit's, in bits:
// two sources define them, since the types have the same names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tiersim::kernels {

struct TypesBits {
  std::uint16_t (*to_bf16)(std::uint32_t float_bits);
  std::uint32_t (*to_float)(std::uint16_t bf16_bits);
  // Sizes, alignments and places of members of the vector types and dim3, in one order.
  std::vector<std::size_t> (*layout)();
};
TypesBits own_types();
TypesBits toolkit_types();

}  // namespace tiersim::kernels
