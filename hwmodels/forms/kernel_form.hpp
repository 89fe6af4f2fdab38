#pragma once
// A form is the equation of a kind of kernel, such as a matrix product or decode attention, with
// parameters that a fit finds (hwmodels/calibrate/fit/form_fit.hpp) and a smooth surface over what
// the equation leaves: time = physics(sizes, GPU, parameters) * exp(surface(sizes, GPU)).
// A further kind of kernel is one file here and a line in form_library.cpp.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/forms/surface.hpp"

namespace tiersim {

/// Data sheet of a GPU, to which the parameters of a form are relative.
struct GpuSheet {
  double memory = 0;    ///< B/s
  double peak = 0;      ///< FLOP/s of the operand type
  double l2_bytes = 0;  ///< B
  double warm = 1;      ///< share of L2 that holds the input before: 1 in a benchmark, 0 in a step
  double sms = 0;
  double port = 0;  ///< B/s to the other GPUs of the node, one way; for collectives
};

/// A number that tells two cases of a kernel apart: a size of its input, or bytes of an element.
struct FormSize {
  std::string_view name;
  std::string_view doc;
};

/// A positive parameter of a form, with the range that physics allows.
struct FormParameter {
  std::string_view name;
  double start = 1;
  double low = 0;
  double high = 0;
};

/// Sizes of a case, in the order of KernelForm::sizes().
using KernelSizes = std::span<const double>;
/// Features of a case: what KernelForm::features() makes of its sizes.
using KernelFeatures = std::span<const double>;

class KernelForm {
 public:
  virtual ~KernelForm() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const FormSize> sizes() const = 0;
  /// The first is t0, the shortest time [s].
  virtual std::span<const FormParameter> parameters() const = 0;
  /// Names of the variants of the equation, at least one; a fit takes the one that suits best.
  virtual std::span<const std::string_view> variants() const = 0;
  /// True where the equation is meant for these sizes.
  virtual bool in_range(KernelSizes sizes) const = 0;
  /// The sizes, and numbers that follow from them alone and take long to find: a fit asks for them
  /// once for each case.
  virtual std::vector<double> features(KernelSizes sizes) const {
    return {sizes.begin(), sizes.end()};
  }
  /// Time without the surface [s]; above 0.
  virtual double physics(KernelFeatures features, const GpuSheet& gpu,
                         std::span<const double> parameters, std::size_t variant) const = 0;
  virtual SurfaceRow surface(KernelFeatures features, const GpuSheet& gpu) const = 0;
  virtual int surface_columns() const = 0;
};

/// A form with its numbers.
struct FittedForm {
  const KernelForm* form = nullptr;
  std::size_t variant = 0;
  std::vector<double> parameters = {};  ///< by KernelForm::parameters()
  std::vector<double> surface = {};     ///< by KernelForm::surface(); empty: none
};

/// Time [s].
double form_time(const FittedForm& fitted, KernelSizes sizes, const GpuSheet& gpu);
/// The same from KernelForm::features().
double form_time_of_features(const FittedForm& fitted, KernelFeatures features,
                             const GpuSheet& gpu);

/// All forms, by name; ascending.
std::span<const KernelForm* const> all_forms();
/// Nothing where no form has this name.
const KernelForm* find_form(std::string_view name);

}  // namespace tiersim
