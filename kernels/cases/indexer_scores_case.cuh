// indexer_scores at one shape: keys in scattered pages.
#pragma once
#include <cmath>

#include "kernels/cases/parallel.hpp"
#include "kernels/cases/sparse_offload_inputs.cuh"
#include "kernels/device/indexer_scores.cuh"
#include "kernels/reference/sparse_offload.hpp"

namespace tiersim::kernels {

struct IndexerShape {
  int batch = 1;
  int context = 0;                // capacity of a sequence in tokens; pages are whole
  int blocks = 1;                 // of a sequence
  std::vector<int> lengths = {};  // [batch], 0 to context; empty: all context

  int pages() const { return (context + IndexPage::kTokens - 1) / IndexPage::kTokens; }
  std::string name() const { return "b" + std::to_string(batch) + "-s" + std::to_string(context); }
};

template <int Heads, Mistake M = Mistake::none>
class IndexerScoresCase : public Case {
 public:
  explicit IndexerScoresCase(IndexerShape shape) : shape_(std::move(shape)) {
    if (shape_.lengths.empty()) shape_.lengths.assign(index_of(shape_.batch), shape_.context);
  }

  CaseInfo info() const override {
    return {"sparse_offload",
            "indexer_scores",
            "h" + std::to_string(Heads),
            "bf16",  // of the products; keys and queries are e4m3
            {{"batch", shape_.batch},
             {"context", shape_.context},
             {"heads", Heads},
             {"dim", IndexPage::kDim},
             {"blocks", shape_.blocks}},
            false};
  }
  Work work() const override { return indexer_scores_work(shape_.lengths, Heads, shape_.blocks); }
  std::vector<LaunchUse> launches() const override {
    return {{.kernel = "indexer_scores<" + std::to_string(Heads) + ">",
             .function = reinterpret_cast<const void*>(kKernel),
             .blocks = std::int64_t{shape_.batch} * shape_.blocks,
             .threads = kIndexerThreads,
             .shared_bytes = static_cast<std::int64_t>(indexer_shared_bytes(Heads)),
             .bytes_in_flight_per_block = std::int64_t{kIndexerStages} * kIndexerStageBytes}};
  }
  std::int64_t set_bytes() const override {
    return page_count() * (IndexPage::kBytes + 4 * IndexPage::kTokens) +
           std::int64_t{shape_.batch} * Heads * (IndexPage::kDim + 4);
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    for (int i = 0; i < sets; ++i) sets_.push_back(std::make_unique<Set>(*this, i));
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[index_of(set)];
    const IndexerArguments arguments{.queries = s.queries.data(),
                                     .weights = s.weights.data(),
                                     .keys = s.keys.data(),
                                     .page_table = s.pages.data(),
                                     .lengths = s.lengths.data(),
                                     .scores = s.scores.data(),
                                     .pages_per_sequence = shape_.pages()};
    launch(stream, kKernel,
           {dim3(static_cast<unsigned>(shape_.blocks), static_cast<unsigned>(shape_.batch)),
            dim3(kIndexerThreads), indexer_shared_bytes(Heads)},
           arguments);
  }
  Agreement check(int set) override {
    const Set& s = *sets_[index_of(set)];
    const std::vector<float> scores = s.scores.download();
    const std::vector<int> pages = s.pages.download();
    const std::vector<float> weights = s.weights.download();
    Difference difference;
    std::int64_t unmasked = 0;
    for (const int b : sampled_numbers(8, shape_.batch, seed_)) {
      const int length = shape_.lengths[index_of(b)];
      const std::int64_t first = std::int64_t{b} * shape_.pages() * IndexPage::kTokens;
      const auto queries = numbers(seed_of(set, 0), std::int64_t{b} * kQuery, kQuery);
      const std::vector<double> own(weights.begin() + std::int64_t{b} * Heads,
                                    weights.begin() + std::int64_t{b + 1} * Heads);
      for (const int token : sampled_numbers(2000, length, seed_)) {
        const std::int64_t page = pages[index_of((first + token) / IndexPage::kTokens)];
        const std::int64_t row = page * IndexPage::kTokens + token % IndexPage::kTokens;
        const auto key = numbers(seed_of(set, 1), row * IndexPage::kDim, IndexPage::kDim);
        const double expected =
            reference::index_score(queries, own, key, double{scale_at(seed_of(set, 2), row)});
        difference.add(double{scores[index_of(first + token)]}, expected);
      }
      const int end = (length + kIndexerTile - 1) / kIndexerTile * kIndexerTile;
      for (int token = length; token < end; ++token) {
        unmasked += scores[index_of(first + token)] == kMinusInfinity ? 0 : 1;
      }
    }
    Agreement agreement = difference.agreement(1e-5);
    agreement.error += static_cast<double>(unmasked);
    return agreement;
  }

