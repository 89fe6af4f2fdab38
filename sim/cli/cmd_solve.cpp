// tiersim solve CONFIG --vary KEY --between LOW HIGH --metric M (--equals V | --equal-to CONFIG):
// finds the value of a setting that gives a metric a value. With --require GOAL ... --maximize KEY
// or METRIC it finds the best value at which all goals hold. Exit 5 if no value in the range does.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/point_metrics.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/runner/load.hpp"
#include "sim/study/goals_run.hpp"
#include "sim/study/solve_run.hpp"

namespace tiersim::cli {
namespace {

struct SolveArguments {
  std::string config;
  std::vector<std::string> set;
  std::string vary;
  std::vector<std::string> between;
  std::string metric = "tpot";
  std::string equals;
  std::string equal_to;
  std::vector<std::string> other_set;
  std::string times = "1";
  std::vector<std::string> require;
  std::string maximize;
  std::string minimize;
  std::int64_t seeds = 1;
  bool json = false;
};

[[noreturn]] void usage(const std::string& problem) {
  throw Failure(ExitCode::usage, printable("tiersim: error: " + problem));
}

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

using Json = nlohmann::ordered_json;

Json interval_json(const std::optional<Interval<double>>& ci95) {
  return ci95 ? Json{ci95->low, ci95->high} : Json();
}

Json devices_json(const std::vector<DeviceValue>& devices) {
  Json out = Json::array();
  for (const DeviceValue& device : devices)
    out.push_back({{"name", device.name},
                   {"value", device.value},
                   {"factor", device.factor},
                   {"base", device.base}});
  return out;
}

// "sm.to_gpu 173 GB/s, 4.915 times 35.2 GB/s": of the channel that bounds the step, or of the
// narrowest one.
void print_device(const std::vector<DeviceValue>& devices, const std::string& bounded_by) {
  if (devices.empty()) return;
  auto shown = std::ranges::find(devices, bounded_by, &DeviceValue::name);
  if (shown == devices.end()) shown = devices.begin();
  fmt::print("{} {}, {:.4g} times {}\n", shown->name, shown->value, shown->factor, shown->base);
}

void print_parts(const std::vector<std::array<std::string, 2>>& holding, bool largest) {
  if (const std::string parts = parts_text(holding); !parts.empty())
    fmt::print("several crossings: by samples it holds in {}; the answer is of the {} part\n",
               parts, largest ? "first" : "last");
}

double tolerance_of(bool sampled) {
  return sampled ? kSampledTolerance : kSolveTolerance;
}

std::string to_json(const SolveArguments& options, const SolveResult& result,
                    const SolveAnswer& answer, const std::vector<DeviceValue>& devices) {
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
                                   {"ci95", interval_json(answer.ci95)},
                                   {"unit", answer.unit},
                                   {"seeds", options.seeds},
                                   {"devices", devices_json(devices)},
                                   {"next", next},
                                   {"bounded_by", answer.record->bounded_by},
                                   {"monotone", answer.monotone},
                                   {"holding", answer.holding},
                                   {"left_out", answer.left_out},
                                   {"evaluations", answer.evaluations},
                                   {"tolerance", tolerance_of(answer.record->serving.has_value())},
                                   {"run_id", answer.record->run_id}};
  return out.dump(2) + '\n';
}

void print_answer(const SolveArguments& options, bool whole, const SolveResult& result,
                  const SolveAnswer& found, const std::vector<DeviceValue>& devices) {
  fmt::print("{}\n", sentence(result, found));
  if (const std::string text = left_out_text(found); !text.empty()) fmt::print("{}\n", text);
  if (found.outcome != "found") return;
  print_device(devices, found.record->bounded_by);
  print_parts(found.holding, found.rises);
  const bool sampled = found.record->serving.has_value();
  const std::string what = whole ? fmt::format("the {} whole number at which {} is not above it",
                                               found.rises ? "largest" : "smallest", options.metric)
                           : sampled ? fmt::format("value to {} digits", kSampledDigits)
                                     : fmt::format("value to {} of itself", kSolveTolerance);
  fmt::print("{} simulations; {}{}\n", found.evaluations * options.seeds, what,
             found.monotone || sampled ? "" : "; not monotone over the range, others may exist");
}

ExitCode solve_metric(const SolveArguments& options, PointRunner& runner, const Point& point,
                      const SettingRange& range) {
  const double target = target_of(options, runner);
  const SolveAnswer found = answer(runner, point, range, options.metric, target, options.seeds);
  if (found.outcome == "cannot run")
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: {}", options.config, found.problem));
  SolveResult result;
  result.question.scenario = options.config;
  result.question.vary = options.vary;
  result.question.between = options.between;
  result.question.metric = options.metric;
  const auto devices = device_values(runner, point, range, found.value);
  if (options.json)
    fmt::print("{}", to_json(options, result, found, devices));
  else
    print_answer(options, range.range().whole, result, found, devices);
  return found.outcome == "found" ? ExitCode::ok : ExitCode::target_missed;
}

// "ttft_s.p99 is 972.5 ms [960 ms, 985 ms] (< 1 s)"
std::string text_of(const GoalValue& value) {
  const auto shown = [&](double x) { return display(x, value.value.unit); };
  std::string out = fmt::format("{} is {}", value.metric, shown(value.value.mean));
  if (value.value.ci95)
    out += fmt::format(" [{}, {}]", shown(value.value.ci95->low), shown(value.value.ci95->high));
  if (value.goal)
    out += fmt::format(" ({} {}{})", value.goal->relation, shown(value.goal->limit),
                       value.holds ? "" : ": missed");
  return out;
}

Json json_of(const std::vector<GoalValue>& values) {
  Json out = Json::array();
  for (const GoalValue& value : values) {
    Json one{{"metric", value.metric},
             {"value", value.value.mean},
             {"ci95", interval_json(value.value.ci95)},
             {"unit", value.value.unit}};
    if (value.goal) {
      one["relation"] = value.goal->relation;
      one["limit"] = value.goal->limit;
      one["holds"] = value.holds;
    }
    out.push_back(std::move(one));
  }
  return out;
}

void print_goals_json(const SolveArguments& options, const GoalsQuestion& asked,
                      const GoalsAnswer& found, const std::vector<DeviceValue>& devices) {
  Json next;
  if (found.next) next = {{"value", *found.next}, {"metrics", json_of(found.next_values)}};
  const Json out{{"config", options.config},
                 {"vary", options.vary},
                 {"between", options.between},
                 {asked.maximize ? "maximize" : "minimize",
                  asked.metric.empty() ? options.vary : asked.metric},
                 {"outcome", found.outcome},
                 {"value", found.value},
                 {"interval", found.interval ? Json(*found.interval) : Json()},
                 {"at_end", found.at_end},
                 {"metrics", json_of(found.values)},
                 {"next", next},
                 {"seeds", options.seeds},
                 {"devices", devices_json(devices)},
                 {"holding", found.holding},
                 {"left_out", found.left_out},
                 {"evaluations", found.evaluations},
                 {"tolerance", kSampledTolerance},
                 {"run_id", found.record->run_id}};
  fmt::print("{}\n", out.dump(2));
}

void print_goals(const SolveArguments& options, const GoalsQuestion& asked,
                 const GoalsAnswer& found, const std::vector<DeviceValue>& devices) {
  const bool reached = found.outcome == "found";
  std::string head = reached ? "" : "no value does it: at ";
  head += fmt::format("{} = {}", options.vary, found.display);
  if (found.interval) head += fmt::format(" [{}, {}]", (*found.interval)[0], (*found.interval)[1]);
  fmt::print("{}\n", head);
  for (const GoalValue& value : found.values) fmt::print("  {}\n", text_of(value));
  if (found.next) {
    fmt::print("at {}\n", *found.next);
    for (const GoalValue& value : found.next_values)
      if (!value.holds) fmt::print("  {}\n", text_of(value));
  }
  if (reached && found.at_end)
    fmt::print("this is an end of the range, so a wider one may have a better value\n");
  if (!found.left_out.empty())
    fmt::print("searched {} to {}; {}\n", found.searched[0], found.searched[1], found.left_out);
  if (reached) print_device(devices, found.record->bounded_by);
  if (asked.metric.empty()) print_parts(found.holding, asked.maximize);
  fmt::print("{} simulations; value to {}\n", found.evaluations * options.seeds,
             asked.metric.empty() ? fmt::format("{} digits", kSampledDigits) : "1 %");
}

// The setting that `rate` stands for: that of the arrivals, or the speed of a replayed trace.
std::string rate_key(PointRunner& runner, const Point& point) {
  const Runnable config = runner.config(point);
  const auto* server = std::get_if<ServingConfig>(&config);
  if (server == nullptr) usage("rate: is of a server; name a setting by --vary");
  if (server->workload.trace) return "workload.replay.speed";
  const auto& arrivals = server->workload.arrivals;
  if (arrivals && (arrivals->process == ArrivalProcess::closed_loop ||
                   arrivals->process == ArrivalProcess::at_once))
    usage(
        "rate: the requests of this server have none; vary workload.arrivals.users or another "
        "setting");
  return "workload.arrivals.requests_per_s";
}

bool names_setting(const std::string& word, const std::string& key) {
  return word == key || word == "rate" || key.ends_with('.' + word);
}

// --vary may be left out where the setting itself is maximized.
GoalsQuestion goals_question(SolveArguments& options, PointRunner& runner, const Point& point) {
  const bool maximize = !options.maximize.empty();
  const std::string option = maximize ? "--maximize" : "--minimize";
  const std::string& what = maximize ? options.maximize : options.minimize;
  std::vector<Goal> goals;
  for (const std::string& text : options.require) {
    auto goal = parse_goal(text);
    if (!goal) usage("--require: " + goal.error());
    goals.push_back(*std::move(goal));
  }
  if (options.vary.empty()) {
    if (what != "rate" && (what.find('.') == std::string::npos || resolve_metric(what)))
      usage("--vary: say which setting is varied: a.b");
    options.vary = what == "rate" ? rate_key(runner, point) : what;
  } else if (options.vary == "rate") {
    options.vary = rate_key(runner, point);
  }
  const std::string metric = names_setting(what, options.vary) ? "" : full_metric(what, option);
  auto range = range_of(runner, point, options.vary, options.between.at(0), options.between.at(1));
  if (!range) usage("--between: " + range.error());
  return {point, *std::move(range), std::move(goals), maximize, metric, options.seeds};
}

ExitCode solve_goals(SolveArguments& options, PointRunner& runner, const Point& point) {
  if (options.maximize.empty() == options.minimize.empty())
    usage("--require: give either --maximize or --minimize, of the setting or a metric");
  if (options.require.empty()) usage("--require: is missing (as in --require \"ttft.p99 < 2 s\")");
  if (!options.equals.empty() || !options.equal_to.empty())
    usage("--require: not with --equals or --equal-to");
  const GoalsQuestion asked = goals_question(options, runner, point);
  const GoalsAnswer found = answer_goals(runner, asked);
  if (found.outcome == "cannot run")
    throw Failure(ExitCode::bad_config,
                  fmt::format("{}:1:1: error: {}", options.config, found.problem));
  const auto devices = device_values(runner, point, asked.range, found.value);
  (options.json ? print_goals_json : print_goals)(options, asked, found, devices);
  return found.outcome == "found" ? ExitCode::ok : ExitCode::target_missed;
}

ExitCode solve_verb(SolveArguments options) {
  PointRunner runner(standard_options());
  const Point point{options.config, options.set};
  if (!options.require.empty() || !options.maximize.empty() || !options.minimize.empty())
    return solve_goals(options, runner, point);
  if (options.equals.empty() == options.equal_to.empty())
    usage("give either --equals or --equal-to, or goals by --require");
  if (options.vary.empty()) usage("--vary: say which setting is varied: a.b");
  if (options.vary == "rate") options.vary = rate_key(runner, point);
  options.metric = full_metric(options.metric, "--metric");
  const auto range =
      range_of(runner, point, options.vary, options.between.at(0), options.between.at(1));
  if (!range) usage("--between: " + range.error());
  return solve_metric(options, runner, point, *range);
}

}  // namespace

