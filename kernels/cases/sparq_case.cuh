// SparQ at one shape: its scores alone, or all three steps.
#pragma once
#include "kernels/cases/selected_case.cuh"
#include "kernels/device/sparq.cuh"
#include "kernels/device/topk.cuh"
#include "kernels/reference/screening.hpp"

namespace tiersim::kernels {

enum class SparqPart { scores, whole };

template <int R, bool TwoCopies, Mistake M = Mistake::none>
class SparqCase : public Case {
 public:
  using Id = std::uint16_t;

  explicit SparqCase(ScreeningShape shape, SparqPart part = SparqPart::whole)
      : shape_(with_lengths(std::move(shape))), part_(part) {}

  CaseInfo info() const override {
    auto named = shape_.named();
    named.emplace_back("head_dim", kSelectedDim);
    named.emplace_back("components", R);
    const std::string copies = TwoCopies ? "two_copies" : "one_copy";
    return {"screening",
            whole() ? "sparq" : "sparq_scores",
            copies + "-r" + std::to_string(R),
            "bf16",
            named,
            false};
  }
  Work work() const override {
    const Work scores = sparq_scores_work(shape_.lengths, shape_.heads, shape_.capacity,
                                          kSelectedDim, R, TwoCopies);
    if (!whole()) return scores;
    return scores + topk_work<Float32>(shape_.lengths, shape_.heads, shape_.k, sizeof(Id)) +
           selected_with_combine_work(shape_, sizeof(Id));
  }
  std::vector<LaunchUse> launches() const override {
    const std::string copies = TwoCopies ? "two_copies" : "one_copy";
    std::vector<LaunchUse> uses = {
        {"sparq_scores_" + copies + "<" + std::to_string(kSelectedDim) + "," + std::to_string(R) +
             ">",
         reinterpret_cast<const void*>(kKernel), blocks_per_row() * shape_.rows(), kSparqThreads,
         static_cast<std::int64_t>(sparq_shared_bytes(kSelectedDim, R)),
         std::int64_t{kSparqThreads} * (TwoCopies ? kSparqLoads * 16 : R * 2)}};
    if (!whole()) return uses;
    uses.push_back({"topk<Float32," + id_type<Id>() + ">",
                    reinterpret_cast<const void*>(&topk<Float32, Id>), shape_.rows(), kTopkThreads,
                    static_cast<std::int64_t>(topk_shared_bytes()),
                    std::int64_t{kTopkThreads} * kTopkLoads * 16});
    for (LaunchUse& use : selected_launches<Id>(shape_)) uses.push_back(std::move(use));
    return uses;
  }
  std::int64_t set_bytes() const override {
    const int matrices = (whole() ? 2 : 0) + (whole() && !TwoCopies ? 0 : 1);
    return shape_.rows() * shape_.capacity * (std::int64_t{kSelectedDim} * 2 * matrices + 4);
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    Stream stream;
    for (int i = 0; i < sets; ++i) {
      Set& set = sets_.emplace_back(shape_);
      set.arrays.fill_from(stream, seed_of(i));
      if constexpr (TwoCopies) {
        fill_transposed(stream, set.tokens_together, shape_.rows(), shape_.capacity, kSelectedDim,
                        seed_of(i) + 1);
      }
    }
    stream.synchronize();
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    const Geometry geometry{
        dim3(static_cast<unsigned>(blocks_per_row()), static_cast<unsigned>(shape_.rows())),
        dim3(kSparqThreads), sparq_shared_bytes(kSelectedDim, R)};
    launch(stream, kKernel, geometry, s.arrays.queries.data(),
           TwoCopies ? s.tokens_together.data() : s.arrays.keys.data(), s.arrays.lengths.data(),
           shape_.heads, shape_.capacity, s.scores.data());
    if (!whole()) return;
    launch(stream, &topk<Float32, Id>,
           {dim3(static_cast<unsigned>(shape_.rows())), dim3(kTopkThreads), topk_shared_bytes()},
           s.scores.data(), s.arrays.lengths.data(), shape_.heads, shape_.capacity, shape_.k,
           s.ids.data());
    enqueue_selected(stream, shape_, s.arrays, s.ids);
  }
  // Scores are checked against float64. Indices are checked against the scores of the kernel, since
  // rounding may decide between nearly equal scores. Attention is checked against float64 over
  // those indices.
  Agreement check(int set) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    const std::vector<float> scores = s.scores.download();
    const std::vector<Id> ids = s.ids.download();
    const std::vector<bf16> out = s.arrays.out.download();
    Difference of_scores;
    Difference of_outputs;
    int wrong = 0;
    for (const int row : rows_to_check(shape_, seed_)) {
      const float* own = scores.data() + std::int64_t{row} * shape_.capacity;
      compare_scores(of_scores, set, row, own);
      if (!whole()) continue;
      const Id* list = ids.data() + std::int64_t{row} * shape_.k;
      wrong += wrong_ids(list, reference::largest({own, own + shape_.length(row)},
                                                  static_cast<std::size_t>(shape_.k)));
      if (wrong > 0) continue;
      compare_selected(of_outputs, shape_, seed_of(set), row, list,
                       out.data() + std::int64_t{row} * kSelectedDim);
    }
    const Agreement first = of_scores.agreement(1e-5);
    if (!whole() || !first.holds()) return first;
    if (wrong > 0) return {static_cast<double>(wrong), 0, shape_.rows() * shape_.k};
    return of_outputs.agreement(1e-2);
  }

 private:
  static constexpr auto kKernel = [] {
    if constexpr (TwoCopies) {
      return &sparq_scores_two_copies<kSelectedDim, R, M>;
    } else {
      return &sparq_scores_one_copy<kSelectedDim, R, M>;
    }
  }();

  struct Set {
    explicit Set(const ScreeningShape& shape)
        : arrays(shape),
          tokens_together(TwoCopies ? SelectedArrays::numbers(shape, shape.capacity) : 0,
                          "keys, tokens together"),
          scores(static_cast<std::size_t>(shape.rows() * shape.capacity), "scores"),
          ids(static_cast<std::size_t>(shape.rows() * shape.k), "ids") {}
    SelectedArrays arrays;
    DeviceArray<bf16> tokens_together;
    DeviceArray<float> scores;
    DeviceArray<Id> ids;
  };

  bool whole() const { return part_ == SparqPart::whole; }
  std::int64_t blocks_per_row() const {
    const int tokens = TwoCopies ? kSparqTokensOfCopies : kSparqTokensOfOneCopy;
    return (shape_.capacity + tokens - 1) / tokens;
  }
  std::size_t topk_shared_bytes() const {
    return topk_layout<Float32, Id>(shape_.capacity, shape_.k).bytes;
  }
  std::uint64_t seed_of(int set) const {
    return Random(seed_ * 1000 + static_cast<std::uint64_t>(set)).next();
  }
  void compare_scores(Difference& difference, int set, int row, const float* own) const {
    const auto keys =
        filled_numbers(seed_of(set) + 1, std::int64_t{row} * shape_.capacity * kSelectedDim,
                       std::int64_t{shape_.length(row)} * kSelectedDim);
    const auto query = filled_numbers(seed_of(set), std::int64_t{row} * kSelectedDim, kSelectedDim);
    const std::vector<double> expected = reference::sparq_scores(keys, query, R);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      difference.add(double{own[i]}, expected[i]);
    }
  }

  ScreeningShape shape_;
  SparqPart part_;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace tiersim::kernels
