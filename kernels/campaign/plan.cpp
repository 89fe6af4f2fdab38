#include "kernels/campaign/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace tiersim::kernels::bench {
namespace {

// SplitMix64 (Steele, Lea, Flood, 2014).
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

double round_seconds(const std::vector<int>& nodes, double node_s, double replay_s) {
  const int all = std::accumulate(nodes.begin(), nodes.end(), 0);
  return all * node_s + static_cast<double>(nodes.size()) * replay_s;
}

}  // namespace

Rotation plan_rotation(std::int64_t touched_bytes, std::int64_t set_bytes, std::int64_t l2_bytes,
                       std::int64_t memory_bytes) {
  if (touched_bytes <= 0 || set_bytes <= 0)
    throw std::runtime_error("a case without bytes cannot be rotated");
  const double target = kRotationOverL2 * static_cast<double>(l2_bytes);
  const double wanted = std::max(1.0, std::ceil(target / static_cast<double>(touched_bytes)));
  const double fitting =
      std::floor(kMemoryShare * static_cast<double>(memory_bytes) / static_cast<double>(set_bytes));
  if (fitting < 1) {
    throw std::runtime_error("a set of " + std::to_string(set_bytes) + " B takes more than " +
                             std::to_string(static_cast<int>(100 * kMemoryShare)) + " % of " +
                             std::to_string(memory_bytes) + " B of device memory");
  }
  const double quick = std::max(1.0, std::floor(kRotatedBytes / static_cast<double>(set_bytes)));
  const double sets = std::min({wanted, fitting, quick, static_cast<double>(kMostSets)});
  return {static_cast<int>(sets), sets < wanted};
}

SamplePlan plan_samples(double node_s, double replay_s, double budget_s, SampleLimits limits) {
  SamplePlan plan{limits.rounds, {1, 2}};
  while (plan.nodes.back() * 2 <= limits.nodes_most) {
    std::vector<int> more = plan.nodes;
    more.push_back(more.back() * 2);
    if (limits.rounds * round_seconds(more, node_s, replay_s) > budget_s) break;
    plan.nodes = std::move(more);
  }
  const double round_s = round_seconds(plan.nodes, node_s, replay_s);
  if (plan.rounds * round_s > budget_s) {
    plan.rounds = std::max(limits.rounds_least,
                           static_cast<int>(std::min<double>(limits.rounds, budget_s / round_s)));
  }
  plan.over_budget = plan.rounds * round_s > budget_s;
  return plan;
}

std::vector<int> shuffled(int count, std::uint64_t seed) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[next(seed) % left]);
  }
  return order;
}

std::vector<bool> hold_out(const std::vector<Held>& cases) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < cases.size(); ++i) groups[cases[i].group].push_back(i);
  std::vector<bool> held(cases.size(), false);
  for (auto& group : groups) {
    std::vector<std::size_t>& members = group.second;
    std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(cases[a].bytes, cases[a].flops, cases[a].name) <
             std::tie(cases[b].bytes, cases[b].flops, cases[b].name);
    });
    for (std::size_t i = 2; i < members.size(); i += 3) held[members[i]] = true;
    if (members.size() > 1) held[members.back()] = true;
  }
  return held;
}

}  // namespace tiersim::kernels::bench
