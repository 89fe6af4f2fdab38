#include "hwmodels/calibrate/table/timing_table_config.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hwmodels/calibrate/read/timing_text.hpp"
#include "hwmodels/calibrate/table/named_rows.hpp"
#include "hwmodels/forms/kernel_form.hpp"
#include "sim/base/text.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim {
namespace {

// The mistake of a formula, or nothing: its grammar, or a name that no column or value before it
// has.
std::optional<std::string> mistake_in(const std::string& formula,
                                      const std::vector<std::string>& known) {
  const auto parsed = Expression::parse(formula);
  if (!parsed)
    return fmt::format("is no formula: {} (at its character {})", parsed.error().message,
                       parsed.error().offset + 1);
  for (const std::string& name : parsed->names())
    if (std::ranges::find(known, name) == known.end())
      return fmt::format("uses '{}', which is no column, no value above and not l2 or time", name);
  return std::nullopt;
}

void check_formula(Fields& f, const std::string& path, const std::string& formula,
                   const std::vector<std::string>& known) {
  const std::optional<std::string> mistake =
      formula.empty() ? "is empty" : mistake_in(formula, known);
  f.check(!mistake, path, mistake.value_or(""));
}

void check_columns(Fields& f, const TimingTableConfig& c) {
  f.check(!c.labels.empty(), "labels", "names no column");
  f.check(!c.sizes.empty(), "sizes", "names no column");
  std::vector<std::string> all{c.time.column};
  const auto add = [&](const char* key, const std::vector<std::string>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      f.check(std::ranges::find(all, columns[i]) == all.end(), fmt::format("{}.{}", key, i),
              "names a column for the second time");
      all.push_back(columns[i]);
    }
  };
  add("labels", c.labels);
  add("sizes", c.sizes);
  add("unused", c.unused);
  f.check(std::ranges::find(c.labels, c.dtype.column) != c.labels.end(), "dtype.column",
          "is none of the labels");
  for (const auto& [size, value] : c.absent)
    f.check(std::ranges::find(c.sizes, size) != c.sizes.end(), "absent." + size,
            "is none of the sizes");
  const auto check_sizes = [&](const char* key, const std::vector<std::string>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      f.check(std::ranges::find(c.sizes, sizes[i]) != c.sizes.end(), fmt::format("{}.{}", key, i),
              "is none of the sizes");
  };
  check_sizes("samples", c.samples);
  check_sizes("shapes", c.shapes);
  check_sizes("groups", c.groups);
  check_sizes("splits", c.splits);
  for (std::size_t i = 0; i < c.texts.size(); ++i)
    f.check(std::ranges::find(c.sizes, c.texts[i].column) != c.sizes.end(),
            fmt::format("texts.{}.column", i), "is none of the sizes");
}

// The groups of `matches` that a text of `is` names, such as "$2".
bool names_groups_up_to(const std::string& text, std::size_t groups) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '$' && text[i + 1] >= '1' && text[i + 1] <= '9' &&
        static_cast<std::size_t>(text[i + 1] - '0') > groups)
      return false;
  return true;
}

void check_named_rows(Fields& f, const TimingTableConfig& c) {
  f.check(c.kernels.empty() || !c.names.empty() || c.format != TableFormat::csv, "names",
          "is missing", "the column with the names that 'kernels' has rules for");
  for (std::size_t i = 0; i < c.kernels.size(); ++i) {
    const NamedRows& rule = c.kernels[i];
    const std::string path = fmt::format("kernels.{}", i);
    f.check(rule.name.empty() != rule.matches.empty(), path,
            "has neither or both of 'name' and 'matches'", "one of them says which rows it is for");
    const auto wrong = detail::mistake_in_pattern(rule.matches);
    f.check(!wrong, path + ".matches", "is no regular expression: " + wrong.value_or(""));
    const std::size_t groups = wrong ? 9 : detail::groups_in(rule.matches);
    for (const auto& [column, text] : rule.is) {
      const bool known = std::ranges::find(c.labels, column) != c.labels.end() ||
                         std::ranges::find(c.sizes, column) != c.sizes.end();
      const std::string key = fmt::format("{}.is.{}", path, column);
      f.check(known, key, "is none of the labels and sizes");
      f.check(rule.matches.empty() || names_groups_up_to(text, groups), key,
              fmt::format("names a group that 'matches' has not; it has {}", groups));
    }
    if (rule.where.empty()) continue;
    const auto parsed = Expression::parse(rule.where);
    f.check(parsed.has_value(), path + ".where",
            parsed ? ""
                   : fmt::format("is no formula: {} (at its character {})", parsed.error().message,
                                 parsed.error().offset + 1));
  }
}

// "Duration (ns)" read as microseconds would be a thousand times too long.
void check_unit(Fields& f, const TimeColumn& c) {
  const std::size_t open = c.column.rfind('(');
  if (open == std::string::npos || !c.column.ends_with(')')) return;
  std::string stated = c.column.substr(open + 1, c.column.size() - open - 2);
  if (stated == "sec") stated = "s";
  const std::string_view given = kTimeUnitNames[static_cast<std::size_t>(c.unit)];
  f.check(!seconds_in(stated) || stated == given, "time.unit",
          fmt::format("is {}, but the column is '{}'", given, c.column));
}

