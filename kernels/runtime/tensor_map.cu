#include "kernels/runtime/tensor_map.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
TensorMap make_tensor_map(const bf16* base, std::uint64_t rows, std::uint64_t columns,
                          std::uint64_t row_bytes, unsigned box_rows, unsigned box_columns,
                          bool swizzled) {
  // Looked up by the runtime, so that the program needs no link to the driver's library.
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  TS_CARD(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                           cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) throw CardError("the driver has no tensor maps");
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  TensorMap map{};
  const cuuint64_t sizes[2] = {columns, rows};
  const cuuint64_t strides[1] = {row_bytes};
  const cuuint32_t box[2] = {box_columns, box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<bf16*>(base), sizes, strides,
             box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw CardError("cuTensorMapEncodeTiled: error " + std::to_string(static_cast<int>(status)));
  }
  return map;
}
#else
TensorMap make_tensor_map(const bf16* base, std::uint64_t rows, std::uint64_t columns,
                          std::uint64_t row_bytes, unsigned box_rows, unsigned box_columns,
                          bool swizzled) {
  if (row_bytes % 16 != 0 || box_rows == 0 || box_rows > 256 || box_columns == 0 ||
      box_columns > 256) {
    throw CardError("a tensor map that cuTensorMapEncodeTiled refuses");
  }
  return {base, columns, rows, row_bytes, box_columns, box_rows, swizzled};
}
#endif

}  // namespace tiersim::kernels
