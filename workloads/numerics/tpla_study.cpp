#include "workloads/numerics/tpla_study.hpp"

#include <span>
#include <utility>
#include <vector>

#include "workloads/numerics/tpla_errors.hpp"
#include "workloads/numerics/tpla_exact.hpp"
#include "workloads/numerics/tpla_prefill.hpp"

namespace tiersim::numerics {
namespace {

void append(std::vector<Statement> more, std::vector<Statement>& to) {
  for (Statement& s : more) to.push_back(std::move(s));
}

std::vector<Statement> exact_statements(const std::vector<NamedSample>& samples) {
  std::vector<Statement> out = equality_statements(samples);
  out.push_back(grouped_statement(samples.front()));
  append(hadamard_examples(), out);
  return out;
}

struct SeedCounts {
  int wide = 0;
  int decaying = 0;
  int isotropic = 0;
};

std::vector<SliceErrorFamily> families(std::uint64_t seed, const SeedCounts& seeds,
                                       std::span<const Eigen::Index> shards) {
  return {slice_errors("tpla_errors_512", "latent 512", paper_wide(), seed, seeds.wide, shards),
          slice_errors("tpla_errors_64", "latent 64", decaying(), seed, seeds.decaying, shards),
          slice_errors("tpla_errors_isotropic", "isotropic latent 64", isotropic(), seed,
                       seeds.isotropic, shards)};
}

}  // namespace

Study tpla_study(std::uint64_t seed) {
  Study study{.name = "tpla", .tables = {}, .curves = {}, .statements = {}};
  Rng rng(seed, "tpla equalities");
  TplaAssumptions wide = paper_wide();
  wide.calibration_tokens = wide.sizes.rank;  // PCA is equally orthogonal after few tokens
  append(exact_statements(
             {named_sample(rng, "latent 64", decaying()), named_sample(rng, "latent 512", wide)}),
         study.statements);

  const std::vector<SliceErrorFamily> all =
      families(seed, {.wide = 2, .decaying = 5, .isotropic = 3}, kShardCounts);
  append(error_statements(all[0], {all[1], all[2]}), study.statements);
  study.tables.push_back(balance_table(all));
  for (const SliceErrorFamily& family : all) study.tables.push_back(error_table(family));
  study.curves.push_back(error_curve(all[0]));
  add_prefill_study(seed, 2, study);
  return study;
}

std::vector<Statement> tpla_statements(std::uint64_t seed) {
  Study study{.name = "tpla", .tables = {}, .curves = {}, .statements = {}};
  Rng rng(seed, "tpla equalities");
  append(exact_statements({named_sample(rng, "latent 64", decaying())}), study.statements);
  const auto two = std::span(kShardCounts).first<1>();
  const std::vector<SliceErrorFamily> all =
      families(seed, {.wide = 1, .decaying = 3, .isotropic = 2}, two);
  append(error_statements(all[0], {all[1], all[2]}), study.statements);
  add_prefill_study(seed, 1, study, two);
  return std::move(study.statements);
}

}  // namespace tiersim::numerics
