#include "hwmodels/calibrate/fit/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

using Row = std::array<double, kParameterCount>;

// Parameters on the scale of the steps: logarithms, and 1/p.
Row to_scale(const KernelParameters& p) {
  const auto log_or_zero = [](double x) { return x > 0 && std::isfinite(x) ? portable_log(x) : 0; };
  return {log_or_zero(p.t0), log_or_zero(p.bandwidth), log_or_zero(p.peak), 1 / p.sharpness,
          log_or_zero(p.latency)};
}

KernelParameters from_scale(const Row& row, const FreeParameters& free,
                            const KernelParameters& held) {
  KernelParameters p = held;
  if (free[at(Parameter::t0)]) p.t0 = portable_exp(row[at(Parameter::t0)]);
  if (free[at(Parameter::bandwidth)]) p.bandwidth = portable_exp(row[at(Parameter::bandwidth)]);
  if (free[at(Parameter::peak)]) p.peak = portable_exp(row[at(Parameter::peak)]);
  if (free[at(Parameter::sharpness)]) p.sharpness = 1 / row[at(Parameter::sharpness)];
  if (free[at(Parameter::latency)]) p.latency = portable_exp(row[at(Parameter::latency)]);
  return p;
}

Row clamped(Row row) {
  double& inverse = row[at(Parameter::sharpness)];
  inverse = std::clamp(inverse, 1 / kSharpnessMost, 1.0);
  // A t0 far below every time equals zero; 1e-12 s to 1e3 s covers any kernel.
  row[at(Parameter::t0)] = std::clamp(row[at(Parameter::t0)], -27.6, 7.0);
  row[at(Parameter::latency)] = std::clamp(row[at(Parameter::latency)], -27.6, 7.0);
  row[at(Parameter::bandwidth)] = std::clamp(row[at(Parameter::bandwidth)], 0.0, 60.0);
  row[at(Parameter::peak)] = std::clamp(row[at(Parameter::peak)], 0.0, 60.0);
  return row;
}

// Value and derivatives of the equation at one point, on that scale.
struct Evaluated {
  double log_seconds = 0;
  Row slope{};
};

// The equation at one point, in steps of one logarithm or exponential each.
struct Working {
  double memory = 0;
  double compute = 0;
  bool limited = false;  // by bytes in flight
  double more = 0;
  double less = 0;
  double log_ratio = 0;
  double power = 0;
  double log_sum = 0;
  double body = 0;

  Working(const KernelParameters& p, const KernelPoint& point)
      : memory(memory_time(p, point)),
        compute(point.flops > 0 ? point.flops * point.tail / p.peak : 0),
        limited(memory > (point.bytes > 0 ? point.bytes / p.bandwidth : 0)),
        more(std::max(memory, compute)),
        less(std::min(memory, compute)),
        body(more) {
    if (less > 0) log_ratio = portable_log(less / more);
  }
  void raise(const KernelParameters& p) {
    if (less > 0) power = portable_exp(std::max(-700.0, p.sharpness * log_ratio));
  }
  void add() {
    if (less > 0) log_sum = portable_log(1 + power);
  }
  void root(const KernelParameters& p) {
    if (less > 0) body = more * portable_exp(log_sum / p.sharpness);
  }
  Evaluated evaluated(const KernelParameters& p) const {
    double share_of_less = 0;  // less^p / (memory^p + compute^p)
    double by_inverse = 0;     // d ln(body) / d(1/p)
    if (less > 0) {
      share_of_less = power / (1 + power);
      by_inverse = log_sum - p.sharpness * share_of_less * log_ratio;
    }
    const double memory_share = memory >= compute ? 1 - share_of_less : share_of_less;
    const double seconds = p.t0 + body;
    const double part = body / seconds;
    Evaluated out{.log_seconds = portable_log(seconds)};
    out.slope[at(Parameter::t0)] = p.t0 / seconds;
    out.slope[at(Parameter::bandwidth)] = limited ? 0 : -part * memory_share;
    out.slope[at(Parameter::latency)] = limited ? part * memory_share : 0;
    out.slope[at(Parameter::peak)] = -part * (1 - memory_share);
    out.slope[at(Parameter::sharpness)] = part * by_inverse;
    return out;
  }
};

Evaluated evaluate(const KernelParameters& p, const KernelPoint& point) {
  Working working(p, point);
  working.raise(p);
  working.add();
  working.root(p);
  return working.evaluated(p);
}

class Problem {
 public:
  Problem(const KernelParameters& held, const FreeParameters& free,
          const std::vector<Observation>& observations)
      : held_(held), free_(free), observations_(observations) {
    for (std::size_t p = 0; p < kParameterCount; ++p)
      if (free[p]) columns_.push_back(p);
  }

