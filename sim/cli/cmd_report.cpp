// tiersim report KIND ...: tables and figures from records. kKinds lists the kinds; a new kind is a
// row there, a report_<kind>.cpp and a folder of reports/.
#include <array>

#include "sim/cli/report_kinds.hpp"

namespace tiersim::cli {
namespace {

struct Kind {
  const char* name;
  const char* help;
  void (*add)(Verb kind);
};

constexpr std::array kKinds{
    Kind{"footprint", "Bytes held, by tier and tensor class; of scenarios also the largest batches",
         add_report_footprint},
    Kind{"io", "Bytes moved (payload, moved, on the wire), by device, class and channel",
         add_report_io},
    Kind{"bottleneck", "The resource that bounds each point, and the next one",
         add_report_bottleneck},
    Kind{"curves", "A metric over a numeric axis, a line for each combination of the others",
         add_report_curves},
    Kind{"pareto", "Points that nothing beats, for any objectives; recall beside speed",
         add_report_pareto},
    Kind{"sensitivity", "Which parameter moves a metric most", add_report_sensitivity},
    Kind{"html", "One page with tables, charts and every point, to be opened offline",
         add_report_html}};

}  // namespace

void add_report(Verb program) {
  Verb verb = program.add("report", "Make tables and figures from records");
  verb.needs_verb();
  for (const Kind& kind : kKinds) kind.add(verb.add(kind.name, kind.help));
}

}  // namespace tiersim::cli
