// A T5 v1.1 decoder layer at one step of decoding, as a case of eight launches.
#pragma once
#include <limits>
#include <memory>

#include "kernels/cases/early_exit_inputs.cuh"
#include "kernels/device/decoder_layer.cuh"
#include "kernels/device/decoder_layer_work.hpp"
#include "kernels/device/step_attention.cuh"
#include "kernels/reference/decoder_layer.hpp"
#include "kernels/reference/early_exit.hpp"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

struct LayerPlan {
  std::int64_t depth = 0;
  std::int64_t wide = 0;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;   // sequences of the batch, one new token each
  std::int64_t decoded = 0;  // capacity of the self attention's cache; the longest is this long
  std::int64_t encoded = 0;  // the same of the cross attention's
  bool ragged = false;       // lengths differ, from one token on; else all are the longest
  std::int64_t inner() const { return heads * kHeadSize; }
  // Of sequence i with the new token; of its encoder (none at all is possible).
  std::int64_t self_length(std::int64_t i) const { return ragged ? 1 + i * 5 % decoded : decoded; }
  std::int64_t cross_length(std::int64_t i) const {
    return ragged ? i * 7 % (encoded + 1) : encoded;
  }
};

// All arrays of one set. Numbers are sized so that states and scores stay near 1.
struct LayerArrays {
  LayerArrays(const LayerPlan& p, std::uint64_t seed);

  DeviceArray<std::uint16_t> qkv, self_out, cross_query, cross_out, gate, linear, wide_out;
  DeviceArray<float> bias;
  DeviceArray<std::uint16_t> state, self_keys, self_values, cross_keys, cross_values;
  DeviceArray<int> positions, encoded;
  DeviceArray<std::uint16_t> query, attended, after_self, cross_q, cross_attended, after_cross,
      gated, out;
};

// Compares the outputs of a set with the reference, for a sample of the sequences.
Agreement check_layer(const LayerPlan& plan, const LayerArrays& arrays);
Work layer_work(const LayerPlan& plan, std::int64_t columns);

template <int Columns, Mistake Planted = Mistake::none>
class LayerCase final : public Case {
 public:
  explicit LayerCase(LayerPlan plan) : plan_(plan) {}

  CaseInfo info() const override {
    return {"early_exit",
            "decoder_layer",
            "skinny" + std::to_string(8 * Columns),
            "bf16",
            {{"depth", plan_.depth},
             {"wide", plan_.wide},
             {"heads", plan_.heads},
             {"tokens", plan_.tokens},
             {"decoded", plan_.decoded},
             {"encoded", plan_.encoded}},
            false};
  }
  Work work() const override { return layer_work(plan_, Columns); }
  std::int64_t set_bytes() const override { return work().read_bytes + work().written_bytes; }

  std::vector<LaunchUse> launches() const override {
    const auto use = [this](const std::string& kernel, auto* function, std::int64_t rows,
                            std::int64_t shared, std::int64_t in_flight) {
      return LaunchUse{kernel + "<" + std::to_string(Columns) + ">",
                       reinterpret_cast<const void*>(function),
                       rows / kSkinnyRows * token_tiles(),
                       kSkinnyThreads,
                       shared,
                       in_flight};
    };
    const auto attention = [this](const std::string& kernel, auto* function) {
      return LaunchUse{kernel,
                       reinterpret_cast<const void*>(function),
                       plan_.heads * plan_.tokens,
                       kStepThreads,
                       kStepBytes,
                       2 * 16 * kStepAtOnce * kStepThreads};
    };
    const auto residual = use("project_residual", &project_residual<Columns, Planted>, plan_.depth,
                              kShared, kInFlight);
    return {
        use("project_qkv", &project_qkv<Columns, Planted>, 3 * plan_.inner(), kShared, kInFlight),
        attention("step_attention<biased>", &step_attention<true, Planted>),
        residual,
        use("project_normed", &project_normed<Columns, Planted>, plan_.inner(), kShared, kInFlight),
        attention("step_attention<plain>", &step_attention<false, Planted>),
        residual,
        use("project_gated", &project_gated<Columns, Planted>, plan_.wide,
            SkinnyTile<2, Columns>::kSharedBytes, SkinnyTile<2, Columns>::kBytesInFlight),
        residual};
  }

