#include "sim/sweep/shared_claims.hpp"

#include <algorithm>

namespace tiersim {

std::int64_t ClaimSize::next(double seconds, std::int64_t left, std::size_t slots) {
  constexpr double kShort = 0.25;
  constexpr double kLong = 1;
  constexpr std::int64_t kMost = 65'536;
  if (!is_first_ && seconds < kShort) count_ = std::min(2 * count_, kMost);
  if (!is_first_ && seconds > kLong) count_ = std::max(count_ / 2, std::int64_t{1});
  is_first_ = false;
  // Towards the end claims shrink, since points may take longer than those before.
  constexpr std::int64_t kParts = 4;
  const std::int64_t share = left / (kParts * static_cast<std::int64_t>(slots));
  return std::clamp(share, std::int64_t{1}, count_);
}

SharedClaims::SharedClaims(ClaimsFile& file, std::size_t slot, std::size_t threads)
    : file_(file), slot_(slot), left_(file.slot(slot).claims), size_(threads) {
  for (const PointRange& range : left_) own_ += range.end - range.first;
  std::ranges::reverse(left_);
}

std::optional<PointRange> SharedClaims::next() {
  if (!left_.empty()) {
    const PointRange range = left_.back();
    left_.pop_back();
    return range;
  }
  if (!file_.lock()) return std::nullopt;
  std::optional<PointRange> out;
  try {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    const ClaimsFile::Contents& all = file_.contents();
    const auto working = std::ranges::count(all.slots, false, &ClaimsFile::Slot::done);
    out = file_.claim(slot_,
                      size_.next(seconds, all.points - all.next,
                                 static_cast<std::size_t>(std::max<std::ptrdiff_t>(working, 1))));
    if (out) own_ += out->end - out->first;
    of_others_ = all.next - own_;
    last_ = now;
  } catch (...) {
    file_.unlock();
    throw;
  }
  file_.unlock();
  return out;
}

}  // namespace tiersim
