#include "hwmodels/calibrate/fit/write_forms.hpp"

#include <cstddef>
#include <span>

#include <fmt/format.h>

namespace tiersim {
namespace {

template <class Named>
std::string by_name(std::span<const Named> names, const std::vector<double>& values) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format("{}{}: {:.5g}", i == 0 ? "" : ", ", names[i].name, values[i]);
  return out;
}

// The form and the labels, in letters, digits and underscores.
std::string key_of(const WrittenForm& form) {
  std::string out = fmt::format("{} {}", form.fit->model.form->name(), form.kernel);
  for (char& c : out) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain) c = '_';
  }
  return out;
}

std::string surface_of(const FittedForm& model) {
  std::string out;
  for (const double c : model.surface)
    out += fmt::format("{}{:.4g}", out.empty() ? "" : ", ", c + 0.0);
  return out;
}

// From the parameters to the end of the line.
std::string numbers_of(const WrittenForm& form) {
  const FormFit& fit = *form.fit;
  const KernelForm& equation = *fit.model.form;
  return fmt::format(
      "parameters: {{{}}}, surface: [{}], least: {{{}}}, most: {{{}}}, "
      "misfit: {{value: 1, class: fitted, ci95: [{:.4f}, {:.4f}], source: \"{}\"}}",
      by_name(equation.parameters(), fit.model.parameters), surface_of(fit.model),
      by_name(equation.sizes(), fit.least), by_name(equation.sizes(), fit.most), fit.scatter.low,
      fit.scatter.high, form.source);
}

// A line of its own for each operation.
std::string collective_of(const std::string& calibration, const std::string& part,
                          const WrittenForm& form) {
  const FittedForm& model = form.fit->model;
  return fmt::format(
      "  {}: {{form: {}, variant: \"{}\", kernel: \"{}\", from: \"{}\", "
      "part: {{name: {}, port: {:g} GB/s}}, {}}}\n",
      form.operation, model.form->name(), model.form->variants()[model.variant], form.kernel,
      calibration, part, form.sheet.port / 1e9, numbers_of(form));
}

// A line of its own for each kernel.
std::string text_of(const std::string& calibration, const std::string& part,
                    const WrittenForm& form) {
  const FittedForm& model = form.fit->model;
  const KernelForm& equation = *model.form;
  return fmt::format(
      "  {}: {{form: {}, family: {}, variant: \"{}\", kernel: \"{}\", from: \"{}\", arithmetic: "
      "{}, "
      "part: {{name: {}, memory: {:g} GB/s, peak: {:g} TFLOP/s, l2: {:.0f} B, sms: {:.0f}}}, "
      "{}, "
      "transfer: {{value: 1, class: assumed, ci95: [0.84, 1.19], source: \"parts reach "
      "different shares of their data sheets: HBM copies .82 to .93, matrix products .67 to "
      ".80\"}}}}\n",
      key_of(form), equation.name(), form.family, equation.variants()[model.variant], form.kernel,
      calibration, form.arithmetic, part, form.sheet.memory / 1e9, form.sheet.peak / 1e12,
      form.sheet.l2_bytes, form.sheet.sms, numbers_of(form));
}

}  // namespace

std::string timed_kernels_yaml(const std::string& command, const std::string& calibration,
                               const std::string& part, const std::vector<WrittenForm>& forms) {
  std::string out =
      fmt::format("# Written by `{}`.\nschema: tiersim.device/v1\ntimed_kernels:\n", command);
  for (const WrittenForm& form : forms) out += text_of(calibration, part, form);
  return out;
}

std::string timed_collectives_yaml(const std::string& command, const std::string& calibration,
                                   const std::string& part, const std::vector<WrittenForm>& forms) {
  std::string out =
      fmt::format("# Written by `{}`.\nschema: tiersim.device/v1\ntimed_collectives:\n", command);
  for (const WrittenForm& form : forms) out += collective_of(calibration, part, form);
  return out;
}

}  // namespace tiersim
