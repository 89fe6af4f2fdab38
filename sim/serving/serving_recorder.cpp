#include "sim/serving/serving_recorder.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/record/metrics.hpp"
#include "sim/serving/prefix_rates.hpp"
#include "sim/serving/quantiles.hpp"
#include "sim/serving/request_latency.hpp"
#include "sim/serving/served_priorities.hpp"
#include "sim/serving/served_sessions.hpp"

namespace tiersim {
namespace {

constexpr std::array<std::int64_t, 4> kPercents{50, 90, 95, 99};

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

// The number of intervals [begin, end) at each moment: calls visit(from, to, number). Both lists
// are sorted.
template <class Visit>
void sweep(std::span<const SimTime> begins, std::span<const SimTime> ends, const Visit& visit) {
  SimTime now{};
  std::size_t begun = 0;
  for (std::size_t ended = 0; ended < ends.size();) {
    const SimTime next = begun < begins.size() ? std::min(begins[begun], ends[ended]) : ends[ended];
    visit(now, next, static_cast<std::int64_t>(begun - ended));
    now = next;
    while (begun < begins.size() && begins[begun] == now) ++begun;
    while (ended < ends.size() && ends[ended] == now) ++ended;
  }
}

class ServingRecorder {
 public:
  ServingRecorder(ServingObservations& seen, NumberClass time_class, RunRecord& out)
      : seen_(seen),
        time_class_(time_class),
        out_(out),
        requests_(seen.requests),
        counted_(requests_.subspan(static_cast<std::size_t>(seen.warm_up))),
        timeline_(seen.timeline),
        window_(to_seconds(seen.window.end - seen.window.begin)) {}

  void record() {
    check();
    setup();
    levels();
    latencies();
    rates();
    shares();
    tiers();
    priorities();
    little();
    if (seen_.sessions > 0) sessions();
    timeline();
  }

 private:
  void metric(std::string_view name, double value, std::optional<double> half_width = {}) {
    const MetricDefinition* definition = find_metric(name);
    TS_EXPECTS(definition != nullptr, name);
    Metric& metric = out_.metrics[std::string(name)];
    metric = {value, std::string(definition->unit), time_class_};
    // No metric is negative.
    if (half_width) metric.ci95 = {std::max(0.0, value - *half_width), value + *half_width};
  }

  // Checks that no request is lost, and Little's law as an identity: over a run that begins and
  // ends empty, the integral of the requests in the system is the sum of their stays, to the
  // picosecond.
  void check() const {
    TS_ENSURES(seen_.arrived == static_cast<std::int64_t>(seen_.requests.size()), seen_.arrived,
               seen_.requests.size());
    TS_ENSURES(seen_.finished == seen_.arrived, seen_.finished, seen_.arrived);
    Int128 stays = 0;
    std::int64_t later_tokens = 0;
    for (const ServedRequest& request : requests_) {
      stays += (request.finished - request.arrival).count();
      later_tokens += request.output_tokens - 1;
    }
    TS_ENSURES(later_tokens == seen_.later_tokens, later_tokens, seen_.later_tokens);
    TS_ENSURES(stays == seen_.stay, static_cast<double>(stays), static_cast<double>(seen_.stay));
  }

  void setup() {
    ServingRecord serving = seen_.setup;
    if (out_.serving) {
      serving.capacity = std::move(out_.serving->capacity);
      serving.moves = std::move(out_.serving->moves);
    }
    serving.window_s.low = to_seconds(seen_.window.begin.time_since_epoch());
    serving.window_s.high = to_seconds(seen_.window.end.time_since_epoch());
    ServingCounts& counts = serving.counts;
    counts = {.requests = seen_.arrived,
              .counted = static_cast<std::int64_t>(counted_.size()),
              .prefilled_tokens = seen_.prefilled,
              .iterations = seen_.iterations,
              .preemptions = seen_.preemptions};
    for (const ServedRequest& request : requests_) {
      counts.input_tokens += request.input_tokens;
      counts.cached_tokens += request.cached_tokens;
      counts.output_tokens += request.output_tokens;
    }
    out_.serving = std::move(serving);
  }

