#include "hwmodels/compute/timed_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hwmodels/forms/decode_form.hpp"
#include "hwmodels/forms/experts_form.hpp"
#include "hwmodels/forms/prefill_form.hpp"
#include "hwmodels/forms/product_form.hpp"
#include "hwmodels/limits.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

constexpr double kBeside = 1e3;     // distance of sizes of which one is 0 and the other not
constexpr double kRounding = 1e-4;  // of a written parameter, beyond its range

double as_double(std::int64_t whole) {
  return static_cast<double>(whole);
}

const KernelForm* form_of(KernelFamily family) {
  switch (family) {
    case KernelFamily::gemm:
      return &product_form();
    case KernelFamily::attention:
    case KernelFamily::grouped_attention:
    case KernelFamily::latent_attention:
      return &decode_form();
    case KernelFamily::prefill_attention:
      return &prefill_form();
    case KernelFamily::experts:
      return &experts_form();
    default:
      return nullptr;
  }
}

std::vector<double> product_sizes(const KernelWork& work) {
  const MatrixShape& m = work.matrix;
  if (m.rows == 0) return {};
  const double element = work.arithmetic == Arithmetic::bf16 ? 2 : 1;
  return ProductCase{.m = as_double(m.rows),
                     .n = as_double(m.columns) * as_double(m.count),
                     .k = as_double(m.depth),
                     .weight_bytes = element,
                     .input_bytes = element,
                     .quantises = work.arithmetic == Arithmetic::bf16 ? 0.0 : 1.0}
      .sizes();
}

ExpertsCase experts_case(const KernelWork& work) {
  const ExpertsShape& e = work.experts;
  return {.tokens = as_double(e.tokens),
          .hidden = as_double(e.hidden),
          .intermediate = as_double(e.intermediate),
          .top_k = as_double(e.top_k),
          .experts = as_double(e.experts),
          .expert_parallel = as_double(e.experts) / as_double(e.held),
          .gated = e.gated ? 1.0 : 0.0,
          .weight_bytes = as_double(e.weight_bits) / 8,
          .input_bytes = work.arithmetic == Arithmetic::bf16 ? 2.0 : 1.0};
}

// The two products of the shared experts, as one wide expert.
std::array<std::vector<double>, 2> shared_sizes(const KernelWork& work) {
  const ExpertsShape& e = work.experts;
  KernelWork product = work;
  product.matrix = {
      .rows = e.shared_tokens, .columns = (e.gated ? 2 : 1) * e.shared_width, .depth = e.hidden};
  const std::vector<double> up = product_sizes(product);
  product.matrix = {.rows = e.shared_tokens, .columns = e.hidden, .depth = e.shared_width};
  return {up, product_sizes(product)};
}

std::vector<double> attention_sizes(const KernelWork& work) {
  const AttentionShape& a = work.attention;
  if (a.sequences == 0) return {};
  const double kv_bytes = as_double(a.kv_bits) / 8;
  const double group = as_double(a.heads) / as_double(a.kv_heads);
  if (work.family == KernelFamily::prefill_attention)
    return PrefillCase{as_double(a.sequences),
                       as_double(a.kv_heads),
                       group,
                       as_double(a.head_dim),
                       as_double(a.tokens),
                       as_double(a.before),
                       as_double(a.window),
                       kv_bytes}
        .sizes();
  return DecodeCase{
      as_double(a.sequences),         as_double(a.kv_heads), group,   as_double(a.head_dim),
      as_double(a.before + a.tokens), as_double(a.window),   kv_bytes}
      .sizes();
}

// Empty where the operation says too little.
std::vector<double> sizes_of(const KernelWork& work) {
  if (work.family == KernelFamily::gemm) return product_sizes(work);
  if (work.family != KernelFamily::experts) return attention_sizes(work);
  return work.experts.tokens == 0 ? std::vector<double>() : experts_case(work).sizes();
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
  std::vector<std::string> names;
  for (const Named& each : wanted) {
    names.emplace_back(each.name);
    f.check(given.contains(names.back()), key, fmt::format("lacks '{}'", each.name));
  }
  for (const auto& [name, value] : given)
    f.check(std::ranges::find(names, name) != names.end(), fmt::format("{}.{}", key, name),
            "is not of this form", "one of: " + join(names));
}

void check_parameters(Fields& f, const TimedKernelConfig& c, const KernelForm& form) {
  check_names(f, "parameters", c.parameters, form.parameters());
  for (const FormParameter& p : form.parameters()) {
    const auto given = c.parameters.find(std::string(p.name));
    if (given == c.parameters.end()) continue;
    f.check(given->second >= p.low * (1 - kRounding) && given->second <= p.high * (1 + kRounding),
            fmt::format("parameters.{}", p.name),
            fmt::format("is not from {:g} to {:g}", p.low, p.high));
  }
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
  f.required("form", c.form,
             "Name of the form: product, experts, decode_attention, prefill_attention.");
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
  f.optional("misfit", c.misfit, "Factor on its time: the scatter of timings around the fit.",
             in_range(0.01, 100.0));
  f.optional("transfer", c.transfer, "Factor on its time on any GPU but the timed part.",
             in_range(0.01, 100.0));
  const KernelForm* form = find_form(c.form);
  std::vector<std::string> names;
  for (const KernelForm* each : all_forms()) names.emplace_back(each->name());
  f.check(form != nullptr, "form", "is no form", "forms: " + join(names));
  if (!form) return;
  const std::vector<std::string> variants(form->variants().begin(), form->variants().end());
  f.check(std::ranges::find(variants, c.variant) != variants.end(), "variant", "is no variant",
          "variants: " + join(variants));
  check_parameters(f, c, *form);
  check_names(f, "least", c.least, form->sizes());
  check_names(f, "most", c.most, form->sizes());
  const auto columns = static_cast<std::size_t>(form->surface_columns());
  f.check(c.surface.empty() || c.surface.size() == columns, "surface",
          fmt::format("has {} coefficients instead of {}", c.surface.size(), columns));
}

