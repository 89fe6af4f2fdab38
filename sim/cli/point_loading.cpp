// load_points() of point_sources.hpp.
#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "reports/points/point_values.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/point_choice.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/stored_points.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/record/record_reader.hpp"
#include "sim/runner/load.hpp"
#include "sim/study/solve_run.hpp"
#include "sim/sweep/evaluate.hpp"
#include "sim/sweep/metric_magnitude.hpp"
#include "sim/sweep/objectives.hpp"
#include "sim/sweep/sweep_plan.hpp"

namespace tiersim::cli {
namespace {

[[noreturn]] void fail(const std::string& text) {
  throw Failure(ExitCode::usage, printable("tiersim: error: " + text));
}

// Collects points while they are read, with labels by the name of their column.
class TableBuilder {
 public:
  explicit TableBuilder(const SourceOptions& options) : options_(options) {
    table_.source = join(options.sources);
    named_ = options.sources.size() > 1;
  }

  void add_configuration(const std::string& file, PointRunner& runner, Evaluation evaluation) {
    const PointResult result = run_point(runner, {file, options_.set}, evaluation);
    ReportPoint point{.rerun = run_command(file, options_.set),
                      .record = result.record,
                      .problem = result.problem};
    if (result.record) point.run_id = result.record->run_id;
    named_ = any_configuration_ = true;
    add(std::move(point), {{{"configuration"}, result.record ? result.record->name : file}});
  }

  void add_record(const std::string& file) {
    auto record = read_record(read_file(file));
    if (!record)
      throw Failure(ExitCode::bad_config,
                    printable(fmt::format("{}:1:1: error: {}", file, record.error())));
    ReportPoint point{.run_id = record->run_id, .rerun = "tiersim rerun " + shell_word(file)};
    std::string name = record->name.empty() ? file : record->name;
    point.record = std::make_shared<const RunRecord>(*std::move(record));
    named_ = true;
    add(std::move(point), {{{"configuration"}, name}});
  }

  void add_store(const std::string& file) {
    SweepStore store(file, SweepStore::Access::read);
    const StoredSweep sweep = sweep_in(store, options_.sweep);
    of_one_store_ = options_.sources.size() == 1;
    any_store_ = true;
    if (table_.title.empty()) table_.title = sweep.name;
    const SweepConfig config = config_of(sweep);
    table_.chosen = table_.chosen || config.sample || config.search;
    last_sweep_ = store.sweeps().back().sweep;
    std::int64_t there = 0;
    PointLoader loader(standard_options());
    if (options_.configurations) adopt_inputs(loader, store.inputs(sweep.sweep));
    if (of_one_store_) add_aims(config);
    if (of_one_store_) add_questions(config, sweep);
    if (options_.metrics) keep_metrics();
    if (of_one_store_ && options_.points_max > 0 &&
        sweep.points.value_or(0) > static_cast<std::int64_t>(options_.points_max)) {
      there = add_part(file, store, sweep, config);
    } else {
      store.for_each(sweep, [&](const StoredPoint& point) {
        add_stored(file, sweep, point, loader);
        add_slos(store, sweep, point);
        ++there;
        return true;
      });
    }
    const std::int64_t missing = sweep.points.value_or(there) - there;
    table_.missing += missing;
    if (missing > 0)
      fmt::print(stderr, "tiersim: {} points of '{}' in '{}' have no result yet\n", missing,
                 printable(sweep.name), printable(file));
  }

  // Adds one point of a store by its name.
  void add_stored(const StoredPointName& name) {
    SweepStore store(name.store, SweepStore::Access::read);
    const FoundPoint found = find_point(store, name);
    last_sweep_ = store.sweeps().back().sweep;
    PointLoader loader(standard_options());
    if (options_.configurations) adopt_inputs(loader, store.inputs(found.sweep.sweep));
    add_stored(name.store.string(), found.sweep, found.point, loader);
  }

