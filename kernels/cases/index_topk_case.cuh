// The choice of the best tokens by an indexer's scores: topk where a row fits shared memory, and
// topk_long for rows of any length.
#pragma once
#include "kernels/cases/parallel.hpp"
#include "kernels/cases/sparse_offload_inputs.cuh"
#include "kernels/device/topk.cuh"
#include "kernels/device/topk_long.cuh"
#include "kernels/reference/screening.hpp"

namespace tiersim::kernels {

// flat: uniform in [0, 1). concentrated: uniform in [1, 1 + 2^-10), which is one bin of the first
// digit and has 8192 values, so that many scores are equal.
enum class Scores { flat, concentrated };

struct IndexTopkShape {
  int batch = 1;
  int context = 0;  // capacity of a row, a multiple of 8
  int k = 0;
  Scores scores = Scores::flat;
  std::vector<int> lengths = {};  // [batch]; empty: all context
  bool misjudged = false;         // scores of which topk_long's estimates do not hold

  std::string name() const {
    return "b" + std::to_string(batch) + "-s" + std::to_string(context) + "-k" + std::to_string(k) +
           (scores == Scores::flat ? "-flat" : "-concentrated");
  }
};

template <bool Long, Mistake M = Mistake::none>
class IndexTopkCase : public Case {
 public:
  // given: [batch][context]; empty: drawn by prepare().
  explicit IndexTopkCase(IndexTopkShape shape, std::vector<float> given = {})
      : shape_(std::move(shape)), given_(std::move(given)) {
    if (shape_.lengths.empty()) shape_.lengths.assign(index_of(shape_.batch), shape_.context);
  }

  CaseInfo info() const override {
    return {"sparse_offload",
            Long ? "topk_long" : "topk",
            "f32-i32",
            "f32",
            {{"batch", shape_.batch},
             {"heads", 1},
             {"tokens", shape_.context},
             {"k", shape_.k},
             {"concentrated", shape_.scores == Scores::concentrated ? 1 : 0}},
            false};
  }
  Work work() const override {
    return Long ? topk_long_work(shape_.lengths, shape_.k, shape_.misjudged)
                : topk_work<Float32>(shape_.lengths, 1, shape_.k, 4);
  }
  std::vector<LaunchUse> launches() const override {
    constexpr int kLoads = Long ? kTopkLongLoads : kTopkLoads;
    return {{.kernel = Long ? "topk_long" : "topk<Float32,int>",
             .function = function(),
             .blocks = shape_.batch,
             .threads = kThreads,
             .shared_bytes = static_cast<std::int64_t>(shared_bytes()),
             .bytes_in_flight_per_block = std::int64_t{16} * kThreads * kLoads}};
  }
  std::int64_t set_bytes() const override {
    return std::int64_t{4} * shape_.batch * (shape_.context + shape_.k);
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    for (int i = 0; i < sets; ++i) {
      sets_.emplace_back(shape_, given_.empty() ? drawn(seed + index_of(i)) : given_);
    }
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[index_of(set)];
    const Geometry geometry{dim3(static_cast<unsigned>(shape_.batch)), dim3(kThreads),
                            shared_bytes()};
    if constexpr (Long) {
      launch(stream, &topk_long<M>, geometry, s.scores.data(), s.lengths.data(), shape_.context,
             shape_.k, s.ids.data());
    } else {
      launch(stream, &topk<Float32, int, M>, geometry, s.scores.data(), s.lengths.data(), 1,
             shape_.context, shape_.k, s.ids.data());
    }
  }
  Agreement check(int set) override {
    const Set& s = sets_[index_of(set)];
    const std::vector<int> ids = s.ids.download();
    const std::vector<float> scores = s.scores.download();
    Agreement agreement;
    for (const int row : sampled_numbers(24, shape_.batch, seed_)) {
      const auto first = scores.begin() + std::int64_t{row} * shape_.context;
      const std::vector<int> expected = reference::largest(
          {first, first + shape_.lengths[index_of(row)]}, static_cast<std::size_t>(shape_.k));
      for (int i = 0; i < shape_.k; ++i) {
        const int id = ids[index_of(std::int64_t{row} * shape_.k + i)];
        agreement.error += id == expected[index_of(i)] ? 0 : 1;
        ++agreement.compared;
      }
    }
    return agreement;
  }

 private:
  static constexpr int kThreads = Long ? kTopkLongThreads : kTopkThreads;

  struct Set {
    Set(const IndexTopkShape& shape, const std::vector<float>& values)
        : scores(values, "scores"),
          lengths(shape.lengths, "lengths"),
          ids(index_of(std::int64_t{shape.batch} * shape.k), "ids") {}
    DeviceArray<float> scores;
    DeviceArray<int> lengths, ids;
  };

  static const void* function() {
    if constexpr (Long) return reinterpret_cast<const void*>(&topk_long<M>);
    return reinterpret_cast<const void*>(&topk<Float32, int, M>);
  }
  std::size_t shared_bytes() const {
    return Long ? topk_long_shared_bytes(shape_.context, shape_.k)
                : topk_layout<Float32, int>(shape_.context, shape_.k).bytes;
  }
  std::vector<float> drawn(std::uint64_t seed) const {
    std::vector<float> scores(index_of(std::int64_t{shape_.batch} * shape_.context));
    const bool flat = shape_.scores == Scores::flat;
    in_parallel(static_cast<std::int64_t>(scores.size()), [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        const auto bits = static_cast<float>(Random(seed + index_of(i)).next() >> 40U);
        scores[index_of(i)] = flat ? bits * 0x1p-24F : 1.0F + bits * 0x1p-34F;
      }
    });
    return scores;
  }

  IndexTopkShape shape_;
  std::vector<float> given_;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace tiersim::kernels
