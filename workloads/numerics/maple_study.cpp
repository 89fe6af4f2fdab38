#include "workloads/numerics/maple_study.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "workloads/numerics/given_heads.hpp"
#include "workloads/numerics/maple_statements.hpp"
#include "workloads/numerics/maple_tables.hpp"

namespace tiersim::numerics {
namespace {

constexpr std::array kShares = {1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2};
// Share of rows at which ranks are compared: the paper's smallest, section 4.2.
constexpr double kShare = 1.0 / 8;
constexpr int kLayers = 2;

// Ranks of the comparison: 4, 8, 16, 32, 64 for a head_dim of 64.
std::vector<Index> ranks_of(Index head_dim) {
  std::vector<Index> out;
  for (Index rank = head_dim / 16; rank < head_dim; rank *= 2) out.push_back(rank);
  out.push_back(head_dim);
  return out;
}

// Measurements on a set of heads.
struct Results {
  std::vector<SweepPoint> by_budget;
  std::vector<SweepPoint> random;
  std::vector<std::vector<SweepPoint>> by_rank;  // one group for each method
  std::vector<SweepPoint> maple_float64;         // by rank
};

// All methods read the same screening bytes: a quarter of head_dim for each token and head.
std::vector<SelectionMethod> usual_methods(const std::vector<HeadCase>& heads) {
  const Index d = heads.front().sample.head_dim();
  std::vector<SelectionMethod> out{oracle_method(d)};
  // The third rank is a quarter of head_dim where 16 divides that.
  if (!heads.front().maple.empty()) out.push_back(maple_method(ranks_of(d)[2], 2));
  out.push_back(sparq_method(d / 8));
  out.push_back(loki_method(d / 8));
  out.push_back(quest_method(d, 16));
  if (heads.front().prompt_attention) out.push_back(h2o_method());
  out.push_back(streaming_method());
  return out;
}

// Measurements, made on as many threads as there are cores. They share nothing, so their order and
// values do not depend on the threads.
class Measurements {
 public:
  explicit Measurements(const std::vector<HeadCase>& heads) : heads_(heads) {}

  /// Called before run().
  void add(std::vector<SweepPoint>& to, SelectionMethod method, double share) {
    tasks_.push_back({&to, to.size(), std::move(method), share});
    to.emplace_back();
  }

  void run() {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < tasks_.size(); i = next++)
        (*tasks_[i].to)[tasks_[i].at] = measure(heads_, tasks_[i].method, tasks_[i].share);
    };
    std::vector<std::future<void>> others;
    for (unsigned k = 1; k < std::max(1U, std::thread::hardware_concurrency()); ++k)
      others.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& other : others) other.get();
  }

 private:
  struct Task {
    std::vector<SweepPoint>* to;
    std::size_t at;
    SelectionMethod method;
    double share;
  };
  const std::vector<HeadCase>& heads_;
  std::vector<Task> tasks_;
};

Results results_of(const std::vector<HeadCase>& heads) {
  Results out;
  Measurements measurements(heads);
  for (const SelectionMethod& method : usual_methods(heads))
    for (const double share : kShares) measurements.add(out.by_budget, method, share);
  for (const double share : kShares) measurements.add(out.random, random_method(), share);
  const Index d = heads.front().sample.head_dim();
  const std::vector<Index> ranks = ranks_of(d);
  std::vector<SweepPoint> maple;
  std::vector<SweepPoint> sparq;
  std::vector<SweepPoint> loki;
  std::vector<SweepPoint> quest;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!heads.front().maple.empty()) {
      measurements.add(maple, maple_method(ranks[i], i), kShare);
      measurements.add(out.maple_float64, maple_float64_method(ranks[i], i), kShare);
    }
    measurements.add(sparq, sparq_method(ranks[i]), kShare);
    measurements.add(loki, loki_method(ranks[i]), kShare);
  }
  for (Index page = 64; page >= 1; page /= 2)
    measurements.add(quest, quest_method(d, page), kShare);
  measurements.run();
  std::ranges::copy(out.random, std::back_inserter(out.by_budget));
  out.by_rank = {std::move(maple), std::move(sparq), std::move(loki), std::move(quest)};
  return out;
}

