#include "hwmodels/calibrate/fit/fit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hwmodels/calibrate/fit/bootstrap.hpp"
#include "hwmodels/calibrate/fit/fit_terms.hpp"
#include "hwmodels/calibrate/fit/time_table.hpp"
#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kFolds = 3;

double modelled(const TermFit& terms, std::size_t i) {
  return portable_exp(terms.observations[i].log_seconds - terms.solution.residuals[i]);
}

// Standard deviation of a new case around the fit, in log time, from leave-one-out residuals.
double deviation_of_new(const TermFit& terms) {
  double sum = 0;
  for (std::size_t i = 0; i < terms.observations.size(); ++i) {
    const double unseen =
        terms.solution.residuals[i] / std::max(0.05, 1 - terms.solution.leverages[i]);
    sum += unseen * unseen;
  }
  return std::sqrt(sum / static_cast<double>(terms.observations.size()));
}

Estimate factor_of(double log_deviation, double freedom) {
  const double most = portable_exp(1.959964 * student_factor(freedom) * log_deviation);
  return {1, 1 / most, most};
}

Estimate interval_over(const KernelFit& fit, double freedom,
                       double (*get)(const KernelParameters&)) {
  std::vector<double> values;
  for (const KernelParameters& draw : fit.draws) values.push_back(get(draw));
  return interval_of(get(fit.best), std::move(values), freedom);
}

// Correlations of the logarithms over the draws; 0 where a parameter does not vary.
std::array<double, 6> correlations(const std::vector<KernelParameters>& draws) {
  std::array<std::vector<double>, 4> logs;
  for (const KernelParameters& d : draws) {
    const std::array values{d.t0, d.bandwidth, d.peak, d.sharpness};
    for (std::size_t p = 0; p < values.size(); ++p)
      logs[p].push_back(std::isfinite(values[p]) ? portable_log(values[p]) : 0);
  }
  for (auto& column : logs) {
    double mean = 0;
    for (const double x : column) mean += x / static_cast<double>(column.size());
    double square = 0;
    for (double& x : column) {
      x -= mean;
      square += x * x;
    }
    for (double& x : column) x = square > 1e-20 ? x / std::sqrt(square) : 0;
  }
  std::array<double, 6> out{};
  std::size_t at = 0;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = a + 1; b < 4; ++b, ++at)
      for (std::size_t i = 0; i < draws.size(); ++i) out[at] += logs[a][i] * logs[b][i];
  return out;
}

// A fit from its terms and bootstrap draws, without table and errors.
KernelFit fit_of(const TermFit& terms, int draws, std::uint64_t seed) {
  KernelFit fit;
  const auto seen = [&](Parameter p) { return terms.free[at(p)] || terms.held[at(p)]; };
  fit.best = terms.solution.best;
  fit.has_bandwidth = seen(Parameter::bandwidth);
  fit.has_peak = seen(Parameter::peak);
  fit.has_latency = seen(Parameter::latency);
  fit.draws = bootstrap(terms, draws, seed);
  const double freedom = terms.degrees_of_freedom();
  fit.t0 = interval_over(fit, freedom, [](const KernelParameters& p) { return p.t0; });
  if (fit.has_bandwidth)
    fit.bandwidth =
        interval_over(fit, freedom, [](const KernelParameters& p) { return p.bandwidth; });
  if (fit.has_peak)
    fit.peak = interval_over(fit, freedom, [](const KernelParameters& p) { return p.peak; });
  if (fit.has_latency)
    fit.latency = interval_over(fit, freedom, [](const KernelParameters& p) { return p.latency; });
  fit.correlation = correlations(fit.draws);
  fit.misfit = factor_of(deviation_of_new(terms), freedom);
  fit.notes = terms.notes;
  return fit;
}

Estimate wider(const Estimate& a, const Estimate& b) {
  return {a.value, std::min(a.low, b.low), std::max(a.high, b.high)};
}

