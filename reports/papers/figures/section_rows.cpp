#include "reports/papers/figures/section_rows.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::json;

// The JSON of a section, or a member of it; null where the section is absent.
Json rows_of(const std::vector<ReportSection>& sections, std::string_view id, const char* member) {
  const ReportSection* section = find_section(sections, id);
  if (section == nullptr) return Json::array();
  Json json = Json::parse(section->json, nullptr, false);
  TS_INVARIANT(!json.is_discarded(), id);
  if (member == nullptr) return json;
  TS_INVARIANT(json.contains(member), id, member);
  return json.at(member);
}

// Least, middle and largest value over the correlations.
std::array<double, 3> spread(const Json& served, const char* name) {
  std::vector<double> values;
  for (const Json& one : served) values.push_back(one.at(name).get<double>());
  TS_INVARIANT(!values.empty(), name);
  const double middle = values[values.size() / 2];
  const auto [low, high] = std::ranges::minmax(values);
  return {low, middle, high};
}

}  // namespace

const ReportSection* find_section(const std::vector<ReportSection>& sections, std::string_view id) {
  const auto found = std::ranges::find(sections, id, &ReportSection::id);
  return found == sections.end() ? nullptr : &*found;
}

std::vector<CurveRow> curve_rows(const std::vector<ReportSection>& sections, std::string_view id) {
  std::vector<CurveRow> out;
  const std::string metric = [&] {
    const Json name = rows_of(sections, id, "metric");
    return name.is_string() ? name.get<std::string>() : std::string();
  }();
  for (const Json& row : rows_of(sections, id, "points"))
    out.push_back({.machine = row.at("machine"),
                   .of_case = row.at("case"),
                   .way = row.at("way"),
                   .context = row.at("context"),
                   .value = row.value(metric, 0.0),
                   .ratio = row.value("ratio", 0.0)});
  return out;
}

std::vector<GridRow> grid_rows(const std::vector<ReportSection>& sections, std::string_view id) {
  std::vector<GridRow> out;
  for (const Json& row : rows_of(sections, id, "cells")) {
    GridRow one{.machine = row.at("machine"),
                .tiles = row.at("tiles"),
                .region = row.at("region"),
                .conditions = {},
                .of_case = row.at("case"),
                .ratio = row.value("ratio", 0.0),
                .near_all = row.value("near_all", false)};
    for (const char* key : {"machine", "tiles", "region", "output projection", "batch", "host"})
      one.conditions += row.at(key).get<std::string>() + '|';
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<ExitRow> exit_rows(const std::vector<ReportSection>& sections, std::string_view id) {
  std::vector<ExitRow> out;
  for (const Json& row : rows_of(sections, id, nullptr)) {
    const Json& paper = row.at("paper");
    out.push_back({.model = row.at("model"),
                   .technique = row.at("technique"),
                   .what = row.at("what"),
                   .paper_tokens_per_s = paper.at("tokens_per_s"),
                   .paper_latency_s = paper.at("latency_s"),
                   .tokens_per_s = spread(row.at("host_of_full"), "tokens_per_s"),
                   .latency_s = spread(row.at("host_of_full"), "latency_s")});
  }
  return out;
}

std::vector<BatchSweepRow> engine_rows(const std::vector<ReportSection>& sections,
                                       std::string_view id) {
  std::vector<BatchSweepRow> out;
  for (const Json& row : rows_of(sections, id, nullptr))
    out.push_back({.way = row.at("way"),
                   .correlation = row.at("correlation"),
                   .batch = row.at("batch"),
                   .speedup = row.value("speedup", 0.0)});
  return out;
}

}  // namespace tiersim
