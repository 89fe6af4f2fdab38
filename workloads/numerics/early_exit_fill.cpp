#include "workloads/numerics/early_exit_fill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "workloads/numerics/rounding.hpp"

namespace tiersim::numerics {
namespace {

constexpr std::size_t kBatch = 4;
constexpr std::size_t kTokens = 96;  // number of tokens in the mean errors

RowVector last_row(const Matrix& rows) {
  return rows.row(rows.rows() - 1);
}

// Keys and values of one state at the layers after `exit`, with the weights of all layers stacked
// into one product, as in the paper.
RowVector stacked_product(const Decoder& decoder, Index exit, const RowVector& state) {
  const Index inner = decoder.sizes.heads * decoder.sizes.head;
  const Index skipped = decoder.sizes.layers - exit;
  Matrix weights(decoder.sizes.depth, 2 * inner * skipped);
  for (Index i = 0; i < skipped; ++i) {
    const DecoderLayer& layer = decoder.layers[static_cast<std::size_t>(exit + i)];
    weights.middleCols(2 * inner * i, inner) = layer.key;
    weights.middleCols(2 * inner * i + inner, inner) = layer.value;
  }
  return normalised(decoder, state) * weights;
}

RowVector filled_rows(const Decoder& decoder, Index exit, const Sequence& sequence) {
  const Index inner = decoder.sizes.heads * decoder.sizes.head;
  RowVector out(2 * inner * (decoder.sizes.layers - exit));
  for (Index layer = exit; layer < decoder.sizes.layers; ++layer) {
    const KvRows& rows = sequence.self[static_cast<std::size_t>(layer)];
    out.segment(2 * inner * (layer - exit), inner) = last_row(rows.keys);
    out.segment(2 * inner * (layer - exit) + inner, inner) = last_row(rows.values);
  }
  return out;
}

// A threshold at which a batch leaves after a few layers, so that some layers are filled.
double shallow_threshold(const EarlyExitSample& sample, std::size_t first) {
  double threshold = 1;
  for (std::size_t i = 0; i < kBatch; ++i) {
    const std::vector<double> c = confidences(sample.decoder, sample.rule(Measure::state, 0),
                                              sample.tokens[first + i].states);
    threshold = std::min(threshold, c[static_cast<std::size_t>(sample.layers()) / 2 - 1]);
  }
  return 0.999 * threshold;
}

Statement fill_statement(const EarlyExitSample& sample, Rng& rng) {
  const Decoder& decoder = sample.decoder;
  double projected = 0;  // largest |filled - product| over the rounding bound
  double decoded = 0;
  std::string depths;
  for (std::size_t first = 0; first < 4 * kBatch; first += kBatch) {
    std::vector<RowVector> states;
    std::vector<Sequence> batch;
    for (std::size_t i = 0; i < kBatch; ++i) {
      states.push_back(sample.tokens[first + i].states.front());
      batch.push_back(sample.tokens[first + i].before);
    }
    std::vector<Sequence> reference = batch;
    const BatchStep step = step_batch(
        decoder, sample.rule(Measure::state, shallow_threshold(sample, first)), states, batch);
    depths += fmt::format("{}{}", depths.empty() ? "" : ", ", step.output_layer);
    for (std::size_t i = 0; i < kBatch; ++i) {
      if (step.output_layer < sample.layers()) {
        const RowVector product = stacked_product(decoder, step.output_layer, step.states[i]);
        const RowVector filled = filled_rows(decoder, step.output_layer, batch[i]);
        // Bound of two sums of `depth` products of a state of mean square 1, in any order.
        const double allowed = 2 * rounding_bound(decoder.sizes.depth) *
                               std::sqrt(static_cast<double>(decoder.sizes.depth)) *
                               decoder.layers.front().key.norm() * 2;
        projected = std::max(projected, (product - filled).cwiseAbs().maxCoeff() / allowed);
      }
      // The reference stores those projections itself; then both decode one more token.
      step_to(decoder, step.output_layer, states[i], reference[i]);
      const RowVector token = random_token(rng, decoder);
      const RowVector got = step_to(decoder, sample.layers(), token, batch[i]);
      const RowVector want = step_to(decoder, sample.layers(), token, reference[i]);
      decoded = std::max(decoded, (got - want).cwiseAbs().maxCoeff());
    }
  }
  return {
      .id = "early_exit.kv_fill",
      .says =
          "keys and values of skipped layers are projections of the exit's hidden state, and "
          "decoding goes on as over a cache that stores those",
      .source = "early exit, section 3.2 and Algorithm 1, lines 9 to 11",
      .found = fmt::format("batches of {} leaving at layers {}: {:.2g} of what rounding allows; "
                           "the next token differs by {}",
                           kBatch, depths, projected, decoded),
      .exact = true,
      .holds = projected <= 1 && decoded == 0};
}

struct FillError {
  double keys = 0;
  double values = 0;
  double next = 0;  // error of the next token's hidden state at full depth
  double same = 0;  // share of next tokens that are the same
};

FillError fill_error(const EarlyExitSample& sample, Index exit, std::uint64_t seed) {
  const Decoder& decoder = sample.decoder;
  Rng rng(seed, "early exit next tokens");  // the same tokens at every exit
  const std::size_t count = std::min(kTokens, sample.tokens.size());
  const auto n = static_cast<double>(count);
  FillError sum;
  for (std::size_t i = 0; i < count; ++i) {
    const DecodedToken& token = sample.tokens[i];
    Sequence full = token.before;
    Sequence early = token.before;
    step_to(decoder, sample.layers(), token.states.front(), full);
    step_to(decoder, exit, token.states.front(), early);
    const auto skipped = static_cast<double>(sample.layers() - exit);
    for (auto layer = static_cast<std::size_t>(exit); layer < full.self.size(); ++layer) {
      sum.keys +=
          relative_error(last_row(full.self[layer].keys), last_row(early.self[layer].keys)) /
          (n * skipped);
      sum.values +=
          relative_error(last_row(full.self[layer].values), last_row(early.self[layer].values)) /
          (n * skipped);
    }
    const RowVector next = random_token(rng, decoder);
    const RowVector want = step_to(decoder, sample.layers(), next, full);
    const RowVector got = step_to(decoder, sample.layers(), next, early);
    sum.next += relative_error(want, got) / n;
    sum.same += best_token(decoder, want) == best_token(decoder, got) ? 1 / n : 0;
  }
  return sum;
}

}  // namespace

void add_fill_study(const EarlyExitSample& sample, std::uint64_t seed, Study& study) {
  Rng rng(seed, "early exit fill");
  study.statements.push_back(fill_statement(sample, rng));

  Table table{.id = "early_exit_fill",
              .title = fmt::format("Filled keys and values against those of all {} layers, mean of "
                                   "{} tokens",
                                   sample.layers(), std::min(kTokens, sample.tokens.size())),
              .columns = columns_by_cells({"exit after layer", "error of keys", "error of values",
                                           "error of the next state", "next token is the same"}),
              .rows = {},
              .notes = {"relative errors, keys and values over the skipped layers; those of the "
                        "first skipped layer are exact, since it would have projected the same "
                        "state; the next token runs all layers, with 1 of the 3 tokens before it "
                        "filled"}};
  Curve curve{.id = "early_exit_fill",
              .title = "Error of filled keys and values",
              .x_label = "exit after layer",
              .y_label = "relative error",
              .lines = {{.name = "keys", .x = {}, .y = {}},
                        {.name = "values", .x = {}, .y = {}},
                        {.name = "next state", .x = {}, .y = {}}}};
  bool falls = true;
  for (Index exit = 1; exit < sample.layers(); ++exit) {
    const FillError e = fill_error(sample, exit, seed);
    table.rows.push_back({std::int64_t{exit}, e.keys, e.values, e.next, e.same});
    for (Line& line : curve.lines) line.x.push_back(static_cast<double>(exit));
    const std::array<double, 3> errors = {e.keys, e.values, e.next};
    for (std::size_t i = 0; i < errors.size(); ++i) {
      Line& line = curve.lines[i];
      falls = falls && (line.y.empty() || errors[i] < line.y.back());
      line.y.push_back(errors[i]);
    }
  }
  study.statements.push_back(
      {.id = "early_exit.saturation",
       .says = "the deeper the exit, the closer are filled keys and values to the full model's",
       .source = "early exit, section 3.2 (states saturate)",
       .found =
           fmt::format("error of keys {:.3g} after layer 1, {:.3g} after layer {}; of the next "
                       "state {:.3g} and {:.3g}",
                       curve.lines[0].y.front(), curve.lines[0].y.back(), sample.layers() - 1,
                       curve.lines[2].y.front(), curve.lines[2].y.back()),
       .exact = false,
       .holds = falls});
  study.tables.push_back(std::move(table));
  study.curves.push_back(std::move(curve));
}

}  // namespace tiersim::numerics