void add_solve(Verb program) {
  auto options = std::make_shared<SolveArguments>();
  Verb verb =
      program.add("solve", "Find the value of a setting at which a metric reaches a given value");
  verb.footer(
      "The answer is the value of the setting at which the metric is just not above the given\n"
      "value. If the metric rises with the setting, it is the largest such value, else the\n"
      "smallest. With --require and --maximize (--minimize) it is the largest (smallest) value at\n"
      "which all goals hold, or the value at which a metric is best while they hold:\n"
      "\n"
      "  tiersim solve SERVING --require \"ttft.p99 < 2 s\" --require \"tpot.p99 < 50 ms\"\n"
      "    --maximize rate --between 1 100 --seeds 5\n"
      "\n"
      "Answers lie on a fixed grid, so that they do not depend on --between: whole numbers for a\n"
      "count, four digits for a server or goals, seven digits else. A server is first evaluated "
      "at\n"
      "ten values a decade, since its tail may cross a limit several times; the answer is then of\n"
      "the part that holds from the low end on (from the high end on for a smallest value), and\n"
      "all parts are listed. The exit status is 5 if no value in the range is an answer. If an "
      "end\n"
      "of the range does not fit the memory, the range of values that fit is searched.");
  verb.option("CONFIG", options->config,
              "Scenario or serving file (schema tiersim.scenario/v1, tiersim.serving/v1)")
      .required();
  verb.option(
          "--vary", options->vary,
          "Setting whose value is searched: a.b; `rate` is the rate of arrivals of a server, or "
          "the speed of a trace")
      .type("A.B");
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
  verb.option("--require", options->require,
              "Goal that must hold: METRIC < VALUE, with <, <=, > or >= (repeatable)")
      .type("GOAL");
  verb.option("--maximize", options->maximize,
              "Find the largest value of the varied setting, or of a metric, while the goals hold")
      .type("A.B|METRIC");
  verb.option("--minimize", options->minimize, "The same for the smallest").type("A.B|METRIC");
  verb.option("--seeds", options->seeds,
              "Average each metric of a server over N seeds, with 95 % intervals")
      .between(1, 1000)
      .type("N [1]");
  verb.option("--set", options->set, "Override a setting of CONFIG: a.b=value (repeatable)");
  verb.option("--other-set", options->other_set,
              "Override a setting of the file of --equal-to: a.b=value (repeatable)");
  verb.flag("--json", options->json, "Print JSON instead of a sentence");
  verb.on_chosen([options] { return solve_verb(*options); });
}

}  // namespace tiersim::cli
