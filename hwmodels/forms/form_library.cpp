#include <algorithm>
#include <array>

#include "hwmodels/forms/batched_form.hpp"
#include "hwmodels/forms/block_form.hpp"
#include "hwmodels/forms/collective_form.hpp"
#include "hwmodels/forms/conv_form.hpp"
#include "hwmodels/forms/decode_form.hpp"
#include "hwmodels/forms/experts_form.hpp"
#include "hwmodels/forms/indexed_form.hpp"
#include "hwmodels/forms/prefill_form.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "hwmodels/forms/quantise_form.hpp"
#include "hwmodels/forms/scan_form.hpp"
#include "hwmodels/forms/update_form.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {

std::span<const KernelForm* const> all_forms() {
  static const std::array<const KernelForm*, 12> all{
      &batched_form(), &block_form(),   &conv_form(),    &collective_form(),
      &decode_form(),  &experts_form(), &indexed_form(), &scan_form(),
      &update_form(),  &prefill_form(), &product_form(), &quantise_form()};
  return all;
}

const KernelForm* find_form(std::string_view name) {
  const auto all = all_forms();
  const auto found = std::ranges::find(all, name, &KernelForm::name);
  return found == all.end() ? nullptr : *found;
}

double form_time(const FittedForm& fitted, KernelSizes sizes, const GpuSheet& gpu) {
  return form_time_of_features(fitted, fitted.form->features(sizes), gpu);
}

double form_time_of_features(const FittedForm& fitted, KernelFeatures features,
                             const GpuSheet& gpu) {
  const double physics = fitted.form->physics(features, gpu, fitted.parameters, fitted.variant);
  if (fitted.surface.empty()) return physics;
  return physics * portable_exp(surface_at(fitted.form->surface(features, gpu), fitted.surface));
}

}  // namespace tiersim
