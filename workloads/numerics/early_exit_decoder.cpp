#include "workloads/numerics/early_exit_decoder.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {
namespace {

Matrix projection(Rng& rng, Index rows, Index columns) {
  return random_normal(rng, rows, columns) / std::sqrt(static_cast<double>(rows));
}

// The tanh form of T5 v1.1: x / (1 + e^-2y) equals x (1 + tanh y) / 2.
double gelu(double x) {
  const double y = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  if (y < -300) return 0;
  return y > 300 ? x : x / (1 + portable_exp(-2 * y));
}

void append_row(Matrix& rows, const RowVector& row) {
  Matrix longer(rows.rows() + 1, row.size());
  if (rows.rows() > 0) longer.topRows(rows.rows()) = rows;
  longer.bottomRows(1) = row;
  rows = std::move(longer);
}

RowVector attend(const RowVector& query, const KvRows& rows, Index heads) {
  const Index width = query.size() / heads;
  RowVector out(query.size());
  for (Index head = 0; head < heads; ++head) {
    const auto keys = rows.keys.middleCols(head * width, width);
    const auto values = rows.values.middleCols(head * width, width);
    const Matrix scores = query.segment(head * width, width) * keys.transpose();
    out.segment(head * width, width) = softmax_rows(scores) * values;
  }
  return out;
}

}  // namespace

Decoder random_decoder(Rng& rng, const DecoderSizes& sizes) {
  Decoder decoder{.sizes = sizes, .layers = {}, .embedding = {}, .head = {}};
  const Index inner = sizes.heads * sizes.head;
  double size = sizes.boost;
  for (Index i = 0; i < sizes.layers; ++i) {
    DecoderLayer layer;
    // A score is an unscaled sum of `head` products, so queries are drawn smaller by its root.
    const double unscaled = 1 / std::sqrt(static_cast<double>(sizes.head));
    layer.query = unscaled * projection(rng, sizes.depth, inner);
    layer.key = projection(rng, sizes.depth, inner);
    layer.value = projection(rng, sizes.depth, inner);
    layer.out = size * projection(rng, inner, sizes.depth);
    layer.cross_query = unscaled * projection(rng, sizes.depth, inner);
    layer.cross_key = projection(rng, sizes.depth, inner);
    layer.cross_value = projection(rng, sizes.depth, inner);
    layer.cross_out = size * projection(rng, inner, sizes.depth);
    layer.gate = projection(rng, sizes.depth, sizes.wide);
    layer.linear = projection(rng, sizes.depth, sizes.wide);
    layer.wide_out = size * projection(rng, sizes.wide, sizes.depth);
    decoder.layers.push_back(std::move(layer));
    size *= sizes.saturation;
  }
  decoder.embedding = random_normal(rng, sizes.vocabulary, sizes.depth);
  decoder.head = sizes.logit_deviation * projection(rng, sizes.depth, sizes.vocabulary);
  return decoder;
}

void KvRows::append(const RowVector& key, const RowVector& value) {
  append_row(keys, key);
  append_row(values, value);
}

RowVector normalised(const Decoder& decoder, const RowVector& state) {
  const double mean = state.squaredNorm() / static_cast<double>(state.size());
  return state / std::sqrt(mean + decoder.epsilon);
}

Sequence new_sequence(const Decoder& decoder, const Matrix& encoder) {
  Sequence sequence;
  sequence.self.resize(decoder.layers.size());
  for (const DecoderLayer& layer : decoder.layers) {
    sequence.cross.push_back(
        {.keys = encoder * layer.cross_key, .values = encoder * layer.cross_value});
  }
  return sequence;
}

void append_kv(const Decoder& decoder, Index layer, const RowVector& state, Sequence& sequence) {
  const auto at = static_cast<std::size_t>(layer);
  const RowVector in = normalised(decoder, state);
  sequence.self[at].append(in * decoder.layers[at].key, in * decoder.layers[at].value);
}

RowVector run_layer(const Decoder& decoder, Index layer, const RowVector& state,
                    Sequence& sequence) {
  TS_EXPECTS(layer >= 0 && layer < decoder.sizes.layers, layer);
  const auto at = static_cast<std::size_t>(layer);
  const DecoderLayer& w = decoder.layers[at];
  const Index heads = decoder.sizes.heads;
  append_kv(decoder, layer, state, sequence);
  RowVector x = state;
  x += attend(normalised(decoder, x) * w.query, sequence.self[at], heads) * w.out;
  x += attend(normalised(decoder, x) * w.cross_query, sequence.cross[at], heads) * w.cross_out;
  const RowVector in = normalised(decoder, x);
  RowVector wide = in * w.gate;
  const RowVector linear = in * w.linear;
  for (Index i = 0; i < wide.size(); ++i) wide(i) = gelu(wide(i)) * linear(i);
  x += wide * w.wide_out;
  return x;
}

RowVector logits(const Decoder& decoder, const RowVector& state) {
  return normalised(decoder, state) * decoder.head;
}

}  // namespace tiersim::numerics
