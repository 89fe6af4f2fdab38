#include "kernels/reference/decoder_layer.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/reference/early_exit.hpp"

namespace tiersim::kernels {
namespace {

constexpr std::size_t kHead = 64;
using Row = std::vector<double>;

Row part(const Row& all, std::size_t head) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(head * kHead);
  return {first, first + static_cast<std::ptrdiff_t>(kHead)};
}

std::vector<Row> cached(const std::uint16_t* rows, const LayerCache& cache, std::size_t head) {
  std::vector<Row> out;
  for (std::size_t token = 0; token < cache.length; ++token) {
    out.push_back(bf16_values(rows + (head * cache.capacity + token) * kHead, kHead));
  }
  return out;
}

void add(Row& to, const Row& what) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

}  // namespace

std::vector<double> attend_reference(const Row& query, const std::vector<Row>& keys,
                                     const std::vector<Row>& values, const Row& biases) {
  Row out(query.size(), 0.0);
  if (keys.empty()) return out;
  Row scores = biases;
  for (std::size_t t = 0; t < keys.size(); ++t) {
    for (std::size_t d = 0; d < query.size(); ++d) scores[t] += query[d] * keys[t][d];
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (std::size_t t = 0; t < keys.size(); ++t) {
    const double weight = std::exp(scores[t] - largest);
    sum += weight;
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += weight * values[t][d];
  }
  for (double& v : out) v /= sum;
  return out;
}

int relative_bucket(int distance) {
  if (distance < 16) return distance;
  const double place = std::log(distance / 16.0) / std::log(128.0 / 16.0) * 16.0;
  return std::min(31, 16 + static_cast<int>(place));
}

double gelu_reference(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

LayerResult layer_reference(const LayerWeights& w, const LayerSizes& sizes,
                            const std::uint16_t* state, const LayerCache& self, const float* bias,
                            const LayerCache& cross) {
  const std::size_t inner = sizes.heads * kHead;
  LayerResult result;
  result.state = bf16_values(state, sizes.depth);
  Row& x = result.state;
  const auto normed = [&](const std::uint16_t* weights, std::size_t rows) {
    return project_reference(weights, rows, sizes.depth, x, rms_factor(x, sizes.epsilon));
  };

  const Row qkv = normed(w.qkv, 3 * inner);
  const auto third = static_cast<std::ptrdiff_t>(inner);
  result.key.assign(qkv.begin() + third, qkv.begin() + 2 * third);
  result.value.assign(qkv.begin() + 2 * third, qkv.end());
  Row attended;
  for (std::size_t head = 0; head < sizes.heads; ++head) {
    std::vector<Row> keys = cached(self.keys, self, head);
    std::vector<Row> values = cached(self.values, self, head);
    keys.push_back(part(result.key, head));
    values.push_back(part(result.value, head));
    Row biases;
    for (std::size_t t = 0; t < keys.size(); ++t) {
      biases.push_back(static_cast<double>(bias[head * self.capacity + keys.size() - 1 - t]));
    }
    const Row out = attend_reference(part(qkv, head), keys, values, biases);
    attended.insert(attended.end(), out.begin(), out.end());
  }
  add(x, project_reference(w.self_out, sizes.depth, inner, attended, 1.0));

  const Row query = normed(w.cross_query, inner);
  attended.clear();
  for (std::size_t head = 0; head < sizes.heads; ++head) {
    const Row out = attend_reference(part(query, head), cached(cross.keys, cross, head),
                                     cached(cross.values, cross, head), Row(cross.length, 0.0));
    attended.insert(attended.end(), out.begin(), out.end());
  }
  add(x, project_reference(w.cross_out, sizes.depth, inner, attended, 1.0));

  Row wide = normed(w.gate, sizes.wide);
  const Row linear = normed(w.linear, sizes.wide);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = gelu_reference(wide[i]) * linear[i];
  add(x, project_reference(w.wide_out, sizes.depth, sizes.wide, wide, 1.0));
  return result;
}

}  // namespace tiersim::kernels
