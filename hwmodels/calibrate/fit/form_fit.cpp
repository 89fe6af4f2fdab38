#include "hwmodels/calibrate/fit/form_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hwmodels/calibrate/fit/robust_fit.hpp"
#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kShapeFolds = 5;
constexpr std::size_t kDescentRows = 900;  // enough for a dozen parameters; surfaces take all rows
constexpr std::size_t kChoiceRows = 300;   // enough to choose a variant
constexpr double kClearlyBetter = 0.98;    // a later variant is taken where its error is smaller
constexpr double kSurfaceHuber = 0.04;
constexpr double kSurfacePenalty = 1e-3;

// A timing with the features of its sizes.
struct Case {
  const FormTiming* timing = nullptr;
  std::vector<double> features;
};
using Cases = std::vector<const Case*>;

std::uint64_t hash_of(const std::string& text) {
  return Rng(1, text).next();
}

// The rows by a hash of their sizes: any number of the first ones is spread over all sizes.
Cases shuffled(const Cases& cases) {
  std::vector<std::pair<std::uint64_t, const Case*>> order;
  for (const Case* c : cases)
    order.emplace_back(hash_of(fmt::format("row {}", fmt::join(c->timing->sizes, " "))), c);
  std::ranges::stable_sort(order, {}, &std::pair<std::uint64_t, const Case*>::first);
  Cases out;
  for (const auto& [hash, c] : order) out.push_back(c);
  return out;
}

double mean_log_size(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += std::abs(portable_log(1 + error));
  return sum / static_cast<double>(errors.size());
}

class FormFitter {
 public:
  FormFitter(const KernelForm& form, const GpuSheet& gpu) : form_(form), gpu_(gpu) {}

  // Parameters by descent over `rows` of the cases, then the surface over what they leave.
  FittedForm fit(const Cases& cases, std::size_t variant, std::size_t rows) const {
    const Cases order = shuffled(cases);
    FittedForm out{.form = &form_, .variant = variant};
    out.parameters = descend(
        {order.begin(), order.begin() + std::ptrdiff_t(std::min(rows, order.size()))}, variant);
    std::vector<SurfaceRow> weights;
    std::vector<double> left;
    for (const Case* c : cases) {
      weights.push_back(form_.surface(c->features, gpu_));
      left.push_back(portable_log(c->timing->seconds /
                                  form_.physics(c->features, gpu_, out.parameters, variant)));
    }
    out.surface =
        fit_surface(weights, left, form_.surface_columns(), kSurfaceHuber, kSurfacePenalty);
    return out;
  }

  std::vector<double> errors(const Cases& cases, const FittedForm& fitted) const {
    std::vector<double> out;
    for (const Case* c : cases)
      out.push_back(form_time_of_features(fitted, c->features, gpu_) / c->timing->seconds - 1);
    return out;
  }

  std::size_t best_variant(const Cases& cases) const {
    if (form_.variants().size() == 1) return 0;
    Cases part = shuffled(cases);
    part.resize(std::min(part.size(), 4 * kChoiceRows));
    std::size_t best = 0;
    double least = 0;
    for (std::size_t variant = 0; variant < form_.variants().size(); ++variant) {
      const double error = mean_log_size(errors(part, fit(part, variant, kChoiceRows)));
      if (variant > 0 && error >= kClearlyBetter * least) continue;
      best = variant;
      least = error;
    }
    return best;
  }

 private:
  std::vector<double> descend(const Cases& cases, std::size_t variant) const {
    std::vector<double> log_seconds;
    for (const Case* c : cases) log_seconds.push_back(portable_log(c->timing->seconds));
    const auto times = [&](const std::vector<double>& parameters, std::vector<double>& seconds) {
      for (std::size_t i = 0; i < seconds.size(); ++i)
        seconds[i] = form_.physics(cases[i]->features, gpu_, parameters, variant);
    };
    const auto ranges = form_.parameters();
    return fit_parameters({ranges.begin(), ranges.end()}, times, log_seconds);
  }

