// The sources of requests that are generated on demand, and the choice among all sources.
#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/serving/arrivals.hpp"
#include "workloads/serving/lengths.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/serving/workload_config.hpp"
#include "workloads/sessions/ready_queue.hpp"
#include "workloads/sessions/session_source.hpp"

namespace tiersim {
namespace {

// Creates requests with lengths, in order.
class RequestMaker {
 public:
  RequestMaker(const WorkloadConfig& config, std::uint64_t seed)
      : left_(config.requests),
        input_(*config.input, seed, "serving.input_tokens"),
        output_(*config.output, seed, "serving.output_tokens") {}

  std::int64_t left() const { return left_; }
  Request make(SimTime arrival) {
    TS_EXPECTS(left_ > 0);
    --left_;
    return {.id = made_++,
            .arrival = arrival,
            .input_tokens = input_.next(),
            .output_tokens = output_.next()};
  }

 private:
  std::int64_t left_;
  std::int64_t made_ = 0;
  Lengths input_;
  Lengths output_;
};

class OpenSource final : public RequestSource {
 public:
  OpenSource(const WorkloadConfig& config, std::uint64_t seed)
      : maker_(config, seed), arrivals_(*config.arrivals, seed) {}

  std::optional<Request> next() override {
    if (maker_.left() == 0) return std::nullopt;
    return maker_.make(arrivals_.next());
  }
  void after_completion(const Request&, SimTime, std::vector<Request>&) override {}

 private:
  RequestMaker maker_;
  Arrivals arrivals_;
};

// The client's limit: a request is sent at its time or when one before it ends, whichever is later.
class LimitedSource final : public RequestSource {
 public:
  LimitedSource(const WorkloadConfig& config, std::uint64_t seed)
      : maker_(config, seed),
        arrivals_(*config.arrivals, seed),
        first_(std::min(*config.arrivals->max_in_flight, maker_.left())) {}

  std::optional<Request> next() override {
    if (first_ == 0) return std::nullopt;
    --first_;
    return maker_.make(arrivals_.next());
  }
  void after_completion(const Request&, SimTime now, std::vector<Request>& out) override {
    if (maker_.left() > first_) out.push_back(maker_.make(std::max(now, arrivals_.next())));
  }

 private:
  RequestMaker maker_;
  Arrivals arrivals_;
  std::int64_t first_;  // that need no other one to end
};

class ClosedLoop final : public RequestSource {
 public:
  ClosedLoop(const WorkloadConfig& config, std::uint64_t seed)
      : think_time_(config.arrivals->think_time),
        rng_(seed, "serving.arrivals"),
        maker_(config, seed) {
    const std::int64_t users = std::min(config.arrivals->users, config.requests);
    for (std::int64_t i = 0; i < users; ++i) {
      const Int128 begin = Int128{config.arrivals->ramp_up.count()} * i / users;
      first_.push_back(later(Duration(static_cast<std::int64_t>(begin)), think()));
    }
    std::ranges::sort(first_, std::greater());
  }

  std::optional<Request> next() override {
    if (first_.empty()) return std::nullopt;
    const Duration arrival = first_.back();
    first_.pop_back();
    return maker_.make(SimTime(arrival));
  }
  void after_completion(const Request&, SimTime now, std::vector<Request>& out) override {
    if (maker_.left() > static_cast<std::int64_t>(first_.size()))
      out.push_back(maker_.make(SimTime(later(now.time_since_epoch(), think()))));
  }

 private:
  static Duration later(Duration time, Duration by) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(time.count(), by.count(), &sum)) throw UnitOverflow();
    return Duration(sum);
  }
  Duration think() {
    if (think_time_ == Duration{}) return {};
    const double ps = rng_.exponential(static_cast<double>(think_time_.count()));
    if (!(ps < 9.2e18)) throw UnitOverflow();
    return Duration(std::llround(ps));
  }

  Duration think_time_;
  Rng rng_;
  RequestMaker maker_;
  std::vector<Duration> first_;  // arrivals of the users' first requests, the latest first
};

std::unique_ptr<RequestSource> make_open_or_closed(const WorkloadConfig& config,
                                                   std::uint64_t seed) {
  TS_EXPECTS(config.arrivals && config.input && config.output);
  if (config.arrivals->process == ArrivalProcess::closed_loop)
    return std::make_unique<ClosedLoop>(config, seed);
  if (config.arrivals->max_in_flight) return std::make_unique<LimitedSource>(config, seed);
  return std::make_unique<OpenSource>(config, seed);
}

// When this many sessions begin.
std::unique_ptr<RequestSource> begins_of(const WorkloadConfig& config, std::int64_t sessions,
                                         std::uint64_t seed) {
  WorkloadConfig starts = config;
  starts.sessions.reset();
  starts.requests = sessions;
  starts.input = starts.output = LengthConfig{.tokens = 1};
  return make_open_or_closed(starts, seed);
}

}  // namespace

bool knows_all_arrivals(const WorkloadConfig& config) {
  if (config.trace) return config.trace->sessions == 0;
  return !config.sessions && config.arrivals->process != ArrivalProcess::closed_loop &&
         !config.arrivals->max_in_flight;
}

Expected<std::unique_ptr<RequestSource>> make_request_source(const WorkloadConfig& config,
                                                             std::uint64_t seed) {
  if (config.trace && config.trace->timed) return make_trace_source(config);
  if (config.trace)
    return make_trace_source(config, begins_of(config, config.trace->sessions, seed));
  if (config.sessions) {
    auto sessions =
        make_session_source(config, seed, begins_of(config, config.sessions->count, seed));
    if (!config.sessions->ready_queue) return sessions;
    return make_ready_queue(*config.sessions->ready_queue, seed, std::move(sessions));
  }
  return make_open_or_closed(config, seed);
}

}  // namespace tiersim
