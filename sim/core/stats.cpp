#include "sim/core/stats.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "sim/base/check.hpp"

namespace tiersim {

double Tally::stddev() const {
  return std::sqrt(variance());
}

double TimeWeighted::mean(SimTime now) const {
  TS_EXPECTS(now >= since_, now, since_);
  if (now == start_) return static_cast<double>(value_);
  const Int128 integral = integral_ + Int128{value_} * (now - since_).count();
  return static_cast<double>(integral) / static_cast<double>((now - start_).count());
}

void TimeWeighted::restart(SimTime now) {
  TS_EXPECTS(now >= since_, now, since_);
  start_ = now;
  since_ = now;
  integral_ = 0;
  max_ = value_;
}

BatchMeans::BatchMeans(std::int64_t batches) : batches_(batches) {
  TS_EXPECTS(batches >= 2, batches);
  sums_.reserve(static_cast<std::size_t>(2 * batches));
}

void BatchMeans::add(double x) {
  ++count_;
  open_sum_ += x;
  if (++in_open_ < batch_size_) return;
  sums_.push_back(open_sum_);
  open_sum_ = 0;
  in_open_ = 0;
  if (static_cast<std::int64_t>(sums_.size()) < 2 * batches_) return;
  for (std::size_t i = 0; i < sums_.size() / 2; ++i) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  sums_.resize(sums_.size() / 2);
  batch_size_ *= 2;
}

BatchMeans::Interval BatchMeans::interval() const {
  Tally means;
  for (const double sum : sums_) means.add(sum / static_cast<double>(batch_size_));
  if (means.count() < 2) return {means.mean(), std::numeric_limits<double>::infinity()};
  const double error = std::sqrt(means.variance() / static_cast<double>(means.count()));
  return {means.mean(), student_t_975(means.count() - 1) * error};
}

// Table up to 8; beyond, the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5).
double student_t_975(std::int64_t degrees) {
  TS_EXPECTS(degrees >= 1, degrees);
  constexpr std::array kTable{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060};
  if (degrees <= static_cast<std::int64_t>(kTable.size()))
    return kTable[static_cast<std::size_t>(degrees - 1)];
  const double z = 1.959964;  // of the normal distribution
  const auto n = static_cast<double>(degrees);
  const double g1 = (z * z * z + z) / 4;
  const double g2 = (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / 96;
  const double g3 =
      (3 * z * z * z * z * z * z * z + 19 * z * z * z * z * z + 17 * z * z * z - 15 * z) / 384;
  return z + g1 / n + g2 / (n * n) + g3 / (n * n * n);
}

}  // namespace tiersim
