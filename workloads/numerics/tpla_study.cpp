#include "workloads/numerics/tpla_study.hpp"

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

}  // namespace

Study tpla_study(std::uint64_t seed) {
  Study study{.name = "tpla", .tables = {}, .curves = {}, .statements = {}};
  Rng rng(seed, "tpla equalities");
  TplaAssumptions wide = paper_wide();
  wide.calibration_tokens = wide.sizes.rank;  // PCA is as orthogonal after few as after many
  const std::vector<NamedSample> samples = {named_sample(rng, "latent 64", decaying()),
                                            named_sample(rng, "latent 512", wide)};
  append(equality_statements(samples), study.statements);
  study.statements.push_back(grouped_statement(samples.front()));
  append(hadamard_examples(), study.statements);

  const std::vector<SliceErrorFamily> families = {
      slice_errors("tpla_errors_512", "latent 512", paper_wide(), seed, 2),
      slice_errors("tpla_errors_64", "latent 64", decaying(), seed, 5),
      slice_errors("tpla_errors_isotropic", "isotropic latent 64", isotropic(), seed, 3)};
  append(error_statements(families[0], {families[1], families[2]}), study.statements);
  study.tables.push_back(balance_table(families));
  for (const SliceErrorFamily& family : families) study.tables.push_back(error_table(family));
  study.curves.push_back(error_curve(families[0]));
  add_prefill_study(seed, 2, study);
  return study;
}

}  // namespace tiersim::numerics