TimedKernels::TimedKernels(const std::map<std::string, TimedKernelConfig>& configs,
                           std::string_view part) {
  for (const auto& [name, config] : configs) {
    const KernelForm& form = *find_form(config.form);
    const auto variants = form.variants();
    Kernel kernel{.config = config,
                  .fitted = {.form = &form,
                             .variant = static_cast<std::size_t>(
                                 std::ranges::find(variants, config.variant) - variants.begin()),
                             .parameters = {},
                             .surface = config.surface},
                  .least = in_order(form, config.least),
                  .most = in_order(form, config.most),
                  .transferred = part != config.part.name};
    for (const FormParameter& p : form.parameters())
      kernel.fitted.parameters.push_back(config.parameters.at(std::string(p.name)));
    kernels_.push_back(std::move(kernel));
  }
}

const TimedKernels::Kernel* TimedKernels::nearest(const KernelForm& form, Arithmetic arithmetic,
                                                  KernelSizes sizes) const {
  const Kernel* found = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Kernel& kernel : kernels_) {
    if (kernel.fitted.form != &form || kernel.config.arithmetic != arithmetic) continue;
    const double far = distance(sizes, kernel.least, kernel.most);
    if (far >= least) continue;
    least = far;
    found = &kernel;
  }
  return found;
}

std::optional<TimedKernels::Estimate> TimedKernels::estimate(const KernelForm& form,
                                                             const KernelWork& work, FlopRate peak,
                                                             KernelSizes sizes) const {
  const Kernel* kernel = nearest(form, work.arithmetic, sizes);
  if (!kernel) return std::nullopt;
  const TimedKernelConfig& c = kernel->config;
  const GpuSheet sheet{
      .memory = static_cast<double>(kernel->transferred ? work.memory_peak.in_base()
                                                        : c.part.memory.in_base()),
      .peak = static_cast<double>(kernel->transferred ? peak.in_base() : c.part.peak.in_base()),
      .l2_bytes = static_cast<double>(c.part.l2.in_base()),
      .sms = as_double(c.part.sms)};
  std::vector<double> least = kernel->least;
  // A step has no copies of the weights of a product, and the loads of experts are its own.
  if (&form == &product_form() || &form == &experts_form()) least.back() = 0;
  const bool beyond = distance(sizes, least, kernel->most) > 0;
  FittedForm fitted = kernel->fitted;
  if (beyond) fitted.surface.clear();
  double factor = c.misfit.value * (beyond ? c.misfit.value : 1);
  if (kernel->transferred) factor *= c.transfer.value;
  const std::vector<double> features =
      &form == &experts_form()
          ? experts_features(experts_case(work), mean_loads(as_double(work.experts.reached),
                                                            as_double(work.experts.routed)))
          : form.features(sizes);
  return Estimate{.seconds = factor * form_time_of_features(fitted, features, sheet),
                  .launch = fitted.parameters.front(),
                  .beyond_timed = beyond};
}

// The shared experts are two products more. An operation has its part of the layer's experts.
bool TimedKernels::add_shared(const KernelWork& work, FlopRate peak, Estimate& sum) const {
  if (work.experts.shared_width > 0)
    for (const std::vector<double>& sizes : shared_sizes(work)) {
      const auto product = estimate(product_form(), work, peak, sizes);
      if (!product) return false;
      sum.seconds += product->seconds;
      sum.beyond_timed |= product->beyond_timed;
    }
  const double part = as_double(work.experts.part) / as_double(work.experts.parts);
  sum.seconds *= part;
  sum.launch *= part;
  return true;
}

std::optional<KernelTime> TimedKernels::time(const KernelWork& work, FlopRate peak) const {
  const KernelForm* form = form_of(work.family);
  if (!form) return std::nullopt;
  const std::vector<double> sizes = sizes_of(work);
  if (sizes.empty()) return std::nullopt;
  std::optional<Estimate> estimated = estimate(*form, work, peak, sizes);
  if (!estimated) return std::nullopt;
  if (work.family == KernelFamily::experts && !add_shared(work, peak, *estimated))
    return std::nullopt;

  const Duration total = duration_of(estimated->seconds);
  const Duration by_memory = work.memory_bytes / work.memory_peak;
  KernelTime out;
  out.launch = std::min(duration_of(estimated->launch), total);
  out.body = std::max({total - out.launch, work.other_time, by_memory, work.flops / peak});
  out.compute = std::min(work.flops / peak, out.body);
  out.own_memory = by_memory;
  out.launch_has_latency = true;
  out.beyond_timed = estimated->beyond_timed;
  return out;
}

std::optional<KernelBasis> TimedKernels::basis(KernelFamily family) const {
  const KernelForm* form = form_of(family);
  std::vector<const Kernel*> of_form;
  for (const Kernel& kernel : kernels_)
    if (kernel.fitted.form == form) of_form.push_back(&kernel);
  if (of_form.empty()) return std::nullopt;
  const TimedKernelConfig& first = of_form.front()->config;
  KernelBasis out{
      .basis = of_form.front()->transferred ? "transferred" : "fitted",
      .number_class = first.misfit.number_class,
      .source = fmt::format(
          "{}: {}", first.calibration,
          of_form.size() == 1 ? first.kernel : fmt::format("{} kernels", of_form.size()))};
  if (of_form.front()->transferred)
    out.number_class = weakest(out.number_class, first.transfer.number_class);
  return out;
}

}  // namespace tiersim
