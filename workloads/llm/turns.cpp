#include "workloads/llm/turns.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// A dependency on another micro-batch is the order of their copies, which is no turn.
std::vector<int> turns_of(const StepGraph& graph, const std::vector<int>& batch_of) {
  std::vector<int> turns(graph.ops.size(), 0);
  for (std::size_t op = 0; op < graph.ops.size(); ++op)
    for (const OpId before : graph.ops[op].after) {
      const std::size_t b = before.index();
      if (batch_of[b] != batch_of[op]) continue;
      const int waits = graph.ops[b].kind == OpKind::compute ? 0 : 1;
      turns[op] = std::max(turns[op], turns[b] + waits);
    }
  return turns;
}

}  // namespace

StepGraph in_turns(StepGraph graph, const std::vector<int>& batch_of) {
  TS_EXPECTS(batch_of.size() == graph.ops.size(), batch_of.size(), graph.ops.size());
  const std::vector<int> turns = turns_of(graph, batch_of);
  std::vector<std::size_t> order(graph.ops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t op) { return std::tuple(turns[op], batch_of[op]); });

  std::vector<Op> ops = std::exchange(graph.ops, {});
  std::vector<OpId> now(ops.size());    // by the old id
  std::array<OpId, kGpuRoles> kernels;  // the last one of each kind of GPU
  for (const std::size_t old : order) {
    Op& op = ops[old];
    for (OpId& before : op.after) before = now[before.index()];
    const bool computes = op.kind == OpKind::compute;
    OpId& kernel = kernels[static_cast<std::size_t>(op.role)];
    if (computes && std::ranges::count(op.after, kernel) == 0) op.after.push_back(kernel);
    now[old] = graph.add(std::move(op));
    if (computes) kernel = now[old];
  }
  return graph;
}

}  // namespace tiersim