void add_curves(const Results& results, Study& study) {
  const auto by_share = [&](const char* id, const char* title, Figure figure) {
    study.curves.push_back(curve_of(id, title, results.by_budget, figure, Over::share));
  };
  by_share("recall_by_budget", "Recall of the highest scores, by budget", Figure::recall);
  by_share("mass_by_budget", "Attention on the chosen rows, by budget", Figure::mass);
  by_share("error_by_budget", "Relative error of the attention output, by budget", Figure::error);
  std::vector<SweepPoint> all;
  for (const auto& points : results.by_rank) std::ranges::copy(points, std::back_inserter(all));
  study.curves.push_back(curve_of("recall_by_bytes",
                                  "Recall by what screening reads, an eighth of the rows", all,
                                  Figure::recall, Over::bytes));
}

void add_tables(const std::vector<HeadCase>& heads, const Results& results, Study& study) {
  study.tables.push_back(table_of("selection_by_budget",
                                  fmt::format("Choice of rows by budget, {} heads", heads.size()),
                                  results.by_budget));
  study.tables.back().notes.emplace_back(
      "without the fine-tuning that MAPLE's accuracy is stated after (its equation 3): orderings "
      "between methods are those of these heads, and only the statements are claimed");
  std::vector<SweepPoint> by_rank;
  for (const auto& points : results.by_rank) std::ranges::copy(points, std::back_inserter(by_rank));
  study.tables.push_back(
      table_of("selection_by_rank", "Choice of an eighth of the rows, by rank", by_rank));
}

// Adds the tables, curves and statements that apply to any heads.
Results add_selection(const std::vector<HeadCase>& heads, Study& study) {
  Results results = results_of(heads);
  add_tables(heads, results, study);
  add_curves(results, study);
  study.statements.push_back(oracle_is_best(results.by_budget));
  study.statements.push_back(random_recall_is_the_share(results.random, heads));
  study.statements.push_back(full_rank_is_exact(
      "selection.sparq_all_components", "SparQ with every component chooses the oracle's rows",
      "the same scores", results.by_rank[1].back()));
  study.statements.push_back(full_rank_is_exact(
      "selection.loki_full_rank", "Loki with every coordinate chooses the oracle's rows",
      "Singhania et al. 2024, section 4: the basis is orthogonal", results.by_rank[2].back()));
  study.statements.push_back(full_rank_is_exact(
      "selection.quest_pages_of_one", "Quest with pages of one row chooses the oracle's rows",
      "smallest and largest key are the key", results.by_rank[3].back()));
  if (results.maple_float64.empty()) return results;

  std::vector<Int8Cost> costs;
  for (std::size_t i = 0; i < heads.front().maple.size(); ++i)
    costs.push_back(int8_cost(heads, i, kShare));
  study.tables.push_back(
      distillation_table(heads, results.maple_float64, results.by_rank[0], costs));
  study.curves.push_back(loss_curve(heads));
  study.statements.push_back(distilled_beats_identity(heads));
  study.statements.push_back(loss_falls_with_rank(heads));
  study.statements.push_back(int8_within_bound(costs));
  return results;
}

NeedleResult needle_result(const std::vector<HeadCase>& heads, const std::vector<Index>& needles,
                           const SelectionMethod& method, bool evicts, bool exact) {
  const HeadCase& head = heads.front();
  NeedleResult out{
      .name = method.name, .setting = method.setting, .evicts = evicts, .screens_exactly = exact};
  const SelectorPtr selector = method.make(head);
  std::vector<Quality> all;
  for (std::size_t i = 0; i < head.exact.size(); ++i) {
    const ExactStep& step = head.exact[i];
    const Index budget = rows_of(kShare, step.position + 1);
    const Choice choice =
        selector->choose({.position = step.position, .logits = step.logits, .budget = budget});
    if (std::ranges::binary_search(choice.rows, needles[i])) ++out.found;
    all.push_back(quality_of(head.sample, step, choice, budget));
  }
  out.mean = mean_of(all);
  return out;
}

std::vector<NeedleResult> needle_results(std::uint64_t seed) {
  const NeedleText text = needle_text(seed);
  const Index d = text.layer.heads.front().head_dim();
  const std::vector<HeadCase> heads = prepare(text.layer, {d / 4, d}, seed);
  const auto result = [&](const SelectionMethod& method, bool evicts, bool exact) {
    return needle_result(heads, text.needles, method, evicts, exact);
  };
  return {result(oracle_method(d), false, true),    result(maple_float64_method(d, 1), false, true),
          result(maple_method(d, 1), false, false), result(maple_method(d / 4, 0), false, false),
          result(sparq_method(1), false, true),     result(loki_method(d), false, true),
          result(loki_method(d / 4), false, false), result(quest_method(d, 16), false, true),
          result(h2o_method(), true, false),        result(streaming_method(), true, false)};
}

