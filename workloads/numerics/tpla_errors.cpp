#include "workloads/numerics/tpla_errors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "workloads/numerics/grouped_attention.hpp"
#include "workloads/numerics/latent_transforms.hpp"

namespace tiersim::numerics {
namespace {

constexpr Index kQueries = 16;  // the newest tokens

// rows: exact rows of the transformed weights. exact: the reference output.
SliceErrors errors_of(const LatentWeights& weights, Slicing slicing, const Matrix& states,
                      const LatentRows& rows, const Matrix& exact) {
  const Matrix queries = states.bottomRows(kQueries);
  const Index first = states.rows() - kQueries;
  const LatentRows sliced = sliced_rows(weights, slicing, states, 0);
  const auto error = [&](const LatentRows& read, bool softmax) {
    slicing.softmax = softmax;
    return relative_error(exact, sliced_attention(weights, slicing, queries, read, first));
  };
  return {.norm = error(sliced, false), .softmax = error(rows, true), .both = error(sliced, true)};
}

// rows: exact rows of the transformed weights, over tokens not used for calibration.
SliceBalance balance_of(const TurnedSample& turned, const Matrix& states, const LatentRows& rows) {
  const Matrix& latent = rows.latent;
  const Index half = latent.cols() / 2;
  const Vector shares =
      latent.leftCols(half).rowwise().squaredNorm().cwiseQuotient(latent.rowwise().squaredNorm());
  const LatentHead& head = turned.weights.heads.front();
  const Matrix queries = (states * head.query) * head.up_key.transpose();
  const Matrix whole = queries * latent.transpose();
  const Matrix part = queries.leftCols(half) * latent.leftCols(half).transpose();
  const double product = whole.cwiseProduct(part).sum();
  return {.transform = turned.transform,
          .share = shares.mean(),
          .spread = std::sqrt((shares.array() - shares.mean()).square().mean()),
          .slope = product / whole.squaredNorm(),
          .correlation = product / (whole.norm() * part.norm())};
}

void add_seed(SliceErrorFamily& family, const TplaAssumptions& assumptions,
              std::span<const Index> shards, Rng& rng) {
  const TplaSample sample = random_sample(rng, assumptions);
  const Matrix queries = sample.states.bottomRows(kQueries);
  const Index first = sample.states.rows() - kQueries;
  const LatentRows rows = latent_rows(sample.mla, sample.states, 0);
  const Matrix exact = absorbed_attention(sample.mla, queries, rows, first);
  const bool first_seed = family.balance.empty();
  for (const TurnedSample& turned : all_turned(rng, sample)) {
    const LatentRows exact_rows = latent_rows(turned.weights, sample.states, 0);
    if (first_seed) family.balance.push_back(balance_of(turned, sample.states, exact_rows));
    for (SliceErrorCase& c : family.cases) {
      if (c.transform != turned.transform) continue;
      c.seeds.push_back(errors_of(turned.weights, slicing_of(turned, c.constants, c.shards),
                                  sample.states, exact_rows, exact));
    }
  }
  const LatentRows bare = latent_rows(sample.bare, sample.states, 0);
  for (std::size_t i = 0; i < kShardCounts.size(); ++i) {
    const auto heads = static_cast<Index>(sample.bare.heads.size());
    if (heads % kShardCounts[i] != 0 || std::ranges::find(shards, kShardCounts[i]) == shards.end())
      continue;
    const GroupedWeights split = split_heads(sample.bare, kShardCounts[i]);
    family.grouped[i].push_back(
        relative_error(exact, grouped_attention(split, queries, bare, first)));
  }
}

SliceErrors mean(const std::vector<SliceErrors>& seeds) {
  SliceErrors sum;
  for (const SliceErrors& e : seeds) {
    sum.norm += e.norm;
    sum.softmax += e.softmax;
    sum.both += e.both;
  }
  const auto count = static_cast<double>(seeds.size());
  return {.norm = sum.norm / count, .softmax = sum.softmax / count, .both = sum.both / count};
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

// Number of seeds in which an order holds between cases of one family with two slices, and of
// seeds.
template <class Order>
std::pair<int, int> seeds_with(const SliceErrorFamily& family, Constants constants, Order order) {
  const auto seed_of = [&](Transform t, std::size_t seed) {
    return family.find(t, constants, 2).seeds[seed];
  };
  const std::size_t count = family.cases.front().seeds.size();
  int held = 0;
  for (std::size_t seed = 0; seed < count; ++seed) {
    if (order([&](Transform t) { return seed_of(t, seed); })) ++held;
  }
  return {held, static_cast<int>(count)};
}

template <class Order>
Statement ordering(const std::string& id, const std::string& says, const SliceErrorFamily& wide,
                   const std::vector<SliceErrorFamily>& others, Order order) {
  const auto [held, of] = seeds_with(wide, Constants::norm, order);
  std::string found = fmt::format("{}: {} of {} seeds", wide.title, held, of);
  for (const Constants constants : {Constants::both, Constants::none}) {
    found += fmt::format(", {} of {} with constants {}", seeds_with(wide, constants, order).first,
                         of, name_of(constants));
  }
  for (const SliceErrorFamily& family : others) {
    const auto other = seeds_with(family, Constants::norm, order);
    found += fmt::format("; {}: {} of {}", family.title, other.first, other.second);
  }
  return {.id = id,
          .says = says,
          .source = "TPLA, section 5.3.2",
          .found = std::move(found),
          .exact = false,
          .holds = held == of};
}

// Section 4.2 divides a slice's scores by beta; no figure of the paper compares with and without.
Statement score_constants(const SliceErrorFamily& wide) {
  const auto softmax = [&](Transform t, Constants c) {
    return mean(wide.find(t, c, 2).seeds).softmax;
  };
  const double pca = softmax(Transform::pca, Constants::norm);
  const double pca_scaled = softmax(Transform::pca, Constants::both);
  const double balanced = softmax(Transform::hadamard, Constants::norm);
  const double balanced_scaled = softmax(Transform::hadamard, Constants::both);
  return {.id = "tpla.score_constants",
          .says =
              "dividing a slice's scores by beta brings its softmax closer to the whole one, "
              "under Hadamard and PCA",
          .source = "TPLA, section 4.2, condition 2",
          .found = fmt::format("error of slicing softmax in two with and without: Hadamard {:.3g}, "
                               "{:.3g}; PCA {:.3g}, {:.3g} (its second slice's beta is small, so "
                               "what little it knows is blown up); {}",
                               balanced_scaled, balanced, pca_scaled, pca, wide.title),
          .exact = false,
          .holds = pca_scaled < pca && balanced_scaled < balanced};
}

}  // namespace

const SliceErrorCase& SliceErrorFamily::find(Transform transform, Constants constants,
                                             Index shards) const {
  // For a balancing transform, alpha gives no more information than none.
  if (transform != Transform::pca && constants == Constants::none) constants = Constants::norm;
  const auto at = std::find_if(cases.begin(), cases.end(), [&](const SliceErrorCase& c) {
    return c.transform == transform && c.constants == constants && c.shards == shards;
  });
  TS_EXPECTS(at != cases.end(), shards);
  return *at;
}

SliceErrorFamily slice_errors(std::string id, std::string title, const TplaAssumptions& assumptions,
                              std::uint64_t seed, int count, std::span<const Index> shards) {
  SliceErrorFamily family;
  family.id = std::move(id);
  family.title = std::move(title);
  for (const Transform transform : all_transforms()) {
    for (const Constants constants : {Constants::norm, Constants::both, Constants::none}) {
      if (transform != Transform::pca && constants == Constants::none) continue;
      for (const Index slices : shards) {
        family.cases.push_back(
            {.transform = transform, .constants = constants, .shards = slices, .seeds = {}});
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    Rng rng(seed, fmt::format("{} {}", family.id, i));
    add_seed(family, assumptions, shards, rng);
  }
  return family;
}

Table error_table(const SliceErrorFamily& family) {
  Table table{.id = family.id,
              .title = fmt::format("Relative error of a layer's output by slicing, {}, mean of {} "
                                   "seeds",
                                   family.title, family.cases.front().seeds.size()),
              .columns = columns_by_cells(
                  {"transform", "constants", "slices", "RMSNorm", "softmax", "both"}),
              .rows = {}};
  for (const SliceErrorCase& c : family.cases) {
    const SliceErrors e = mean(c.seeds);
    table.rows.push_back({std::string(name_of(c.transform)), std::string(name_of(c.constants)),
                          std::int64_t{c.shards}, e.norm, e.softmax, e.both});
  }
  for (std::size_t i = 0; i < kShardCounts.size(); ++i) {
    if (family.grouped[i].empty()) continue;
    table.rows.push_back({"GLA, each head one slice", "none", std::int64_t{kShardCounts[i]}, "-",
                          mean(family.grouped[i]), "-"});
  }
  table.notes = {
      "constants: norm has alpha of section 4.3, equal but for PCA, whose are its sums of "
      "eigenvalues; "
      "with scores, those of a slice are divided by beta, the same numbers; none: a slice "
      "normalises "
      "over itself alone",
      "with scores over beta slicing both is mostly better than softmax alone: a slice that "
      "normalises "
      "itself has a constant length, so its scores do not swing with its share of the energy",
      "GLA, each head one slice: queries and latents are both cut, and the rest is missing"};
  return table;
}

Table balance_table(const std::vector<SliceErrorFamily>& families) {
  Table table{.id = "tpla_balance",
              .title = "What the first of two slices says of the whole (first seed)",
              .columns = columns_by_cells({"latents", "transform", "share of energy",
                                           "its spread over tokens", "slope of scores",
                                           "correlation of scores"}),
              .rows = {},
              .notes = {"condition 1 needs no spread; condition 2 a correlation of 1 and a slope "
                        "equal to the share"}};
  for (const SliceErrorFamily& family : families) {
    for (const SliceBalance& b : family.balance) {
      table.rows.push_back({family.title, std::string(name_of(b.transform)), b.share, b.spread,
                            b.slope, b.correlation});
    }
  }
  return table;
}

Curve error_curve(const SliceErrorFamily& family) {
  Curve curve{.id = "tpla_error",
              .title = fmt::format("Error of a layer's output, {}, constants: norm", family.title),
              .x_label = "slices of the latent",
              .y_label = "relative error",
              .lines = {}};
  for (const Transform transform : {Transform::hadamard, Transform::pca}) {
    const std::string name(name_of(transform));
    std::vector<Line> lines = {{.name = name + ", RMSNorm", .x = {}, .y = {}},
                               {.name = name + ", softmax", .x = {}, .y = {}},
                               {.name = name + ", both", .x = {}, .y = {}}};
    for (const Index shards : kShardCounts) {
      const SliceErrors e = mean(family.find(transform, Constants::norm, shards).seeds);
      for (Line& line : lines) line.x.push_back(static_cast<double>(shards));
      lines[0].y.push_back(e.norm);
      lines[1].y.push_back(e.softmax);
      lines[2].y.push_back(e.both);
    }
    curve.lines.insert(curve.lines.end(), lines.begin(), lines.end());
  }
  return curve;
}

std::vector<Statement> error_statements(const SliceErrorFamily& wide,
                                        const std::vector<SliceErrorFamily>& others) {
  const auto all_of = [](auto errors, auto test) {
    const std::vector<Transform> transforms = all_transforms();
    return std::all_of(transforms.begin(), transforms.end(),
                       [&](Transform t) { return test(errors(t)); });
  };
  using enum Transform;
  std::vector<Statement> out = {
      ordering("tpla.norm_below_softmax", "slicing RMSNorm costs less than slicing softmax", wide,
               others,
               [&](auto errors) {
                 return all_of(errors, [](const SliceErrors& e) { return e.norm < e.softmax; });
               }),
      ordering("tpla.both_worst", "slicing both costs most, under every transform", wide, others,
               [&](auto errors) {
                 return all_of(errors, [](const SliceErrors& e) { return e.both > e.softmax; });
               }),
      ordering("tpla.hadamard_helps_norm",
               "Hadamard makes slicing RMSNorm alone cheaper than no transform", wide, others,
               [](auto errors) { return errors(hadamard).norm < errors(identity).norm; }),
      ordering("tpla.hadamard_best_for_norm",
               "Hadamard is best where RMSNorm alone is sliced (against no transform and PCA)",
               wide, others,
               [](auto errors) {
                 return errors(hadamard).norm < std::min(errors(identity).norm, errors(pca).norm);
               }),
      ordering("tpla.pca_best_for_softmax", "PCA is best where softmax alone is sliced", wide,
               others,
               [](auto errors) {
                 return errors(pca).softmax <
                        std::min(errors(identity).softmax, errors(hadamard).softmax);
               }),
      ordering("tpla.pca_best_for_both", "PCA is best where both are sliced", wide, others,
               [](auto errors) {
                 return errors(pca).both < std::min(errors(identity).both, errors(hadamard).both);
               })};
  const SliceErrors pca_errors = mean(wide.find(pca, Constants::norm, 2).seeds);
  const SliceErrors balanced = mean(wide.find(hadamard, Constants::norm, 2).seeds);
  for (Statement& statement : out) {
    if (statement.id != "tpla.both_worst") continue;
    statement.found +=
        fmt::format("; softmax and both: Hadamard {:.4f}, {:.4f}; PCA {:.4f}, {:.4f}",
                    balanced.softmax, balanced.both, pca_errors.softmax, pca_errors.both);
  }
  out.push_back(score_constants(wide));
  const double grouped = mean(wide.grouped[0]);
  out.push_back(
      {.id = "tpla.better_than_gla",
       .says = "cutting MLA to GLA, where each head keeps half of its latent, costs more than TPLA",
       .source = "TPLA, sections 5.1 and 5.3.1",
       .found = fmt::format("error {:.3g} as GLA, {:.3g} as TPLA with PCA, two slices, {}", grouped,
                            pca_errors.both, wide.title),
       .exact = false,
       .holds = pca_errors.both < grouped});
  return out;
}

}  // namespace tiersim::numerics
