#include "sim/cli/expert_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/expert_balance.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim::cli {
namespace {

// Tokens whose experts a layer has at a time: those of one micro-batch.
std::int64_t tokens_of(const ScenarioConfig& config) {
  const System system = build_stage_system(config);
  AttentionContext context = context_of(config, system);
  context.step.batch = micro_batches(context).front();
  return device_step(context).group_tokens();
}

// As they are configured, then without balance, then balanced with more and more copies.
std::vector<ExpertGroup> groups_of(const ExpertGroup& own) {
  constexpr int kRows = 4;
  constexpr std::int64_t kMostCopies = 4096;  // as parallel.redundant_experts
  std::vector<ExpertGroup> groups{own};
  const std::int64_t least = (own.ranks - own.experts % own.ranks) % own.ranks;
  ExpertGroup group = own;
  const auto add = [&](ExpertPlacement placement, std::int64_t copies) {
    group.placement = placement;
    group.copies = copies;
    if (placement != own.placement || copies != own.copies) groups.push_back(group);
  };
  add(ExpertPlacement::contiguous, least);
  for (int i = 0; i < kRows && least + i * own.ranks <= kMostCopies; ++i)
    add(ExpertPlacement::balanced, least + i * own.ranks);
  return groups;
}

// Mean over layers of the standard deviation of value(rows, rows before), over the experts that
// have both.
template <class F>
double mean_spread(const ExpertCounts& counts, const ExpertCounts& before, F&& value) {
  double sum = 0;
  int layers = 0;
  for (std::size_t layer = 0; layer < counts.size(); ++layer) {
    std::vector<double> values;
    for (std::size_t e = 0; e < counts[layer].size(); ++e)
      if (counts[layer][e] > 0 && before[layer][e] > 0)
        values.push_back(
            value(static_cast<double>(counts[layer][e]), static_cast<double>(before[layer][e])));
    if (values.empty()) continue;
    double mean = 0;
    for (const double v : values) mean += v / static_cast<double>(values.size());
    double square = 0;
    for (const double v : values) square += (v - mean) * (v - mean);
    sum += std::sqrt(square / static_cast<double>(values.size()));
    ++layers;
  }
  return layers == 0 ? 0 : sum / layers;
}

void note_counts(const ExpertLoadConfig& load, Table& table) {
  if (!load.counted) return;
  const auto layers = std::ranges::count_if(*load.counted, [](const auto& layer) {
    return std::ranges::any_of(layer, [](std::int64_t rows) { return rows > 0; });
  });
  table.notes.push_back(
      fmt::format("The counts have rows in {} layers. They are as uneven as a log-normal law with "
                  "spread {:.2f}; "
                  "experts without rows are left out of that.",
                  layers, mean_spread(*load.counted, *load.counted, [](double now, double) {
                    return portable_log(now);
                  })));
  if (!load.placed_by) return;
  table.notes.push_back(fmt::format(
      "They differ from those that placed the experts as by a drift of {:.2f}.",
      mean_spread(*load.counted, *load.placed_by,
                  [](double now, double before) { return portable_log(now / before); })));
}

}  // namespace

Table expert_table(const ScenarioConfig& config) {
  TS_EXPECTS(config.model.moe && config.step.drawn_load());
  const ExpertLoadConfig& load = *config.step.drawn_load();
  const ExpertGroup own = expert_group(*config.model.moe, config.parallel, tokens_of(config));
  Table table{
      .id = "experts",
      .title =
          fmt::format("{} experts of {} over {} GPUs, {} tokens at a time with {} experts each",
                      own.experts, config.model.name, own.ranks, own.tokens, own.top_k),
      .columns = {{"placement", Align::left},
                  {"copies"},
                  {"slots a GPU", Align::right, "slots_per_gpu"},
                  {"busiest GPU", Align::right, "busiest_gpu"},
                  {"busiest slot", Align::right, "busiest_slot"},
                  {"rows of the busiest GPU", Align::right, "busiest_gpu_rows"}},
      .notes = {
          "The busiest GPU and the busiest slot (of an expert or a copy of one) have so many times "
          "the mean of all, as a mean over layers. The first line is as configured; contiguous "
          "keeps "
          "experts in their order, balanced spreads and copies the popular ones."}};
  double of_expert = 1;
  for (const ExpertGroup& group : groups_of(own)) {
    const ExpertBalance balance = expert_balance(load, group);
    of_expert = balance.expert_over_mean;
    const auto fixed = [](double value, int digits) {
      return Cell(Cell::Value(value), fmt::format("{:.{}f}", value, digits));
    };
    table.add({kExpertPlacementNames[static_cast<std::size_t>(group.placement)], group.copies,
               (group.experts + group.copies) / group.ranks, fixed(balance.over_mean, 3),
               fixed(balance.slot_over_mean, 3), fixed(balance.rows, 0)});
  }
  table.notes.push_back(
      fmt::format("The busiest expert has {:.2f} times the mean{}.", of_expert,
                  load.counted ? "" : fmt::format(", in {} drawn layers", kDrawnLayers)));
  note_counts(load, table);
  return table;
}

}  // namespace tiersim::cli
