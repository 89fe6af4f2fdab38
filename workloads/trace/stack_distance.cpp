#include "workloads/trace/stack_distance.hpp"

#include "sim/base/check.hpp"

namespace tiersim {

StackDistances::StackDistances(std::int64_t lookups)
    : tree_(static_cast<std::size_t>(lookups) + 1) {}

std::vector<std::int64_t> StackDistances::look_up(std::span<const std::int64_t> batch) {
  std::vector<std::int64_t> distances;
  distances.reserve(batch.size());
  const auto rows = static_cast<std::int64_t>(last_use_.size());
  for (const std::int64_t row : batch) {
    const auto used = last_use_.find(row);
    distances.push_back(used == last_use_.end() ? 0 : rows - marked_up_to(used->second - 1));
  }
  for (const std::int64_t row : batch) {
    const auto [used, is_new] = last_use_.try_emplace(row, 0);
    if (!is_new) mark(used->second, -1);
    used->second = ++now_;
    mark(now_, 1);
  }
  return distances;
}

void StackDistances::mark(std::int64_t time, std::int64_t change) {
  const auto size = static_cast<std::int64_t>(tree_.size());
  TS_EXPECTS(time >= 1 && time < size, time, size);
  for (std::int64_t i = time; i < size; i += i & -i) tree_[static_cast<std::size_t>(i)] += change;
}

std::int64_t StackDistances::marked_up_to(std::int64_t time) const {
  std::int64_t sum = 0;
  for (std::int64_t i = time; i > 0; i -= i & -i) sum += tree_[static_cast<std::size_t>(i)];
  return sum;
}

}  // namespace tiersim
