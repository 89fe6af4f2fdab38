#include "sim/core/stats.hpp"

#include <cmath>

#include "sim/base/check.hpp"
#include "sim/base/student_t.hpp"

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

}  // namespace tiersim
