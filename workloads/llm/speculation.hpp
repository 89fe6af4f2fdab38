#pragma once
// Speculative decoding: a draft proposes k tokens for each sequence, and one pass of the model
// verifies them, with its own next token, as k + 1 new positions (Leviathan et al. 2023, arXiv
// 2211.17192; Chen et al. 2023, arXiv 2302.01318).
//
//   draft       who proposes
//     mtp         the model's multi-token-prediction modules, one layer each (DeepSeek-V3, arXiv
//                 2412.19437, section 2.2); with fewer modules than drafts the last one repeats
//     eagle       a head of few layers over the model's hidden states (Li et al. 2024, arXiv
//                 2401.15077; EAGLE-3, arXiv 2503.01840)
//     model       a small model of its own
//     ngram       a search in the text so far on the CPU (prompt lookup)
//     early_exit  the model's first layers and its head, whose results the verification uses again
//                 (Elhoushi et al. 2024, LayerSkip, arXiv 2404.16710)
//   tokens      k, which may depend on the number of decoding sequences (tokens_by_batch)
//   acceptance  acceptance.hpp
//   tree        a draft may propose several tokens for one place (draft_tree.hpp); k counts all
//
// A step with 0 tokens is one without speculation, except that memory is laid out for the largest
// k. The draft then rests, and the rows that its cache lacks when it drafts again are not counted.
// Left out: trees whose shape changes from step to step, and the drafts' own sampling.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "workloads/llm/acceptance.hpp"
#include "workloads/llm/data_type.hpp"
#include "workloads/llm/draft_tree.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim {

enum class DraftKind : std::uint8_t { mtp, eagle, model, ngram, early_exit };
inline constexpr std::array<std::string_view, 5> kDraftKindNames{"mtp", "eagle", "model", "ngram",
                                                                 "early_exit"};

struct DraftConfig {
  std::string kind = {};  ///< a name of a DraftKind
  /// Element type of the draft's weights; by default that of the model's. Of mtp, eagle, model.
  std::optional<DataType> weight_type = {};
  /// CPU time to dispatch one pass where no graph holds the whole of it: the GPU works meanwhile,
  /// and the next pass begins after both. Of mtp, eagle, model.
  std::optional<Sourced<Duration>> dispatch = {};
  std::optional<DraftTreeConfig> tree = {};  ///< none: a chain
  // eagle
  std::int64_t layers = 1;
  std::int64_t inputs = 2;  ///< vectors of the model's width that its input projection joins
  std::optional<std::int64_t> vocabulary = {};  ///< of a head of its own; absent: the model's head
  // model
  LlmConfig model = {};
  // early_exit
  std::int64_t layer = 1;  ///< layers that draft
  // ngram
  Sourced<Duration> host = {.value = Duration(30'000'000),
                            .source = "assumed: 10000 tokens are searched at 3 ns each"};

  bool is(DraftKind of) const { return kind == kDraftKindNames[static_cast<std::size_t>(of)]; }
  /// True where it has weights and a cache beside the model's.
  bool has_tensors() const { return !is(DraftKind::ngram) && !is(DraftKind::early_exit); }
  bool branches() const { return tree && tree->branches(); }
};
void describe(Fields& f, DraftConfig& c);

/// From this number of decoding sequences on, so many drafts.
struct TokensFrom {
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
};
void describe(Fields& f, TokensFrom& c);

struct SpeculationConfig {
  DraftConfig draft = {};
  std::int64_t tokens = 0;
  std::vector<TokensFrom> tokens_by_batch = {};  ///< batches rise
  AcceptanceConfig acceptance = {};

  /// Drafts of a step of this many decoding sequences of a replica.
  std::int64_t tokens_at(std::int64_t batch) const;
  std::int64_t most_tokens() const;
  AcceptanceLaw law() const {
    return {acceptance, tokens, most_tokens(),
            draft.tree ? draft.tree->widths : std::vector<std::int64_t>{}};
  }
  /// The tree of this many drafts; one of a node at each depth where it does not branch.
  TreeShape shape(std::int64_t drafts) const;
  /// The mask of a verification of this many drafts; none of a chain.
  TreeMask mask(std::int64_t drafts) const {
    return draft.branches() && drafts > 0 ? shape(drafts).mask : TreeMask{};
  }
};
void describe(Fields& f, SpeculationConfig& c);

/// A setting that does not fit the model or what surrounds it, reported to the user.
struct SpeculationProblem {
  std::string path;  ///< dotted, within the mapping of SpeculationConfig
  std::string message;
  std::string hint;
};
/// Problems with this model; empty where there are none. Either may be incomplete after errors.
std::vector<SpeculationProblem> speculation_problems(const SpeculationConfig& config,
                                                     const LlmConfig& model);

}  // namespace tiersim
