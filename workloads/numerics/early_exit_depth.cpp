#include "workloads/numerics/early_exit_depth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tiersim::numerics {
namespace {

constexpr std::array<int, 7> kBatches = {1, 2, 4, 8, 16, 32, 64};
constexpr int kDraws = 2000;

std::vector<double> thresholds(Measure measure) {
  switch (measure) {
    case Measure::softmax:
      return {0.1, 0.3, 0.5, 0.7, 0.85};
    case Measure::state:
      return {0.8, 0.9, 0.95, 0.98, 0.99};
    case Measure::classifier:
      break;
  }
  return {0.3, 0.5, 0.7, 0.8, 0.9};
}

// The threshold of the curves and batches.
double middle_threshold(Measure measure) {
  return thresholds(measure)[2];
}

std::vector<std::vector<double>> all_confidences(const EarlyExitSample& sample, Measure measure) {
  std::vector<std::vector<double>> out;
  for (const DecodedToken& token : sample.tokens) {
    out.push_back(confidences(sample.decoder, sample.rule(measure, 0), token.states));
  }
  return out;
}

std::vector<Index> accepted_at(const std::vector<std::vector<double>>& all, double threshold) {
  std::vector<Index> out;
  for (const std::vector<double>& c : all) out.push_back(first_accepted(c, threshold));
  return out;
}

// Probability that all of a batch leave, from the probability p of one token.
double to_the_power(double p, int batch) {
  double all = 1;
  for (int i = 0; i < batch; ++i) all *= p;
  return all;
}

Index depth_of(Index accepted, Index layers) {
  return accepted == 0 ? layers : accepted;
}

Table confidence_table(const EarlyExitSample& sample) {
  Table table{.id = "early_exit_confidence",
              .title = fmt::format("Confidence by layer, mean of {} tokens", sample.tokens.size()),
              .columns = columns_by_cells(
                  {"layer", "softmax", "state", "classifier", "best token is the last's"}),
              .rows = {},
              .notes = {"random weights whose layers add 0.75 times as much each, so that states "
                        "settle; the classifier is a logistic regression on other tokens"}};
  const auto count = static_cast<double>(sample.tokens.size());
  for (Index layer = 1; layer <= sample.layers(); ++layer) {
    Row row = {std::int64_t{layer}};
    for (const Measure measure : all_measures()) {
      double sum = 0;
      for (const std::vector<double>& c : all_confidences(sample, measure)) {
        sum += c[static_cast<std::size_t>(layer - 1)];
      }
      row.emplace_back(sum / count);
    }
    double same = 0;
    for (const DecodedToken& token : sample.tokens) {
      same += best_token(sample.decoder, token.states[static_cast<std::size_t>(layer)]) ==
                      best_token(sample.decoder, token.states.back())
                  ? 1
                  : 0;
    }
    row.emplace_back(same / count);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table depth_table(const EarlyExitSample& sample) {
  Table table{
      .id = "early_exit_depth",
      .title = fmt::format("Layers run of {} by a batch of independent tokens", sample.layers()),
      .columns = columns_by_cells({"measure", "threshold", "never accepted"}),
      .rows = {},
      .notes = {"by the distribution of one token's first accepted layer over {} tokens; "
                "skipped is the share of layers not run, as the paper counts its early-exit "
                "rate (half of the layers is 50 %)",
                "Status of Algorithm 1 is one a sequence; the paper's box gives it the "
                "number of layers as length, and no output_layer where one is never "
                "accepted: all layers here"}};
  table.notes[0] = fmt::format(fmt::runtime(table.notes[0]), sample.tokens.size());
  for (const int batch : kBatches) table.columns.push_back({fmt::format("batch {}", batch)});
  table.columns.insert(table.columns.end(), {{"skipped at 1"}, {"skipped at 64"}});
  for (const Measure measure : all_measures()) {
    const std::vector<std::vector<double>> all = all_confidences(sample, measure);
    for (const double threshold : thresholds(measure)) {
      const std::vector<Index> accepted = accepted_at(all, threshold);
      const DepthDistribution p = depth_distribution(accepted, sample.layers());
      const auto never = std::count(accepted.begin(), accepted.end(), 0);
      Row row = {std::string(name_of(measure)), threshold,
                 static_cast<double>(never) / static_cast<double>(accepted.size())};
      for (const int batch : kBatches) row.emplace_back(expected_depth(p, batch));
      const auto n = static_cast<double>(sample.layers());
      row.emplace_back(1 - expected_depth(p, 1) / n);
      row.emplace_back(1 - expected_depth(p, 64) / n);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Curve depth_curve(const EarlyExitSample& sample) {
  Curve curve{.id = "early_exit_depth",
              .title = "Layers run by a batch",
              .x_label = "sequences in the batch",
              .y_label = "mean layers",
              .lines = {}};
  for (const Measure measure : all_measures()) {
    const double threshold = middle_threshold(measure);
    const DepthDistribution p = depth_distribution(
        accepted_at(all_confidences(sample, measure), threshold), sample.layers());
    Line line{.name = fmt::format("{} > {}", name_of(measure), threshold), .x = {}, .y = {}};
    for (const int batch : kBatches) {
      line.x.push_back(batch);
      line.y.push_back(expected_depth(p, batch));
    }
    curve.lines.push_back(std::move(line));
  }
  return curve;
}

// Compares algorithm 1 on whole batches with each sequence alone.
Statement batch_rule(const EarlyExitSample& sample) {
  int batches = 0;
  int right = 0;
  int fell_back = 0;
  for (const Measure measure : all_measures()) {
    const double threshold = middle_threshold(measure);
    std::size_t next = 0;
    for (const std::size_t size : {1U, 2U, 3U, 4U, 8U, 16U}) {
      std::vector<RowVector> states;
      std::vector<Sequence> batch;
      Index deepest = 0;
      for (std::size_t i = 0; i < size; ++i, ++next) {
        const DecodedToken& token = sample.tokens[next % sample.tokens.size()];
        states.push_back(token.states.front());
        batch.push_back(token.before);
        const std::vector<double> c =
            confidences(sample.decoder, sample.rule(measure, threshold), token.states);
        const Index first = first_accepted(c, threshold);
        deepest = std::max(deepest, depth_of(first, sample.layers()));
        if (first > 0 && *std::min_element(c.begin() + first - 1, c.end()) <= threshold)
          ++fell_back;
      }
      const BatchStep step =
          step_batch(sample.decoder, sample.rule(measure, threshold), states, batch);
      ++batches;
      right += step.output_layer == deepest ? 1 : 0;
    }
  }
  return {.id = "early_exit.batch_rule",
          .says =
              "a batch leaves at the largest of its sequences' first accepted layers, and a "
              "sequence once accepted stays so",
          .source = "early exit, section 3.1 and Algorithm 1",
          .found = fmt::format("{} of {} batches of 1 to 16; {} of their sequences were less "
                               "confident again later",
                               right, batches, fell_back),
          .exact = true,
          .holds = right == batches};
}

Statement monotone(const EarlyExitSample& sample) {
  std::int64_t compared = 0;
  std::int64_t earlier = 0;
  for (const Measure measure : all_measures()) {
    const std::vector<std::vector<double>> all = all_confidences(sample, measure);
    std::vector<Index> before(all.size(), 0);
    for (const double threshold : thresholds(measure)) {
      const std::vector<Index> accepted = accepted_at(all, threshold);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Index depth = depth_of(accepted[i], sample.layers());
        earlier += depth < before[i] ? 1 : 0;
        before[i] = depth;
        ++compared;
      }
    }
  }
  return {.id = "early_exit.monotone",
          .says = "a larger threshold never lets a token leave earlier",
          .source = "early exit, section 2.1",
          .found = fmt::format("earlier in {} of {} comparisons", earlier, compared),
          .exact = true,
          .holds = earlier == 0};
}

Statement limits(const EarlyExitSample& sample) {
  bool holds = true;
  for (const Measure measure : all_measures()) {
    const std::vector<std::vector<double>> all = all_confidences(sample, measure);
    // A cosine may be negative; the others are above 0 unless two logits are equal.
    const double lowest = measure == Measure::state ? -1.0 : 0.0;
    for (const Index accepted : accepted_at(all, lowest)) holds = holds && accepted == 1;
    for (const Index accepted : accepted_at(all, 1.0)) holds = holds && accepted == 0;
  }
  return {.id = "early_exit.limits",
          .says = "the lowest threshold leaves after one layer, a threshold of 1 never",
          .source = "early exit, section 2.1",
          .found = fmt::format("all of {} tokens, three measures", sample.tokens.size()),
          .exact = true,
          .holds = holds};
}

// Compares the depth of batches, drawn with replacement from the tokens, with the product formula.
// A frequency over N draws has standard deviation sqrt(p (1 - p) / N). With 3 x 7 x 8 comparisons
// at a limit of 5 of them, 1 run in 10000 would fail by chance.
Statement distribution(const EarlyExitSample& sample, std::uint64_t seed) {
  Rng rng(seed, "early exit batches");
  double worst = 0;
  bool holds = true;
  for (const Measure measure : all_measures()) {
    const std::vector<Index> accepted =
        accepted_at(all_confidences(sample, measure), middle_threshold(measure));
    const DepthDistribution p = depth_distribution(accepted, sample.layers());
    for (const int batch : kBatches) {
      std::vector<int> at_most(p.size(), 0);
      for (int draw = 0; draw < kDraws; ++draw) {
        Index depth = 0;
        for (int i = 0; i < batch; ++i) {
          depth = std::max(depth, depth_of(accepted[rng.below(accepted.size())], sample.layers()));
        }
        for (auto l = static_cast<std::size_t>(depth); l < p.size(); ++l) ++at_most[l];
      }
      for (std::size_t l = 0; l < p.size(); ++l) {
        const double expected = to_the_power(p[l], batch);
        const double gap = std::abs(at_most[l] / static_cast<double>(kDraws) - expected);
        const double deviation = std::sqrt(expected * (1 - expected) / kDraws);
        // Plus half a draw, since a frequency is a multiple of 1 / N.
        holds = holds && gap <= 5 * deviation + 0.5 / kDraws;
        if (deviation > 0) worst = std::max(worst, gap / deviation);
      }
    }
  }
  return {.id = "early_exit.depth_of_independent_rows",
          .says = "P(batch leaves by layer l) is P(token leaves by l) to the power of the batch",
          .source = "maximum of independent draws",
          .found =
              fmt::format("largest distance {:.2g} standard deviations of {} draws", worst, kDraws),
          .exact = false,
          .holds = holds};
}

}  // namespace

DepthDistribution depth_distribution(const std::vector<Index>& accepted_at, Index layers) {
  DepthDistribution p(static_cast<std::size_t>(layers) + 1, 0.0);
  for (const Index accepted : accepted_at) {
    for (auto l = static_cast<std::size_t>(depth_of(accepted, layers)); l < p.size(); ++l)
      p[l] += 1;
  }
  for (double& v : p) v /= static_cast<double>(accepted_at.size());
  return p;
}

double expected_depth(const DepthDistribution& distribution, int batch) {
  double depth = 0;
  for (std::size_t l = 0; l + 1 < distribution.size(); ++l) {
    depth += 1 - to_the_power(distribution[l], batch);
  }
  return depth;
}

void add_depth_study(const EarlyExitSample& sample, std::uint64_t seed, Study& study) {
  study.tables.push_back(confidence_table(sample));
  study.tables.push_back(depth_table(sample));
  study.curves.push_back(depth_curve(sample));
  study.statements.push_back(batch_rule(sample));
  study.statements.push_back(monotone(sample));
  study.statements.push_back(limits(sample));
  study.statements.push_back(distribution(sample, seed));
}

}  // namespace tiersim::numerics
