// A T5 v1.1 decoder layer at one step of decoding, as a case of eight launches.
#pragma once
#include <limits>
#include <memory>

#include "kernels/cases/early_exit_inputs.cuh"
#include "kernels/device/decoder_layer.cuh"
#include "kernels/device/decoder_layer_wide.cuh"
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
  std::int64_t tokens = 0;  // sequences of the batch, one new token each
  // Capacity of the self attention's cache, and length of the longest sequence
  std::int64_t decoded = 0;
  std::int64_t encoded = 0;  // the same of the cross attention's
  bool ragged = false;       // true: lengths differ, from one token on; false: all have the longest
  std::int64_t inner() const { return heads * kHeadSize; }
  // The length of sequence i with the new token. The encoder's length may be 0.
  std::int64_t self_length(std::int64_t i) const { return ragged ? 1 + i * 5 % decoded : decoded; }
  std::int64_t cross_length(std::int64_t i) const {
    return ragged ? i * 7 % (encoded + 1) : encoded;
  }
};

// All arrays of one set. The inputs are scaled so that states and scores stay near 1.
struct LayerArrays {
  LayerArrays(const LayerPlan& p, std::uint64_t seed);

  DeviceArray<std::uint16_t> qkv, self_out, cross_query, cross_out, gated_in, wide_out;
  DeviceArray<float> bias;
  DeviceArray<std::uint16_t> state, self_keys, self_values, cross_keys, cross_values;
  DeviceArray<int> positions, encoded;
  DeviceArray<std::uint16_t> query, attended, after_self, cross_q, cross_attended, after_cross,
      gated, out;
};

// Compares the outputs of a set with the reference, for a sample of the sequences.
Agreement check_layer(const LayerPlan& plan, const LayerArrays& arrays);
Work layer_work(const LayerPlan& plan, std::int64_t columns, WideParts parts);

template <int Columns, WideParts Parts = WideParts::none, Mistake Planted = Mistake::none>
class LayerCase final : public Case {
 public:
  explicit LayerCase(LayerPlan plan) : plan_(plan) {}

  static std::string variant() {
    return Parts == WideParts::all     ? "wide"
           : Parts == WideParts::large ? "mixed" + std::to_string(8 * Columns)
                                       : "skinny" + std::to_string(8 * Columns);
  }
  CaseInfo info() const override {
    return {"early_exit",
            "decoder_layer",
            variant(),
            "bf16",
            {{"depth", plan_.depth},
             {"wide", plan_.wide},
             {"heads", plan_.heads},
             {"tokens", plan_.tokens},
             {"decoded", plan_.decoded},
             {"encoded", plan_.encoded}},
            false};
  }
  Work work() const override { return layer_work(plan_, Columns, Parts); }
  std::int64_t set_bytes() const override { return work().read_bytes + work().written_bytes; }

