#include "sim/sweep/search_run.hpp"

#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/sweep/search.hpp"
#include "sim/sweep/sweep_session.hpp"

namespace tiersim {
namespace {

class SearchRun {
 public:
  SearchRun(SweepPlan& plan, SweepStore& store, SweepSession& session)
      : plan_(plan), store_(store), session_(session) {}

  // Runs those of the points that are not in the store; false if the run ends before them.
  bool run(const std::vector<SpacePoint>& points, const std::vector<bool>& is_done) {
    // All files first: workers read the documents that prepare() adds, and now all of them are
    // idle.
    std::vector<const SpacePoint*> ready;
    for (const SpacePoint& point : points) {
      if (is_at(is_done, point.position)) continue;
      Diagnostics diagnostics;
      if (plan_.prepare(point, diagnostics))
        ready.push_back(&point);
      else
        session_.store_failure(point, diagnostics);
    }
    add_inputs();
    for (const SpacePoint* point : ready) {
      if (session_.ending() || !session_.pool().push(*point)) break;
      if (++waiting_ == WorkerPool::kMostWaiting / 2) store_all();
    }
    store_all();
    return !session_.ending();
  }

  SearchResult result_of(const SpacePoint& point) {
    const auto outcome = store_.result(plan_.sweep(), store_.id_of(plan_.sweep(), point.position));
    TS_EXPECTS(outcome.has_value(), point.position);
    if (outcome->status != PointStatus::ok) return {};
    const auto record = read_results(outcome->results);
    TS_EXPECTS(record.has_value(), outcome->results);
    return plan_.objectives().result_of(point, record->metrics);
  }

 private:
  void store_all() {
    while (waiting_ > 0) {
      const std::size_t stored = session_.store_some();
      if (stored == 0) return;  // the run is ending
      waiting_ -= stored;
    }
  }
  static bool is_at(const std::vector<bool>& all, std::int64_t position) {
    return std::cmp_less(position, all.size()) && all[static_cast<std::size_t>(position)];
  }
  // Stores the files that prepare() has just read.
  void add_inputs() {
    const std::size_t count = plan_.loader().documents().size();
    if (count == inputs_) return;
    inputs_ = count;
    for (const auto& [files, text] : plan_.inputs())
      store_.add_input(plan_.sweep().sweep, files, text);
  }

  SweepPlan& plan_;
  SweepStore& store_;
  SweepSession& session_;
  std::size_t waiting_ = 0;
  std::size_t inputs_ = 0;
};

}  // namespace

SweepOutcome run_search(SweepPlan& plan, SweepStore& store, const SweepOptions& options,
                        const std::atomic<bool>& stop, const OnProgress& progress) {
  const SweepSearch& settings = *plan.config().search;
  std::vector<bool> is_done(static_cast<std::size_t>(settings.budget));
  std::int64_t before = 0;
  store.done(plan.sweep().sweep, !options.retry_failed, [&](std::int64_t position) {
    is_done[static_cast<std::size_t>(position)] = true;
    ++before;
  });
  SweepSession session(plan, store, options, stop, progress);
  session.set_before(settings.budget, before);
  SearchRun run(plan, store, session);
  Search search(plan.space(), settings, plan.objectives().directions());
  SweepOutcome& outcome = session.outcome();
  for (std::vector<SpacePoint> points = search.next(); !points.empty(); points = search.next()) {
    if (!run.run(points, is_done)) return outcome;
    for (const SpacePoint& point : points) search.tell(point.position, run.result_of(point));
  }
  store.set_points(plan.sweep().sweep, search.chosen());
  outcome.progress.points = search.chosen();
  outcome.complete = true;
  return outcome;
}

}  // namespace tiersim
