// The caches of skipped layers as a case, for both kernels.
#pragma once
#include <memory>

#include "kernels/cases/early_exit_inputs.cuh"
#include "kernels/device/kv_fill.cuh"
#include "kernels/device/kv_fill_work.hpp"
#include "kernels/reference/early_exit.hpp"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

struct FillPlan {
  std::int64_t layers = 0;  // skipped
  std::int64_t heads = 0;
  std::int64_t depth = 0;
  std::int64_t tokens = 0;
  std::int64_t capacity = 16;
  std::int64_t inner() const { return heads * kHeadSize; }
};

// The launch of a plan: by kv_fill<Columns>, or by kv_fill_wide<Rows, Tokens>.
template <int Columns, Mistake Planted = Mistake::none>
struct SkinnyFill {
  static std::string name() { return "skinny" + std::to_string(8 * Columns); }
  static std::string kernel_name() { return "kv_fill<" + std::to_string(Columns) + ">"; }
  static Work work(const FillPlan& p) {
    return kv_fill_work(p.layers, p.inner(), p.depth, p.tokens, Columns);
  }
  static Geometry geometry(const FillPlan& p) {
    return {
        dim3(static_cast<unsigned>(p.inner() / kSkinnyRows), static_cast<unsigned>(2 * p.layers),
             static_cast<unsigned>(rounded_up(p.tokens, 8 * Columns) / (8 * Columns))),
        dim3(kSkinnyThreads), SkinnyTile<1, Columns>::kSharedBytes};
  }
  static constexpr auto kernel() { return &kv_fill<Columns, Planted>; }
  static constexpr std::int64_t kBytesInFlight = SkinnyTile<1, Columns>::kBytesInFlight;
};

template <int Rows, int Tokens, Mistake Planted = Mistake::none>
struct WideFill {
  using Tile = TokenTile<Rows, Tokens>;
  static std::string name() { return "wide" + std::to_string(Rows) + "x" + std::to_string(Tokens); }
  static std::string kernel_name() {
    return "kv_fill_wide<" + std::to_string(Rows) + "," + std::to_string(Tokens) + ">";
  }
  static Work work(const FillPlan& p) {
    return kv_fill_wide_work(p.layers, p.inner(), p.depth, p.tokens, Rows, Tokens);
  }
  static Geometry geometry(const FillPlan& p) {
    return {dim3(static_cast<unsigned>(rounded_up(p.tokens, Tokens) / Tokens),
                 static_cast<unsigned>(rounded_up(p.inner(), Rows) / Rows),
                 static_cast<unsigned>(2 * p.layers)),
            dim3(Tile::kThreads), FillLayout<Tile>::kSharedBytes};
  }
  static constexpr auto kernel() { return &kv_fill_wide<Rows, Tokens, Planted>; }
  static constexpr std::int64_t kBytesInFlight = Tile::kWeightBytesInFlight;
};

template <class Fill>
class FillCase final : public Case {
 public:
  explicit FillCase(FillPlan plan) : plan_(plan) {}

  CaseInfo info() const override {
    return {"early_exit",
            "kv_fill",
            Fill::name(),
            "bf16",
            {{"layers", plan_.layers},
             {"tokens", plan_.tokens},
             {"depth", plan_.depth},
             {"heads", plan_.heads}},
            false};
  }
  Work work() const override { return Fill::work(plan_); }
  std::vector<LaunchUse> launches() const override {
    const Geometry g = Fill::geometry(plan_);
    return {{Fill::kernel_name(), reinterpret_cast<const void*>(Fill::kernel()),
             std::int64_t{g.grid.x} * g.grid.y * g.grid.z, static_cast<int>(g.block.x),
             static_cast<std::int64_t>(g.shared_bytes), Fill::kBytesInFlight}};
  }
  std::int64_t set_bytes() const override { return work().read_bytes + 2 * cache_numbers(); }

