#include "kernels/cases/early_exit_layer.cuh"

#include "kernels/cases/early_exit.hpp"

namespace tiersim::kernels {
namespace {

std::vector<std::uint16_t> matrix(std::int64_t rows, std::int64_t columns, float gain,
                                  std::uint64_t seed) {
  return random_bf16(rows * columns, gain / std::sqrt(static_cast<float>(columns)), seed);
}

// Queries smaller than keys and values, so that a score, a sum of 64 products, stays at a few.
std::vector<std::uint16_t> queries_keys_values(const LayerPlan& p, std::uint64_t seed) {
  auto all = matrix(p.inner(), p.depth, 0.3F, seed);
  const auto rest = matrix(2 * p.inner(), p.depth, 1.0F, seed + 1);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// [sequences][heads][capacity][64]; rows past a sequence's length are NaN.
template <class Length>
std::vector<std::uint16_t> cache_rows(const LayerPlan& p, std::int64_t capacity,
                                      const Length& length, std::uint64_t seed) {
  auto rows = random_bf16(p.tokens * p.heads * capacity * kHeadSize, 1.0F, seed);
  for (std::int64_t sequence = 0; sequence < p.tokens * p.heads; ++sequence) {
    const std::int64_t first = sequence * capacity;
    std::fill(rows.begin() + (first + length(sequence / p.heads)) * kHeadSize,
              rows.begin() + (first + capacity) * kHeadSize, std::uint16_t{0xffff});
  }
  return rows;
}
std::vector<std::uint16_t> self_rows(const LayerPlan& p, std::uint64_t seed) {
  return cache_rows(
      p, p.decoded, [&](std::int64_t i) { return p.self_length(i) - 1; }, seed);
}
std::vector<std::uint16_t> cross_rows(const LayerPlan& p, std::uint64_t seed) {
  return cache_rows(
      p, p.encoded, [&](std::int64_t i) { return p.cross_length(i); }, seed);
}

std::vector<float> biases(const LayerPlan& p, std::uint64_t seed) {
  std::vector<float> table(count_of(p.heads * 32));
  Random random(seed);
  for (float& b : table) b = random.normal();
  std::vector<float> by_distance;
  for (std::int64_t head = 0; head < p.heads; ++head) {
    for (std::int64_t distance = 0; distance < p.decoded; ++distance) {
      by_distance.push_back(
          table[count_of(32 * head + relative_bucket(static_cast<int>(distance)))]);
    }
  }
  return by_distance;
}

template <class Length>
std::vector<int> lengths(std::int64_t count, const Length& length) {
  std::vector<int> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(static_cast<int>(length(i)));
  return all;
}

// The gate (part 0) or the linear part of weights that alternate by 32 rows.
std::vector<std::uint16_t> gated_part(const LayerPlan& p, const std::vector<std::uint16_t>& all,
                                      std::int64_t part) {
  std::vector<std::uint16_t> rows;
  for (std::int64_t row = 0; row < p.wide; ++row) {
    const std::int64_t from = (row / kGatedRows * 2 + part) * kGatedRows + row % kGatedRows;
    rows.insert(rows.end(), all.begin() + from * p.depth, all.begin() + (from + 1) * p.depth);
  }
  return rows;
}

}  // namespace

LayerArrays::LayerArrays(const LayerPlan& p, std::uint64_t seed)
    : qkv(queries_keys_values(p, 20 * seed), "qkv"),
      self_out(matrix(p.depth, p.inner(), 1.0F, 20 * seed + 2), "self_out"),
      cross_query(matrix(p.inner(), p.depth, 0.3F, 20 * seed + 3), "cross_query"),
      cross_out(matrix(p.depth, p.inner(), 1.0F, 20 * seed + 4), "cross_out"),
      gated_in(matrix(2 * p.wide, p.depth, 1.0F, 20 * seed + 5), "gated_in"),
      wide_out(matrix(p.depth, p.wide, 1.0F, 20 * seed + 7), "wide_out"),
      bias(biases(p, 20 * seed + 8), "bias"),
      state(random_bf16(p.tokens * p.depth, 2.0F, 20 * seed + 9), "state"),
      self_keys(self_rows(p, 20 * seed + 10), "self_keys"),
      self_values(self_rows(p, 20 * seed + 11), "self_values"),
      cross_keys(cross_rows(p, 20 * seed + 12), "cross_keys"),
      cross_values(cross_rows(p, 20 * seed + 13), "cross_values"),
      positions(lengths(p.tokens, [&](std::int64_t i) { return p.self_length(i) - 1; }),
                "positions"),
      encoded(lengths(p.tokens, [&](std::int64_t i) { return p.cross_length(i); }), "encoded"),
      query(count_of(p.tokens * p.inner()), "query"),
      attended(count_of(p.tokens * p.inner()), "attended"),
      after_self(count_of(p.tokens * p.depth), "after_self"),
      cross_q(count_of(p.tokens * p.inner()), "cross_q"),
      cross_attended(count_of(p.tokens * p.inner()), "cross_attended"),
      after_cross(count_of(p.tokens * p.depth), "after_cross"),
      gated(count_of(p.tokens * p.wide), "gated"),
      out(count_of(p.tokens * p.depth), "out") {}

Work layer_work(const LayerPlan& p, std::int64_t columns, WideParts parts) {
  Work work = layer_projections_work({p.depth, p.wide, p.heads, p.tokens, columns}, parts);
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < p.tokens; ++i) {
    longest = std::max(longest, p.self_length(i));
    work = work + step_sequence_work(p.heads, p.self_length(i), true) +
           step_sequence_work(p.heads, p.cross_length(i), false);
  }
  return work + step_bias_work(p.heads, longest);
}

Agreement check_layer(const LayerPlan& p, const LayerArrays& arrays) {
  const auto qkv = arrays.qkv.download(), self_out = arrays.self_out.download(),
             cross_query = arrays.cross_query.download(), cross_out = arrays.cross_out.download(),
             gated_in = arrays.gated_in.download(), wide_out = arrays.wide_out.download();
  const auto gate = gated_part(p, gated_in, 0), linear = gated_part(p, gated_in, 1);
  const LayerWeights weights = {qkv.data(),  self_out.data(), cross_query.data(), cross_out.data(),
                                gate.data(), linear.data(),   wide_out.data()};
  const auto state = arrays.state.download(), out = arrays.out.download();
  const auto self_keys = arrays.self_keys.download(), self_values = arrays.self_values.download();
  const auto cross_keys = arrays.cross_keys.download(),
             cross_values = arrays.cross_values.download();
  const auto bias = arrays.bias.download();
  const LayerSizes sizes = {count_of(p.depth), count_of(p.wide), count_of(p.heads), 1e-6};
  RelativeError states, appended;
  for (const std::int64_t i : sample_of(p.tokens, 8, 4)) {
    const std::int64_t self_at = i * p.heads * p.decoded * kHeadSize;
    const std::int64_t cross_at = i * p.heads * p.encoded * kHeadSize;
    const LayerCache self = {self_keys.data() + self_at, self_values.data() + self_at,
                             count_of(p.decoded), count_of(p.self_length(i) - 1)};
    const LayerCache cross = {cross_keys.data() + cross_at, cross_values.data() + cross_at,
                              count_of(p.encoded), count_of(p.cross_length(i))};
    const LayerResult expected =
        layer_reference(weights, sizes, state.data() + i * p.depth, self, bias.data(), cross);
    for (std::int64_t k = 0; k < p.depth; ++k) {
      states.add(bf16_value(out[count_of(i * p.depth + k)]), expected.state[count_of(k)]);
    }
    for (std::int64_t row = 0; row < p.inner(); ++row) {
      const std::int64_t place = self_at +
                                 (row / kHeadSize * p.decoded + p.self_length(i) - 1) * kHeadSize +
                                 row % kHeadSize;
      appended.add(bf16_value(self_keys[count_of(place)]), expected.key[count_of(row)]);
      appended.add(bf16_value(self_values[count_of(place)]), expected.value[count_of(row)]);
    }
  }
  return {worse(states.value(), appended.value()), 1e-2, states.count() + appended.count()};
}

namespace {

template <int Columns, WideParts Parts = WideParts::none>
void add_layer(CaseList& cases, const std::string& model, const LayerPlan& plan) {
  using Made = LayerCase<Columns, Parts>;
  cases.push_back({"early_exit.decoder_layer." + Made::variant() + "." + model + "-b" +
                       std::to_string(plan.tokens),
                   [plan] { return std::make_unique<Made>(plan); }});
}

// From 64 tokens on the wide forms come first, and the skinny one follows for comparison.
void add_layer_of(CaseList& cases, const std::string& model, const LayerPlan& plan) {
  if (plan.tokens > 64) add_layer<4, WideParts::all>(cases, model, plan);
  if (plan.tokens > 32) add_layer<4, WideParts::large>(cases, model, plan);
  if (plan.tokens <= 8) {
    add_layer<1>(cases, model, plan);
  } else if (plan.tokens <= 16) {
    add_layer<2>(cases, model, plan);
  } else {
    add_layer<4>(cases, model, plan);
  }
}

}  // namespace

void add_early_exit_layer_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    add_layer_of(cases, "toy",
                 {.depth = 64, .wide = 96, .heads = 1, .tokens = 2, .decoded = 5, .encoded = 6});
    return;
  }
  for (const std::int64_t tokens : {1, 8, 16, 64, 256}) {
    add_layer_of(
        cases, "t5-base",
        {.depth = 768, .wide = 2048, .heads = 12, .tokens = tokens, .decoded = 64, .encoded = 512});
    add_layer_of(
        cases, "t5-small",
        {.depth = 512, .wide = 1024, .heads = 6, .tokens = tokens, .decoded = 64, .encoded = 512});
  }
}

}  // namespace tiersim::kernels
