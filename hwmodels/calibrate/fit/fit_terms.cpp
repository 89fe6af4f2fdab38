#include "hwmodels/calibrate/fit/fit_terms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <boost/math/distributions/fisher_f.hpp>

#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

// Standard deviation of the log time, from the 95 % interval of a case.
double log_deviation(const FitCase& c) {
  constexpr double kHalfWidths = 2 * 1.959964;
  return c.high > c.low && c.low > 0 ? portable_log(c.high / c.low) / kHalfWidths : 0;
}

std::vector<Observation> observed(const std::vector<FitCase>& cases) {
  std::vector<Observation> out;
  for (const FitCase& c : cases) out.push_back({c.point, portable_log(c.seconds), 1});
  return out;
}

double limit_of_f(double between, double within, double share) {
  return quantile(boost::math::fisher_f(between, within), share);
}

double unit_scale(const LeastSquares& solution, double freedom) {
  return std::sqrt(solution.sum / std::max(1.0, freedom));
}

std::size_t count(const FreeParameters& free) {
  return static_cast<std::size_t>(std::ranges::count(free, true));
}

// Parameters that the cases could determine at best.
FreeParameters candidates(const std::vector<Observation>& observations) {
  const auto any = [&](auto&& has) { return std::ranges::any_of(observations, has); };
  const bool bytes = any([](const Observation& o) { return o.point.bytes > 0; });
  const bool flops = any([](const Observation& o) { return o.point.flops > 0; });
  const bool both =
      any([](const Observation& o) { return o.point.bytes > 0 && o.point.flops > 0; });
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Observation& o : observations) {
    if (o.point.bytes_in_flight <= 0) continue;
    least = std::min(least, o.point.bytes_in_flight);
    most = std::max(most, o.point.bytes_in_flight);
  }
  // Where all cases keep equally many bytes in flight, bandwidth and latency cannot be separated.
  return {true, bytes, flops, both, bytes && most > 2 * least};
}

FreeParameters without(FreeParameters free, Parameter term) {
  free[at(term)] = false;
  if (term != Parameter::latency) free[at(Parameter::sharpness)] = false;
  if (term == Parameter::bandwidth) free[at(Parameter::latency)] = false;
  return free;
}

// F test at 1 %: true where the cases do not justify the larger model.
bool is_enough(const LeastSquares& smaller, const LeastSquares& larger, std::size_t dropped,
               double freedom) {
  if (freedom < 1) return true;
  const double ratio =
      (smaller.sum - larger.sum) / static_cast<double>(dropped) / (larger.sum / freedom);
  return ratio < limit_of_f(static_cast<double>(dropped), freedom, 0.99);
}

double freedom_of(const std::vector<Observation>& observations, const FreeParameters& free) {
  return static_cast<double>(observations.size()) - static_cast<double>(count(free));
}

// The fit without a term, where the F test accepts that; empty where it does not, or where the term
// is not free.
std::optional<LeastSquares> good_without(const TermFit& fit, Parameter term) {
  if (!fit.free[at(term)]) return std::nullopt;
  const FreeParameters fewer = without(fit.free, term);
  if (count(fewer) < 2) return std::nullopt;  // t0 alone explains nothing
  LeastSquares smaller = fit_globally(fewer, fit.observations);
  const double freedom = freedom_of(fit.observations, fit.free);
  if (!is_enough(smaller, fit.solution, count(fit.free) - count(fewer), freedom))
    return std::nullopt;
  return smaller;
}

void drop(TermFit& fit, Parameter term, LeastSquares smaller, const char* note) {
  fit.free = without(fit.free, term);
  fit.solution = std::move(smaller);
  fit.notes.emplace_back(note);
}

// Of two accepted fits, by memory alone and by arithmetic alone: true where the second comes closer
// to its ceiling or, without ceilings, has the smaller residuals.
bool is_arithmetic(const LeastSquares& by_memory, const LeastSquares& by_arithmetic,
                   const Ceilings& ceilings) {
  if (ceilings.bandwidth <= 0 || ceilings.peak <= 0) return by_arithmetic.sum < by_memory.sum;
  return by_arithmetic.best.peak / ceilings.peak > by_memory.best.bandwidth / ceilings.bandwidth;
}

void drop_unseen(TermFit& fit, const Ceilings& ceilings) {
  if (auto smaller = good_without(fit, Parameter::latency))
    drop(fit, Parameter::latency, *std::move(smaller), "no limit by bytes in flight shows");
  auto by_memory = good_without(fit, Parameter::peak);
  auto by_arithmetic = good_without(fit, Parameter::bandwidth);
  if (by_memory && by_arithmetic) {
    if (is_arithmetic(*by_memory, *by_arithmetic, ceilings))
      by_memory.reset();
    else
      by_arithmetic.reset();
  }
  if (by_memory)
    drop(fit, Parameter::peak, *std::move(by_memory),
         "arithmetic never takes long enough to show its rate");
  else if (by_arithmetic)
    drop(fit, Parameter::bandwidth, *std::move(by_arithmetic),
         "memory never takes long enough to show its rate");
}

