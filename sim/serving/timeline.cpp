#include "sim/serving/timeline.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim {

Timeline::Timeline(std::size_t series) : series_(series, std::vector<Int128>(kBins)) {}

std::size_t Timeline::bin_of(SimTime at) {
  TS_EXPECTS(at >= SimTime{}, at);
  std::int64_t bin = at.time_since_epoch() / width_;
  for (; bin >= static_cast<std::int64_t>(kBins); bin = at.time_since_epoch() / width_) merge();
  return static_cast<std::size_t>(bin);
}

std::size_t Timeline::bin_that_ends(SimTime at) {
  return bin_of(std::max(SimTime{}, at - Duration(1)));
}

void Timeline::merge() {
  for (std::vector<Int128>& bins : series_) {
    for (std::size_t i = 0; i < kBins / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
    std::fill(bins.begin() + kBins / 2, bins.end(), Int128{0});
  }
  width_ *= 2;
}

void Timeline::add_count(std::size_t series, SimTime at, std::int64_t count) {
  const std::size_t bin = bin_that_ends(at);
  series_[series][bin] += count;
}

void Timeline::add_level(std::size_t series, SimTime from, SimTime to, std::int64_t value) {
  TS_EXPECTS(from <= to, from, to);
  if (value == 0 || from == to) return;
  bin_that_ends(to);
  for (std::size_t bin = bin_of(from); from < to; ++bin) {
    const SimTime end = std::min(to, SimTime(width_ * static_cast<std::int64_t>(bin + 1)));
    series_[series][bin] += Int128{value} * (end - from).count();
    from = end;
  }
}

void Timeline::add_spread(std::size_t series, SimTime from, SimTime to, std::int64_t amount) {
  TS_EXPECTS(from <= to, from, to);
  if (amount == 0) return;
  if (from == to) return add_count(series, to, amount);
  bin_that_ends(to);
  const Int128 whole = (to - from).count();
  Int128 passed = 0;
  Int128 given = 0;
  for (std::size_t bin = bin_of(from); passed < whole; ++bin) {
    const SimTime end = std::min(to, SimTime(width_ * static_cast<std::int64_t>(bin + 1)));
    passed = (end - from).count();
    const Int128 due = passed == whole ? Int128{amount} : amount * passed / whole;
    series_[series][bin] += due - given;
    given = due;
  }
}

// Every sum is exact in bins of any width, so that of wider ones is the sum of those within.
void Timeline::add(const Timeline& other) {
  TS_EXPECTS(series_.size() == other.series_.size(), series_.size(), other.series_.size());
  while (width_ < other.width_) merge();
  const auto finer = static_cast<std::size_t>(width_ / other.width_);
  for (std::size_t s = 0; s < series_.size(); ++s)
    for (std::size_t i = 0; i < kBins; ++i) series_[s][i / finer] += other.series_[s][i];
}

std::vector<double> Timeline::sums(std::size_t series, SimTime end) const {
  const std::int64_t whole = end.time_since_epoch() / width_;
  const bool partial = end.time_since_epoch() % width_ != Duration{};
  const auto bins = static_cast<std::size_t>(whole + (partial ? 1 : 0));
  TS_EXPECTS(bins <= kBins, bins);
  std::vector<double> out;
  for (std::size_t i = 0; i < bins; ++i) out.push_back(static_cast<double>(series_[series][i]));
  return out;
}

}  // namespace tiersim
