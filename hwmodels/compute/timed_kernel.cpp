#include "hwmodels/compute/timed_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hwmodels/compute/kernel_sizes.hpp"
#include "hwmodels/forms/experts_form.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "hwmodels/limits.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr double kBeside = 1e3;           // distance of sizes of which one is 0 and the other not
constexpr double kRounding = 1e-4;        // of a written parameter, beyond its range
constexpr std::size_t kNamedKernels = 3;  // more are counted

double as_double(std::int64_t whole) {
  return static_cast<double>(whole);
}

// Attention with a key head for each query head is a case of the grouped kind.
bool runs(KernelFamily kernel, KernelFamily op) {
  return kernel == (op == KernelFamily::attention ? KernelFamily::grouped_attention : op);
}

// How far a size is outside what was timed, in powers of two.
double outside(double size, double least, double most) {
  if (size >= least && size <= most) return 0;
  const double end = size < least ? least : most;
  return size > 0 && end > 0 ? std::abs(log2_of(size / end)) : kBeside;
}

double distance(KernelSizes sizes, const std::vector<double>& least,
                const std::vector<double>& most) {
  double sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) sum += outside(sizes[i], least[i], most[i]);
  return sum;
}

std::vector<double> in_order(const KernelForm& form, const std::map<std::string, double>& sizes) {
  std::vector<double> out;
  for (const FormSize& size : form.sizes()) out.push_back(sizes.at(std::string(size.name)));
  return out;
}

template <class Named>
void check_names(Fields& f, const std::string& key, const std::map<std::string, double>& given,
                 std::span<const Named> wanted) {
  const auto names = [&] {
    std::vector<std::string> out;
    for (const Named& each : wanted) out.emplace_back(each.name);
    return out;
  };
  for (const Named& each : wanted)
    if (!given.contains(std::string(each.name)))
      f.check(false, key, fmt::format("lacks '{}'", each.name));
  for (const auto& [name, value] : given)
    if (std::ranges::find(wanted, name, &Named::name) == wanted.end())
      f.check(false, fmt::format("{}.{}", key, name), "is not of this form",
              "one of: " + join(names()));
}

void check_parameters(Fields& f, const TimedKernelConfig& c, const KernelForm& form) {
  check_names(f, "parameters", c.parameters, form.parameters());
  for (const FormParameter& p : form.parameters()) {
    const auto given = c.parameters.find(std::string(p.name));
    if (given == c.parameters.end()) continue;
    if (given->second >= p.low * (1 - kRounding) && given->second <= p.high * (1 + kRounding))
      continue;
    f.check(false, fmt::format("parameters.{}", p.name),
            fmt::format("is not from {:g} to {:g}", p.low, p.high));
  }
}

// A factor's interval where it counts `times`.
Interval<double> spread_of(const Interval<double>& factor, int times) {
  return times == 1 ? factor : Interval<double>{factor.low * factor.low, factor.high * factor.high};
}

// The interval of the product of two independent factors.
Interval<double> together(const Interval<double>& a, const Interval<double>& b) {
  const auto end = [](double x, double y) {
    const double log_x = portable_log(x);
    const double log_y = portable_log(y);
    return portable_exp(std::sqrt(log_x * log_x + log_y * log_y));
  };
  return {1 / end(a.low, b.low), end(a.high, b.high)};
}

Duration duration_of(double seconds) {
  const double ps = std::ceil(seconds * static_cast<double>(kPicosecondsPerSecond));
  if (ps >= 9.2e18) throw UnitOverflow();
  return Duration(static_cast<std::int64_t>(ps));
}

}  // namespace

