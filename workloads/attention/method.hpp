#pragma once
// A KV method: which tensors live in which tier, and what one layer's attention reads, moves and
// computes in a step. One file pair each; workloads/attention/CMakeLists.txt lists them.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/registry.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/step_graph.hpp"
#include "workloads/attention/attention_kernel_config.hpp"
#include "workloads/llm/handover.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/parallel_config.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

/// The tier beside the GPU and the one that KV may be offloaded to; they may be the same.
struct Placement {
  TierId near;
  TierId far;
};

/// A piece of one prompt: positions that a prefill reads after others that are cached already.
struct PromptChunk {
  std::int64_t tokens = 0;
  std::int64_t before = 0;

  friend bool operator==(const PromptChunk&, const PromptChunk&) = default;
};

/// What every method is given: the part of the model and the sequences of one GPU.
struct AttentionContext {
  LlmConfig model;
  StepConfig step;
  Placement placement;
  ParallelConfig parallel = {};
  AttentionKernelConfig kernel = {};
  std::optional<HandoverConfig> handover = {};
  bool host_works = false;  ///< the step waits for the CPU first
  /// What a prefill reads where prompts differ or are cached in part: step.batch is 1 then, and
  /// step.context the sum of their new tokens. Empty: whole prompts, all of step.context.
  std::vector<PromptChunk> chunks = {};

  /// Positions that the step adds to every sequence.
  std::int64_t new_positions() const { return step.kind == StepKind::decode ? 1 : step.context; }
};

/// A setting that does not fit the model, for the user to mend.
struct MethodProblem {
  std::string key;  ///< of the method's own mapping
  std::string message;
  std::string hint;
};

/// One class of what a method caches. The footprint, the rows that a decode step adds and those
/// that a prefill writes all follow from it.
struct CachedTensor {
  TensorClass tensor_class = TensorClass::keys;
  TierId tier;
  std::int64_t positions = 0;  ///< kept of every sequence; pages where that is what is kept
  Bytes piece;                 ///< contiguous bytes of one position
  std::int64_t pieces = 0;     ///< of one position in one layer, over the whole batch
  bool own_kernel = false;     ///< written by a kernel of the method, not by add_store()

  Bytes per_position() const { return piece * pieces; }
  /// One layer.
  Bytes all() const { return per_position() * positions; }
};

/// The operations of a layer that the layers after it may wait for.
struct LayerOps {
  OpId attended;  ///< the attention output is there
  OpId fetched;   ///< the rows that it came from are near; invalid where nothing is fetched
};

/// What one layer's attention is given.
struct LayerInputs {
  int layer = 0;
  OpId projected;  ///< queries, keys and values of the new positions are there
  /// Queries to screen by are there: `projected`, or before it where they are guessed.
  OpId screen_after;
  std::span<const LayerOps> before = {};  ///< the layers before this one, from the first
  /// Copies wait for this one, so that those of layers or micro-batches that overlap run in order
  /// and do not share the way; invalid where nothing overlaps.
  OpId copy_after = {};

  bool guessed() const { return screen_after != projected; }
  /// What a copy waits for that needs `after`.
  std::vector<OpId> in_copy_order(OpId after) const {
    return copy_after.valid() ? std::vector{after, copy_after} : std::vector{after};
  }
};

class Method {
 public:
  virtual ~Method() = default;
  virtual void describe(Fields& f) = 0;
  /// What in the settings contradicts the model or the step, either of which may be half read;
  /// empty when all is well.
  virtual std::vector<MethodProblem> problems(const LlmConfig&, const StepConfig&) const {
    return {};
  }
  /// Whether it chooses rows by the query, so that a guess of it lets a layer start early.
  virtual bool screens() const { return false; }
  /// What it keeps of every position, one layer.
  virtual std::vector<CachedTensor> cached(const AttentionContext& context) const = 0;
  /// Adds what else stays for the whole step: staging, index lists, weights of its own.
  virtual void add_buffers(const AttentionContext& context, StepGraph& graph) const;
  /// Adds the attention of one layer of a decode step.
  virtual LayerOps add_layer(const AttentionContext& context, const LayerInputs& in,
                             StepGraph& graph) const = 0;
  /// The same of a prefill: exact attention of every position over those before it, and cached()
  /// is written.
  virtual LayerOps add_prefill_layer(const AttentionContext& context, const LayerInputs& in,
                                     StepGraph& graph) const;
};

struct MethodKind {
  std::string help;  ///< one line, for `tiersim list methods`
  std::unique_ptr<Method> (*make)() = nullptr;
};

/// Adds cached() of all layers and the buffers.
void add_method_tensors(const Method& method, const AttentionContext& context, StepGraph& graph);

/// Every method, by name.
Registry<MethodKind> make_method_library();

}  // namespace tiersim
