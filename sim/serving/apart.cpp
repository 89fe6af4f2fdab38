#include "sim/serving/apart.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <memory>
#include <thread>

namespace tiersim {
namespace {

// Requests that were given to one replica.
class GivenRequests final : public RequestSource {
 public:
  void give(Request request) { requests_.push_back(std::move(request)); }
  std::optional<Request> next() override {
    if (requests_.empty()) return std::nullopt;
    std::optional<Request> out(std::move(requests_.front()));
    requests_.pop_front();
    return out;
  }
  void after_completion(const Request&, SimTime, std::vector<Request>&) override {}

 private:
  std::deque<Request> requests_;
};

struct ReplicaApart {
  ReplicaApart(const BuiltServer& built, std::int64_t index, IterationCost& cost,
               ServingStatistics& whole)
      : costs{&cost},
        statistics(whole, index),
        group(built, costs, GroupRange{.first = index, .count = 1}, given, statistics, statistics) {
    group.server().start();
  }

  std::array<IterationCost*, 1> costs;
  GivenRequests given;
  ServingStatistics statistics;
  ReplicaGroup group;
};

// The first lots are small, so that a channel that two replicas use is found soon.
constexpr std::int64_t kFirstLot = 256;
constexpr std::int64_t kLargestLot = 32'768;

class ApartServer {
 public:
  ApartServer(const BuiltServer& built, RequestSource& source, ServingStatistics& whole,
              int threads)
      : source_(source),
        whole_(whole),
        threads_(
            static_cast<std::size_t>(std::min<std::int64_t>(threads, built.first().replicas))) {
    for (std::size_t t = 0; t < threads_; ++t)
      costs_.push_back(std::make_unique<IterationCost>(built.first().config, built.first().one));
    for (std::int64_t r = 0; r < built.first().replicas; ++r)
      replicas_.push_back(std::make_unique<ReplicaApart>(
          built, r, *costs_[static_cast<std::size_t>(r) % threads_], whole));
  }

  Expected<std::optional<ServedTotals>> serve() {
    next_ = source_.next();
    for (std::int64_t lot = kFirstLot; next_; lot = std::min(2 * lot, kLargestLot)) {
      if (const auto problem = give_out(lot)) return Unexpected(*problem);
      simulate();
      for (const auto& replica : replicas_)
        if (replica->group.hardware().crossed()) return std::optional<ServedTotals>();
    }
    return finish();
  }

 private:
  Expected<std::optional<ServedTotals>> finish() {
    std::optional<ServedTotals> out;
    SimTime end{};
    for (const auto& replica : replicas_) {
      auto totals = replica->group.finish();
      if (!totals) return Unexpected(totals.error());
      end = std::max(end, replica->statistics.end());
      if (out)
        out->add(*totals);
      else
        out = *std::move(totals);
    }
    for (const auto& replica : replicas_) whole_.join(replica->statistics, end);
    return out;
  }

  // Gives out so many requests in turn. The message is about one that no replica can take.
  std::optional<std::string> give_out(std::int64_t lot) {
    for (; lot > 0 && next_; --lot, next_ = source_.next()) {
      ReplicaApart& replica = *replicas_[turn_++ % replicas_.size()];
      if (auto problem = replica.group.server().problem_of(*next_)) return problem;
      whole_.announce(next_->arrival);
      replica.given.give(*std::move(next_));
    }
    return std::nullopt;
  }

  // Up to the next arrival, or to the end.
  void simulate() {
    std::vector<std::vector<LevelChange>> changes(threads_);
    std::vector<std::exception_ptr> thrown(threads_);
    const auto work = [&](std::size_t thread) {
      try {
        changes[thread] = simulate_those_of(thread);
      } catch (...) {
        thrown[thread] = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t t = 1; t < threads_; ++t) others.emplace_back(work, t);
      work(0);
    }
    for (const std::exception_ptr& each : thrown)
      if (each) std::rethrow_exception(each);
    whole_.change_levels(merged(changes));
  }

  std::vector<LevelChange> simulate_those_of(std::size_t thread) {
    std::vector<std::vector<LevelChange>> changes;
    for (std::size_t r = thread; r < replicas_.size(); r += threads_) {
      ReplicaApart& replica = *replicas_[r];
      replica.statistics.see_window(whole_);
      replica.group.server().admit();
      Engine& engine = replica.group.engine();
      if (!next_)
        engine.run();
      else if (next_->arrival > engine.now())
        engine.run_until(next_->arrival - Duration(1));
      changes.push_back(replica.statistics.take_changes());
    }
    return merged(changes);
  }

  static std::vector<LevelChange> merged(const std::vector<std::vector<LevelChange>>& lists) {
    std::vector<LevelChange> out;
    std::vector<std::size_t> begins;
    for (const std::vector<LevelChange>& list : lists) {
      begins.push_back(out.size());
      out.insert(out.end(), list.begin(), list.end());
    }
    merge_runs(out, std::move(begins));
    return out;
  }

  RequestSource& source_;
  ServingStatistics& whole_;
  std::size_t threads_;
  std::vector<std::unique_ptr<IterationCost>>
      costs_;  // by thread; replica r has that of r % threads
  std::vector<std::unique_ptr<ReplicaApart>> replicas_;
  std::optional<Request> next_;
  std::size_t turn_ = 0;
};

}  // namespace

bool may_be_apart(const ServingConfig& config) {
  const std::int64_t count = replicas(config.scenario);
  const ServerConfig& server = config.server;
  return count > 1 && server.routing == Routing::round_robin && !server.disaggregation &&
         !config.prefill && !Fleet::is_needed(server) && !server.shares_a_tier() &&
         (server.host.workers == 0 || server.host.workers >= count) &&
         knows_all_arrivals(config.workload);
}

Expected<std::optional<ServedTotals>> serve_apart(const BuiltServer& built, RequestSource& source,
                                                  ServingStatistics& statistics, int threads) {
  return ApartServer(built, source, statistics, threads).serve();
}

}  // namespace tiersim
