// The largest k scores of each row by CUB's sorts: all scores are sorted and the first k ids kept.
#include "kernels/cases/baselines.hpp"
#include "kernels/device/platform.cuh"

#if TS_ON_CARD
#include <algorithm>
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/cases/random.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"
#endif

namespace tiersim::kernels {

#if TS_ON_CARD
namespace {

constexpr int kThreads = 512;
constexpr int kItems = 16;
constexpr int kRow = kThreads * kItems;  // 8192 scores

// One block for each row; equal scores keep the order of their ids.
__global__ void __launch_bounds__(kThreads) block_sort(const float* scores, int k, int* ids) {
  using Sort = cub::BlockRadixSort<float, kThreads, kItems, int>;
  __shared__ typename Sort::TempStorage scratch;
  const float* row = scores + static_cast<std::int64_t>(blockIdx.x) * kRow;
  float keys[kItems];
  int values[kItems];
  const int first = static_cast<int>(threadIdx.x) * kItems;
  for (int i = 0; i < kItems; ++i) {
    keys[i] = __ldg(row + first + i);
    values[i] = first + i;
  }
  Sort(scratch).SortDescendingBlockedToStriped(keys, values);
  for (int i = 0; i < kItems; ++i) {
    const int rank = static_cast<int>(threadIdx.x) + i * kThreads;
    if (rank < k) ids[static_cast<std::int64_t>(blockIdx.x) * k + rank] = values[i];
  }
}

struct Set {
  Set(int rows, int k, std::uint64_t seed)
      : scores(static_cast<std::size_t>(rows) * kRow),
        ids(static_cast<std::size_t>(rows) * static_cast<std::size_t>(k), "ids"),
        device_scores(scores.size(), "scores") {
    Random random(seed);
    for (float& score : scores) score = random.normal();
    device_scores.upload(scores);
  }
  std::vector<float> scores;
  DeviceArray<int> ids;
  DeviceArray<float> device_scores;
};

// Further inputs and outputs of a segmented sort: ids in, sorted scores, sorted ids, starts of
// rows, scratch.
struct Segments {
  Segments(int rows, Set& set)
      : numbers(numbers_of(rows)),
        sorted(set.scores.size(), "sorted scores"),
        order(set.scores.size(), "order"),
        begins(begins_of(rows)) {
    std::size_t bytes = 0;
    TS_CARD(sort(nullptr, bytes, rows, set, nullptr));
    scratch = std::make_unique<DeviceArray<unsigned char>>(bytes, "scratch");
  }
  cudaError_t sort(void* at, std::size_t& bytes, int rows, Set& set, cudaStream_t stream) {
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        at, bytes, static_cast<const float*>(set.device_scores.data()), sorted.data(),
        static_cast<const int*>(numbers.data()), order.data(), rows * kRow, rows,
        static_cast<const int*>(begins.data()), static_cast<const int*>(begins.data()) + 1, 0, 32,
        stream);
  }
  static std::vector<int> numbers_of(int rows) {
    std::vector<int> numbers(static_cast<std::size_t>(rows) * kRow);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i % kRow);
    return numbers;
  }
  static std::vector<int> begins_of(int rows) {
    std::vector<int> begins(static_cast<std::size_t>(rows) + 1);
    for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = static_cast<int>(i) * kRow;
    return begins;
  }
  DeviceArray<int> numbers;
  DeviceArray<float> sorted;
  DeviceArray<int> order;
  DeviceArray<int> begins;
  std::unique_ptr<DeviceArray<unsigned char>> scratch;
};

class SortCase final : public Case {
 public:
  SortCase(int rows, int k, bool segmented) : rows_(rows), k_(k), segmented_(segmented) {}
  CaseInfo info() const override {
    return {"screening", segmented_ ? "segmented_sort" : "block_sort",   "cub",
            "fp32",      {{"rows", rows_}, {"tokens", kRow}, {"k", k_}}, true};
  }
  Work work() const override {  // of the problem alone: scores in, ids out
    Work work;
    work.read_bytes = std::int64_t{4} * rows_ * kRow;
    work.written_bytes = std::int64_t{4} * rows_ * k_;
    work.requested_bytes = work.read_bytes + work.written_bytes;
    return work;
  }
  std::vector<LaunchUse> launches() const override {
    if (segmented_) return {};
    return {{"block_sort", reinterpret_cast<const void*>(&block_sort), rows_, kThreads, 0, 0}};
  }
  std::int64_t set_bytes() const override {
    return std::int64_t{4} * rows_ * (kRow * (segmented_ ? 4 : 1) + k_);
  }
  void prepare(int sets, std::uint64_t seed) override {
    for (int i = 0; i < sets; ++i) {
      sets_.push_back(std::make_unique<Set>(rows_, k_, seed + static_cast<std::uint64_t>(i)));
      if (segmented_) segments_.push_back(std::make_unique<Segments>(rows_, *sets_.back()));
    }
  }
  void enqueue(Stream& stream, int which) override {
    const auto w = static_cast<std::size_t>(which);
    Set& set = *sets_[w];
    if (!segmented_) {
      launch(stream, &block_sort, {dim3(static_cast<unsigned>(rows_)), dim3(kThreads)},
             static_cast<const float*>(set.device_scores.data()), k_, set.ids.data());
      return;
    }
    Segments& segments = *segments_[w];
    std::size_t bytes = segments.scratch->bytes();
    TS_CARD(segments.sort(segments.scratch->data(), bytes, rows_, set, stream.native()));
    const std::size_t kept = sizeof(int) * static_cast<std::size_t>(k_);
    TS_CARD(cudaMemcpy2DAsync(set.ids.data(), kept, segments.order.data(), sizeof(int) * kRow, kept,
                              static_cast<std::size_t>(rows_), cudaMemcpyDeviceToDevice,
                              stream.native()));
  }
  Agreement check(int which) override {
    const Set& set = *sets_[static_cast<std::size_t>(which)];
    const std::vector<int> got = set.ids.download();
    const auto k = static_cast<std::size_t>(k_);
    Agreement agreement;
    for (int row = 0; row < rows_; row += std::max(1, rows_ / 16)) {
      const float* scores = set.scores.data() + static_cast<std::int64_t>(row) * kRow;
      std::vector<int> order(kRow);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return scores[a] > scores[b]; });
      for (std::size_t i = 0; i < k; ++i) {
        if (got[static_cast<std::size_t>(row) * k + i] != order[i]) ++agreement.error;
      }
      agreement.compared += k_;
    }
    return agreement;
  }

 private:
  int rows_, k_;
  bool segmented_;
  std::vector<std::unique_ptr<Set>> sets_;
  std::vector<std::unique_ptr<Segments>> segments_;
};

}  // namespace

void add_sorting_baselines(CaseList& cases, Sizes sizes) {
  const std::vector<int> rows =
      sizes == Sizes::toy ? std::vector<int>{3} : std::vector<int>{1, 32, 512, 4096};
  for (const bool segmented : {false, true}) {
    for (const int n : rows) {
      const std::string kernel = segmented ? "segmented_sort" : "block_sort";
      cases.push_back(
          {.name = "screening." + kernel + ".cub.rows" + std::to_string(n) + "-k2048",
           .make = [n, segmented] { return std::make_unique<SortCase>(n, 2048, segmented); }});
    }
  }
}
#else
void add_sorting_baselines(CaseList&, Sizes) {}
#endif

}  // namespace tiersim::kernels
