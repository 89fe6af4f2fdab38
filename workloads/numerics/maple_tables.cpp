#include "workloads/numerics/maple_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

double mean_over(const std::vector<HeadCase>& heads,
                 const std::function<double(const HeadCase&)>& figure) {
  double sum = 0;
  for (const HeadCase& head : heads) sum += figure(head);
  return sum / static_cast<double>(heads.size());
}

double mean_step(const HeadCase& head, const std::function<double(const ExactStep&)>& figure) {
  double sum = 0;
  for (const ExactStep& step : head.exact) sum += figure(step);
  return sum / static_cast<double>(head.exact.size());
}

// Number of directions that hold this share of the keys' variance.
double rank_at(const HeadCase& head, double share) {
  const Vector shares = variance_shares(head.sample.k, key_basis(head.sample.k));
  double sum = 0;
  Index rank = 0;
  while (rank < shares.size() && sum < share) sum += shares(rank++);
  return static_cast<double>(rank);
}

// Kurtosis: 3 for a normal distribution; above it few components are large. It is 1, as of equal
// components, where a query or its fourth powers are 0.
double kurtosis_of_queries(const HeadCase& head) {
  return mean_step(head, [&](const ExactStep& step) {
    const RowVector q = head.sample.query(step.position);
    const double square = q.array().square().mean();
    if (square * square == 0) return 1.0;
    return q.array().square().square().mean() / (square * square);
  });
}

double mass_of_highest(const ExactStep& step, double share) {
  double mass = 0;
  for (const Index row : highest(step.weights, rows_of(share, step.weights.size())))
    mass += step.weights(row);
  return mass;
}

double channel_mean_ratio(const HeadCase& head) {
  const RowVector mean = head.sample.k.colwise().mean();
  const Matrix centred = head.sample.k.rowwise() - mean;
  const double deviation = std::sqrt(centred.squaredNorm() / static_cast<double>(centred.size()));
  return mean.cwiseAbs().maxCoeff() / deviation;
}

}  // namespace

Table parameter_table(const SyntheticSpec& spec) {
  Table out{
      .id = "selection_parameters",
      .title = "Synthetic heads",
      .columns = columns_by_cells({"parameter", "value", "source"}),
      .rows = {},
      .notes = {"hidden states times W_Q, W_K, W_V, no rotary embedding; a head draws its own "
                "factors on the logits"}};
  for (const SyntheticParameter& parameter : parameters_of(spec))
    out.rows.push_back({parameter.name, parameter.value, parameter.source});
  return out;
}

Table structure_table(const std::vector<HeadCase>& heads) {
  Table out{.id = "selection_structure",
            .title = "What these heads look like",
            .columns = columns_by_cells({"figure", "mean", "least", "most"}),
            .rows = {}};
  const auto add = [&](const char* name, const std::function<double(const HeadCase&)>& figure) {
    std::vector<double> values;
    for (const HeadCase& head : heads) values.push_back(figure(head));
    const auto [least, most] = std::ranges::minmax(values);
    double sum = 0;
    for (const double value : values) sum += value;
    out.rows.push_back({name, sum / static_cast<double>(values.size()), least, most});
  };
  add("head_dim", [](const HeadCase& h) { return static_cast<double>(h.sample.head_dim()); });
  add("directions with 90 % of the keys' variance",
      [](const HeadCase& h) { return rank_at(h, 0.9); });
  add("largest channel mean of the keys, in standard deviations", channel_mean_ratio);
  add("kurtosis of the queries' components", kurtosis_of_queries);
  add("attention on the first 4 rows", [](const HeadCase& h) {
    return mean_step(h, [](const ExactStep& s) { return s.weights.head(4).sum(); });
  });
  add("attention on the newest 32 rows", [](const HeadCase& h) {
    return mean_step(h, [](const ExactStep& s) {
      return s.weights.tail(std::min<Index>(32, s.weights.size())).sum();
    });
  });
  add("attention on the highest 1/64 of the rows", [](const HeadCase& h) {
    return mean_step(h, [](const ExactStep& s) { return mass_of_highest(s, 1.0 / 64); });
  });
  add("attention on the highest 1/8 of the rows", [](const HeadCase& h) {
    return mean_step(h, [](const ExactStep& s) { return mass_of_highest(s, 1.0 / 8); });
  });
  return out;
}

Table distillation_table(const std::vector<HeadCase>& heads, const std::vector<SweepPoint>& float64,
                         const std::vector<SweepPoint>& int8, const std::vector<Int8Cost>& costs) {
  const std::size_t ranks = heads.front().maple.size();
  TS_EXPECTS(float64.size() == ranks && int8.size() == ranks && costs.size() == ranks, ranks);
  Table out{.id = "maple_distillation",
            .title = "MAPLE: distillation and eight bits, by rank",
            .columns = columns_by_cells({"rank", "columns of P", "loss", "held-out loss",
                                         "identity", "recall", "recall int8", "lost to int8",
                                         "in reach", "error of bound"}),
            .rows = {},
            .notes = {"loss: share of the squares of Q K^T, on the tokens distilled on and on "
                      "others; identity: W_q = W_k = I with its best factor, on others",
                      "recall of an eighth of the rows, of the exact scores; lost to int8: of the "
                      "float64 choice; in reach: what the rounding bound allows to be lost",
                      "a square P leaves X P ill-conditioned: W cancels large elements, and eight "
                      "bits for W (not for the keys) lose what the last rank gained"}};
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto mean = [&](double MapleFit::*loss) {
      return mean_over(heads, [&](const HeadCase& head) { return head.maple[i].*loss; });
    };
    const MapleFit& fit = heads.front().maple[i];
    out.rows.push_back({std::int64_t{fit.rank}, std::int64_t{fit.projected},
                        mean(&MapleFit::calibration_loss), mean(&MapleFit::held_out_loss),
                        mean(&MapleFit::identity_held_out_loss), float64[i].mean().recall,
                        int8[i].mean().recall, costs[i].lost, costs[i].at_risk,
                        costs[i].worst_of_bound});
  }
  return out;
}

Curve loss_curve(const std::vector<HeadCase>& heads) {
  Curve out{.id = "maple_loss_by_rank",
            .title = "MAPLE: share of Q K^T that is lost, by rank",
            .x_label = "rank",
            .y_label = "loss, share of squares",
            .lines = {}};
  const auto add = [&](const char* name, double MapleFit::*loss) {
    Line line{.name = name, .x = {}, .y = {}};
    for (std::size_t i = 0; i < heads.front().maple.size(); ++i) {
      line.x.push_back(static_cast<double>(heads.front().maple[i].rank));
      line.y.push_back(mean_over(heads, [&](const HeadCase& head) { return head.maple[i].*loss; }));
    }
    out.lines.push_back(std::move(line));
  };
  add("distilled", &MapleFit::calibration_loss);
  add("held out", &MapleFit::held_out_loss);
  add("identity", &MapleFit::identity_held_out_loss);
  return out;
}

Table needle_table(const std::vector<NeedleResult>& results) {
  Table out{.id = "selection_needles",
            .title =
                "A text whose needles move: each of 16 tokens is asked for once, late; an "
                "eighth of the rows",
            .columns = columns_by_cells(
                {"method", "setting", "needles found", "attention", "output error"}),
            .rows = {},
            .notes = {}};
  for (const NeedleResult& result : results)
    out.rows.push_back({result.name, result.setting, std::int64_t{result.found}, result.mean.mass,
                        result.mean.error});
  return out;
}

}  // namespace tiersim::numerics
