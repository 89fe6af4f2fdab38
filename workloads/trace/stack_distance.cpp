#include "workloads/trace/stack_distance.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

std::span<const std::int64_t> StackDistances::look_up(std::span<const std::int64_t> batch) {
  make_room(batch.size());
  distances_.clear();
  for (const std::int64_t row : batch) {
    const auto used = last_use_.find(row);
    distances_.push_back(used == last_use_.end() ? 0 : rows() - marked_up_to(used->second - 1));
  }
  for (const std::int64_t row : batch) {
    const auto [used, is_new] = last_use_.try_emplace(row, 0);
    if (!is_new) mark(used->second, -1);
    used->second = ++now_;
    mark(now_, 1);
  }
  return distances_;
}

/// Where the times are used up, those of the rows become 1, 2, ... in the same order, and at least
/// as many are free again.
void StackDistances::make_room(std::size_t batch) {
  constexpr std::size_t kFewest = 1024;
  if (static_cast<std::size_t>(now_) + batch < tree_.size()) return;
  std::vector<std::pair<std::int64_t, std::int64_t*>> uses;
  uses.reserve(last_use_.size());
  for (auto& [row, time] : last_use_) uses.emplace_back(time, &time);
  std::ranges::sort(uses, {}, &std::pair<std::int64_t, std::int64_t*>::first);
  now_ = 0;
  for (const auto& [time, place] : uses) *place = ++now_;
  tree_.assign(std::max(kFewest, 2 * (uses.size() + batch)) + 1, 0);
  for (std::size_t i = 1; i < tree_.size(); ++i) {  // an entry counts the times (begin, i]
    const auto end = static_cast<std::int64_t>(i);
    const std::int64_t begin = end - (end & -end);
    tree_[i] = std::max<std::int64_t>(0, std::min(end, now_) - begin);
  }
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
