#include "workloads/trace/lru_curve.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// A mix of all bits of a name (the finaliser of MurmurHash3).
std::uint64_t hash_of(std::uint64_t name) {
  name ^= name >> 33U;
  name *= 0xFF51AFD7ED558CCDULL;
  name ^= name >> 33U;
  name *= 0xC4CEB9FE1A85EC53ULL;
  return name ^ name >> 33U;
}

// As a number from 0 to 1, by the bits that do not choose the part.
double as_share(std::uint64_t hash) {
  return static_cast<double>(hash >> 11U) * 0x1p-53;
}

}  // namespace

LruCurve::LruCurve(double sampled) : sampled_(sampled) {
  TS_EXPECTS(sampled > 0 && sampled <= 1, sampled);
}

void LruCurve::look_up(std::span<const std::uint64_t> names) {
  lookups_ += static_cast<std::int64_t>(names.size());
  batch_.clear();
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    if (sampled_ == 1 || as_share(hash_of(*name)) < sampled_)
      batch_.push_back(static_cast<std::int64_t>(*name));
  const auto distances = stack_.look_up(batch_);
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    Part& part = parts_[hash_of(static_cast<std::uint64_t>(batch_[i])) % kParts];
    ++part.lookups;
    const auto distance = static_cast<std::size_t>(distances[i]);
    if (distance == 0) continue;  // never seen before
    if (part.found.size() <= distance) part.found.resize(distance + 1);
    ++part.found[distance];
  }
}

std::int64_t LruCurve::distinct() const {
  return std::llround(static_cast<double>(stack_.rows()) / sampled_);
}

double LruCurve::rate_of(std::int64_t found, std::int64_t looked_up, double expected) const {
  if (expected <= 0) return 0;
  if (sampled_ == 1) return static_cast<double>(found) / static_cast<double>(lookups_);
  return (static_cast<double>(found) + expected - static_cast<double>(looked_up)) / expected;
}

HitRate LruCurve::at(std::int64_t blocks) const {
  if (lookups_ == 0) return {};
  const auto most = static_cast<std::size_t>(
      std::floor(static_cast<double>(std::max<std::int64_t>(blocks, 0)) * sampled_ * (1 + 1e-12)));
  std::array<std::int64_t, kParts> found{};
  std::int64_t all = 0;
  std::int64_t looked_up = 0;
  for (std::size_t p = 0; p < kParts; ++p) {
    const auto& by_distance = parts_[p].found;
    for (std::size_t d = 1; d < by_distance.size() && d <= most; ++d) found[p] += by_distance[d];
    all += found[p];
    looked_up += parts_[p].lookups;
  }
  const double expected = static_cast<double>(lookups_) * sampled_;
  HitRate out{.rate = std::clamp(rate_of(all, looked_up, expected), 0.0, 1.0)};
  if (sampled_ == 1) return out;
  double squares = 0;
  for (std::size_t p = 0; p < kParts; ++p) {
    const double part = rate_of(found[p], parts_[p].lookups, expected / kParts);
    squares += (part - out.rate) * (part - out.rate);
  }
  out.error = std::sqrt(squares / (kParts - 1) / kParts);
  return out;
}

}  // namespace tiersim
