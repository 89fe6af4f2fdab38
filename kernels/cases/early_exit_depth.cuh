// The exit depth of a batch, decided on the card or by the host: the residual add, vote and gate of
// each layer, and after each the decision about the next one. Conditional graph nodes decide on the
// card. Otherwise each layer copies one word to the host and waits for it.
#pragma once
#include <memory>

#include "kernels/cases/early_exit_inputs.cuh"
#include "kernels/device/residual_vote.cuh"
#include "kernels/device/residual_vote_work.hpp"
#include "kernels/reference/early_exit.hpp"
#include "kernels/runtime/conditional.cuh"
#include "kernels/runtime/copy.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

struct DepthPlan {
  std::int64_t layers = 0;
  std::int64_t exit = 0;  // the batch exits after this many layers, at most `layers`
  std::int64_t rows = 0;
  std::int64_t depth = 0;
};

// InGraph: with IF nodes. Otherwise enqueue() waits for reads by the host.
template <bool InGraph, int Units>
class DepthCase final : public Case {
 public:
  explicit DepthCase(DepthPlan plan) : plan_(plan) {}

  CaseInfo info() const override {
    return {"early_exit",
            "depth",
            InGraph ? "graph_if" : "host_read",
            "bf16",
            {{"layers", plan_.layers},
             {"exit", plan_.exit},
             {"rows", plan_.rows},
             {"depth", plan_.depth}},
            false};
  }
  Work work() const override {
    Work work;
    for (std::int64_t layer = 0; layer < plan_.exit; ++layer) {
      work =
          work + residual_vote_work(plan_.rows, plan_.depth, true, layer == 0) + exit_gate_work();
      // The state before a layer is both an addend and the reference of the comparison, but is read
      // once.
      work.read_bytes -= 2 * plan_.rows * plan_.depth;
      if constexpr (!InGraph) {
        work.read_bytes += 4;
        work.link_written_bytes += 4;
        work.requested_bytes += 8;
      }
    }
    return work;
  }
  std::vector<LaunchUse> launches() const override {
    std::vector<LaunchUse> uses;
    for (std::int64_t layer = 0; layer < plan_.exit; ++layer) {
      uses.push_back({"residual_vote<Confidence:0," + std::to_string(Units) + ">",
                      reinterpret_cast<const void*>(&residual_vote<Confidence::cosine, Units>),
                      blocks(), kVoteThreads, kVoteBytes, 6 * kVoteRows * plan_.depth});
      uses.push_back({std::string("exit_gate<") + (InGraph ? "true>" : "false>"),
                      reinterpret_cast<const void*>(&exit_gate<InGraph>), 1, 1, 0, 4});
    }
    return uses;
  }
  std::int64_t set_bytes() const override {
    return 2 * (2 * plan_.layers + 1) * plan_.rows * plan_.depth;
  }

