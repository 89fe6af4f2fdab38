#include "workloads/numerics/recall_at_budget.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "workloads/numerics/selection_methods.hpp"
#include "workloads/numerics/selection_sweep.hpp"

namespace tiersim::numerics {
namespace {

constexpr int kRecallLayers = 2;  // as maple_study

// Number of components of a head for this share; empty where it is not whole, is 0, or is too
// large.
std::optional<Index> components_of(double share) {
  const Index head_dim = SyntheticSpec{}.head_dim;
  const double exact = share * static_cast<double>(head_dim);
  const auto whole = static_cast<Index>(std::llround(exact));
  if (std::abs(exact - static_cast<double>(whole)) > 1e-9 || whole < 1 || whole > head_dim)
    return std::nullopt;
  return whole;
}

std::optional<SelectionMethod> method_of(const RecallQuestion& question,
                                         const std::set<Index>& ranks) {
  const Index head_dim = SyntheticSpec{}.head_dim;
  if (question.method == "h2o") return h2o_method();
  if (question.method == "streaming_llm") return streaming_method();
  if (question.method == "quest")
    return question.page > 0 ? std::optional(quest_method(head_dim, question.page)) : std::nullopt;
  const auto components = components_of(question.rank_share);
  if (!components) return std::nullopt;
  if (question.method == "sparq") return sparq_method(*components);
  if (question.method == "loki") return loki_method(*components);
  if (question.method != "maple") return std::nullopt;
  const auto place =
      static_cast<std::size_t>(std::distance(ranks.begin(), ranks.find(*components)));
  return maple_method(*components, place);
}

std::vector<HeadCase> heads_of(const std::set<Index>& ranks, std::uint64_t seed) {
  Rng layers(seed, "numerics.layers");
  std::vector<HeadCase> heads;
  for (int layer = 0; layer < kRecallLayers; ++layer) {
    const std::uint64_t own = layers.next();
    std::ranges::move(prepare(synthetic_layer_data({}, own), {ranks.begin(), ranks.end()}, own,
                              FitLosses::left_out),
                      std::back_inserter(heads));
  }
  return heads;
}

}  // namespace

RecallHeads recall_heads() {
  const SyntheticSpec spec;
  return {.heads = kRecallLayers * spec.heads, .head_dim = spec.head_dim, .tokens = spec.tokens};
}

std::vector<std::optional<RecallAnswer>> recall_at_budget(
    const std::vector<RecallQuestion>& questions, std::uint64_t seed) {
  std::set<Index> ranks;
  for (const RecallQuestion& question : questions)
    if (const auto components = components_of(question.rank_share);
        question.method == "maple" && components)
      ranks.insert(*components);
  std::vector<std::optional<RecallAnswer>> out(questions.size());
  std::vector<HeadCase> heads;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const RecallQuestion& question = questions[i];
    const auto method = method_of(question, ranks);
    if (!method || !(question.share > 0) || question.share > 1) continue;
    if (heads.empty()) heads = heads_of(ranks, seed);
    const SweepPoint point = measure(heads, *method, question.share, Measured::recall);
    out[i] = RecallAnswer{.setting = method->setting,
                          .recall = point.mean().recall,
                          .deviation = point.deviation().recall};
  }
  return out;
}

}  // namespace tiersim::numerics
