// Work of a TPLA shard besides attention: the append of a new token to its cache, and the sum of
// the shards' partial outputs.
#pragma once
#include <string>
#include <vector>

#include "kernels/cases/case.hpp"
#include "kernels/cases/random.hpp"
#include "kernels/cases/sampled.hpp"
#include "kernels/device/append_latent.cuh"
#include "kernels/device/append_latent_work.hpp"
#include "kernels/device/join_shards.cuh"
#include "kernels/device/join_shards_work.hpp"
#include "kernels/reference/rms_norm.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/fill.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

struct AppendShape {
  int batch = 1;
  int context = 64;  // capacity of the cache in tokens, for each sequence
  bool paged = false;
  float size = 1;  // of the token's numbers; far below 1e-3 the epsilon of the norm dominates
};

template <int Latent, class In = bf16, Mistake Planted = Mistake::none>
class AppendLatentCase : public Case {
 public:
  static constexpr int kRope = 64;
  static constexpr int kDepth = Latent + kRope;

  explicit AppendLatentCase(AppendShape shape) : shape_(shape) {}

  CaseInfo info() const override {
    return {.family = "latent",
            .kernel = "append_latent",
            .variant = kBf16 ? "bf16" : "fp32",
            .dtype = kBf16 ? "bf16" : "fp32",
            .shape = {{"batch", shape_.batch},
                      {"context", shape_.context},
                      {"latent_dim", Latent},
                      {"rope_dim", kRope}}};
  }
  Work work() const override {
    return append_latent_work(Latent, kRope, shape_.batch, sizeof(In), shape_.paged);
  }
  std::vector<LaunchUse> launches() const override {
    return {{.kernel = "append_latent<" + std::to_string(Latent) + ", 64, " +
                       (kBf16 ? "__nv_bfloat16>" : "float>"),
             .function = reinterpret_cast<const void*>(&append_latent<Latent, kRope, In, Planted>),
             .blocks = blocks(),
             .threads = kAppendThreads,
             .bytes_in_flight_per_block =
                 std::int64_t{kAppendThreads / kWarp} * kDepth * std::int64_t{sizeof(In)}}};
  }
  std::int64_t set_bytes() const override {
    return std::int64_t{shape_.batch} * kDepth *
           (std::int64_t{sizeof(In)} + 2 * std::int64_t{pages()} * kPage);
  }
  void prepare(int sets, std::uint64_t seed) override;
  void enqueue(Stream& stream, int set) override {
    Arrays& in = sets_[static_cast<std::size_t>(set)];
    const AppendLatentArguments<In> arguments = {
        .fresh = in.fresh.data(),
        .weight = in.weight.data(),
        .lengths = in.lengths.data(),
        .page_table = shape_.paged ? in.pages.data() : nullptr,
        .kv = in.kv.data(),
        .batch = shape_.batch,
        .context = pages() * kPage,
        .pages_per_sequence = pages(),
        .factor = kFactor,
        .epsilon = kEpsilon};
    launch(stream, append_latent<Latent, kRope, In, Planted>,
           {dim3(static_cast<unsigned>(blocks())), dim3(kAppendThreads)}, arguments);
  }
  Agreement check(int set) override;

 private:
  static constexpr bool kBf16 = sizeof(In) == 2;
  static constexpr int kPage = 64;
  static constexpr float kFactor = 1.25F;
  static constexpr float kEpsilon = 1e-6F;

  struct Host {
    std::vector<float> fresh, weight;
    std::vector<int> lengths, pages;
  };
  struct Arrays {
    Arrays(const Host& host, const std::vector<In>& in, const std::vector<bf16>& w,
           std::size_t cache)
        : fresh(in, "fresh"),
          weight(w, "weight"),
          lengths(host.lengths, "lengths"),
          pages(host.pages, "page table"),
          kv(cache, "kv") {}
    DeviceArray<In> fresh;
    DeviceArray<bf16> weight;
    DeviceArray<int> lengths, pages;
    DeviceArray<bf16> kv;
  };

  int pages() const { return (shape_.context + kPage - 1) / kPage; }
  std::int64_t blocks() const { return (shape_.batch + 3) / 4; }
  // A row of the cache. Sequences have whole pages in both forms.
  std::size_t row_of(const Host& host, std::size_t sequence) const {
    const int position = host.lengths[sequence];
    const std::size_t page =
        sequence * static_cast<std::size_t>(pages()) + static_cast<std::size_t>(position / kPage);
    return static_cast<std::size_t>(shape_.paged ? host.pages[page] : static_cast<int>(page)) *
               kPage +
           static_cast<std::size_t>(position % kPage);
  }

  AppendShape shape_;
  std::vector<Host> hosts_;
  std::vector<Arrays> sets_;
};

