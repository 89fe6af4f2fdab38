#include "hwmodels/forms/quantise_form.hpp"

#include <array>

namespace tiersim {
namespace {

constexpr std::array<FormSize, 3> kQuantiseSizes{FormSize{"m", "Rows: tokens."},
                                                 {"k", "Columns."},
                                                 {"output_bytes", "Bytes of a quantised element."}};
constexpr std::array<FormParameter, 2> kQuantiseParameters{FormParameter{"t0", 5e-6, 2e-7, 5e-5},
                                                           {"passes", 2, 0.1, 20}};
constexpr std::array<std::string_view, 1> kQuantiseVariants{"passes"};

class QuantiseForm final : public KernelForm {
 public:
  std::string_view name() const override { return "quantise"; }
  std::span<const FormSize> sizes() const override { return kQuantiseSizes; }
  std::span<const FormParameter> parameters() const override { return kQuantiseParameters; }
  std::span<const std::string_view> variants() const override { return kQuantiseVariants; }
  bool in_range(KernelSizes) const override { return true; }

  double physics(KernelSizes s, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t) const override {
    return parameters[0] + parameters[1] * (2 + s[2]) * s[0] * s[1] / gpu.memory;
  }

  SurfaceRow surface(KernelSizes s, const GpuSheet&) const override {
    static const std::vector<double> knots{10, 14, 17, 19, 21, 23, 25, 27, 30};
    return hat_weights(log2_of(s[0] * s[1]), knots);
  }
  int surface_columns() const override { return 9; }
};

}  // namespace

const KernelForm& quantise_form() {
  static const QuantiseForm form;
  return form;
}

}  // namespace tiersim
