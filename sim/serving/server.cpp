#include "sim/serving/server.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tiersim {

Server::Server(std::span<ServingParts> pools, RequestSource& source)
    : parts_(pools.front()), pools_(pools), source_(source) {
  const auto& split = parts_.config.server.disaggregation;
  const std::int64_t first = parts_.replicas.count;
  prefilling_ = static_cast<std::size_t>(split ? split->prefill_replicas : first);
  const Replica::Sink sink{
      .ended = [this](Sequence& s) { ended(s); },
      .expected =
          [this](Sequence& s) {
            std::size_t turn = decode_turn_;
            if (route(s.request, prefilling_, replicas_.size(), turn).expect(s))
              decode_turn_ = turn;
          },
      .send =
          [this](Sequence& s, std::int64_t positions, Replica::PartTiming timing) {
            replicas_[static_cast<std::size_t>(s.destination)]->receive_part(s, positions,
                                                                             std::move(timing));
          },
      .prefilled = [this](Sequence& s) { prefilled(s); },
      .received = [this](std::int64_t from,
                         Sequence& s) { replicas_[static_cast<std::size_t>(from)]->release(s); },
      .lost =
          [this](Sequence& s) {
            constexpr std::int64_t kMost = 1000;
            if (++s.restarts < kMost) return place(s);
            stop(
                fmt::format("request {} has lost its replica {} times: replicas fail sooner than "
                            "they read its prompt",
                            s.request.id, kMost));
          }};
  const bool hands_over = split || pools.size() > 1;
  for (ServingParts& pool : pools) {
    totals_.pools.push_back({.demand = Demand(pool.system),
                             .copies = Demand(pool.system),
                             .held = std::vector<std::int64_t>(pool.system.tier_names().size()),
                             .held_shared = std::vector<std::int64_t>(pool.shared_tiers.size())});
    for (std::int64_t i = 0; i < pool.replicas.count; ++i)
      replicas_.push_back(std::make_unique<Replica>(pool, pool.replicas.first + i,
                                                    hands_over && replicas_.size() < prefilling_,
                                                    sink, totals_));
  }
}

void Server::start() {
  for (const auto& replica : replicas_) parts_.engine.spawn(replica->serve());
  if (!Fleet::is_needed(parts_.config.server)) return;
  fleet_.emplace(parts_, replicas_,
                 Fleet::Hooks{.came_up = [this] { place_homeless(); },
                              .requests = [this] { return present_; }});
  fleet_->start();
}

void Server::admit() {
  if (!std::exchange(admits_, true)) parts_.engine.spawn(arrivals());
}

Expected<ServingTotals> Server::finish() {
  parts_.engine.run();
  parts_.engine.end_processes();
  if (problem_) return Unexpected(*problem_);
  // Every request has left, and no replica holds blocks.
  TS_ENSURES(present_ == 0, present_);
  for (const auto& replica : replicas_) {
    replica->end_pauses();
    const Scheduler& s = replica->scheduler();
    TS_ENSURES(s.blocks_used() == 0 && s.swapped() == 0, s.blocks_used(), s.swapped());
    TS_ENSURES(s.running() == 0 && s.waiting() == 0, s.running(), s.waiting());
  }
  const auto moved = [&](MoveKind kind) {
    return totals_.moved_bytes[static_cast<std::size_t>(kind)];
  };
  TS_ENSURES(moved(MoveKind::swap_out) == moved(MoveKind::swap_in), moved(MoveKind::swap_out),
             moved(MoveKind::swap_in));
  return totals_;
}

// Only the next request is pending at any time. It comes before all else at its instant, so that
// its place there does not depend on the time at which the source gave it out.
Process Server::arrivals() {
  while (std::optional<Request> next = source_.next()) {
    if (next->arrival > parts_.engine.now())
      co_await parts_.engine.until(next->arrival, Lane::urgent);
    if (problem_) co_return;
    arrive(*std::move(next));
  }
  admits_ = false;
}