  PointTable take() {
    if (!options_.set.empty() && !any_configuration_)
      fail("--set is for configurations; stores and records are as they were run");
    if (!options_.sweep.empty() && !any_store_) fail("--sweep is for stores");
    for (ReportPoint& point : table_.points) point.labels.resize(table_.columns.size());
    keep_where();
    judge();
    if (options_.limits) add_limits();
    return std::move(table_);
  }

 private:
  ReportPoint report_point(const std::string& file, const StoredSweep& sweep,
                           const StoredPoint& stored, const PointLoader& loader) {
    const PointOutcome& outcome = stored.outcome;
    ReportPoint point{.position = stored.point.position,
                      .run_id = outcome.id,
                      .rerun = "tiersim rerun " + shell_word(name_of(file, sweep, stored)),
                      .problem = outcome.problem,
                      .failed = outcome.status == PointStatus::error};
    if (outcome.status == PointStatus::ok) {
      auto record = read_results(outcome.results);
      if (!record)
        fail(fmt::format("{}: point {}: {}", file, stored.point.position, record.error()));
      RunRecord whole = options_.metrics ? kept_part(*record) : *std::move(record);
      whole.run_id = outcome.id;
      whole.tiersim_version = sweep.version;
      if (!outcome.answer.empty()) add_answer(outcome.answer, whole, point);
      if (options_.configurations)
        whole.config = configuration_json(read_point(loader, point_of(stored.point)));
      point.record = std::make_shared<const RunRecord>(std::move(whole));
    }
    return point;
  }

  void add_answer(const std::string& json, RunRecord& record, ReportPoint& point) {
    auto answer = read_break_even(json);
    if (!answer) fail(answer.error());
    for (auto& [name, metric] : break_even_metrics(*answer))
      if (!options_.metrics || kept_.contains(name))
        record.metrics.emplace(name, std::move(metric));
      else
        table_.left_out.insert(name);
    point.answer = *std::move(answer);
  }

  void add_stored(const std::string& file, const StoredSweep& sweep, const StoredPoint& stored,
                  const PointLoader& loader) {
    ReportPoint point = report_point(file, sweep, stored, loader);
    std::vector<std::pair<PointColumn, std::string>> labels;
    if (named_) labels.push_back({{"configuration"}, sweep.name});
    for (std::size_t i = 0; i < sweep.columns.size(); ++i) {
      const SpaceColumn& column = sweep.columns[i];
      labels.push_back({{column.name, column.key, column.numeric}, stored.point.labels[i]});
    }
    add(std::move(point), labels);
  }

  // Adds about `points_max` points, chosen in a first reading of all; returns the number of all.
  std::int64_t add_part(const std::string& file, SweepStore& store, const StoredSweep& sweep,
                        const SweepConfig& config) {
    PointChoice::Question question{.most = options_.points_max,
                                   .sampled = table_.chosen,
                                   .constrained = !table_.constraints.empty()};
    for (const SpaceColumn& column : sweep.columns) {
      question.columns.push_back({column.name, column.key, column.numeric});
      question.follows.push_back(follows(config, column.name));
    }
    question.besides = options_.besides;
    const bool no_front = question.besides == PointChoice::Besides::none;
    if (!table_.objectives.empty() && !no_front)
      question.fronts = {table_.objectives};
    else if (!no_front)
      for (const auto& pair : usual_objectives())
        question.fronts.emplace_back(pair.begin(), pair.end());
    table_.columns = question.columns;
    PointChoice choice(std::move(question));
    const std::vector<Expression> conditions = parsed_where();
    const std::vector<Constraint> constraints = parsed_constraints();
    const PointLoader no_loader(standard_options());
    std::int64_t there = 0;
    store.for_each(sweep, [&](const StoredPoint& stored) {
      ++there;
      add_slos(store, sweep, stored);
      ReportPoint point = report_point(file, sweep, stored, no_loader);
      point.labels = stored.point.labels;
      if (meets(conditions, point)) choice.add(point, is_feasible(constraints, point));
      return true;
    });
    choice.close();
    store.for_each(
        sweep, [&](const SpacePoint& point) { return choice.takes(point.position, point.labels); },
        [&](const StoredPoint& point) {
          add_stored(file, sweep, point, no_loader);
          return true;
        });
    if (!choice.takes_all()) table_.whole = choice.whole();
    return there;
  }

