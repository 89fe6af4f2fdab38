#include "sim/serving/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/serving/fleet.hpp"
#include "sim/serving/serving_recorder.hpp"
#include "sim/serving/setup_text.hpp"

namespace tiersim {
namespace {

constexpr auto index(ServingSeries series) {
  return static_cast<std::size_t>(series);
}
constexpr auto index(ServingLevel level) {
  return static_cast<std::size_t>(level);
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
            .speculates = config.scenario.speculation.has_value(),
            .caches = config.server.prefix_cache.has_value(),
            .fleet = Fleet::is_needed(config.server),
            .loads = config.server.prefix_cache && !config.server.prefix_cache->tiers.empty(),
            .may_decline = config.server.prefix_cache && config.server.prefix_cache->may_decline(),
            .prefix_tiers =
                config.server.prefix_cache ? config.server.prefix_cache->tiers.size() : 0,
            .sessions = session_count(config.workload),
            .requests = std::vector<ServedRequest>(static_cast<std::size_t>(
                request_count(config.workload, static_cast<std::uint64_t>(config.seed)))),
            .timeline = Timeline(kServingSeries + by.channels.size() + by.tiers.size()),
            .levels = LevelSeries(kServingLevels + by.tiers.size())},
      requests_(seen_.requests),
      replicas_(static_cast<std::size_t>(by.replicas)),
      levels_(kServingLevels + by.tiers.size()) {
  seen_.warm_up = warm_up_of(config.measure, std::ssize(seen_.requests));
  by_message_ = config.measure.as == MeasuredAs::vllm_bench;
  seen_.window.work.resize(static_cast<std::size_t>(by.pools));
  TS_EXPECTS(by.replicas > 0 && by.blocks > 0 && !seen_.requests.empty(), by.replicas, by.blocks);
}

ServingStatistics::ServingStatistics(ServingStatistics& whole, std::int64_t replica)
    : seen_{.setup = {},
            .measure = {},
            .by = whole.seen_.by,
            .requests = {},
            .timeline = Timeline(kServingSeries + whole.seen_.by.channels.size() +
                                 whole.seen_.by.tiers.size()),
            .levels = LevelSeries(0)},
      requests_(whole.requests_),
      is_part_(true),
      first_replica_(replica),
      replicas_(1),
      levels_(whole.levels_.size()),
      by_message_(whole.by_message_) {
  seen_.window.work.resize(whole.seen_.window.work.size());
}

void ServingStatistics::advance(SimTime now) {
  TS_EXPECTS(now >= now_, now, now_);
  now_ = now;
  seen_.end = now;
}

void ServingStatistics::settle(std::size_t level) {
  Level& at = levels_[level];
  if (level == index(ServingLevel::in_flight))
    seen_.stay += Int128{at.value} * (now_ - at.since).count();
  else if (level == index(ServingLevel::blocks))
    seen_.timeline.add_level(index(ServingSeries::blocks), at.since, now_, at.value);
  else if (level >= kServingLevels)
    seen_.timeline.add_level(series_of_tier(seen_.by, level - kServingLevels), at.since, now_,
                             at.value);
  at.since = now_;
}

void ServingStatistics::change(std::size_t level, std::int64_t by) {
  if (by == 0) return;
  settle(level);
  levels_[level].value += by;
  const LevelChange change{.at = now_, .by = by, .level = static_cast<std::uint32_t>(level)};
  if (is_part_)
    changes_.push_back(change);
  else
    seen_.levels.change(change);
}

bool ServingStatistics::in_window(SimTime at) const {
  return opens_ && at > *opens_ && (!closes_ || at <= *closes_);
}

void ServingStatistics::announce(SimTime now) {
  const auto requests = static_cast<std::int64_t>(requests_.size());
  TS_EXPECTS(seen_.arrived < requests, seen_.arrived, requests);
  if (seen_.arrived == seen_.warm_up) {
    opens_ = now;
    seen_.levels.open(now);
  }
  ++seen_.arrived;
  if (seen_.arrived == requests) close(now);
}

// Ends the window, where that is not the end of the run.
void ServingStatistics::close(SimTime now) {
  if (seen_.warm_up == 0 || closes_ || !opens_ || now <= *opens_) return;
  closes_ = now;
  seen_.levels.close(now);
}

void ServingStatistics::on_session(SimTime now) {
  advance(now);
  if (++seen_.begun == seen_.sessions) close(now);
}

void ServingStatistics::see_window(const ServingStatistics& whole) {
  opens_ = whole.opens_;
  closes_ = whole.closes_;
}

void ServingStatistics::on_arrival(SimTime now) {
  advance(now);
  if (!is_part_) announce(now);
  change(index(ServingLevel::in_flight), 1);
}

void ServingStatistics::on_replicas(SimTime now, std::int64_t up) {
  if (seen_.finished == std::ssize(requests_)) return;  // one that started in vain
  advance(now);
  const std::size_t level = index(ServingLevel::replicas_up);
  change(level, up - levels_[level].value);
}

void ServingStatistics::on_iteration(const IterationSample& sample) {
  TS_EXPECTS(sample.begin <= sample.gpu && sample.gpu <= sample.end, sample.begin, sample.gpu,
             sample.end);
  advance(sample.end);
  Replica& replica = replicas_[static_cast<std::size_t>(sample.replica - first_replica_)];
  ++seen_.iterations;
  seen_.prefilled += sample.prompt_tokens;
  for_each_stage(sample, [&](SimTime from, SimTime to) {
    seen_.timeline.add_level(index(ServingSeries::gpu), from, to, 1);
  });
  change(index(ServingLevel::blocks), sample.blocks_used - replica.blocks);
  replica.blocks = sample.blocks_used;
  ServingWindow& window = seen_.window;
  if (opens_ && now_ > *opens_) {
    const SimTime end = closes_ ? std::min(*closes_, now_) : now_;
    const auto within = [&](SimTime at) { return std::clamp(at, *opens_, end); };
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
  if (in_window()) add_work(sample.pool, sample.work);
  if (in_window() && sample.decodes > 0) {
    window.decodes += sample.decodes;
    window.drafts += sample.drafts;
    window.layers += sample.layers;
    ++window.decoding;
  }
  replica.free = sample.stages.empty() ? sample.end : sample.stages.front().second;
}

void ServingStatistics::on_move(const MoveSample& sample) {
  if (in_window(sample.end)) add_work(sample.pool, sample.work);
}

void ServingStatistics::on_weights(SimTime now, std::size_t pool, const Demand& work) {
  if (in_window(now)) add_work(pool, &work);
}

void ServingStatistics::add_work(std::size_t pool, const Demand* work) {
  if (work == nullptr) return;
  Demand& sum = seen_.window.work[pool];
  if (sum.empty())
    sum = *work;
  else
    sum.add(*work);
}

void ServingStatistics::on_gap(SimTime now, Duration gap, std::int64_t tokens) {
  advance(now);
  seen_.later_tokens += tokens;
  seen_.timeline.add_count(index(ServingSeries::output), now, tokens);
  if (!in_window()) return;
  seen_.window.later_tokens += tokens;
  // vLLM's benchmark measures between the messages of a stream, which may have several tokens.
  if (gap > Duration{} || !by_message_) seen_.window.gaps.add(gap, tokens);
}

void ServingStatistics::on_finish(const RequestOutcome& outcome) {
  advance(outcome.finished);
  const std::int64_t id = outcome.id;
  TS_EXPECTS(id >= 0 && id < static_cast<std::int64_t>(requests_.size()), id);
  ServedRequest& request = requests_[static_cast<std::size_t>(id)];
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
             .cached_tokens = outcome.cached_tokens,
             .cached_in = outcome.cached_in,
             .load_time = outcome.load_time,
             .declined_tokens = outcome.declined_tokens,
             .session = outcome.session,
             .priority = outcome.priority};
  seen_.timeline.add_count(index(ServingSeries::input), outcome.first_token, outcome.input_tokens);
  seen_.timeline.add_count(index(ServingSeries::cached), outcome.first_token,
                           outcome.cached_tokens);
  for (std::size_t k = 0; k < outcome.cached_in.size(); ++k)
    seen_.timeline.add_count(series_of_place(k), outcome.first_token, outcome.cached_in[k]);
  seen_.timeline.add_count(index(ServingSeries::output), outcome.first_token, 1);
  seen_.preemptions += outcome.preemptions;
  seen_.restarts += outcome.restarts;
  ++seen_.finished;
  change(index(ServingLevel::in_flight), -1);
}

void ServingStatistics::on_use(std::size_t channel, SimTime from, SimTime to, Duration busy) {
  TS_EXPECTS(channel < seen_.by.channels.size(), channel);
  seen_.timeline.add_spread(series_of_channel(channel), from, to, busy.count());
}

void ServingStatistics::on_held(std::size_t tier, SimTime now, std::int64_t bytes) {
  TS_EXPECTS(tier < seen_.by.tiers.size() && bytes >= 0, tier, bytes);
  advance(now);
  const std::size_t level = level_of_tier(tier);
  change(level, bytes - levels_[level].value);
}

void ServingStatistics::change_levels(std::span<const LevelChange> changes) {
  for (const LevelChange& change : changes) seen_.levels.change(change);
}

void ServingStatistics::join(ServingStatistics& part, SimTime end) {
  part.advance(end);  // prefixes that stay are held until then
  for (std::size_t level = 0; level < part.levels_.size(); ++level) part.settle(level);
  const ServingObservations& more = part.seen_;
  seen_.timeline.add(more.timeline);
  ServingWindow& window = seen_.window;
  window.later_tokens += more.window.later_tokens;
  window.decodes += more.window.decodes;
  window.drafts += more.window.drafts;
  window.decoding += more.window.decoding;
  window.layers += more.window.layers;
  window.gaps.add(more.window.gaps);
  window.gpu += more.window.gpu;
  window.host += more.window.host;
  window.copies += more.window.copies;
  for (std::size_t pool = 0; pool < more.window.work.size(); ++pool)
    if (!more.window.work[pool].empty()) add_work(pool, &more.window.work[pool]);
  seen_.finished += more.finished;
  seen_.later_tokens += more.later_tokens;
  seen_.prefilled += more.prefilled;
  seen_.iterations += more.iterations;
  seen_.preemptions += more.preemptions;
  seen_.restarts += more.restarts;
  seen_.stay += more.stay;
  seen_.end = std::max(seen_.end, more.end);
}

void ServingStatistics::record(RunRecord& out, NumberClass time_class) {
  for (std::size_t level = 0; level < levels_.size(); ++level) settle(level);
  seen_.levels.finish(seen_.end);
  seen_.window.begin = opens_.value_or(SimTime{});
  seen_.window.end = closes_.value_or(seen_.end);
  record_serving(seen_, time_class, out);
}

}  // namespace tiersim