  void prepare(int sets, std::uint64_t seed) override {
    sets_.clear();
    for (int set = 0; set < sets; ++set) {
      sets_.push_back(std::make_unique<Set>(plan_, seed + count_of(set)));
      if constexpr (InGraph) build(*sets_.back());
    }
  }

  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[count_of(set)];
    if constexpr (InGraph) {
      s.graph->replay(stream);
    } else {
      for (std::int64_t layer = 0; layer < plan_.layers; ++layer) {
        run_layer(stream, s, layer, Condition{});
        copy(stream, s.host_reads.device(), s.gates.data() + layer, sizeof(int));
        stream.synchronize();
        if (*s.host_reads.host() != 0) break;
      }
    }
  }

  // Checks the state at the exit, and that no later layer ran.
  Agreement check(int set) override {
    const Set& s = *sets_[count_of(set)];
    const auto states = s.states.download();
    const auto deltas = s.deltas.download();
    const auto gates = s.gates.download();
    std::int64_t wrong = 0;
    for (std::int64_t layer = 0; layer < plan_.layers; ++layer) {
      const int expected = layer >= plan_.exit ? -1 : layer == plan_.exit - 1 ? 1 : 0;
      if (gates[count_of(layer)] != expected) ++wrong;
    }
    RelativeError error;
    const std::int64_t numbers = plan_.rows * plan_.depth;
    for (std::int64_t i = 0; i < numbers; ++i) {
      const std::int64_t last = (plan_.exit - 1) * numbers + i;
      error.add(bf16_value(states[count_of(last + numbers)]),
                bf16_value(states[count_of(last)]) + bf16_value(deltas[count_of(last)]));
    }
    return {worse(static_cast<double>(wrong), error.value()), 1e-2, error.count()};
  }

 private:
  struct Set {
    Set(const DepthPlan& plan, std::uint64_t seed)
        : states(count_of((plan.layers + 1) * plan.rows * plan.depth), "states"),
          deltas(make_deltas(plan, seed), "deltas"),
          factor(count_of(plan.rows), "factor"),
          confidence(count_of(plan.rows), "confidence"),
          exited(count_of(plan.rows), "exited"),
          status(std::vector<int>{1}, "status"),
          gates(count_of(plan.layers), "gates"),
          host_reads(1, "host_reads") {
      // The states of all layers are uploaded, since an upload is of a whole array. All but the
      // first are written before they are read.
      states.upload(random_bf16((plan.layers + 1) * plan.rows * plan.depth, 1.0F, seed + 1));
    }
    DeviceArray<std::uint16_t> states, deltas;
    DeviceArray<float> factor, confidence;
    DeviceArray<int> exited, status, gates;
    PinnedArray<int> host_reads;
    std::unique_ptr<ConditionalGraph> graph;
  };

  // Deltas as large as the state before the exit (a cosine of about .7), and a tenth of it at the
  // exit (.99).
  static std::vector<std::uint16_t> make_deltas(const DepthPlan& plan, std::uint64_t seed) {
    std::vector<std::uint16_t> all;
    for (std::int64_t layer = 0; layer < plan.layers; ++layer) {
      const float size = layer + 1 < plan.exit ? 1.5F * static_cast<float>(layer + 1) : 0.1F;
      const auto one =
          random_bf16(plan.rows * plan.depth, size, seed + 100 + static_cast<std::uint64_t>(layer));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  void run_layer(Stream& stream, Set& s, std::int64_t layer, Condition next) const {
    const std::int64_t first = layer * plan_.rows * plan_.depth;
    bf16* state = as_bf16(s.states) + first;
    launch(stream, &residual_vote<Confidence::cosine, Units>,
           {dim3(static_cast<unsigned>(blocks())), dim3(kVoteThreads), kVoteBytes},
           ResidualVote{state, as_bf16(s.deltas) + first, state, 0, 1e-6F,
                        static_cast<int>(plan_.rows), static_cast<int>(plan_.depth),
                        state + plan_.rows * plan_.depth, s.factor.data(), s.confidence.data()},
           ExitState{s.exited.data(), s.status.data(), 0.95F, layer == 0});
    launch(stream, &exit_gate<InGraph>, {dim3(1), dim3(1)}, s.status.data(), s.gates.data() + layer,
           next);
  }

  // Layer i is an IF node on a condition that layer i - 1 sets. The last layer sets the condition
  // of the first one, which has been read by then and starts anew with each replay.
  void build(Set& s) const {
    s.graph = std::make_unique<ConditionalGraph>();
    std::vector<Condition> conditions;
    for (std::int64_t layer = 0; layer < plan_.layers; ++layer) {
      conditions.push_back(s.graph->condition(layer == 0 ? 1 : 0));
    }
    for (std::int64_t layer = 0; layer < plan_.layers; ++layer) {
      const Condition next = conditions[count_of((layer + 1) % plan_.layers)];
      s.graph->when(conditions[count_of(layer)],
                    [this, &s, layer, next](Stream& stream) { run_layer(stream, s, layer, next); });
    }
  }

  std::int64_t blocks() const { return rounded_up(plan_.rows, kVoteRows) / kVoteRows; }

  DepthPlan plan_;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
