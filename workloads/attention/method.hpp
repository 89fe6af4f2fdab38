#pragma once
// A KV method: the tensors in each tier, and the reads, copies and arithmetic of one layer's
// attention in a step. Each method is a pair of files; workloads/attention/CMakeLists.txt lists
// them.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/registry.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/step_graph.hpp"
#include "workloads/attention/attention_kernel_config.hpp"
#include "workloads/attention/tree_mask.hpp"
#include "workloads/llm/execution_config.hpp"
#include "workloads/llm/far_weights.hpp"
#include "workloads/llm/handover.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/parallel_config.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

struct FfnShare;
struct SpeculationConfig;

/// The tier beside the GPU, and the tier that KV and weights may be offloaded to; they may be the
/// same.
struct Placement {
  TierId near;
  TierId far;
  FarWeights weights = {};
  std::vector<std::pair<TierId, double>> weight_tiers = {};  ///< of FarWeights::tiers
  std::optional<TierId> host = {};  ///< memory of the CPUs that attend; none: the far tier is it

  /// Divides the bytes of far weights among the tiers that hold them.
  std::vector<std::pair<TierId, Bytes>> by_tier(Bytes far_weights) const;
};

/// A piece of one prompt: new positions that a prefill reads, after `before` cached ones.
struct PromptChunk {
  std::int64_t tokens = 0;
  std::int64_t before = 0;

  friend bool operator==(const PromptChunk&, const PromptChunk&) = default;
};

/// Input of every method: one GPU's part of the model and its sequences.
struct AttentionContext {
  LlmConfig model;
  StepConfig step;
  Placement placement;
  ParallelConfig parallel = {};
  AttentionKernelConfig kernel = {};
  ExecutionConfig execution = {};
  std::optional<HandoverConfig> handover = {};
  bool host_works = false;  ///< the step first waits for the CPU
  /// Where the MLPs are on other GPUs; null: they are on these. `model` is then without them.
  std::shared_ptr<const FfnShare> ffn = nullptr;
  /// Pieces of a prefill where prompts differ or are cached in part: step.batch is then 1, and
  /// step.context the sum of their new tokens. Empty: whole prompts of step.context positions.
  std::vector<PromptChunk> chunks = {};
  /// How tokens are drafted; null: they are not. It outlives this.
  const SpeculationConfig* speculation = nullptr;
  /// Drafted tokens of each sequence whose positions a decode step computes with its next one;
  /// step.context includes them.
  std::int64_t drafts = 0;
  TreeMask mask = {};  ///< of these positions, where they are nodes of a tree
  /// New positions of the whole prompt, and those cached before them, of which step has those of
  /// one context rank (context_attention.hpp); 0: the prompt is not cut.
  std::int64_t prompt = 0;
  std::int64_t prompt_found = 0;
  /// The context rank of this GPU; without it the one with the most work, which the others wait
  /// for.
  std::optional<std::int64_t> context_rank = {};
  /// Sequences whose cached positions lie on all context ranks, of which step.batch has those whose
  /// products are this rank's (context_decode.hpp); 0: each sequence lies on one.
  std::int64_t shared = 0;
  /// Context ranks of which one keeps a new position of a sequence.
  std::int64_t holders = 1;
  /// The room of Method::near_rows() is taken by other sequences, so that all rows lie far.
  bool spilled = false;
  /// Vectors of the model's width that a draft's projection behind the embedding joins to one.
  std::int64_t joined = 0;

  /// New positions of a sequence beyond the first one in a decode step.
  std::int64_t drafted() const { return step.kind == StepKind::decode ? drafts : 0; }
  /// Number of positions that the step adds to every sequence.
  std::int64_t new_positions() const {
    return step.kind == StepKind::decode ? 1 + drafts : step.context - step.found();
  }
};

/// A setting that does not fit the model, reported to the user.
struct MethodProblem {
  std::string key;  ///< in the method's mapping
  std::string message;
  std::string hint;
};