  // True for a column whose values follow from those of others: a derived one, or a further one of
  // axes that move together.
  static bool follows(const SweepConfig& config, const std::string& name) {
    const auto has = [&](const std::vector<SweepAxisGroup>& groups,
                         const std::vector<SweepDerived>& derived) {
      if (std::ranges::find(derived, name, &SweepDerived::name) != derived.end()) return true;
      return std::ranges::any_of(groups, [&](const SweepAxisGroup& group) {
        for (std::size_t i = 1; i < group.zip.size(); ++i)
          if (axis_name(group.zip[i]) == name) return true;
        return false;
      });
    };
    if (has(config.axes, config.derived)) return true;
    return std::ranges::any_of(config.grids,
                               [&](const SweepGrid& grid) { return has(grid.axes, grid.derived); });
  }

  // The name that `rerun` and `compare` accept: positions are those of the last sweep.
  std::string name_of(const std::string& file, const StoredSweep& sweep,
                      const StoredPoint& point) const {
    constexpr std::size_t kDigits = 16;
    return file + ':' +
           (sweep.sweep == last_sweep_ ? fmt::to_string(point.point.position)
                                       : point.outcome.id.substr(0, kDigits));
  }

  void add(ReportPoint point, const std::vector<std::pair<PointColumn, std::string>>& labels) {
    for (const auto& [column, label] : labels) {
      const auto it = std::ranges::find(table_.columns, column.name, &PointColumn::name);
      const auto at = static_cast<std::size_t>(it - table_.columns.begin());
      if (it == table_.columns.end()) table_.columns.push_back(column);
      if (point.labels.size() <= at) point.labels.resize(at + 1);
      point.labels[at] = label;
    }
    // With a single store, points keep its positions, by which `rerun` and `compare` find them.
    if (!of_one_store_) point.position = static_cast<std::int64_t>(table_.points.size());
    table_.points.push_back(std::move(point));
  }

  static SweepConfig config_of(const StoredSweep& sweep) {
    Diagnostics diagnostics;
    const Document document = load_text(sweep.spec, sweep.file, {}, diagnostics);
    auto config = read<SweepConfig>(document, "sweep", diagnostics);
    throw_if_any(diagnostics);
    return config;
  }

  // Adds the sweep's goals, for reports that use them.
  void add_aims(const SweepConfig& config) {
    for (const SweepObjective& objective : config.objectives) {
      const bool maximize = !objective.maximize.empty();
      const auto metric = resolve_metric(maximize ? objective.maximize : objective.minimize);
      if (metric) table_.objectives.push_back({*metric, maximize});
    }
    if (!options_.objectives.empty()) table_.objectives = options_.objectives;
    table_.constraints = config.subject_to;
  }

  // The questions that the SPEC asks of all points, for pages.
  void add_questions(const SweepConfig& config, const StoredSweep& sweep) {
    if (config.break_even) {
      const bool maximize = !config.break_even->maximize.empty();
      const auto metric =
          resolve_metric(maximize ? config.break_even->maximize : config.break_even->minimize);
      if (metric) table_.break_even = BreakEvenText{config.break_even->key, *metric, maximize};
    }
    if (!config.summary || table_.objectives.empty()) return;
    const auto column = [&](const std::string& name) {
      return static_cast<std::size_t>(std::ranges::find(sweep.columns, name, &SpaceColumn::name) -
                                      sweep.columns.begin());
    };
    BestQuestion out{.best = column(config.summary->best)};
    for (const std::string& axis : config.summary->by) out.by.push_back(column(axis));
    table_.summary = std::move(out);
  }

