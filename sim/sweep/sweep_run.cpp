#include "sim/sweep/sweep_run.hpp"

#include <exception>
#include <thread>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/sweep/search_run.hpp"
#include "sim/sweep/sweep_session.hpp"

namespace tiersim {
namespace {

// Pushes the unfinished points of the shard or the claims, until the run ends.
void produce(const SweepPlan& plan, const SweepOptions& options, const std::vector<bool>& is_done,
             SweepSession& session) {
  PointRange range{0, options.claims == nullptr ? *plan.sweep().points : 0};
  const auto problem = plan.space().for_each([&](const SpacePoint& point) {
    if (session.ending()) return false;
    if (point.position >= range.end) {
      // Points that others could run meanwhile are not claimed in advance.
      if (!session.pool().wait_for_few(options.threads / 2)) return false;
      const std::optional<PointRange> next = options.claims->next();
      if (!next) return false;
      range = *next;
    }
    if (point.position < range.first) return true;
    if (!options.shard.contains(point.position)) return true;
    if (is_done[static_cast<std::size_t>(point.position)]) return true;
    return session.pool().push(point);
  });
  TS_EXPECTS(!problem, problem->text());  // the plan has visited all points before
  if (session.ending()) session.pool().stop();
  session.pool().close();
}

SweepOutcome run_grid(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                      const std::atomic<bool>& stop, const OnProgress& progress) {
  const std::int64_t all = *plan.sweep().points;
  std::vector<bool> is_done(static_cast<std::size_t>(all));
  std::int64_t before = 0;
  const auto mark = [&](std::int64_t position) {
    auto done = is_done[static_cast<std::size_t>(position)];
    if (!done && options.shard.contains(position)) ++before;
    done = true;
  };
  // A store of claims has no failures but those of this run.
  store.done(plan.sweep().sweep, options.claims != nullptr || !options.retry_failed, mark);
  if (options.known != nullptr)
    if (const auto there = options.known->find(plan.sweep().digest))
      options.known->done(there->sweep, !options.retry_failed, mark);
  SweepSession session(plan, store, options, stop, progress);
  session.set_before(options.shard.points(all), before);
  std::exception_ptr thrown;
  std::jthread producer([&] {
    try {
      produce(plan, options, is_done, session);
    } catch (...) {
      thrown = std::current_exception();
      session.pool().stop();
    }
  });
  try {
    while (session.store_some()) {
    }
  } catch (...) {
    session.pool().stop();  // otherwise the producer would wait for room
    throw;
  }
  producer.join();
  if (thrown) std::rethrow_exception(thrown);
  SweepOutcome& outcome = session.outcome();
  outcome.complete = options.claims != nullptr
                         ? !session.ending()
                         : outcome.progress.finished == outcome.progress.points;
  return outcome;
}

}  // namespace

SweepOutcome run_sweep(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                       const std::atomic<bool>& stop, const OnProgress& progress) {
  SweepOutcome outcome = plan.config().search ? run_search(plan, store, options, stop, progress)
                                              : run_grid(plan, store, options, stop, progress);
  store.end_writing();
  return outcome;
}

}  // namespace tiersim
