// Checks of a sample of the outputs, at sizes where the reference cannot compute all of them.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/cases/random.hpp"

namespace tiersim::kernels {

// `count` distinct numbers below `of`, ascending, spread evenly; all of them where count >= of.
inline std::vector<int> sampled_numbers(int count, int of, std::uint64_t seed) {
  if (count >= of) count = of;
  std::vector<int> numbers;
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const auto first = static_cast<int>(std::int64_t{i} * of / count);
    const auto next = static_cast<int>(std::int64_t{i + 1} * of / count);
    numbers.push_back(first +
                      static_cast<int>(random.below(static_cast<std::uint64_t>(next - first))));
  }
  return numbers;
}

// The difference between an output and its reference, relative in the 2-norm.
class Difference {
 public:
  void add(double got, double expected) {
    wrong_ += (got - expected) * (got - expected);
    size_ += expected * expected;
    ++compared_;
  }
  Agreement agreement(double tolerance) const {
    const double error = size_ > 0 ? std::sqrt(wrong_ / size_) : std::sqrt(wrong_);
    return {error, tolerance, compared_};
  }

 private:
  double wrong_ = 0;
  double size_ = 0;
  std::int64_t compared_ = 0;
};

}  // namespace tiersim::kernels
