#include "reports/sensitivity/tornado.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/display.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

bool runs(const TornadoRow& row) {
  return row.low.metric || row.high.metric;
}

std::string change_text(double value, double base) {
  if (base == 0) return "-";
  return fmt::format("{:+.2f} %", 100 * (value / base - 1));
}

Cell end_cell(const TornadoEnd& end, const Tornado& tornado) {
  if (!end.metric) return Cell({}, "cannot run");
  return {*end.metric, fmt::format("{} ({})", display(*end.metric, tornado.unit),
                                   change_text(*end.metric, tornado.base))};
}

std::string class_of(const TornadoRow& row) {
  return row.number_class ? std::string(name(*row.number_class)) : "setting";
}

Json end_json(const TornadoEnd& end) {
  Json out{{"value", end.value}, {"metric", end.metric ? Json(*end.metric) : Json()}};
  if (!end.problem.empty()) out["problem"] = end.problem;
  return out;
}

void add_notes(const Tornado& tornado, Table& table) {
  table.notes.push_back(fmt::format(
      "{} is {} as configured (class {}); one parameter at a time is moved to the ends of its 95 % "
      "interval where it has one, else by {:g} % down and up",
      tornado.metric, display(tornado.base, tornado.unit), name(tornado.number_class),
      100 * tornado.by));
  std::size_t little = 0;
  std::size_t assumed = 0;
  std::size_t notable = 0;
  std::vector<std::string> stuck;
  std::vector<std::string> granules;
  for (const TornadoRow& row : tornado.rows) {
    if (row.granule) granules.push_back(row.parameter);
    const bool shown = is_notable(row, tornado);
    if (shown) ++notable;
    if (shown && row.number_class == NumberClass::assumed) ++assumed;
    if (!runs(row))
      stuck.push_back(row.parameter);
    else
      little += shown ? 0U : 1U;
  }
  table.notes.push_back(
      fmt::format("{} of these {} are assumed: numbers that nothing was measured or published for",
                  assumed, notable));
  table.notes.push_back(
      fmt::format("{} more move it by less than 0.01 % (csv and json have them); {} do not move it",
                  little, tornado.no_effect));
  if (!granules.empty())
    table.notes.push_back("halved and doubled, because a granule of hardware is a power of two: " +
                          join(granules));
  if (!stuck.empty())
    table.notes.push_back("cannot run with either value (csv and json say why): " + join(stuck));
  if (!tornado.not_moved.empty())
    table.notes.push_back("not changed, since 0 times any factor is 0: " + join(tornado.not_moved));
}

}  // namespace

double span_of(const TornadoRow& row, double base) {
  double low = base;
  double high = base;
  for (const TornadoEnd* end : {&row.low, &row.high}) {
    if (!end->metric) continue;
    low = std::min(low, *end->metric);
    high = std::max(high, *end->metric);
  }
  return high - low;
}

bool is_notable(const TornadoRow& row, const Tornado& tornado) {
  constexpr double kLeast = 1e-4;
  return runs(row) && span_of(row, tornado.base) >= kLeast * std::abs(tornado.base);
}

void arrange(Tornado& tornado) {
  const auto still = [&](const TornadoRow& row) {
    return row.low.metric && row.high.metric && span_of(row, tornado.base) == 0;
  };
  tornado.no_effect += static_cast<std::size_t>(std::ranges::count_if(tornado.rows, still));
  std::erase_if(tornado.rows, still);
  std::ranges::stable_sort(tornado.rows, [&](const TornadoRow& a, const TornadoRow& b) {
    if (runs(a) != runs(b)) return runs(a);
    return span_of(a, tornado.base) > span_of(b, tornado.base);
  });
}

Table table_of(const Tornado& tornado) {
  const std::string unit = tornado.unit == "1" ? "" : fmt::format(" ({})", tornado.unit);
  Table out{.title = fmt::format("What moves {} of {}", tornado.metric, tornado.name),
            .columns = {{"parameter", Align::left},
                        {"class", Align::left},
                        {"value"},
                        {"low"},
                        {"high"},
                        {.title = "metric at low", .csv = "metric at low" + unit},
                        {.title = "metric as is" + unit, .readers = Readers::programs},
                        {.title = "metric at high", .csv = "metric at high" + unit},
                        {.title = "span", .csv = "span" + unit},
                        {.title = "source", .readers = Readers::programs},
                        {.title = "problem", .readers = Readers::programs}}};
  for (const TornadoRow& row : tornado.rows) {
    const double span = span_of(row, tornado.base);
    out.add(
        {row.parameter, class_of(row), row.value, row.low.value, row.high.value,
         end_cell(row.low, tornado), tornado.base, end_cell(row.high, tornado),
         Cell(span, tornado.base == 0 ? "-" : fmt::format("{:.2f} %", 100 * span / tornado.base)),
         row.source, row.low.problem.empty() ? row.high.problem : row.low.problem});
  }
  // arrange() sorted the rows by their span, so that the notable rows are the first ones.
  out.people_rows = static_cast<std::size_t>(std::ranges::count_if(
      tornado.rows, [&](const TornadoRow& row) { return is_notable(row, tornado); }));
  add_notes(tornado, out);
  return out;
}

std::string to_json(const Tornado& tornado) {
  Json rows = Json::array();
  for (const TornadoRow& row : tornado.rows)
    rows.push_back({{"parameter", row.parameter},
                    {"value", row.value},
                    {"class", row.number_class ? Json(name(*row.number_class)) : Json()},
                    {"source", row.source},
                    {"moved", row.to_ci95 ? "ci95" : "factor"},
                    {"low", end_json(row.low)},
                    {"high", end_json(row.high)},
                    {"span", span_of(row, tornado.base)}});
  const Json out{{"name", tornado.name},
                 {"metric", tornado.metric},
                 {"unit", tornado.unit},
                 {"class", name(tornado.number_class)},
                 {"base", tornado.base},
                 {"by", tornado.by},
                 {"parameters", rows},
                 {"no_effect", tornado.no_effect},
                 {"not_moved", tornado.not_moved},
                 {"run_id", tornado.run_id},
                 {"rerun", tornado.rerun}};
  return out.dump(2) + '\n';
}

}  // namespace tiersim
