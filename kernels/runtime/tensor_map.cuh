// The description of a bf16 matrix in device memory for the tensor copy engine.
#pragma once
#include <cstdint>

#include "kernels/device/hopper.cuh"
#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

// rows x columns numbers, with rows row_bytes apart (a multiple of 16), copied in boxes of box_rows
// x box_columns (box_columns 64 where swizzled: 128 B). Rows past the end are read as zeros. Throws
// CardError.
TensorMap make_tensor_map(const bf16* base, std::uint64_t rows, std::uint64_t columns,
                          std::uint64_t row_bytes, unsigned box_rows, unsigned box_columns,
                          bool swizzled = true);

}  // namespace tiersim::kernels
