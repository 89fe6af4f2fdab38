// The language-model head as a case: both launches, every output against float64.
#pragma once
#include <memory>

#include "kernels/cases/early_exit_inputs.cuh"
#include "kernels/device/lm_head.cuh"
#include "kernels/device/lm_head_work.hpp"
#include "kernels/reference/early_exit.hpp"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {

struct HeadPlan {
  std::int64_t vocabulary = 0;
  std::int64_t tokens = 0;
  std::int64_t depth = 0;
  float deviation = 0.1F;   // of the hidden state
  bool equal_rows = false;  // true: all rows of the embedding are equal, so that all logits tie
  bool first_layer = true;  // true: flags of earlier layers do not count
  std::int64_t shared_bytes = -1;  // of a block; -1: as the layout states
};

template <int Rows, int Tokens, Mistake Planted = Mistake::none>
class HeadCase final : public Case {
 public:
  using Tile = TokenTile<Rows, Tokens>;
  using Layout = LmHeadLayout<Tile>;
  explicit HeadCase(HeadPlan plan) : plan_(plan) {}

  CaseInfo info() const override {
    return {"early_exit",
            "lm_head",
            "rows" + std::to_string(Rows) + "_tokens" + std::to_string(Tokens),
            "bf16",
            {{"vocabulary", plan_.vocabulary}, {"tokens", plan_.tokens}, {"depth", plan_.depth}},
            false};
  }
  Work work() const override {
    return lm_head_work(plan_.vocabulary, plan_.tokens, plan_.depth, Rows, Tokens) +
           lm_head_combine_work(tiles(), plan_.tokens, plan_.first_layer);
  }
  std::vector<LaunchUse> launches() const override {
    return {
        {"lm_head<" + std::to_string(Rows) + "," + std::to_string(Tokens) + ">",
         reinterpret_cast<const void*>(&lm_head<Rows, Tokens, Planted>), tiles() * token_tiles(),
         Tile::kThreads, Layout::kSharedBytes, Tile::kWeightBytesInFlight},
        {"lm_head_combine", reinterpret_cast<const void*>(&lm_head_combine<Planted>), vote_blocks(),
         kVoteThreads, kVoteBytes, 16 * kVoteThreads * 8}};
  }
  std::int64_t set_bytes() const override { return work().read_bytes + work().written_bytes; }

