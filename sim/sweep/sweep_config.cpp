#include "sim/sweep/sweep_config.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace tiersim {
namespace {

bool has_setting(const SweepAxis& axis) {
  return !axis.values.empty() || axis.range || axis.log_range;
}

bool is_blank(const SweepAxis& axis) {
  return axis.name.empty() && axis.key.empty() && axis.variants.empty() && !has_setting(axis);
}

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

// Checks an axis; `f` reports relative to the axis' mapping.
void check_axis(Fields& f, const SweepAxis& c) {
  const int ways = static_cast<int>(!c.values.empty()) + (c.range ? 1 : 0) + (c.log_range ? 1 : 0);
  if (!c.variants.empty()) {
    f.check(c.key.empty(), "key", "stands beside variants",
            "variants have their settings in `set`; an axis with a key has values");
    f.check(ways == 0, "variants", "stand beside values of a key",
            "an axis has a key and its values, or variants");
    f.check(!c.name.empty(), "variants", "have no name", "add `name:` to the axis");
  } else {
    f.check(!c.key.empty(), "", "an axis with neither key nor variants",
            "{key: step.batch, values: [1, 2]} or {name: method, variants: [...]}");
    f.check(ways > 0 || c.key.empty(), "", "an axis without values",
            "one of: values, range, log_range");
    f.check(ways < 2, "", "an axis with several kinds of values",
            "exactly one of: values, range, log_range");
  }
  const std::string name = axis_name(c);
  f.check(name.empty() || is_identifier(name), c.name.empty() ? "key" : "name",
          fmt::format("the name '{}' is no word", name),
          c.name.empty() ? "give the axis a `name:` of letters, digits and _"
                         : "letters, digits and _, in parts with dots between");
}

void describe_axis(Fields& f, SweepAxis& c) {
  f.optional("name", c.name,
             "Name in columns and expressions; by default the last word of the key.");
  f.optional("key", c.key, "Setting that is varied, as --set takes it.");
  f.optional("values", c.values, "Its values, one after the other.", any_scalar());
  f.optional("range", c.range, "Its values at equal steps.");
  f.optional("log_range", c.log_range, "Its values at equal factors.");
  f.optional("variants", c.variants, "Named choices instead of values of one key.");
}

}  // namespace

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  bool at_start = true;
  for (const char c : name) {
    if (c == '.' ? at_start : !is_letter(c) && (at_start || c < '0' || c > '9')) return false;
    at_start = c == '.';
  }
  return !at_start;
}

