#include "reports/papers/studies/study.hpp"

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

std::vector<StudyVariant> choices(const StudyAxis& axis, const VariantLists& lists) {
  if (!axis.variants.empty()) return lists.at(axis.variants);
  std::vector<StudyVariant> out;
  for (const std::string& value : axis.values)
    out.push_back({.label = value, .set = {axis.key + '=' + value}});
  return out;
}

}  // namespace

void describe(Fields& f, StudyVariant& c) {
  f.doc("A named choice of scenario and settings.");
  f.optional("label", c.label, "Name in tables.");
  f.optional("scenario", c.scenario, "Scenario file instead of the study's.");
  f.optional("set", c.set, "Settings on top, a.b=c.");
}

void describe(Fields& f, StudyAxis& c) {
  f.doc("An axis of a study: values of one setting, or the variants of a list.");
  f.required("name", c.name, "Name in tables.");
  f.optional("key", c.key, "Setting that takes the values.");
  f.optional("values", c.values, "Its values, as text.");
  f.optional("variants", c.variants, "List of variants, instead of key and values.");
  const bool setting = !c.key.empty() && !c.values.empty();
  f.check(setting != !c.variants.empty(), "name", "has neither or both of values and variants",
          "give key and values, or variants");
}

void describe(Fields& f, StudyCheck& c) {
  f.doc("A condition that must hold over the points of a study.");
  f.required("id", c.id, "Path in the list of targets.");
  f.required("says", c.says, "The statement that is checked.");
  f.required("test", c.test, kCheckTestNames,
             "linear, rises: along the last axis; largest: at its last point; equals, at_most: "
             "every point; is: text.");
  f.required("sum", c.sum, "Columns whose sum is looked at.");
  f.optional("over", c.over, "Column that the sum is divided by.");
  f.optional("rows", c.rows, "Only the points with these labels, by axis.");
  f.optional("value", c.value, "For equals and at_most.");
  f.optional("text", c.text, "For is.");
  f.optional("tolerance", c.tolerance, "For linear (of the range), equals and at_most.");
  f.optional("why", c.why, "Where the tolerance comes from.");
  f.check(c.tolerance == 0 || !c.why.empty(), "why", "is missing beside a tolerance",
          "say where the tolerance comes from");
}

void describe(Fields& f, Study& c) {
  f.doc("One scenario at every point of some axes.");
  f.required("id", c.id, "Name of the study, dotted.");
  f.required("title", c.title, "Title of its table.");
  f.optional("where", c.where, "Figure or section of the paper.");
  f.required("scenario", c.scenario, "Scenario file, relative to the configs folder.");
  f.optional("set", c.set, "Settings on top of the scenario, a.b=c.");
  f.required("axes", c.axes, "Axes, the last one fastest.");
  f.required("columns", c.columns, "Metrics and derived columns to show.");
  f.optional("footprint_only", c.footprint_only, "No times, so that nothing has to fit.");
  f.optional("largest_batch", c.largest_batch, "Every point runs the largest batch that fits.");
  f.optional("pivot", c.pivot, "Columns shown with the first axis down and the last across.");
  f.optional("bars", c.bars, "Also the time split as bars of characters.");
  f.optional("checks", c.checks, "Conditions that must hold.");
  f.optional("notes", c.notes, "Assumptions of the table.");
  f.check(!c.axes.empty(), "axes", "is empty", "one axis at least");
  f.check(c.pivot.empty() || c.axes.size() == 2, "pivot", "needs two axes");
}

void describe(Fields& f, SolveQuestion& c) {
  f.doc("The value of one setting at which a metric has a given value.");
  f.required("id", c.id, "Name of the question, dotted.");
  f.required("title", c.title, "The question.");
  f.required("scenario", c.scenario, "Scenario file, relative to the configs folder.");
  f.optional("set", c.set, "Settings on top of the scenario, a.b=c.");
  f.optional("variants", c.variants, "Asked of every variant of this list.");
  f.required("vary", c.vary, "Setting to find the value of.");
  f.required("between", c.between, "Lowest and highest value.");
  f.required("metric", c.metric, "Metric that is to have a value.");
  f.optional("equals", c.equals, "That value, with its unit.");
  f.optional("equal_to", c.equal_to, "Or: the metric with these settings.");
  f.optional("times", c.times, "Factor on either.", in_range(1e-6, 1e6));
  f.optional("notes", c.notes, "Assumptions of the answer.");
  f.check(c.between.size() == 2, "between", "needs two values");
}

void describe(Fields& f, DigestColumn& c) {
  f.doc("A column of the digest.");
  f.required("title", c.title, "Its title.");
  f.required("of", c.of, "Study with one axis, or question, whose values it shows.");
  f.optional("column", c.column, "Column of the study.");
}

void describe(Fields& f, Digest& c) {
  f.doc("One table of what goes beyond the paper, a row for each variant.");
  f.required("title", c.title, "Title of the table.");
  f.required("rows", c.rows, "Title of the first column.");
  f.required("columns", c.columns, "Values of studies and answers to questions.");
  f.optional("notes", c.notes, "Assumptions of the table.");
}

std::vector<StudyPoint> points_of(const Study& study, const VariantLists& lists) {
  std::vector<StudyPoint> points{{.scenario = study.scenario, .set = study.set}};
  for (const StudyAxis& axis : study.axes) {
    std::vector<StudyPoint> next;
    for (const StudyPoint& point : points)
      for (const StudyVariant& choice : choices(axis, lists)) {
        StudyPoint& made = next.emplace_back(point);
        made.labels.push_back(choice.label);
        if (!choice.scenario.empty()) made.scenario = choice.scenario;
        made.set.insert(made.set.end(), choice.set.begin(), choice.set.end());
      }
    points = std::move(next);
  }
  return points;
}

}  // namespace tiersim
