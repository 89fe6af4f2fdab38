#include "reports/numerics/numerics_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/record/table_json.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kPlotWidth = 64;
constexpr std::size_t kPlotHeight = 14;

std::string four_digits(double value) {
  return fmt::format("{:.4g}", value);
}

char letter_of(std::size_t line) {
  return line < 26 ? static_cast<char>('a' + line) : '#';
}

std::vector<double> values_of_x(const numerics::Curve& curve) {
  std::set<double> out;
  for (const numerics::Line& line : curve.lines) out.insert(line.x.begin(), line.x.end());
  return {out.begin(), out.end()};
}

// The value of the line at x. The cell is empty where the line has no value there.
Cell at(const numerics::Line& line, double x) {
  const auto found = std::ranges::find(line.x, x);
  if (found == line.x.end()) return {};
  return line.y[static_cast<std::size_t>(found - line.x.begin())];
}

// Maps a value to a position from 0 to `last`.
struct Axis {
  Axis(double from, double to, bool log, std::size_t places)
      : low(from), high(to), logarithmic(log), last(static_cast<double>(places - 1)) {}
  std::size_t place(double value) const {
    const auto at = [&](double v) { return logarithmic ? std::log(v) : v; };
    const double share = high > low ? (at(value) - at(low)) / (at(high) - at(low)) : 0;
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * last));
  }
  double low, high;
  bool logarithmic;
  double last;
};

struct Axes {
  explicit Axes(const numerics::Curve& curve)
      : x(x_axis(values_of_x(curve))), y(0, 0, false, kPlotHeight) {
    for (const numerics::Line& line : curve.lines)
      for (const double value : line.y) {
        y.low = std::min(y.low, value);
        y.high = std::max(y.high, value);
      }
  }
  static Axis x_axis(const std::vector<double>& values) {
    const double low = values.empty() ? 0 : values.front();
    const double high = values.empty() ? 0 : values.back();
    return {low, high, low > 0 && high > 8 * low, kPlotWidth};
  }
  Axis x;
  Axis y;
};

nlohmann::ordered_json json_of(const Table& table) {
  return {{"id", table.id},
          {"title", table.title},
          {"rows", nlohmann::ordered_json::parse(to_json(table))},
          {"notes", table.notes}};
}

nlohmann::ordered_json json_of(const numerics::Curve& curve) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const numerics::Line& line : curve.lines)
    lines.push_back({{"name", line.name}, {"x", line.x}, {"y", line.y}});
  return {{"id", curve.id},
          {"title", curve.title},
          {"x_label", curve.x_label},
          {"y_label", curve.y_label},
          {"lines", lines}};
}

template <class All>
nlohmann::ordered_json json_list(const All& all) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& one : all) out.push_back(json_of(one));
  return out;
}

}  // namespace

Table lines_table(const numerics::Curve& curve) {
  const std::vector<double> all = values_of_x(curve);
  Table out{.title = curve.title, .columns = {{curve.x_label, Align::left}}};
  for (const double x : all) out.columns.push_back({four_digits(x)});
  for (std::size_t i = 0; i < curve.lines.size(); ++i) {
    Row row{fmt::format("{} {}", letter_of(i), curve.lines[i].name)};
    for (const double x : all) row.push_back(at(curve.lines[i], x));
    out.add(std::move(row));
  }
  return out;
}

Table points_table(const numerics::Curve& curve) {
  Table out{.id = curve.id, .title = "", .columns = {{curve.x_label}}};
  for (const numerics::Line& line : curve.lines) out.columns.push_back({line.name});
  for (const double x : values_of_x(curve)) {
    Row row{x};
    for (const numerics::Line& line : curve.lines) row.push_back(at(line, x));
    out.add(std::move(row));
  }
  return out;
}

std::string plot(const numerics::Curve& curve) {
  const Axes axes(curve);
  std::vector<std::string> rows(kPlotHeight, std::string(kPlotWidth, ' '));
  for (std::size_t i = 0; i < curve.lines.size(); ++i)
    for (std::size_t p = 0; p < curve.lines[i].x.size(); ++p) {
      const std::size_t row = kPlotHeight - 1 - axes.y.place(curve.lines[i].y[p]);
      char& cell = rows[row][axes.x.place(curve.lines[i].x[p])];
      cell = cell == ' ' || cell == letter_of(i) ? letter_of(i) : '*';
    }
  std::string out = fmt::format("{:>10}  {}\n", "", curve.y_label);
  for (std::size_t row = 0; row < kPlotHeight; ++row) {
    const std::string label = row == 0                 ? four_digits(axes.y.high)
                              : row == kPlotHeight - 1 ? four_digits(axes.y.low)
                                                       : "";
    out += fmt::format("{:>10} |{}|\n", label, rows[row]);
  }
  const std::string left = four_digits(axes.x.low);
  const std::string right = four_digits(axes.x.high);
  const std::string middle = curve.x_label + (axes.x.logarithmic ? ", logarithmic" : "");
  return out + fmt::format("{:>10}  {}{:^{}}{}\n", "", left, middle,
                           kPlotWidth - std::min(kPlotWidth, left.size() + right.size()), right);
}

std::string statements_text(const std::vector<numerics::Statement>& statements) {
  std::string out = "Statements\n";
  for (const numerics::Statement& one : statements)
    out += fmt::format("{} {}{}\n  {}\n  found: {}\n  source: {}\n",
                       one.holds   ? "holds"
                       : one.exact ? "DOES NOT HOLD"
                                   : "not found here",
                       one.id, one.exact ? ", exact" : "", one.says, one.found, one.source);
  return out;
}

Table statements_table(const std::vector<numerics::Statement>& statements) {
  Table out{
      .id = "statements",
      .title = "Statements",
      .columns = {{.title = "statement", .align = Align::left, .key = "id", .csv = "statement"}}};
  for (const char* title : {"holds", "exact", "says", "found", "source"})
    out.columns.push_back({title, Align::left});
  for (const numerics::Statement& one : statements)
    out.add({one.id, Cell(one.holds), Cell(one.exact), one.says, one.found, one.source});
  return out;
}

std::string to_markdown(const numerics::Study& study) {
  std::string out = fmt::format("# tiersim numerics {}\n\n", study.name);
  out += tiersim::to_markdown(statements_table(study.statements)) + '\n';
  for (const Table& table : study.tables) out += tiersim::to_markdown(table) + '\n';
  for (const numerics::Curve& curve : study.curves)
    out +=
        tiersim::to_markdown(lines_table(curve)) + fmt::format("\n```text\n{}```\n\n", plot(curve));
  return out;
}

std::string to_json(const std::vector<numerics::Study>& studies) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  constexpr std::array<std::string_view, 6> kKeys{"id",    "says",  "source",
                                                  "found", "exact", "holds"};
  for (const numerics::Study& study : studies) {
    const auto statements =
        nlohmann::ordered_json::parse(to_json(statements_table(study.statements), kKeys));
    list.push_back({{"name", study.name},
                    {"tables", json_list(study.tables)},
                    {"curves", json_list(study.curves)},
                    {"statements", statements}});
  }
  return nlohmann::ordered_json{{"studies", list}}.dump(2) + '\n';
}

}  // namespace tiersim
