#include "reports/papers/statements/unsimulated.hpp"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {

void describe(Fields& f, UnsimulatedValue& c) {
  f.doc("A printed value that is not simulated.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("where", c.where, "Source, for readers.");
  f.required("says", c.says, "The result, in words.");
  f.required("printed", c.printed, "The value.");
  f.required("unit", c.unit, "Its unit.");
  f.required("why", c.why, "What a simulation would need and the source does not state.");
}

ReportSection section_of(const std::vector<UnsimulatedValue>& values) {
  ReportSection section{.id = "unsimulated"};
  Table table{.title = "Printed values that are not simulated", .notes = {}};
  for (const char* title : {"where", "says", "printed", "unit", "why"})
    table.columns.push_back({title, Align::left});
  table.columns[2].align = Align::right;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const UnsimulatedValue& one : values) {
    table.add({one.where, one.says, fmt::format("{:.4g}", one.printed), one.unit, one.why});
    rows.push_back({{"id", one.id}, {"where", one.where}, {"says", one.says}, {"why", one.why}});
    section.results.push_back({.id = one.id,
                               .reading = "paper",
                               .paper = one.printed,
                               .simulated = std::numeric_limits<double>::quiet_NaN(),
                               .unit = one.unit,
                               .tolerance = 0,
                               .status = "unexplained",
                               .why = "not simulated: " + one.why});
  }
  section.add("unsimulated", std::move(table));
  section.json = rows.dump();
  return section;
}

}  // namespace tiersim
