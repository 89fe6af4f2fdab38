// sparse_latent at one shape, with combine_splits where the list is split.
#pragma once
#include <cmath>

#include "kernels/cases/parallel.hpp"
#include "kernels/cases/sparse_offload_inputs.cuh"
#include "kernels/device/combine.cuh"
#include "kernels/device/combine_work.hpp"
#include "kernels/device/sparse_latent.cuh"
#include "kernels/device/sparse_latent_work.hpp"
#include "kernels/reference/attention.hpp"
#include "kernels/reference/sparse_offload.hpp"
#include "kernels/runtime/fill.cuh"

namespace tiersim::kernels {

// Blocks of 64 heads: tiles of 64 rows from sm_90 on, of 32 rows where shared memory is less.
using SparseLatent64 = SparseLatentLayout<2, 2, 4, 64>;
using SparseLatent32 = SparseLatentLayout<4, 1, 2, 32>;

// "SparseLatentLayout<2,2,4,64>", as in the register budgets.
template <int First, int... More>
std::string layout_name(SparseLatentLayout<First, More...>) {
  std::string name = "SparseLatentLayout<" + std::to_string(First);
  ((name += "," + std::to_string(More)), ...);
  return name + ">";
}

struct SparseAttentionShape {
  int batch = 1;
  int heads = 0;
  int slots = 0;  // rows of a sequence
  int k = 0;
  int splits = 1;
  bool pooled = false;            // rows of all sequences in one pool, by their places
  std::vector<int> lengths = {};  // [batch], of the sequences; empty: k or more
  float amplitude = 1;            // of the logits; 0 makes all equal

  std::string name() const {
    return std::string(pooled ? "pooled." : "") + "b" + std::to_string(batch) + "-h" +
           std::to_string(heads) + "-k" + std::to_string(k) + "-n" + std::to_string(slots);
  }
};

template <class Layout, Mistake M = Mistake::none>
class SparseLatentCase : public Case {
 public:
  explicit SparseLatentCase(SparseAttentionShape shape) : shape_(std::move(shape)) {
    if (shape_.lengths.empty()) shape_.lengths.assign(index_of(shape_.batch), shape_.k);
  }

