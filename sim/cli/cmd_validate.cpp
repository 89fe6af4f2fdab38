// tiersim validate [PREDICTIONS MEASURED]: compares predictions that were committed beforehand with
// later measurements, case by case, with the errors beside those of two baselines. Published
// results of whole servers and of devices: `validate serving` (validate_serving.cpp) and
// `hardware`; comparison of the levels of fidelity: `levels`; the case that detects a change of
// each number: `sensitivity`.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hwmodels/calibrate/fit/scored_files.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/validate_hardware.hpp"
#include "sim/cli/validate_kernels.hpp"
#include "sim/cli/validate_levels.hpp"
#include "sim/cli/validate_sensitivity.hpp"
#include "sim/cli/validate_serving.hpp"
#include "sim/runner/load.hpp"

namespace tiersim::cli {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

struct ValidateArguments {
  std::string predictions;
  std::string measured;
  std::optional<double> max_median;
  std::optional<double> min_coverage;
  bool json = false;
};

std::string percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}
std::string unsigned_percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}
std::string microseconds(double seconds) {
  return fmt::format("{:.4g}", 1e6 * seconds);
}
std::string_view status_name(ScoreStatus status) {
  return kScoreStatusNames[static_cast<std::size_t>(status)];
}

Table cases_table(const Score& score, const MeasuredTimes& measured) {
  Table table{.title = fmt::format(
                  "Predicted against {} ({})",
                  measured.data_class == "synthetic" ? "made-up times" : measured.data_class,
                  printable(measured.device)),
              .columns = {{"case", Align::left},
                          {"predicted us", Align::right},
                          {"95 % interval", Align::right},
                          {"reference us", Align::right},
                          {"error", Align::right},
                          {"noise", Align::right},
                          {"status", Align::left}}};
  for (const ScoredCase& each : score.cases)
    table.add({printable(each.name), microseconds(each.predicted.value),
               microseconds(each.predicted.low) + " to " + microseconds(each.predicted.high),
               microseconds(each.measured), percent(each.error), unsigned_percent(each.noise),
               std::string(status_name(each.status))});
  for (const std::string& name : score.only_predicted)
    table.notes.push_back("predicted, not measured: " + printable(name));
  for (const std::string& name : score.only_measured)
    table.notes.push_back("measured, not predicted: " + printable(name));
  return table;
}

Table summary_table(const Score& score) {
  Table table{.title = "Errors: (predicted - reference) / reference",
              .columns = {{"by", Align::left},
                          {"cases", Align::right},
                          {"signed mean", Align::right},
                          {"median", Align::right},
                          {"p90", Align::right},
                          {"worst", Align::right},
                          {"worst case", Align::left},
                          {"in interval", Align::right}}};
  const auto add = [&](const char* by, const ErrorSummary& s, bool interval) {
    table.add({by, std::to_string(s.count), percent(s.signed_mean), unsigned_percent(s.median),
               unsigned_percent(s.p90), unsigned_percent(s.worst), printable(s.worst_case),
               interval ? unsigned_percent(s.coverage) : "-"});
  };
  add("predictions", score.summary, true);
  if (score.roofline) add("data-sheet roofline", *score.roofline, false);
  if (score.sum) add("sum of kernel medians", *score.sum, false);
  table.notes.push_back(
      fmt::format("Repetition differs by {} (median of the cases); {} of {} errors are below it",
                  unsigned_percent(score.noise_floor), score.unresolved, score.summary.count));
  return table;
}

Json json_of(const ErrorSummary& s) {
  return {{"count", s.count}, {"signed_mean", s.signed_mean}, {"median", s.median}, {"p90", s.p90},
          {"worst", s.worst}, {"worst_case", s.worst_case}};
}

std::string to_json(const Score& score, const MeasuredTimes& measured) {
  Json cases = Json::array();
  for (const ScoredCase& each : score.cases)
    cases.push_back({{"id", each.name},
                     {"level", measured.level},
                     {"predicted", each.predicted.value},
                     {"reference", each.measured},
                     {"unit", "s"},
                     {"error", each.error},
                     {"band", {each.predicted.low, each.predicted.high}},
                     {"noise", each.noise},
                     {"status", status_name(each.status)}});
  Json summary = json_of(score.summary);
  summary["coverage"] = score.summary.coverage;
  summary["noise_floor"] = score.noise_floor;
  summary["unresolved"] = score.unresolved;
  summary["class"] = measured.data_class;
  summary["device"] = measured.device;
  summary["baselines"] = Json::object();
  if (score.roofline) summary["baselines"]["roofline"] = json_of(*score.roofline);
  if (score.sum) summary["baselines"]["sum_of_kernels"] = json_of(*score.sum);
  summary["only_predicted"] = score.only_predicted;
  summary["only_measured"] = score.only_measured;
  return Json{{"cases", std::move(cases)}, {"summary", std::move(summary)}}.dump() + '\n';
}