  void prepare(int sets, std::uint64_t seed) override {
    sets_.clear();
    for (int set = 0; set < sets; ++set) {
      sets_.push_back(std::make_unique<Set>(plan_, tiles(), seed + count_of(set)));
    }
  }

  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[count_of(set)];
    const auto vocabulary = static_cast<int>(plan_.vocabulary);
    const auto tokens = static_cast<int>(plan_.tokens);
    const std::int64_t shared = plan_.shared_bytes < 0 ? Layout::kSharedBytes : plan_.shared_bytes;
    launch(stream, &lm_head<Rows, Tokens, Planted>,
           {dim3(static_cast<unsigned>(token_tiles()), static_cast<unsigned>(tiles())),
            dim3(Tile::kThreads), count_of(shared)},
           as_bf16(s.embedding), as_bf16(s.hidden), vocabulary, tokens,
           static_cast<int>(plan_.depth), s.partials.data());
    launch_early(
        stream, &lm_head_combine<Planted>,
        {dim3(static_cast<unsigned>(vote_blocks())), dim3(kVoteThreads), kVoteBytes},
        s.partials.data(), static_cast<int>(tiles()), tokens,
        HeadResult{s.best.data(), s.probability.data(), s.difference.data(), s.log_sum.data()},
        ExitState{s.exited.data(), s.status.data(), kThreshold, plan_.first_layer});
  }

  Agreement check(int set) override {
    const Set& s = *sets_[count_of(set)];
    const auto embedding = s.embedding.download();
    const auto hidden = s.hidden.download();
    const auto best = s.best.download();
    const auto probability = s.probability.download();
    const auto difference = s.difference.download();
    const auto log_sum = s.log_sum.download();
    RelativeError p, d, l;
    std::int64_t wrong = wrong_votes(s, difference);
    for (const std::int64_t token : sample_of(plan_.tokens, 16, 1)) {
      const HeadReference expected =
          head_reference(embedding.data(), count_of(plan_.vocabulary), count_of(plan_.depth),
                         hidden.data() + token * plan_.depth);
      const std::size_t t = count_of(token);
      wrong += is_best(expected, best[t]) ? 0 : 1;
      p.add(static_cast<double>(probability[t]), expected.probability);
      // Relative to the probability, since near a tie the difference itself is 0.
      d.add(static_cast<double>(difference[t]) - expected.difference + expected.probability,
            expected.probability);
      l.add(static_cast<double>(log_sum[t]), expected.log_sum);
    }
    return {worse(static_cast<double>(wrong), worse(d.value(), worse(p.value(), l.value()))),
            kTolerance, 3 * p.count()};
  }

 private:
  static constexpr float kThreshold = 0.5F;
  static constexpr double kTolerance = 1e-3;  // products of bf16 summed in fp32, then exponentials

  struct Set {
    Set(const HeadPlan& plan, std::int64_t tiles, std::uint64_t seed)
        : embedding(make_embedding(plan, seed), "embedding"),
          hidden(random_bf16(plan.tokens * plan.depth, plan.deviation, seed + 1000), "hidden"),
          partials(count_of(plan.tokens * tiles), "partials"),
          best(count_of(plan.tokens), "best"),
          probability(count_of(plan.tokens), "probability"),
          difference(count_of(plan.tokens), "difference"),
          log_sum(count_of(plan.tokens), "log_sum"),
          exited(count_of(plan.tokens), "exited"),
          status(std::vector<int>{1}, "status") {
      if (plan.first_layer) return;
      before.resize(count_of(plan.tokens));
      for (std::size_t i = 0; i < before.size(); ++i) before[i] = i % 3 == 0 ? 1 : 0;
      exited.upload(before);
    }
    DeviceArray<std::uint16_t> embedding, hidden;
    DeviceArray<uint4> partials;
    DeviceArray<int> best;
    DeviceArray<float> probability, difference, log_sum;
    DeviceArray<int> exited, status;
    std::vector<int> before;
  };

  // Rows 1/3 and 2/3 of the vocabulary are equal and four times as long as others, so that two best
  // rows tie for most tokens with a positive logit there.
  static std::vector<std::uint16_t> make_embedding(const HeadPlan& plan, std::uint64_t seed) {
    auto rows = random_bf16(plan.vocabulary * plan.depth, 1.0F, seed);
    const auto copy_row = [&](std::int64_t from, std::int64_t to) {
      std::copy_n(rows.begin() + from * plan.depth, plan.depth, rows.begin() + to * plan.depth);
    };
    if (plan.equal_rows) {
      for (std::int64_t row = 1; row < plan.vocabulary; ++row) copy_row(0, row);
    } else {
      const std::int64_t row = plan.vocabulary / 3;
      for (std::int64_t k = row * plan.depth; k < (row + 1) * plan.depth; ++k) {
        std::uint16_t& bits = rows[count_of(k)];
        bits = bits_of(__float2bfloat16(4.0F * std::bit_cast<float>(unsigned{bits} << 16U)));
      }
      copy_row(row, plan.vocabulary * 2 / 3);
    }
    return rows;
  }

  // True for the reference's best, and for one whose logit differs by less than the accuracy of
  // fp32 sums. Equal logits are equal in both, so that ties must give the lowest index.
  static bool is_best(const HeadReference& expected, int got) {
    if (got == expected.best) return true;
    if (got < 0 || count_of(got) >= expected.logits.size()) return false;
    const double top = expected.logits[count_of(expected.best)];
    const double gap = top - expected.logits[count_of(got)];
    return gap > 0 && gap < 1e-6 * std::abs(top);
  }

  std::int64_t wrong_votes(const Set& s, const std::vector<float>& difference) const {
    const auto exited = s.exited.download();
    std::int64_t wrong = 0;
    int all = 1;
    for (std::size_t i = 0; i < exited.size(); ++i) {
      const bool before = !plan_.first_layer && s.before[i] != 0;
      const int leaves = before || difference[i] >= kThreshold ? 1 : 0;
      if (exited[i] != leaves) ++wrong;
      all &= leaves;
    }
    return wrong + (s.status.download().front() == all ? 0 : 1);
  }

  std::int64_t tiles() const { return rounded_up(plan_.vocabulary, Rows) / Rows; }
  std::int64_t token_tiles() const { return rounded_up(plan_.tokens, Tokens) / Tokens; }
  std::int64_t vote_blocks() const { return rounded_up(plan_.tokens, kVoteRows) / kVoteRows; }

  HeadPlan plan_;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
