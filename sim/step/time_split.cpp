#include "sim/step/time_split.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace tiersim {
namespace {

bool waits_for_arithmetic(const OpPlan& plan, const System& system) {
  if (plan.min_reason != "compute") return false;
  return std::ranges::all_of(plan.charges, [&](const ChannelCharge& charge) {
    return charge.busy / system.channels()[charge.channel.index()].capacity <= plan.min_duration;
  });
}

TimePart part_of(const Op& op, const OpPlan& plan, const System& system) {
  if (op.phase == Phase::screening) return TimePart::screening;
  if (op.phase == Phase::weight_copy) return TimePart::weights;
  if (op.requester == RequesterKind::cpu) return TimePart::kv;
  if (op.kind == OpKind::transfer || op.phase == Phase::kv_transfer) return TimePart::link_wait;
  if (op.kind == OpKind::collective) return TimePart::collective;
  if (op.kind == OpKind::host) return TimePart::host;
  if (waits_for_arithmetic(plan, system)) return TimePart::compute;
  const bool rows = op.phase == Phase::attention || op.phase == Phase::write_back;
  return rows ? TimePart::kv : TimePart::weights;
}

class Path {
 public:
  Path(const StepGraph& graph, const OpPlans& plans, std::span<const OpTiming> timings)
      : graph_(graph), plans_(plans), timings_(timings) {}

  std::optional<std::size_t> last() const {
    if (timings_.empty()) return std::nullopt;
    return static_cast<std::size_t>(std::ranges::max_element(timings_, {}, &OpTiming::end) -
                                    timings_.begin());
  }

  /// The operation whose end let this one start: the previous kernel if this one waited for the
  /// compute unit, else the last of its dependencies.
  std::optional<std::size_t> before(std::size_t op) const {
    if (plans_[op].exclusive && timings_[op].start > timings_[op].ready) return kernel_before(op);
    for (const OpId id : graph_.ops[op].after)
      if (timings_[id.index()].end == timings_[op].ready) return id.index();
    return std::nullopt;
  }

 private:
  using KernelEnd = std::tuple<GpuRole, SimTime, std::size_t>;  // of an operation

  // The kernel that the same compute unit ran until this one started.
  std::optional<std::size_t> kernel_before(std::size_t started) const {
    if (kernels_.empty()) sort_kernels();
    const KernelEnd end{plans_[started].role, timings_[started].start, 0};
    const auto at = std::ranges::lower_bound(kernels_, end);
    if (at == kernels_.end() || std::get<0>(*at) != std::get<0>(end) ||
        std::get<1>(*at) != std::get<1>(end))
      return std::nullopt;
    return std::get<2>(*at);
  }

  void sort_kernels() const {
    for (std::size_t op = 0; op < timings_.size(); ++op)
      if (plans_[op].exclusive && timings_[op].start < timings_[op].end)
        kernels_.emplace_back(plans_[op].role, timings_[op].end, op);
    std::ranges::sort(kernels_);
  }

  const StepGraph& graph_;
  const OpPlans& plans_;
  std::span<const OpTiming> timings_;
  mutable std::vector<KernelEnd> kernels_;  // sorted; filled when one is looked for
};

}  // namespace

TimeSplit split_time(const StepGraph& graph, const System& system, const OpPlans& plans,
                     std::span<const OpTiming> timings) {
  TimeSplit split{};
  const Path path(graph, plans, timings);
  for (auto op = path.last(); op; op = path.before(*op)) {
    const OpTiming& timing = timings[*op];
    const TimePart part = part_of(graph.ops[*op], plans[*op], system);
    const bool own_start = part == TimePart::collective || part == TimePart::host;
    split[static_cast<std::size_t>(own_start ? part : TimePart::latency)] +=
        timing.flow - timing.start;
    // An operation that is not exclusive waits only for the other GPUs of its group.
    if (!plans[*op].exclusive) split[static_cast<std::size_t>(part)] += timing.start - timing.ready;
    split[static_cast<std::size_t>(part)] += timing.end - timing.flow;
  }
  return split;
}

}  // namespace tiersim
