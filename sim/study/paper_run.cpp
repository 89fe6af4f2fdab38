#include "sim/study/paper_run.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/record/metrics.hpp"
#include "sim/runner/load.hpp"
#include "sim/study/accuracy_run.hpp"
#include "sim/study/solve_run.hpp"

namespace tiersim {
namespace {

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> out;
  for (const MetricDefinition& metric : kMetrics) out.push_back(metric.name);
  return out;
}

// Checks column names here, because reports see records but not the list of metrics.
class ColumnCheck {
 public:
  ColumnCheck(const Document& document, Diagnostics& diagnostics)
      : document_(document), diagnostics_(diagnostics) {}

  void expect(const std::string& column, const std::string& path) {
    if (column.empty() || is_study_column(column, names_)) return;
    diagnostics_.report(
        {.where = document_.locate(path),
         .message = fmt::format("there is no column '{}'", column),
         .hint = "a metric (`tiersim list metrics`), split, shares, split.<part>, "
                 "share.<part> or a derived column of reports/papers/studies/columns.hpp",
         .path = path});
  }
  void expect(const std::vector<std::string>& columns, const std::string& path) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      expect(columns[i], fmt::format("{}.{}", path, i));
  }
  /// Columns of a study's tables, which may show recall, too.
  void expect_shown(const std::vector<std::string>& columns, const std::string& path) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] != kRecallMetric) expect(columns[i], fmt::format("{}.{}", path, i));
  }

 private:
  const Document& document_;
  Diagnostics& diagnostics_;
  std::vector<std::string_view> names_ = metric_names();
};

void check_columns(const Targets& targets, const Document& document, Diagnostics& diagnostics) {
  ColumnCheck check(document, diagnostics);
  for (std::size_t s = 0; s < targets.studies.size(); ++s) {
    const Study& study = targets.studies[s];
    check.expect_shown(study.columns, fmt::format("studies.{}.columns", s));
    check.expect_shown(study.pivot, fmt::format("studies.{}.pivot", s));
    for (std::size_t c = 0; c < study.checks.size(); ++c) {
      check.expect(study.checks[c].sum, fmt::format("studies.{}.checks.{}.sum", s, c));
      check.expect(study.checks[c].over, fmt::format("studies.{}.checks.{}.over", s, c));
    }
  }
  for (std::size_t q = 0; q < targets.solves.size(); ++q)
    check.expect(targets.solves[q].metric, fmt::format("solves.{}.metric", q));
}

Point point_in_configs(const std::string& scenario, std::vector<std::string> set) {
  return {config_root() / scenario, std::move(set)};
}

// Adds the study's id to mistakes in its settings.
template <class Run>
auto within(const std::string& id, const Run& run) {
  try {
    return run();
  } catch (const Failure& failure) {
    throw Failure(failure.code, fmt::format("{}\ntiersim: in '{}'", failure.what(), id));
  }
}

// Shows the running study or question, on a terminal only.
class Progress {
 public:
  explicit Progress(std::size_t of) : of_(of) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show("\r\x1b[K"); }

  void next(const std::string& id) {
    ++at_;
    show(fmt::format("\r\x1b[Ktiersim: {} of {}, {}", at_, of_, id));
  }

 private:
  void show(const std::string& text) const {
    if (terminal_) fmt::print(stderr, "{}", text);
  }
  std::size_t of_;
  std::size_t at_ = 0;
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

bool shows_recall(const Study& study) {
  return std::ranges::count(study.columns, kRecallMetric) +
             std::ranges::count(study.pivot, kRecallMetric) >
         0;
}

// A configuration is a hundred times as large as the results, and few columns need it.
Kept kept_of(const Study& study, const std::optional<Digest>& digest) {
  std::vector<std::string> columns = expanded(study.columns);
  const auto add = [&](const std::vector<std::string>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  add(study.pivot);
  for (const StudyCheck& check : study.checks) {
    add(check.sum);
    columns.push_back(check.over);
  }
  if (digest)
    for (const DigestColumn& column : digest->columns)
      if (column.of == study.id) columns.push_back(column.column);
  return shows_recall(study) || std::ranges::any_of(columns, reads_configuration)
             ? Kept::configuration
             : Kept::results;
}

// The recall of each point's method beside its speed, where the study shows it.
void add_recall(StudyResult& result) {
  if (!shows_recall(result.study)) return;
  std::vector<const RunRecord*> records;
  for (const StudyRow& row : result.rows) records.push_back(row.record.get());
  const std::vector<Recalled> found = recalled(records);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].value) continue;
    RunRecord with = *result.rows[i].record;
    with.metrics.emplace(kRecallMetric, *found[i].value);
    result.rows[i].record = std::make_shared<const RunRecord>(std::move(with));
  }
}

StudyRow study_row(const Study& study, StudyPoint point, Kept kept, PointRunner& runner) {
  const Point at = point_in_configs(point.scenario, point.set);
  Diagnostics diagnostics;
  PointResult result =
      study.largest_batch
          ? runner.run_largest_batch(at, kept, diagnostics)
          : runner.run(at, study.footprint_only ? Evaluation::accounting : Evaluation::times, kept,
                       diagnostics);
  throw_if_any(diagnostics);
  return {std::move(point), std::move(result.record), std::move(result.problem)};
}

