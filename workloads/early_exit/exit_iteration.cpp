#include "workloads/early_exit/exit_iteration.hpp"

#include <optional>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// Adds layers one by one, each after the operation that the one before it ends with.
class ExitLayers {
 public:
  ExitLayers(AttentionContext replica, const Method& method, IterationWork work, StepGraph& graph)
      : replica_(std::move(replica)), method_(method), work_(std::move(work)), graph_(graph) {
    replica_.step.region = Region::layers;  // embedding and head are added elsewhere
    work_.logits = 0;
  }

  // A chain is for one number of rows. A new chain marks all earlier layers as done, for methods
  // that refer to them.
  OpId add(const ExitLayer& at, OpId after) {
    if (!chain_ || at.rows != work_.decodes || at.layer != next_) {
      work_.decodes = at.rows;
      std::vector<AttentionPart> parts = iteration_parts(replica_, work_);
      parts.front().layers.assign(static_cast<std::size_t>(at.layer), {after, after});
      chain_.emplace(iteration_step(replica_, work_), method_, graph_, std::move(parts));
    }
    next_ = at.layer + 1;
    chain_->begin(after);
    chain_->add_layer(at.layer, copy_after_);
    return chain_->last();
  }

 private:
  AttentionContext replica_;
  const Method& method_;
  IterationWork work_;
  StepGraph& graph_;
  std::optional<StepChain> chain_;
  OpId copy_after_;
  int next_ = 0;
};

AttentionContext device_of(const AttentionContext& replica) {
  AttentionContext c = replica;
  c.step.kind = StepKind::decode;
  return device_step(c).context;
}

}  // namespace

StepGraph build_exit_iteration(const AttentionContext& replica, const Method& method,
                               const IterationWork& work, const ExitPlan& exits,
                               ExitTechnique technique, std::vector<std::string> tier_names) {
  TS_EXPECTS(work.chunks.empty() && work.decodes > 0, work.decodes);
  StepGraph graph;
  graph.tier_names = std::move(tier_names);
  IterationWork all = work;
  all.logits = exits.head_batches * work.logits;
  StepChain ends(iteration_step(replica, all), method, graph, iteration_parts(replica, all));
  ends.begin();
  OpId last = ends.last();
  const AttentionContext device = device_of(replica);
  ExitLayers layers(replica, method, work, graph);
  for (const ExitLayer& at : exits.layers) {
    last = layers.add(at, last);
    last = add_fill_beside(graph, device, method, at.layer, at.filled, last);
    last = add_confidence(graph, device, technique, at.layer, at.measured, last);
  }
  last = add_fill(graph, device, method, fill_at_end(exits), last);
  const std::size_t head = graph.ops.size();
  ends.end();
  if (head < graph.ops.size()) graph.ops[head].after = {last};
  return graph;
}

}  // namespace tiersim
