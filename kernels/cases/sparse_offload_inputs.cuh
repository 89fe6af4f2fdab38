// Common parts of the cases of sparse offload: shapes, lists of chosen tokens, tables of hot rows,
// and rows of the latent cache.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/cases/inputs.hpp"
#include "kernels/cases/random.hpp"
#include "kernels/cases/sampled.hpp"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/sparse_rows.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

inline std::size_t index_of(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// `count` of the numbers below `bound`, ascending, every choice equally likely.
inline std::vector<int> ascending_numbers(int count, int bound, Random& random) {
  std::vector<int> numbers;
  auto left = static_cast<std::uint64_t>(count);
  for (int i = 0; left > 0; ++i) {
    if (random.below(static_cast<std::uint64_t>(bound - i)) >= left) continue;
    numbers.push_back(i);
    --left;
  }
  return numbers;
}

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

struct HotShape {
  int batch = 1;
  int context = 0;                // tokens of a sequence in host memory
  int k = 0;                      // rows of a step
  int slots = 0;                  // rows that the buffer of a sequence holds
  int misses = 0;                 // of a step, for each sequence; at most its rows
  int free = 0;                   // slots that hold nothing before the step, at least
  std::vector<int> lengths = {};  // [batch], 0 to context; empty: all context

  int count(int sequence) const { return std::min(k, lengths[index_of(sequence)]); }
  int missed(int sequence) const { return std::min(misses, count(sequence)); }
  std::vector<int> all_missed() const {
    std::vector<int> all;
    for (int b = 0; b < batch; ++b) all.push_back(missed(b));
    return all;
  }
  std::string name() const {
    return "b" + std::to_string(batch) + "-s" + std::to_string(context) + "-k" + std::to_string(k) +
           "-n" + std::to_string(slots) + "-m" + std::to_string(misses);
  }
  std::vector<std::pair<std::string, std::int64_t>> named() const {
    return {{"batch", batch}, {"context", context}, {"k", k}, {"slots", slots}, {"misses", misses}};
  }
};

inline HotShape with_lengths(HotShape shape) {
  if (shape.lengths.empty()) shape.lengths.assign(index_of(shape.batch), shape.context);
  return shape;
}

}  // namespace tiersim::kernels
