#include "reports/papers/early_exit/early_exit_targets.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/papers/reproduce/labels.hpp"

namespace tiersim {

std::string name_of(const ExitCell& cell) {
  std::string name(kExitTechniqueNames[static_cast<std::size_t>(cell.technique)]);
  return cell.variant.empty() ? name : name + '.' + cell.variant;
}

void describe(Fields& f, ExitCell& c) {
  f.doc("One bar of the throughput figure with that of the latency figure.");
  f.required("technique", c.technique, kExitTechniqueNames, "How tokens leave.");
  f.optional("variant", c.variant, "Another reading of a cell, at the end of its ids.");
  f.required("tokens_per_s", c.tokens_per_s, "As printed.", positive());
  f.required("latency_s", c.latency_s, "As printed.", positive());
  f.optional("exit_rate", c.exit_rate, "Mean share of layers skipped.", in_range(0.0, 1.0));
  f.optional("counted", c.counted, "True where it is a number of the paper's own.");
  f.optional("why", c.why, "Evidence against the printed number.");
  f.check(measures(c.technique) == c.exit_rate.has_value(), "exit_rate",
          "does not belong to the technique", "softmax, state and classifier have one");
}

void describe(Fields& f, ExitModel& c) {
  f.doc("A model with its cells.");
  f.required("label", c.label, "As in ids.");
  f.required("serving", c.serving, "Serving file, relative to the configs folder.");
  f.required("cells", c.cells, "Printed numbers, those of all layers first.");
  f.check(!c.cells.empty() && c.cells.front().technique == ExitTechnique::full, "cells",
          "do not begin with `full`", "the others are compared with it");
}

void describe(Fields& f, ExitEvidence& c) {
  f.doc("Consequences of the printed numbers alone.");
  f.required("intercept_ms", c.intercept_ms, "a of t = a + b N through the two full cells.");
  f.required("near_null", c.near_null, "Cells near a server without any effect of early exit.");
  f.required("says", c.says, "Its meaning.");
}

void describe(Fields& f, ExitHeadline& c) {
  f.doc("Ratios that the paper names.");
  f.required("throughput", c.throughput, "Largest ratio of tokens/s.", positive());
  f.required("near", c.near, "Relative distance that counts as near.", in_range(0.0, 0.99));
  f.required("latency", c.latency, "Largest ratio of inner-token latency.", positive());
  f.required("latency_says", c.latency_says, "Meaning of the ratio of latencies.");
}

void describe(Fields& f, ExitCase& c) {
  f.doc("A way to leave early.");
  f.required("label", c.label, "Name in tables.");
  f.required("early_exit", c.exit, "Technique, rule and depths.");
  f.optional("set", c.set, "Settings on top of the serving file.");
}

void describe(Fields& f, ExitCheck& c) {
  f.doc("A condition on the speed-up of a case over the first.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("says", c.says, "The statement that is checked.");
  f.required("case", c.of_case, "Label of the case.");
  f.optional("than", c.than, "Label of what it is compared with, instead of the first.");
  f.optional("correlation", c.correlation, "One of the correlations; all where it is left out.");
  f.required("from", c.from, "Least batch that is looked at.", in_range(1, 1'000'000));
  f.required("to", c.to, "Largest one.", in_range(1, 1'000'000));
  f.optional("at_least", c.at_least, "No ratio is below.");
  f.optional("at_most", c.at_most, "No ratio is above.");
  f.required("why", c.why, "Where the bound comes from.");
  f.check(c.at_least || c.at_most, "at_least", "is missing, and at_most too", "one of them");
}

void describe(Fields& f, BatchSweep& c) {
  f.doc("Decoding at one batch after another, by every case and correlation.");
  f.required("id", c.id, "Name, dotted.");
  f.required("title", c.title, "Title of its tables.");
  f.required("serving", c.serving, "Serving file, relative to the configs folder.");
  f.optional("set", c.set, "Settings on top of it.");
  f.required("output_tokens", c.output_tokens, "Tokens of each answer.", in_range(2, 100'000));
  f.required("batches", c.batches, "Sequences that decode together.", in_range(1, 100'000));
  f.required("correlations", c.correlations, "Between the tokens of an iteration.",
             in_range(0.0, 1.0));
  f.required("cases", c.cases, "The first is what the others are compared with.");
  f.optional("checks", c.checks, "Conditions that must hold.");
  f.optional("digest", c.digest, "True: its table is printed without --full.");
  f.optional("notes", c.notes, "Lines under the table.");
  f.check(!c.batches.empty(), "batches", "is empty", "one at least");
  f.check(!c.correlations.empty(), "correlations", "is empty", "one at least");
  f.check(c.cases.size() > 1, "cases", "is one", "a comparison has two or more");
  for (std::size_t i = 0; i < c.checks.size(); ++i) {
    const ExitCheck& check = c.checks[i];
    const std::string at = fmt::format("checks.{}.", i);
    const auto label = [](const ExitCase& one) { return one.label; };
    check_label(f, at + "case", check.of_case, c.cases, label);
    if (!check.than.empty()) check_label(f, at + "than", check.than, c.cases, label);
    f.check(!check.correlation ||
                std::ranges::find(c.correlations, *check.correlation) != c.correlations.end(),
            at + "correlation", "is none of the correlations", "add it to them");
    f.check(std::ranges::any_of(c.batches,
                                [&](std::int64_t b) { return check.from <= b && b <= check.to; }),
            at + "from", "and `to` have no batch between them", "choose some of the batches");
  }
}

void describe(Fields& f, EarlyExitTargets& c) {
  f.doc("Serving with early exit: printed cells, and engines that do not wait for their CPU.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("where", c.where, "Figures of the paper.");
  f.required("near", c.near, "Relative distance at which a prediction is one.",
             in_range(0.0, 0.99));
  f.required("spread", c.spread, "Standard deviation of depths, layers.", positive());
  f.required("correlations", c.correlations, "Between the tokens of an iteration; all are shown.",
             in_range(0.0, 1.0));
  f.required("models", c.models, "Printed cells by model.");
  f.required("evidence", c.evidence, "Consequences of the printed numbers alone.");
  f.required("headline", c.headline, "Ratios that the paper names.");
  f.optional("engines", c.engines, "Engines that the paper could have used.");
  f.optional("notes", c.notes, "Lines under the table of cells.");
  f.check(c.models.size() == 2, "models", "are not two", "the host is fitted through two cells");
  f.check(!c.correlations.empty(), "correlations", "is empty", "one at least");
}

}  // namespace tiersim