void describe(Fields& f, TimedPartConfig& c) {
  f.doc("Data sheet of the GPU that was timed, to which the parameters are relative.");
  f.required("name", c.name, "Name of the GPU, as `part` of a GPU has it: h200.");
  f.required("memory", c.memory, "Rate of its memory.", bandwidth_limits());
  f.required("peak", c.peak, "Rate of the kernel's arithmetic.", flop_rate_limits());
  f.required("l2", c.l2, "Size of its L2 cache.", positive());
  f.required("sms", c.sms, "Streaming multiprocessors.", in_range(1, 100'000));
}

void describe(Fields& f, TimedKernelConfig& c) {
  f.doc("A kernel by a form of hwmodels/forms, with numbers that were fitted to timings.");
  f.optional("misfit", c.misfit, "Factor on its time: the scatter of timings around the fit.",
             in_range(0.01, 100.0));
  f.optional("transfer", c.transfer, "Factor on its time on any GPU but the timed part.",
             in_range(0.01, 100.0));
  if (f.only_sourced()) return;
  f.required("form", c.form,
             "Name of the form: product, batched_product, experts, decode_attention, "
             "prefill_attention, quantise, "
             "linear_update, linear_scan, causal_conv, indexed_attention, block_attention.");
  f.required("family", c.family, kKernelFamilyNames, "Operations of a step that it runs.");
  f.required("variant", c.variant, "Variant of the form's equation.");
  f.required("kernel", c.kernel, "The kernel that was timed, by its labels in the timings.");
  f.required("from", c.calibration, "The calibration it comes from: <part>/<engine>-<version>.");
  f.optional("arithmetic", c.arithmetic, kArithmeticNames, "Of the timed kernel.");
  f.required("part", c.part, "Data sheet of the timed GPU.");
  f.required("parameters", c.parameters, "Each parameter of the form; times in s.");
  f.optional("surface", c.surface,
             "Coefficients of the form's surface: logarithms of measured over modelled time.",
             in_range(-5.0, 5.0));
  f.required("least", c.least, "Least of each size that was timed.");
  f.required("most", c.most, "Largest of each size that was timed.");
  const KernelForm* form = find_form(c.form);
  if (form == nullptr) {
    std::vector<std::string> names;
    for (const KernelForm* each : all_forms()) names.emplace_back(each->name());
    return f.check(false, "form", "is no form", "forms: " + join(names));
  }
  if (const auto variants = form->variants(); std::ranges::count(variants, c.variant) == 0)
    f.check(false, "variant", "is no variant",
            "variants: " + join(std::vector<std::string>(variants.begin(), variants.end())));
  check_parameters(f, c, *form);
  f.check(is_form_of(c.family, *form), "family", "is no family of this form");
  check_names(f, "least", c.least, form->sizes());
  check_names(f, "most", c.most, form->sizes());
  const auto columns = static_cast<std::size_t>(form->surface_columns());
  if (!c.surface.empty() && c.surface.size() != columns)
    f.check(false, "surface",
            fmt::format("has {} coefficients instead of {}", c.surface.size(), columns));
}

TimedKernels::TimedKernels(const std::map<std::string, TimedKernelConfig>& configs,
                           ComputeSheet gpu)
    : gpu_(std::move(gpu)) {
  kernels_.reserve(configs.size());
  for (const auto& [name, c] : configs) {
    const KernelForm& form = *find_form(c.form);
    const auto variants = form.variants();
    const bool transferred = gpu_.part != c.part.name;
    Kernel kernel{.name = name,
                  .kernel = c.kernel,
                  .calibration = c.calibration,
                  .family = c.family,
                  .arithmetic = c.arithmetic,
                  .part = c.part,
                  .fitted = {.form = &form,
                             .variant = static_cast<std::size_t>(
                                 std::ranges::find(variants, c.variant) - variants.begin()),
                             .parameters = {},
                             .surface = c.surface},
                  .least = in_order(form, c.least),
                  .most = in_order(form, c.most),
                  .misfit = c.misfit.value,
                  .scatter = c.misfit.ci95.value_or(Interval<double>{1, 1}),
                  .transfer = transferred ? c.transfer.value : 1,
                  .carried = c.transfer.ci95.value_or(Interval<double>{1, 1}),
                  .transferred = transferred,
                  .number_class = transferred
                                      ? weakest(c.misfit.number_class, c.transfer.number_class)
                                      : c.misfit.number_class};
    for (const FormParameter& p : form.parameters())
      kernel.fitted.parameters.push_back(c.parameters.at(std::string(p.name)));
    // A step has no copies of the weights of a product, and the loads of experts are its own.
    if (&form == &product_form() || &form == &experts_form()) kernel.least.back() = 0;
    kernels_.push_back(std::move(kernel));
  }
  for (std::size_t family = 0; family < has_.size(); ++family)
    has_[family] = std::ranges::any_of(kernels_, [&](const Kernel& kernel) {
      return runs(kernel.family, static_cast<KernelFamily>(family));
    });
}

std::vector<double> TimedKernels::Kernel::within(KernelSizes sizes) const {
  std::vector<double> out;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    out.push_back(std::clamp(sizes[i], least[i], most[i]));
  return out;
}

const TimedKernels::Kernel* TimedKernels::nearest(KernelFamily family, Arithmetic arithmetic,
                                                  KernelSizes sizes, const KernelForm* form) const {
  const auto is_one = [&](const Kernel& k) {
    return runs(k.family, family) && (form == nullptr || k.fitted.form == form);
  };
  const auto has = [&](Arithmetic a) {
    return std::ranges::any_of(kernels_,
                               [&](const Kernel& k) { return is_one(k) && k.arithmetic == a; });
  };
  // Engines have one kind of scales at least.
  if (arithmetic == Arithmetic::fp8 && !has(arithmetic)) arithmetic = Arithmetic::fp8_block;
  if (arithmetic == Arithmetic::fp8_block && !has(arithmetic)) arithmetic = Arithmetic::fp8;
  const Kernel* found = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Kernel& kernel : kernels_) {
    if (!is_one(kernel) || kernel.arithmetic != arithmetic) continue;
    const double far = distance(sizes, kernel.least, kernel.most);
    if (far >= least) continue;
    least = far;
    found = &kernel;
  }
  return found;
}

// What the simulated GPU does not state is taken from the timed one.
GpuSheet TimedKernels::sheet_of(const Kernel& kernel, const KernelWork& work) const {
  const TimedPartConfig& timed = kernel.part;
  const bool own = kernel.transferred;
  const auto of = [](auto quantity) { return static_cast<double>(quantity.in_base()); };
  return {.memory = of(own ? work.memory_peak : timed.memory),
          .peak = of(own ? gpu_.peaks[static_cast<std::size_t>(work.arithmetic)] : timed.peak),
          .l2_bytes = of(own && gpu_.l2 > Bytes{} ? gpu_.l2 : timed.l2),
          .warm = work.warm ? 1.0 : 0.0,
          .sms = as_double(own && gpu_.sms > 0 ? gpu_.sms : timed.sms)};
}

std::optional<TimedKernels::Estimate> TimedKernels::estimate(KernelFamily family,
                                                             const KernelWork& work,
                                                             KernelSizes sizes) const {
  const Kernel* kernel = nearest(family, work.arithmetic, sizes, only_form_of(work));
  if (!kernel) return std::nullopt;
  const KernelForm& form = *kernel->fitted.form;
  const GpuSheet sheet = sheet_of(*kernel, work);
  const bool beyond = distance(sizes, kernel->least, kernel->most) > 0;
  const bool loads_are_known = &form == &experts_form() && work.experts.skew == 0;
  std::vector<double> own;
  if (&form == &experts_form())
    own = loads_are_known
              ? experts_features(experts_case(work), mean_loads(as_double(work.experts.reached),
                                                                as_double(work.experts.routed)))
              : form.features(sizes);
  const KernelFeatures features = own.empty() ? KernelFeatures(sizes) : own;
  const FittedForm& fitted = kernel->fitted;
  double seconds = form.physics(features, sheet, fitted.parameters, fitted.variant);
  if (!fitted.surface.empty())
    seconds *= portable_exp(surface_at(
        beyond && !loads_are_known ? form.surface(form.features(kernel->within(sizes)), sheet)
                                   : form.surface(features, sheet),
        fitted.surface));
  Estimate out{
      .seconds = kernel->transfer * kernel->misfit * (beyond ? kernel->misfit : 1) * seconds,
      .launch = fitted.parameters.front(),
      .beyond_timed = beyond,
      .kernel = kernel->name,
      .spread = spread_of(kernel->scatter, beyond ? 2 : 1)};
  if (kernel->transferred) out.spread = together(out.spread, kernel->carried);
  return out;
}

// Returns the fixed time of the fastest bf16 GEMM [s], as an estimate of the fixed time of any
// kernel.
double TimedKernels::shortest_kernel() const {
  double shortest = 0;
  for (const Kernel& kernel : kernels_) {
    const double t0 = kernel.fitted.parameters.front();
    if (kernel.family == KernelFamily::gemm && kernel.arithmetic == Arithmetic::bf16)
      shortest = shortest > 0 ? std::min(shortest, t0) : t0;
  }
  return shortest;
}

// Returns the time of one kernel that reads bf16, divides by a known scale and writes the type of
// the product's input [s].
double TimedKernels::dividing_time(const KernelWork& work, std::span<const double> sizes) const {
  return shortest_kernel() +
         (2 + sizes[2]) * sizes[0] * sizes[1] / static_cast<double>(work.memory_peak.in_base());
}

// Timings of a low-precision GEMM include the kernel that quantises its input. An engine that
// quantises earlier does not run that kernel, so this subtracts its time from the GEMM's. That of a
// GEMM in fp4, whose tensor has a known scale, was timed by nobody: its time is the estimate of a
// kernel that divides.
void TimedKernels::take_quantisation(const KernelWork& work, Estimate& product) const {
  const ProductInput input = work.matrix.input;
  if (input == ProductInput::unscaled || work.arithmetic == Arithmetic::bf16) return;
  const std::vector<double> sizes = quantise_sizes(work);
  const auto quantising = estimate(KernelFamily::quantisation, work, sizes);
  double less = 0;
  if (quantising) {
    less = quantising->seconds;
    // With a known scale the engine still runs one kernel.
    if (input == ProductInput::quantised) less += dividing_time(work, sizes);
    product.beyond_timed |= quantising->beyond_timed;
  } else if (work.arithmetic == Arithmetic::fp4 && input == ProductInput::quantised) {
    less = dividing_time(work, sizes);
  }
  if (less == 0) return;
  constexpr double kLeft = 0.1;  // of the product, at least: all of these times have errors
  const double left = std::max(product.seconds - less, kLeft * product.seconds);
  product.launch = std::min(std::max(product.launch - less, 0.0), left);
  product.seconds = left;
}

bool TimedKernels::has_batches_in(Arithmetic arithmetic) const {
  return std::ranges::any_of(kernels_, [&](const Kernel& kernel) {
    return kernel.family == KernelFamily::batched_gemm && kernel.arithmetic == arithmetic;
  });
}

// Returns the least time that the shared experts can take by the data sheet [s]: the longer one of
// their weights at the memory's peak bandwidth and their FLOPs at the peak rate.
double TimedKernels::least_time_of_shared(const KernelWork& work) const {
  const ExpertsShape& e = work.experts;
  const double weights =
      (e.gated ? 3.0 : 2.0) * as_double(e.shared_width) * as_double(e.shared_hidden);
  const auto of = [](auto quantity) { return static_cast<double>(quantity.in_base()); };
  const FlopRate peak = gpu_.peaks[static_cast<std::size_t>(e.shared_arithmetic)];
  return std::max(weights * e.shared_bits / 8 / of(work.memory_peak),
                  2 * weights * as_double(e.shared_tokens) / of(peak));
}

// Adds the two products of the shared experts to the time of the routed ones. If both run at the
// same time, only the least time of the shared ones is added. The sum is never shorter than their
// two products alone. An operation takes its part of the time of the layer's experts.
bool TimedKernels::add_shared(const KernelWork& work, Estimate& sum) const {
  const ExpertsShape& e = work.experts;
  if (e.shared_width > 0) {
    KernelWork shared = work;
    shared.arithmetic = e.shared_arithmetic;
    double products = 0;
    double launches = 0;
    for (const std::vector<double>& sizes : shared_sizes(work)) {
      const auto product = estimate(KernelFamily::gemm, shared, sizes);
      if (!product) return false;
      products += product->seconds;
      launches += product->launch;
      sum.beyond_timed |= product->beyond_timed;
    }
    if (e.shared_beside) {
      sum.seconds = std::max(sum.seconds + least_time_of_shared(work), products);
    } else {
      sum.seconds += products;
      sum.launch += launches;
    }
  }
  const double part = as_double(work.experts.part) / as_double(work.experts.parts);
  sum.seconds *= part;
  sum.launch *= part;
  return true;
}

std::optional<KernelTime> TimedKernels::time(const KernelWork& work) const {
  // Parts of a timed module are the same whatever the type of its products, and bf16 was timed
  // most.
  KernelWork asked = work;
  if (work.indexed.sequences > 0 && work.indexed.part != IndexedPart::module)
    asked.arithmetic = Arithmetic::bf16;
  const KernelFamily family = timed_family(work);
  if (!has(family)) return std::nullopt;
  // Engines keep the matrices of heads in bf16 where they have no other kernel for them.
  if (family == KernelFamily::batched_gemm && !has_batches_in(work.arithmetic)) {
    asked.arithmetic = Arithmetic::bf16;
    asked.matrix.weight_bits = 16;
  }
  const std::vector<double> sizes = sizes_of(asked);
  if (sizes.empty()) return std::nullopt;
  std::optional<Estimate> estimated = estimate(family, asked, sizes);
  if (!estimated) return std::nullopt;
  if (work.family == KernelFamily::experts && !add_shared(work, *estimated)) return std::nullopt;
  if (work.family == KernelFamily::gemm) take_quantisation(work, *estimated);

  const FlopRate peak = gpu_.peaks[static_cast<std::size_t>(work.arithmetic)];
  const Duration total = duration_of(estimated->seconds);
  const Duration by_memory = work.warm ? Duration{} : work.memory_bytes / work.memory_peak;
  KernelTime out;
  out.launch = std::min(duration_of(estimated->launch), total);
  out.body = std::max({total - out.launch, work.other_time, by_memory, work.flops / peak});
  out.compute = std::min(work.flops / peak, out.body);
  out.own_memory = by_memory;
  out.launch_has_latency = true;
  out.beyond_timed = estimated->beyond_timed;
  out.timed_kernel = estimated->kernel;
  out.spread = estimated->spread;
  return out;
}

std::optional<KernelBasis> TimedKernels::basis(KernelFamily family, const TimedNames* ran) const {
  KernelBasis out{.basis = "fitted", .number_class = NumberClass::measured};
  std::map<std::string, std::vector<std::string>> by_calibration;
  for (const Kernel& kernel : kernels_) {
    if (ran ? !ran->contains(kernel.name) : !runs(kernel.family, family)) continue;
    if (kernel.transferred) out.basis = "transferred";
    out.number_class = weakest(out.number_class, kernel.number_class);
    by_calibration[kernel.calibration].push_back(kernel.kernel);
  }
  if (by_calibration.empty()) return std::nullopt;
  for (const auto& [calibration, kernels] : by_calibration)
    out.source +=
        fmt::format("{}{}: {}", out.source.empty() ? "" : "; ", calibration,
                    kernels.size() <= kNamedKernels ? join(kernels)
                                                    : fmt::format("{} kernels", kernels.size()));
  return out;
}

}  // namespace tiersim
