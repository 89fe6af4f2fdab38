#include "workloads/numerics/tpla_exact.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "workloads/numerics/grouped_attention.hpp"
#include "workloads/numerics/latent_transforms.hpp"
#include "workloads/numerics/rounding.hpp"
#include "workloads/numerics/tpla_errors.hpp"

namespace tiersim::numerics {
namespace {

// The worst case of an equality over all samples and transforms.
class Equality {
 public:
  Equality(std::string id, std::string says, std::string source)
      : statement_{.id = std::move(id),
                   .says = std::move(says),
                   .source = std::move(source),
                   .found = "",
                   .exact = true,
                   .holds = true} {}

  void add(const std::string& name, double difference, double bound, double size) {
    statement_.holds = statement_.holds && difference <= bound;
    if (difference / bound < worst_) return;
    worst_ = difference / bound;
    statement_.found =
        fmt::format("largest relative difference {:.2g} where rounding explains up to {:.2g} ({})",
                    difference / size, bound / size, name);
  }
  const Statement& statement() const { return statement_; }

 private:
  Statement statement_;
  double worst_ = -1;
};

void add_sample(const NamedSample& named, Equality& norm, Equality& absorbed, Equality& layer) {
  const TplaSample& s = named.sample;
  const LatentRows trained = latent_rows(s.mla, s.states, 0);
  const LatentRows bare = latent_rows(s.bare, s.states, 0);
  const Matrix exact = explicit_attention(s.mla, s.states, trained, 0);
  const Matrix one = Matrix::Identity(s.bare.rank(), s.bare.rank());
  const double size = largest_row(exact);
  absorbed.add(named.name, largest_row(exact - absorbed_attention(s.mla, s.states, trained, 0)),
               attention_bound(s.bare, one, s.states), size);
  for (const TurnedSample& t : named.turned) {
    const std::string name = named.name + ", " + std::string(name_of(t.transform));
    const LatentRows turned = latent_rows(t.weights, s.states, 0);
    norm.add(name, largest_row(turned.latent - bare.latent * t.turn),
             latent_bound(s.bare, t.turn, s.states), largest_row(bare.latent));
    layer.add(name, largest_row(exact - absorbed_attention(t.weights, s.states, turned, 0)),
              attention_bound(s.bare, t.turn, s.states), size);
  }
}

// Ky Fan 1949: no k directions hold more of a second moment than its k first eigenvectors.
Statement energy_statement(const std::vector<NamedSample>& samples) {
  Statement out{.id = "tpla.pca_concentrates",
                .says =
                    "no other transform puts more energy of the calibration tokens into the "
                    "first slice than PCA",
                .source = "TPLA, section 4.3.2 and equation 25; Ky Fan 1949",
                .found = "",
                .exact = true,
                .holds = true};
  for (const NamedSample& named : samples) {
    const double pca = energy_shares(named.turned.back().energy, 2)(0);
    out.found += fmt::format("{}{}:", out.found.empty() ? "" : "; ", named.name);
    for (const TurnedSample& t : named.turned) {
      const double share = energy_shares(t.energy, 2)(0);
      out.holds = out.holds && share <= pca;
      out.found += fmt::format(" {} {:.3f}", name_of(t.transform), share);
    }
  }
  return out;
}

}  // namespace

NamedSample named_sample(Rng& rng, std::string name, const TplaAssumptions& assumptions) {
  NamedSample out{.name = std::move(name), .sample = random_sample(rng, assumptions), .turned = {}};
  out.turned = all_turned(rng, out.sample);
  return out;
}

std::vector<Statement> equality_statements(const std::vector<NamedSample>& samples) {
  Equality norm("tpla.proposition_1",
                "RMSNorm is unchanged by an orthogonal matrix absorbed into the weights, the gain "
                "absorbed first",
                "TPLA, section 4.1, Proposition 1");
  Equality absorbed("tpla.absorbed", "attention over latents equals attention over keys and values",
                    "TPLA, section 3.3, equation 5");
  Equality layer("tpla.transformed_layer", "the transformed layer, not sliced, is the trained one",
                 "TPLA, equations 17 and 21, section 5.4.2");
  for (const NamedSample& named : samples) add_sample(named, norm, absorbed, layer);
  return {norm.statement(), absorbed.statement(), layer.statement(), energy_statement(samples)};
}

Statement grouped_statement(const NamedSample& named) {
  Equality equal("tpla.is_gla",
                 "TPLA of h heads in g slices is GLA of g h heads with the queries duplicated, "
                 "g = 2, 4, 8",
                 "TPLA, section 4.4");
  const TplaSample& s = named.sample;
  for (const TurnedSample& t : named.turned) {
    for (const Index shards : kShardCounts) {
      const Slicing slicing = slicing_of(t, Constants::both, shards);
      const LatentRows rows = sliced_rows(t.weights, slicing, s.states, 0);
      const Matrix tpla = sliced_attention(t.weights, slicing, s.states, rows, 0);
      const Matrix gla =
          grouped_attention(duplicate_queries(t.weights, slicing), s.states, rows, 0);
      // The same operations in the same order: equal to the bit where the products have equal
      // blocks.
      equal.add(fmt::format("{}, {}, g = {}", named.name, name_of(t.transform), shards),
                largest_row(tpla - gla), attention_bound(s.bare, t.turn, s.states),
                largest_row(tpla));
    }
  }
  return equal.statement();
}

std::vector<Statement> hadamard_examples() {
  // Without the factor 1 / sqrt(4), so that every number below is whole and every operation exact.
  const Matrix h = 2 * hadamard(4);
  const RowVector spike = (RowVector(4) << 4, 0, 0, 0).finished();
  const RowVector level = spike * h;
  const double left = level.head(2).squaredNorm();
  const double right = level.tail(2).squaredNorm();
  Statement balanced{
      .id = "tpla.hadamard_balances",
      .says =
          "Hadamard gives both halves of a vector with one large element the same energy, so "
          "that each half has the RMS of the whole",
      .source = "TPLA, section 4.3.1, equation 24 (its vector is lost in the text; this is ours)",
      .found = fmt::format("(4, 0, 0, 0): energy 16 and 0; over H: ({}, {}, {}, {}), energy {} and "
                           "{}, the whole's mean square {} and {}",
                           level(0), level(1), level(2), level(3), left, right,
                           level.squaredNorm() / 4, left / 2),
      .exact = true,
      .holds = left == right && level.squaredNorm() / 4 == left / 2};

  const RowVector query = (RowVector(4) << 3, 1, 0, 0).finished() * h;
  const auto halves = [&](double last) {
    const RowVector key = (RowVector(4) << 1, 0, 0, last).finished() * h;
    const RowVector product = query.cwiseProduct(key);
    return std::array<double, 4>{product.head(2).sum(), product.tail(2).sum(),
                                 key.head(2).squaredNorm(), key.tail(2).squaredNorm()};
  };
  const auto one = halves(2);
  const auto other = halves(-2);
  const bool level_energy = one[2] == one[3] && other[2] == other[3] &&
                            query.head(2).squaredNorm() == query.tail(2).squaredNorm();
  Statement unbalanced{
      .id = "tpla.hadamard_scores",
      .says =
          "balanced energy is not balanced scores: no constant beta serves condition 2 after "
          "Hadamard",
      .source = "TPLA, section 4.3.1 (its vectors are lost in the text; these are ours)",
      .found = fmt::format("q = (3, 1, 0, 0) against (1, 0, 0, 2) and (1, 0, 0, -2), equal energy "
                           "in all halves: the halves of q . c are {} and {}, and {} and {}",
                           one[0], one[1], other[0], other[1]),
      .exact = true,
      .holds = level_energy && one[0] + one[1] == other[0] + other[1] && one[0] != other[0]};
  return {std::move(balanced), std::move(unbalanced)};
}

}  // namespace tiersim::numerics
