#include "sim/serving/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/serving/serving_recorder.hpp"
#include "sim/serving/setup_text.hpp"

namespace tiersim {
namespace {

constexpr auto index(ServingSeries series) {
  return static_cast<std::size_t>(series);
}

template <typename Use>
void for_each_stage(const IterationSample& sample, const Use& use) {
  if (sample.stages.empty()) use(sample.gpu, sample.end);
  for (const auto& [from, to] : sample.stages) use(from, to);
}

// At least one request counts.
std::int64_t warm_up_of(const MeasureConfig& measure, std::int64_t requests) {
  TS_EXPECTS(requests > 0, requests);
  const auto share =
      static_cast<std::int64_t>(std::floor(measure.uncounted() * static_cast<double>(requests)));
  return std::clamp(share, std::int64_t{0}, requests - 1);
}

}  // namespace

ServingStatistics::ServingStatistics(const ServingConfig& config, const ServedBy& by)
    : seen_{.setup = setup_of(config, by.replicas),
            .measure = config.measure,
            .by = by,
            .warm_up = warm_up_of(config.measure, request_count(config.workload)),
            .requests = std::vector<ServedRequest>(
                static_cast<std::size_t>(request_count(config.workload))),
            .timeline = Timeline(kServingSeries + by.channels.size() + by.tiers.size()),
            .levels = {.held =
                           std::vector<TimeWeighted>(by.tiers.size(), TimeWeighted(SimTime{}))}},
      replicas_(static_cast<std::size_t>(by.replicas)) {
  TS_EXPECTS(by.replicas > 0 && by.blocks > 0 && !seen_.requests.empty(), by.replicas, by.blocks);
}

void ServingStatistics::advance(SimTime now) {
  TS_EXPECTS(now >= now_, now, now_);
  const ServingLevels& levels = seen_.levels;
  seen_.stay += Int128{levels.in_flight.value()} * (now - now_).count();
  seen_.timeline.add_level(index(ServingSeries::blocks), now_, now, levels.blocks.value());
  for (std::size_t t = 0; t < levels.held.size(); ++t)
    seen_.timeline.add_level(series_of_tier(seen_.by, t), now_, now, levels.held[t].value());
  now_ = now;
  seen_.end = now;
  if (!seen_.window.closed) seen_.window.end = now;
}

void ServingStatistics::open_window() {
  seen_.window.begin = now_;
  seen_.levels.in_flight.restart(now_);
  seen_.levels.blocks.restart(now_);
  for (TimeWeighted& held : seen_.levels.held) held.restart(now_);
}

void ServingStatistics::close_window() {
  seen_.window.closed = true;
  seen_.measured = seen_.levels;
}

bool ServingStatistics::in_window() const {
  return seen_.arrived > seen_.warm_up && !seen_.window.closed;
}

void ServingStatistics::on_arrival(SimTime now) {
  const auto requests = static_cast<std::int64_t>(seen_.requests.size());
  TS_EXPECTS(seen_.arrived < requests, seen_.arrived, requests);
  advance(now);
  if (seen_.arrived == seen_.warm_up) open_window();
  ++seen_.arrived;
  if (seen_.arrived == requests && seen_.warm_up > 0 && now > seen_.window.begin) close_window();
  seen_.levels.in_flight.add(now, 1);
}

void ServingStatistics::on_iteration(const IterationSample& sample) {
  TS_EXPECTS(sample.begin <= sample.gpu && sample.gpu <= sample.end, sample.begin, sample.gpu,
             sample.end);
  advance(sample.end);
  Replica& replica = replicas_[static_cast<std::size_t>(sample.replica)];
  ++seen_.iterations;
  seen_.prefilled += sample.prompt_tokens;
  for_each_stage(sample, [&](SimTime from, SimTime to) {
    seen_.timeline.add_level(index(ServingSeries::gpu), from, to, 1);
  });
  seen_.levels.blocks.add(now_, sample.blocks_used - replica.blocks);
  replica.blocks = sample.blocks_used;
  ServingWindow& window = seen_.window;
  if (seen_.arrived > seen_.warm_up) {
    const auto within = [&](SimTime at) { return std::clamp(at, window.begin, window.end); };
    // Host work during the GPU's previous iteration costs no time. In a pipeline this is the work
    // of the first stage.
    const SimTime host = within(std::max(sample.begin, replica.free));
    const SimTime gpu = within(sample.gpu);
    for_each_stage(sample,
                   [&](SimTime from, SimTime to) { window.gpu += within(to) - within(from); });
    const SimTime copies = std::clamp(within(sample.gpu - sample.copies), std::min(host, gpu), gpu);
    window.host += std::max(Duration{}, copies - host);
    window.copies += gpu - copies;
  }
  if (in_window() && sample.decodes > 0) {
    window.decodes += sample.decodes;
    window.layers += sample.layers;
    ++window.decoding;
  }
  replica.free = sample.stages.empty() ? sample.end : sample.stages.front().second;
}

void ServingStatistics::on_gap(SimTime now, Duration gap, std::int64_t tokens) {
  advance(now);
  seen_.later_tokens += tokens;
  seen_.timeline.add_count(index(ServingSeries::output), now, tokens);
  if (!in_window()) return;
  seen_.window.later_tokens += tokens;
  seen_.window.gaps.add(gap, tokens);
}

void ServingStatistics::on_finish(const RequestOutcome& outcome) {
  advance(outcome.finished);
  const std::int64_t id = outcome.id;
  TS_EXPECTS(id >= 0 && id < static_cast<std::int64_t>(seen_.requests.size()), id);
  ServedRequest& request = seen_.requests[static_cast<std::size_t>(id)];
  TS_EXPECTS(request.output_tokens == 0 && outcome.output_tokens > 0, id, outcome.output_tokens);
  TS_EXPECTS(outcome.arrival <= outcome.started && outcome.started <= outcome.first_token &&
                 outcome.first_token <= outcome.finished,
             id, outcome.arrival, outcome.started, outcome.first_token, outcome.finished);
  request = {.arrival = outcome.arrival,
             .started = outcome.started,
             .first_token = outcome.first_token,
             .finished = outcome.finished,
             .input_tokens = outcome.input_tokens,
             .output_tokens = outcome.output_tokens,
             .cached_tokens = outcome.cached_tokens};
  seen_.timeline.add_count(index(ServingSeries::input), outcome.first_token, outcome.input_tokens);
  seen_.timeline.add_count(index(ServingSeries::output), outcome.first_token, 1);
  seen_.preemptions += outcome.preemptions;
  ++seen_.finished;
  seen_.levels.in_flight.add(now_, -1);
}

void ServingStatistics::on_use(std::size_t channel, SimTime from, SimTime to, Duration busy) {
  TS_EXPECTS(channel < seen_.by.channels.size(), channel);
  seen_.timeline.add_spread(series_of_channel(channel), from, to, busy.count());
}

void ServingStatistics::on_held(std::size_t tier, SimTime now, std::int64_t bytes) {
  TS_EXPECTS(tier < seen_.levels.held.size() && bytes >= 0, tier, bytes);
  advance(now);
  seen_.levels.held[tier].set(now, bytes);
}

void ServingStatistics::record(RunRecord& out, NumberClass time_class) const {
  record_serving(seen_, time_class, out);
}

}  // namespace tiersim