Process Server::arrive_later(Request request, std::optional<Duration> prefetch) {
  const SimTime now = parts_.engine.now();
  if (prefetch && request.arrival > now) {
    if (request.arrival - now > *prefetch)
      co_await parts_.engine.until(request.arrival - *prefetch);
    if (!problem_) holder_of(request).prefetch(request);
  }
  if (request.arrival > parts_.engine.now()) co_await parts_.engine.until(request.arrival);
  --coming_;
  if (!problem_) arrive(std::move(request));
}

void Server::arrive(Request request) {
  if (auto problem = problem_of(request)) return stop(*std::move(problem));
  totals_.most_blocks =
      std::max(totals_.most_blocks, replicas_.back()->scheduler().most_blocks_of(request));
  if (request.session.begins()) parts_.observer.on_session(parts_.engine.now());
  parts_.observer.on_arrival(parts_.engine.now());
  std::size_t slot = sequences_.size();
  if (free_.empty()) {
    sequences_.push_back(nullptr);
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  ++present_;
  sequences_[slot] = std::make_unique<Sequence>();
  Sequence& s = *sequences_[slot];
  s.slot = slot;
  s.request = std::move(request);
  place(s);
}

void Server::place(Sequence& s) {
  if (fleet_ && !fleet_->has_any_up())
    homeless_.push_back(&s);
  else
    route(s.request, 0, prefilling_, turn_).receive(s);
}

void Server::place_homeless() {
  for (Sequence* s : std::exchange(homeless_, {})) place(*s);
}

void Server::stop(std::string problem) {
  if (!problem_) problem_ = std::move(problem);
  if (fleet_) fleet_->end();
}

std::optional<std::string> Server::problem_of(const Request& request) const {
  if (pools_.size() == 1)
    return problem_of(request, request.output_tokens, parts_, replicas_.front()->scheduler());
  auto problem = problem_of(request, 1, parts_, replicas_.front()->scheduler());
  if (problem) return "prefill: " + *problem;
  return problem_of(request, request.output_tokens, pools_.back(), replicas_.back()->scheduler());
}

// `tokens`: those of the answer that the pool gives.
std::optional<std::string> Server::problem_of(const Request& request, std::int64_t tokens,
                                              const ServingParts& pool,
                                              const Scheduler& scheduler) const {
  const std::int64_t blocks =
      scheduler.most_blocks_of({.input_tokens = request.input_tokens, .output_tokens = tokens});
  const BlockLimits& limits = scheduler.limits();
  const std::int64_t pools = pool.layout.pools;
  if (blocks > limits.blocks / pools)
    return fmt::format(
        "request {} of {} input and {} output tokens needs {} blocks of {} positions, and a {} "
        "has {}",
        request.id, request.input_tokens, request.output_tokens, blocks, limits.block,
        pools > 1 ? "GPU" : "replica", limits.blocks / pools);
  const SchedulerConfig& c = pool.config.server.scheduler;
  const bool reads = pool.sender == nullptr;
  if (reads && c.policy != SchedulerPolicy::chunked && request.input_tokens > c.max_batched_tokens)
    return fmt::format(
        "request {} has {} input tokens, and an iteration reads at most {} (policy {} reads "
        "prompts "
        "whole)",
        request.id, request.input_tokens, c.max_batched_tokens,
        kSchedulerPolicyNames[static_cast<std::size_t>(c.policy)]);
  return std::nullopt;
}

void Server::ended(Sequence& s) {
  parts_.observer.on_finish({.id = s.request.id,
                             .arrival = s.request.arrival,
                             .started = s.started,
                             .first_token = s.first_token,
                             .finished = s.last_token,
                             .input_tokens = s.request.input_tokens,
                             .output_tokens = s.generated,
                             .cached_tokens = s.cached_tokens,
                             .cached_in = s.cached_in,
                             .load_time = s.load_time,
                             .declined_tokens = s.declined_tokens,
                             .preemptions = s.preemptions,
                             .restarts = s.restarts,
                             .session = s.request.session,
                             .priority = s.request.priority});
  TS_ENSURES(s.generated == s.request.output_tokens, s.generated, s.request.output_tokens);
  if (s.request.session.end != SessionEnd::none) homes_.erase(s.request.session.session);
  source_.after_completion(s.request, parts_.engine.now(), released_);
  std::optional<Duration> early;
  const auto& prefixes = parts_.config.server.prefix_cache;
  if (prefixes && prefixes->prefetch && s.request.session.pause == SessionPause::tool &&
      prefixes->prefetch->before_tool_ends > Duration{})
    early = prefixes->prefetch->before_tool_ends;
  --present_;  // from here on the sequence may be gone
  retired_.push_back(s.slot);
  std::erase_if(retired_, [&](std::size_t slot) {
    if (sequences_[slot]->runs) return false;
    sequences_[slot].reset();
    free_.push_back(slot);
    return true;
  });
  coming_ += std::ssize(released_);
  for (Request& next : released_) parts_.engine.spawn(arrive_later(std::move(next), early));
  released_.clear();
  if (!fleet_) return;
  fleet_->left();
  if (present_ == 0 && coming_ == 0 && !admits_) fleet_->end();
}

void Server::prefilled(Sequence& s) {
  if (s.destination >= 0) return replicas_[static_cast<std::size_t>(s.destination)]->submit(s);
  route(s.request, prefilling_, replicas_.size(), decode_turn_).submit(s);
}

// The replica that has most of the prompt, which routing by prefix would choose now, or that of the
// session.
Replica& Server::holder_of(const Request& request) {
  if (const auto home = homes_.find(request.session.session); home != homes_.end())
    return *replicas_[home->second];
  Replica* out = replicas_.front().get();
  for (std::size_t i = 1; i < prefilling_; ++i)
    if (replicas_[i]->cached_prefix(request) > out->cached_prefix(request))
      out = replicas_[i].get();
  return *out;
}

Replica& Server::route(const Request& request, std::size_t begin, std::size_t end,
                       std::size_t& turn) {
  // A session's cache lies on a replica that reads prompts. The replicas that receive requests keep
  // none of it, so any of them will do.
  if (parts_.config.server.routing != Routing::session || begin > 0 || request.session.session < 0)
    return least_loaded(request, begin, end, turn);
  const auto home = homes_.find(request.session.session);
  if (home != homes_.end() && (!fleet_ || fleet_->is_up(home->second)))
    return *replicas_[home->second];
  Replica& chosen = least_loaded(request, begin, end, turn);
  const auto at = std::ranges::find(replicas_, &chosen, &std::unique_ptr<Replica>::get);
  homes_[request.session.session] = static_cast<std::size_t>(at - replicas_.begin());
  return chosen;
}

Replica& Server::least_loaded(const Request& request, std::size_t begin, std::size_t end,
                              std::size_t& turn) {
  const auto count = end - begin;
  const std::size_t first = turn++ % count;  // ties are broken in turn
  const Routing routing = parts_.config.server.routing;
  // Where the fleet changes, one of them is up.
  const auto serves = [&](std::size_t at) { return !fleet_ || fleet_->is_up(at); };
  std::size_t next = 0;
  while (next < count && !serves(begin + (first + next) % count)) ++next;
  TS_EXPECTS(next < count, next, count);
  std::size_t best = begin + (first + next) % count;
  if (routing == Routing::round_robin || count == 1) return *replicas_[best];
  const auto better = [&](Replica& a, Replica& b) {
    if (routing == Routing::fewest_tokens) return a.tokens() < b.tokens();
    if (routing == Routing::prefix) {
      const std::int64_t there = a.cached_prefix(request);
      const std::int64_t here = b.cached_prefix(request);
      if (there != here) return there > here;
    }
    return a.requests() < b.requests();
  };
  for (std::size_t i = next + 1; i < count; ++i) {
    const std::size_t at = begin + (first + i) % count;
    if (serves(at) && better(*replicas_[at], *replicas_[best])) best = at;
  }
  return *replicas_[best];
}

}  // namespace tiersim
