#pragma once
// Quantities over the time of a run in a bounded number of bins. All bins have one width; when the
// run grows beyond the last one, pairs are merged and the width doubles. Sums are exact.
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

class Timeline {
 public:
  /// A run fills more than half of these, unless it is shorter than 128 us.
  static constexpr std::size_t kBins = 256;

  explicit Timeline(std::size_t series);

  /// Adds `count` events at the time `at`.
  void add_count(std::size_t series, SimTime at, std::int64_t count);
  /// Adds the integral of a level of `value` between two times, in units of a picosecond.
  void add_level(std::size_t series, SimTime from, SimTime to, std::int64_t value);
  /// Adds `amount`, spread evenly over a time; all of it at `to` if that time is empty.
  void add_spread(std::size_t series, SimTime from, SimTime to, std::int64_t amount);

  /// Adds all that another timeline with the same series has seen.
  void add(const Timeline& other);

  Duration width() const { return width_; }
  /// The sum in each bin that begins before `end`.
  std::vector<double> sums(std::size_t series, SimTime end) const;

 private:
  /// The bin of a time that starts at `at`; makes room for it.
  std::size_t bin_of(SimTime at);
  /// The bin of a time that ends at `at`: an instant belongs to the bin that it closes.
  std::size_t bin_that_ends(SimTime at);
  void merge();

  Duration width_{1'000'000};  // 1 us
  std::vector<std::vector<Int128>> series_;
};

}  // namespace tiersim
