#pragma once
// A head ready for measurement: its sample, exact attention, and the offline preparation of each
// method from calibration tokens.
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/numerics/maple_int8.hpp"
#include "workloads/numerics/selection_quality.hpp"
#include "workloads/numerics/synthetic_layer.hpp"

namespace tiersim::numerics {

/// A MAPLE fit of one rank for one head. Losses are shares of the power of Q K^T over the same
/// tokens; 0 where they were left out.
struct MapleFit {
  Index rank = 0;       ///< of the head: number of elements of a low-rank key
  Index projected = 0;  ///< k: columns of P, hidden * rank / head_dim
  double calibration_loss = 0;
  double held_out_loss = 0;
  double identity_loss = 0;           ///< calibration tokens, best multiple of identity columns
  double identity_held_out_loss = 0;  ///< the same on held-out tokens
  Int8Screen screen;
};

struct HeadCase {
  std::uint64_t seed = 0;  ///< for random draws of this head alone
  AttentionSample sample;
  std::vector<ExactStep> exact;
  std::optional<Vector> prompt_attention;  ///< empty where the prompt's queries are not known
  Matrix basis;                            ///< Loki's, from calibration keys
  std::vector<MapleFit> maple;             ///< in rising order of rank; empty without hidden states
};

/// The heads of one layer over one text, and over the calibration tokens of the methods.
struct LayerData {
  Matrix x;                            ///< tokens x hidden; may be empty
  std::vector<AttentionSample> heads;  ///< the heads over x
  Matrix calibration_x;                ///< other tokens; empty like x
  /// The heads over calibration_x; only q and k are read.
  std::vector<AttentionSample> calibration;
};

/// A synthetic layer, a text, and a calibration text of twice its length.
LayerData synthetic_layer_data(const SyntheticSpec& spec, std::uint64_t seed);

/// Whether the losses of MAPLE's fits are computed, which takes longer than the fits. No choice of
/// rows depends on them.
enum class FitLosses : std::uint8_t { computed, left_out };

/// One case for each head. `ranks`: MAPLE's, in rising order, each at most head_dim; `seed`: of
/// MAPLE's projection.
std::vector<HeadCase> prepare(const LayerData& layer, const std::vector<Index>& ranks,
                              std::uint64_t seed, FitLosses losses = FitLosses::computed);

}  // namespace tiersim::numerics
