// tiersim predict SET: the models' predictions, with intervals, of kernel times that a card will
// measure later. tiersim predict --plan PLAN --timings FILE: predictions of composed sequences,
// from fits of their kernels timed alone.
#include <ctime>

#include <fmt/format.h>

#include "hwmodels/calibrate/fit/predictions.hpp"
#include "hwmodels/calibrate/read/iso_date.hpp"
#include "hwmodels/calibrate/read/plausibility.hpp"
#include "hwmodels/calibrate/read/read_timings.hpp"
#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/load.hpp"
#include "sim/validate/prediction_run.hpp"

namespace tiersim::cli {
namespace {

struct PredictArguments {
  std::string set;
  std::string plan;
  std::vector<std::string> timings;
  std::string date;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
};

std::string stated_text(const StatedRange& stated) {
  if (stated.low && stated.high) return fmt::format("{:.4g} to {:.4g}", *stated.low, *stated.high);
  return stated.low ? fmt::format("above {:.4g}", *stated.low)
                    : fmt::format("below {:.4g}", *stated.high);
}

// None for an answer that no uncertain number changes.
std::string interval_text(const PredictedAnswer& answer) {
  return answer.low == answer.high ? "-" : fmt::format("{:.4g} to {:.4g}", answer.low, answer.high);
}

// With a column of what was timed, named by the class of the timings, where there are some.
Table table_of(const PredictedSet& predicted, const std::string& timed) {
  Table table{.title = predicted.name + ", simulated on " + predicted.system,
              .columns = {{"id", Align::left},
                          {"simulated", Align::right},
                          {"95 % interval", Align::right},
                          {"stated", Align::right},
                          {"unit", Align::left},
                          {"status", Align::left}}};
  if (!timed.empty()) table.columns.push_back({timed, Align::right});
  for (const PredictedAnswer& answer : predicted.answers) {
    std::vector<std::string> row{
        answer.quantity.id,
        fmt::format("{:.4g}", answer.simulated),
        interval_text(answer),
        stated_text(answer.quantity.stated),
        std::string(unit_of(answer.quantity.kind)),
        std::string(kStatedStatusNames[static_cast<std::size_t>(answer.status)])};
    if (!timed.empty()) row.push_back(answer.timed ? fmt::format("{:.4g}", *answer.timed) : "-");
    table.add(std::move(row));
    table.notes.push_back(answer.quantity.id + ": " + answer.quantity.question);
    if (!answer.quantity.note.empty()) table.notes.push_back("  " + answer.quantity.note);
    if (!timed.empty() && !answer.untimed.empty())
      table.notes.push_back("  not timed: " + join(answer.untimed));
  }
  table.notes.push_back(
      predicted.uncertain.empty()
          ? "No interval: no number of the system has one."
          : fmt::format("Intervals: from {} draws of the system's numbers that have one ({}). They "
                        "hold the uncertainty of these numbers, not that of the models.",
                        predicted.draws, predicted.uncertain.size()));
  return table;
}

// Drops implausible timings, which would spoil every fit with them.
void keep_plausible(TimingSet& set) {
  Plausible checked = check_timings(set);
  std::string refused;
  for (const TimingRefusal& refusal : checked.refused) refused += printable(text(refusal)) + '\n';
  if (!refused.empty())
    throw Failure(ExitCode::bad_config,
                  refused + fmt::format("{} of {} cases cannot be: nothing is predicted",
                                        checked.refused.size(), set.cases.size()));
  set.cases = std::move(checked.kept);
}

// Combines the files into one set of plausible timings; they must be of one device and build.
TimingSet load_timings(const std::vector<std::string>& files) {
  TimingSet all;
  Diagnostics diagnostics;
  for (const std::string& file : files) {
    const auto read = read_timings(file, read_file(file), {});
    if (!read) {
      for (const Diagnostic& diagnostic : read.error().list()) diagnostics.report(diagnostic);
      continue;
    }
    if (all.file.empty()) {
      all = *read;
      continue;
    }
    if (read->device != all.device || read->build_id != all.build_id)
      diagnostics.report(
          {{file},
           fmt::format("is of device '{}' and build '{}', {} of '{}' and '{}'", read->device,
                       read->build_id, all.file, all.device, all.build_id)});
    all.cases.insert(all.cases.end(), read->cases.begin(), read->cases.end());
    all.refused.insert(all.refused.end(), read->refused.begin(), read->refused.end());
    all.peaks.insert(all.peaks.end(), read->peaks.begin(), read->peaks.end());
  }
  if (all.data_class == "none")
    diagnostics.report({{all.file}, "is a dry run: its times mean nothing"});
  throw_if_any(diagnostics);
  keep_plausible(all);
  return all;
}

// The times of the cases with cold inputs. The check of timings has refused a case that stands
// twice.
std::map<std::string, double, std::less<>> cold_times(const TimingSet& set) {
  std::map<std::string, double, std::less<>> times;
  for (const TimingCase& timing : set.cases)
    if (timing.temperature == Temperature::cold) times.emplace(case_name(timing), timing.seconds);
  return times;
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Table table_of(const SequencePredictions& predicted, const TimingSet& set) {
  Table table{.title = fmt::format("Composed sequences, from timings of {} ({})",
                                   printable(set.device), set.data_class),
              .columns = {{"sequence", Align::left},
                          {"predicted us", Align::right},
                          {"95 % interval", Align::right}}};
  for (const PredictedTimes::Case& each : predicted.times.cases)
    table.add({printable(each.name), fmt::format("{:.4g}", 1e6 * each.time.value),
               fmt::format("{:.4g} to {:.4g}", 1e6 * each.time.low, 1e6 * each.time.high)});
  for (const LeftOut& each : predicted.left_out)
    table.notes.push_back(printable(each.what + " is not predicted: " + each.why));
  for (const std::string& note : predicted.notes) table.notes.push_back(printable(note));
  return table;
}

ExitCode predict_plan(const PredictArguments& options) {
  if (options.timings.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --plan needs --timings FILE");
  if (!options.settings.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --set goes with SET, not with --plan");
  if (!options.date.empty() && !parse_iso_date(options.date))
    throw Failure(ExitCode::usage, fmt::format("tiersim: error: --date '{}': is no date ({})",
                                               printable(options.date), kIsoDateForm));
  Diagnostics diagnostics;
  const CompositionPlan plan =
      read_composition_plan(options.plan, read_file(options.plan), diagnostics);
  throw_if_any(diagnostics);
  TimingSet set = load_timings(options.timings);
  if (set.build_id != plan.build_id)
    diagnostics.report(
        {{options.plan},
         fmt::format("is of build '{}', the timings of '{}'", plan.build_id, set.build_id)});
  throw_if_any(diagnostics);
  SequencePredictions predicted = predict_sequences(plan, set, calibrate(set, {.hold_out = false}));
  predicted.times.date = options.date.empty() ? now_in_utc() : options.date;
  if (!options.out.empty()) write_file(options.out, to_json(predicted.times));
  if (options.out == "-") return ExitCode::ok;
  fmt::print("{}", options.json ? to_json(predicted.times) : to_text(table_of(predicted, set)));
  return ExitCode::ok;
}

ExitCode predict_verb(const PredictArguments& options) {
  expect_writable(options.out);
  if (options.set.empty() == options.plan.empty())
    throw Failure(ExitCode::usage, options.set.empty()
                                       ? "tiersim: error: either SET or --plan PLAN is needed"
                                       : "tiersim: error: SET and --plan PLAN exclude each other");
  if (!options.plan.empty()) return predict_plan(options);
  if (!options.date.empty())
    throw Failure(ExitCode::usage, "tiersim: error: --date goes with --plan");
  Diagnostics diagnostics;
  const TimingSet timings = load_timings(options.timings);
  const PredictedSet predicted =
      answer_questions(options.set, standard_options(options.settings), diagnostics,
                       {timings.data_class, cold_times(timings)});
  throw_if_any(diagnostics);
  if (!options.out.empty()) write_file(options.out, to_yaml(predicted));
  if (options.out == "-") return ExitCode::ok;
  fmt::print("{}", options.json ? to_json(predicted)
                                : to_text(table_of(predicted, predicted.timings_class)));
  return ExitCode::ok;
}

}  // namespace

void add_predict(Verb program) {
  auto options = std::make_shared<PredictArguments>();
  Verb verb = program.add("predict", "Predict the times of kernels before they are measured");
  verb.footer(
      "The status is consistent if the whole interval of the prediction lies in the stated range,\n"
      "partly if a part of it does, and inconsistent if none does. The interval comes from the\n"
      "intervals of the system's numbers. It does not include the errors of the models.");
  verb.option("SET", options->set, "Quantities to predict (schema tiersim.prediction_set/v1)");
  verb.option("--plan", options->plan,
              "Predict the kernel sequences of this file, which the build of a campaign writes");
  verb.option(
      "--timings", options->timings,
      "Timings of a campaign: of the kernels in the sequences, from the same build; for SET, "
      "whose measured values they give (repeatable)");
  verb.option("--date", options->date, "Date of the prediction; now by default");
  verb.option("--set", options->settings, "Override a setting of SET: a.b=value (repeatable)")
      .type(kSettingType);
  verb.option("-o,--out", options->out,
              "Write the predictions to this file, YAML for SET and JSON for a plan; - is stdout");
  verb.flag("--json", options->json, "Print JSON instead of a table");
  verb.on_chosen([options] { return predict_verb(*options); });
}

}  // namespace tiersim::cli
