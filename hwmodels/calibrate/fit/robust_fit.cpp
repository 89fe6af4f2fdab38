#include "hwmodels/calibrate/fit/robust_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr double kLogStep = 1e-3;     // of a logarithm, for derivatives
constexpr double kLongestStep = 0.7;  // of a logarithm, a step of the descent
constexpr double kEnoughGain = 1e-4;  // relative gain below which the descent ends
constexpr int kDampings = 6;          // of a damping, each four times the last
constexpr int kReweightings = 5;      // of a surface

double huber_weight(double residual, double huber) {
  const double size = std::abs(residual);
  return size <= huber ? 1 : huber / size;
}
double huber_loss(double residual, double huber) {
  const double size = std::abs(residual);
  return size <= huber ? 0.5 * size * size : huber * (size - 0.5 * huber);
}

Eigen::Index index(std::size_t i) {
  return static_cast<Eigen::Index>(i);
}

class Descent {
 public:
  Descent(const std::vector<FormParameter>& parameters, const ModelTimes& times,
          const std::vector<double>& log_seconds, const DescentOptions& options)
      : parameters_(parameters), times_(times), measured_(log_seconds), options_(options) {
    for (const FormParameter& p : parameters) {
      TS_EXPECTS(p.low > 0 && p.low <= p.start && p.start <= p.high, p.low, p.start, p.high);
      at_.push_back(portable_log(p.start));
    }
    residuals_ = residuals(at_);
    loss_ = loss(residuals_);
  }

  std::vector<double> run() {
    for (int i = 0; i < options_.iterations; ++i)
      if (!step()) break;
    return values(at_);
  }

 private:
  static std::vector<double> values(const std::vector<double>& logs) {
    std::vector<double> out;
    for (const double log : logs) out.push_back(portable_exp(log));
    return out;
  }

  std::vector<double> residuals(const std::vector<double>& logs) const {
    std::vector<double> out(measured_.size());
    times_(values(logs), out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = portable_log(out[i]) - measured_[i];
    return out;
  }
  double loss(const std::vector<double>& of) const {
    double sum = 0;
    for (const double residual : of) sum += huber_loss(residual, options_.huber);
    return sum;
  }

  // False where no step lowers the loss by enough.
  bool step() {
    const std::size_t count = at_.size();
    Eigen::MatrixXd jacobian(index(measured_.size()), index(count));
    for (std::size_t j = 0; j < count; ++j) {
      std::vector<double> moved = at_;
      const bool room = moved[j] + kLogStep <= portable_log(parameters_[j].high);
      const double by = room ? kLogStep : -kLogStep;
      moved[j] += by;
      const std::vector<double> there = residuals(moved);
      for (std::size_t i = 0; i < there.size(); ++i)
        jacobian(index(i), index(j)) = (there[i] - residuals_[i]) / by;
    }
    Eigen::VectorXd weights(index(measured_.size()));
    Eigen::VectorXd weighted(index(measured_.size()));
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      weights(index(i)) = huber_weight(residuals_[i], options_.huber);
      weighted(index(i)) = weights(index(i)) * residuals_[i];
    }
    const Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
    const Eigen::VectorXd gradient = jacobian.transpose() * weighted;
    const double least = 1e-6 * weights.sum();  // keeps a parameter that no row determines in place
    for (int attempt = 0; attempt < kDampings; ++attempt, damping_ *= 4) {
      Eigen::MatrixXd damped = normal;
      for (std::size_t j = 0; j < count; ++j)
        damped(index(j), index(j)) += damping_ * (normal(index(j), index(j)) + least);
      const Eigen::VectorXd by = damped.ldlt().solve(-gradient);
      std::vector<double> moved = at_;
      for (std::size_t j = 0; j < count; ++j)
        moved[j] = std::clamp(moved[j] + std::clamp(by(index(j)), -kLongestStep, kLongestStep),
                              portable_log(parameters_[j].low), portable_log(parameters_[j].high));
      std::vector<double> there = residuals(moved);
      const double lower = loss(there);
      if (!(lower < loss_)) continue;
      const double gain = (loss_ - lower) / loss_;
      at_ = std::move(moved);
      residuals_ = std::move(there);
      loss_ = lower;
      damping_ = std::max(damping_ / 3, 1e-6);
      return gain >= kEnoughGain;
    }
    return false;
  }

  const std::vector<FormParameter>& parameters_;
  const ModelTimes& times_;
  const std::vector<double>& measured_;
  DescentOptions options_;
  std::vector<double> at_;  // logarithms of the parameters
  std::vector<double> residuals_;
  double loss_ = 0;
  double damping_ = 1e-2;
};

}  // namespace

std::vector<double> fit_parameters(const std::vector<FormParameter>& parameters,
                                   const ModelTimes& times, const std::vector<double>& log_seconds,
                                   const DescentOptions& options) {
  return Descent(parameters, times, log_seconds, options).run();
}

std::vector<double> fit_surface(const std::vector<SurfaceRow>& rows,
                                const std::vector<double>& residuals, int columns, double huber,
                                double penalty) {
  TS_EXPECTS(rows.size() == residuals.size() && columns > 0, rows.size(), residuals.size());
  std::vector<double> coefficients(static_cast<std::size_t>(columns), 0.0);
  std::vector<double> weights(rows.size(), 1.0);
  for (int round = 0; round < kReweightings; ++round) {
    Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(columns, columns);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(columns);
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += weights[i];
      for (const auto& [a, weight_a] : rows[i]) {
        right(a) += weights[i] * weight_a * residuals[i];
        for (const auto& [b, weight_b] : rows[i]) normal(a, b) += weights[i] * weight_a * weight_b;
      }
    }
    normal.diagonal().array() += penalty * sum / columns;
    const Eigen::VectorXd solved = normal.ldlt().solve(right);
    for (int j = 0; j < columns; ++j) coefficients[static_cast<std::size_t>(j)] = solved(j);
    for (std::size_t i = 0; i < rows.size(); ++i)
      weights[i] = huber_weight(residuals[i] - surface_at(rows[i], coefficients), huber);
  }
  return coefficients;
}

}  // namespace tiersim
