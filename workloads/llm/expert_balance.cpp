#include "workloads/llm/expert_balance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <queue>
#include <tuple>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"
#include "sim/config/normal_scores.hpp"

namespace tiersim {
namespace {

// The rank of a random draw, away from 0 and 1 so that no quantile is infinite.
double rank(Rng& rng) {
  return std::clamp(rng.uniform(), 1e-10, 1 - 1e-10);
}

double normal(Rng& rng) {
  return detail::normal_quantile(rank(rng));
}

std::vector<double> popularity(const ExpertLoadConfig& load, std::int64_t experts, Rng& rng) {
  std::vector<double> shares(static_cast<std::size_t>(experts));
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] = load.law == ExpertLaw::zipf
                    ? portable_pow(static_cast<double>(i + 1), -load.spread->value)
                    : portable_exp(load.spread->value * normal(rng));
  for (std::size_t i = shares.size(); i > 1; --i) std::swap(shares[i - 1], shares[rng.below(i)]);
  return shares;
}

// Rows in proportion to shares; what an expert would have beyond all tokens goes to the others.
std::vector<double> mean_rows(std::vector<double> rows, const ExpertGroup& g) {
  const auto tokens = static_cast<double>(g.tokens);
  const double all = tokens * static_cast<double>(g.top_k);
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    const double scale = all / std::accumulate(rows.begin(), rows.end(), 0.0);
    for (double& r : rows) r = std::min(r * scale, tokens);
  }
  return rows;
}

// As many tokens choose an expert as a binomial law gives: the quantile of this rank. The normal
// law stands for it where the mean is large; where it is small, that would leave too few experts
// without any token.
double drawn(double mean, double tokens, double rank) {
  constexpr double kLarge = 20;
  const double chance = mean / tokens;
  if (chance >= 1 - 1e-9) return tokens;
  if (mean >= kLarge) {
    const double z = detail::normal_quantile(rank);
    const double skewed = (1 - 2 * chance) * (z * z - 1) / 6;  // Cornish and Fisher, 1938
    const double deviation = std::sqrt(mean * (1 - chance));
    return std::clamp(std::floor(mean + deviation * z + skewed + 0.5), 0.0, tokens);
  }
  double rows = 0;
  double exactly = portable_exp(tokens * portable_log(1 - chance));  // so many rows
  for (double at_most = exactly; at_most < rank && rows < tokens; at_most += exactly) {
    exactly *= (tokens - rows) / (rows + 1) * chance / (1 - chance);
    ++rows;
  }
  return rows;
}

// Copies of each expert.
std::vector<std::int32_t> copies_of(const ExpertGroup& g, const std::vector<double>& rows) {
  std::vector<std::int32_t> copies(rows.size(), 1);
  if (g.placement == ExpertPlacement::contiguous) {
    for (std::int64_t i = 0; i < g.copies; ++i) ++copies[static_cast<std::size_t>(i % g.experts)];
    return copies;
  }
  using Entry = std::pair<double, std::size_t>;  // rows of each copy, -expert to prefer the first
  std::priority_queue<Entry> most;
  for (std::size_t e = 0; e < rows.size(); ++e) most.emplace(rows[e], rows.size() - e);
  for (std::int64_t i = 0; i < g.copies; ++i) {
    const std::size_t e = rows.size() - most.top().second;
    most.pop();
    ++copies[e];
    most.emplace(rows[e] / copies[e], rows.size() - e);
  }
  return copies;
}

}  // namespace

