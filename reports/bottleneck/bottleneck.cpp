#include "reports/bottleneck/bottleneck.hpp"

#include <algorithm>
#include <map>

#include "reports/points/point_values.hpp"

namespace tiersim {
namespace {

void sort_shares(std::vector<CauseShare>& shares) {
  std::erase_if(shares, [](const CauseShare& share) { return share.share <= 0; });
  std::ranges::stable_sort(shares, std::greater<>{}, &CauseShare::share);
}

// A channel stays busy for the same time where the step gets faster for other reasons.
void add_next(const RunRecord& record, double chain_s, Bottleneck& out) {
  if (record.channel_utilisation.empty()) return;  // without the engine there is no utilisation
  const double bound = out.bound_s.value_or(chain_s);
  std::vector<CauseShare> others;
  for (const CauseShare& share : out.shares)
    others.push_back({share.cause, share.share * chain_s / bound});
  for (const auto& [channel, share] : record.channel_utilisation)
    others.push_back({channel, share * out.time_s.value_or(0) / bound});
  std::erase_if(others, [&](const CauseShare& other) { return other.cause == out.bound_by; });
  sort_shares(others);
  if (!others.empty()) out.next = others.front();
  const double rest_of_chain = (1 - out.share()) * chain_s / bound;
  const double left = std::max(rest_of_chain, out.next ? out.next->share : 0);
  if (left > 0) out.most_gain = 1 / std::min(left, 1.0);
}

std::optional<Bottleneck> of_step(const RunRecord& record) {
  Bottleneck out{.time_s = metric_value(record, "step_time_s"),
                 .bound_s = metric_value(record, "bound_s")};
  double sum = 0;
  for (const TimeShare& share : record.bound_shares) sum += share.seconds;
  if (sum == 0) return std::nullopt;
  for (const TimeShare& share : record.bound_shares)
    out.shares.push_back({share.name, share.seconds / sum});
  sort_shares(out.shares);
  // "critical path" where it is longer than the work of any channel.
  const bool of_chain = record.bounded_by.empty() || record.bounded_by == "critical path";
  out.bound_by = of_chain ? out.shares.front().cause : record.bounded_by;
  add_next(record, sum, out);
  return out;
}

std::optional<Bottleneck> of_server(const RunRecord& record) {
  Bottleneck out{.of_chain = false};
  for (const auto& [channel, share] : record.channel_utilisation)
    out.shares.push_back({channel, share});
  for (const auto& [cause, name] :
       {std::pair{"gpu", "gpu_busy_share"}, std::pair{"host", "host_wait_share"},
        std::pair{"copies", "copy_wait_share"}})
    if (const auto share = metric_value(record, name)) out.shares.push_back({cause, *share});
  sort_shares(out.shares);
  if (out.shares.empty()) return std::nullopt;
  out.bound_by = out.shares.front().cause;
  if (out.shares.size() > 1) out.next = out.shares[1];
  return out;
}

}  // namespace

double Bottleneck::share() const {
  const auto it = std::ranges::find(shares, bound_by, &CauseShare::cause);
  return it == shares.end() ? 0 : it->share;
}

std::vector<Bottleneck> bottlenecks(const PointTable& table) {
  std::vector<Bottleneck> out;
  for (std::size_t p = 0; p < table.points.size(); ++p) {
    const auto& record = table.points[p].record;
    if (!record) continue;
    auto found = record->serving ? of_server(*record) : of_step(*record);
    if (!found) continue;
    found->point = p;
    out.push_back(*std::move(found));
  }
  return out;
}

std::vector<std::string> causes_of(const std::vector<Bottleneck>& all) {
  struct Weight {
    std::size_t bounds = 0;
    double shares = 0;
  };
  std::map<std::string, Weight> weights;
  for (const Bottleneck& point : all) {
    ++weights[point.bound_by].bounds;
    for (const CauseShare& share : point.shares) weights[share.cause].shares += share.share;
  }
  std::vector<std::string> out;
  for (const auto& [cause, weight] : weights) out.push_back(cause);
  std::ranges::stable_sort(out, [&](const std::string& a, const std::string& b) {
    const Weight& x = weights.at(a);
    const Weight& y = weights.at(b);
    return x.bounds != y.bounds ? x.bounds > y.bounds : x.shares > y.shares;
  });
  return out;
}

}  // namespace tiersim
