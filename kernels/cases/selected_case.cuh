// selected_attention at one shape, with combine_splits where the list is split.
#pragma once
#include <cmath>

#include "kernels/cases/screening_inputs.cuh"
#include "kernels/device/combine.cuh"
#include "kernels/device/combine_work.hpp"
#include "kernels/device/selected_attention.cuh"
#include "kernels/reference/attention.hpp"

namespace tiersim::kernels {

constexpr int kSelectedDim = 128;

// Work of both launches.
inline Work selected_with_combine_work(const ScreeningShape& shape, int id_bytes) {
  Work work = selected_attention_work<kSelectedDim>(shape.lengths, shape.heads, shape.k,
                                                    shape.splits, id_bytes);
  if (shape.splits == 1) return work;
  const int chunk = selected_chunk<kSelectedDim>(shape.k, shape.splits);
  std::int64_t filled = 0;
  for (const int length : shape.lengths) {
    filled += std::int64_t{shape.heads} * ((std::min(length, shape.k) + chunk - 1) / chunk);
  }
  return work + combine_splits_work(kSelectedDim, shape.splits, shape.rows(), filled);
}

template <class Id>
std::vector<LaunchUse> selected_launches(const ScreeningShape& shape) {
  std::vector<LaunchUse> uses = {
      {"selected_attention<" + std::to_string(kSelectedDim) + "," + id_type<Id>() + ">",
       reinterpret_cast<const void*>(&selected_attention<kSelectedDim, Id>),
       shape.rows() * shape.splits, kSelectedThreads,
       static_cast<std::int64_t>(selected_layout<kSelectedDim, Id>(shape.k, shape.splits).bytes),
       std::int64_t{kSelectedStages - 1} * 2 * kSelectedRows * kSelectedThreads * 16}};
  if (shape.splits > 1) {
    uses.push_back({"combine_splits<" + std::to_string(kSelectedDim) + ">",
                    reinterpret_cast<const void*>(&combine_splits<kSelectedDim>),
                    combine_blocks(kSelectedDim, shape.rows()), kCombineThreads, 0,
                    std::int64_t{kCombineThreads} * 64});
  }
  return uses;
}

// Arrays of attention over chosen tokens; the ids belong to the caller.
struct SelectedArrays {
  explicit SelectedArrays(const ScreeningShape& shape)
      : queries(numbers(shape, 1), "queries"),
        keys(numbers(shape, shape.capacity), "keys"),
        values(numbers(shape, shape.capacity), "values"),
        out(numbers(shape, 1), "out"),
        partial(shape.splits == 1 ? 0 : numbers(shape, shape.splits), "partial"),
        lse(shape.splits == 1 ? 0 : static_cast<std::size_t>(shape.rows() * shape.splits), "lse"),
        lengths(shape.lengths, "lengths") {}
  static std::size_t numbers(const ScreeningShape& shape, int rows_each) {
    return static_cast<std::size_t>(shape.rows() * rows_each * kSelectedDim);
  }
  void fill_from(Stream& stream, std::uint64_t seed) {
    fill(stream, queries, seed);
    fill(stream, keys, seed + 1);
    fill(stream, values, seed + 2);
  }

