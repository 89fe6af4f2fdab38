#include "sim/validate/server_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>
#include <Eigen/QR>

#include "sim/base/check.hpp"
#include "sim/base/student_t.hpp"

namespace tiersim {
namespace {

constexpr int kIterations = 8;
constexpr int kDampings = 5;          // of an iteration, each ten times the last
constexpr double kEnoughGain = 1e-3;  // relative gain below which the descent ends
constexpr double kNoEffect = 1e-4;    // largest change of any logarithm over a step
constexpr double kCombined = 1e-2;    // of a derivative's length, outside the others' combinations

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
      : times_(times), errors_(errors), free_(times.size(), true) {
    for (const FreeTime& time : times) at_.push_back(time.start);
  }

  Expected<ServerFit> run() {
    if (auto done = evaluate(); !done) return Unexpected(done.error());
    TS_EXPECTS(left_.size() > times_.size(), left_.size(), times_.size());
    ServerFit out{.times = {}, .before = left_, .after = {}};
    for (bool all = false; !all;) {
      if (auto done = descend(); !done) return Unexpected(done.error());
      all = freeze_undetermined();
      if (all) break;
      if (auto done = evaluate(); !done) return Unexpected(done.error());
    }
    out.after = left_;
    add_times(out);
    return out;
  }

 private:
  double change_of(std::size_t j) const { return std::max(times_[j].step, at_[j] / 4); }

  Expected<bool> evaluate() {
    auto here = errors_(at_);
    if (!here) return Unexpected(here.error());
    left_ = *std::move(here);
    return true;
  }

  // The derivatives at the present times, weighted; zero for times that are not free.
  Expected<bool> derive() {
    slopes_ = Eigen::MatrixXd::Zero(index(left_.size()), index(at_.size()));
    for (std::size_t j = 0; j < at_.size(); ++j) {
      if (!free_[j]) continue;
      std::vector<double> moved = at_;
      moved[j] += change_of(j);
      const auto there = errors_(moved);
      if (!there) return Unexpected(there.error());
      TS_EXPECTS(there->size() == left_.size(), there->size(), left_.size());
      bool moves = false;
      for (std::size_t i = 0; i < left_.size(); ++i) {
        const double change = (*there)[i] - left_[i];
        moves = moves || std::abs(change) > kNoEffect;
        slopes_(index(i), index(j)) = std::sqrt(weight_of(left_[i])) * change / change_of(j);
      }
      if (!moves) slopes_.col(index(j)).setZero();
    }
    return true;
  }

  Expected<bool> descend() {
    for (int i = 0; i < kIterations; ++i) {
      auto better = step();
      if (!better || !*better) return better;
    }
    return derive();
  }

  // False where no damping makes the squares less by enough; the derivatives are then those of the
  // present times.
  Expected<bool> step() {
    if (auto done = derive(); !done) return done;
    Eigen::VectorXd weighted(index(left_.size()));
    for (std::size_t i = 0; i < left_.size(); ++i)
      weighted(index(i)) = std::sqrt(weight_of(left_[i])) * left_[i];
    const Eigen::MatrixXd normal = slopes_.transpose() * slopes_;
    const Eigen::VectorXd gradient = slopes_.transpose() * weighted;
    double damping = 1e-3;
    for (int d = 0; d < kDampings; ++d, damping *= 10) {
      Eigen::MatrixXd damped = normal;
      for (Eigen::Index j = 0; j < damped.rows(); ++j)
        damped(j, j) = normal(j, j) > 0 ? normal(j, j) * (1 + damping) : 1;
      const Eigen::VectorXd by = damped.ldlt().solve(gradient);
      std::vector<double> moved = at_;
      for (std::size_t j = 0; j < at_.size(); ++j)
        moved[j] = std::clamp(at_[j] - by(index(j)), 0.0, kLongestTime);
      auto there = errors_(moved);
      if (!there) return Unexpected(there.error());
      if (loss_of(*there) >= loss_of(left_) * (1 - kEnoughGain)) continue;
      at_ = std::move(moved);
      left_ = *std::move(there);
      return true;
    }
    return false;
  }

  // The derivatives by the times that anything depends on, but that by j.
  Eigen::MatrixXd others_than(std::size_t j) const {
    std::vector<Eigen::Index> columns;
    for (std::size_t k = 0; k < at_.size(); ++k)
      if (k != j && slopes_.col(index(k)).norm() > 0) columns.push_back(index(k));
    return slopes_(Eigen::all, columns);
  }

  bool determined(std::size_t j) const {
    const Eigen::VectorXd own = slopes_.col(index(j));
    const Eigen::MatrixXd others = others_than(j);
    if (own.norm() == 0) return false;
    if (others.cols() == 0) return true;
    const Eigen::VectorXd apart = own - others * others.colPivHouseholderQr().solve(own);
    return apart.norm() > kCombined * own.norm();
  }

  // False where a time had to be frozen at its start.
  bool freeze_undetermined() {
    std::vector<std::size_t> frozen;
    for (std::size_t j = 0; j < at_.size(); ++j)
      if (free_[j] && !determined(j)) frozen.push_back(j);
    for (const std::size_t j : frozen) {
      free_[j] = false;
      at_[j] = times_[j].start;
    }
    return frozen.empty();
  }

  void add_times(ServerFit& out) const {
    std::vector<Eigen::Index> columns;
    for (std::size_t j = 0; j < at_.size(); ++j)
      if (free_[j]) columns.push_back(index(j));
    const auto degrees = std::ssize(left_) - std::ssize(columns);
    const Eigen::MatrixXd slopes = slopes_(Eigen::all, columns);
    const Eigen::MatrixXd covariance =
        (slopes.transpose() * slopes).inverse() * (loss_of(left_) / static_cast<double>(degrees));
    Eigen::Index column = 0;
    for (std::size_t j = 0; j < at_.size(); ++j) {
      FittedTime time{.name = times_[j].name,
                      .start = times_[j].start,
                      .value = at_[j],
                      .determined = free_[j]};
      if (free_[j]) {
        const double half = student_t_975(degrees) * std::sqrt(covariance(column, column));
        time.ci95 = {std::max(0.0, at_[j] - half), std::min(kLongestTime, at_[j] + half)};
        ++column;
      }
      out.times.push_back(std::move(time));
    }
  }

  const std::vector<FreeTime>& times_;
  const LogErrors& errors_;
  std::vector<bool> free_;
  std::vector<double> at_;
  std::vector<double> left_;
  Eigen::MatrixXd slopes_;
};

}  // namespace

Expected<ServerFit> fit_times(const std::vector<FreeTime>& times, const LogErrors& errors) {
  TS_EXPECTS(!times.empty());
  return TimesFit(times, errors).run();
}

}  // namespace tiersim