 private:
  static constexpr auto kKernel = &indexer_scores<Heads, M>;
  static constexpr std::int64_t kQuery = std::int64_t{Heads} * IndexPage::kDim;

  struct Set {
    Set(const IndexerScoresCase& owner, int set)
        : queries(owner.bytes_at(set, 0, owner.shape_.batch * kQuery), "queries"),
          weights(index_of(std::int64_t{owner.shape_.batch} * Heads), "weights"),
          keys(owner.made_keys(set), "keys"),
          pages(distinct_numbers(owner.page_count(), owner.page_count(), owner.seed_of(set, 3)),
                "page table"),
          lengths(owner.shape_.lengths, "lengths"),
          scores(index_of(owner.page_count() * IndexPage::kTokens), "scores") {
      Random random(owner.seed_of(set, 4));
      std::vector<float> drawn(weights.size());
      for (float& weight : drawn) weight = random.normal();
      weights.upload(drawn);
    }
    DeviceArray<unsigned char> queries;
    DeviceArray<float> weights;
    DeviceArray<unsigned char> keys;
    DeviceArray<int> pages, lengths;
    DeviceArray<float> scores;
  };

  std::int64_t page_count() const { return std::int64_t{shape_.batch} * shape_.pages(); }
  std::uint64_t seed_of(int set, unsigned which) const {
    return Random(seed_ * 1000 + 8 * index_of(set) + which).next();
  }
  static float scale_at(std::uint64_t seed, std::int64_t row) {
    return static_cast<float>(0.03 + 0.03 * Random(seed + index_of(row)).uniform());
  }
  static std::vector<double> numbers(std::uint64_t seed, std::int64_t first, std::int64_t count) {
    std::vector<double> made;
    for (std::int64_t i = 0; i < count; ++i) {
      made.push_back(reference::from_e4m3(random_e4m3_at(seed, first + i)));
    }
    return made;
  }
  std::vector<unsigned char> bytes_at(int set, unsigned which, std::int64_t count) const {
    std::vector<unsigned char> bytes(index_of(count));
    const std::uint64_t seed = seed_of(set, which);
    for (std::int64_t i = 0; i < count; ++i) bytes[index_of(i)] = random_e4m3_at(seed, i);
    return bytes;
  }
  std::vector<unsigned char> made_keys(int set) const {
    std::vector<unsigned char> keys(index_of(page_count() * IndexPage::kBytes));
    const std::uint64_t seed = seed_of(set, 1);
    const std::uint64_t scale_seed = seed_of(set, 2);
    const std::int64_t rows = page_count() * IndexPage::kTokens;
    in_parallel(rows, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t row = from; row < to; ++row) {
        unsigned char* page = keys.data() + row / IndexPage::kTokens * IndexPage::kBytes;
        const std::int64_t token = row % IndexPage::kTokens;
        for (int d = 0; d < IndexPage::kDim; ++d) {
          page[token * IndexPage::kDim + d] = random_e4m3_at(seed, row * IndexPage::kDim + d);
        }
        const float scale = scale_at(scale_seed, row);
        std::memcpy(page + IndexPage::kScales + 4 * token, &scale, sizeof scale);
      }
    });
    return keys;
  }

  IndexerShape shape_;
  std::uint64_t seed_ = 0;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