// The target value of a variant's metric.
double target_of(const SolveQuestion& question, const Point& variant, PointRunner& runner) {
  if (!question.equals.empty()) {
    const auto value = metric_value(question.metric, question.equals);
    if (value) return question.times * *value;
    throw Failure(ExitCode::bad_config, "tiersim: error: equals: " + value.error());
  }
  Point other = variant;
  if (!question.equal_to.scenario.empty())
    other = point_in_configs(question.equal_to.scenario, question.set);
  other.set.insert(other.set.end(), question.equal_to.set.begin(), question.equal_to.set.end());
  const PointResult result = run_point(runner, other);
  if (!result.record)
    throw Failure(ExitCode::bad_config, "tiersim: error: the step to equal: " + result.problem);
  return question.times * metric_of(*result.record, question.metric, other);
}

SolveResult solved(const SolveQuestion& question, const VariantLists& lists, PointRunner& runner) {
  std::vector<StudyVariant> variants{{}};
  if (!question.variants.empty()) variants = lists.at(question.variants);
  SolveResult result{.question = question, .answers = {}};
  for (const StudyVariant& variant : variants) {
    const std::string& scenario = variant.scenario.empty() ? question.scenario : variant.scenario;
    Point point = point_in_configs(scenario, question.set);
    point.set.insert(point.set.end(), variant.set.begin(), variant.set.end());
    const auto range =
        range_of(runner, point, question.vary, question.between[0], question.between[1]);
    if (!range) throw Failure(ExitCode::bad_config, "tiersim: error: between: " + range.error());
    const double target = target_of(question, point, runner);
    SolveAnswer& added =
        result.answers.emplace_back(answer(runner, point, *range, question.metric, target));
    added.label = variant.label;
  }
  return result;
}

}  // namespace

Targets load_targets(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  const Document document = load_document(path, standard_options(), diagnostics);
  auto targets = read<Targets>(document, "targets", diagnostics);
  if (diagnostics.ok()) check_columns(targets, document, diagnostics);
  throw_if_any(diagnostics);
  return targets;
}

std::vector<ReproducedRow> reproduce_rows(const Targets& targets, PointRunner& runner) {
  std::vector<PointResult> results;
  for (const TargetRow& row : targets.rows) {
    results.push_back(
        run_point(runner, point_in_configs(row.scenario, row.set), Evaluation::accounting));
    if (!results.back().record)
      throw Failure(ExitCode::bad_config, row.scenario + ": error: " + results.back().problem);
  }
  const auto baseline_of = [&](const TargetRow& row) {
    for (std::size_t i = 0; i < targets.rows.size(); ++i)
      if (targets.rows[i].id == row.baseline && targets.rows[i].reading == row.reading) return i;
    throw Failure(
        ExitCode::bad_config,
        fmt::format("tiersim: error: targets row '{}' has no baseline '{}' in its reading", row.id,
                    row.baseline));
  };
  std::vector<ReproducedRow> out;
  for (std::size_t i = 0; i < targets.rows.size(); ++i) {
    const TargetRow& row = targets.rows[i];
    const std::size_t baseline = row.baseline.empty() ? i : baseline_of(row);
    out.push_back({row, compare(row, *results[i].record, *results[baseline].record)});
  }
  return out;
}

std::vector<ReproducedStep> reproduce_steps(const Targets& targets, const LoadOptions& files,
                                            std::vector<Simulation>* simulations) {
  std::vector<ReproducedStep> out;
  for (const TargetStep& step : targets.steps) {
    std::vector<std::string> all = files.overrides;
    all.insert(all.end(), step.set.begin(), step.set.end());
    const ScenarioFile file = load_scenario(config_root() / step.scenario, all, files.bases);
    auto result = simulate(file.config, Evaluation::all);
    if (!result) {
      out.push_back({step, {}, result.error()});
      continue;
    }
    out.push_back({step, result->record, ""});
    if (simulations != nullptr) simulations->push_back(*std::move(result));
  }
  return out;
}

std::vector<ReproducedStudy> reproduce_studies(const Targets& targets, PointRunner& runner) {
  std::vector<ReproducedStudy> out;
  Progress progress(targets.studies.size());
  for (const Study& study : targets.studies) {
    progress.next(study.id);
    StudyResult result{.study = study, .rows = {}};
    const Kept kept = kept_of(study, targets.digest);
    within(study.id, [&] {
      for (StudyPoint& point : points_of(study, targets.variants))
        result.rows.push_back(study_row(study, std::move(point), kept, runner));
      return 0;
    });
    add_recall(result);
    std::vector<TargetResult> checks = checked(result);
    out.push_back({std::move(result), std::move(checks)});
  }
  return out;
}

std::vector<SolveResult> reproduce_solves(const Targets& targets, PointRunner& runner) {
  std::vector<SolveResult> out;
  Progress progress(targets.solves.size());
  for (const SolveQuestion& question : targets.solves) {
    progress.next(question.id);
    out.push_back(within(question.id, [&] { return solved(question, targets.variants, runner); }));
  }
  return out;
}

}  // namespace tiersim