  DeviceArray<bf16> queries, keys, values, out;
  DeviceArray<float> partial, lse;
  DeviceArray<int> lengths;
};

inline float selected_scale(const ScreeningShape& shape) {
  return shape.amplitude / std::sqrt(static_cast<float>(kSelectedDim));
}

template <class Id, Mistake M = Mistake::none>
void enqueue_selected(Stream& stream, const ScreeningShape& shape, SelectedArrays& arrays,
                      const DeviceArray<Id>& ids) {
  const Geometry geometry{
      dim3(static_cast<unsigned>(shape.splits), static_cast<unsigned>(shape.rows())),
      dim3(kSelectedThreads), selected_layout<kSelectedDim, Id>(shape.k, shape.splits).bytes};
  launch(stream, &selected_attention<kSelectedDim, Id, M>, geometry, arrays.queries.data(),
         arrays.keys.data(), arrays.values.data(), ids.data(), arrays.lengths.data(), shape.heads,
         shape.capacity, shape.k, selected_scale(shape), arrays.out.data(), arrays.partial.data(),
         arrays.lse.data());
  if (shape.splits == 1) return;
  const auto blocks = static_cast<unsigned>(combine_blocks(kSelectedDim, shape.rows()));
  launch(stream, &combine_splits<kSelectedDim>, {dim3(blocks), dim3(kCombineThreads)},
         arrays.partial.data(), arrays.lse.data(), shape.splits, static_cast<int>(shape.rows()),
         arrays.out.data());
}

// Compares a row with float64, given the row's list of indices.
template <class Id>
void compare_selected(Difference& difference, const ScreeningShape& shape, std::uint64_t seed,
                      int row, const Id* ids, const bf16* out) {
  constexpr std::size_t kDim = kSelectedDim;
  const auto count = static_cast<std::size_t>(std::min(shape.k, shape.length(row)));
  std::vector<float> keys;
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at =
        (std::int64_t{row} * shape.capacity + static_cast<std::int64_t>(ids[i])) * kSelectedDim;
    for (std::int64_t d = 0; d < kSelectedDim; ++d) {
      keys.push_back(filled_number(seed + 1, static_cast<std::uint64_t>(at + d)));
      values.push_back(filled_number(seed + 2, static_cast<std::uint64_t>(at + d)));
    }
  }
  const auto query = filled_numbers(seed, std::int64_t{row} * kSelectedDim, kSelectedDim);
  const std::vector<double> expected =
      reference::attention(query.data(), {keys.data(), kDim}, {values.data(), kDim}, count, kDim,
                           kDim, double{selected_scale(shape)});
  for (std::size_t d = 0; d < kDim; ++d) difference.add(double{to_float(out[d])}, expected[d]);
}

template <class Id, Mistake M = Mistake::none>
class SelectedAttentionCase : public Case {
 public:
  explicit SelectedAttentionCase(ScreeningShape shape) : shape_(with_lengths(std::move(shape))) {}

  CaseInfo info() const override {
    auto named = shape_.named();
    named.emplace_back("head_dim", kSelectedDim);
    return {"screening", "selected_attention", "fma-" + id_name<Id>(), "bf16", named, false};
  }
  Work work() const override {
    return selected_with_combine_work(shape_, static_cast<int>(sizeof(Id)));
  }
  std::vector<LaunchUse> launches() const override { return selected_launches<Id>(shape_); }
  std::int64_t set_bytes() const override {
    return shape_.rows() * (std::int64_t{kSelectedDim} * 4 * (shape_.capacity + 1) +
                            shape_.k * static_cast<std::int64_t>(sizeof(Id)));
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    Stream stream;
    for (int i = 0; i < sets; ++i) {
      Set& set = sets_.emplace_back(shape_, drawn_ids(seed_of(i)));
      set.arrays.fill_from(stream, seed_of(i));
    }
    stream.synchronize();
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    enqueue_selected<Id, M>(stream, shape_, s.arrays, s.ids);
  }
  Agreement check(int set) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    const std::vector<bf16> out = s.arrays.out.download();
    const std::vector<Id> ids = s.ids.download();
    Difference difference;
    for (const int row : rows_to_check(shape_, seed_)) {
      compare_selected(difference, shape_, seed_of(set), row,
                       ids.data() + std::int64_t{row} * shape_.k,
                       out.data() + std::int64_t{row} * kSelectedDim);
    }
    return difference.agreement(1e-2);
  }

 private:
  struct Set {
    Set(const ScreeningShape& shape, const std::vector<Id>& list)
        : arrays(shape), ids(list, "ids") {}
    SelectedArrays arrays;
    DeviceArray<Id> ids;
  };

  std::uint64_t seed_of(int set) const {
    return Random(seed_ * 1000 + static_cast<std::uint64_t>(set)).next();
  }
  // For each row min(k, length) distinct tokens, ascending, every choice equally likely.
  std::vector<Id> drawn_ids(std::uint64_t seed) const {
    std::vector<Id> ids(static_cast<std::size_t>(shape_.rows() * shape_.k), kNoId<Id>);
    Random random(seed + 3);
    for (std::int64_t row = 0; row < shape_.rows(); ++row) {
      auto left = static_cast<std::uint64_t>(std::min(shape_.k, shape_.length(row)));
      auto to = static_cast<std::size_t>(row * shape_.k);
      for (int token = 0; left > 0; ++token) {
        const auto tokens = static_cast<std::uint64_t>(shape_.length(row) - token);
        if (random.below(tokens) >= left) continue;
        ids[to++] = static_cast<Id>(token);
        --left;
      }
    }
    return ids;
  }

  ScreeningShape shape_;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace tiersim::kernels