// Uses the shipped example if no file is named.
ValidateArguments with_files(ValidateArguments options) {
  if (!options.predictions.empty() && options.measured.empty())
    throw Failure(ExitCode::usage, "tiersim: error: MEASURED is missing");
  if (!options.predictions.empty()) return options;
  const fs::path example = config_root() / "calibration" / "synthetic" / "2026-01-01-example";
  options.predictions = (example / "predictions.json").string();
  options.measured = (example / "measured.csv").string();
  return options;
}

// The missed goal, in words; empty if all hold.
std::string missed(const ValidateArguments& options, const ErrorSummary& summary) {
  if (options.max_median && summary.median > *options.max_median)
    return fmt::format("the median error of {} is above {}", unsigned_percent(summary.median),
                       unsigned_percent(*options.max_median));
  if (options.min_coverage && summary.coverage < *options.min_coverage)
    return fmt::format("{} of the references are in their interval, not {}",
                       unsigned_percent(summary.coverage), unsigned_percent(*options.min_coverage));
  return "";
}

ExitCode validate(const ValidateArguments& given) {
  const ValidateArguments options = with_files(given);
  Diagnostics diagnostics;
  const PredictedTimes predicted =
      read_predicted_times(options.predictions, read_file(options.predictions), diagnostics);
  const MeasuredTimes measured =
      read_measured_times(options.measured, read_file(options.measured), diagnostics);
  throw_if_any(diagnostics);
  for (const std::string& why : refusals(predicted, measured))
    diagnostics.report({.where = {options.predictions, 1, 1}, .message = why});
  const Score scored = score(predicted, measured);
  if (scored.cases.empty())
    diagnostics.report({.where = {options.predictions, 1, 1},
                        .message = "has no case of " + options.measured,
                        .hint = "the names must be the same"});
  throw_if_any(diagnostics);
  if (options.json)
    fmt::print("{}", to_json(scored, measured));
  else
    fmt::print("{}\n{}", to_text(cases_table(scored, measured)), to_text(summary_table(scored)));
  const std::string why = missed(options, scored.summary);
  if (why.empty()) return ExitCode::ok;
  fmt::print(stderr, "tiersim: {}\n", why);
  return ExitCode::target_missed;
}

constexpr double kLargestError = 1000;  // 100000 %

// An option with a share from 0 to `most`.
void add_share(Verb verb, const char* names, std::optional<double>& value, double most,
               const char* help) {
  verb.option(names, value, help)
      .check(
          [most](const std::string& text) {
            const auto given = parse_number(text);
            if (given && *given >= 0 && *given <= most) return std::string();
            return fmt::format("'{}' is no number from 0 to {:g}", text, most);
          },
          fmt::format("in [0 - {:g}]", most));
}

}  // namespace

void add_validate(Verb program) {
  auto options = std::make_shared<ValidateArguments>();
  Verb verb = program.add("validate", "Compare predictions and models with measured values");
  verb.footer(
      "Without files the command shows a shipped example, whose times are invented. PREDICTIONS\n"
      "is JSON (tiersim.predictions/v1) or CSV. MEASURED is timing.json or composition.json of a\n"
      "campaign, or CSV. The command refuses predictions of another build, and predictions later\n"
      "than the measurement.");
  verb.option("PREDICTIONS", options->predictions,
              "File of predictions that were made before the measurement");
  verb.option("MEASURED", options->measured,
              "File of measurements that were made after the predictions");
  add_share(verb, "--max-median", options->max_median, kLargestError,
            "Exit with status 5 if the median error is above this share: 0.1");
  add_share(verb, "--min-coverage", options->min_coverage, 1,
            "Exit with status 5 if fewer measurements than this share lie in the predicted "
            "interval: 0.9");
  verb.flag("--json", options->json, "Print JSON instead of tables");
  add_validate_hardware(verb);
  add_validate_kernels(verb);
  add_validate_levels(verb);
  add_validate_sensitivity(verb);
  add_validate_serving(verb);
  add_validate_energy(verb);
  verb.on_chosen([options] { return validate(*options); });
}

}  // namespace tiersim::cli