  CaseInfo info() const override {
    return {"sparse_offload",
            "sparse_latent",
            "tile" + std::to_string(Layout::kTokens),
            "bf16",  // of the products; rows are e4m3
            {{"batch", shape_.batch},
             {"heads", shape_.heads},
             {"k", shape_.k},
             {"slots", shape_.slots},
             {"latent_dim", LatentRow::kLatent},
             {"rope_dim", LatentRow::kRope},
             {"splits", shape_.splits}},
            false};
  }
  Work work() const override {
    const Work work = sparse_latent_work({.heads = shape_.heads,
                                          .k = shape_.k,
                                          .splits = shape_.splits,
                                          .block_heads = Layout::kRows,
                                          .threads = Layout::kThreads,
                                          .tile = Layout::kTokens},
                                         shape_.lengths);
    if (shape_.splits == 1) return work;
    std::int64_t filled = 0;
    for (int b = 0; b < shape_.batch; ++b) {
      filled += filled_splits(count(b), shape_.splits, Layout::kTokens) * shape_.heads;
    }
    return work + combine_splits_work(LatentRow::kLatent, shape_.splits, rows(), filled);
  }
  std::vector<LaunchUse> launches() const override {
    std::vector<LaunchUse> uses = {
        {.kernel = "sparse_latent<" + layout_name(Layout{}) + ">",
         .function = reinterpret_cast<const void*>(kKernel),
         .blocks = std::int64_t{shape_.heads / Layout::kRows} * shape_.splits * shape_.batch,
         .threads = Layout::kThreads,
         .shared_bytes = static_cast<std::int64_t>(shared_bytes()),
         .bytes_in_flight_per_block = std::int64_t{Layout::kTokens} * LatentRow::kBytes}};
    if (shape_.splits > 1) {
      uses.push_back({.kernel = "combine_splits<512>",
                      .function = reinterpret_cast<const void*>(&combine_splits<kLatent>),
                      .blocks = combine_blocks(kLatent, rows()),
                      .threads = kCombineThreads,
                      .bytes_in_flight_per_block = kCombineThreads * 64});
    }
    return uses;
  }
  std::int64_t set_bytes() const override {
    return pool_rows() * LatentRow::kBytes + rows() * 2 * (kDepth + kLatent) +
           std::int64_t{4} * shape_.batch * shape_.k;
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    Stream stream;
    for (int i = 0; i < sets; ++i) {
      sets_.push_back(std::make_unique<Set>(*this, i));
      fill(stream, sets_.back()->q, seed_of(i, 0));
    }
    stream.synchronize();
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[index_of(set)];
    SparseLatentArguments arguments{};
    arguments.decode.q = s.q.data();
    arguments.decode.lengths = s.lengths.data();
    arguments.decode.scale_log2 = scale() * kLog2E;
    arguments.decode.result = {s.partial.data(), s.lse.data(), s.out.data()};
    arguments.rows = reinterpret_cast<const uint4*>(s.pool.data());
    arguments.chosen = s.chosen.data();
    arguments.k = shape_.k;
    arguments.rows_per_sequence = shape_.pooled ? 0 : shape_.slots;
    const dim3 grid(static_cast<unsigned>(shape_.heads / Layout::kRows),
                    static_cast<unsigned>(shape_.splits), static_cast<unsigned>(shape_.batch));
    launch(stream, kKernel, {grid, dim3(Layout::kThreads), shared_bytes()}, arguments);
    if (shape_.splits > 1) {
      launch(stream, &combine_splits<kLatent>,
             {dim3(static_cast<unsigned>(combine_blocks(kLatent, rows()))), dim3(kCombineThreads)},
             s.partial.data(), s.lse.data(), shape_.splits, static_cast<int>(rows()), s.out.data());
    }
  }
  Agreement check(int set) override {
    const Set& s = *sets_[index_of(set)];
    const std::vector<bf16> out = s.out.download();
    Difference difference;
    for (const int b : sampled_numbers(4, shape_.batch, seed_)) {
      std::vector<float> keys;
      for (int i = 0; i < count(b); ++i) {
        const int listed = s.list[index_of(std::int64_t{b} * shape_.k + i)];
        const std::int64_t row = (shape_.pooled ? 0 : std::int64_t{b} * shape_.slots) + listed;
        append_row(keys, set, row);
      }
      for (const int h : sampled_numbers(12, shape_.heads, seed_ + index_of(b))) {
        const std::int64_t row = std::int64_t{b} * shape_.heads + h;
        std::vector<float> query(index_of(kDepth));
        for (std::size_t d = 0; d < query.size(); ++d) {
          query[d] = filled_number(seed_of(set, 0), index_of(row * kDepth) + d);
        }
        const std::vector<double> expected = reference::attention(
            query.data(), {keys.data(), query.size()}, {keys.data(), query.size()},
            index_of(count(b)), query.size(), index_of(kLatent), double{scale()});
        for (std::size_t d = 0; d < expected.size(); ++d) {
          difference.add(double{to_float(out[index_of(row * kLatent) + d])}, expected[d]);
        }
      }
    }
    return difference.agreement(1e-2);
  }

 private:
  static constexpr auto kKernel = &sparse_latent<Layout, M>;
  static constexpr int kLatent = LatentRow::kLatent;
  static constexpr int kDepth = LatentRow::kLatent + LatentRow::kRope;

  struct Set {
    Set(const SparseLatentCase& owner, int set)
        : list(owner.drawn_list(set)),
          q(index_of(owner.rows() * kDepth), "q"),
          out(index_of(owner.rows() * kLatent), "out"),
          pool(owner.made_rows(set), "rows"),
          chosen(list, "chosen"),
          lengths(owner.shape_.lengths, "lengths"),
          partial(owner.parts() * index_of(kLatent), "partial"),
          lse(owner.parts(), "lse") {}
    std::vector<int> list;
    DeviceArray<bf16> q, out;
    DeviceArray<unsigned char> pool;
    DeviceArray<int> chosen, lengths;
    DeviceArray<float> partial, lse;
  };

