#include "sim/step/bound.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tiersim {
namespace {

// The longest chain to the end of each operation, and the dependency through which it comes.
struct Chain {
  std::vector<Duration> end;
  std::vector<OpId> through;
};

Chain longest_chains(const StepGraph& graph, const System& system, const OpPlans& plans) {
  Chain chain{std::vector<Duration>(plans.size()), std::vector<OpId>(plans.size())};
  std::vector<Duration> alone;  // by distinct plan
  for (const OpPlan& plan : plans.distinct()) alone.push_back(plan.uncontended(system.channels()));
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Duration start{};
    for (const OpId before : graph.ops[i].after) {
      if (chain.end[before.index()] <= start && chain.through[i].valid()) continue;
      start = std::max(start, chain.end[before.index()]);
      chain.through[i] = before;
    }
    chain.end[i] = start + alone[plans.which(i)];
  }
  return chain;
}

// Splits the time of operations with one plan: the setup goes to its reason, the rest to the
// longest cause.
void add_shares(const OpPlan& plan, std::int64_t operations,
                const std::vector<SystemChannel>& channels,
                std::map<std::string, Duration, std::less<>>& shares) {
  Duration longest = plan.min_duration;
  std::string_view cause = plan.min_reason;
  for (const auto& [channel, busy] : plan.charges) {
    const Duration time = busy / channels[channel.index()].capacity;
    if (time < longest || time == Duration{}) continue;
    longest = time;
    cause = channels[channel.index()].name;
  }
  shares[std::string(plan.setup_reason)] += plan.setup * operations;
  if (longest > Duration{}) shares[std::string(cause)] += longest * operations;
}

std::vector<Share> shares_on_path(const Chain& chain, const System& system, const OpPlans& plans) {
  std::vector<std::int64_t> operations(plans.distinct().size());
  const auto last = std::ranges::max_element(chain.end);
  if (last != chain.end.end())
    for (OpId op(static_cast<std::size_t>(last - chain.end.begin())); op.valid();
         op = chain.through[op.index()])
      ++operations[plans.which(op.index())];
  std::map<std::string, Duration, std::less<>> sums;
  for (std::size_t p = 0; p < operations.size(); ++p)
    if (operations[p] > 0) add_shares(plans.distinct()[p], operations[p], system.channels(), sums);
  std::vector<Share> shares;
  for (const auto& [cause, time] : sums) shares.push_back({cause, time});
  std::ranges::stable_sort(shares, std::greater<>{}, &Share::time);
  return shares;
}

}  // namespace

Bound bound_of(const StepGraph& graph, const System& system, const OpPlans& plans) {
  const Chain chain = longest_chains(graph, system, plans);
  Bound bound;
  for (const Duration end : chain.end) bound.critical_path = std::max(bound.critical_path, end);
  bound.time = bound.critical_path;
  bound.binding = "critical path";

  std::array<Duration, kGpuRoles> gpus{};
  std::vector<Bytes> busy(system.channels().size());
  for (std::size_t p = 0; p < plans.distinct().size(); ++p) {
    const OpPlan& plan = plans.distinct()[p];
    const std::int64_t times = plans.counts()[p];
    if (plan.exclusive)
      gpus[static_cast<std::size_t>(plan.role)] += plan.uncontended(system.channels()) * times;
    for (const ChannelCharge& charge : plan.charges)
      busy[charge.channel.index()] += charge.busy * times;
  }
  const auto consider = [&](Duration time, const std::string& what) {
    if (time <= bound.time) return;
    bound.time = time;
    bound.binding = what;
  };
  for (const Duration work : gpus) consider(work, std::string(kGpuWork));
  for (std::size_t c = 0; c < busy.size(); ++c) {
    const SystemChannel& channel = system.channels()[c];
    if (channel.level == Level::flow)
      consider(busy[c] * channel.sharers / channel.capacity, channel.name);
  }
  bound.shares = shares_on_path(chain, system, plans);
  return bound;
}

}  // namespace tiersim