std::vector<std::int32_t> place_experts(const ExpertGroup& g, const std::vector<double>& rows) {
  const std::int64_t slots = g.experts + g.copies;
  TS_EXPECTS(slots % g.ranks == 0, slots, g.ranks);
  const auto per_rank = static_cast<std::size_t>(slots / g.ranks);
  const std::vector<std::int32_t> copies = copies_of(g, rows);
  std::vector<std::int32_t> order;
  for (std::size_t e = 0; e < copies.size(); ++e)
    order.insert(order.end(), static_cast<std::size_t>(copies[e]), static_cast<std::int32_t>(e));
  if (g.placement == ExpertPlacement::contiguous) return order;
  const auto each = [&](std::int32_t e) {
    return rows[static_cast<std::size_t>(e)] / copies[static_cast<std::size_t>(e)];
  };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return each(a) > each(b); });
  using Load = std::pair<double, std::size_t>;  // rows, GPU
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  std::vector<std::vector<std::int32_t>> held(static_cast<std::size_t>(g.ranks));
  for (std::size_t r = 0; r < held.size(); ++r) least.emplace(0, r);
  for (const std::int32_t e : order) {
    const auto [load, r] = least.top();
    least.pop();
    held[r].push_back(e);
    if (held[r].size() < per_rank) least.emplace(load + each(e), r);
  }
  std::vector<std::int32_t> placed;
  for (const auto& of_rank : held) placed.insert(placed.end(), of_rank.begin(), of_rank.end());
  return placed;
}

namespace {

// What does not depend on the number of tokens.
struct DrawnLayer {
  std::vector<double> shares;        // of experts
  std::vector<double> ranks;         // likewise, for the rows of a step
  std::vector<std::int32_t> placed;  // expert of each slot
  std::vector<double> copies;        // of experts
};

std::vector<double> as_rows(const std::vector<std::int64_t>& counts) {
  std::vector<double> rows(counts.size());
  std::ranges::transform(counts, rows.begin(), [](auto n) { return static_cast<double>(n); });
  return rows;
}

// Layers that have no rows have no experts.
std::vector<std::size_t> layers_with_rows(const ExpertCounts& counts) {
  std::vector<std::size_t> layers;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (std::ranges::any_of(counts[i], [](auto rows) { return rows > 0; })) layers.push_back(i);
  return layers;
}

// Draws what is left to chance of a layer whose shares are those that experts were placed by.
void finish_layer(const ExpertLoadConfig& load, Rng& rng, DrawnLayer& layer) {
  for (double& share : layer.shares)
    if (load.drift > 0) share *= portable_exp(load.drift * normal(rng));
  layer.ranks.resize(layer.shares.size());
  for (double& each : layer.ranks) each = rank(rng);
  layer.copies.assign(layer.shares.size(), 0);
  for (const std::int32_t e : layer.placed) ++layer.copies[static_cast<std::size_t>(e)];
}

std::vector<DrawnLayer> draw_layers(const ExpertLoadConfig& load, const ExpertGroup& g, int draws) {
  Rng rng(1, "expert_balance");
  std::vector<DrawnLayer> layers;
  if (load.law == ExpertLaw::counted) {
    const ExpertCounts& before = load.placed_by ? *load.placed_by : *load.counted;
    for (const std::size_t i : layers_with_rows(*load.counted)) {
      DrawnLayer& layer = layers.emplace_back();
      layer.shares = as_rows((*load.counted)[i]);
      layer.placed = place_experts(g, as_rows(before[i]));
      finish_layer(load, rng, layer);
    }
    return layers;
  }
  for (int i = 0; i < draws; ++i) {
    DrawnLayer& layer = layers.emplace_back();
    layer.shares = popularity(load, g.experts, rng);
    layer.placed = place_experts(g, layer.shares);
    finish_layer(load, rng, layer);
  }
  return layers;
}

// Drawn layers, and the balance of each number of tokens that was asked for, which is computed
// once.
class DrawnLoads {
 public:
  explicit DrawnLoads(std::vector<DrawnLayer> layers) : layers_(std::move(layers)) {}

  template <class Compute>
  ExpertBalance of(const ExpertGroup& g, const Compute& compute) {
    const std::pair asked{g.tokens, g.top_k};
    {
      const std::scoped_lock lock(mutex_);
      if (const auto at = known_.find(asked); at != known_.end()) return at->second;
    }
    const ExpertBalance balance = compute(layers_);
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.emplace(asked, balance);
    return balance;
  }

 private:
  static constexpr std::size_t kMost = 20'000;
  std::vector<DrawnLayer> layers_;
  std::mutex mutex_;
  std::map<std::pair<std::int64_t, std::int64_t>, ExpertBalance> known_;
};

// Layers by all that they depend on.
class DrawnLayers {
 public:
  using Layers = std::shared_ptr<DrawnLoads>;

