#pragma once
// How many drafted tokens the verification of a speculative step accepts.
//
//   p_i        probability that draft i is accepted after all before it were
//   c_i        p_1 p_2 ... p_i: at least i drafts are accepted
//   E(k)       1 + c_1 + ... + c_k: mean tokens of a step with k drafts, with the token that the
//              verification itself gives (the mean acceptance length that engines report)
//
//   rate         p_i = a: E(k) = (1 - a^(k+1)) / (1 - a) (Leviathan et al. 2023, arXiv 2211.17192,
//                equation 1)
//   by_position  p_1, p_2, ...; the last one stands for all later positions
//   mean_length  the rate at which E is this for the stated number of drafts
//   by_depth     for each depth of a tree (draft_tree.hpp) the probabilities of a node's children,
//                the likeliest first, each after its parent was accepted; the last depth
//                stands for all later ones. c_i is then the sum over the nodes at depth i of the
//                product along their paths
//
// Acceptance is independent between the steps of a sequence and between sequences.
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Probabilities of the children of a node at one depth.
struct RankAcceptance {
  std::vector<Sourced<double>> ranks = {};
};
void describe(Fields& f, RankAcceptance& c);

/// Exactly one of these is stated.
struct AcceptanceConfig {
  std::optional<Sourced<double>> rate = {};
  std::vector<Sourced<double>> by_position = {};
  std::optional<Sourced<double>> mean_length = {};
  std::vector<RankAcceptance> by_depth = {};
};
void describe(Fields& f, AcceptanceConfig& c);

class AcceptanceLaw {
 public:
  /// `tokens`: the drafts for which a mean length is stated; `most`: the largest number of drafts
  /// of a step; `widths`: of a tree, empty for a chain. Precondition: `config` was read without
  /// mistakes.
  AcceptanceLaw(const AcceptanceConfig& config, std::int64_t tokens, std::int64_t most,
                const std::vector<std::int64_t>& widths = {});

  /// E(drafts).
  double mean_tokens(std::int64_t drafts) const;
  /// Accepted ones of `drafts`, one after another, in a step of a request that has `generated`
  /// tokens: a pure function of its arguments, so that no order of calls matters. At least i with
  /// probability c_i.
  std::int64_t accepted(std::uint64_t seed, std::int64_t request, std::int64_t generated,
                        std::int64_t drafts) const;

 private:
  /// c_i for each depth i, from 0, of this many drafts.
  const std::vector<double>& at_least(std::int64_t drafts) const {
    return at_least_.at(static_cast<std::size_t>(drafts));
  }

  std::vector<std::vector<double>> at_least_;  // by number of drafts, from 0
};

/// The rate a with 1 + a + ... + a^tokens = length, by bisection; 1 < length <= tokens + 1.
double rate_of_length(double length, std::int64_t tokens);

}  // namespace tiersim