// MAPLE projects whole hidden states, the others start from keys. The size of features that no head
// reads therefore separates them, and no source states it.
Table unread_table(std::uint64_t seed, SyntheticSpec spec) {
  Table out{.id = "selection_by_unread",
            .title =
                "Attention on the chosen rows, an eighth, by the size of what heads barely "
                "read in hidden states (one layer)",
            .columns = columns_by_cells({"unread", "maple", "sparq", "loki", "quest"}),
            .rows = {},
            .notes = {"at the same screening bytes; an assumption that decides how well a random "
                      "projection does, so orderings between methods are no results"}};
  for (const double unread : {0.1, 0.3, 1.0}) {
    spec.unread = unread;
    const Index d = spec.head_dim;
    const std::vector<HeadCase> heads = prepare(synthetic_layer_data(spec, seed), {d / 4}, seed);
    Row row{unread};
    for (const SelectionMethod& method :
         {maple_method(d / 4, 0), sparq_method(d / 8), loki_method(d / 8), quest_method(d, 16)})
      row.emplace_back(measure(heads, method, kShare).mean().mass);
    out.rows.push_back(std::move(row));
  }
  return out;
}

// The heads of all layers. Each layer is made on a thread of its own.
std::vector<HeadCase> heads_of(const SyntheticSpec& spec, Rng& layers) {
  std::vector<std::future<std::vector<HeadCase>>> made;
  for (int layer = 0; layer < kLayers; ++layer)
    made.push_back(std::async(std::launch::async, [&spec, own = layers.next()] {
      return prepare(synthetic_layer_data(spec, own), ranks_of(spec.head_dim), own);
    }));
  std::vector<HeadCase> out;
  for (auto& layer : made) std::ranges::move(layer.get(), std::back_inserter(out));
  return out;
}

}  // namespace

Study maple_study(std::uint64_t seed) {
  return maple_study(seed, SyntheticSpec{});
}

Study maple_study(std::uint64_t seed, const SyntheticSpec& spec) {
  Rng layers(seed, "numerics.layers");
  const std::vector<HeadCase> heads = heads_of(spec, layers);
  Study study{.name = "maple", .tables = {}, .curves = {}, .statements = {}};
  study.tables.push_back(parameter_table(spec));
  study.tables.push_back(structure_table(heads));
  const Results results = add_selection(heads, study);
  study.tables.push_back(unread_table(layers.next(), spec));
  study.statements.push_back(full_rank_is_exact(
      "maple.full_rank",
      "MAPLE in float64 with as many columns of P as hidden channels and rank head_dim chooses the "
      "oracle's rows, on tokens it was not distilled on",
      "X P spans the hidden states, so M can be W_Q W_K^T", results.maple_float64.back()));
  study.statements.push_back(recall_rises(
      {results.maple_float64, results.by_rank[1], results.by_rank[2], results.by_rank[3]}));
  const std::vector<NeedleResult> needles = needle_results(layers.next());
  study.tables.push_back(needle_table(needles));
  study.statements.push_back(needles_need_the_whole_cache(needles));
  return study;
}

Expected<Study, std::vector<ArrayProblem>> given_heads_study(const GivenArrays& arrays,
                                                             std::uint64_t seed) {
  const auto layer = heads_from(arrays);
  if (!layer) return Unexpected(layer.error());
  const std::vector<HeadCase> heads =
      prepare(*layer, ranks_of(layer->heads.front().head_dim()), seed);
  Study study{.name = "given_heads", .tables = {}, .curves = {}, .statements = {}};
  study.tables.push_back(structure_table(heads));
  add_selection(heads, study);
  Table& table = study.tables[1];
  if (!arrays.x) table.notes.emplace_back("no hidden states are given, so no maple");
  if (!heads.front().prompt_attention)
    table.notes.emplace_back("the prompt's queries are not given, so no h2o");
  return study;
}

}  // namespace tiersim::numerics
