#include "hwmodels/forms/batched_form.hpp"

#include <algorithm>
#include <array>

namespace tiersim {
namespace {

constexpr std::array<FormSize, 5> kBatchedSizes{
    FormSize{"m", "Rows of each product: tokens."},
    {"n", "Columns of each product."},
    {"k", "Depth of each product."},
    {"batch", "Number of products."},
    {"weight_bytes", "Bytes of an element of the matrices."}};
constexpr std::array<FormParameter, 3> kBatchedParameters{
    FormParameter{"t0", 4e-6, 5e-7, 5e-5}, {"passes", 1, 0.05, 40}, {"l2_speed", 2, 1, 20}};
constexpr std::array<std::string_view, 1> kBatchedVariants{"batched"};

class BatchedForm final : public KernelForm {
 public:
  std::string_view name() const override { return "batched_product"; }
  std::span<const FormSize> sizes() const override { return kBatchedSizes; }
  std::span<const FormParameter> parameters() const override { return kBatchedParameters; }
  std::span<const std::string_view> variants() const override { return kBatchedVariants; }
  bool in_range(KernelSizes) const override { return true; }

  double physics(KernelSizes s, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t) const override {
    const auto [m, n, k, batch, weight_bytes] = std::array{s[0], s[1], s[2], s[3], s[4]};
    const double matrices = weight_bytes * batch * n * k;
    const bool from_l2 = gpu.warm > 0 && matrices <= gpu.l2_bytes;
    const double read = matrices / (gpu.memory * (from_l2 ? parameters[2] : 1));
    const double moved = parameters[1] * 2 * batch * m * (n + k) / gpu.memory;
    const double computed = 2 * batch * m * n * k / gpu.peak;
    return parameters[0] + std::max(read + moved, computed);
  }

  SurfaceRow surface(KernelSizes s, const GpuSheet&) const override {
    static const std::vector<double> knots{0, 4, 8, 11, 14, 17, 20};
    return hat_weights(log2_of(s[0] * s[3]), knots);
  }
  int surface_columns() const override { return 7; }
};

}  // namespace

const KernelForm& batched_form() {
  static const BatchedForm form;
  return form;
}

}  // namespace tiersim
