#include "workloads/numerics/selection_quality.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace tiersim::numerics {

std::vector<ExactStep> exact_steps(const AttentionSample& sample) {
  std::vector<ExactStep> out;
  for (Index position = sample.decode_from; position < sample.tokens(); ++position) {
    ExactStep step{.position = position,
                   .logits = exact_logits(sample, position),
                   .weights = {},
                   .output = {},
                   .mean = sample.v.topRows(position + 1).colwise().mean()};
    step.weights = softmax(step.logits);
    step.output = step.weights * sample.v.topRows(position + 1);
    out.push_back(std::move(step));
  }
  return out;
}

Index rows_of(double share, Index rows) {
  TS_EXPECTS(share > 0 && share <= 1, share);
  return std::clamp<Index>(static_cast<Index>(std::ceil(share * static_cast<double>(rows))), 1,
                           rows);
}

namespace {

double recall_of(const ExactStep& exact, const Choice& choice, Index budget) {
  TS_EXPECTS(std::ssize(choice.rows) <= budget && !choice.rows.empty(), choice.rows.size(), budget);
  const std::vector<Index> best = highest(exact.logits, budget);
  std::vector<Index> both;
  std::ranges::set_intersection(best, choice.rows, std::back_inserter(both));
  return static_cast<double>(both.size()) / static_cast<double>(budget);
}

}  // namespace

Quality quality_of(const AttentionSample& sample, const ExactStep& exact, const Choice& choice,
                   Index budget) {
  Quality out{.recall = recall_of(exact, choice, budget)};
  // A separate softmax over the chosen rows, since all their exact weights may be 0.
  RowVector logits(std::ssize(choice.rows));
  for (Index i = 0; i < logits.size(); ++i) {
    const Index row = choice.rows[static_cast<std::size_t>(i)];
    logits(i) = exact.logits(row);
    out.mass += exact.weights(row);
  }
  const RowVector weights = softmax(logits);
  RowVector output = (1 - choice.attended) * exact.mean;
  for (Index i = 0; i < logits.size(); ++i)
    output += choice.attended * weights(i) * sample.v.row(choice.rows[static_cast<std::size_t>(i)]);
  const double size = exact.output.norm();
  out.error = size == 0 ? output.norm() : (output - exact.output).norm() / size;
  return out;
}

std::vector<Quality> qualities(const AttentionSample& sample, const std::vector<ExactStep>& exact,
                               Selector& selector, double share, Measured measured) {
  std::vector<Quality> out;
  for (const ExactStep& step : exact) {
    const Index budget = rows_of(share, step.position + 1);
    const Choice choice =
        selector.choose({.position = step.position, .logits = step.logits, .budget = budget});
    out.push_back(measured == Measured::all ? quality_of(sample, step, choice, budget)
                                            : Quality{.recall = recall_of(step, choice, budget)});
  }
  return out;
}

Quality mean_of(const std::vector<Quality>& all) {
  Quality sum;
  for (const Quality& one : all) {
    sum.recall += one.recall;
    sum.mass += one.mass;
    sum.error += one.error;
  }
  const double count = static_cast<double>(all.size());
  return {.recall = sum.recall / count, .mass = sum.mass / count, .error = sum.error / count};
}

}  // namespace tiersim::numerics
