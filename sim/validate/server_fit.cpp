#include "sim/validate/server_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>

#include "sim/base/check.hpp"
#include "sim/core/stats.hpp"

namespace tiersim {
namespace {

constexpr int kIterations = 8;
constexpr int kDampings = 5;          // of an iteration, each ten times the last
constexpr double kEnoughGain = 1e-3;  // relative gain below which the descent ends
constexpr double kNoEffect = 1e-4;    // largest change of any logarithm over a step

Eigen::Index index(std::size_t i) {
  return static_cast<Eigen::Index>(i);
}

// A value that is far off counts linearly (Huber), so that one odd run does not bend the others.
constexpr double kFarOff = 0.1;  // of a logarithm
double weight_of(double residual) {
  const double size = std::abs(residual);
  return size <= kFarOff ? 1 : kFarOff / size;
}
double loss_of(const std::vector<double>& residuals) {
  double sum = 0;
  for (const double each : residuals) {
    const double size = std::abs(each);
    sum += size <= kFarOff ? size * size : kFarOff * (2 * size - kFarOff);
  }
  return sum;
}

class TimesFit {
 public:
  TimesFit(const std::vector<FreeTime>& times, const LogErrors& errors)
      : times_(times), errors_(errors) {
    for (const FreeTime& time : times) at_.push_back(time.start);
  }

  Expected<ServerFit> run() {
    auto first = errors_(at_);
    if (!first) return Unexpected(first.error());
    left_ = *first;
    ServerFit out{.times = {}, .before = left_, .after = {}};
    for (int i = 0; i < kIterations; ++i) {
      const auto better = step();
      if (!better) return Unexpected(better.error());
      if (!*better) break;
    }
    out.after = left_;
    if (const auto done = derive(); !done) return Unexpected(done.error());
    add_times(out);
    return out;
  }

 private:
  double change_of(std::size_t j) const { return std::max(times_[j].step, at_[j] / 4); }

  Eigen::VectorXd weights_now() const {
    Eigen::VectorXd out(index(left_.size()));
    for (std::size_t i = 0; i < left_.size(); ++i) out(index(i)) = weight_of(left_[i]);
    return out;
  }

  // The derivatives at the present times, per step of each.
  Expected<bool> derive() {
    slopes_ = Eigen::MatrixXd::Zero(index(left_.size()), index(at_.size()));
    moves_.assign(at_.size(), false);
    for (std::size_t j = 0; j < at_.size(); ++j) {
      std::vector<double> moved = at_;
      moved[j] += change_of(j);
      const auto there = errors_(moved);
      if (!there) return Unexpected(there.error());
      TS_EXPECTS(there->size() == left_.size(), there->size(), left_.size());
      for (std::size_t i = 0; i < left_.size(); ++i) {
        const double slope = (*there)[i] - left_[i];
        moves_[j] = moves_[j] || std::abs(slope) > kNoEffect;
        slopes_(index(i), index(j)) = slope / change_of(j);
      }
      if (!moves_[j]) slopes_.col(index(j)).setZero();
    }
    return true;
  }

  // False where no damping makes the squares less by enough.
  Expected<bool> step() {
    if (auto done = derive(); !done) return done;
    const Eigen::VectorXd weights = weights_now();
    const Eigen::MatrixXd normal = slopes_.transpose() * weights.asDiagonal() * slopes_;
    const Eigen::VectorXd gradient =
        slopes_.transpose() * weights.asDiagonal() *
        Eigen::Map<const Eigen::VectorXd>(left_.data(), index(left_.size()));
    double damping = 1e-3;
    for (int d = 0; d < kDampings; ++d, damping *= 10) {
      Eigen::MatrixXd damped = normal;
      for (std::size_t j = 0; j < at_.size(); ++j)
        damped(index(j), index(j)) = moves_[j] ? normal(index(j), index(j)) * (1 + damping) : 1;
      const Eigen::VectorXd by = damped.ldlt().solve(gradient);
      std::vector<double> moved = at_;
      for (std::size_t j = 0; j < at_.size(); ++j) moved[j] = std::max(0.0, at_[j] - by(index(j)));
      auto there = errors_(moved);
      if (!there) return Unexpected(there.error());
      if (loss_of(*there) >= loss_of(left_) * (1 - kEnoughGain)) continue;
      at_ = std::move(moved);
      left_ = *std::move(there);
      return true;
    }
    return false;
  }

  void add_times(ServerFit& out) const {
    const auto free = static_cast<std::int64_t>(std::ranges::count(moves_, true));
    const auto degrees = static_cast<std::int64_t>(left_.size()) - free;
    const Eigen::VectorXd weights = weights_now();
    Eigen::MatrixXd normal = slopes_.transpose() * weights.asDiagonal() * slopes_;
    for (std::size_t j = 0; j < at_.size(); ++j)
      if (!moves_[j]) normal(index(j), index(j)) = 1;
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(normal);
    const bool solvable = lu.isInvertible() && degrees > 0;
    const Eigen::MatrixXd covariance =
        solvable ? Eigen::MatrixXd(lu.inverse() * (loss_of(left_) / static_cast<double>(degrees)))
                 : Eigen::MatrixXd();
    for (std::size_t j = 0; j < at_.size(); ++j) {
      FittedTime time{.name = times_[j].name,
                      .start = times_[j].start,
                      .value = at_[j],
                      .determined = moves_[j] && solvable};
      if (time.determined) {
        const double half = student_t_975(degrees) * std::sqrt(covariance(index(j), index(j)));
        time.ci95 = {std::max(0.0, at_[j] - half), at_[j] + half};
      }
      out.times.push_back(std::move(time));
    }
  }

  const std::vector<FreeTime>& times_;
  const LogErrors& errors_;
  std::vector<double> at_;
  std::vector<double> left_;
  Eigen::MatrixXd slopes_;
  std::vector<bool> moves_;
};

}  // namespace

Expected<ServerFit> fit_times(const std::vector<FreeTime>& times, const LogErrors& errors) {
  TS_EXPECTS(!times.empty());
  return TimesFit(times, errors).run();
}

}  // namespace tiersim