  // Finds the metrics that records keep.
  void keep_metrics() {
    kept_.insert(options_.metrics->begin(), options_.metrics->end());
    for (const ReportObjective& objective : options_.objectives) kept_.insert(objective.metric);
    for (const ReportObjective& objective : table_.objectives) kept_.insert(objective.metric);
    std::vector<std::string> conditions = options_.where;
    conditions.insert(conditions.end(), table_.constraints.begin(), table_.constraints.end());
    for (const std::string& text : conditions)
      if (const auto condition = Expression::parse(text))
        for (const std::string& name : condition->names())
          if (auto metric = resolve_metric(name)) kept_.insert(*std::move(metric));
  }

  // A store of 10,000 whole records would take 100 MB.
  RunRecord kept_part(const RunRecord& record) {
    RunRecord out;
    for (const auto& [name, metric] : record.metrics)
      if (kept_.contains(name))
        out.metrics.emplace(name, metric);
      else
        table_.left_out.insert(name);
    return out;
  }

  // The value of a name in an expression: an axis, else a metric of the record.
  std::optional<ExpressionValue> value_of(const ReportPoint& point, std::string_view name) const {
    for (std::size_t i = 0; i < table_.columns.size(); ++i)
      if (table_.columns[i].name == name)
        return point.labels[i].empty() ? std::nullopt
                                       : std::optional(expression_value(point.labels[i]));
    const auto metric = resolve_metric(std::string(name));
    if (!metric || !point.record) return std::nullopt;
    const auto it = point.record->metrics.find(*metric);
    if (it == point.record->metrics.end()) return std::nullopt;
    return metric_magnitude(*metric, it->second.value);
  }

  // The conditions of --where, with names that there are. The columns are known.
  std::vector<Expression> parsed_where() const {
    std::vector<Expression> out;
    for (const std::string& text : options_.where) {
      auto condition = Expression::parse(text);
      if (!condition) fail_at(text, condition.error());
      for (const std::string& name : condition->names()) expect_name(text, name);
      out.push_back(*std::move(condition));
    }
    return out;
  }

  // A point without a value (it did not run) does not meet a condition on it.
  bool meets(const std::vector<Expression>& conditions, const ReportPoint& point) const {
    const auto lookup = [&](std::string_view name) { return value_of(point, name); };
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      const std::string& text = options_.where[i];
      if (!std::ranges::all_of(conditions[i].names(),
                               [&](const std::string& name) { return lookup(name).has_value(); }))
        return false;
      const auto value = conditions[i].evaluate(lookup);
      if (!value) fail_at(text, value.error());
      const bool* holds = std::get_if<bool>(&*value);
      if (holds == nullptr) fail(fmt::format("--where: '{}' is no condition", text));
      if (!*holds) return false;
    }
    return true;
  }

  void keep_where() {
    const std::size_t before = table_.points.size();
    const std::vector<Expression> conditions = parsed_where();
    std::erase_if(table_.points,
                  [&](const ReportPoint& point) { return !meets(conditions, point); });
    if (table_.points.empty() && before > 0)
      fail(fmt::format("--where: {} leaves none of {} points",
                       "'" + fmt::format("{}", fmt::join(options_.where, "', '")) + "'", before));
  }

  void expect_name(const std::string& text, const std::string& name) const {
    std::vector<std::string> columns;
    for (const PointColumn& column : table_.columns) columns.push_back(column.name);
    if (std::ranges::find(columns, name) != columns.end()) return;
    if (const auto metric = resolve_metric(name); !metric)
      fail(fmt::format("--where: '{}': '{}' is no axis ({}), and {}", text, name, join(columns),
                       metric.error()));
  }

