// tiersim predict SET: what the models say of questions that a card can answer, with intervals,
// before it does.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/loading.hpp"
#include "sim/run/predict.hpp"

namespace tiersim::cli {
namespace {

struct Options {
  std::string set;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
};

std::string stated_text(const StatedRange& stated) {
  if (stated.low && stated.high) return fmt::format("{:.4g} to {:.4g}", *stated.low, *stated.high);
  return stated.low ? fmt::format("above {:.4g}", *stated.low)
                    : fmt::format("below {:.4g}", *stated.high);
}

Table table_of(const PredictedSet& predicted) {
  Table table{.title = predicted.name + ", simulated on " + predicted.system,
              .columns = {{"question", Align::left},
                          {"simulated", Align::right},
                          {"95 % interval", Align::right},
                          {"stated", Align::right},
                          {"unit", Align::left},
                          {"status", Align::left}}};
  for (const PredictedAnswer& answer : predicted.answers) {
    table.add({answer.quantity.id, fmt::format("{:.4g}", answer.simulated),
               fmt::format("{:.4g} to {:.4g}", answer.low, answer.high),
               stated_text(answer.quantity.stated), std::string(unit_of(answer.quantity.kind)),
               std::string(kStatedStatusNames[static_cast<std::size_t>(answer.status)])});
    if (!answer.quantity.note.empty())
      table.notes.push_back(answer.quantity.id + ": " + answer.quantity.note);
  }
  for (auto& row : table.rows)
    for (std::string& cell : row) cell = printable(cell);
  for (std::string& note : table.notes) note = printable(note);
  table.title = printable(table.title);
  return table;
}

ExitCode predict_verb(const Options& options) {
  expect_writable(options.out);
  Diagnostics diagnostics;
  const PredictedSet predicted =
      predict(options.set, standard_options(options.settings), diagnostics);
  throw_if_any(diagnostics);
  if (!options.out.empty()) write_file(options.out, to_yaml(predicted));
  if (options.out == "-") return ExitCode::ok;
  fmt::print("{}", options.json ? to_json(predicted) : to_text(table_of(predicted)));
  return ExitCode::ok;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("predict", "What the models say of kernels before they are timed");
  verb->footer(
      "Status: consistent where the whole interval lies in the stated range, partly where some of\n"
      "it does, inconsistent where none does. The interval comes from those of the system's\n"
      "numbers that have one, each with its source.");
  verb->add_option("SET", options->set, "File (schema tiersim.prediction_set/v1)")->required();
  verb->add_option("--set", options->settings, "Override a setting of SET: a.b=value (repeatable)")
      ->allow_extra_args(false)
      ->type_name(kSettingType);
  verb->add_option("-o,--out", options->out, "Write the predictions as YAML; - is stdout");
  verb->add_flag("--json", options->json, "Print JSON instead of a table");
  verb->callback([options, &action] { action = [options] { return predict_verb(*options); }; });
}

}  // namespace tiersim::cli
