// tiersim examples: the shipped files that a new user can start from, each with its command.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/render/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/examples.hpp"

namespace tiersim::cli {
namespace {

ExitCode list_examples(bool json) {
  if (json) {
    auto rows = nlohmann::ordered_json::array();
    for (const Example& example : examples())
      rows.push_back({{"kind", example.kind},
                      {"file", example.file},
                      {"command", example.command},
                      {"description", example.description}});
    fmt::print("{}\n", rows.dump(2));
    return ExitCode::ok;
  }
  Table table{.title = "", .columns = {{"command", Align::left}, {"description", Align::left}}};
  for (const Example& example : examples())
    table.add({example.command, printable(example.description)});
  fmt::print("{}", to_text(table));
  return ExitCode::ok;
}

}  // namespace

void add_examples(Verb program) {
  auto json = std::make_shared<bool>(false);
  Verb verb = program.add("examples", "List shipped files to start from, each with its command");
  verb.flag("--json", *json, "Print a JSON array");
  verb.on_chosen([json] { return list_examples(*json); });
}

}  // namespace tiersim::cli