  [[noreturn]] static void fail_at(const std::string& text, const ExpressionError& error) {
    fail(fmt::format("--where: '{}', character {}: {}{}", text, error.offset + 1, error.message,
                     error.hint.empty() ? "" : " (" + error.hint + ')'));
  }

  std::vector<Constraint> parsed_constraints() const {
    std::vector<Constraint> out;
    for (const std::string& text : table_.constraints)
      if (auto constraint = Constraint::parse(text)) out.push_back(*std::move(constraint));
    return out;
  }

  bool is_feasible(const std::vector<Constraint>& constraints, const ReportPoint& point) const {
    const auto lookup = [&](std::string_view name) { return value_of(point, name); };
    return point.record && std::ranges::all_of(constraints, [&](const Constraint& constraint) {
             return constraint.violation(lookup) == 0;
           });
  }

  void judge() {
    if (table_.constraints.empty()) return;
    const std::vector<Constraint> constraints = parsed_constraints();
    for (const ReportPoint& point : table_.points)
      table_.feasible.push_back(is_feasible(constraints, point));
  }

  // Adds the limits of a stored server, which its results do not hold. Points of one scenario with
  // the same settings of `measure` have the same ones.
  void add_slos(SweepStore& store, const StoredSweep& sweep, const StoredPoint& stored) {
    if (!options_.limits) return;
    std::string key = stored.point.scenario;
    for (const std::string& setting : stored.point.set)
      if (setting.starts_with("measure.")) key += '\n' + setting;
    if (!with_limits_.insert(std::move(key)).second) return;
    PointLoader loader(standard_options());
    adopt_inputs(loader, store.inputs(sweep.sweep));
    const ReadPoint point = read_point(loader, point_of(stored.point));
    if (const auto* server = point.config ? std::get_if<ServingConfig>(&*point.config) : nullptr)
      add_slos(server->measure);
  }

  void add_slos(const MeasureConfig& measure) {
    if (measure.slo_ttft)
      table_.limits.push_back(
          {"ttft_s", to_seconds(*measure.slo_ttft), "SLO", "slo_ttft of the server"});
    if (measure.slo_tpot)
      table_.limits.push_back(
          {"tpot_s", to_seconds(*measure.slo_tpot), "SLO", "slo_tpot of the server"});
  }

  // Adds the limits that constraints state for a metric alone.
  void add_limits() {
    for (const Constraint& constraint : parsed_constraints())
      for (const std::string& name : constraint.whole().names())
        if (const auto metric = resolve_metric(name))
          if (const auto limit = constraint.limit_of(*metric))
            table_.limits.push_back(
                {*metric, limit->value, "limit",
                 fmt::format("the sweep is subject to '{}'", constraint.whole().text())});
  }

  const SourceOptions& options_;
  PointTable table_;
  std::set<std::string> with_limits_;  // scenarios and settings whose limits are known
  std::set<std::string> kept_;         // metrics, where options_.metrics is there
  bool of_one_store_ = false;
  std::int64_t last_sweep_ = 0;  // of the store being read
  bool named_ = false;
  bool any_configuration_ = false;
  bool any_store_ = false;
};

bool is_json(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;  // a pipe would lose its data
  std::ifstream in(file, std::ios::binary);
  char first = 0;
  return in >> first && first == '{';
}

}  // namespace

PointTable load_points(const SourceOptions& options, Evaluation evaluation) {
  TableBuilder builder(options);
  PointRunner runner(standard_options());
  for (const std::string& source : options.sources) {
    if (const auto name = stored_point_name(source)) {
      builder.add_stored(*name);
    } else if (SweepStore::is_store(source)) {
      builder.add_store(source);
    } else if (is_json(source)) {
      builder.add_record(source);
    } else {
      builder.add_configuration(source, runner, evaluation);
    }
  }
  return builder.take();
}

}  // namespace tiersim::cli
