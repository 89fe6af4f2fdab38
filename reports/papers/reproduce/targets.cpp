#include "reports/papers/reproduce/targets.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/reproduce/compare.hpp"
#include "reports/papers/reproduce/labels.hpp"
#include "sim/base/text.hpp"

namespace tiersim {

void describe(Fields& f, TargetCell& c) {
  f.doc("One printed number.");
  f.optional("id", c.id, "Path in the list of targets, instead of the row's and the quantity.");
  f.required("paper", c.paper, "The value as printed.");
  f.optional("expect", c.expect, kExpectationNames,
             "exact: simulated must equal the printed value; rule: it must equal `value`.");
  f.optional("value", c.value, "Under `rule`: what the paper's own rule gives.");
  f.optional("why", c.why, "Under `rule`: how the printed value contradicts the paper.");
  f.check(c.expect == Expectation::exact || !c.why.empty(), "why",
          "is missing under `expect: rule`", "say how the printed value contradicts the paper");
}

void describe(Fields& f, TargetRow& c) {
  f.doc("One row of a printed table under one reading.");
  f.required("id", c.id, "Path in the list of targets, without the cell.");
  f.required("label", c.label, "Model, as the paper names it.");
  f.required("method", c.method, "Method, as the paper names it.");
  f.required("reading", c.reading, kReadingNames, "Under which assumptions.");
  f.required("where", c.where, "Table, figure or section.");
  f.required("scenario", c.scenario, "Scenario file, relative to the configs folder.");
  f.optional("set", c.set, "Settings on top of the scenario, a.b=c.");
  f.optional("baseline", c.baseline, "Row that overhead and reduction refer to.");
  f.required("cells", c.cells, "Printed numbers by quantity.");
  for (const auto& [quantity, cell] : c.cells)
    f.check(find_quantity(quantity) != nullptr, "cells." + quantity, "is no known quantity",
            "one of: " + quantity_names());
}

void describe(Fields& f, TargetStep& c) {
  f.doc("A decode step that is simulated beside the table.");
  f.required("label", c.label, "Model.");
  f.required("method", c.method, "Method.");
  f.required("scenario", c.scenario, "Scenario file, relative to the configs folder.");
  f.optional("set", c.set, "Settings on top of the scenario, a.b=c.");
}

namespace {

void check_digest(Fields& f, const Targets& c) {
  if (!c.digest) return;
  for (std::size_t i = 0; i < c.digest->columns.size(); ++i) {
    const DigestColumn& column = c.digest->columns[i];
    const std::string path = "digest.columns." + std::to_string(i);
    const auto study = std::ranges::find(c.studies, column.of, &Study::id);
    const bool question =
        std::ranges::find(c.solves, column.of, &SolveQuestion::id) != c.solves.end();
    f.check(question || study != c.studies.end(), path + ".of", "names no study or question");
    if (study == c.studies.end()) continue;
    f.check(study->axes.size() == 1, path + ".of", "names a study with several axes",
            "one with one axis has one value a row");
    f.check(!column.column.empty(), path, "has no column", "one of the study's columns");
  }
}

// Reports an empty list of machines, and a name that is not in the list.
void check_machine(Fields& f, const std::vector<StudyVariant>& list, const std::string& path,
                   const std::string& machine) {
  check_label(f, path, machine, list, [](const StudyVariant& one) { return one.label; });
}

void check_machines(Fields& f, const Targets& c) {
  const auto list_of = [&](const std::string& path, const std::string& name) {
    const auto list = c.variants.find(name);
    if (list == c.variants.end()) return static_cast<const std::vector<StudyVariant>*>(nullptr);
    f.check(!list->second.empty(), path + "machines", "names a list of none", "one at least");
    return &list->second;
  };
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    const std::string at = fmt::format("curves.{}.", i);
    const auto* list = list_of(at, c.curves[i].machines);
    const std::vector<CurveCheck>& checks = c.curves[i].checks;
    for (std::size_t k = 0; list != nullptr && k < checks.size(); ++k)
      if (!checks[k].machine.empty())
        check_machine(f, *list, fmt::format("{}checks.{}.machine", at, k), checks[k].machine);
  }
  for (std::size_t i = 0; i < c.grids.size(); ++i) {
    const std::string at = fmt::format("grids.{}.", i);
    const auto* list = list_of(at, c.grids[i].machines);
    const std::vector<KnownCell>& known = c.grids[i].known;
    for (std::size_t k = 0; list != nullptr && k < known.size(); ++k)
      check_machine(f, *list, fmt::format("{}known.{}.machine", at, k), known[k].machine);
    const std::vector<GridSubset>& subsets = c.grids[i].subsets;
    for (std::size_t k = 0; list != nullptr && k < subsets.size(); ++k)
      for (const std::string& machine : subsets[k].machines)
        check_machine(f, *list, fmt::format("{}subsets.{}.machines", at, k), machine);
  }
}

}  // namespace

void describe(Fields& f, Targets& c) {
  f.doc("Statements of one paper that a simulation can be held to.");
  f.required("paper", c.paper, "Title and authors.");
  f.required("rows", c.rows, "Printed rows.");
  f.optional("steps", c.steps, "Decode steps to show beside them.");
  f.optional("variants", c.variants, "Lists of named choices, for studies and questions.");
  f.optional("studies", c.studies, "Figures, and sweeps beyond the paper.");
  f.optional("solves", c.solves, "Questions: which setting gives a metric a value.");
  f.optional("digest", c.digest, "One table of what goes beyond the paper.");
  f.optional("curves", c.curves, "Ways to run a step beside each other over one setting.");
  f.optional("grids", c.grids, "Ratios in every cell of what the paper leaves open.");
  f.optional("maps", c.maps, "Which way to run a step is fastest where.");
  f.optional("numerics", c.numerics, "Statements about numerics.");
  f.optional("early_exit", c.early_exit, "Serving with early exit.");
  f.optional("served_loads", c.served_loads,
             "Published tokens/s of servers or steps under rising load, side by side.");
  f.optional("unsimulated", c.unsimulated, "Printed values that are not simulated, and why.");
  const auto check_list = [&](const std::string& path, const std::string& list) {
    std::vector<std::string> names;
    for (const auto& [name, variants] : c.variants) names.push_back(name);
    f.check(list.empty() || c.variants.contains(list), path, "names no list of variants",
            "the lists are: " + join(names));
  };
  for (std::size_t s = 0; s < c.studies.size(); ++s)
    for (std::size_t a = 0; a < c.studies[s].axes.size(); ++a)
      check_list("studies." + std::to_string(s) + ".axes." + std::to_string(a) + ".variants",
                 c.studies[s].axes[a].variants);
  for (std::size_t q = 0; q < c.solves.size(); ++q)
    check_list("solves." + std::to_string(q) + ".variants", c.solves[q].variants);
  for (std::size_t i = 0; i < c.curves.size(); ++i)
    check_list("curves." + std::to_string(i) + ".machines", c.curves[i].machines);
  for (std::size_t i = 0; i < c.grids.size(); ++i)
    check_list("grids." + std::to_string(i) + ".machines", c.grids[i].machines);
  check_machines(f, c);
  check_digest(f, c);
}

}  // namespace tiersim