  // Mean, quantiles and the interval of the mean. `values` are in the order of arrival.
  void distribution(const std::string& name, std::vector<double> values) {
    if (values.empty()) return;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    metric(name + ".mean", sum / static_cast<double>(values.size()), batch_half_width(values));
    std::ranges::sort(values);
    for (const std::int64_t percent : kPercents)
      metric(name + ".p" + std::to_string(percent), quantile_of(values, percent));
  }

  double quantile_of(std::span<const double> sorted, std::int64_t percent) const {
    if (seen_.measure.as == MeasuredAs::steady_state) return quantile(sorted, percent);
    if (seen_.measure.as == MeasuredAs::trtllm_bench) return quantile_below(sorted, percent);
    return quantile_between(sorted, percent);
  }

  template <class Of>
  std::vector<double> of_counted(const Of& of) const {
    std::vector<double> out;
    out.reserve(counted_.size());
    for (const ServedRequest& request : counted_)
      if (const std::optional<double> value = of(request)) out.push_back(*value);
    return out;
  }

  void latencies() {
    using Value = std::optional<double>;
    distribution("ttft_s", of_counted(ttft_of));
    distribution("tpot_s", of_counted(tpot_of));
    distribution("e2e_latency_s", of_counted(e2e_latency_of));
    distribution("queue_time_s", of_counted(queue_time_of));
    distribution("prefill_time_s", of_counted(prefill_time_of));
    if (seen_.loads)
      distribution("load_time_s",
                   of_counted([](const auto& r) -> Value { return to_seconds(r.load_time); }));
    if (seen_.may_decline)
      distribution("recompute_time_s", of_counted([](const auto& r) -> Value {
                     const std::int64_t computed = r.input_tokens - r.cached_tokens;
                     return computed == 0
                                ? 0
                                : prefill_time_of(r) * static_cast<double>(r.declined_tokens) /
                                      static_cast<double>(computed);
                   }));
    const LatencyHistogram& gaps = seen_.window.gaps;
    if (seen_.measure.as == MeasuredAs::aiperf) {
      distribution("inter_token_latency_s", of_counted(tpot_of));
    } else if (gaps.count() > 0) {
      metric("inter_token_latency_s.mean", gaps.mean());
      for (const std::int64_t percent : kPercents)
        metric("inter_token_latency_s.p" + std::to_string(percent), gaps.quantile(percent));
    }
    Int128 decoding = 0;
    std::int64_t tokens = 0;
    for (const ServedRequest& request : counted_) {
      decoding += (request.finished - request.first_token).count();
      tokens += request.output_tokens;
    }
    metric("inner_token_latency_s",
           static_cast<double>(decoding) * 1e-12 / static_cast<double>(tokens));
    interactivity();
  }

  // As InferenceX and AIPerf report it: the inverse of a quantile of a request's time per token of
  // its answer, the wait for the first one included.
  void interactivity() {
    std::vector<double> times = of_counted([](const auto& r) -> std::optional<double> {
      return e2e_latency_of(r) / static_cast<double>(r.output_tokens);
    });
    std::ranges::sort(times);
    for (const std::int64_t percent : {50, 75, 90})
      metric("e2e_normalized_interactivity.p" + std::to_string(percent),
             ratio(1, quantile_of(times, percent)));
  }

  // The start itself is excluded: the first tokens of an empty server.
  bool in_window(SimTime at) const { return at > seen_.window.begin && at <= seen_.window.end; }

  void rates() {
    std::int64_t input = 0;
    std::int64_t output = seen_.window.later_tokens;
    std::int64_t ended = 0;
    for (const ServedRequest& request : requests_) {
      if (in_window(request.first_token)) {
        input += request.input_tokens;
        ++output;
      }
      ended += in_window(request.finished) ? 1 : 0;
    }
    const double requests_per_s = ratio(static_cast<double>(ended), window_);
    metric("throughput_tokens_per_s", ratio(static_cast<double>(output), window_),
           throughput_half_width());
    metric("input_tokens_per_s", ratio(static_cast<double>(input), window_));
    metric("requests_per_s", requests_per_s);
    metric("window_s", window_);
    metric("makespan_s", to_seconds(seen_.end - requests_.front().arrival));
    if (!seen_.measure.slo_ttft && !seen_.measure.slo_tpot) return;
    const auto good = std::ranges::count_if(counted_, [&](const ServedRequest& request) {
      return keeps_promises(request, seen_.measure);
    });
    const double share = static_cast<double>(good) / static_cast<double>(counted_.size());
    metric("slo_attainment", share);
    metric("goodput_requests_per_s", share * requests_per_s);
  }