  // Residuals and Jacobian, both times the root of the weight.
  // A step of all observations before the next step: the processor overlaps what does not wait for
  // each other, and a logarithm takes many operations that do.
  double look(const Row& row, Eigen::VectorXd& residuals, Eigen::MatrixXd& jacobian) {
    const KernelParameters p = from_scale(row, free_, held_);
    const auto n = static_cast<Eigen::Index>(observations_.size());
    residuals.resize(n);
    jacobian.resize(n, static_cast<Eigen::Index>(columns_.size()));
    working_.clear();
    for (const Observation& seen : observations_) working_.emplace_back(p, seen.point);
    for (Working& working : working_) working.raise(p);
    for (Working& working : working_) working.add();
    for (Working& working : working_) working.root(p);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Observation& seen = observations_[static_cast<std::size_t>(i)];
      const Evaluated model = working_[static_cast<std::size_t>(i)].evaluated(p);
      const double root = std::sqrt(seen.weight);
      residuals(i) = root * (seen.log_seconds - model.log_seconds);
      for (std::size_t c = 0; c < columns_.size(); ++c)
        jacobian(i, static_cast<Eigen::Index>(c)) = root * model.slope[columns_[c]];
    }
    return residuals.squaredNorm();
  }

  Row stepped(Row row, const Eigen::VectorXd& step) const {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      row[columns_[c]] += step(static_cast<Eigen::Index>(c));
    return clamped(row);
  }

  // The fit at `row`, where look() gave these.
  LeastSquares solved(const Row& row, double sum, const Eigen::VectorXd& residuals,
                      const Eigen::MatrixXd& jacobian) const {
    LeastSquares out;
    out.best = from_scale(row, free_, held_);
    out.sum = sum;
    Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
    // A parameter that moves no observation makes the matrix singular; a tiny ridge avoids that.
    normal.diagonal().array() += 1e-12 * normal.diagonal().maxCoeff();
    const Eigen::MatrixXd inverse =
        normal.ldlt().solve(Eigen::MatrixXd::Identity(normal.rows(), normal.cols()));
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      const auto r = static_cast<Eigen::Index>(i);
      out.residuals.push_back(residuals(r) / std::sqrt(observations_[i].weight));
      out.leverages.push_back(
          std::clamp((jacobian.row(r) * inverse * jacobian.row(r).transpose())(0, 0), 0.0, 1.0));
    }
    for (std::size_t a = 0; a < columns_.size(); ++a)
      for (std::size_t b = 0; b < columns_.size(); ++b)
        out.covariance[columns_[a]][columns_[b]] =
            inverse(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
    return out;
  }

 private:
  KernelParameters held_;
  FreeParameters free_;
  const std::vector<Observation>& observations_;
  std::vector<std::size_t> columns_;
  std::vector<Working> working_;  // of the last look
};

// A starting point: rates and times estimated from the observations.
KernelParameters suggested(const std::vector<Observation>& observations) {
  KernelParameters p{.t0 = 1e3, .bandwidth = 1, .peak = 1, .sharpness = 2, .latency = 0};
  double in_flight_rate = std::numeric_limits<double>::infinity();
  for (const Observation& o : observations) {
    const double seconds = portable_exp(o.log_seconds);
    p.t0 = std::min(p.t0, seconds);
    p.bandwidth = std::max(p.bandwidth, o.point.bytes / seconds);
    p.peak = std::max(p.peak, o.point.flops * o.point.tail / seconds);
    if (o.point.bytes > 0 && o.point.bytes_in_flight > 0)
      in_flight_rate = std::min(in_flight_rate, o.point.bytes / seconds / o.point.bytes_in_flight);
  }
  p.t0 *= 0.7;
  if (std::isfinite(in_flight_rate)) p.latency = 0.5 / in_flight_rate;
  return p;
}

}  // namespace

double variance_at(const LeastSquares& fit, const FreeParameters& free, const KernelPoint& point) {
  const Row slope = evaluate(fit.best, point).slope;
  double variance = 0;
  for (std::size_t a = 0; a < kParameterCount; ++a)
    for (std::size_t b = 0; b < kParameterCount; ++b)
      if (free[a] && free[b]) variance += slope[a] * fit.covariance[a][b] * slope[b];
  return std::max(0.0, variance);
}

LeastSquares fit_from(const KernelParameters& start, const FreeParameters& free,
                      const std::vector<Observation>& observations) {
  TS_EXPECTS(free[at(Parameter::t0)] && !observations.empty(), observations.size());
  Problem problem(start, free, observations);
  Row row = clamped(to_scale(start));
  Eigen::VectorXd residuals;
  Eigen::MatrixXd jacobian;
  double sum = problem.look(row, residuals, jacobian);
  Eigen::VectorXd next_residuals;
  Eigen::MatrixXd next_jacobian;
  double damping = 1e-3;
  for (int iteration = 0; iteration < 100; ++iteration) {
    Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
    const double most = normal.diagonal().maxCoeff();
    normal.diagonal() += damping * normal.diagonal();
    normal.diagonal().array() += 1e-12 * most;
    const Row next = problem.stepped(row, normal.ldlt().solve(jacobian.transpose() * residuals));
    const double next_sum = problem.look(next, next_residuals, next_jacobian);
    if (next_sum <= sum) {
      const bool done = sum - next_sum <= 1e-9 * sum;
      row = next;
      sum = next_sum;
      residuals.swap(next_residuals);
      jacobian.swap(next_jacobian);
      damping = std::max(1e-9, damping / 8);
      if (done) break;
    } else {
      damping *= 6;
      if (damping > 1e9) break;
    }
  }
  return problem.solved(row, sum, residuals, jacobian);
}

LeastSquares fit_globally(const FreeParameters& free,
                          const std::vector<Observation>& observations) {
  const KernelParameters rough = suggested(observations);
  LeastSquares best;
  best.sum = std::numeric_limits<double>::infinity();
  const bool both = free[at(Parameter::sharpness)];
  for (const double sharpness : {1.3, 3.0, 8.0})
    for (const double factor : {1.0, 0.1}) {
      if (!both && sharpness != 3.0) continue;
      KernelParameters start = rough;
      start.t0 *= factor;
      start.sharpness = both ? sharpness : 1;
      if (!free[at(Parameter::bandwidth)])
        start.bandwidth = std::numeric_limits<double>::infinity();
      if (!free[at(Parameter::peak)]) start.peak = std::numeric_limits<double>::infinity();
      if (!free[at(Parameter::latency)]) start.latency = 0;
      LeastSquares found = fit_from(start, free, observations);
      if (found.sum < best.sum) best = std::move(found);
    }
  return best;
}

}  // namespace tiersim
