#pragma once
// All that a worker does for a point of a sweep: reading it, its run, and the answer to the
// question of break-even, if the SPEC asks one.
#include <functional>
#include <optional>
#include <string>

#include "sim/sweep/break_even.hpp"
#include "sim/sweep/evaluate.hpp"
#include "sim/sweep/point_reader.hpp"
#include "sim/sweep/sweep_plan.hpp"

namespace tiersim {

class PointEvaluator {
 public:
  /// The plan outlives the evaluator, of which each thread has one.
  explicit PointEvaluator(SweepPlan& plan)
      : reading_(plan.config().reading), keep_(plan.config().keep), reader_(plan.loader()) {
    if (plan.break_even() != nullptr) solver_.emplace(plan.loader(), *plan.break_even(), reading_);
  }

  /// The results are empty for a configuration that `claim` refuses, since another point has it.
  /// Each point has an answer of its own, since its reference is another one's.
  PointOutcome outcome(const SpacePoint& point,
                       const std::function<bool(const std::string& id)>& claim) {
    const ReadPoint& read = reader_.read(point.scenario, point.set);
    const bool is_claimed = claim(read.id);
    PointOutcome out = is_claimed ? evaluate(read, reading_, keep_)
                                  : PointOutcome{.id = read.id, .status = PointStatus::ok};
    if (!solver_ || !solver_->is_asked(point)) return out;
    const PointStatus status =
        is_claimed ? out.status : evaluate(read, SweepReading::analytic, SweepKeep::metrics).status;
    if (status == PointStatus::ok) out.answer = solver_->answer(point);
    return out;
  }

 private:
  SweepReading reading_;
  SweepKeep keep_;
  PointReader reader_;
  std::optional<BreakEvenSolver> solver_;
};

}  // namespace tiersim