  std::int64_t rows() const { return std::int64_t{shape_.batch} * shape_.heads; }  // of q and out
  std::int64_t pool_rows() const { return std::int64_t{shape_.batch} * shape_.slots; }
  std::size_t parts() const { return shape_.splits == 1 ? 0 : index_of(rows() * shape_.splits); }
  int count(int sequence) const { return std::min(shape_.k, shape_.lengths[index_of(sequence)]); }
  float scale() const { return shape_.amplitude / std::sqrt(static_cast<float>(kDepth)); }
  std::size_t shared_bytes() const { return Layout::shared_bytes(shape_.k, shape_.splits); }
  std::uint64_t seed_of(int set, unsigned which) const {
    return Random(seed_ * 1000 + 8 * index_of(set) + which).next();
  }

  // Distinct rows in random order, -1 past the last one.
  std::vector<int> drawn_list(int set) const {
    std::vector<int> list;
    Random random(seed_of(set, 1));
    const std::vector<int> pool = distinct_numbers(pool_rows(), pool_rows(), random.next());
    for (int b = 0; b < shape_.batch; ++b) {
      const std::vector<int> own = distinct_numbers(count(b), shape_.slots, random.next());
      for (int i = 0; i < shape_.k; ++i) {
        const auto place = index_of(std::int64_t{b} * shape_.slots + i);
        list.push_back(i >= count(b) ? -1 : shape_.pooled ? pool[place] : own[index_of(i)]);
      }
    }
    return list;
  }

  // Scales of neighbouring groups differ by factors of 2 and more.
  static float scale_at(std::uint64_t seed, std::int64_t group) {
    const auto size = static_cast<float>(0.75 + 0.25 * Random(seed + index_of(group)).uniform());
    return group % 2 == 0 ? size : size / 2;
  }
  std::vector<unsigned char> made_rows(int set) const {
    std::vector<unsigned char> made(index_of(pool_rows() * LatentRow::kBytes));
    const std::uint64_t numbers = seed_of(set, 2);
    const std::uint64_t scales = seed_of(set, 3);
    const auto fill_some = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t row = from; row < to; ++row) {
        unsigned char* at = made.data() + row * LatentRow::kBytes;
        for (int d = 0; d < kLatent; ++d) at[d] = random_e4m3_at(numbers, row * kLatent + d);
        for (int g = 0; g < kLatent / LatentRow::kGroup; ++g) {
          const float factor = scale_at(scales, 4 * row + g);
          std::memcpy(at + LatentRow::kScales + 4 * g, &factor, 4);
        }
        for (int d = 0; d < LatentRow::kRope; ++d) {
          const bf16 value = to_bf16(rope_at(set, row, d));
          std::memcpy(at + LatentRow::kRopes + 2 * d, &value, 2);
        }
      }
    };
    in_parallel(pool_rows(), fill_some, 1 << 12);
    return made;
  }
  float rope_at(int set, std::int64_t row, int d) const {
    return filled_number(seed_of(set, 4), index_of(row * LatentRow::kRope + d));
  }
  // A row as a cache of bf16 would hold it: what attention reads.
  void append_row(std::vector<float>& to, int set, std::int64_t row) const {
    for (int d = 0; d < kLatent; ++d) {
      const float factor = scale_at(seed_of(set, 3), 4 * row + d / LatentRow::kGroup);
      const double number =
          reference::from_e4m3(random_e4m3_at(seed_of(set, 2), row * kLatent + d));
      to.push_back(to_float(to_bf16(static_cast<float>(number * double{factor}))));
    }
    for (int d = 0; d < LatentRow::kRope; ++d) to.push_back(rope_at(set, row, d));
  }

  SparseAttentionShape shape_;
  std::uint64_t seed_ = 0;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