// The interval of a held rate reaches down to what the cases still allow.
void widen_held_rates(KernelFit& fit, const TermFit& terms) {
  const auto widened = [&](Parameter rate, const Estimate& held) {
    TermFit free = terms;
    free.free[at(rate)] = true;
    return Estimate{held.value, std::min(held.value, profile_of_rate(free, rate).low), held.value};
  };
  fit.held_bandwidth = terms.held[at(Parameter::bandwidth)];
  fit.held_peak = terms.held[at(Parameter::peak)];
  if (fit.held_bandwidth) fit.bandwidth = widened(Parameter::bandwidth, fit.bandwidth);
  if (fit.held_peak) fit.peak = widened(Parameter::peak, fit.peak);
}

void widen_where_the_corner_is_not_seen(KernelFit& fit, const TermFit& terms) {
  if (!terms.free[at(Parameter::bandwidth)] || !terms.free[at(Parameter::peak)]) return;
  if (fit.sharpness.low > 1 && fit.sharpness.high < kSharpnessMost) return;
  fit.bandwidth = wider(fit.bandwidth, profile_of_rate(terms, Parameter::bandwidth));
  fit.peak = wider(fit.peak, profile_of_rate(terms, Parameter::peak));
  fit.notes.emplace_back("these cases hardly show p, so the rates have the wider of two intervals");
}

std::vector<TimePair> pairs_of(const TermFit& terms) {
  std::vector<TimePair> pairs;
  for (std::size_t i = 0; i < terms.observations.size(); ++i)
    pairs.push_back({modelled(terms, i), portable_exp(terms.observations[i].log_seconds),
                     terms.observations[i].weight});
  return pairs;
}

struct Split {
  std::vector<FitCase> seen;
  std::vector<FitCase> held;
};

Split split(const std::vector<FitCase>& cases, const auto& is_held) {
  Split out;
  for (std::size_t i = 0; i < cases.size(); ++i)
    (is_held(i) ? out.held : out.seen).push_back(cases[i]);
  return out;
}

struct Fold {
  double plain = 0;     // squared log errors of the held-out cases by the equation
  double by_table = 0;  // the same through the table
  std::size_t count = 0;
};

Fold look_at_fold(const TermFit& all, const std::vector<FitCase>& cases, std::size_t fold) {
  const Split parts = split(cases, [&](std::size_t i) { return i % kFolds == fold; });
  const TermFit terms = refit(all, parts.seen);
  const std::vector<TimeKnot> table = build_table(pairs_of(terms));
  Fold out;
  for (const FitCase& c : parts.held) {
    const double by_equation = kernel_time(terms.solution.best, c.point);
    const double plain = portable_log(by_equation / c.seconds);
    const double corrected = portable_log(through_table(table, by_equation) / c.seconds);
    out.plain += plain * plain;
    out.by_table += corrected * corrected;
    ++out.count;
  }
  return out;
}

// Keeps the table where it lowers the error in every fold, and then takes the scatter from the
// folds.
void add_table(KernelFit& fit, const TermFit& terms, const std::vector<FitCase>& cases) {
  std::vector<TimeKnot> table = build_table(pairs_of(terms));
  if (table.empty()) return;
  Fold sum;
  for (std::size_t f = 0; f < kFolds; ++f) {
    const Fold fold = look_at_fold(terms, cases, f);
    if (fold.by_table >= fold.plain) return;
    sum.by_table += fold.by_table;
    sum.count += fold.count;
  }
  fit.table = std::move(table);
  fit.misfit = factor_of(std::sqrt(sum.by_table / static_cast<double>(sum.count)),
                         terms.degrees_of_freedom());
  fit.notes.emplace_back("a monotone table corrects the equation");
}

std::vector<CaseError> errors_of(const KernelFit& fit, const std::vector<FitCase>& cases) {
  std::vector<CaseError> out;
  for (const FitCase& c : cases) {
    const Estimate predicted = predict(fit, c.point);
    out.push_back({.name = c.name,
                   .measured = c.seconds,
                   .predicted = predicted,
                   .error = (predicted.value - c.seconds) / c.seconds});
  }
  return out;
}

// Errors on the held-out cases of a fit to the others. The terms are those of the whole fit, but
// parameters, table and misfit are fitted without the held-out cases.
std::vector<CaseError> held_out_errors(const TermFit& terms, const Split& parts,
                                       const FitOptions& options) {
  if (parts.held.empty() || parts.seen.size() <= terms.free_count()) return {};
  const TermFit seen = refit(terms, parts.seen);
  KernelFit fit = fit_of(seen, options.draws, options.seed);
  add_table(fit, seen, parts.seen);
  return errors_of(fit, parts.held);
}

