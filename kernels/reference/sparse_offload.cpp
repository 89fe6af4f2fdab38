#include "kernels/reference/sparse_offload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <set>

namespace tiersim::kernels::reference {

HotStep use_rows(const std::vector<HotRow>& held, const std::vector<int>& chosen) {
  std::list<HotRow> rows(held.begin(), held.end());  // the most recently used one last
  const auto row_of = [&](int token) {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const HotRow& row) { return row.token == token; });
  };
  const std::set<int> pinned(chosen.begin(), chosen.end());
  const auto is_pinned = [&](const HotRow& row) { return pinned.contains(row.token); };
  HotStep step;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto row = row_of(chosen[i]);
    const bool missed = row == rows.end();
    const auto used = missed ? std::find_if_not(rows.begin(), rows.end(), is_pinned) : row;
    used->token = chosen[i];
    (missed ? step.missed : step.found).push_back({chosen[i], used->slot, static_cast<int>(i)});
  }
  for (const std::vector<HotMove>* moves : {&step.missed, &step.found}) {
    for (const HotMove& move : *moves) rows.splice(rows.end(), rows, row_of(move.token));
  }
  step.held.assign(rows.begin(), rows.end());
  return step;
}

double from_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3U & 15;
  const int fraction = bits & 7;
  const double sign = (bits & 0x80U) != 0 ? -1.0 : 1.0;
  if (exponent == 15 && fraction == 7) return std::numeric_limits<double>::quiet_NaN();
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10));
}

double index_score(const std::vector<double>& queries, const std::vector<double>& weights,
                   const std::vector<double>& key, double scale) {
  double score = 0;
  for (std::size_t head = 0; head < weights.size(); ++head) {
    double dot = 0;
    for (std::size_t d = 0; d < key.size(); ++d) dot += queries[head * key.size() + d] * key[d];
    score += weights[head] * std::max(0.0, dot);
  }
  return score * scale;
}

}  // namespace tiersim::kernels::reference
