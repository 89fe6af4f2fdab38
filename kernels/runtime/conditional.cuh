// A graph with branches that the card decides: after a layer a kernel sets a condition, by which
// the next layer runs or not, without the host.
#pragma once
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/device/conditional.cuh"
#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

// Nodes are added front to back, each after all earlier ones, and then replayed. On the emulator it
// is a list of recordings with plain branches. A body is recorded once on a card, when it is added,
// and at each replay on the emulator. It must neither synchronise nor allocate.
class ConditionalGraph {
 public:
  using Record = std::function<void(Stream&)>;

  ConditionalGraph() {
#if TS_ON_CARD
    TS_CARD(cudaGraphCreate(&graph_, 0));
#endif
  }
  ~ConditionalGraph() {
#if TS_ON_CARD
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
#endif
  }
  ConditionalGraph(const ConditionalGraph&) = delete;
  ConditionalGraph& operator=(const ConditionalGraph&) = delete;

  // A condition for kernels of this graph to set; each replay begins with `initial`. Some node has
  // to use it: CUDA refuses a graph with an unused condition.
  Condition condition(unsigned initial) {
#if TS_ON_CARD
    Condition made{};
    TS_CARD(cudaGraphConditionalHandleCreate(&made, graph_, initial, cudaGraphCondAssignDefault));
    return made;
#else
    conditions_.push_back({initial, initial});
    return &conditions_.back().value;
#endif
  }

  void record(const Record& body) {
#if TS_ON_CARD
    last_ = capture(graph_, last_, body);
#else
    steps_.push_back([body](Stream& stream) { body(stream); });
#endif
  }

  // An IF node: runs body where the condition is not 0.
  void when(Condition condition, const Record& body) {
#if TS_ON_CARD
    add(condition, cudaGraphCondTypeIf, {body});
#else
    steps_.push_back([condition, body](Stream& stream) {
      if (*condition != 0) body(stream);
    });
#endif
  }

  // A SWITCH node: runs bodies[condition], or nothing where there is no such body.
  void select(Condition condition, const std::vector<Record>& bodies) {
#if TS_ON_CARD
    add(condition, cudaGraphCondTypeSwitch, bodies);
#else
    steps_.push_back([condition, bodies](Stream& stream) {
      if (*condition < bodies.size()) bodies[*condition](stream);
    });
#endif
  }

  void replay(Stream& stream) {
#if TS_ON_CARD
    if (executable_ == nullptr) TS_CARD(cudaGraphInstantiate(&executable_, graph_, 0));
    TS_CARD(cudaGraphLaunch(executable_, stream.native()));
#else
    for (Value& value : conditions_) value.value = value.initial;
    for (const Record& step : steps_) step(stream);
#endif
  }

 private:
#if TS_ON_CARD
  using Nodes = std::vector<cudaGraphNode_t>;

  // Adds the work that body enqueues to a graph, after some of its nodes; returns the last nodes.
  static Nodes capture(cudaGraph_t graph, const Nodes& after, const Record& body) {
    Stream stream;
    TS_CARD(cudaStreamBeginCaptureToGraph(stream.native(), graph, after.data(), nullptr,
                                          after.size(), cudaStreamCaptureModeRelaxed));
    cudaGraph_t same = nullptr;
    try {
      body(stream);
    } catch (...) {
      cudaStreamEndCapture(stream.native(), &same);
      throw;
    }
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
    TS_CARD(cudaStreamGetCaptureInfo(stream.native(), &status, nullptr, nullptr, &nodes, nullptr,
                                     &count));
    Nodes last(nodes, nodes + count);
    TS_CARD(cudaStreamEndCapture(stream.native(), &same));
    return last;
  }

  void add(Condition condition, cudaGraphConditionalNodeType type,
           const std::vector<Record>& bodies) {
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeConditional;
    what.conditional.handle = condition;
    what.conditional.type = type;
    what.conditional.size = static_cast<unsigned>(bodies.size());
    cudaGraphNode_t node = nullptr;
    TS_CARD(cudaGraphAddNode(&node, graph_, last_.data(), nullptr, last_.size(), &what));
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      capture(what.conditional.phGraph_out[i], {}, bodies[i]);
    }
    last_ = {node};
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  Nodes last_;
#else
  struct Value {
    unsigned value, initial;
  };
  std::deque<Value> conditions_;  // a deque, so that addresses stay valid
  std::vector<Record> steps_;
#endif
};

}  // namespace tiersim::kernels