std::string axis_name(const SweepAxis& axis) {
  if (!axis.name.empty()) return axis.name;
  std::string_view rest = axis.key;
  while (!rest.empty()) {
    const std::size_t dot = rest.rfind('.');
    std::string word(rest.substr(dot == std::string_view::npos ? 0 : dot + 1));
    if (!is_number(word) && word != "value") return word;
    rest = rest.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return axis.key;
}

void describe(Fields& f, SweepVariant& c) {
  f.doc("A named choice on an axis.");
  f.required("label", c.label, "Name of the choice.");
  f.optional("scenario", c.scenario, "Another file than the sweep's.");
  f.optional("set", c.set, "Settings of the choice: a.b=value.");
  f.check(!c.label.empty(), "label", "is empty");
}

void describe(Fields& f, SweepRange& c) {
  f.doc("From one end to the other, both included.");
  f.required("from", c.from, "First value.", any_scalar());
  f.required("to", c.to, "Last value.", any_scalar());
  f.optional("points", c.points, "How many values, both ends included.", in_range(2, 1'000'000));
  f.optional("step", c.step, "From each value to the next, instead of points.", any_scalar());
  f.check(c.points.has_value() != !c.step.empty(), "", "needs points or step, and not both");
}

void describe(Fields& f, SweepLogRange& c) {
  f.doc("From one end to the other by equal factors, both included.");
  f.required("from", c.from, "First value, above 0.", any_scalar());
  f.required("to", c.to, "Last value, above 0.", any_scalar());
  f.optional("points", c.points, "How many values, both ends included.", in_range(2, 1'000'000));
  f.optional("factor", c.factor, "From each value to the next, instead of points.", above(1.0));
  f.check(c.points.has_value() != c.factor.has_value(), "", "needs points or factor, and not both");
}

void describe(Fields& f, SweepAxis& c) {
  f.doc("Values of one setting, or named variants.");
  describe_axis(f, c);
  check_axis(f, c);
}

void describe(Fields& f, SweepAxisGroup& c) {
  f.doc("An axis, or several that move together.");
  describe_axis(f, c.axis);
  f.optional("zip", c.zip, "Axes with as many values each, which move together.");
  if (c.zip.empty()) return check_axis(f, c.axis);
  f.check(is_blank(c.axis), "zip", "stands beside an axis", "an axis of its own, or a zip of axes");
}

void describe(Fields& f, SweepDerived& c) {
  f.doc("A value computed of axes and of what was derived before it.");
  f.required("name", c.name, "Name in columns and expressions.");
  f.optional("key", c.key, "Setting that gets the value.");
  f.required("expression", c.expression, "Expression of axes and earlier derived values.",
             any_scalar());
  f.check(is_identifier(c.name), "name", fmt::format("'{}' is no word", c.name),
          "letters, digits and _, in parts with dots between");
}

void describe(Fields& f, SweepGrid& c) {
  f.doc("A sub-grid: its axes are crossed with those of the sweep.");
  f.required("name", c.name, "Name, which is the label in the column 'grid'.");
  f.optional("scenario", c.scenario, "Another file than the sweep's.");
  f.optional("set", c.set, "Settings of all of its points: a.b=value.");
  f.optional("axes", c.axes, "Its axes.");
  f.optional("derived", c.derived, "Its derived values, after those of the sweep.");
  f.optional("filter", c.filter, "Its filters, besides those of the sweep.");
  f.check(!c.name.empty(), "name", "is empty");
}

void describe(Fields& f, SweepSample& c) {
  f.doc("Some points instead of all.");
  f.optional("method", c.method, kSampleMethodNames,
             "random: points of the grid, none twice; latin_hypercube: each axis is cut into as "
             "many parts as there are points, and each part is met once.");
  f.required("points", c.points, "How many.", in_range(1, 10'000'000));
  f.optional("seed", c.seed, "Of the draws.", at_least(0));
}

void describe(Fields& f, SweepSearch& c) {
  f.doc("Pareto-guided refinement under a budget of points.");
  f.required("budget", c.budget, "Points in all.", in_range(1, 10'000'000));
  f.optional("start", c.start, "Points spread over the space at first.", at_least(1));
  f.optional("generation", c.generation, "Points chosen at a time.", in_range(1, 10'000));
  f.optional("seed", c.seed, "Of the draws.", at_least(0));
  f.check(c.start <= c.budget, "start", "is above the budget", "lower it");
}

void describe(Fields& f, SweepObjective& c) {
  f.doc("The metric to maximise or minimise, by its name or short (throughput, ttft.p99).");
  f.optional("maximize", c.maximize, "Metric to maximise.");
  f.optional("minimize", c.minimize, "Metric to minimise.");
  f.check(c.maximize.empty() != c.minimize.empty(), "", "needs one of: maximize, minimize");
}

void describe(Fields& f, SweepBreakEven& c) {
  f.doc(
      "The value of a setting at which a point equals its reference: the point with another "
      "label on one axis, and the same labels on all others.");
  f.required("axis", c.axis, "Axis on which a point and its reference differ.");
  f.required("against", c.against, "Labels of the points, each with the label of its reference.");
  f.required("key", c.key, "Setting whose value is searched, as --set takes it.");
  f.required("between", c.between, "Its lowest and its highest value.", any_scalar());
  f.optional("maximize", c.maximize, "Metric of which more is better.");
  f.optional("minimize", c.minimize, "Metric of which less is better.");
  f.check(!c.against.empty(), "against", "names no label", "{label: label of its reference}");
  f.check(c.between.size() == 2, "between", "needs two values", "[0.01, 100]");
  f.check(c.maximize.empty() != c.minimize.empty(), "", "needs one of: maximize, minimize");
}

void describe(Fields& f, SweepSummary& c) {
  f.doc("The table at the top of the page: the best label of an axis by each objective.");
  f.required("best", c.best, "Axis whose labels compete.");
  f.required("by", c.by,
             "Axes for each combination of which there is a best. Of all others, each competitor "
             "takes the labels that suit it best.");
  f.check(!c.by.empty(), "by", "names no axis");
}

void describe(Fields& f, SweepConfig& c) {
  f.doc("A design space: a scenario or served workload, and what is varied of it.");
  f.required("name", c.name, "Name of the sweep, for reports and stores.");
  f.optional("description", c.description, "Purpose, for readers.");
  f.optional("scenario", c.scenario,
             "File of the scenario or served workload, beside this file or below the shipped "
             "configurations.");
  f.optional("set", c.set, "Settings of all points: a.b=value. Those of axes lie over them.");
  f.optional("axes", c.axes, "Axes; points are their product, the last fastest.");
  f.optional("grids", c.grids, "Sub-grids, one after the other.");
  f.optional("derived", c.derived, "Values computed of axes.");
  f.optional("filter", c.filter, "Expressions of axes; only points for which all are true.");
  f.optional("exclude", c.exclude, "Points that are left out: labels by axis.", any_scalar());
  f.optional("include", c.include, "Single points at the end: a label for every axis.",
             any_scalar());
  f.optional("sample", c.sample, "Some of the points instead of all.");
  f.optional("search", c.search, "A search for the best instead of all points.");
  f.optional("objectives", c.objectives, "Metrics to maximise or minimise.");
  f.optional("subject_to", c.subject_to, "Expressions of metrics that hold where acceptable.");
  f.optional("break_even", c.break_even,
             "The value of a setting at which points equal others, for each point.");
  f.optional("summary", c.summary, "The best by each objective, at the top of the page.");
  f.optional("reading", c.reading, kSweepReadingNames,
             "How far each point is taken: footprint and traffic, also the bound, also the "
             "engine, also intervals.");
  f.optional("keep", c.keep, kSweepKeepNames, "The part of each record that the store keeps.");
  const bool grids_have_axes = !c.grids.empty() && std::ranges::all_of(c.grids, [](const auto& g) {
    return !g.axes.empty();
  });
  f.check(!c.axes.empty() || grids_have_axes, "axes", "nothing is varied",
          "give `axes:`, or each grid its own");
}

}  // namespace tiersim