  std::vector<LaunchUse> launches() const override {
    const LaunchUse residual =
        Parts == WideParts::all
            ? wide_use<Output::residual>(plan_.depth)
            : skinny_use("project_residual", &project_residual<Columns, Planted>, plan_.depth);
    return {kLarge ? wide_use<Output::query_key_value>(3 * plan_.inner())
                   : skinny_use("project_qkv", &project_qkv<Columns, Planted>, 3 * plan_.inner()),
            attention_use("step_attention<true>", &step_attention<true, Planted>),
            residual,
            Parts == WideParts::all
                ? wide_use<Output::plain>(plan_.inner())
                : skinny_use("project_normed", &project_normed<Columns, Planted>, plan_.inner()),
            attention_use("step_attention<false>", &step_attention<false, Planted>),
            residual,
            kLarge ? wide_use<Output::gated>(2 * plan_.wide)
                   : skinny_use<2>("project_gated", &project_gated<Columns, Planted>, plan_.wide),
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
    const auto decoded = static_cast<int>(plan_.decoded);
    const CacheAppend cache = {as_bf16(a.self_keys), as_bf16(a.self_values), a.positions.data(),
                               static_cast<int>(plan_.heads), decoded};
    const Tokens state = tokens_of(a.state, plan_.depth);
    if constexpr (kLarge) {
      enqueue_wide<Output::query_key_value>(
          stream, 3 * plan_.inner(), {state, as_bf16(a.qkv), nullptr, as_bf16(a.query), cache});
    } else {
      launch(stream, &project_qkv<Columns, Planted>, geometry(3 * plan_.inner()), state,
             as_bf16(a.qkv), as_bf16(a.query), cache);
    }
    launch(stream, &step_attention<true, Planted>, attention_geometry(),
           StepAttention{as_bf16(a.query), cache.keys, cache.values, a.positions.data(),
                         a.bias.data(), 1, decoded, as_bf16(a.attended)});
    add_residual(stream, a.attended, plan_.inner(), a.self_out, a.state, a.after_self);
    const Tokens after_self = tokens_of(a.after_self, plan_.depth);
    if constexpr (Parts == WideParts::all) {
      enqueue_wide<Output::plain>(
          stream, plan_.inner(),
          {after_self, as_bf16(a.cross_query), nullptr, as_bf16(a.cross_q), {}});
    } else {
      launch(stream, &project_normed<Columns, Planted>, geometry(plan_.inner()), after_self,
             as_bf16(a.cross_query), as_bf16(a.cross_q));
    }
    launch(stream, &step_attention<false, Planted>, attention_geometry(),
           StepAttention{as_bf16(a.cross_q), as_bf16(a.cross_keys), as_bf16(a.cross_values),
                         a.encoded.data(), nullptr, 0, static_cast<int>(plan_.encoded),
                         as_bf16(a.cross_attended)});
    add_residual(stream, a.cross_attended, plan_.inner(), a.cross_out, a.after_self, a.after_cross);
    const Tokens after_cross = tokens_of(a.after_cross, plan_.depth);
    if constexpr (kLarge) {
      enqueue_wide<Output::gated>(
          stream, 2 * plan_.wide,
          {after_cross, as_bf16(a.gated_in), nullptr, as_bf16(a.gated), {}});
    } else {
      Geometry gated = geometry(plan_.wide);
      gated.shared_bytes = SkinnyTile<2, Columns>::kSharedBytes;
      launch(stream, &project_gated<Columns, Planted>, gated, after_cross, as_bf16(a.gated_in),
             as_bf16(a.gated));
    }
    add_residual(stream, a.gated, plan_.wide, a.wide_out, a.after_cross, a.out);
  }

  Agreement check(int set) override { return check_layer(plan_, *sets_[count_of(set)]); }

 private:
  static constexpr bool kLarge = Parts != WideParts::none;

  template <int Matrices = 1, class Kernel>
  LaunchUse skinny_use(const std::string& kernel, Kernel* function, std::int64_t rows) const {
    using Tile = SkinnyTile<Matrices, Columns>;
    return {kernel + "<" + std::to_string(Columns) + ">",
            reinterpret_cast<const void*>(function),
            rows / kSkinnyRows * token_tiles(),
            kSkinnyThreads,
            Tile::kSharedBytes,
            Tile::kBytesInFlight};
  }
  template <Output Kind>
  LaunchUse wide_use(std::int64_t rows) const {
    return {"project_wide<Output:" + std::to_string(static_cast<int>(Kind)) + ">",
            reinterpret_cast<const void*>(&project_wide<Kind, Planted>),
            rows / 64 * (rounded_up(plan_.tokens, 64) / 64),
            WideLayout::Tile::kThreads,
            WideLayout::kSharedBytes,
            WideLayout::Tile::kWeightBytesInFlight};
  }
  template <class Kernel>
  LaunchUse attention_use(const std::string& kernel, Kernel* function) const {
    return {kernel,
            reinterpret_cast<const void*>(function),
            plan_.heads * plan_.tokens,
            kStepThreads,
            kStepBytes,
            2 * 16 * kStepAtOnce * kStepThreads};
  }
  template <Output Kind>
  void enqueue_wide(Stream& stream, std::int64_t rows, const ProjectWide& what) const {
    launch(stream, &project_wide<Kind, Planted>,
           {dim3(static_cast<unsigned>(rows / 64),
                 static_cast<unsigned>(rounded_up(plan_.tokens, 64) / 64)),
            dim3(WideLayout::Tile::kThreads), WideLayout::kSharedBytes},
           what);
  }
  std::int64_t token_tiles() const { return rounded_up(plan_.tokens, 8 * Columns) / (8 * Columns); }
  Geometry geometry(std::int64_t rows) const {
    return {dim3(static_cast<unsigned>(rows / kSkinnyRows), static_cast<unsigned>(token_tiles())),
            dim3(kSkinnyThreads), SkinnyTile<1, Columns>::kSharedBytes};
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
    if constexpr (Parts == WideParts::all) {
      enqueue_wide<Output::residual>(
          stream, plan_.depth,
          {tokens_of(from, depth), as_bf16(weights), as_bf16(before), as_bf16(after), {}});
    } else {
      launch(stream, &project_residual<Columns, Planted>, geometry(plan_.depth),
             tokens_of(from, depth), as_bf16(weights), as_bf16(before), as_bf16(after));
    }
  }

  LayerPlan plan_;
  std::vector<std::unique_ptr<LayerArrays>> sets_;
};

}  // namespace tiersim::kernels