  void prepare(int sets, std::uint64_t seed) override {
    sets_.clear();
    for (int set = 0; set < sets; ++set) {
      sets_.push_back(std::make_unique<Set>(plan_, cache_numbers(), seed + count_of(set)));
    }
  }

  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[count_of(set)];
    launch(stream, Fill::kernel(), Fill::geometry(plan_),
           KvFill{as_bf16(s.weights), as_bf16(s.state), s.factor.data(),
                  static_cast<int>(plan_.tokens), static_cast<int>(plan_.depth),
                  static_cast<int>(plan_.inner()),
                  CacheAppend{as_bf16(s.caches), nullptr, s.positions.data(),
                              static_cast<int>(plan_.heads), static_cast<int>(plan_.capacity)}});
  }

  Agreement check(int set) override {
    const Set& s = *sets_[count_of(set)];
    const auto weights = s.weights.download();
    const auto state = s.state.download();
    const auto factor = s.factor.download();
    const auto positions = s.positions.download();
    const auto caches = s.caches.download();
    RelativeError error;
    const std::int64_t inner = plan_.inner();
    for (const std::int64_t pair : sample_of(plan_.tokens * 2 * plan_.layers, 256, 2)) {
      const std::int64_t token = pair % plan_.tokens;
      const std::int64_t matrix = pair / plan_.tokens;
      const std::vector<double> expected = project_reference(
          weights.data() + matrix * inner * plan_.depth, count_of(inner), count_of(plan_.depth),
          bf16_values(state.data() + token * plan_.depth, count_of(plan_.depth)),
          static_cast<double>(factor[count_of(token)]));
      for (std::int64_t row = 0; row < inner; ++row) {
        const std::int64_t sequence =
            (matrix * plan_.tokens + token) * plan_.heads + row / kHeadSize;
        const std::int64_t at =
            (sequence * plan_.capacity + positions[count_of(token)]) * kHeadSize + row % kHeadSize;
        error.add(bf16_value(caches[count_of(at)]), expected[count_of(row)]);
      }
    }
    return {worse(error.value(), stray(caches, positions) ? 1 : 0), 1e-2, error.count()};
  }

 private:
  struct Set {
    Set(const FillPlan& p, std::int64_t cache_numbers, std::uint64_t seed)
        : weights(random_bf16(2 * p.layers * p.inner() * p.depth,
                              1.0F / std::sqrt(static_cast<float>(p.depth)), seed),
                  "weights"),
          state(random_bf16(p.tokens * p.depth, 3.0F, seed + 1000), "state"),
          factor(std::vector<float>(count_of(p.tokens), 0.3125F), "factor"),
          positions(places(p, seed), "positions"),
          caches(count_of(cache_numbers), "caches") {}
    DeviceArray<std::uint16_t> weights, state;
    DeviceArray<float> factor;
    DeviceArray<int> positions;
    DeviceArray<std::uint16_t> caches;
  };
  static std::vector<int> places(const FillPlan& p, std::uint64_t seed) {
    std::vector<int> positions;
    Random random(seed + 2000);
    for (std::int64_t t = 0; t < p.tokens; ++t) {
      positions.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(p.capacity))));
    }
    return positions;
  }

  // True where something was written beside the places of the new tokens. Elsewhere the poison
  // stays.
  bool stray(const std::vector<std::uint16_t>& caches, const std::vector<int>& positions) const {
    const std::int64_t rows = static_cast<std::int64_t>(caches.size()) / kHeadSize;
    for (const std::int64_t row : sample_of(rows, 1 << 14, 3)) {
      const std::int64_t token = row / plan_.capacity / plan_.heads % plan_.tokens;
      if (row % plan_.capacity == positions[count_of(token)]) continue;
      if (caches[count_of(row * kHeadSize)] != 0xffff) return true;
    }
    return false;
  }
  std::int64_t cache_numbers() const {
    return 2 * plan_.layers * plan_.tokens * plan_.inner() * plan_.capacity;
  }

  FillPlan plan_;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
