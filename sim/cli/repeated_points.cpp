#include "sim/cli/repeated_points.hpp"

#include "sim/runner/runnable.hpp"
#include "sim/sweep/point_reader.hpp"

namespace tiersim::cli {

RunPoint run_repeated_points() {
  return [reader = std::shared_ptr<PointReader>()](
             const PointLoader& loader, const Point& point, Evaluation evaluation,
             Kept kept) mutable -> std::optional<Expected<RunRecord>> {
    if (!reader) reader = std::make_shared<PointReader>(loader);
    const ReadPoint& read = reader->read(point.scenario.string(), point.set);
    if (!read.problem.empty()) return std::nullopt;
    const auto* scenario = std::get_if<ScenarioConfig>(&*read.config);
    if (scenario == nullptr || !read.repeated) return std::nullopt;
    auto run = read.repeated->record(*scenario, evaluation);
    if (!run) return run;
    RunRecord record = *std::move(run);
    record.run_id = read.id;
    if (kept == Kept::configuration) record.config = canonical_json(*scenario);
    return record;
  };
}

}  // namespace tiersim::cli
