#include "kernels/reference/screening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tiersim::kernels::reference {

std::vector<int> largest(const std::vector<double>& scores, std::size_t k) {
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int i) { return scores[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (std::isnan(score(a)) || std::isnan(score(b))) return !std::isnan(score(a));
    return score(a) > score(b);
  });
  order.resize(std::min(k, order.size()));
  std::sort(order.begin(), order.end());
  order.resize(k, -1);
  return order;
}

std::vector<double> low_rank_scores(const std::vector<std::int8_t>& keys,
                                    const std::vector<std::int8_t>& query) {
  std::vector<double> scores(keys.size() / query.size());
  for (std::size_t token = 0; token < scores.size(); ++token) {
    for (std::size_t i = 0; i < query.size(); ++i) {
      scores[token] += static_cast<double>(keys[token * query.size() + i] * query[i]);
    }
  }
  return scores;
}

std::vector<double> sparq_scores(const std::vector<float>& keys, const std::vector<float>& query,
                                 std::size_t r) {
  std::vector<double> sizes(query.size());
  for (std::size_t i = 0; i < query.size(); ++i) sizes[i] = std::abs(double{query[i]});
  std::vector<double> scores(keys.size() / query.size());
  for (const int chosen : largest(sizes, r)) {
    const auto component = static_cast<std::size_t>(chosen);
    for (std::size_t token = 0; token < scores.size(); ++token) {
      scores[token] += double{keys[token * query.size() + component]} * query[component];
    }
  }
  return scores;
}

}  // namespace tiersim::kernels::reference
