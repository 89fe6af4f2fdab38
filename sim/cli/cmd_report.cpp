// tiersim report KIND ...: tables and figures made of records. kKinds names the kinds; a new one is
// a row there, a report_<kind>.cpp and a folder of reports/.
#include <array>

#include <CLI/CLI.hpp>

#include "sim/cli/report_kinds.hpp"

namespace tiersim::cli {
namespace {

struct Kind {
  const char* name;
  const char* help;
  void (*add)(CLI::App& kind, Action& action);
};

constexpr std::array kKinds{
    Kind{"footprint", "What one GPU of a replica has and holds, and the largest batch that fits",
         add_report_footprint}};

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("report", "Tables and figures made of records");
  verb->require_subcommand(1);
  for (const Kind& kind : kKinds) kind.add(*verb->add_subcommand(kind.name, kind.help), action);
}

}  // namespace tiersim::cli