// Holds a rate at its ceiling where the best one exceeds it and the F test accepts the ceiling; a
// rate that the cases determine to be above it stays, and tells that something is wrong.
void hold_at(TermFit& fit, Parameter rate, double KernelParameters::*member, double ceiling,
             const char* note) {
  if (!fit.free[at(rate)] || ceiling <= 0 || fit.solution.best.*member <= ceiling) return;
  KernelParameters start = fit.solution.best;
  start.*member = ceiling;
  FreeParameters fewer = fit.free;
  fewer[at(rate)] = false;
  LeastSquares held = fit_from(start, fewer, fit.observations);
  if (!is_enough(held, fit.solution, 1, freedom_of(fit.observations, fit.free))) return;
  fit.free = fewer;
  fit.held[at(rate)] = true;
  fit.solution = std::move(held);
  fit.notes.emplace_back(note);
}

// Weight = 1 / (own variance + common scatter beyond it), from the residuals under the present
// weights.
void weigh(TermFit& fit, const std::vector<FitCase>& cases) {
  double own = 0;
  double seen = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    own += log_deviation(cases[i]) * log_deviation(cases[i]);
    seen += fit.solution.residuals[i] * fit.solution.residuals[i];
  }
  const auto n = static_cast<double>(cases.size());
  const double freedom = std::max(1.0, freedom_of(fit.observations, fit.free));
  const double scatter = std::max(0.0, seen / freedom - own / n);
  const double least = std::max(1e-12, 1e-3 * (own / n + scatter));  // bounds the weight of a case
  for (std::size_t i = 0; i < cases.size(); ++i)
    fit.observations[i].weight =
        1 / std::max(least, log_deviation(cases[i]) * log_deviation(cases[i]) + scatter);
}

}  // namespace

std::size_t TermFit::free_count() const {
  return count(free);
}

std::size_t TermFit::held_count() const {
  return count(held);
}

double TermFit::degrees_of_freedom() const {
  return std::max(1.0, freedom_of(observations, free));
}

TermFit fit_terms(const std::vector<FitCase>& cases, const Ceilings& ceilings) {
  TermFit fit;
  fit.observations = observed(cases);
  fit.free = candidates(fit.observations);
  fit.solution = fit_globally(fit.free, fit.observations);
  for (int pass = 0; pass < 2; ++pass) {
    weigh(fit, cases);
    fit.solution = fit_from(fit.solution.best, fit.free, fit.observations);
  }
  drop_unseen(fit, ceilings);
  for (int again = 0; again < 2; ++again) {  // one rate may rise when the other is held
    hold_at(fit, Parameter::bandwidth, &KernelParameters::bandwidth, ceilings.bandwidth,
            "the best fit's bandwidth is above the ceiling of its memory, at which it is held");
    hold_at(fit, Parameter::peak, &KernelParameters::peak, ceilings.peak,
            "the best fit's arithmetic rate is above its ceiling, at which it is held");
  }
  fit.scale = unit_scale(fit.solution, fit.degrees_of_freedom());
  return fit;
}

TermFit refit(const TermFit& like, const std::vector<FitCase>& cases) {
  TermFit fit;
  fit.observations = observed(cases);
  fit.free = like.free;
  fit.held = like.held;
  fit.solution = fit_from(like.solution.best, fit.free, fit.observations);
  weigh(fit, cases);
  fit.solution = fit_from(fit.solution.best, fit.free, fit.observations);
  fit.scale = unit_scale(fit.solution, fit.degrees_of_freedom());
  return fit;
}

namespace {

// The largest sum of squares that an F test does not reject at 5 %.
double allowed_sum(const TermFit& fit) {
  const double freedom = fit.degrees_of_freedom();
  return fit.solution.sum * (1 + limit_of_f(1, freedom, 0.95) / freedom);
}

// The point between `inside` and `end` where values stop being accepted; `end` where none does.
template <class Accepted>
double edge_of(double inside, double end, const Accepted& accepted) {
  if (accepted(end)) return end;
  double outside = end;
  for (int i = 0; i < 12; ++i) {
    const double middle = (inside + outside) / 2;
    (accepted(middle) ? inside : outside) = middle;
  }
  return inside;
}

}  // namespace

Estimate profile_of_sharpness(const TermFit& fit) {
  const double best = fit.solution.best.sharpness;
  if (!fit.free[at(Parameter::sharpness)]) return {best, 1, kSharpnessMost};
  FreeParameters held = fit.free;
  held[at(Parameter::sharpness)] = false;
  const auto accepted = [&, allowed = allowed_sum(fit)](double inverse) {
    KernelParameters start = fit.solution.best;
    start.sharpness = 1 / inverse;
    return fit_from(start, held, fit.observations).sum <= allowed;
  };
  return {best, 1 / edge_of(1 / best, 1.0, accepted),
          1 / edge_of(1 / best, 1 / kSharpnessMost, accepted)};
}

Estimate profile_of_rate(const TermFit& fit, Parameter rate) {
  constexpr double kFarthest = 4.6;  // a factor of 100
  double KernelParameters::*const member =
      rate == Parameter::peak ? &KernelParameters::peak : &KernelParameters::bandwidth;
  const double best = fit.solution.best.*member;
  FreeParameters held = fit.free;
  held[at(rate)] = false;
  const auto accepted = [&, allowed = allowed_sum(fit)](double log_factor) {
    // With another rate, the best sharpness may be far from the present one.
    return std::ranges::any_of(std::array{fit.solution.best.sharpness, 1.3, 3.0}, [&](double p) {
      KernelParameters start = fit.solution.best;
      start.*member = best * portable_exp(log_factor);
      start.sharpness = p;
      return fit_from(start, held, fit.observations).sum <= allowed;
    });
  };
  return {best, best * portable_exp(edge_of(0, -kFarthest, accepted)),
          best * portable_exp(edge_of(0, kFarthest, accepted))};
}

}  // namespace tiersim
