#include "kernels/runtime/blas.cuh"

#include "kernels/device/math.cuh"
#include "kernels/runtime/array.cuh"

#if TS_ON_CARD
#include <cublasLt.h>
#endif

namespace tiersim::kernels {

#if TS_ON_CARD
namespace {

constexpr std::size_t kWorkspace = 32U
                                   << 20U;  // B: what NVIDIA recommends for Hopper (cuBLAS manual)

void check_blas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw CardError(std::string(call) + ": " + cublasLtGetStatusString(status));
  }
}
#define TS_BLAS(call) check_blas(call, #call)

}  // namespace

struct BlasProduct::Plan {
  // Consecutive rows are columns to the library: out^T (n x m) = b (k x n, transposed) a (k x m).
  Plan(int m, int n, int k) : workspace(kWorkspace, "cuBLASLt workspace") {
    TS_BLAS(cublasLtCreate(&handle));
    TS_BLAS(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    TS_BLAS(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                           sizeof transposed));
    const auto columns = [](int count) { return static_cast<std::uint64_t>(count); };
    TS_BLAS(cublasLtMatrixLayoutCreate(&left, CUDA_R_16BF, columns(k), columns(n), k));
    TS_BLAS(cublasLtMatrixLayoutCreate(&right, CUDA_R_16BF, columns(k), columns(m), k));
    TS_BLAS(cublasLtMatrixLayoutCreate(&out, CUDA_R_16BF, columns(n), columns(m), n));
    cublasLtMatmulPreference_t preference = nullptr;
    TS_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t bytes = kWorkspace;
    TS_BLAS(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
    int found = 0;
    cublasLtMatmulHeuristicResult_t best{};
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(handle, product, left, right, out,
                                                                 out, preference, 1, &best, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    check_blas(status, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw CardError("cuBLASLt has no algorithm for this product");
    algorithm = best.algo;
  }
  ~Plan() {
    cublasLtMatrixLayoutDestroy(out);
    cublasLtMatrixLayoutDestroy(right);
    cublasLtMatrixLayoutDestroy(left);
    cublasLtMatmulDescDestroy(product);
    cublasLtDestroy(handle);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t left = nullptr, right = nullptr, out = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  DeviceArray<unsigned char> workspace;
};

void BlasProduct::product(Stream& stream, const bf16* a, const bf16* b, bf16* out) {
  const float one = 1;
  const float zero = 0;
  TS_BLAS(cublasLtMatmul(plan_->handle, plan_->product, &one, b, plan_->left, a, plan_->right,
                         &zero, out, plan_->out, out, plan_->out, &plan_->algorithm,
                         plan_->workspace.data(), kWorkspace, stream.native()));
}
#else
struct BlasProduct::Plan {
  Plan(int m_, int n_, int k_) : m(m_), n(n_), k(k_) {}
  std::int64_t m, n, k;
};

void BlasProduct::product(Stream&, const bf16* a, const bf16* b, bf16* out) {
  for (std::int64_t row = 0; row < plan_->m; ++row) {
    for (std::int64_t column = 0; column < plan_->n; ++column) {
      float sum = 0;
      for (std::int64_t i = 0; i < plan_->k; ++i) {
        sum += to_float(a[row * plan_->k + i]) * to_float(b[column * plan_->k + i]);
      }
      out[row * plan_->n + column] = to_bf16(sum);
    }
  }
}
#endif

BlasProduct::BlasProduct(int m, int n, int k) : plan_(std::make_unique<Plan>(m, n, k)) {}
BlasProduct::~BlasProduct() = default;

}  // namespace tiersim::kernels