void add_errors(KernelFit& fit, const TermFit& terms, const std::vector<FitCase>& cases,
                const FitOptions& options) {
  fit.cases = errors_of(fit, cases);
  fit.in_sample = summarise(fit.cases);
  if (!options.hold_out) return;
  const auto report = [&](const auto& is_held, ErrorSummary& summary, bool CaseError::*mark) {
    const auto errors = held_out_errors(terms, split(cases, is_held), options);
    summary = summarise(errors);
    for (const CaseError& error : errors) {
      const auto at = std::ranges::find(fit.cases, error.name, &CaseError::name);
      at->predicted = error.predicted;
      at->error = error.error;
      (*at).*mark = true;
    }
  };
  report([](std::size_t i) { return i % kFolds == kFolds - 1; }, fit.held_out,
         &CaseError::held_out);
  if (fit.held_out.count == 0) fit.notes.emplace_back("too few cases to hold every third out");
  report([&](std::size_t i) { return i + 1 == cases.size(); }, fit.largest, &CaseError::largest);
}

}  // namespace

ErrorSummary summarise(const std::vector<CaseError>& cases) {
  ErrorSummary out;
  std::vector<double> sizes;
  for (const CaseError& c : cases) {
    out.signed_mean += c.error;
    out.coverage += c.predicted.low <= c.measured && c.measured <= c.predicted.high ? 1 : 0;
    sizes.push_back(std::abs(c.error));
    if (sizes.back() < out.worst) continue;
    out.worst = sizes.back();
    out.worst_case = c.name;
  }
  out.count = static_cast<std::int64_t>(cases.size());
  if (cases.empty()) return out;
  out.signed_mean /= static_cast<double>(cases.size());
  out.coverage /= static_cast<double>(cases.size());
  out.median = quantile_of(sizes, 0.5);
  out.p90 = quantile_of(sizes, 0.9);
  return out;
}

Estimate predict(const KernelFit& fit, const KernelPoint& point) {
  const double value = through_table(fit.table, kernel_time(fit.best, point));
  std::vector<double> times;
  for (const KernelParameters& draw : fit.draws)
    times.push_back(through_table(fit.table, kernel_time(draw, point)));
  const auto joined = [&](double of_fit, double of_new) {
    const double fitted = portable_log(of_fit / value);
    const double added = portable_log(of_new);
    return portable_exp(std::sqrt(fitted * fitted + added * added));
  };
  const Estimate of_fit = times.empty()
                              ? Estimate{value, value, value}
                              : Estimate{value, std::min(value, quantile_of(times, 0.025)),
                                         std::max(value, quantile_of(times, 0.975))};
  return {value, value / joined(of_fit.low, fit.misfit.low),
          value * joined(of_fit.high, fit.misfit.high)};
}

Expected<KernelFit> fit_kernel(std::vector<FitCase> cases, const FitOptions& options) {
  if (cases.size() < kFewestCases)
    return Unexpected(fmt::format("{} cases, where a fit needs {}", cases.size(), kFewestCases));
  // Sorted by size, so that every third case is held out over the whole range and the largest is
  // last.
  std::ranges::stable_sort(cases, [](const FitCase& a, const FitCase& b) {
    return std::pair(a.point.bytes + a.point.flops, a.name) <
           std::pair(b.point.bytes + b.point.flops, b.name);
  });
  const TermFit terms = fit_terms(cases, options.ceilings);
  if (terms.free_count() + terms.held_count() < 2)
    return Unexpected(std::string("no case moves a byte or computes anything"));
  KernelFit fit = fit_of(terms, options.draws, options.seed);
  fit.sharpness = profile_of_sharpness(terms);
  widen_where_the_corner_is_not_seen(fit, terms);
  widen_held_rates(fit, terms);
  add_table(fit, terms, cases);
  const auto [shortest, longest] = std::ranges::minmax(cases, {}, &FitCase::seconds);
  fit.shortest = shortest.seconds;
  fit.longest = longest.seconds;
  add_errors(fit, terms, cases, options);
  return fit;
}

}  // namespace tiersim
