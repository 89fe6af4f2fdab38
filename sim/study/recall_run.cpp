#include "sim/study/recall_run.hpp"

#include <algorithm>
#include <string_view>

#include "sim/base/check.hpp"
#include "workloads/numerics/maple_study.hpp"

namespace tiersim {
namespace {

// The default seed of `numerics`.
constexpr std::uint64_t kRecallSeed = 1;

std::size_t column_of(const Table& table, std::string_view name) {
  const auto at = std::ranges::find(table.columns, name, &Column::title);
  TS_INVARIANT(at != table.columns.end(), table.id, name);
  return static_cast<std::size_t>(at - table.columns.begin());
}

void add_points(const Table& table, std::vector<RecallPoint>& out) {
  const std::size_t method = column_of(table, "method");
  const std::size_t setting = column_of(table, "setting");
  const std::size_t share = column_of(table, "share of rows");
  const std::size_t recall = column_of(table, "recall");
  const std::size_t deviation = column_of(table, "recall sd");
  for (const Row& row : table.rows)
    out.push_back({.method = row[method].shown(),
                   .setting = row[setting].shown(),
                   .budget = row[share].number().value(),
                   .recall = row[recall].number().value(),
                   .deviation = row[deviation].number().value()});
}

}  // namespace

std::future<std::vector<RecallPoint>> start_recall() {
  return std::async(std::launch::async, [] {
    std::vector<RecallPoint> out;
    for (const Table& table : numerics::maple_selection(kRecallSeed).tables) add_points(table, out);
    return out;
  });
}

}  // namespace tiersim
