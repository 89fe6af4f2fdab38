// Matrix product by the vendor's library (cuBLASLt), the baseline of our kernels. On the emulator a
// plain host loop replaces it, so that the code around it runs; the loop is not counted as a
// kernel.
#pragma once
#include <memory>

#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

// out[m][n] = sum over k of a[m][k] b[n][k]: bf16, sums in fp32, rows one after another. The
// workspace and the choice of the algorithm are made once, here; product() only enqueues.
class BlasProduct {
 public:
  // Throws CardError where the library refuses the shape (k and n multiples of 8 always work).
  BlasProduct(int m, int n, int k);
  ~BlasProduct();
  BlasProduct(const BlasProduct&) = delete;
  BlasProduct& operator=(const BlasProduct&) = delete;

  void product(Stream& stream, const bf16* a, const bf16* b, bf16* out);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace tiersim::kernels