template <int Latent, class In, Mistake Planted>
void AppendLatentCase<Latent, In, Planted>::prepare(int sets, std::uint64_t seed) {
  sets_.clear();
  hosts_.clear();
  sets_.reserve(static_cast<std::size_t>(sets));
  Random random(seed);
  const auto batch = static_cast<std::size_t>(shape_.batch);
  for (int set = 0; set < sets; ++set) {
    Host& host = hosts_.emplace_back();
    std::vector<In> fresh;
    std::vector<bf16> weight;
    for (std::size_t i = 0; i < batch * kDepth; ++i) {
      if constexpr (kBf16) {
        fresh.push_back(to_bf16(shape_.size * random.normal()));
        host.fresh.push_back(to_float(fresh.back()));
      } else {
        fresh.push_back(shape_.size * random.normal());
        host.fresh.push_back(fresh.back());
      }
    }
    for (int i = 0; i < Latent; ++i) {
      weight.push_back(to_bf16(1 + random.normal() / 8));
      host.weight.push_back(to_float(weight.back()));
    }
    for (std::size_t b = 0; b < batch; ++b) {
      host.lengths.push_back(
          static_cast<int>(random.below(static_cast<std::uint64_t>(shape_.context))));
    }
    const std::size_t table = batch * static_cast<std::size_t>(pages());
    for (std::size_t i = 0; i < table; ++i) host.pages.push_back(static_cast<int>(table - 1 - i));
    sets_.emplace_back(host, fresh, weight, table * kPage * kDepth);
  }
}

template <int Latent, class In, Mistake Planted>
Agreement AppendLatentCase<Latent, In, Planted>::check(int set) {
  const Host& host = hosts_[static_cast<std::size_t>(set)];
  const std::vector<bf16> kv = sets_[static_cast<std::size_t>(set)].kv.download();
  Difference difference;
  for (const int b : sampled_numbers(1000, shape_.batch, 1)) {
    const auto sequence = static_cast<std::size_t>(b);
    const float* fresh = host.fresh.data() + sequence * kDepth;
    const std::vector<double> normed = reference::rms_norm({fresh, fresh + Latent}, host.weight,
                                                           double{kFactor}, double{kEpsilon});
    const bf16* row = kv.data() + row_of(host, sequence) * kDepth;
    for (std::size_t i = 0; i < std::size_t{Latent}; ++i) {
      difference.add(double{to_float(row[i])}, normed[i]);
    }
    for (std::size_t i = std::size_t{Latent}; i < std::size_t{kDepth}; ++i) {
      difference.add(double{to_float(row[i])}, double{fresh[i]});
    }
  }
  return difference.agreement(1e-2);
}

class JoinShardsCase : public Case {
 public:
  // numbers: a multiple of 8.
  JoinShardsCase(int batch, int width) : batch_(batch), width_(width) {}

  CaseInfo info() const override {
    return {.family = "latent",
            .kernel = "join_shards",
            .variant = "one_shot",
            .dtype = "bf16",
            .shape = {{"batch", batch_}, {"width", width_}}};
  }
  Work work() const override { return join_shards_work(numbers()); }
  std::vector<LaunchUse> launches() const override {
    return {{.kernel = "join_shards<4>",
             .function = reinterpret_cast<const void*>(&join_shards<kJoinUnits>),
             .blocks = blocks(),
             .threads = kJoinThreads,
             .bytes_in_flight_per_block = std::int64_t{kJoinThreads} * kJoinUnits * 32}};
  }
  std::int64_t set_bytes() const override { return 6 * numbers(); }
  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed << 16U;
    sets_.clear();
    sets_.reserve(static_cast<std::size_t>(sets));
    Stream stream;
    for (int set = 0; set < sets; ++set) {
      Arrays& made = sets_.emplace_back(static_cast<std::size_t>(numbers()));
      fill(stream, made.a, seed_of(set, 0));
      fill(stream, made.b, seed_of(set, 1));
    }
    stream.synchronize();
  }
  void enqueue(Stream& stream, int set) override {
    Arrays& in = sets_[static_cast<std::size_t>(set)];
    launch(stream, join_shards<kJoinUnits>,
           {dim3(static_cast<unsigned>(blocks())), dim3(kJoinThreads)},
           reinterpret_cast<const uint4*>(in.a.data()), reinterpret_cast<const uint4*>(in.b.data()),
           reinterpret_cast<uint4*>(in.out.data()), numbers() / 8);
  }
  Agreement check(int set) override {
    const std::vector<bf16> out = sets_[static_cast<std::size_t>(set)].out.download();
    Difference difference;
    for (const int i : sampled_numbers(1'000'000, static_cast<int>(numbers()), seed_)) {
      const auto at = static_cast<std::uint64_t>(i);
      difference.add(double{to_float(out[at])}, double{filled_number(seed_of(set, 0), at)} +
                                                    double{filled_number(seed_of(set, 1), at)});
    }
    return difference.agreement(1e-2);
  }

 private:
  struct Arrays {
    explicit Arrays(std::size_t size) : a(size, "a"), b(size, "b"), out(size, "out") {}
    DeviceArray<bf16> a, b, out;
  };
  std::int64_t numbers() const { return std::int64_t{batch_} * width_; }
  std::int64_t blocks() const {
    constexpr std::int64_t kNumbers = std::int64_t{8} * kJoinUnits * kJoinThreads;
    return (numbers() + kNumbers - 1) / kNumbers;
  }
  std::uint64_t seed_of(int set, unsigned which) const {
    return seed_ + 2 * static_cast<std::uint64_t>(set) + which;
  }

  int batch_;
  int width_;
  std::uint64_t seed_ = 0;
  std::vector<Arrays> sets_;
};

}  // namespace tiersim::kernels
