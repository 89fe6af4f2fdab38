#include "sim/cli/point_sources.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/runner/load.hpp"
#include "sim/study/solve_run.hpp"

namespace tiersim::cli {
namespace {

/// The format of tables on stdout. Each kind of report has a JSON format of its own.
struct Format {
  std::string_view name;
  TableForm form;
  std::string (*text)(const Table& table);
};
constexpr std::array<Format, 4> kTableFormats{
    {{"text", TableForm::people, [](const Table& table) { return to_text(table); }},
     {"md", TableForm::people, to_markdown},
     {"csv", TableForm::csv, to_csv},
     {"tex", TableForm::people, to_latex}}};

std::vector<std::string> format_names() {
  std::vector<std::string> out;
  for (const Format& format : kTableFormats) out.emplace_back(format.name);
  out.emplace_back("json");
  return out;
}

}  // namespace

std::string shell_word(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789._-/=:,+@%") == std::string::npos)
    return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

std::string run_command(const std::string& scenario, const std::vector<std::string>& set) {
  std::string out = "tiersim run " + shell_word(scenario);
  for (const std::string& option : set) out += " --set " + shell_word(option);
  return out;
}

void add_sources(Verb kind, SourceOptions& options) {
  kind.option("SOURCE", options.sources,
              "Configurations, records of `run --json`, or stores of `sweep`")
      .required();
  kind.option("--set", options.set, "Override a setting of configurations: a.b=value (repeatable)")
      .type(kSettingType);
  kind.option("--sweep", options.sweep, "Name of the sweep in a store; the last sweep by default")
      .type("NAME");
  kind.option("--where", options.where,
              "Use only points for which this expression is true: \"context > 8192 and tpot < 50 "
              "ms\" (repeatable)")
      .type("EXPRESSION");
}

void add_points_max(Verb kind, SourceOptions& options, const std::string& help) {
  constexpr std::size_t kMost = 10'000;
  options.points_max = kMost;
  kind.option("--points", options.points_max, help)
      .type("N")
      .between(100, 100'000'000)
      .show_default();
}

void tell_part(const PointTable& table) {
  if (!table.whole) return;
  fmt::print(stderr, "tiersim: {} of {} points are used: {} (--points N takes more)\n",
             table.points.size(), table.whole->points, table.whole->chosen_by);
}

void add_format(Verb kind, std::string& format) {
  const std::string names = join(format_names(), "|");
  kind.option("--format", format, "Format of the output; csv and json have exact numbers")
      .type(names)
      .check(
          [](const std::string& text) {
            const auto known = format_names();
            if (std::ranges::find(known, text) != known.end()) return std::string();
            return fmt::format("there is no format '{}' ({})", printable(text), join(known));
          },
          "")
      .show_default();
}

void print_tables(const std::vector<Table>& tables, const std::string& format) {
  const auto* as = std::ranges::find(kTableFormats, format, &Format::name);
  TS_EXPECTS(as != std::end(kTableFormats), format);  // JSON has a form of its own
  const char* between = "";
  for (const Table& table : tables) {
    if (!is_for(table.readers, as->form)) continue;
    fmt::print("{}{}", between, as->text(table));
    between = "\n";
  }
}

}  // namespace tiersim::cli
