#pragma once
// The iterations of a run, averaged, and the kernels of such an average iteration.
//
//   IterationAverages averages(config);
//   serve(config, &averages);
//   for (const ExplainedIteration& each : explain(config, averages)) ...
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/record/explained_iteration.hpp"
#include "sim/serving/listener.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// Sums over the iterations of a run: those that decode only, and those that read prompts, too.
class IterationAverages final : public ServingListener {
 public:
  /// `config` must outlive this.
  explicit IterationAverages(const ServingConfig& config) : config_(config) {}

  struct Sums {
    std::int64_t iterations = 0;
    std::int64_t decodes = 0;
    std::int64_t positions = 0;  ///< of all decoding sequences, the new ones included
    std::int64_t drafts = 0;     ///< of all decoding sequences
    std::int64_t chunks = 0;
    std::int64_t prompt_tokens = 0;
    std::int64_t prompt_before = 0;  ///< cached positions before the chunks
    std::int64_t logits = 0;
    std::int64_t eager = 0;    ///< iterations that no captured graph covers
    std::int64_t padding = 0;  ///< rows of captured graphs that no sequence uses
    Duration before{};         ///< of the CPU, while the GPU waits
    Duration copies{};         ///< that the GPU waits for, and experts that move
    Duration gpu{};
  };
  /// The sums of iterations that decode only, and of those that read prompts, too.
  using OfPool = std::array<Sums, 2>;
  /// In the order of pools_of(); a run without replicas has none.
  std::span<const OfPool> pools() const { return sums_; }

  void begin(const ServedRun& run, ServingObserver& next) override {
    next_ = &next;
    sums_.assign(run.pools.size(), {});
  }
  void on_flow(std::size_t, ChannelId, std::int64_t) override {}
  void finish(SimTime) override {}
  void on_arrival(SimTime now) override { next_->on_arrival(now); }
  void on_session(SimTime now) override { next_->on_session(now); }
  void on_replicas(SimTime now, std::int64_t up) override { next_->on_replicas(now, up); }
  void on_weights(SimTime now, std::size_t pool, const Demand& work) override {
    next_->on_weights(now, pool, work);
  }
  void on_iteration(const IterationSample& sample) override { next_->on_iteration(sample); }
  void on_gap(SimTime now, Duration gap, std::int64_t tokens) override {
    next_->on_gap(now, gap, tokens);
  }
  void on_finish(const RequestOutcome& outcome) override { next_->on_finish(outcome); }
  void on_submit(std::int64_t replica, SimTime now, const Sequence& s) override {
    next_->on_submit(replica, now, s);
  }
  void on_plan(std::int64_t replica, SimTime now,
               std::span<const Sequence* const> running) override {
    next_->on_plan(replica, now, running);
  }
  void on_move(const MoveSample& sample) override { next_->on_move(sample); }
  void on_hand_over(std::int64_t replica, SimTime now, const Sequence& s) override {
    next_->on_hand_over(replica, now, s);
  }
  void on_work(const IterationSample& sample, const Iteration& iteration) override;

 private:
  const ServingConfig& config_;
  ServingObserver* next_ = nullptr;
  std::vector<OfPool> sums_;
};

/// The name of the kind of kernel: "products of the MLP".
std::string_view part_of(const Op& op);

/// The kernels of the mean iteration of each kind that ran. Not for early exit or an encoder.
std::vector<ExplainedIteration> explain(const ServingConfig& config,
                                        const IterationAverages& averages);

}  // namespace tiersim
