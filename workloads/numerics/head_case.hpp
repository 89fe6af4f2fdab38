#pragma once
// A head ready to be measured: its sample, exact attention, and what each method has prepared
// offline from calibration tokens.
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/numerics/maple_int8.hpp"
#include "workloads/numerics/selection_quality.hpp"
#include "workloads/numerics/synthetic_layer.hpp"

namespace tiersim::numerics {

/// MAPLE of one rank for one head. Losses are shares of the power of Q K^T over the same tokens.
struct MapleFit {
  Index rank = 0;       ///< of the head: elements of a low-rank key
  Index projected = 0;  ///< k: columns of P, hidden * rank / head_dim
  double calibration_loss = 0;
  double held_out_loss = 0;
  double identity_loss = 0;           ///< calibration tokens, W_q and W_k columns of the identity,
  double identity_held_out_loss = 0;  ///< times the factor that fits best
  Int8Screen screen;
};

struct HeadCase {
  std::uint64_t seed = 0;  ///< of what is drawn for this head alone
  AttentionSample sample;
  std::vector<ExactStep> exact;
  std::optional<Vector> prompt_attention;  ///< none where the prompt's queries are not known
  Matrix basis;                            ///< Loki's, from calibration keys
  std::vector<MapleFit> maple;             ///< ascending in rank; empty without hidden states
};

/// The heads of one layer over one text, and over the tokens that methods are calibrated on.
struct LayerData {
  Matrix x;                                  ///< tokens x hidden; may be empty
  std::vector<AttentionSample> heads;        ///< over x
  Matrix calibration_x;                      ///< other tokens; empty like x
  std::vector<AttentionSample> calibration;  ///< the heads over those; only q and k are read
};

/// A synthetic layer, a text, and a calibration text of twice its length.
LayerData synthetic_layer_data(const SyntheticSpec& spec, std::uint64_t seed);

/// One case a head. `ranks`: of MAPLE, ascending, each at most head_dim; `seed`: of its projection.
std::vector<HeadCase> prepare(const LayerData& layer, const std::vector<Index>& ranks,
                              std::uint64_t seed);

}  // namespace tiersim::numerics
