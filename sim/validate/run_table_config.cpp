#include "sim/validate/run_table_config.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/expression/expression.hpp"

namespace tiersim {
namespace {

using Names = std::vector<std::string>;

std::optional<std::string> mistake_in(const std::string& formula, const Names& known) {
  const auto parsed = Expression::parse(formula);
  if (!parsed)
    return fmt::format("'{}' is no formula: {} (at its character {})", formula,
                       parsed.error().message, parsed.error().offset + 1);
  for (const std::string& name : parsed->names())
    if (std::ranges::find(known, name) == known.end())
      return fmt::format("uses '{}', which is no column and no value above", name);
  return std::nullopt;
}

void check_formula(Fields& f, const std::string& path, const std::string& formula,
                   const Names& known) {
  const auto mistake = mistake_in(formula, known);
  f.check(!mistake, path, mistake.value_or(""));
}

void check_text(Fields& f, const std::string& path, const std::string& text, const Names& known) {
  std::string plain;
  for (const TextPiece& piece : text_pieces(text)) plain += piece.formula ? "" : piece.text;
  const bool open = plain.find('{') != std::string::npos && text.find("{{") == std::string::npos;
  f.check(!open, path, "leaves a brace open", "{formula}, or {{ for a brace");
  for (const TextPiece& piece : text_pieces(text))
    if (piece.formula) check_formula(f, path, piece.text, known);
}

void check_cases(Fields& f, const RunTableConfig& c, const Names& known) {
  for (std::size_t i = 0; i < c.cases.size(); ++i) {
    const RunCases& cases = c.cases[i];
    f.check(std::ranges::find(known, cases.column) != known.end(),
            fmt::format("cases.{}.column", i), "is no column and no value");
    for (const auto& [text, settings] : cases.set)
      for (std::size_t k = 0; k < settings.size(); ++k)
        check_text(f, fmt::format("cases.{}.set.{}.{}", i, text, k), settings[k], known);
  }
}

// Columns stand once, and `also` and `empty` are of columns.
void check_columns(Fields& f, const RunTableConfig& c) {
  const Names& known = c.columns;
  for (std::size_t i = 0; i < known.size(); ++i)
    f.check(std::find(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(i), known[i]) ==
                known.begin() + static_cast<std::ptrdiff_t>(i),
            fmt::format("columns.{}", i), "stands twice");
  for (const auto& [column, text] : c.empty)
    f.check(std::ranges::find(known, column) != known.end(), "empty." + column,
            "is none of the columns");
  std::map<std::string, int> stands_for;
  for (const auto& [column, name] : c.also) ++stands_for[name];
  for (const auto& [column, name] : c.also) {
    f.check(!name.empty(), "also." + column, "is empty", "the name of a column of tables");
    f.check(stands_for[name] == 1, "also." + column, "stands for two columns");
    f.check(std::ranges::find(known, column) != known.end(), "also." + column,
            "is none of the columns");
    f.check(std::ranges::find(known, name) == known.end(), "also." + column,
            "is the name of a column");
  }
}

}  // namespace

std::vector<TextPiece> text_pieces(const std::string& text) {
  std::vector<TextPiece> out;
  std::string plain;
  const auto end_plain = [&] {
    if (!plain.empty()) out.push_back({std::exchange(plain, {})});
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool twice = at + 1 < text.size() && text[at + 1] == c;
    const std::size_t close = c == '{' && !twice ? text.find('}', at) : std::string::npos;
    if ((c == '{' || c == '}') && twice) {
      plain += c;
      ++at;
    } else if (close != std::string::npos) {
      end_plain();
      out.push_back({text.substr(at + 1, close - at - 1), true});
      at = close;
    } else {
      plain += c;
    }
  }
  end_plain();
  return out;
}

void describe(Fields& f, RunValue& c) {
  f.doc("A name for a formula's value.");
  f.required("name", c.name, "Name, for the formulas below.");
  f.required("is", c.is, "Formula of columns and values above.");
}

void describe(Fields& f, RunCases& c) {
  f.doc("Settings by the text of a column. A row with another text is left out by name.");
  f.required("column", c.column, "Column, or value.");
  f.required("set", c.set,
             "By text: settings a.b=c, with formulas in braces; \"*\": of any other text.");
  f.check(!c.set.empty(), "set", "has no text");
}

void describe(Fields& f, RunSkip& c) {
  f.doc("Rows that are not simulated.");
  f.required("where", c.where, "Formula that is true for them.");
  f.required("why", c.why, "Reason, for the report.");
}

void describe(Fields& f, RunTableConfig& c) {
  f.doc("A table of measured runs of servers, and how to simulate its rows.");
  f.required("description", c.description, "What the table holds.");
  f.optional("source", c.source, "Who measured, and where it stands.");
  f.required("config", c.config, "Serving file, relative to the configs folder.");
  f.required("columns", c.columns, "Columns that formulas use.");
  f.optional("also", c.also, "By column: another name that it may have in a table.");
  f.optional("empty", c.empty,
             "By column: what an empty cell stands for; \"\": the column has texts alone, and no "
             "numbers.");
  f.optional("values", c.values, "Names for formulas.");
  f.required("id", c.id, "Name of a row: text with formulas in braces.");
  f.required("group", c.group, "Rows with the same text are reported together.");
  f.optional("setup", c.setup, "Model, element types and GPUs of a group.");
  f.optional("once", c.once,
             "Text with formulas in braces: rows with the same text are one run, which is "
             "simulated once.");
  f.optional("labels", c.labels, "Formulas whose values errors are summed by, beside the groups.");
  f.optional("skip", c.skip, "Rows that are not simulated.");
  f.optional("apart", c.apart, "Formula that is true for rows that no summary counts.");
  f.optional("cases", c.cases, "Settings by the text of a column.");
  f.optional("set", c.set, "Settings a.b=c of every row, after those of the cases.");
  f.optional("users", c.users, "Formula: users of a closed loop.");
  f.optional("requests_per_user", c.requests_per_user, "Requests of a run, for each user.",
             in_range(1, 100'000));
  f.optional("ttft", c.ttft, "Formula: mean time to the first token [s].");
  f.optional("tpot", c.tpot, "Formula: mean time between two tokens of an answer [s].");
  f.optional("throughput", c.throughput, "Formula: output tokens a second of the server.");
  f.optional("energy", c.energy, "Formula: joules of all GPUs for an output token.");
  f.optional("power", c.power, "Formula: mean power of a GPU with its memory [W].");
  f.required("assumed", c.assumed, "What the table does not say, and what is taken for it.");
  const bool any =
      std::ranges::any_of(std::array{&c.ttft, &c.tpot, &c.throughput, &c.energy, &c.power},
                          [](const std::string* formula) { return !formula->empty(); });
  f.check(any, "ttft", "is missing", "one of ttft, tpot, throughput, energy, power");
  Names known = c.columns;
  check_columns(f, c);
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    check_formula(f, fmt::format("values.{}.is", i), c.values[i].is, known);
    f.check(std::ranges::find(known, c.values[i].name) == known.end(),
            fmt::format("values.{}.name", i), "is that of a column or of a value above");
    known.push_back(c.values[i].name);
  }
  check_text(f, "id", c.id, known);
  check_text(f, "group", c.group, known);
  check_text(f, "setup", c.setup, known);
  check_text(f, "once", c.once, known);
  f.check(c.once.empty() || std::ranges::any_of(text_pieces(c.once), &TextPiece::formula), "once",
          "is the same text for every row", "a text with formulas in braces");
  for (std::size_t i = 0; i < c.labels.size(); ++i) {
    check_formula(f, fmt::format("labels.{}.is", i), c.labels[i].is, known);
    f.check(std::ranges::count(c.labels, c.labels[i].name, &RunValue::name) == 1,
            fmt::format("labels.{}.name", i), "stands twice");
  }
  for (std::size_t i = 0; i < c.skip.size(); ++i)
    check_formula(f, fmt::format("skip.{}.where", i), c.skip[i].where, known);
  check_cases(f, c, known);
  for (std::size_t i = 0; i < c.set.size(); ++i)
    check_text(f, fmt::format("set.{}", i), c.set[i], known);
  const auto formula = [&](const char* path, const std::string& text) {
    if (!text.empty()) check_formula(f, path, text, known);
  };
  formula("apart", c.apart);
  formula("users", c.users);
  formula("ttft", c.ttft);
  formula("tpot", c.tpot);
  formula("throughput", c.throughput);
  formula("energy", c.energy);
  formula("power", c.power);
}

}  // namespace tiersim
