// The residual add with its confidence and the batch's vote, and the gate after it, as one case.
#pragma once
#include <memory>

#include "kernels/cases/early_exit_inputs.cuh"
#include "kernels/device/residual_vote.cuh"
#include "kernels/device/residual_vote_work.hpp"
#include "kernels/reference/early_exit.hpp"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

struct VotePlan {
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  float threshold = 0.5F;
  float step = 0.5F;  // size of delta over state: larger steps turn the state further
  bool first_layer = true;
  float size = 1.0F;    // of the state; far below 1e-3 the epsilon of the norm dominates
  float weight = 0.1F;  // size of the classifier's weights
  float bias = 0.25F;
};

template <Confidence Measure, int Units, Mistake Planted = Mistake::none>
class VoteCase final : public Case {
 public:
  explicit VoteCase(VotePlan plan) : plan_(plan) {}

  CaseInfo info() const override {
    return {"early_exit",
            "residual_vote",
            kCosine ? "cosine" : "classifier",
            "bf16",
            {{"rows", plan_.rows}, {"depth", plan_.depth}},
            false};
  }
  Work work() const override {
    return residual_vote_work(plan_.rows, plan_.depth, kCosine, plan_.first_layer) +
           exit_gate_work();
  }
  std::vector<LaunchUse> launches() const override {
    return {{std::string("residual_vote<") + (kCosine ? "Confidence:0," : "Confidence:1,") +
                 std::to_string(Units) + ">",
             reinterpret_cast<const void*>(&residual_vote<Measure, Units, Planted>), blocks(),
             kVoteThreads, kVoteBytes, 6 * kVoteRows * plan_.depth},
            {"exit_gate<false>", reinterpret_cast<const void*>(&exit_gate<false>), 1, 1, 0, 4}};
  }
  std::int64_t set_bytes() const override { return work().read_bytes + work().written_bytes; }

  void prepare(int sets, std::uint64_t seed) override {
    sets_.clear();
    for (int set = 0; set < sets; ++set) {
      sets_.push_back(std::make_unique<Set>(plan_, seed + count_of(set)));
    }
  }

  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[count_of(set)];
    launch(stream, &residual_vote<Measure, Units, Planted>,
           {dim3(static_cast<unsigned>(blocks())), dim3(kVoteThreads), kVoteBytes},
           ResidualVote{as_bf16(s.state), as_bf16(s.delta), as_bf16(s.other), plan_.bias, kEpsilon,
                        static_cast<int>(plan_.rows), static_cast<int>(plan_.depth),
                        as_bf16(s.fresh), s.factor.data(), s.confidence.data()},
           ExitState{s.exited.data(), s.status.data(), plan_.threshold, plan_.first_layer});
    launch(stream, &exit_gate<false>, {dim3(1), dim3(1)}, s.status.data(), s.all_exited.data(),
           Condition{});
  }

  Agreement check(int set) override {
    const Set& s = *sets_[count_of(set)];
    const auto state = s.state.download();
    const auto delta = s.delta.download();
    const auto other = s.other.download();
    const auto fresh = s.fresh.download();
    const auto factor = s.factor.download();
    const auto confidence = s.confidence.download();
    RelativeError states, numbers;
    for (const std::int64_t row : sample_of(plan_.rows, 4096, 5)) {
      const std::int64_t first = row * plan_.depth;
      const ResidualReference expected = residual_reference(
          state.data() + first, delta.data() + first, other.data() + (kCosine ? first : 0),
          count_of(plan_.depth), static_cast<double>(kEpsilon), static_cast<double>(plan_.bias));
      for (std::int64_t k = 0; k < plan_.depth; ++k) {
        states.add(bf16_value(fresh[count_of(first + k)]), expected.fresh[count_of(k)]);
      }
      numbers.add(static_cast<double>(factor[count_of(row)]), expected.factor);
      numbers.add(static_cast<double>(confidence[count_of(row)]),
                  kCosine ? expected.cosine : expected.classifier);
    }
    const auto wrong = static_cast<double>(wrong_votes(s, confidence));
    return {worse(wrong, worse(states.value(), numbers.scaled(kFloatTolerance, kTolerance))),
            kTolerance, states.count() + numbers.count()};
  }

 private:
  static constexpr bool kCosine = Measure == Confidence::cosine;
  static constexpr float kEpsilon = 1e-6F;
  static constexpr double kTolerance = 1e-2;       // of the state, rounded to bf16
  static constexpr double kFloatTolerance = 1e-5;  // of factor and confidence

  struct Set {
    Set(const VotePlan& plan, std::uint64_t seed)
        : state(random_bf16(plan.rows * plan.depth, plan.size, seed), "state"),
          delta(random_bf16(plan.rows * plan.depth, plan.size * plan.step, seed + 1000), "delta"),
          other(kCosine ? state.download() : random_bf16(plan.depth, plan.weight, seed + 2000),
                "other"),
          fresh(count_of(plan.rows * plan.depth), "fresh"),
          factor(count_of(plan.rows), "factor"),
          confidence(count_of(plan.rows), "confidence"),
          exited(count_of(plan.rows), "exited"),
          status(std::vector<int>{1}, "status"),
          all_exited(std::size_t{1}, "all_exited") {
      if (plan.first_layer) return;
      before.resize(count_of(plan.rows));
      for (std::size_t i = 0; i < before.size(); ++i) before[i] = i % 3 == 0 ? 1 : 0;
      exited.upload(before);
    }
    DeviceArray<std::uint16_t> state, delta, other, fresh;
    DeviceArray<float> factor, confidence;
    DeviceArray<int> exited, status, all_exited;
    std::vector<int> before;
  };

  std::int64_t wrong_votes(const Set& s, const std::vector<float>& confidence) const {
    const auto exited = s.exited.download();
    std::int64_t wrong = 0;
    int all = 1;
    for (std::size_t i = 0; i < exited.size(); ++i) {
      const bool before = !plan_.first_layer && s.before[i] != 0;
      const int leaves = before || confidence[i] >= plan_.threshold ? 1 : 0;
      if (exited[i] != leaves) ++wrong;
      all &= leaves;
    }
    if (s.all_exited.download().front() != all) ++wrong;
    return wrong + (s.status.download().front() == 1 ? 0 : 1);
  }

  std::int64_t blocks() const { return rounded_up(plan_.rows, kVoteRows) / kVoteRows; }

  VotePlan plan_;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
