// tiersim solve CONFIG --vary KEY --between LOW HIGH --metric M (--equals V | --equal-to CONFIG):
// finds the value of a setting that gives a metric a value. Exit 5 if no value in the range does.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/load.hpp"
#include "sim/study/solve_run.hpp"

namespace tiersim::cli {
namespace {

struct SolveArguments {
  std::string config;
  std::vector<std::string> set;
  std::string vary;
  std::vector<std::string> between;
  std::string metric = "tpot_s";
  std::string equals;
  std::string equal_to;
  std::vector<std::string> other_set;
  std::string times = "1";
  bool json = false;
};

double factor_of(const SolveArguments& options) {
  const auto times = plain_number(options.times);
  if (times && *times > 0) return *times;
  throw Failure(ExitCode::usage, fmt::format("tiersim: error: --times: '{}' is no number above 0",
                                             printable(options.times)));
}

double asked_value(const SolveArguments& options, PointRunner& runner) {
  if (!options.equals.empty()) {
    const auto value = metric_value(options.metric, options.equals);
    if (value) return *value;
    throw Failure(ExitCode::usage, printable("tiersim: error: --equals: " + value.error()));
  }
  const Point other{options.equal_to, options.other_set};
  const PointResult result = run_point(runner, other);
  if (!result.record)
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: {}", options.equal_to, result.problem));
  return metric_of(*result.record, options.metric, other);
}

double target_of(const SolveArguments& options, PointRunner& runner) {
  const double target = factor_of(options) * asked_value(options, runner);
  if (std::isfinite(target)) return target;
  throw Failure(ExitCode::usage, fmt::format("tiersim: error: --times: '{}' times the value is "
                                             "beyond what can be counted",
                                             printable(options.times)));
}

std::string to_json(const SolveResult& result, const SolveAnswer& answer) {
  nlohmann::ordered_json next;
  if (answer.next) next = {{"value", answer.next->value}, {"achieved", answer.next->metric}};
  const nlohmann::ordered_json out{{"config", result.question.scenario},
                                   {"vary", result.question.vary},
                                   {"between", result.question.between},
                                   {"metric", result.question.metric},
                                   {"target", answer.target},
                                   {"outcome", answer.outcome},
                                   {"value", answer.value},
                                   {"achieved", answer.metric},
                                   {"unit", answer.unit},
                                   {"next", next},
                                   {"bounded_by", answer.record->bounded_by},
                                   {"monotone", answer.monotone},
                                   {"left_out", answer.left_out},
                                   {"evaluations", answer.evaluations},
                                   {"tolerance", kSolveTolerance},
                                   {"run_id", answer.record->run_id}};
  return out.dump(2) + '\n';
}

void print_answer(const SolveArguments& options, bool whole, const SolveResult& result,
                  const SolveAnswer& found) {
  fmt::print("{}\n", sentence(result, found));
  if (const std::string text = left_out_text(found); !text.empty()) fmt::print("{}\n", text);
  if (found.outcome != "found") return;
  const std::string what = whole ? fmt::format("the {} whole number at which {} is not above it",
                                               found.rises ? "largest" : "smallest", options.metric)
                                 : fmt::format("value to {} of itself", kSolveTolerance);
  fmt::print("{} simulations; {}{}\n", found.evaluations, what,
             found.monotone ? "" : "; not monotone over the range, others may exist");
}

ExitCode solve_verb(SolveArguments options) {
  if (options.equals.empty() == options.equal_to.empty())
    throw Failure(ExitCode::usage, "tiersim: error: give either --equals or --equal-to");
  options.metric = full_metric(options.metric);
  PointRunner runner(standard_options());
  const Point point{options.config, options.set};
  const auto range =
      range_of(runner, point, options.vary, options.between.at(0), options.between.at(1));
  if (!range)
    throw Failure(ExitCode::usage, printable("tiersim: error: --between: " + range.error()));
  const double target = target_of(options, runner);
  const SolveAnswer found = answer(runner, point, *range, options.metric, target);
  if (found.outcome == "cannot run")
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: {}", options.config, found.problem));
  SolveResult result;
  result.question.scenario = options.config;
  result.question.vary = options.vary;
  result.question.between = options.between;
  result.question.metric = options.metric;
  if (options.json)
    fmt::print("{}", to_json(result, found));
  else
    print_answer(options, range->range().whole, result, found);
  return found.outcome == "found" ? ExitCode::ok : ExitCode::target_missed;
}

}  // namespace

void add_solve(Verb program) {
  auto options = std::make_shared<SolveArguments>();
  Verb verb =
      program.add("solve", "Find the value of a setting at which a metric reaches a given value");
  verb.footer(
      "The answer is the value of the setting at which the metric is just not above the given\n"
      "value. If the metric rises with the setting, it is the largest such value, else the\n"
      "smallest. The exit status is 5 if no value in the range is an answer. For a count only\n"
      "whole numbers are tried. If an end of the range does not fit the memory, the range of\n"
      "values that fit is searched.");
  verb.option("CONFIG", options->config,
              "Scenario or serving file (schema tiersim.scenario/v1, tiersim.serving/v1)")
      .required();
  verb.option("--vary", options->vary, "Setting whose value is searched: a.b").required();
  verb.option("--between", options->between, "Lowest and highest value, with units as in YAML")
      .required()
      .takes(2, 2);
  verb.option("--metric", options->metric,
              "Metric that must reach the given value; a short form will do: tpot, ttft.p99")
      .show_default();
  verb.option("--equals", options->equals, "The given value, with its unit: 50 ms");
  verb.option("--equal-to", options->equal_to,
              "Take the given value from a run of this file instead");
  verb.option("--times", options->times, "Multiply the given value by this factor, above 0")
      .show_default();
  verb.option("--set", options->set, "Override a setting of CONFIG: a.b=value (repeatable)");
  verb.option("--other-set", options->other_set,
              "Override a setting of the file of --equal-to: a.b=value (repeatable)");
  verb.flag("--json", options->json, "Print JSON instead of a sentence");
  verb.on_chosen([options] { return solve_verb(*options); });
}

}  // namespace tiersim::cli
