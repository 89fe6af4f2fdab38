// Methods that evict rows for good: they choose among the rows they have kept.
#include <algorithm>
#include <limits>

#include "sim/base/check.hpp"
#include "workloads/numerics/selection.hpp"

namespace tiersim::numerics {
namespace {

class Streaming final : public Selector {
 public:
  explicit Streaming(Index sinks) : sinks_(sinks) {}
  Choice choose(const DecodeStep& step) override {
    const Index sinks = std::min(sinks_, step.budget - 1);
    Choice out;
    for (Index row = 0; row < sinks; ++row) out.rows.push_back(row);
    for (Index row = step.position + 1 - (step.budget - sinks); row <= step.position; ++row)
      out.rows.push_back(row);
    return out;
  }

 private:
  Index sinks_;
};

class H2O final : public Selector {
 public:
  explicit H2O(const Vector& prompt_attention) : attention_(prompt_attention) {
    for (Index row = 0; row < prompt_attention.size(); ++row) kept_.push_back(row);
  }

  Choice choose(const DecodeStep& step) override {
    TS_EXPECTS(step.position == attention_.size(), step.position, attention_.size());
    kept_.push_back(step.position);
    attention_.conservativeResize(step.position + 1);
    attention_(step.position) = 0;
    evict(step);
    RowVector logits(std::ssize(kept_));
    for (Index i = 0; i < logits.size(); ++i) logits(i) = step.logits(row(i));
    const RowVector weights = softmax(logits);
    for (Index i = 0; i < logits.size(); ++i) attention_(row(i)) += weights(i);
    return {.rows = kept_};
  }

 private:
  Index row(Index i) const { return kept_[static_cast<std::size_t>(i)]; }

  // Evicts down to the budget; the newest half stays at any attention.
  void evict(const DecodeStep& step) {
    if (std::ssize(kept_) <= step.budget) return;
    const Index newest = std::max<Index>(step.budget / 2, 1);
    RowVector worth(std::ssize(kept_));
    for (Index i = 0; i < worth.size(); ++i)
      worth(i) = row(i) > step.position - newest ? std::numeric_limits<double>::infinity()
                                                 : attention_(row(i));
    std::vector<Index> stay;
    for (const Index i : highest(worth, step.budget)) stay.push_back(row(i));
    kept_ = std::move(stay);
  }

  Vector attention_;         // to every row so far, kept or not
  std::vector<Index> kept_;  // in rising order
};

}  // namespace

SelectorPtr make_streaming(Index sinks) {
  return std::make_unique<Streaming>(sinks);
}

SelectorPtr make_h2o(const Vector& prompt_attention) {
  return std::make_unique<H2O>(prompt_attention);
}

}  // namespace tiersim::numerics
