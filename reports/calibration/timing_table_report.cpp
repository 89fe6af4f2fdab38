#include "reports/calibration/timing_table_report.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace tiersim {
namespace {

Cell noise_cell(const NoiseFloor& noise, double share) {
  return noise.cases == 0 ? Cell(std::monostate{}, "no repeats") : share_cell(share);
}

std::int64_t refused_of(const TimingKernel& kernel) {
  return std::accumulate(
      kernel.refused.begin(), kernel.refused.end(), std::int64_t{0},
      [](std::int64_t sum, const auto& rule) { return sum + rule.second.count; });
}

}  // namespace

Cell share_cell(double share) {
  return Cell(share, fmt::format("{:.1f} %", 100 * share));
}

Table rows_table(const TimingTable& table) {
  Table out{.title = "Rows of the table, by kernel",
            .columns = {{"kernel", Align::left},
                        {"type", Align::left, "dtype"},
                        {"rows"},
                        {"refused"},
                        {"cases"},
                        {"repeated"},
                        {"noise, median", Align::right, "noise_median"},
                        {"noise, 90th", Align::right, "noise_p90"}}};
  for (const TimingKernel& kernel : table.kernels) {
    const NoiseFloor noise = noise_floor(kernel);
    out.add({kernel.name, kernel.dtype, kernel.read, refused_of(kernel), kernel.rows.size(),
             noise.cases, noise_cell(noise, noise.median), noise_cell(noise, noise.p90)});
  }
  out.notes.emplace_back(
      "noise: largest less smallest time of repeated rows, over their median; no fit can be shown "
      "to be closer");
  return out;
}

Table refusals_table(const TimingTable& table) {
  Table out{.title = "Refused rows, by rule",
            .columns = {{"rule", Align::left},
                        {"rows"},
                        {"first at", Align::left, "where"},
                        {"kernel", Align::left},
                        {"reason", Align::left}}};
  std::map<std::string, RefusedRows> by_rule;
  for (const TimingKernel& kernel : table.kernels)
    for (const auto& [rule, rows] : kernel.refused) {
      RefusedRows& sum = by_rule[rule];
      if (sum.count == 0) sum.first = rows.first;
      sum.count += rows.count;
    }
  for (const auto& [rule, rows] : by_rule)
    out.add({rule, rows.count, rows.first.where, rows.first.name, rows.first.reason});
  return out;
}

Table errors_table(const std::vector<FittedKernel>& fits) {
  Table out{.title = "Errors of the fits, on shapes that they did not see and on their own rows",
            .columns = {{"kernel", Align::left},
                        {"type", Align::left, "dtype"},
                        {"rows"},
                        {"median", Align::right, "median_abs"},
                        {"90th", Align::right, "p90_abs"},
                        {"bias"},
                        {"median, own rows", Align::right, "own_median_abs"},
                        {"90th, own rows", Align::right, "own_p90_abs"},
                        {"noise, median", Align::right, "noise"},
                        {"outside"}}};
  const bool grouped = std::ranges::any_of(
      fits, [](const FittedKernel& f) { return f.fit && f.fit->groups.rows > 0; });
  if (grouped) {
    out.columns.push_back({"median, groups", Align::right, "group_median_abs"});
    out.columns.push_back({"90th, groups", Align::right, "group_p90_abs"});
  }
  for (const FittedKernel& fitted : fits) {
    const TimingKernel& kernel = *fitted.kernel;
    const NoiseFloor noise = noise_floor(kernel);
    if (!fitted.fit) {
      out.notes.push_back(fmt::format("{}: too few rows for a fit", kernel.name));
      continue;
    }
    const FormFit& fit = *fitted.fit;
    const auto unseen = [&](double share) {
      return fit.unseen.rows == 0 ? Cell(std::monostate{}, "one shape") : share_cell(share);
    };
    Row row{kernel.name,
            kernel.dtype,
            fit.rows,
            unseen(fit.unseen.median),
            unseen(fit.unseen.p90),
            unseen(fit.unseen.bias),
            share_cell(fit.fitted.median),
            share_cell(fit.fitted.p90),
            noise_cell(noise, noise.median),
            fit.outside};
    if (grouped)
      for (const double share : {fit.groups.median, fit.groups.p90})
        row.push_back(fit.groups.rows == 0 ? Cell(std::monostate{}, "one group")
                                           : share_cell(share));
    out.add(std::move(row));
  }
  out.notes.emplace_back("a shape is held out with all of its rows, in five parts");
  if (grouped)
    out.notes.emplace_back(
        "groups: errors of fits that saw nothing of a group, such as of a number of ranks");
  out.notes.emplace_back("outside: rows beyond the sizes that the form is made for, not judged");
  return out;
}

Table parameters_table(const std::vector<FittedKernel>& fits) {
  Table out{.title = "Parameters of the fits (hwmodels/forms)",
            .columns = {{"kernel", Align::left}, {"variant", Align::left}}};
  for (const FittedKernel& fitted : fits) {
    if (!fitted.fit) continue;
    const FittedForm& model = fitted.fit->model;
    if (out.columns.size() == 2)
      for (const FormParameter& parameter : model.form->parameters())
        out.columns.push_back({std::string(parameter.name)});
    Row row{fitted.kernel->name, std::string(model.form->variants()[model.variant])};
    for (const double parameter : model.parameters) row.emplace_back(parameter);
    out.add(std::move(row));
  }
  return out;
}

}  // namespace tiersim