  void prepare(int sets, std::uint64_t seed) override {
    sets_.clear();
    for (int set = 0; set < sets; ++set) {
      sets_.push_back(std::make_unique<LayerArrays>(plan_, seed + count_of(set)));
    }
  }

  void enqueue(Stream& stream, int set) override {
    LayerArrays& a = *sets_[count_of(set)];
    const auto heads = static_cast<int>(plan_.heads);
    const auto decoded = static_cast<int>(plan_.decoded);
    const CacheAppend cache = {as_bf16(a.self_keys), as_bf16(a.self_values), a.positions.data(),
                               heads, decoded};
    launch(stream, &project_qkv<Columns, Planted>, geometry(3 * plan_.inner()),
           tokens_of(a.state, plan_.depth), as_bf16(a.qkv), as_bf16(a.query), cache);
    launch(stream, &step_attention<true, Planted>, attention_geometry(),
           StepAttention{as_bf16(a.query), cache.keys, cache.values, a.positions.data(),
                         a.bias.data(), 1, decoded, as_bf16(a.attended)});
    add_residual(stream, a.attended, plan_.inner(), a.self_out, a.state, a.after_self);
    launch(stream, &project_normed<Columns, Planted>, geometry(plan_.inner()),
           tokens_of(a.after_self, plan_.depth), as_bf16(a.cross_query), as_bf16(a.cross_q));
    launch(stream, &step_attention<false, Planted>, attention_geometry(),
           StepAttention{as_bf16(a.cross_q), as_bf16(a.cross_keys), as_bf16(a.cross_values),
                         a.encoded.data(), nullptr, 0, static_cast<int>(plan_.encoded),
                         as_bf16(a.cross_attended)});
    add_residual(stream, a.cross_attended, plan_.inner(), a.cross_out, a.after_self, a.after_cross);
    Geometry wide = geometry(plan_.wide);
    wide.shared_bytes = SkinnyTile<2, Columns>::kSharedBytes;
    launch(stream, &project_gated<Columns, Planted>, wide, tokens_of(a.after_cross, plan_.depth),
           as_bf16(a.gate), as_bf16(a.linear), as_bf16(a.gated));
    add_residual(stream, a.gated, plan_.wide, a.wide_out, a.after_cross, a.out);
  }

  Agreement check(int set) override { return check_layer(plan_, *sets_[count_of(set)]); }

 private:
  static constexpr int kShared = SkinnyTile<1, Columns>::kSharedBytes;
  static constexpr int kInFlight = SkinnyTile<1, Columns>::kBytesInFlight;

  std::int64_t token_tiles() const { return rounded_up(plan_.tokens, 8 * Columns) / (8 * Columns); }
  Geometry geometry(std::int64_t rows) const {
    return {dim3(static_cast<unsigned>(rows / kSkinnyRows), static_cast<unsigned>(token_tiles())),
            dim3(kSkinnyThreads), kShared};
  }
  Geometry attention_geometry() const {
    return {dim3(static_cast<unsigned>(plan_.heads), static_cast<unsigned>(plan_.tokens)),
            dim3(kStepThreads), kStepBytes};
  }
  Tokens tokens_of(const DeviceArray<std::uint16_t>& numbers, std::int64_t depth) const {
    return {as_bf16(numbers), static_cast<int>(plan_.tokens), static_cast<int>(depth), 1e-6F};
  }
  void add_residual(Stream& stream, const DeviceArray<std::uint16_t>& from, std::int64_t depth,
                    const DeviceArray<std::uint16_t>& weights,
                    const DeviceArray<std::uint16_t>& before,
                    DeviceArray<std::uint16_t>& after) const {
    launch(stream, &project_residual<Columns, Planted>, geometry(plan_.depth),
           tokens_of(from, depth), as_bf16(weights), as_bf16(before), as_bf16(after));
  }

  LayerPlan plan_;
  std::vector<std::unique_ptr<LayerArrays>> sets_;
};

}  // namespace tiersim::kernels
