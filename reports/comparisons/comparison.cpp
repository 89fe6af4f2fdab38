#include "reports/comparisons/comparison.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

template <class List, class Label>
void check_label(Fields& f, const std::string& path, const std::string& label, const List& list,
                 Label of) {
  std::vector<std::string> names;
  for (const auto& element : list) names.push_back(of(element));
  f.check(std::ranges::find(names, label) != names.end(), path, "there is no '" + label + "'",
          "there are: " + join(names));
}

}  // namespace

void describe(Fields& f, CurveCase& c) {
  f.doc("Ways to do one thing.");
  f.required("label", c.label, "Name in tables.");
  f.required("ways", c.ways, "The first is what the others are compared with.");
  f.check(c.ways.size() > 1, "ways", "is one", "a comparison has two or more");
}

void describe(Fields& f, CurveCheck& c) {
  f.doc("What has to hold of the ratio of one way to the first.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("says", c.says, "What the paper says.");
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
}

void describe(Fields& f, CurvePrinted& c) {
  f.doc("A printed ratio whose conditions the paper leaves open.");
  f.required("id", c.id, "Path in the list of targets; the case's label is added.");
  f.required("says", c.says, "What the paper says.");
  f.required("ways", c.ways, "Labels of the ways that it may be of.");
  f.required("at", c.at, "The context.", in_range(1, 100'000'000));
  f.required("paper", c.paper, "As printed.");
  f.required("near", c.near, "Relative distance that counts as near.", in_range(0.0, 1.0));
}

void describe(Fields& f, Curves& c) {
  f.doc("Ways beside each other over the context, on several machines.");
  f.required("id", c.id, "Name, dotted.");
  f.required("title", c.title, "Title of its table.");
  f.optional("where", c.where, "Figure or section of the paper.");
  f.required("machines", c.machines, "List of variants.");
  f.required("cases", c.cases, "What is compared.");
  f.required("contexts", c.contexts, "Positions of each sequence.", in_range(1, 100'000'000));
  f.optional("largest_batch", c.largest_batch, "Every point runs the largest batch that fits.");
  f.required("metric", c.metric, "What is compared.");
  f.optional("digest", c.digest, "Whether its tables stand on the terminal without --full.");
  f.optional("checks", c.checks, "What has to hold.");
  f.optional("printed", c.printed, "Printed ratios.");
  f.optional("notes", c.notes, "Lines under the table.");
  for (std::size_t i = 0; i < c.printed.size(); ++i)
    f.check(std::ranges::find(c.contexts, c.printed[i].at) != c.contexts.end(),
            fmt::format("printed.{}.at", i), "is none of the contexts", "add it to them");
  for (std::size_t k = 0; k < c.cases.size(); ++k) {
    const auto label = [](const StudyVariant& way) { return way.label; };
    for (std::size_t i = 0; i < c.printed.size(); ++i)
      for (const std::string& way : c.printed[i].ways)
        check_label(f, fmt::format("printed.{}.ways", i), way, c.cases[k].ways, label);
    for (std::size_t i = 0; i < c.checks.size(); ++i) {
      check_label(f, fmt::format("checks.{}.way", i), c.checks[i].way, c.cases[k].ways, label);
      if (!c.checks[i].other_way.empty())
        check_label(f, fmt::format("checks.{}.other_way", i), c.checks[i].other_way,
                    c.cases[k].ways, label);
    }
  }
}

void describe(Fields& f, GridCase& c) {
  f.doc("Two ways to run a step.");
  f.required("label", c.label, "Name in tables.");
  f.required("baseline", c.base, "What the other is compared with.");
  f.required("other", c.other, "The other.");
  f.required("paper", c.paper, "Ratio as printed.");
  f.required("near", c.near, "Relative distance that counts as near.", in_range(0.0, 1.0));
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
  f.required("region", c.region, kRegionNames, "What is timed.");
  f.required("output_projection", c.output_projection, kOutputProjectionNames, "Where it is.");
  f.required("batch", c.batch, "Label.");
  f.required("host", c.host, "Label.");
  f.required("ratios", c.ratios, "By case; 0 where none was worked out.");
  f.required("tolerance", c.tolerance, "Relative.", in_range(0.0, 1.0));
  f.optional("approximate", c.approximate, "Worked out roughly: held to nothing.");
  f.required("why", c.why, "Where the tolerance comes from.");
}

void describe(Fields& f, SpeedupGrid& c) {
  f.doc("A ratio in every cell of what a paper leaves open.");
  f.required("id", c.id, "Name, dotted.");
  f.required("title", c.title, "Title of its tables.");
  f.optional("where", c.where, "Figure or section of the paper.");
  f.required("machines", c.machines, "List of variants.");
  f.required("cases", c.cases, "What is compared.");
  f.required("tiles", c.tiles, "Of the attention kernel.");
  f.required("regions", c.regions, kRegionNames, "What is timed.");
  f.required("output_projections", c.output_projections, kOutputProjectionNames,
             "Of the other way.");
  f.required("batches", c.batches, "How the batch is chosen.");
  f.required("hosts", c.hosts, "Time of the host.");
  f.optional("known", c.known, "Cells worked out by hand.");
  f.optional("notes", c.notes, "Lines under the tables.");
  for (std::size_t k = 0; k < c.known.size(); ++k) {
    const KnownCell& cell = c.known[k];
    const std::string at = fmt::format("known.{}.", k);
    check_label(f, at + "tiles", cell.tiles, c.tiles, [](const GridTiles& t) { return t.label; });
    check_label(f, at + "batch", cell.batch, c.batches, [](const GridBatch& b) { return b.label; });
    check_label(f, at + "host", cell.host, c.hosts, [](const GridHost& h) { return h.label; });
    f.check(cell.ratios.size() == c.cases.size(), at + "ratios", "are not one for each case",
            "0 where none was worked out");
  }
}

}  // namespace tiersim