// A kernel of one GPU has the bytes of its memory and FLOPs, a collective the bytes of its port.
void check_amounts(Fields& f, const TimingTableConfig& c, const std::vector<std::string>& known) {
  if (!c.operation.empty()) {
    check_formula(f, "operation", c.operation, known);
    check_formula(f, "port_bytes", c.port_bytes, known);
    f.check(c.memory_bytes.empty() && c.flops.empty() && c.working_set.empty(), "operation",
            "is of a collective, which has port_bytes alone",
            "leave out memory_bytes, flops and working_set");
    return;
  }
  f.check(c.port_bytes.empty(), "port_bytes", "is of a collective", "name its operation, too");
  check_formula(f, "memory_bytes", c.memory_bytes, known);
  check_formula(f, "flops", c.flops, known);
  if (!c.working_set.empty()) check_formula(f, "working_set", c.working_set, known);
}

void check_form(Fields& f, const FormColumns& c, const std::vector<std::string>& known) {
  const KernelForm* form = find_form(c.name);
  std::vector<std::string> names;
  for (const KernelForm* each : all_forms()) names.emplace_back(each->name());
  f.check(form != nullptr, "form.name", "is no form", "forms: " + join(names));
  if (!form) return;
  std::vector<std::string> sizes;
  for (const FormSize& size : form->sizes()) {
    sizes.emplace_back(size.name);
    f.check(c.sizes.contains(sizes.back()), "form.sizes",
            fmt::format("lacks '{}': {}", size.name, size.doc));
  }
  for (const auto& [name, formula] : c.sizes) {
    f.check(std::ranges::find(sizes, name) != sizes.end(), "form.sizes." + name,
            "is no size of this form", "sizes: " + join(sizes));
    check_formula(f, "form.sizes." + name, formula, known);
  }
}

void check_formulas(Fields& f, const TimingTableConfig& c) {
  check_columns(f, c);
  check_named_rows(f, c);
  check_unit(f, c.time);
  std::vector<std::string> known = c.labels;
  known.insert(known.end(), c.sizes.begin(), c.sizes.end());
  if (!c.rows.empty()) check_formula(f, "rows", c.rows, known);
  known.emplace_back("l2");
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    check_formula(f, fmt::format("values.{}.is", i), c.values[i].is, known);
    known.push_back(c.values[i].name);
  }
  check_amounts(f, c, known);
  for (std::size_t i = 0; i < c.split.size(); ++i)
    check_formula(f, fmt::format("split.{}", i), c.split[i], known);
  if (c.form) {
    f.check(c.form->family.has_value() == c.operation.empty(), "form.family",
            c.operation.empty() ? "is missing" : "is of kernels of one GPU, not of a collective",
            fmt::format("families: {}", fmt::join(kKernelFamilyNames, ", ")));
    check_form(f, *c.form, known);
  }
  known.emplace_back("time");
  for (std::size_t i = 0; i < c.refuse.size(); ++i)
    check_formula(f, fmt::format("refuse.{}.where", i), c.refuse[i].where, known);
}

}  // namespace

void describe(Fields& f, TimeColumn& c) {
  f.doc("The column with the time of a launch.");
  f.required("column", c.column, "Name of the column.");
  f.optional("unit", c.unit, kTimeUnitNames, "Unit of its numbers.");
}

void describe(Fields& f, DtypeColumn& c) {
  f.doc("The label that tells the type of operands, which decides on the peak rate.");
  f.required("column", c.column, "Name of the column.");
  f.optional("names", c.names, "Names of the file, and what they are called here: bf16, fp8, ...");
}

void describe(Fields& f, TextSize& c) {
  f.doc("A size that the file writes as text.");
  f.required("column", c.column, "Name of the column, which is one of the sizes.");
  f.required("names", c.names, "The number that stands for each text.");
}

void describe(Fields& f, UntunedRule& c) {
  f.doc("Rule of refusal for shapes whose kernel the engine did not tune.");
  f.required("bytes", c.bytes, "Fewest memory_bytes of a row that ought to stream.", positive());
  f.required("share", c.share,
             "Share of the memory's rate that at least one such row of a shape reaches.",
             in_range(0.0, 1.0));
}

void describe(Fields& f, NamedRows& c) {
  f.doc("Rows of a profile by the name of their kernel, and the case that they are.");
  f.optional("name", c.name, "The whole name.");
  f.optional("matches", c.matches, "Or a regular expression (ECMAScript) that the name contains.");
  f.optional("where", c.where,
             "Formula of the columns of the file that also holds, such as \"GrdX == 64\".");
  f.optional("is", c.is,
             "Labels and sizes of such a row; $1 stands for the first group of 'matches'.");
}

void describe(Fields& f, TableValue& c) {
  f.doc("A number of a row that later formulas use.");
  f.required("name", c.name, "Name in later formulas.");
  f.required("is", c.is, "Formula of columns, and of values above.");
}

