// Time since the beginning of a stage, and the time that remains of its limit.
#pragma once
#include <chrono>

namespace tiersim::kernels::bench {

class Clock {
 public:
  explicit Clock(double limit_s) : limit_s_(limit_s) {}
  double passed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  double left() const { return limit_s_ - passed(); }

 private:
  double limit_s_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tiersim::kernels::bench
