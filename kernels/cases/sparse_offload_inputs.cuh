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
#include "kernels/cases/parallel.hpp"
#include "kernels/cases/random.hpp"
#include "kernels/cases/sampled.hpp"
#include "kernels/device/mistakes.hpp"
#include "kernels/device/sparse_rows.hpp"
#include "kernels/reference/sparse_offload.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

inline std::size_t index_of(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// Number i of an array of e4m3: magnitudes below 4, small ones and zeros among them.
inline unsigned char random_e4m3_at(std::uint64_t seed, std::int64_t i) {
  const std::uint64_t bits = Random(seed + index_of(i)).next();
  return static_cast<unsigned char>((bits >> 56U & 0x80U) | bits % 72U);
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

// Rows of the latent cache as random words, shifted by the number of the row: no two are equal.
inline void fill_rows(uint4* to, std::int64_t rows, std::uint64_t seed) {
  const std::vector<std::uint32_t> words = random_words(index_of(LatentRow::kBytes / 4), seed);
  const auto fill = [&words, to](std::int64_t first, std::int64_t last) {
    uint4* next = to + first * LatentRow::kUnits;
    for (std::int64_t row = first; row < last; ++row) {
      const std::uint32_t shift = static_cast<std::uint32_t>(row) * 977U;
      for (int unit = 0; unit < LatentRow::kUnits; ++unit) {
        const std::uint32_t* word = words.data() + 4 * unit;
        *next++ = make_uint4(word[0] + shift, word[1] + shift, word[2] + shift, word[3] + shift);
      }
    }
  };
  in_parallel(rows, fill, (1 << 20) / LatentRow::kBytes);
}

using HostTable = std::shared_ptr<PinnedArray<uint4>>;

// True where all sets of a case read from one table, which is larger than what a processor's caches
// mostly hold.
inline bool one_table(std::int64_t rows) {
  return rows * LatentRow::kBytes >= std::int64_t{256} << 20;
}
// The table of the next set of a case.
template <class Set>
HostTable next_table(const std::vector<std::unique_ptr<Set>>& sets, std::int64_t rows,
                     std::uint64_t seed) {
  if (!sets.empty() && one_table(rows)) return sets.front()->table;
  auto table = std::make_shared<PinnedArray<uint4>>(index_of(rows * LatentRow::kUnits), "table");
  fill_rows(table->host(), rows, seed);
  return table;
}

// Number `index` of the numbers that are not in an ascending list.
inline int number_outside(const std::vector<int>& list, int index) {
  int first = 0;  // list[i] - i numbers outside stand before list[i]
  int last = static_cast<int>(list.size());
  while (first < last) {
    const int middle = (first + last) / 2;
    if (list[index_of(middle)] - middle <= index) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return index + first;
}

// Lists of a step and tables of rows in random order. A table holds all rows of its list but the
// misses; its other rows are not chosen.
struct HotInputs {
  HotInputs(const HotShape& shape, Random& random) {
    const std::uint64_t seed = random.next();
    chosen.resize(index_of(std::int64_t{shape.batch} * shape.k), -1);
    held.resize(index_of(std::int64_t{shape.batch} * shape.slots));
    lists.resize(index_of(shape.batch));
    const auto draw_all = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) {
        Random own(seed + index_of(b));
        draw(shape, static_cast<int>(b), own);
      }
    };
    in_parallel(shape.batch, draw_all, 1 + 10'000 / shape.slots);
  }

  reference::HotStep step(const HotShape& shape, int sequence) const {
    const auto first = held.begin() + std::int64_t{sequence} * shape.slots;
    return reference::use_rows({first, first + shape.slots}, lists[index_of(sequence)]);
  }
  std::vector<int2> table() const {
    std::vector<int2> made;
    for (const reference::HotRow& row : held) made.push_back(make_int2(row.token, row.slot));
    return made;
  }

  std::vector<int> chosen;              // [batch][k]
  std::vector<reference::HotRow> held;  // [batch][slots]
  std::vector<std::vector<int>> lists;  // of each sequence

 private:
  void draw(const HotShape& shape, int sequence, Random& random) {
    const int count = shape.count(sequence);
    const int others = shape.lengths[index_of(sequence)] - count;
    std::vector<int> list = ascending_numbers(count, others + count, random);
    std::vector<int> tokens = list;
    shuffle(tokens, random);
    tokens.resize(index_of(count - shape.missed(sequence)));
    const int room = shape.slots - shape.free - static_cast<int>(tokens.size());
    for (const int other : ascending_numbers(std::clamp(room, 0, others), others, random)) {
      tokens.push_back(number_outside(list, other));
    }
    shuffle(tokens, random);
    tokens.insert(tokens.begin(), index_of(shape.slots) - tokens.size(), -1);
    const std::vector<int> slots = distinct_numbers(shape.slots, shape.slots, random.next());
    reference::HotRow* row = held.data() + index_of(std::int64_t{sequence} * shape.slots);
    for (std::size_t i = 0; i < tokens.size(); ++i) *row++ = {tokens[i], slots[i]};
    std::copy(list.begin(), list.end(), chosen.begin() + std::int64_t{sequence} * shape.k);
    lists[index_of(sequence)] = std::move(list);
  }
};

// Adds what differs from the step of a sequence: its table, the slots of its list, its misses.
inline void compare_hot_step(Agreement& agreement, const HotShape& shape,
                             const reference::HotStep& step, int sequence,
                             const std::vector<int2>& next, const std::vector<int>& slot_of,
                             const std::vector<int>& misses) {
  const auto expect = [&agreement](int value, int expected) {
    agreement.error += value == expected ? 0 : 1;
    ++agreement.compared;
  };
  std::vector<int> slots(index_of(shape.k), -1);
  for (const auto* moves : {&step.missed, &step.found}) {
    for (const reference::HotMove& move : *moves) slots[index_of(move.position)] = move.slot;
  }
  for (int j = 0; j < shape.k; ++j) {
    expect(slot_of[index_of(std::int64_t{sequence} * shape.k + j)], slots[index_of(j)]);
  }
  for (std::size_t i = 0; i < step.held.size(); ++i) {
    const int2 row = next[index_of(std::int64_t{sequence} * shape.slots) + i];
    expect(row.x, step.held[i].token);
    expect(row.y, step.held[i].slot);
  }
  expect(misses[index_of(sequence)], static_cast<int>(step.missed.size()));
}

}  // namespace tiersim::kernels
