#include "sim/serving/demand.hpp"

#include <algorithm>

#include "sim/step/accounting.hpp"

namespace tiersim {
namespace {

std::int64_t checked(Int128 value) {
  if (value > std::numeric_limits<std::int64_t>::max()) throw UnitOverflow();
  return static_cast<std::int64_t>(value);
}

}  // namespace

void Demand::add(const OpPlan& plan, const System& system) {
  Duration body = plan.min_duration;
  for (const auto& [channel, busy] : plan.charges) {
    const SystemChannel& at = system.channels()[channel.index()];
    const Bytes all = busy * at.sharers;
    body = std::max(body, all / at.capacity);
    std::int64_t& sum = numbers_[kFirstChannel + channel.index()];
    sum = checked(Int128{sum} + all.in_base());
  }
  for (const DeviceTraffic& traffic : plan.traffic) {
    std::int64_t& sum = numbers_[place(traffic.device, traffic.direction)];
    sum = checked(Int128{sum} + (traffic.payload * system.sharers(traffic.device)).in_base());
    std::int64_t& moved =
        numbers_[kFirstChannel + channels_ + 2 * devices_ + traffic.device.index()];
    moved = checked(Int128{moved} + traffic.moved.in_base());
  }
  numbers_[kTime] = checked(Int128{numbers_[kTime]} + plan.setup.count() + body.count());
  constexpr std::int64_t kThousand = 1000;
  numbers_[of(plan.role, kKiloflops)] += (plan.powered_flops.in_base() + kThousand / 2) / kThousand;
  numbers_[of(plan.role, kActive)] += active_time(plan, system).count();
  if (!plan.exclusive) return;
  ++numbers_[of(plan.role, kKernels)];
  numbers_[of(plan.role, kComputing)] += plan.setup.count() + body.count();
}

void Demand::add(const Demand& other, std::int64_t times) {
  TS_EXPECTS(numbers_.size() == other.numbers_.size());
  bool overflow = false;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    std::int64_t all = 0;
    overflow |= __builtin_mul_overflow(other.numbers_[i], times, &all);
    overflow |= __builtin_add_overflow(numbers_[i], all, &numbers_[i]);
  }
  if (overflow) throw UnitOverflow();
}

void Demand::add_between(const Demand& low, const Demand& high, std::int64_t part,
                         std::int64_t whole) {
  TS_EXPECTS(0 <= part && part <= whole && whole > 0, part, whole);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const std::int64_t step = high.numbers_[i] - low.numbers_[i];
    if (numbers_[i] == 0 && step == 0) {  // most channels have nothing to do
      numbers_[i] = low.numbers_[i];
      continue;
    }
    const Int128 way = Int128{step} * part / whole;
    numbers_[i] = checked(Int128{numbers_[i]} + low.numbers_[i] + way);
  }
}

Demand demand_of(const StepGraph& graph, const System& system) {
  Demand sum(system);
  for (const OpPlan& plan : system.plan(graph)) sum.add(plan, system);
  return sum;
}

}  // namespace tiersim
