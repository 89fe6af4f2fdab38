#include "workloads/sessions/ready_queue.hpp"

#include <utility>
#include <vector>

#include "sim/base/rng.hpp"

namespace tiersim {
namespace {

class ReadyQueue final : public RequestSource {
 public:
  ReadyQueue(const ReadyQueueConfig& config, std::uint64_t seed,
             std::unique_ptr<RequestSource> sessions)
      : most_(config.in_flight),
        rounds_(config.rounds),
        rng_(seed, "sessions.ready_queue"),
        sessions_(std::move(sessions)) {
    while (auto first = sessions_->next()) ready_.push_back(*std::move(first));
  }

  std::optional<Request> next() override {
    if (in_flight_ == most_ || ready_.empty() || ended_ > 0) return std::nullopt;
    return pick(SimTime{});
  }

  void after_completion(const Request& ended, SimTime now, std::vector<Request>& out) override {
    ++ended_;
    --in_flight_;
    followers_.clear();
    sessions_->after_completion(ended, now, followers_);
    auto& queue = rounds_ ? next_round_ : ready_;
    for (Request& request : followers_) queue.push_back(std::move(request));
    if (ready_.empty() && in_flight_ == 0) ready_.swap(next_round_);
    while (in_flight_ < most_ && !ready_.empty()) out.push_back(pick(now));
  }

 private:
  Request pick(SimTime now) {
    std::swap(ready_[rng_.below(ready_.size())], ready_.back());
    Request out = std::move(ready_.back());
    ready_.pop_back();
    out.arrival = now;
    ++in_flight_;
    return out;
  }

  std::int64_t most_;
  bool rounds_;
  Rng rng_;
  std::unique_ptr<RequestSource> sessions_;
  std::vector<Request> ready_;
  std::vector<Request> next_round_;
  std::vector<Request> followers_;  // scratch
  std::int64_t in_flight_ = 0;
  std::int64_t ended_ = 0;
};

}  // namespace

std::unique_ptr<RequestSource> make_ready_queue(const ReadyQueueConfig& config, std::uint64_t seed,
                                                std::unique_ptr<RequestSource> sessions) {
  return std::make_unique<ReadyQueue>(config, seed, std::move(sessions));
}

}  // namespace tiersim
