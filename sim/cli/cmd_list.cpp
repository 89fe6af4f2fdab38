// tiersim list WHAT: a table of devices, files, methods or metrics; --json prints an array.
#include <fmt/format.h>

#include "reports/render/table.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/runner/listing.hpp"

namespace tiersim::cli {
void add_list(Verb program) {
  Verb verb = program.add(
      "list", "List the shipped devices, systems, models, methods, metrics and scenarios");
  verb.needs_verb();
  for (const ListKind& kind : list_kinds()) {
    auto json = std::make_shared<bool>(false);
    Verb what = verb.add(kind.name, kind.help);
    what.flag("--json", *json, "Print a JSON array");
    what.on_chosen([json, name = kind.name] {
      const Listing listing = listing_of(name);
      fmt::print("{}", *json ? listing.json : to_text(listing.table));
      return ExitCode::ok;
    });
  }
}

}  // namespace tiersim::cli
