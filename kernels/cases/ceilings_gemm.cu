// The largest rate of the matrix units: a product of 8192 x 8192 bf16 matrices by cuBLASLt.
#include "kernels/cases/ceilings.hpp"
#include "kernels/cases/product_case.cuh"

namespace tiersim::kernels {

void add_ceilings_gemm_cases(CaseList& cases, Sizes sizes) {
  for (const int n : sizes == Sizes::toy ? std::vector<int>{16} : std::vector<int>{4096, 8192}) {
    cases.push_back({"ceiling.gemm." + product_variant() + ".n" + std::to_string(n),
                     [n] { return std::make_unique<ProductCase>("ceiling", "gemm", n, n, n); }});
  }
}

}  // namespace tiersim::kernels
