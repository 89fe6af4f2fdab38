#include "reports/papers/maps/win_map.hpp"

#include <algorithm>
#include <functional>

#include "reports/render/table.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

bool rises(const std::vector<std::int64_t>& values) {
  return std::ranges::adjacent_find(values, std::greater_equal<>{}) == values.end();
}

void check_axis(Fields& f, const std::string& key, const std::vector<std::int64_t>& values) {
  f.check(!values.empty() && rises(values) && values.front() > 0, key,
          "are not counts from the smallest to the largest", "such as [1, 2, 4]");
}

void check_variants(Fields& f, const std::string& key, const std::vector<StudyVariant>& variants) {
  f.check(!variants.empty(), key, "is empty", "one at least, such as {label: as it is}");
  for (std::size_t i = 0; i < variants.size(); ++i)
    f.check(variants[i].scenario.empty(), key + '.' + std::to_string(i),
            "names a scenario, which the ways do", "give its settings under `set`");
}

}  // namespace

void describe(Fields& f, MapWay& c) {
  f.doc("One of the ways to run a step that a map compares.");
  f.required("label", c.label, "Name in tables.");
  f.required("letter", c.letter, "One character, which stands in the cells that it wins.");
  f.required("scenario", c.scenario, "Scenario file, relative to the configs folder.");
  f.optional("set", c.set, "Settings on top of the scenario, a.b=c.");
  f.optional("remark", c.remark, "A remark on this way.");
  f.check(display_width(c.letter) == 1, "letter", "is not one character");
}

void describe(Fields& f, WinMap& c) {
  f.doc("Which way has the most tokens a second, by context, batch and two lists of settings.");
  f.required("id", c.id, "Name of the map, dotted.");
  f.required("title", c.title, "Title of its figure and tables.");
  f.required("ways", c.ways, "Ways to compare.");
  f.required("contexts", c.contexts, "Positions of a sequence, across.");
  f.required("batches", c.batches, "Sequences of a replica, upwards.");
  f.required("column_title", c.column_title, "The quantity in which columns of panels differ.");
  f.required("columns", c.columns, "Settings of each column.");
  f.required("row_title", c.row_title, "The quantity in which rows of panels differ.");
  f.required("rows", c.rows, "Settings of each row.");
  f.optional("tie", c.tie, "Ways closer than this tie.", in_range(0.0, 0.5));
  f.optional("without", c.without, "Way that a second map leaves out.");
  f.optional("notes", c.notes, "Assumptions of the map.");
  f.check(c.ways.size() >= 2, "ways", "has fewer than two to compare");
  check_axis(f, "contexts", c.contexts);
  check_axis(f, "batches", c.batches);
  check_variants(f, "columns", c.columns);
  check_variants(f, "rows", c.rows);
  std::vector<std::string> labels;
  std::vector<std::string> letters;
  for (const MapWay& way : c.ways) {
    labels.push_back(way.label);
    f.check(std::ranges::find(letters, way.letter) == letters.end(), "ways",
            "has two with the letter '" + way.letter + "'");
    letters.push_back(way.letter);
  }
  f.check(c.without.empty() || std::ranges::find(labels, c.without) != labels.end(), "without",
          "names none of the ways", "one of: " + join(labels));
  f.check(c.without.empty() || c.ways.size() > 2, "without", "leaves a single way");
}

}  // namespace tiersim
