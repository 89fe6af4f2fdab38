#include "workloads/sessions/session_laws.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "workloads/serving/arrivals.hpp"
#include "workloads/serving/lengths.hpp"

namespace tiersim {

std::int64_t draw_count(const CountConfig& config, Rng& rng) {
  const auto whole = [&](double number) {
    return std::max<std::int64_t>(1,
                                  std::llround(std::min(number, static_cast<double>(config.max))));
  };
  switch (config.distribution) {
    case CountDistribution::fixed:
      return config.count;
    case CountDistribution::uniform:
      return config.min + static_cast<std::int64_t>(
                              rng.below(static_cast<std::uint64_t>(config.max - config.min) + 1));
    case CountDistribution::geometric: {
      const double again = 1 - 1 / config.mean;
      const double u = rng.uniform();
      if (again <= 0) return 1;
      return whole(1 + std::floor(portable_log(u) / portable_log(again)));
    }
    case CountDistribution::lognormal:
      return whole(config.median * portable_exp(config.sigma * draw_normal(rng)));
  }
  return 1;
}

Duration draw_pause(const PauseConfig& config, Rng& rng) {
  const auto median = static_cast<double>(config.time.count());
  double ps = 0;
  switch (config.distribution) {
    case PauseDistribution::fixed:
      return config.time;
    case PauseDistribution::exponential:
      ps = rng.exponential(median);
      break;
    case PauseDistribution::lognormal:
      ps = std::min(static_cast<double>(config.max.count()),
                    median * portable_exp(config.sigma * draw_normal(rng)));
      break;
  }
  if (!(ps < 9.2e18)) throw UnitOverflow();
  return Duration(std::llround(ps));
}

Zipf::Zipf(std::int64_t n, double exponent) {
  TS_EXPECTS(n > 0, n);
  up_to_.reserve(static_cast<std::size_t>(n));
  double sum = 0;
  for (std::int64_t k = 1; k <= n; ++k)
    up_to_.push_back(sum += portable_pow(static_cast<double>(k), -exponent));
  for (double& share : up_to_) share /= sum;
}

std::int64_t Zipf::draw(Rng& rng) const {
  const auto at = std::ranges::lower_bound(up_to_, rng.uniform());
  return std::min(at, up_to_.end() - 1) - up_to_.begin();
}

SessionLaws::SessionLaws(const SessionConfig& sessions, const LengthConfig& output,
                         std::uint64_t seed)
    : sessions_(sessions),
      output_(output),
      seed_(seed),
      groups_(sessions.groups ? sessions.groups->count : 1,
              sessions.groups ? sessions.groups->zipf : 0) {
  if (!sessions_.groups) return;
  Rng rng(seed, "serving.sessions.group_tokens");
  for (std::int64_t g = 0; g < sessions_.groups->count; ++g)
    group_tokens_.push_back(draw_length(sessions_.groups->prompt, rng));
}

std::int64_t SessionLaws::group_of(std::int64_t session) const {
  if (!sessions_.groups) return 0;
  Rng rng(seed_, fmt::format("serving.sessions.{}.group", session));
  return groups_.draw(rng);
}

std::int64_t SessionLaws::priority_of(std::int64_t session) const {
  if (sessions_.priorities.empty()) return 0;
  double all = 0;
  for (const SessionPriorityConfig& each : sessions_.priorities) all += each.weight;
  Rng rng(seed_, fmt::format("serving.sessions.{}.priority", session));
  double left = all * rng.uniform();
  for (const SessionPriorityConfig& each : sessions_.priorities)
    if ((left -= each.weight) < 0) return each.priority;
  return sessions_.priorities.back().priority;
}

std::int64_t SessionLaws::group_tokens(std::int64_t group) const {
  return group_tokens_.empty() ? 0 : group_tokens_[static_cast<std::size_t>(group)];
}

double SessionLaws::abandonment(std::int64_t answer) const {
  const std::vector<double>& by_answer = sessions_.abandonment;
  if (by_answer.empty()) return 0;
  const auto at = static_cast<std::size_t>(answer - 1);
  return by_answer[std::min(at, by_answer.size() - 1)];
}

}  // namespace tiersim
