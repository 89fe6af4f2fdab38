#pragma once
// The accesses of a microbenchmark, drawn from random streams of its own and thus the same on every
// platform.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "sim/base/rng.hpp"
#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

class AccessPattern {
 public:
  struct Access {
    Direction direction;
    std::uint64_t address;  ///< a multiple of the size
  };

  /// Addresses below `region` >= `size` > 0: sequential, starting over at the end, or random.
  AccessPattern(std::uint64_t seed, std::string_view name, bool random, Bytes size, Bytes region,
                double read_share)
      : addresses_(seed, name),
        directions_(seed + 1, name),
        size_(static_cast<std::uint64_t>(size.in_base())),
        count_(static_cast<std::uint64_t>(region.in_base()) / size_),
        random_(random),
        read_share_(read_share) {
    TS_EXPECTS(size_ > 0 && count_ > 0, size, region);
  }

  Access next() {
    const std::uint64_t index = random_ ? addresses_.below(count_) : next_;
    next_ = next_ + 1 == count_ ? 0 : next_ + 1;
    const bool always = read_share_ >= 1 || read_share_ <= 0;
    const bool read = always ? read_share_ >= 1 : directions_.uniform() < read_share_;
    return {read ? Direction::read : Direction::write, index * size_};
  }

 private:
  Rng addresses_;
  Rng directions_;
  std::uint64_t size_;
  std::uint64_t count_;
  bool random_;
  double read_share_;
  std::uint64_t next_ = 0;
};

/// Time to the next of Poisson arrivals of `size` each, at `rate` > 0 in total.
inline Duration next_arrival(Rng& rng, Bytes size, Bandwidth rate) {
  const double mean = size / Bytes::from_base(1) * 1e12 / static_cast<double>(rate.in_base());
  return Duration(std::llround(rng.exponential(mean)));
}

}  // namespace tiersim
