// Common parts of the screening cases: their shape, its names, inputs made on the card, and the
// comparison of chosen indices.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/cases/random.hpp"
#include "kernels/cases/sampled.hpp"
#include "kernels/device/fill_screening.cuh"
#include "kernels/device/select_layout.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/fill.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

struct ScreeningShape {
  int batch = 1;
  int heads = 1;
  int capacity = 0;          // capacity of the cache in tokens, for each sequence
  int k = 0;                 // tokens to choose
  std::vector<int> lengths;  // [batch], 0 to capacity; empty: all capacity
  int splits = 1;            // of the list, in attention over chosen tokens
  int divisor = 1024;        // of INT8 numbers, see random_int8_at()
  float amplitude = 1;       // of the scale of attention's scores; 0 makes all equal

  std::int64_t rows() const { return std::int64_t{batch} * heads; }
  int length(std::int64_t row) const { return lengths[static_cast<std::size_t>(row / heads)]; }
  std::string name() const {
    return "b" + std::to_string(batch) + "-h" + std::to_string(heads) + "-s" +
           std::to_string(capacity) + "-k" + std::to_string(k);
  }
  std::vector<std::pair<std::string, std::int64_t>> named() const {
    return {{"batch", batch}, {"heads", heads}, {"tokens", capacity}, {"k", k}, {"splits", splits}};
  }
};

inline ScreeningShape with_lengths(ScreeningShape shape) {
  if (shape.lengths.empty()) {
    shape.lengths.assign(static_cast<std::size_t>(shape.batch), shape.capacity);
  }
  return shape;
}

// Rows that the reference computes: all of a small case, a sample of a large one.
inline std::vector<int> rows_to_check(const ScreeningShape& shape, std::uint64_t seed) {
  return sampled_numbers(24, static_cast<int>(shape.rows()), seed);
}

template <class Id>
std::string id_name() {
  return sizeof(Id) == 2 ? "u16" : "i32";
}
// The type name in the names of kernels for ptxas.
template <class Id>
std::string id_type() {
  return sizeof(Id) == 2 ? "unsignedshort" : "int";
}

inline dim3 fill_grid(std::int64_t units) {
  return dim3(static_cast<unsigned>(std::clamp<std::int64_t>(units / kFillThreads, 1, 4096)));
}
inline void fill_int8_array(Stream& stream, DeviceArray<std::int8_t>& array, std::uint64_t seed,
                            int divisor) {
  const auto count = static_cast<std::int64_t>(array.size());
  launch(stream, fill_int8<std::int8_t>, {fill_grid(count / 16), dim3(kFillThreads)}, array.data(),
         count, seed, divisor);
}
// The copy of `heads` matrices of tokens x columns, made by fill(), with tokens side by side.
inline void fill_transposed(Stream& stream, DeviceArray<bf16>& array, std::int64_t heads,
                            int tokens, int columns, std::uint64_t seed) {
  launch(stream, fill_normal_transposed<bf16>,
         {fill_grid(static_cast<std::int64_t>(array.size()) / 8), dim3(kFillThreads)}, array.data(),
         heads, tokens, columns, seed);
}

// Number of a row's indices that differ from the reference (-1: no index).
template <class Id>
int wrong_ids(const Id* got, const std::vector<int>& expected) {
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Id id = expected[i] < 0 ? kNoId<Id> : static_cast<Id>(expected[i]);
    wrong += got[i] == id ? 0 : 1;
  }
  return wrong;
}

// Numbers from `first` on of an array that fill() made, as input of the reference.
inline std::vector<float> filled_numbers(std::uint64_t seed, std::int64_t first,
                                         std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = filled_number(seed, static_cast<std::uint64_t>(first) + i);
  }
  return numbers;
}

}  // namespace tiersim::kernels
