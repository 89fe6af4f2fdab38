#include "reports/calibration/server_fit_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/base/units_text.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

// With three significant digits.
std::string time_text(double seconds) {
  if (seconds <= 0) return format_quantity(Duration{});
  const double unit = std::pow(10, std::floor(std::log10(seconds)) - 2);
  return format_quantity(Duration(std::llround(std::round(seconds / unit) * unit * 1e12)));
}
std::string error_text(double log_ratio) {
  return fmt::format("{:+.1f} %", 100 * (std::exp(log_ratio) - 1));
}
double share(double log_ratio) {
  return std::exp(log_ratio) - 1;
}

}  // namespace

std::vector<Table> server_fit_tables(const ServerFit& fit, const std::vector<FittedValue>& values) {
  Table times{.title = "Times of the CPU, fitted to these runs",
              .columns = {{"time", Align::left},
                          {"before", Align::right},
                          {"fitted", Align::right},
                          {"95 %", Align::left}}};
  for (const FittedTime& time : fit.times)
    times.add({time.name, time_text(time.start), time_text(time.value),
               time.determined
                   ? fmt::format("[{}, {}]", time_text(time.ci95.low), time_text(time.ci95.high))
                   : std::string("these runs do not tell")});
  Table errors{.title = "Errors: (simulated - measured) / measured",
               .columns = {{"run", Align::left},
                           {"metric", Align::left},
                           {"before", Align::right},
                           {"fitted", Align::right}}};
  for (std::size_t i = 0; i < values.size(); ++i)
    errors.add(
        {values[i].run, values[i].metric, error_text(fit.before[i]), error_text(fit.after[i])});
  errors.notes.emplace_back(
      "this is a fit: the errors of these runs say nothing of others. Leave some runs out, and ask "
      "`tiersim validate serving` for them");
  return {std::move(times), std::move(errors)};
}

std::string server_fit_json(const ServerFit& fit, const std::vector<FittedValue>& values) {
  Json times = Json::array();
  for (const FittedTime& time : fit.times)
    times.push_back({{"name", time.name},
                     {"start", time.start},
                     {"value", time.value},
                     {"low", time.determined ? Json(time.ci95.low) : Json(nullptr)},
                     {"high", time.determined ? Json(time.ci95.high) : Json(nullptr)}});
  Json out = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i)
    out.push_back({{"run", values[i].run},
                   {"metric", values[i].metric},
                   {"before", share(fit.before[i])},
                   {"after", share(fit.after[i])}});
  return Json{{"times", std::move(times)}, {"values", std::move(out)}}.dump() + '\n';
}

std::string server_fit_yaml(const ServerFit& fit, const std::string& command,
                            const std::string& source) {
  TS_EXPECTS(std::ranges::any_of(fit.times, &FittedTime::determined));
  std::string out = fmt::format(
      "# Written by `{}`: a fit to these runs, and no prediction of them.\n"
      "# To use it: server: {{base: [the server's file, this file]}}.\n"
      "schema: tiersim.server/v1\nhost:\n",
      command);
  for (const FittedTime& time : fit.times)
    if (time.determined)
      out += fmt::format("  {}: {{value: {}, class: fitted, ci95: [{}, {}], source: {}}}\n",
                         time.name, time_text(time.value), time_text(time.ci95.low),
                         time_text(time.ci95.high), yaml_quoted(source));
  return out;
}

}  // namespace tiersim