  // From the bins within the window. With few requests, bins would hold parts of the same ones.
  std::optional<double> throughput_half_width() const {
    constexpr std::size_t kLeastRequests = 100;  // as the latencies' intervals need
    if (counted_.size() < kLeastRequests) return std::nullopt;
    const Duration width = timeline_.width();
    std::vector<double> tokens =
        timeline_.sums(static_cast<std::size_t>(ServingSeries::output), seen_.end);
    const auto first = (seen_.window.begin.time_since_epoch() + width - Duration(1)) / width;
    const auto last = seen_.window.end.time_since_epoch() / width;
    if (last <= first) return std::nullopt;
    const auto half = batch_half_width(std::span(tokens).subspan(
        static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    if (!half) return std::nullopt;
    return *half / to_seconds(width);
  }

  // Waiting and running requests, from their times of arrival, start and end.
  void levels() {
    std::vector<SimTime> arrivals;
    std::vector<SimTime> starts;
    std::vector<SimTime> ends;
    for (std::vector<SimTime>* times : {&arrivals, &starts, &ends})
      times->reserve(requests_.size());
    for (const ServedRequest& request : requests_) {
      arrivals.push_back(request.arrival);
      starts.push_back(request.started);
      ends.push_back(request.finished);
    }
    std::ranges::sort(starts);
    std::ranges::sort(ends);
    level("queue_depth", ServingSeries::queue, arrivals, starts);
    level("running", ServingSeries::running, starts, ends);
    const TimeWeighted& in_flight = level_of(ServingLevel::in_flight);
    metric("in_flight.mean", in_flight.mean(seen_.window.end));
    metric("in_flight.max", static_cast<double>(in_flight.max()));
  }

  const TimeWeighted& level_of(ServingLevel level) const {
    return seen_.levels.of(static_cast<std::size_t>(level));
  }

  // Mean and maximum over the window of the number of these intervals that have begun and not
  // ended. `visit` gets all their times, also outside of it.
  std::pair<double, std::int64_t> level_over_window(
      std::span<const SimTime> begins, std::span<const SimTime> ends,
      const std::function<void(SimTime, SimTime, std::int64_t)>& visit = {}) const {
    Int128 integral = 0;
    std::int64_t max = 0;
    sweep(begins, ends, [&](SimTime from, SimTime to, std::int64_t value) {
      if (visit) visit(from, to, value);
      from = std::max(from, seen_.window.begin);
      to = std::min(to, seen_.window.end);
      if (from >= to) return;
      integral += Int128{value} * (to - from).count();
      max = std::max(max, value);
    });
    return {ratio(static_cast<double>(integral) * 1e-12, window_), max};
  }

  void level(const std::string& name, ServingSeries series, std::span<const SimTime> begins,
             std::span<const SimTime> ends) {
    const auto [mean, max] =
        level_over_window(begins, ends, [&](SimTime from, SimTime to, std::int64_t value) {
          timeline_.add_level(static_cast<std::size_t>(series), from, to, value);
        });
    metric(name + ".mean", mean);
    metric(name + ".max", static_cast<double>(max));
  }

  void shares() {
    const ServingWindow& window = seen_.window;
    const auto replicas = static_cast<double>(seen_.by.replicas);
    const auto blocks = static_cast<double>(seen_.by.blocks);
    const TimeWeighted& held = level_of(ServingLevel::blocks);
    metric("kv_use.mean", held.mean(window.end) / blocks);
    metric("kv_use.max", static_cast<double>(held.max()) / blocks);
    metric("gpu_busy_share",
           ratio(to_seconds(window.gpu), window_ * static_cast<double>(seen_.by.stages)));
    metric("host_wait_share", ratio(to_seconds(window.host), window_ * replicas));
    metric("copy_wait_share", ratio(to_seconds(window.copies), window_ * replicas));
    if (window.decoding > 0) {
      const auto decoding = static_cast<double>(window.decoding);
      metric("batch_size.mean", static_cast<double>(window.decodes) / decoding);
      if (seen_.speculates) {
        metric("acceptance_length", ratio(static_cast<double>(window.later_tokens),
                                          static_cast<double>(window.decodes)));
        if (window.drafts > 0)
          metric("draft_acceptance",
                 ratio(static_cast<double>(window.later_tokens - window.decodes),
                       static_cast<double>(window.drafts)));
      }
      metric("layers_run.mean", static_cast<double>(window.layers) / decoding);
    }
    for (const auto& [name, rate] : prefix_rates(seen_, counted_)) metric(name, rate);
    metric("preemptions", static_cast<double>(seen_.preemptions));
    if (seen_.fleet) metric("restarts", static_cast<double>(seen_.restarts));
    if (seen_.fleet)
      metric("replicas_up.mean", level_of(ServingLevel::replicas_up).mean(window.end));
    metric("iterations", static_cast<double>(seen_.iterations));
  }

  void tiers() {
    for (std::size_t t = 0; t < seen_.by.tiers.size(); ++t) {
      const auto& [name, capacity] = seen_.by.tiers[t];
      const TimeWeighted& held = seen_.levels.of(level_of_tier(t));
      out_.serving->tiers.push_back({.name = name,
                                     .capacity_bytes = capacity,
                                     .mean_bytes = held.mean(seen_.window.end),
                                     .max_bytes = held.max()});
    }
  }

  void priorities() {
    std::vector<ServedPriority> all = priorities_of(
        counted_, seen_.measure, [this](std::span<const double> sorted, std::int64_t percent) {
          return quantile_of(sorted, percent);
        });
    if (!all.empty()) out_.serving->priorities = std::move(all);
  }

  void little() {
    const auto arrivals = std::ranges::count_if(requests_, [&](const ServedRequest& request) {
      return request.arrival >= seen_.window.begin && request.arrival < seen_.window.end;
    });
    const double arrivals_per_s = ratio(static_cast<double>(arrivals), window_);
    const double lambda_w = arrivals_per_s * out_.metrics.at("e2e_latency_s.mean").value;
    metric("little_lambda_w", lambda_w);
    const double in_flight = out_.metrics.at("in_flight.mean").value;
    if (in_flight > 0) metric("little_difference", lambda_w / in_flight - 1);
  }

  // Sessions count that begin after the warm-up.
  void sessions() {
    std::vector<ServedSession> all = sessions_of(requests_, seen_.sessions);
    std::ranges::stable_sort(all, {}, &ServedSession::begin);
    live_sessions(all);
    const auto ended = std::ranges::count_if(
        all, [&](const ServedSession& session) { return in_window(session.end); });
    const double per_s = ratio(static_cast<double>(ended), window_);
    metric("sessions_per_s", per_s);
    std::erase_if(all,
                  [&](const ServedSession& session) { return session.begin < seen_.window.begin; });
    if (all.empty()) return no_session_counts();
    const auto of = [&](const auto& value) {
      std::vector<double> out;
      for (const ServedSession& session : all) out.push_back(value(session));
      return out;
    };
    distribution("session_s", of([](const auto& s) { return to_seconds(s.end - s.begin); }));
    distribution("session_busy_s", of([](const auto& s) { return to_seconds(s.busy); }));
    const auto share = [&](const auto& holds) {
      return static_cast<double>(std::ranges::count_if(all, holds)) /
             static_cast<double>(all.size());
    };
    const auto ends = [&](SessionEnd how) {
      return share([how](const ServedSession& session) { return session.how == how; });
    };
    const std::vector<double> requests =
        of([](const auto& s) { return static_cast<double>(s.requests); });
    metric("requests_per_session.mean", std::accumulate(requests.begin(), requests.end(), 0.0) /
                                            static_cast<double>(requests.size()));
    metric("session_abandonment", ends(SessionEnd::abandoned));
    metric("session_context_full", ends(SessionEnd::full));
    const std::optional<Duration>& promise = seen_.measure.slo_session;
    if (!promise) return;
    const double kept = share([&](const ServedSession& session) {
      return session.how != SessionEnd::abandoned && session.busy <= *promise;
    });
    metric("session_slo_attainment", kept);
    metric("goodput_sessions_per_s", kept * per_s);
  }

  // The metrics of sessions have no values then, which a reader must not take for an omission.
  void no_session_counts() {
    std::vector<std::string> names{"session_s", "session_busy_s", "requests_per_session",
                                   "session_abandonment", "session_context_full"};
    if (seen_.measure.slo_session) {
      names.emplace_back("session_slo_attainment");
      names.emplace_back("goodput_sessions_per_s");
    }
    out_.serving->unmeasured.emplace();
    for (const std::string& name : names)
      out_.serving->unmeasured->push_back(
          name +
          ": no session begins after the warm-up (a smaller measure.warm_up, or more "
          "sessions)");
  }

  void live_sessions(std::span<const ServedSession> by_begin) {
    std::vector<SimTime> begins;
    std::vector<SimTime> ends;
    for (const ServedSession& session : by_begin) {
      begins.push_back(session.begin);
      ends.push_back(session.end);
    }
    std::ranges::sort(ends);
    const auto [mean, max] = level_over_window(begins, ends);
    metric("live_sessions.mean", mean);
    metric("live_sessions.max", static_cast<double>(max));
  }

  // Sums of a series, divided by `scale` times the width of each bin.
  std::vector<double> means(std::size_t series, double scale) const {
    std::vector<double> out = timeline_.sums(series, seen_.end);
    const Duration end = seen_.end.time_since_epoch();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Duration from = timeline_.width() * static_cast<std::int64_t>(i);
      out[i] /= static_cast<double>(std::min(timeline_.width(), end - from).count()) * scale;
    }
    return out;
  }
  std::vector<double> means(ServingSeries series, double scale) const {
    return means(static_cast<std::size_t>(series), scale);
  }

  void timeline() {
    ServingTimeline& out = out_.serving->timeline;
    const Duration end = seen_.end.time_since_epoch();
    const Duration width = timeline_.width();
    const Duration rest = end % width;
    constexpr double kSeconds = 1e-12;  // per picosecond
    out.bin_s = to_seconds(width);
    out.last_bin_s = to_seconds(rest == Duration{} ? width : rest);
    out.queue_depth = means(ServingSeries::queue, 1);
    out.running = means(ServingSeries::running, 1);
    out.kv_use = means(ServingSeries::blocks, static_cast<double>(seen_.by.blocks));
    out.input_tokens_per_s = means(ServingSeries::input, kSeconds);
    if (seen_.caches) out.cached_tokens_per_s = means(ServingSeries::cached, kSeconds);
    for (const std::string& place : prefix_places(seen_)) {
      auto& found =
          out.found_tokens_per_s ? *out.found_tokens_per_s : out.found_tokens_per_s.emplace();
      found.push_back({place, means(series_of_place(found.size()), kSeconds)});
    }
    out.output_tokens_per_s = means(ServingSeries::output, kSeconds);
    const auto stages = static_cast<double>(seen_.by.stages);
    out.utilisation.push_back({"gpu", means(ServingSeries::gpu, stages)});
    for (std::size_t t = 0; t < seen_.by.tiers.size(); ++t)
      out.held_bytes.push_back({seen_.by.tiers[t].name, means(series_of_tier(seen_.by, t), 1)});
    for (std::size_t c = 0; c < seen_.by.channels.size(); ++c)
      out.utilisation.push_back({seen_.by.channels[c], means(series_of_channel(c), 1)});
  }

  const ServingObservations& seen_;
  NumberClass time_class_;
  RunRecord& out_;
  std::span<const ServedRequest> requests_;  // in the order of arrival
  std::span<const ServedRequest> counted_;   // the requests that count
  Timeline& timeline_;
  double window_;  // s
};

}  // namespace

void record_serving(ServingObservations& seen, NumberClass time_class, RunRecord& out) {
  // In a closed loop, other users may overtake one in think time.
  if (!std::ranges::is_sorted(seen.requests, {}, &ServedRequest::arrival))
    std::ranges::stable_sort(seen.requests, {}, &ServedRequest::arrival);
  ServingRecorder(seen, time_class, out).record();
}

}  // namespace tiersim
