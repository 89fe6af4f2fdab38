// The sources of requests: generated on demand, or read from a trace.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/file_text.hpp"
#include "sim/base/sha256.hpp"
#include "workloads/serving/arrivals.hpp"
#include "workloads/serving/lengths.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {
namespace {

// Creates requests with lengths, in order.
class RequestMaker {
 public:
  RequestMaker(const WorkloadConfig& config, std::uint64_t seed)
      : left_(request_count(config)),
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
  std::optional<Request> after_completion(SimTime) override { return std::nullopt; }

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
  std::optional<Request> after_completion(SimTime now) override {
    if (maker_.left() == first_) return std::nullopt;
    return maker_.make(std::max(now, arrivals_.next()));
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
    const std::int64_t users = std::min(config.arrivals->users, request_count(config));
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
  std::optional<Request> after_completion(SimTime now) override {
    if (maker_.left() == static_cast<std::int64_t>(first_.size())) return std::nullopt;
    return maker_.make(SimTime(later(now.time_since_epoch(), think())));
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

class TraceSource final : public RequestSource {
 public:
  TraceSource(const TraceConfig& config, std::int64_t count, RequestTrace trace)
      : speed_(config.speed),
        begin_(static_cast<std::size_t>(config.skip)),
        end_(begin_ + static_cast<std::size_t>(count)),
        at_(begin_),
        trace_(std::move(trace)) {}

  std::optional<Request> next() override {
    if (at_ == end_) return std::nullopt;
    const TraceRequest& recorded = trace_.requests[at_];
    const auto prefix = trace_.prefix(recorded);
    return Request{.id = static_cast<std::int64_t>(at_++ - begin_),
                   .arrival = replayed(recorded.arrival - trace_.requests[begin_].arrival),
                   .input_tokens = recorded.input_tokens,
                   .output_tokens = recorded.output_tokens,
                   .prefix = {prefix.begin(), prefix.end()}};
  }
  std::optional<Request> after_completion(SimTime) override { return std::nullopt; }

 private:
  SimTime replayed(Duration recorded) const {
    if (speed_ == 1) return SimTime(recorded);  // exact also where a double cannot hold picoseconds
    const double ps = static_cast<double>(recorded.count()) / speed_;
    if (!(ps < 9.2e18)) throw UnitOverflow();
    return SimTime(Duration(std::llround(ps)));
  }

  double speed_;
  std::size_t begin_;
  std::size_t end_;
  std::size_t at_;
  RequestTrace trace_;
};

Expected<std::string> read_trace(const TraceConfig& config) {
  const std::string& path = config.requests.source;
  auto text = file_text(path);
  if (!text) return Unexpected(fmt::format("cannot read the trace '{}': {}", path, text.error()));
  const std::string digest = sha256_hex(*text);
  if (digest != config.digest)
    return Unexpected(fmt::format(
        "the trace '{}' is not the file of this configuration any more: its SHA-256 is {}, and "
        "replay.sha256 is {} (bring the file back, or load it anew by `trace: PATH`)",
        path, digest, config.digest));
  return text;
}

// Message for a prompt with more block names than its length allows: the block size differs.
std::optional<std::string> prefix_mistake(const WorkloadConfig& config, const RequestTrace& trace) {
  const std::int64_t block = config.prefix_block;
  for (const TraceRequest& request : trace.requests)
    if (const std::int64_t blocks = (request.input_tokens + block - 1) / block;
        request.prefix_size > blocks)
      return fmt::format(
          "{}:{}: hash_ids has {} blocks, and a prompt of {} tokens has {} of prefix_block, {} "
          "tokens",
          config.trace->requests.source, request.line, request.prefix_size, request.input_tokens,
          blocks, block);
  return std::nullopt;
}

Expected<std::unique_ptr<RequestSource>> make_trace_source(const WorkloadConfig& config) {
  const auto text = read_trace(*config.trace);
  if (!text) return Unexpected(text.error());
  auto trace = parse_request_trace(config.trace->requests.source, *text);
  if (!trace) return Unexpected(trace.error().front().message);  // refused when it was loaded
  const auto there = static_cast<std::int64_t>(trace->requests.size());
  if (there != config.trace->requests.value)
    return Unexpected(fmt::format("the trace '{}' has {} requests, and replay.requests is {}",
                                  config.trace->requests.source, there,
                                  config.trace->requests.value));
  if (auto mistake = prefix_mistake(config, *trace)) return Unexpected(std::move(*mistake));
  return std::unique_ptr<RequestSource>(
      std::make_unique<TraceSource>(*config.trace, request_count(config), *std::move(trace)));
}

}  // namespace

bool knows_all_arrivals(const WorkloadConfig& config) {
  return config.trace || (config.arrivals->process != ArrivalProcess::closed_loop &&
                          !config.arrivals->max_in_flight);
}

Expected<std::unique_ptr<RequestSource>> make_request_source(const WorkloadConfig& config,
                                                             std::uint64_t seed) {
  if (config.trace) return make_trace_source(config);
  TS_EXPECTS(config.arrivals && config.input && config.output);
  if (config.arrivals->process == ArrivalProcess::closed_loop)
    return std::unique_ptr<RequestSource>(std::make_unique<ClosedLoop>(config, seed));
  if (config.arrivals->max_in_flight)
    return std::unique_ptr<RequestSource>(std::make_unique<LimitedSource>(config, seed));
  return std::unique_ptr<RequestSource>(std::make_unique<OpenSource>(config, seed));
}

}  // namespace tiersim
