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
    Kind{"footprint",
         "Show the bytes that each tier holds, by class of tensor; for scenarios also the largest "
         "batches",
         add_report_footprint},
    Kind{
        "io",
        "Show the bytes that each device moves (payload, moved, on the wire), by class and channel",
        add_report_io},
    Kind{"bottleneck",
         "Show the resource that bounds each point, and the one that would bound it next",
         add_report_bottleneck},
    Kind{"curves",
         "Draw a metric over a numeric axis, with a line for each combination of the other axes",
         add_report_curves},
    Kind{"marginal",
         "Show by how much metrics change with one more unit of a numeric axis: the value of a GB",
         add_report_marginal},
    Kind{"pareto", "Show the Pareto front of any objectives, and recall beside speed",
         add_report_pareto},
    Kind{"sensitivity", "Rank the parameters by their effect on a metric", add_report_sensitivity},
    Kind{"html", "Write one HTML page with tables, charts and every point, which opens offline",
         add_report_html}};

}  // namespace

void add_report(Verb program) {
  Verb verb =
      program.add("report", "Make tables and figures from configurations, records and stores");
  verb.needs_verb();
  for (const Kind& kind : kKinds) kind.add(verb.add(kind.name, kind.help));
}

}  // namespace tiersim::cli
