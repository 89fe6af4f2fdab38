#include "sim/serving/fleet.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/engine.hpp"

namespace tiersim {

Fleet::Fleet(ServingParts& parts, std::span<const std::unique_ptr<Replica>> replicas, Hooks hooks)
    : parts_(parts), replicas_(replicas), hooks_(std::move(hooks)) {
  const auto& scaling = parts.config.server.scaling;
  const std::int64_t serving = scaling ? scaling->min_replicas : std::ssize(replicas);
  states_.resize(replicas.size(), State::off);
  std::fill_n(states_.begin(), std::min(serving, std::ssize(replicas)), State::up);
  up_ = count(State::up);
  failing_.resize(states_.size());
  starting_.resize(states_.size());
  for (std::size_t r = 0; r < states_.size(); ++r)
    times_.emplace_back(static_cast<std::uint64_t>(parts.config.seed),
                        fmt::format("failures of {}", r));
}

void Fleet::start() {
  parts_.observer.on_replicas(parts_.engine.now(), up_);
  if (parts_.config.server.failures)
    for (std::size_t r = 0; r < states_.size(); ++r)
      if (is_up(r)) failing_[r] = parts_.engine.spawn(fail_and_repair(r));
  if (parts_.config.server.scaling) scaling_ = parts_.engine.spawn(scale());
}

void Fleet::end() {
  if (std::exchange(ended_, true)) return;
  for (const auto* waiting : {&failing_, &starting_})
    for (const ProcessRef process : *waiting)
      if (process.alive()) parts_.engine.cancel(process);
  if (scaling_.alive()) parts_.engine.cancel(scaling_);
}

void Fleet::left() {
  for (std::size_t r = 0; r < states_.size(); ++r) {
    if (states_[r] != State::draining || replicas_[r]->requests() > 0) continue;
    replicas_[r]->fail();  // nothing is left to lose but prefixes
    set(r, State::off);
    if (failing_[r].alive()) parts_.engine.cancel(failing_[r]);
  }
}

std::int64_t Fleet::count(State state) const {
  return std::ranges::count(states_, state);
}

void Fleet::set(std::size_t replica, State state) {
  states_[replica] = state;
  const std::int64_t before = std::exchange(up_, count(State::up));
  if (up_ != before) parts_.observer.on_replicas(parts_.engine.now(), up_);
}

// Serves, fails, is repaired, and so on, until it is no longer wanted.
Process Fleet::fail_and_repair(std::size_t replica) {
  const FailuresConfig& failures = *parts_.config.server.failures;
  const auto mean = static_cast<double>(failures.mean_time_between.value.count());
  constexpr double kLongest = 8e18;  // ps, 93 days: what can be counted
  for (;;) {
    const double time = std::min(times_[replica].exponential(mean), kLongest);
    co_await parts_.engine.delay(Duration(std::max<std::int64_t>(1, std::llround(time))));
    set(replica, State::failed);
    replicas_[replica]->fail();
    co_await parts_.engine.delay(failures.repair.value);
    replicas_[replica]->restore();
    set(replica, State::up);
    hooks_.came_up();
  }
}

Process Fleet::scale() {
  for (;;) {
    co_await parts_.engine.delay(parts_.config.server.scaling->interval);
    adjust(wanted());
  }
}

std::int64_t Fleet::wanted() {
  const ScalingConfig& c = *parts_.config.server.scaling;
  const SimTime now = parts_.engine.now();
  const std::int64_t all = std::ssize(states_) - count(State::failed);
  const std::int64_t asked =
      (hooks_.requests() + c.requests_per_replica - 1) / c.requests_per_replica;
  const std::int64_t wish =
      std::min(std::clamp(asked, c.min_replicas, std::max(c.min_replicas, all)), all);
  while (!wishes_.empty() && wishes_.front().first + c.stabilization < now) wishes_.pop_front();
  while (!wishes_.empty() && wishes_.back().second <= wish) wishes_.pop_back();
  wishes_.emplace_back(now, wish);
  return wishes_.front().second;  // they fall from the front to the back
}

void Fleet::adjust(std::int64_t wanted) {
  std::int64_t on = up_ + count(State::starting);
  for (std::size_t r = 0; r < states_.size() && on < wanted; ++r) {
    if (states_[r] == State::draining) {
      set(r, State::up);
      hooks_.came_up();
      ++on;
    }
  }
  for (std::size_t r = 0; r < states_.size() && on < wanted; ++r) {
    if (states_[r] != State::off) continue;
    set(r, State::starting);
    starting_[r] = parts_.engine.spawn(bring_up(r));
    ++on;
  }
  for (std::size_t r = states_.size(); r-- > 0 && up_ > wanted;) {
    if (states_[r] != State::up) continue;
    set(r, State::draining);
  }
  left();
}

Process Fleet::bring_up(std::size_t replica) {
  const ScalingConfig& c = *parts_.config.server.scaling;
  co_await parts_.engine.delay(c.start.value);
  starting_[replica] = {};  // what is being loaded is loaded to its end
  if (c.weights_from) {
    const Process loading = replicas_[replica]->load_weights(*c.weights_from);
    co_await loading;
  }
  if (ended_) co_return;
  replicas_[replica]->restore();
  set(replica, State::up);
  if (parts_.config.server.failures)
    failing_[replica] = parts_.engine.spawn(fail_and_repair(replica));
  hooks_.came_up();
}

}  // namespace tiersim
