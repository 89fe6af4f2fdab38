#pragma once
// The fetch of chosen rows: how many a choice amounts to, which engine copies them, in which pages,
// and the effect of a near-tier cache or a guessed query. All such methods describe it under
// `fetch`.
//
// From a choice of k positions for each query head to copied rows, for each sequence and cached
// head:
//   union     choose_per query_head: the g query heads of a group choose k each and their union is
//             fetched once; g counts as 1 + (1 - head_overlap) (g - 1) independent heads.
//             kv_head: the group chooses k together.
//   drafts    the q positions that a step verifies choose one after another: their union counts as
//             that of 1 + (1 - draft_overlap) (q - 1) independent ones, and is fetched once. Each
//             position reads its own rows, as kernels with an index list do. Hit rates are of the
//             first position; what others choose beside it is as likely in the cache as any row.
//             The nodes of a tree of drafts count as a chain.
//   hits      rows of the union that the row cache holds (hot_rows.hpp) are read there and not
//             fetched.
//   near      a share near_share of each sequence's rows lies near and is read in place. Or
//             near_rows of all sequences together, evenly, so that rows spill only where there are
//             more; a prefill counts its own sequences alone. It is the same share of the rest of
//             the union, as if every row were chosen as often; an overlap is of the far rows alone.
//   pages     the rest is copied in whole pages of `page` positions, aligned; a page with a chosen
//             row is fetched whole, and attention reads its chosen rows.
//   in flight a kernel that gives every sequence one block of threads has few bytes of it on their
//             way at a time (`in_flight`): a batch of few sequences then waits for round trips and
//             not for the link's bandwidth.
//   guess     step.overlap prefetch_screening: a share `guess_miss` of the union is not predicted.
//             It is screened again by the true query and copied by a second fetch, of which the
//             cache also holds its part. 0: the guess is used alone, and nothing is screened
//             twice.
// expected_rows.hpp has the formulas. Attention is 4 * k * head_dim FLOPs a query head whatever the
// union, since each head attends to its own rows.
#include <functional>
#include <optional>

#include "workloads/attention/hot_rows.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim {

enum class ChoosePer : std::uint8_t { kv_head, query_head };
inline constexpr std::array<std::string_view, 2> kChoosePerNames{"kv_head", "query_head"};

/// Choice of a screening: positions for each query head, in aligned blocks of `block`.
struct RowChoice {
  std::int64_t positions = 0;
  std::int64_t block = 1;
  /// Positions that are not chosen from, since every step attends to them.
  std::int64_t beside = 0;
};

/// Rows of a choice for one sequence and cached head, in positions.
struct RowCounts {
  std::int64_t attended = 0;  ///< by each query head
  std::int64_t listed = 0;    ///< entries of the index list: distinct positions or blocks of the
                              ///< heads of each new position
  double reads = 1;           ///< of each chosen row: more than one where drafts choose it, too
  std::int64_t cached = 0;    ///< read from the row cache
  std::int64_t near = 0;      ///< read in place from the near tier
  std::int64_t staged = 0;    ///< all others: read from staging
  std::int64_t fetched = 0;   ///< copied from the far tier: `staged` rounded up to whole pages
  std::int64_t again = 0;     ///< copied by the second fetch of a guessed layer
  std::int64_t listed_again = 0;
};

struct RowFetch {
  RequesterKind by = RequesterKind::sm;
  std::int64_t page = 1;
  std::optional<Bytes> in_flight = {};  ///< of each sequence and cached head
  Duration lookup{};                    ///< of the chosen rows in the row cache, before the copy
  ChoosePer choose_per = ChoosePer::kv_head;
  double head_overlap = 0;
  std::optional<HotRows> hot_rows = {};
  double near_share = 0;
  std::int64_t near_rows = 0;  ///< of positions, over all sequences of a GPU; or near_share
  double guess_miss = 0;
  std::optional<double> draft_overlap = {};  ///< of methods that verify drafts, described by them

  /// The key that keeps rows near; empty where all lie far.
  std::string near_key() const {
    return near_rows > 0 ? "near_rows" : near_share > 0 ? "near_share" : "";
  }
  RowCounts counts(const KvShape& shape, const RowChoice& choice) const;
  /// Settings that do not fit the model, the step, or rows in this tier.
  std::vector<MethodProblem> problems(const LlmConfig& model, const StepConfig& step, KvTier tier,
                                      const std::function<RowChoice(const KvShape&)>& choose) const;
  /// Positions of a sequence that are near although the method's rows lie far.
  std::int64_t near_positions(const KvShape& shape) const;
  /// Keys and values of every position of a method whose rows lie in this tier, but for those that
  /// are kept near.
  std::vector<CachedTensor> cached(const AttentionContext& context, KvTier tier) const;
  /// Number of blocks of a sequence that the row cache keeps.
  std::int64_t cache_blocks(const KvShape& shape, std::int64_t block) const;

 private:
  /// The number of `listed` blocks that the cache holds. Each step chooses `chosen` of the `all`
  /// blocks that may lie in it.
  std::int64_t hits(const KvShape& shape, std::int64_t block, std::int64_t chosen,
                    std::int64_t listed, std::int64_t all) const;
  /// The same without the limit of the cache's size.
  std::int64_t would_hit(const KvShape& shape, std::int64_t block, std::int64_t chosen,
                         std::int64_t listed, std::int64_t all) const;
};
void describe(Fields& f, RowFetch& c);

/// Rows in the near tier that every step attends to, whatever it chooses.
struct BesideRows {
  std::int64_t positions = 0;
  Parts parts = {};
};

/// The rows that a method chooses in one layer, and the operations of the choice.
struct ChosenRows {
  const RowFetch& fetch;
  KvTier tier = KvTier::far;
  RowChoice choice = {};
  /// Adds the operations that make the index list from the queries of `after`; returns the last
  /// one.
  std::function<OpId(OpId after)> screen = {};
  BesideRows beside = {};
  bool shared = false;  ///< chosen by an earlier layer, whose lookup it takes over
  /// Adds the operation that makes the keys of this many rows in staging, beside the copy. Values
  /// alone are then fetched.
  std::function<OpId(std::int64_t positions, OpId after)> make_keys = {};
};

/// Adds staging, index list and row cache of all layers. `whole` is the staging of a layer that
/// fetches every row; staging has the larger of the two sizes.
void add_row_buffers(StepGraph& graph, const AttentionContext& context, const ChosenRows& rows,
                     Bytes whole = {});

/// Adds screening, copies and attention of a layer. Near rows are read in place.
LayerOps add_chosen_rows(StepGraph& graph, const AttentionContext& context, const LayerInputs& in,
                         const ChosenRows& rows);

}  // namespace tiersim