  Layers of(const ExpertLoadConfig& load, const ExpertGroup& g, int draws) {
    const Group group{g.experts, g.ranks, g.copies, g.placement, draws};
    {
      const std::scoped_lock lock(mutex_);
      for (const Entry& entry : known_)
        if (entry.group == group && is_same(entry.load, load)) return entry.layers;
    }
    auto layers = std::make_shared<DrawnLoads>(draw_layers(load, g, draws));
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.push_back({group, load, layers});
    return layers;
  }

 private:
  /// Of 58 layers with 256 experts an entry has half a megabyte.
  static constexpr std::size_t kMost = 32;
  using Group = std::tuple<std::int64_t, std::int64_t, std::int64_t, ExpertPlacement, int>;
  struct Entry {
    Group group;
    ExpertLoadConfig load;
    Layers layers;
  };

  static bool is_same(const ExpertLoadConfig& a, const ExpertLoadConfig& b) {
    const auto spread = [](const ExpertLoadConfig& c) { return c.spread ? c.spread->value : 0; };
    return a.law == b.law && spread(a) == spread(b) && a.drift == b.drift &&
           a.counted == b.counted && a.placed_by == b.placed_by;
  }

  std::mutex mutex_;
  std::vector<Entry> known_;
};

// A server asks for thousands of numbers of tokens.
DrawnLayers::Layers drawn_layers(const ExpertLoadConfig& load, const ExpertGroup& g, int draws) {
  static DrawnLayers known;
  return known.of(load, g, draws);
}

// Adds one layer's loads.
void add_layer(const DrawnLayer& layer, const ExpertGroup& g, ExpertBalance& sum) {
  const auto tokens = static_cast<double>(g.tokens);
  std::vector<double> rows = mean_rows(layer.shares, g);
  for (std::size_t e = 0; e < rows.size(); ++e) rows[e] = drawn(rows[e], tokens, layer.ranks[e]);
  const double all = std::max(1.0, std::accumulate(rows.begin(), rows.end(), 0.0));
  const auto slot = [&](std::size_t i) {
    const auto e = static_cast<std::size_t>(layer.placed[i]);
    return rows[e] / layer.copies[e];
  };
  const std::size_t per_rank = layer.placed.size() / static_cast<std::size_t>(g.ranks);
  double most = 0;
  double reached = 0;
  double most_slot = 0;
  for (std::size_t first = 0; first < layer.placed.size(); first += per_rank) {
    double of_rank = 0;
    double with_rows = 0;
    for (std::size_t i = first; i < first + per_rank; ++i) {
      of_rank += slot(i);
      with_rows += slot(i) >= 0.5 ? 1 : 0;
      most_slot = std::max(most_slot, slot(i));
    }
    most = std::max(most, of_rank);
    reached = std::max(reached, with_rows);  // of any GPU, so that more tokens never reach fewer
  }
  sum.rows += most;
  sum.reached += reached;
  sum.over_mean += most / all * static_cast<double>(g.ranks);
  sum.slot_over_mean += most_slot / all * static_cast<double>(layer.placed.size());
  sum.expert_over_mean += *std::ranges::max_element(rows) / all * static_cast<double>(g.experts);
}

}  // namespace

ExpertBalance expert_balance(const ExpertLoadConfig& load, const ExpertGroup& g, int draws) {
  TS_EXPECTS(g.experts >= g.top_k && g.top_k >= 1 && g.tokens >= 1, g.experts, g.top_k, g.tokens);
  TS_EXPECTS(load.law != ExpertLaw::counted || load.experts() == g.experts, g.experts);
  return drawn_layers(load, g, draws)->of(g, [&](const std::vector<DrawnLayer>& layers) {
    ExpertBalance sum{.over_mean = 0, .slot_over_mean = 0, .expert_over_mean = 0};
    for (const DrawnLayer& layer : layers) add_layer(layer, g, sum);
    const auto n = static_cast<double>(layers.size());
    return ExpertBalance{sum.rows / n, sum.reached / n, sum.over_mean / n, sum.slot_over_mean / n,
                         sum.expert_over_mean / n};
  });
}

}  // namespace tiersim
