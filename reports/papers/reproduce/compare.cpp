#include "reports/papers/reproduce/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr double kGiB = 1073741824.0;

double metric(const RunRecord& record, const char* name) {
  const auto it = record.metrics.find(name);
  TS_EXPECTS(it != record.metrics.end(), name);
  return it->second.value;
}

double footprint(const RunRecord& row, const RunRecord&) {
  return metric(row, "kv_footprint_bytes") / kGiB;
}
double keys(const RunRecord& row, const RunRecord&) {
  return metric(row, "kv_keys_bytes") / kGiB;
}
double load(const RunRecord& row, const RunRecord&) {
  return metric(row, "far_load_bytes") / kGiB;
}
double overhead(const RunRecord& row, const RunRecord& baseline) {
  return footprint(row, row) / footprint(baseline, baseline) - 1.0;
}
double reduction(const RunRecord& row, const RunRecord& baseline) {
  return 1.0 - load(row, row) / load(baseline, baseline);
}

double kv_elements(const RunRecord& row, const RunRecord&) {
  return static_cast<double>(row.device.kv_elements_per_token_layer);
}
double heads(const RunRecord& row, const RunRecord&) {
  return static_cast<double>(row.device.query_heads);
}

// In the order of the tables. GB in MAPLE's Table 1 are 2^30 bytes.
constexpr std::array kQuantities{
    TableQuantity{"footprint", "GiB", footprint, 2},
    TableQuantity{"overhead", "ratio", overhead, 4},
    TableQuantity{"load", "GiB", load, 2},
    TableQuantity{"reduction", "ratio", reduction, 4},
    TableQuantity{"keys", "GiB", keys, 2},
    TableQuantity{"kv_elements", "elements/token/layer/GPU", kv_elements, 0},
    TableQuantity{"heads", "heads/GPU", heads, 0},
};

}  // namespace

const TableQuantity* find_quantity(std::string_view name) {
  const auto* it = std::ranges::find(kQuantities, name, &TableQuantity::name);
  return it == kQuantities.end() ? nullptr : it;
}

std::string quantity_names() {
  std::string out;
  for (const TableQuantity& quantity : kQuantities)
    out += (out.empty() ? "" : ", ") + std::string(quantity.name);
  return out;
}

bool holds(const TargetResult& result) {
  return result.status != "fail";
}

std::vector<TargetResult> compare(const TargetRow& row, const RunRecord& record,
                                  const RunRecord& baseline) {
  std::vector<TargetResult> out;
  for (const TableQuantity& quantity : kQuantities) {
    const auto it = row.cells.find(std::string(quantity.name));
    if (it == row.cells.end()) continue;
    const TargetCell& cell = it->second;
    const bool rule = cell.expect == Expectation::rule;
    TargetResult result{
        .id = cell.id.empty() ? fmt::format("{}.{}", row.id, quantity.name) : cell.id,
        .reading = std::string(kReadingNames[static_cast<std::size_t>(row.reading)]),
        .paper = cell.paper,
        .simulated = quantity.of(record, baseline),
        .unit = std::string(quantity.unit),
        .tolerance = 0.5 * std::pow(10.0, -quantity.decimals),
        .status = rule ? "rule" : "pass",
        .why = rule ? cell.why : ""};
    const double expected = rule ? cell.value : cell.paper;
    // A value exactly on the rounding edge (.74375, printed .7438) is within the tolerance.
    const double slack = 1e-12 * std::max(1.0, std::abs(expected));
    if (std::abs(result.simulated - expected) > result.tolerance + slack) {
      result.status = "fail";
      result.why = fmt::format("expected {} within {}", expected, result.tolerance);
    }
    out.push_back(std::move(result));
  }
  return out;
}

}  // namespace tiersim
