#pragma once
// A step small enough to work out by hand, with any method:
//   4 layers; 4 query heads over 2 KV heads of 8 elements in fp16, so a row has 16 B;
//   2 sequences of 64 positions, so a layer has 4 (sequence, KV head) pairs: 256 rows of keys,
//   4096 B, and as many of values; a quarter of them is 16 positions, 1024 B.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/config/describe.hpp"
#include "workloads/attention/method.hpp"
#include "workloads/importers.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim::testing {

inline constexpr TierId kNear{0};
inline constexpr TierId kFar{1};

inline AttentionContext small_step() {
  return {.model = {.layers = 4,
                    .hidden = 32,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 8,
                    .intermediate = 64,
                    .vocabulary = 100},
          .step = {.batch = 2, .context = 64},
          .placement = {kNear, kFar}};
}

/// MLA: a row of the cache has a latent of 16 elements and a rotary key of 4.
inline MlaConfig small_mla(std::int64_t q_lora_rank = 12) {
  return {.q_lora_rank = q_lora_rank,
          .kv_lora_rank = 16,
          .qk_nope_head_dim = 8,
          .qk_rope_head_dim = 4,
          .v_head_dim = 8};
}

struct NamedMethod {
  std::string name = {};
  std::unique_ptr<Method> method = {};
};
inline void describe(Fields& f, NamedMethod& c) {
  const auto library = make_method_library();
  std::vector<Alternative> names;
  for (const auto& [name, kind] : library.entries()) names.push_back({name, kind.help});
  f.select("name", c.name, names, [&](const std::string& name, Fields& fields) {
    c.name = name;
    c.method = library.find(name)->make();
    c.method->describe(fields);
  });
}

/// The method that `{name: maple, ...}` describes.
inline std::unique_ptr<Method> method(const std::string& yaml) {
  Diagnostics diagnostics;
  const Document document = load_text(yaml, "method", {.importers = make_importers()}, diagnostics);
  auto named = read<NamedMethod>(document, "method", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return std::move(named.method);
}

inline StepGraph build(const std::string& yaml, const AttentionContext& context = small_step()) {
  return build_step(context, *method(yaml), {"near", "far"});
}

inline std::string tier_name(TierId tier) {
  return tier == kNear ? "near" : "far";
}

/// "far read keys" and such, to bytes.
using Ledger = std::map<std::string, int>;

inline bool is_of_method(const Op& op) {
  return op.phase == Phase::screening || op.phase == Phase::gather ||
         op.phase == Phase::attention || op.phase == Phase::write_back;
}

/// Bytes of screening, copies, attention and write-back of a layer, without activations.
inline Ledger ledger(const StepGraph& graph, int layer) {
  Ledger out;
  for (const Op& op : graph.ops)
    if (op.layer == layer && is_of_method(op))
      for (const Access& a : op.accesses)
        if (a.tensor_class != TensorClass::activations)
          out[tier_name(a.tier) + ' ' + std::string(name(a.direction)) + ' ' +
              std::string(name(a.tensor_class))] += static_cast<int>(a.payload.in_base());
  return out;
}

/// Bytes held by all layers, without the weights and activations of the model.
inline Ledger footprint(const std::string& yaml, const AttentionContext& context = small_step()) {
  Ledger out;
  StepGraph graph;
  graph.tier_names = {"near", "far"};
  add_method_tensors(*method(yaml), context, graph);
  for (const Tensor& t : graph.tensors)
    out[tier_name(t.tier) + ' ' + std::string(name(t.tensor_class))] +=
        static_cast<int>(t.size.in_base());
  return out;
}

/// FLOPs of a layer by phase: screening, attention.
inline std::int64_t flops(const StepGraph& graph, int layer, Phase phase) {
  Flops sum;
  for (const Op& op : graph.ops)
    if (op.layer == layer && op.phase == phase) sum += op.flops;
  return sum.in_base();
}

/// Number of copies from the far tier in a layer; each is a dependent round trip.
inline std::int64_t far_reads(const StepGraph& graph, int layer) {
  return std::ranges::count_if(graph.ops, [&](const Op& op) {
    return op.layer == layer && is_of_method(op) && op.kind == OpKind::transfer &&
           std::ranges::any_of(op.accesses, [](const Access& a) {
             return a.tier == kFar && a.direction == Direction::read;
           });
  });
}

/// Contiguous bytes of the requests that read this class from a tier, in the order of operations.
inline std::vector<int> runs(const StepGraph& graph, int layer, TierId tier,
                             TensorClass tensor_class) {
  std::vector<int> out;
  for (const Op& op : graph.ops)
    if (op.layer == layer && is_of_method(op))
      for (const Access& a : op.accesses)
        if (a.tier == tier && a.tensor_class == tensor_class && a.direction == Direction::read)
          out.push_back(static_cast<int>(a.run.in_base()));
  return out;
}

/// Errors of the settings, "key: message (hint)" each.
inline std::vector<std::string> problems(const std::string& yaml,
                                         const AttentionContext& context = small_step()) {
  std::vector<std::string> out;
  for (const MethodProblem& p : method(yaml)->problems(context.model, context.step))
    out.push_back(p.key + ": " + p.message + (p.hint.empty() ? "" : " (" + p.hint + ")"));
  return out;
}

}  // namespace tiersim::testing
