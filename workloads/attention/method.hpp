#pragma once
// A KV method: which tensors live in which tier, and what one layer's attention reads, moves and
// computes in a decode step. One file pair each; workloads/attention/CMakeLists.txt lists them.
#include <memory>
#include <string>
#include <vector>

#include "sim/base/registry.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/step_graph.hpp"
#include "workloads/llm/llm_config.hpp"
#include "workloads/llm/step_config.hpp"

namespace tiersim {

/// The tier beside the GPU and the one that KV may be offloaded to; they may be the same.
struct Placement {
  TierId near;
  TierId far;
};

/// What every method is given.
struct AttentionContext {
  LlmConfig model;
  StepConfig step;
  Placement placement;
};

/// A setting that does not fit the model, for the user to mend.
struct MethodProblem {
  std::string key;  ///< of the method's own mapping
  std::string message;
  std::string hint;
};

class Method {
 public:
  virtual ~Method() = default;
  virtual void describe(Fields& f) = 0;
  /// What in the settings contradicts the model; empty when all is well.
  virtual std::vector<MethodProblem> problems(const LlmConfig&) const { return {}; }
  /// Adds what stays in each tier for the whole step, all layers together.
  virtual void add_tensors(const AttentionContext& context, StepGraph& graph) const = 0;
  /// Adds the attention of one layer, from `projected` (queries, keys, values are there) to the
  /// returned operation (the attention output is there).
  virtual OpId add_layer(const AttentionContext& context, int layer, OpId projected,
                         StepGraph& graph) const = 0;
};

struct MethodKind {
  std::string help;  ///< one line, for `tiersim list methods`
  std::unique_ptr<Method> (*make)() = nullptr;
};

/// Every method, by name.
Registry<MethodKind> make_method_library();

}  // namespace tiersim
