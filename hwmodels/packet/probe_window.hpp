#pragma once
// The measurement window of a microbenchmark: from the end of its warm-up to the moment at which
// the first source has nothing left to send, so that neither filling nor draining counts.
#include <cstdint>
#include <vector>

#include "hwmodels/packet/latency_summary.hpp"
#include "sim/core/stats.hpp"

namespace tiersim {

class ProbeWindow {
 public:
  /// `warm_up` accesses end before the window opens. Sources are counted from 0.
  ProbeWindow(std::size_t sources, std::int64_t warm_up)
      : warm_up_(warm_up), in_window_(sources), present_(SimTime{}) {}

  void began(SimTime now) { present_.add(now, 1); }
  /// Records the end of an access of `source` that began at `since`.
  void ended(SimTime now, std::size_t source, SimTime since, Bytes payload) {
    present_.add(now, -1);
    stays_ += (now - since).count();
    payload_ += payload;
    ++ended_;
    last_ = now;
    if (ended_ <= warm_up_) {
      opened_ = now;
    } else if (!closed_) {
      in_window_[source] += payload;
      closes_ = now;
    }
  }
  /// Closes the window, on the first call, at the last end before it.
  void source_is_dry() { closed_ = closes_ > opened_; }
  /// True where an access that ends now counts.
  bool open() const { return ended_ > warm_up_ && !closed_; }

  /// Bandwidth of all sources, from the opening on; of the whole run where the window is empty.
  Bandwidth bandwidth() const;
  /// Bandwidth of one source.
  Bandwidth bandwidth_of(std::size_t source) const { return rate_of(in_window_[source]); }

  std::int64_t count() const { return ended_; }
  std::int64_t present() const { return present_.value(); }
  double mean_present() const { return present_.mean(last_); }
  Int128 stays() const { return stays_; }
  Bytes payload() const { return payload_; }
  Duration elapsed() const { return last_.time_since_epoch(); }

 private:
  Bandwidth rate_of(Bytes payload) const;

  std::int64_t warm_up_;
  std::vector<Bytes> in_window_;
  TimeWeighted present_;
  SimTime opened_{};
  SimTime closes_{};
  SimTime last_{};
  bool closed_ = false;
  std::int64_t ended_ = 0;
  Int128 stays_ = 0;
  Bytes payload_{};
};

}  // namespace tiersim