/// One class of cached data. The footprint, the rows that a decode step adds and the rows that a
/// prefill writes all follow from it.
struct CachedTensor {
  TensorClass tensor_class = TensorClass::keys;
  TierId tier;
  std::int64_t positions = 0;  ///< kept of every sequence; or pages, for a tensor of pages
  Bytes piece;                 ///< contiguous bytes of one position
  std::int64_t pieces = 0;  ///< number of pieces of one position in one layer, over the whole batch
  bool own_kernel = false;  ///< written by a kernel of the method, not by add_store()
  std::int64_t covers = 1;  ///< positions of a sequence that one of `positions` stands for

  Bytes per_position() const { return piece * pieces; }
  /// Bytes of one layer.
  Bytes all() const { return per_position() * positions; }
};

/// Operations of a layer that later layers may wait for.
struct LayerOps {
  OpId attended;  ///< produces the attention output
  OpId fetched;   ///< brings its rows to the near tier; invalid where nothing is fetched
};

/// Input of one layer's attention.
struct LayerInputs {
  int layer = 0;
  OpId projected;  ///< produces queries, keys and values of the new positions
  /// Produces the queries to screen by: `projected`, or an earlier operation for guessed queries.
  OpId screen_after;
  std::span<const LayerOps> before = {};  ///< the earlier layers, from the first
  /// Copies wait for this operation, so that those of overlapping layers or micro-batches run in
  /// order and do not share the path; invalid where nothing overlaps.
  OpId copy_after = {};

  bool guessed() const { return screen_after != projected; }
  /// Predecessors of a copy that needs `after`.
  OpIds in_copy_order(OpId after) const {
    return copy_after.valid() ? OpIds{after, copy_after} : OpIds{after};
  }
};

class Method {
 public:
  virtual ~Method() = default;
  virtual void describe(Fields& f) = 0;
  /// Settings that contradict the model or the step; empty when there are none. Model and step may
  /// be incomplete after errors.
  virtual std::vector<MethodProblem> problems(const LlmConfig&, const StepConfig&) const {
    return {};
  }
  /// Settings that have an effect only where drafts are verified.
  virtual std::vector<MethodProblem> problems_without_drafts() const { return {}; }
  /// True where the method chooses rows by the query, so that a guessed query lets a layer start
  /// early.
  virtual bool screens() const { return false; }
  /// The products that make a guessed query; empty for the model's own ones.
  virtual std::vector<Product> guess_products(const LlmConfig&) const { return {}; }
  /// The kind of indexer that it runs; empty for none. A model that has one needs such a method.
  virtual std::optional<IndexerKind> runs_indexer() const { return {}; }
  /// True where a decode step can verify drafts: several new positions of a sequence read the same
  /// rows, or the method says what their choices amount to together.
  virtual bool verifies_drafts() const { return false; }
  /// True where the host's CPUs attend to far rows in a decode step.
  virtual bool attends_on_cpu() const { return false; }
  /// True where it caches a row of every position, whatever the queries are. Each of several
  /// context ranks then caches its own, and a prefill may find some of them.
  virtual bool caches_all() const { return false; }
  /// Positions of all sequences of a GPU, together, whose rows lie in the near tier before those of
  /// others spill to the far one.
  virtual std::int64_t near_rows() const { return 0; }
  /// Data that it keeps of every position, for one layer.
  virtual std::vector<CachedTensor> cached(const AttentionContext& context) const = 0;
  /// Adds tensors that stay for the whole step: staging, index lists, weights of the method.
  virtual void add_buffers(const AttentionContext& context, StepGraph& graph) const;
  /// Adds the attention of one layer of a decode step.
  virtual LayerOps add_layer(const AttentionContext& context, const LayerInputs& in,
                             StepGraph& graph) const = 0;
  /// Adds the attention of one layer of a prefill: exact attention of every position over those
  /// before it; cached() is written.
  virtual LayerOps add_prefill_layer(const AttentionContext& context, const LayerInputs& in,
                                     StepGraph& graph) const;
};

struct MethodKind {
  std::string help;  ///< one line, for `tiersim list methods`
  std::unique_ptr<Method> (*make)() = nullptr;
};

/// Adds cached() of all layers and the buffers; those of each type of layer where types differ.
void add_method_tensors(const Method& method, const AttentionContext& context, StepGraph& graph);

/// The registry of every method, by name.
Registry<MethodKind> make_method_library();

}  // namespace tiersim