  const KernelForm& form_;
  const GpuSheet& gpu_;
};

FitScatter scatter_of(const std::vector<double>& errors) {
  if (errors.empty()) return {};
  std::vector<double> ratios;
  for (const double error : errors) ratios.push_back(1 / (1 + error));
  return {.low = quantile_of(ratios, 0.025), .high = quantile_of(ratios, 0.975)};
}

// Of fits, each to all timings but those of one group, on that group.
std::vector<double> group_errors(const FormFitter& fitter, const Cases& all, std::size_t variant) {
  std::set<std::string> groups;
  for (const Case* c : all) groups.insert(c->timing->group);
  if (groups.size() < 2) return {};
  std::vector<double> out;
  for (const std::string& group : groups) {
    Cases seen;
    Cases held_out;
    for (const Case* c : all) (c->timing->group == group ? held_out : seen).push_back(c);
    const auto errors = fitter.errors(held_out, fitter.fit(seen, variant, kDescentRows));
    out.insert(out.end(), errors.begin(), errors.end());
  }
  return out;
}

}  // namespace

FitErrors errors_of(const std::vector<double>& errors) {
  if (errors.empty()) return {};
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return {.rows = static_cast<std::int64_t>(errors.size()),
          .median = quantile_of(sizes, 0.5),
          .p90 = quantile_of(sizes, 0.9),
          .bias = quantile_of(errors, 0.5)};
}

std::int64_t fewest_timings(const KernelForm& form) {
  return 2 * static_cast<std::int64_t>(form.parameters().size());
}

FormFit fit_form(const KernelForm& form, std::vector<FormTiming> timings, const GpuSheet& gpu) {
  FormFit out;
  out.outside = static_cast<std::int64_t>(
      std::erase_if(timings, [&](const FormTiming& t) { return !form.in_range(t.sizes); }));
  out.rows = static_cast<std::int64_t>(timings.size());
  TS_EXPECTS(out.rows >= fewest_timings(form), out.rows);
  std::ranges::sort(timings, {}, [](const FormTiming& t) { return std::tie(t.sizes, t.seconds); });
  std::vector<Case> cases;
  out.least = out.most = timings.front().sizes;
  for (const FormTiming& timing : timings) {
    cases.push_back({&timing, form.features(timing.sizes)});
    for (std::size_t i = 0; i < timing.sizes.size(); ++i) {
      out.least[i] = std::min(out.least[i], timing.sizes[i]);
      out.most[i] = std::max(out.most[i], timing.sizes[i]);
    }
  }

  Cases all;
  for (const Case& c : cases) all.push_back(&c);
  const FormFitter fitter(form, gpu);
  const std::size_t variant = fitter.best_variant(all);
  out.model = fitter.fit(all, variant, kDescentRows);
  out.fitted = errors_of(fitter.errors(all, out.model));

  std::vector<double> unseen;
  for (std::size_t fold = 0; fold < kShapeFolds; ++fold) {
    Cases seen;
    Cases held_out;
    for (const Case* c : all)
      (hash_of("shape " + c->timing->shape) % kShapeFolds == fold ? held_out : seen).push_back(c);
    if (held_out.empty() || seen.empty()) continue;
    const auto errors = fitter.errors(held_out, fitter.fit(seen, variant, kDescentRows));
    unseen.insert(unseen.end(), errors.begin(), errors.end());
    for (std::size_t i = 0; i < errors.size(); ++i)
      out.held_out.push_back(
          {held_out[i]->timing->seconds, held_out[i]->timing->seconds * (1 + errors[i])});
  }
  out.unseen = errors_of(unseen);
  out.scatter = scatter_of(unseen);
  out.groups = errors_of(group_errors(fitter, all, variant));
  return out;
}

}  // namespace tiersim