void describe(Fields& f, TableRefusal& c) {
  f.doc("Rows that are refused before any fit, beyond what the general rules refuse.");
  f.required("rule", c.rule, "Short name of the rule.");
  f.required("where", c.where, "Formula that is true for a row to refuse; `time` is its time.");
  f.required("why", c.why, "Reason for people.");
}

void describe(Fields& f, FormColumns& c) {
  f.doc("The form of kernel that rows are fitted with.");
  f.required("name", c.name,
             "Name of the form: product, experts, decode_attention, "
             "prefill_attention, collective.");
  f.optional("family", c.family, kKernelFamilyNames,
             "Operations of a step that these kernels run. Required, but for collectives.");
  f.required("sizes", c.sizes, "Each size of the form, as a formula of the row.");
}

void describe(Fields& f, TableGoal& c) {
  f.doc(
      "Errors on unseen rows that are aimed at; `validate kernels` has exit status 5 beyond them.");
  f.required("types", c.types, "Types of operands, as dtype.names calls them.");
  f.required("median", c.median, "Of the absolute errors.", in_range(0.0, 1.0));
  f.required("p90", c.p90, "90th percentile of the absolute errors.", in_range(0.0, 1.0));
}

void describe(Fields& f, TimingTableConfig& c) {
  f.doc(
      "Description of a table of kernel timings, one row a timing, for `tiersim calibrate "
      "--table`.");
  f.required("description", c.description, "What the table holds and who wrote it.");
  f.optional("format", c.format, kTableFormatNames,
             "Who wrote the file: csv, a header and a row a timing; nsys, a report of `nsys stats "
             "--format csv`; nvbench, a benchmark's --csv. Of the last two, columns of results "
             "need no name here.");
  f.optional("source", c.source, "Who timed it, with version and licence, for the source of fits.");
  f.optional("files", c.files,
             "Beginnings of the names of the files that it is of, of which the longest counts; "
             "'<its own name>__' where absent.");
  f.required("time", c.time, "The column with the time of a launch.");
  f.optional("names", c.names,
             "The column with the name of a kernel, for `kernels`; Name of nsys and Benchmark of "
             "nvbench where absent.");
  f.optional("kernels", c.kernels,
             "The labels and sizes of rows by the name of their kernel. The first that holds "
             "counts, and rows of none are left out.");
  f.required("labels", c.labels,
             "Columns of text. Rows that differ in one of them are timings of different kernels.");
  f.required("sizes", c.sizes, "Columns of numbers that tell the cases of a kernel apart.");
  f.optional("absent", c.absent,
             "Sizes that older files lack, with the value that all of their rows then have.");
  f.optional("texts", c.texts, "Sizes that the file writes as text, such as a distribution.");
  f.optional("unused", c.unused, "Further columns, which are not read; a file may lack them.");
  f.optional(
      "split", c.split,
      "Formulas of texts or numbers. Rows that differ in one are timings of different kernels, "
      "as for a label.");
  f.required("dtype", c.dtype, "The label that tells the type of operands.");
  f.optional("rows", c.rows,
             "Formula of labels and sizes that holds for the rows it describes; a file whose "
             "kernels have several forms has a description for each.");
  f.optional("values", c.values, "Numbers of a row that the formulas below use, in this order.");
  f.optional("memory_bytes", c.memory_bytes,
             "Formula of the bytes that a launch reads and writes, each once. Required, but for "
             "collectives.");
  f.optional("flops", c.flops,
             "Formula of the operations of a launch. Required, but for collectives.");
  f.optional("working_set", c.working_set,
             "Formula of the bytes that all repetitions together touch, where it is not "
             "memory_bytes; `l2` is the size of the L2 cache.");
  f.optional("operation", c.operation,
             "Formula of the operation of a table of collectives: all_reduce, reduce_scatter, "
             "all_gather or all_to_all. It is the same for all rows of a kernel.");
  f.optional("port_bytes", c.port_bytes,
             "Formula of the bytes that the operation sends at least through the port of a GPU, "
             "one way. Required for collectives.");
  f.optional("samples", c.samples,
             "Sizes at which each shape was timed, such as the number of tokens. A shape is held "
             "out with all of its samples, and more of a sample takes no less time.");
  f.optional("splits", c.splits,
             "Sizes that divide the work of a row among GPUs: more of one takes no more time.");
  f.optional("shapes", c.shapes,
             "Sizes that make a shape, which is held out with all of its rows; all but the samples "
             "where absent.");
  f.optional("groups", c.groups,
             "Sizes of which each value is also held out alone, which is a harder test of a fit.");
  f.optional("refuse", c.refuse, "Rules of refusal for this table.");
  f.optional("untuned", c.untuned, "Refuses shapes that never come near the memory's rate.");
  f.optional("launches", c.launches, "Kernels of a row, at most, which bounds its shortest time.",
             in_range(1, 1000));
  f.optional("form", c.form,
             "The form that rows are fitted with; without it they are only checked.");
  f.optional("goals", c.goals, "Errors that are aimed at, by type of operands.");
  check_formulas(f, c);
}

}  // namespace tiersim
