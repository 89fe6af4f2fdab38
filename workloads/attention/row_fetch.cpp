#include "workloads/attention/row_fetch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/attention/expected_rows.hpp"

namespace tiersim {
namespace {

// Positions of whole blocks among `rest`; the end of the context may cut the last one.
std::int64_t positions_of(std::int64_t rest, std::int64_t blocks, std::int64_t block) {
  return std::min(rest, blocks * block);
}

// Parts of the choice that attention reads, with their runs: near rows in place, far rows from
// staging and cache.
Parts chosen_parts(const KvShape& shape, const ChosenRows& rows, const RowCounts& counts) {
  const std::int64_t block = rows.choice.block;
  const auto read = [&](std::int64_t positions) {
    return counts.reads == 1 ? positions : whole_up(counts.reads * static_cast<double>(positions));
  };
  if (rows.tier == KvTier::near) return row_runs(shape, read(counts.staged), block);
  Parts parts = staged_rows(shape, read(counts.staged));
  for (const Part& part : row_runs(shape, read(counts.near), block)) parts.push_back(part);
  if (rows.fetch.page > 1) parts.front().run = shape.key_row();  // some rows of each page
  const std::int64_t run = std::min(block, counts.cached);
  parts.push_back({TensorClass::row_cache, shape.both(read(counts.cached)), shape.key_row() * run});
  return parts;
}

Parts attended_parts(const KvShape& shape, const ChosenRows& rows, const RowCounts& counts) {
  Parts parts = chosen_parts(shape, rows, counts);
  for (const Part& part : rows.beside.parts) parts.push_back(part);
  return parts;
}

// The copy of this many positions after `after`; invalid where there is nothing to copy.
OpId add_copy(StepGraph& graph, const AttentionContext& c, int layer, const ChosenRows& rows,
              std::int64_t positions, std::int64_t listed, OpIds after) {
  const Duration lookup = rows.shared ? Duration{} : rows.fetch.lookup;
  if (rows.tier == KvTier::near || (positions == 0 && lookup == Duration{})) return OpId();
  const KvShape shape(c);
  const std::int64_t run = std::max(rows.fetch.page, rows.choice.block);
  Parts parts = row_runs(shape, positions, run);
  if (rows.make_keys) parts = {parts.back()};
  return add_fetch(graph, c, layer,
                   {.by = rows.fetch.by,
                    .parts = parts,
                    .indices = shape.indices(listed),
                    .window = rows.fetch.in_flight.value_or(Bytes{}) * shape.sequences,
                    .lookup = lookup,
                    .after = std::move(after)});
}

// Invalid where the keys are copied, or there is none to make.
OpId add_keys(const ChosenRows& rows, std::int64_t positions, OpId after) {
  return rows.make_keys && positions > 0 ? rows.make_keys(positions, after) : OpId();
}

// Of `blocks` that are chosen among `rest` positions, those that lie among the `near` ones.
std::int64_t near_part(std::int64_t near, std::int64_t rest, std::int64_t blocks) {
  if (near >= rest) return blocks;
  return whole_down(static_cast<double>(near) / static_cast<double>(rest) *
                    static_cast<double>(blocks));
}

bool is_complete(const LlmConfig& model, const StepConfig& step) {
  return model.heads > 0 && model.cached_heads() > 0 && step.context > 0 &&
         model.attended(step.context) > 0;
}

}  // namespace

void describe(Fields& f, RowFetch& c) {
  f.doc("How the chosen rows come from the far tier.");
  f.optional("by", c.by, kCopierNames, "Who copies them.");
  f.optional("page", c.page, "Positions of a page; rows are copied in whole pages.",
             in_range(1, 65'536));
  f.optional(
      "in_flight", c.in_flight,
      "Bytes of each sequence and cached head that the kernel has on their way at a time; left "
      "out, as many as its engine.",
      positive());
  f.optional("lookup", c.lookup,
             "Time in which the kernel looks the chosen rows up in the row cache before it copies "
             "others; layers that share a choice look it up once.",
             in_range(Duration{}, Duration(kPicosecondsPerSecond)));
  f.optional("choose_per", c.choose_per, kChoosePerNames,
             "Query heads that share keys choose rows together, or each for itself.");
  f.optional("head_overlap", c.head_overlap,
             "How far query heads choose alike: 0 independently, 1 the same rows.",
             in_range(0.0, 1.0));
  f.optional("hot_rows", c.hot_rows, "A near-tier cache of rows that are often chosen.");
  f.optional("near_share", c.near_share,
             "Share of every sequence's rows that lies in the near tier, read in place.",
             in_range(0.0, 1.0));
  f.optional(
      "near_rows", c.near_rows,
      "Rows of all sequences of a GPU together that lie in the near tier, read in place; only "
      "those beyond spill to the far tier.",
      in_range(std::int64_t{0}, std::int64_t{1} << 40));
  f.check(c.near_rows == 0 || c.near_share == 0.0, "near_rows", "cannot stand beside near_share",
          "give one of them");
  f.optional("guess_miss", c.guess_miss, "Share of the rows that a guessed query does not foresee.",
             in_range(0.0, 1.0));
  f.check(c.choose_per == ChoosePer::query_head || c.head_overlap == 0.0, "head_overlap",
          "has no effect where the heads of a group choose together",
          "leave it out, or set choose_per: query_head");
}

std::int64_t RowFetch::cache_blocks(const KvShape& shape, std::int64_t block) const {
  if (!hot_rows) return 0;
  return hot_rows->rows.value_or(shape.chosen(hot_rows->share.value_or(0))) / block;
}

std::int64_t RowFetch::hits(const KvShape& shape, std::int64_t block, std::int64_t chosen,
                            std::int64_t listed, std::int64_t all) const {
  if (!hot_rows) return 0;
  const std::int64_t kept = cache_blocks(shape, block);
  return std::min({would_hit(shape, block, chosen, listed, all), listed, kept});
}

std::int64_t RowFetch::would_hit(const KvShape& shape, std::int64_t block, std::int64_t chosen,
                                 std::int64_t listed, std::int64_t all) const {
  const std::int64_t kept = cache_blocks(shape, block);
  const double rate = hot_rows->hits(kept, chosen, all);
  if (listed <= chosen) return whole_down(static_cast<double>(listed) * rate);
  const HotRows as_new{.overlap = 0};
  return whole_down(static_cast<double>(chosen) * rate +
                    static_cast<double>(listed - chosen) *
                        std::min(rate, as_new.hits(kept, chosen, all)));
}

std::int64_t RowFetch::near_positions(const KvShape& shape) const {
  if (near_rows > 0 && shape.spilled) return 0;
  if (near_rows > 0)
    return std::min(near_rows / std::max<std::int64_t>(1, shape.batch), shape.context);
  return std::min(shape.chosen(near_share), shape.context);
}

std::vector<CachedTensor> RowFetch::cached(const AttentionContext& context, KvTier tier) const {
  const KvShape shape(context);
  const std::int64_t near = tier == KvTier::near ? 0 : near_positions(shape);
  std::vector<CachedTensor> out;
  if (near < shape.context)
    out = cached_rows(context, tier_of(context, tier), shape.context - near);
  if (near > 0)
    for (const CachedTensor& tensor : cached_rows(context, context.placement.near, near))
      out.push_back(tensor);
  return out;
}

RowCounts RowFetch::counts(const KvShape& shape, const RowChoice& choice) const {
  const std::int64_t block = choice.block;
  const auto blocks_of = [block](std::int64_t positions) {
    return (positions + block - 1) / block;
  };
  const std::int64_t rest = shape.context - choice.beside;
  const std::int64_t chosen = blocks_of(std::min(choice.positions, rest));
  const auto group = static_cast<double>(shape.queries_per_row);
  const double heads =
      choose_per == ChoosePer::query_head ? 1.0 + (1.0 - head_overlap) * (group - 1.0) : 1.0;
  const std::int64_t near = near_positions(shape);
  const std::int64_t far = rest - near;
  const auto copied = [&](std::int64_t blocks) {
    const std::int64_t positions = std::min(far, positions_of(rest, blocks, block));
    if (positions == 0) return std::int64_t{0};
    return std::min(far, expected_pages(far, positions, page) * page);
  };
  // Blocks of the union beside `found` ones that lie near.
  const auto near_of = [&](std::int64_t listed, std::int64_t found) {
    return near_part(near, rest, listed - found);
  };

  const std::int64_t blocks = std::max<std::int64_t>(1, blocks_of(rest));
  const std::int64_t one = expected_union(blocks, chosen, heads);
  const auto drafts = static_cast<double>(shape.new_positions - 1);
  const double alike = draft_overlap.value_or(hot_rows ? hot_rows->overlap.value_or(0) : 0);
  const std::int64_t all =
      drafts == 0 ? one : expected_union(blocks, chosen, heads * (1.0 + (1.0 - alike) * drafts));
  RowCounts out{.attended = positions_of(rest, chosen, block),
                .listed = one * shape.new_positions,
                .reads = all == one ? static_cast<double>(shape.new_positions)
                                    : static_cast<double>(one * shape.new_positions) /
                                          static_cast<double>(all)};
  // Under an overlap the cache holds far rows alone; under a hit rate it may hold near ones, too.
  const bool far_alone = hot_rows && hot_rows->overlap && near > 0;
  const auto found_of = [&](std::int64_t listed) {
    if (!far_alone) return hits(shape, block, one, listed, blocks_of(rest));
    return hits(shape, block, one - near_of(one, 0), listed - near_of(listed, 0), blocks_of(far));
  };
  const std::int64_t found = found_of(all);
  out.cached = positions_of(rest, found, block);
  const std::int64_t in_place = near_of(all, far_alone ? 0 : found);
  out.near = positions_of(rest, in_place, block);
  out.staged = std::min(far, positions_of(rest, all - found - in_place, block));
  out.fetched = copied(all - found - in_place);
  out.listed_again = whole_up(static_cast<double>(all) * guess_miss);
  const std::int64_t found_again = found_of(out.listed_again);
  out.again = copied(out.listed_again - found_again -
                     near_of(out.listed_again, far_alone ? 0 : found_again));
  return out;
}

std::vector<MethodProblem> RowFetch::problems(
    const LlmConfig& model, const StepConfig& step, KvTier tier,
    const std::function<RowChoice(const KvShape&)>& choose) const {
  std::vector<MethodProblem> out;
  const auto unused = [&](bool set, const std::string& key, const char* where, const char* hint) {
    if (set) out.push_back({"fetch." + key, std::string("has no effect ") + where, hint});
  };
  const char* near_hint = "leave it out, or set kv_tier: far";
  unused(tier == KvTier::near && page > 1, "page", "on rows in the near tier", near_hint);
  unused(tier == KvTier::near && in_flight, "in_flight", "on rows in the near tier", near_hint);
  unused(tier == KvTier::far && in_flight && by != RequesterKind::sm, "in_flight",
         "on copies of an engine", "leave it out, or set by: sm");
  unused(!hot_rows && lookup > Duration{}, "lookup", "without a row cache",
         "leave it out, or give hot_rows");
  unused(tier == KvTier::near && hot_rows, "hot_rows", "on rows in the near tier", near_hint);
  unused(tier == KvTier::near && !near_key().empty(), near_key(), "on rows in the near tier",
         near_hint);
  unused(tier == KvTier::near && guess_miss > 0, "guess_miss", "on rows in the near tier",
         near_hint);
  unused(tier == KvTier::far && guess_miss > 0 && step.overlap != Overlap::prefetch_screening,
         "guess_miss", "where no query is guessed",
         "leave it out, or set step.overlap: prefetch_screening");
  unused(choose_per == ChoosePer::query_head && model.heads == model.cached_heads(), "choose_per",
         "where every query head has rows of its own", "leave it out");
  unused(tier == KvTier::far && near_rows > 0 && near_rows < step.batch, "near_rows",
         "below one row of each sequence", "step.batch or more, or leave it out");
  if (!hot_rows || !is_complete(model, step)) return out;
  const KvShape shape({.model = model, .step = step, .placement = {}});
  const RowChoice choice = choose(shape);
  const std::int64_t listed = counts(shape, choice).listed;
  const std::int64_t near = hot_rows->overlap ? near_positions(shape) : 0;
  const std::int64_t rest = shape.context - choice.beside;
  const std::int64_t all = (rest - near + choice.block - 1) / choice.block;
  const std::int64_t far_listed = listed - near_part(near, rest, listed);
  const std::int64_t found = would_hit(shape, choice.block, far_listed, far_listed, all);
  const std::int64_t kept = cache_blocks(shape, choice.block);
  const bool by_share = hot_rows->share.has_value();
  const std::string key = by_share ? "fetch.hot_rows.share" : "fetch.hot_rows.rows";
  if (hot_rows->overlap && kept < far_listed)
    out.push_back(
        {key,
         fmt::format("keeps {} of a sequence's rows, fewer than the {} {}that a step chooses",
                     kept * choice.block, far_listed * choice.block, near > 0 ? "far ones " : ""),
         "as many or more"});
  else if (found > kept)
    out.push_back(
        {key,
         fmt::format("keeps {} of a sequence's rows and would be hit by {}", kept * choice.block,
                     found * choice.block),
         by_share ? "raise the share or lower the hit rate" : "more rows, or a lower hit rate"});
  return out;
}

void add_row_buffers(StepGraph& graph, const AttentionContext& context, const ChosenRows& rows,
                     Bytes whole) {
  const KvShape shape(context);
  const TierId near = context.placement.near;
  const RowCounts counts = rows.fetch.counts(shape, rows.choice);
  const std::int64_t layers = layers_in_flight(context.step);
  const Bytes staged = shape.both(counts.fetched + counts.again);
  if (rows.tier == KvTier::far)
    add_tensor(graph, TensorClass::staging, near, std::max(whole, staged) + staged * (layers - 1));
  add_tensor(graph, TensorClass::indices, near, shape.indices(counts.listed) * layers);
  if (!rows.fetch.hot_rows) return;
  const std::int64_t block = rows.choice.block;
  const std::int64_t kept = rows.fetch.cache_blocks(shape, block) * block;
  add_tensor(graph, TensorClass::row_cache, near, shape.both(kept) * context.model.layers);
}

LayerOps add_chosen_rows(StepGraph& graph, const AttentionContext& context, const LayerInputs& in,
                         const ChosenRows& rows) {
  const KvShape shape(context);
  const RowCounts counts = rows.fetch.counts(shape, rows.choice);
  OpId screened = rows.screen(in.screen_after);
  OpId fetched = add_copy(graph, context, in.layer, rows, counts.fetched, counts.listed,
                          in.in_copy_order(screened));
  const OpId made = add_keys(rows, counts.staged, screened);
  OpId made_again;
  OpIds after{fetched.valid() ? fetched : screened};
  if (in.guessed()) after.push_back(in.projected);
  if (in.guessed() && rows.fetch.guess_miss > 0) {
    screened = rows.screen(in.projected);
    OpIds ready{screened};
    if (fetched.valid()) ready.push_back(fetched);
    const OpId missed =
        add_copy(graph, context, in.layer, rows, counts.again, counts.listed_again, ready);
    made_again = add_keys(rows, counts.again, screened);
    if (missed.valid()) fetched = missed;
    after = {missed.valid() ? missed : screened};
    if (!missed.valid() && fetched.valid()) after.push_back(fetched);
  }
  for (const OpId keys : {made, made_again})
    if (keys.valid()) after.push_back(keys);
  return {
      .attended = add_attention(graph, context, in.layer, counts.attended + rows.beside.positions,
                                attended_parts(shape, rows, counts), after, RowOrder::by_index),
      .fetched = fetched};
}

}  // namespace tiersim
