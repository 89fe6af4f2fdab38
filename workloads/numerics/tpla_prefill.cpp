#include "workloads/numerics/tpla_prefill.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workloads/numerics/latent_stack.hpp"
#include "workloads/numerics/latent_transforms.hpp"
#include "workloads/numerics/rounding.hpp"
#include "workloads/numerics/tpla_exact.hpp"

namespace tiersim::numerics {
namespace {

constexpr std::size_t kPrefillLayers = 3;
constexpr Index kPrompt = 96;
constexpr Index kDecoded = 8;

struct Stacks {
  std::vector<LatentLayer> mla;   // gain absorbed
  std::vector<LatentLayer> tpla;  // with PCA of each layer's inputs
  std::vector<Vector> energy;  // energies of the calibration tokens' latents at each layer of tpla
};

// Creates one layer after another, each for the hidden states that reach it.
Stacks random_stacks(Rng& rng, const TplaAssumptions& a, const Matrix& calibration) {
  Stacks stacks;
  Matrix states = calibration;
  for (std::size_t i = 0; i < kPrefillLayers; ++i) {
    const Matrix in = attention_input(states);
    const LatentWeights bare =
        with_gain_absorbed(with_sharpness(random_latent_weights(rng, a.sizes, a.spectrum),
                                          in.topRows(a.tokens), a.sharpness, a.rope_sharpness));
    const LatentRows rows = latent_rows(bare, in, 0);
    const Matrix moment = second_moment(rows.latent);
    const Matrix turn = principal_components(moment);
    stacks.mla.push_back({.weights = bare, .slicing = {}});
    stacks.tpla.push_back({.weights = transformed(bare, turn), .slicing = {}});
    stacks.energy.push_back(turned_energy(moment, turn));
    states += absorbed_attention(bare, in, rows, 0);
  }
  return stacks;
}

void slice(Stacks& stacks, Constants constants, Index shards) {
  for (std::size_t i = 0; i < stacks.tpla.size(); ++i) {
    const Vector shares = energy_shares(stacks.energy[i], shards);
    stacks.tpla[i].slicing = {
        .norm_shares = shares,
        .score_shares = constants == Constants::both ? shares : Vector::Ones(shards)};
  }
}

struct Run {
  Matrix decoded;                     // hidden states after the layers
  std::vector<LatentRows> prefilled;  // the cache after prefill
};

Run run(const std::vector<LatentLayer>& layers, const Matrix& states, Mode prefill, Mode decode) {
  Run out;
  std::vector<LatentRows> cache;
  run_stack(layers, states.topRows(kPrompt), prefill, cache);
  out.prefilled = cache;
  out.decoded.resize(kDecoded, states.cols());
  for (Index i = 0; i < kDecoded; ++i) {
    out.decoded.row(i) = run_stack(layers, states.row(kPrompt + i), decode, cache);
  }
  return out;
}

struct Errors {
  double separated = 0;
  double throughout = 0;
  double cache = 0;  // error of the last layer's cache after a sliced prefill
  int won = 0;       // seeds in which the separated error is smaller
  int of = 0;
};

// Adds the errors of one seed, with weight 1 / `count`.
void add_errors(const Stacks& stacks, const Run& exact, const Matrix& states, int count,
                Errors& sum) {
  const Run separated = run(stacks.tpla, states, Mode::exact, Mode::sliced);
  const Run throughout = run(stacks.tpla, states, Mode::sliced, Mode::sliced);
  const double apart = relative_error(exact.decoded, separated.decoded);
  const double through = relative_error(exact.decoded, throughout.decoded);
  sum.separated += apart / count;
  sum.throughout += through / count;
  sum.cache +=
      relative_error(separated.prefilled.back().latent, throughout.prefilled.back().latent) / count;
  sum.won += apart < through ? 1 : 0;
  ++sum.of;
}

// For one layer. Prefill equals MLA to rounding, and so does unsliced decode over its cache. The
// prompt rows that a sliced decode reads are those of the exact prefill, bit for bit.
Statement separation_statement(Rng& rng, const TplaAssumptions& a) {
  const NamedSample named = named_sample(rng, "", a);
  const TplaSample& s = named.sample;
  const TurnedSample& pca = named.turned.back();
  const Slicing slicing = slicing_of(pca, Constants::norm, 2);
  const Matrix prompt = s.states.topRows(kPrompt);
  const Matrix token = s.states.row(kPrompt);
  const double bound = attention_bound(s.bare, pca.turn, s.states.topRows(kPrompt + 1));

  const Matrix mla = explicit_attention(s.mla, prompt, latent_rows(s.mla, prompt, 0), 0);
  LatentRows cache = latent_rows(pca.weights, prompt, 0);
  const double prefill = largest_row(mla - absorbed_attention(pca.weights, prompt, cache, 0));

  const LatentRows trained = latent_rows(s.mla, s.states.topRows(kPrompt + 1), 0);
  const Matrix next = explicit_attention(s.mla, token, trained, kPrompt);
  LatentRows unsliced = cache;
  unsliced.append(latent_rows(pca.weights, token, kPrompt));
  const double decode =
      largest_row(next - absorbed_attention(pca.weights, token, unsliced, kPrompt));

  cache.append(sliced_rows(pca.weights, slicing, token, kPrompt));
  const double prompt_rows =
      (cache.latent.topRows(kPrompt) - unsliced.latent.topRows(kPrompt)).cwiseAbs().maxCoeff();
  const Matrix sliced = sliced_attention(pca.weights, slicing, token, cache, kPrompt);
  return {
      .id = "tpla.prefill_is_mla",
      .says =
          "prefill with transformed, unsliced weights is MLA, and decode reads the cache it "
          "left in slices: only the decoded tokens are approximated",
      .source = "TPLA, sections 4.5 and 5.1 (TPLA, pd sep.)",
      .found = fmt::format(
          "prefill differs by {:.2g}, unsliced decode over its cache by {:.2g}, where rounding "
          "explains {:.2g}; prompt rows that decode reads differ by {}; sliced decode by {:.3g} "
          "of the output",
          prefill, decode, bound, prompt_rows, relative_error(next, sliced)),
      .exact = true,
      .holds = prefill <= bound && decode <= bound && prompt_rows == 0};
}

// The errors, indexed by constants and then by number of slices.
std::vector<std::vector<Errors>> all_errors(std::uint64_t seed, int count,
                                            std::span<const Index> shards) {
  const TplaAssumptions a = decaying();
  std::vector<std::vector<Errors>> out(2, std::vector<Errors>(shards.size()));
  for (int i = 0; i < count; ++i) {
    Rng rng(seed, fmt::format("tpla stack {}", i));
    const TplaSample sample = random_sample(rng, a);
    Stacks stacks = random_stacks(rng, a, sample.calibration);
    const Run exact = run(stacks.mla, sample.states, Mode::exact, Mode::exact);
    for (std::size_t scaled = 0; scaled < 2; ++scaled) {
      for (std::size_t k = 0; k < shards.size(); ++k) {
        slice(stacks, scaled == 1 ? Constants::both : Constants::norm, shards[k]);
        add_errors(stacks, exact, sample.states, count, out[scaled][k]);
      }
    }
  }
  return out;
}

std::string wins(const std::vector<Errors>& errors) {
  int won = 0;
  int of = 0;
  for (const Errors& e : errors) {
    won += e.won;
    of += e.of;
  }
  return fmt::format("{} of {}", won, of);
}

}  // namespace

void add_prefill_study(std::uint64_t seed, int count, Study& study, std::span<const Index> shards) {
  Rng rng(seed, "tpla separation");
  study.statements.push_back(separation_statement(rng, decaying()));

  Table table{.id = "tpla_prefill",
              .title = fmt::format("Error of {} decoded tokens after a prompt of {}, {} layers, "
                                   "PCA, mean of {} seeds",
                                   kDecoded, kPrompt, kPrefillLayers, count),
              .columns = columns_by_cells({"constants", "slices", "prefill exact", "prefill sliced",
                                           "its cache, last layer"}),
              .rows = {},
              .notes = {"hidden states after the last layer, without feed-forward; the inputs are "
                        "the same in all runs"}};
  Curve curve{.id = "tpla_prefill_error",
              .title = "Error of decoded tokens by how the prompt was prefilled (constants: norm)",
              .x_label = "slices of the latent",
              .y_label = "relative error",
              .lines = {{.name = "prefill exact", .x = {}, .y = {}},
                        {.name = "prefill sliced", .x = {}, .y = {}}}};
  const std::vector<std::vector<Errors>> errors = all_errors(seed, count, shards);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (std::size_t scaled = 0; scaled < 2; ++scaled) {
      const Errors& e = errors[scaled][i];
      table.rows.push_back({std::string(name_of(scaled == 1 ? Constants::both : Constants::norm)),
                            std::int64_t{shards[i]}, e.separated, e.throughout, e.cache});
    }
    for (Line& line : curve.lines) line.x.push_back(static_cast<double>(shards[i]));
    curve.lines[0].y.push_back(errors[0][i].separated);
    curve.lines[1].y.push_back(errors[0][i].throughout);
  }
  bool all = true;
  for (const Errors& e : errors[0]) all = all && e.won == e.of;
  study.statements.push_back(
      {.id = "tpla.separation_helps",
       .says = "an exact prefill leaves decode closer to MLA than slicing throughout",
       .source = "TPLA, sections 5.1 and 5.3.1",
       .found = fmt::format("in {} seeds and slice counts; {} with scores over beta",
                            wins(errors[0]), wins(errors[1])),
       .exact = false,
       .holds = all});
  study.tables.push_back(std::move(table));
  study.curves.push_back(std::move(curve));
}

}  // namespace tiersim::numerics
