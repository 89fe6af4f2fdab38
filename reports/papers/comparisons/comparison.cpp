#include "reports/papers/comparisons/comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/reproduce/labels.hpp"
#include "sim/base/text.hpp"
#include "sim/record/metrics.hpp"

namespace tiersim {
namespace {

template <class List>
void check_some(Fields& f, const std::string& path, const List& list) {
  f.check(!list.empty(), path, "is empty", "one at least");
}

void check_metric(Fields& f, const std::string& name) {
  std::vector<std::string> names;
  for (const MetricDefinition& metric : kMetrics) names.emplace_back(metric.name);
  const std::string_view guess = nearest(name, names);
  f.check(std::ranges::find(names, name) != names.end(), "metric", "there is no '" + name + "'",
          guess.empty() ? "see tiersim list metrics" : fmt::format("did you mean '{}'?", guess));
}

}  // namespace

void describe(Fields& f, CurveCase& c) {
  f.doc("Ways to do one thing.");
  f.required("label", c.label, "Name in tables.");
  f.required("ways", c.ways, "The first is what the others are compared with.");
  f.check(c.ways.size() > 1, "ways", "is one", "a comparison has two or more");
}

void describe(Fields& f, CurveCheck& c) {
  f.doc("A condition on the ratio of one way to the first.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("says", c.says, "The statement of the paper.");
  f.required("way", c.way, "Label of the way.");
  f.optional("other_way", c.other_way, "Label of what it is compared with, instead of the first.");
  f.optional("case", c.of_case, "Label of the case; all where it is left out.");
  f.optional("machine", c.machine, "Label of the machine; all where it is left out.");
  f.required("from", c.from, "Least context that is looked at.", in_range(1, 100'000'000));
  f.required("to", c.to, "Largest one.", in_range(1, 100'000'000));
  f.optional("at_least", c.at_least, "No ratio is below.");
  f.optional("at_most", c.at_most, "No ratio is above.");
  f.required("why", c.why, "Where the bounds come from.");
  f.check(c.at_least || c.at_most, "at_least", "is missing, and at_most too", "one of them");
  f.check(!c.at_least || !c.at_most || *c.at_least <= *c.at_most, "at_least", "is above at_most",
          "nothing is between them");
}

void describe(Fields& f, CurvePrinted& c) {
  f.doc("A printed ratio whose conditions the paper leaves open.");
  f.required("id", c.id, "Path in the list of targets; the case's label is added.");
  f.required("says", c.says, "The statement of the paper.");
  f.required("ways", c.ways, "Labels of the ways that it may be of.");
  f.required("at", c.at, "The context.", in_range(1, 100'000'000));
  f.required("paper", c.paper, "As printed.", positive());
  f.required("near", c.near, "Relative distance that counts as near.", in_range(0.0, 0.99));
  check_some(f, "ways", c.ways);
}

namespace {

std::string way_label(const StudyVariant& way) {
  return way.label;
}

void check_printed(Fields& f, const Curves& c, std::size_t i) {
  const CurvePrinted& printed = c.printed[i];
  f.check(std::ranges::find(c.contexts, printed.at) != c.contexts.end(),
          fmt::format("printed.{}.at", i), "is none of the contexts", "add it to them");
  for (const CurveCase& one : c.cases)
    for (const std::string& way : printed.ways)
      check_label(f, fmt::format("printed.{}.ways", i), way, one.ways, way_label);
}

// A check without values would pass or fail for the wrong reason.
void check_check(Fields& f, const Curves& c, std::size_t i) {
  const CurveCheck& check = c.checks[i];
  const std::string at = fmt::format("checks.{}.", i);
  f.check(std::ranges::any_of(c.contexts,
                              [&](std::int64_t v) { return check.from <= v && v <= check.to; }),
          at + "from", "and `to` have no context between them", "choose some of the contexts");
  if (!check.of_case.empty())
    check_label(f, at + "case", check.of_case, c.cases,
                [](const CurveCase& one) { return one.label; });
  for (const CurveCase& one : c.cases) {
    if (!check.of_case.empty() && one.label != check.of_case) continue;
    check_label(f, at + "way", check.way, one.ways, way_label);
    if (!check.other_way.empty())
      check_label(f, at + "other_way", check.other_way, one.ways, way_label);
  }
}

}  // namespace

void describe(Fields& f, Curves& c) {
  f.doc("Ways beside each other over the context, on several machines.");
  f.required("id", c.id, "Name, dotted.");
  f.required("title", c.title, "Title of its table.");
  f.optional("where", c.where, "Figure or section of the paper.");
  f.required("machines", c.machines, "List of variants.");
  f.required("cases", c.cases, "The compared quantity.");
  f.required("contexts", c.contexts, "Positions of each sequence.", in_range(1, 100'000'000));
  f.optional("largest_batch", c.largest_batch, "Every point runs the largest batch that fits.");
  f.required("metric", c.metric, "The compared quantity.");
  f.optional("digest", c.digest, "True: its tables are printed without --full.");
  f.optional("checks", c.checks, "Conditions that must hold.");
  f.optional("printed", c.printed, "Printed ratios.");
  f.optional("notes", c.notes, "Lines under the table.");
  check_some(f, "cases", c.cases);
  check_some(f, "contexts", c.contexts);
  check_metric(f, c.metric);
  for (std::size_t i = 0; i < c.printed.size(); ++i) check_printed(f, c, i);
  for (std::size_t i = 0; i < c.checks.size(); ++i) check_check(f, c, i);
}

void describe(Fields& f, GridCase& c) {
  f.doc("Two ways to run a step.");
  f.required("label", c.label, "Name in tables.");
  f.required("baseline", c.base, "The scenario that the other is compared with.");
  f.required("other", c.other, "The other.");
  f.required("paper", c.paper, "Ratio as printed.", positive());
  f.required("near", c.near, "Relative distance that counts as near.", in_range(0.0, 0.99));
}

void describe(Fields& f, GridTiles& c) {
  f.doc("Tiles of the attention kernel.");
  f.required("label", c.label, "Name in tables.");
  f.document("kernel", c.kernel, "kernel", "The kernel.");
}

void describe(Fields& f, GridBatch& c) {
  f.doc("How the batch is chosen.");
  f.required("label", c.label, "Name in tables.");
  f.required("near_share", c.near_share, "Share of the near tier that may be filled.",
             in_range(0.01, 1.0));
  f.optional("same", c.same, "Both ways run the base's batch.");
}

void describe(Fields& f, GridHost& c) {
  f.doc("Time of the host in every step.");
  f.required("label", c.label, "Name in tables.");
  f.required("step", c.step, "The time.",
             in_range(Duration{}, Duration(std::int64_t{1'000'000'000'000})));
}

void describe(Fields& f, KnownCell& c) {
  f.doc("A cell that was worked out by hand.");
  f.required("id", c.id, "Path in the list of targets; the case's label is added.");
  f.required("machine", c.machine, "Label.");
  f.required("tiles", c.tiles, "Label.");
  f.required("region", c.region, kRegionNames, "Operations that are timed.");
  f.required("output_projection", c.output_projection, kOutputProjectionNames, "Where it is.");
  f.required("batch", c.batch, "Label.");
  f.required("host", c.host, "Label.");
  f.required("ratios", c.ratios, "By case; 0 where none was worked out.");
  f.required("tolerance", c.tolerance, "Relative.", in_range(0.0, 1.0));
  f.optional("approximate", c.approximate, "Worked out roughly: held to nothing.");
  f.required("why", c.why, "Where the tolerance comes from.");
}

namespace {

void check_known(Fields& f, const SpeedupGrid& c, std::size_t k) {
  const KnownCell& cell = c.known[k];
  const std::string at = fmt::format("known.{}.", k);
  check_label(f, at + "tiles", cell.tiles, c.tiles, [](const GridTiles& t) { return t.label; });
  check_label(f, at + "batch", cell.batch, c.batches, [](const GridBatch& b) { return b.label; });
  check_label(f, at + "host", cell.host, c.hosts, [](const GridHost& h) { return h.label; });
  const auto region = [](Region r) {
    return std::string(kRegionNames[static_cast<std::size_t>(r)]);
  };
  const auto projection = [](OutputProjection p) {
    return std::string(kOutputProjectionNames[static_cast<std::size_t>(p)]);
  };
  check_label(f, at + "region", region(cell.region), c.regions, region);
  check_label(f, at + "output_projection", projection(cell.output_projection), c.output_projections,
              projection);
  f.check(cell.ratios.size() == c.cases.size(), at + "ratios", "are not one for each case",
          "0 where none was worked out");
}

void check_subset(Fields& f, const SpeedupGrid& c, std::size_t k) {
  const GridSubset& subset = c.subsets[k];
  const std::string at = fmt::format("subsets.{}.", k);
  for (const std::string& label : subset.tiles)
    check_label(f, at + "tiles", label, c.tiles, [](const GridTiles& t) { return t.label; });
  for (const std::string& label : subset.batches)
    check_label(f, at + "batches", label, c.batches, [](const GridBatch& b) { return b.label; });
  for (const std::string& label : subset.hosts)
    check_label(f, at + "hosts", label, c.hosts, [](const GridHost& h) { return h.label; });
  const auto name = [](Region r) { return std::string(kRegionNames[static_cast<std::size_t>(r)]); };
  for (const Region region : subset.regions)
    check_label(f, at + "regions", name(region), c.regions, name);
}

}  // namespace

void describe(Fields& f, GridSubset& c) {
  f.doc("The cells with some choices only; all of a list that is left out.");
  f.required("id", c.id, "Path in the list of targets; the case's label is added.");
  f.required("says", c.says, "The conditions in words.");
  f.optional("machines", c.machines, "Labels.");
  f.optional("tiles", c.tiles, "Labels.");
  f.optional("regions", c.regions, kRegionNames, "Operations that are timed.");
  f.optional("batches", c.batches, "Labels.");
  f.optional("hosts", c.hosts, "Labels.");
}

void describe(Fields& f, SpeedupGrid& c) {
  f.doc("A ratio in every cell of what a paper leaves open.");
  f.required("id", c.id, "Name, dotted.");
  f.required("title", c.title, "Title of its tables.");
  f.optional("where", c.where, "Figure or section of the paper.");
  f.required("machines", c.machines, "List of variants.");
  f.required("cases", c.cases, "The compared quantity.");
  f.required("tiles", c.tiles, "Of the attention kernel.");
  f.required("regions", c.regions, kRegionNames, "Operations that are timed.");
  f.required("output_projections", c.output_projections, kOutputProjectionNames,
             "Of the other way.");
  f.required("batches", c.batches, "How the batch is chosen.");
  f.required("hosts", c.hosts, "Time of the host.");
  f.optional("known", c.known, "Cells worked out by hand.");
  f.optional("subsets", c.subsets, "Conditions that the paper does state.");
  f.optional("notes", c.notes, "Lines under the tables.");
  check_some(f, "cases", c.cases);
  check_some(f, "tiles", c.tiles);
  check_some(f, "regions", c.regions);
  check_some(f, "output_projections", c.output_projections);
  check_some(f, "batches", c.batches);
  check_some(f, "hosts", c.hosts);
  for (std::size_t k = 0; k < c.subsets.size(); ++k) check_subset(f, c, k);
  for (std::size_t k = 0; k < c.known.size(); ++k) check_known(f, c, k);
}

}  // namespace tiersim
