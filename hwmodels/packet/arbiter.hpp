#pragma once
// Model card: arbiter
//   Models    RoundRobin: one packet an input in turn. WeightedRoundRobin: bytes in proportion to
//             weights, whatever the sizes of packets (deficit round robin).
//   Equation  deficit: at its turn an input may send weight * quantum more bytes than it had left;
//             inputs that always have packets get shares weight / sum of weights, however often
//             none of them may send meanwhile.
//   Ignores   the time that arbitration takes.
//   Valid     any number of inputs; quantum * weight of at least about a packet, else pick() is
//             slow.
//   Source    Shreedhar and Varghese, Efficient fair queueing using deficit round robin, 1995.
//   Checked   tests/unit/packet/arbiter_test.cpp
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"

namespace tiersim {

class RoundRobin {
 public:
  /// Precondition: inputs > 0.
  explicit RoundRobin(std::size_t inputs) : inputs_(inputs) { TS_EXPECTS(inputs > 0, inputs); }

  /// The next input for which `ready(input)`, searched from the one after the last picked; or none.
  template <class Ready>
  std::optional<std::size_t> pick(Ready&& ready) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      const std::size_t input = next_ + i < inputs_ ? next_ + i : next_ + i - inputs_;
      if (!ready(input)) continue;
      next_ = input + 1 == inputs_ ? 0 : input + 1;
      return input;
    }
    return std::nullopt;
  }

 private:
  std::size_t inputs_;
  std::size_t next_ = 0;
};

class WeightedRoundRobin {
 public:
  /// Value of `head(input)` for a packet that cannot go now (no credits): the input is skipped and
  /// keeps its deficit. For 0, an empty input, the deficit is lost.
  static constexpr std::int64_t kBlocked = -1;

  /// Preconditions: weights > 0; quantum > 0, in bytes for a weight of 1.
  WeightedRoundRobin(std::vector<std::int64_t> weights, std::int64_t quantum)
      : weights_(std::move(weights)), deficits_(weights_.size()), quantum_(quantum) {
    TS_EXPECTS(!weights_.empty() && quantum > 0, weights_.size(), quantum);
    for (const std::int64_t weight : weights_) TS_EXPECTS(weight > 0, weight);
  }

  /// The input whose packet goes next, or none. `head(input)` is the size of its first packet in
  /// bytes, 0 or kBlocked. The caller must then take the packet.
  template <class Head>
  std::optional<std::size_t> pick(Head&& head) {
    // A look at which nobody may send is no turn: it must not give the last sender a new quantum.
    const auto before = std::pair(turn_, visited_);
    std::size_t idle = 0;  // consecutive inputs that cannot send at any deficit
    while (idle < weights_.size()) {
      const std::int64_t size = head(turn_);
      if (size > 0) {
        idle = 0;
        if (!visited_) deficits_[turn_] += weights_[turn_] * quantum_;
        visited_ = true;
        if (size <= deficits_[turn_]) {
          deficits_[turn_] -= size;
          return turn_;
        }
      } else {
        ++idle;
        if (size == 0) deficits_[turn_] = 0;
      }
      turn_ = turn_ + 1 == weights_.size() ? 0 : turn_ + 1;
      visited_ = false;
    }
    std::tie(turn_, visited_) = before;
    return std::nullopt;
  }

 private:
  std::vector<std::int64_t> weights_;
  std::vector<std::int64_t> deficits_;
  std::int64_t quantum_;
  std::size_t turn_ = 0;
  bool visited_ = false;  // true where the input of this turn has had its quantum
};

}  // namespace tiersim
