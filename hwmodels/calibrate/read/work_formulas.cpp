#include "hwmodels/calibrate/read/work_formulas.hpp"

#include <algorithm>
#include <set>

#include "sim/expression/expression.hpp"

namespace tiersim {
namespace {

// Splits of a sequence with tokens, where each split is whole tiles of 64 tokens.
constexpr std::string_view kFilled64 = "ceil(context / (64 * ceil(ceil(context / 64) / splits)))";

// Attention of one token over a cache of keys and values. With splits the parts and their
// log-sum-exp are written, and read again by the kernel that combines them.
WorkFormula decode(std::string_view name, std::string_view flops) {
  return {.name = name,
          .values = {{"rows", "batch * kv_heads * group"}, {"filled", kFilled64}},
          .memory_bytes = {"4 * head_dim * batch * context * kv_heads + 4 * head_dim * rows + "
                           "4 * batch + if(splits > 1, 8 * rows * (head_dim * filled + splits), "
                           "0)"},
          .flops = flops};
}

void add_attention(std::vector<WorkFormula>& all) {
  all.push_back(decode("dense_decode",
                       "4 * head_dim * 16 * ceil(context / 16) * rows + "
                       "if(splits > 1, 2 * head_dim * filled * rows, 0)"));
  // Query heads are rows of matrix tiles of 16.
  all.push_back(decode("gqa_decode",
                       "4 * head_dim * 16 * ceil(context / 16) * batch * kv_heads * 16 + "
                       "if(splits > 1, 2 * head_dim * filled * rows, 0)"));
  all.push_back(
      {.name = "latent_decode",
       .variant = "mma_sync",
       .values = {{"row", "2 * (latent_dim + rope_dim)"},
                  {"tile", "if(latent_dim == 256 and heads == 64, 32, 64)"},
                  {"filled", "ceil(context / (tile * ceil(ceil(context / tile) / splits)))"}},
       .memory_bytes = {"batch * (row * (context + heads) + 4 + paged * 4 * ceil(context / 64) + "
                        "2 * latent_dim * heads + "
                        "if(splits > 1, 8 * heads * (latent_dim * filled + splits), 0))"},
       .flops = "batch * heads * (2 * (2 * latent_dim + rope_dim) * tile * ceil(context / tile) + "
                "if(splits > 1, 2 * latent_dim * filled, 0))"});
  // Two warpgroups of a block share its heads, the columns of its values, or its tokens by turns.
  // Tokens by turns are two splits a block.
  all.push_back(
      {.name = "latent_decode",
       .variant = "wgmma",
       .values = {{"row", "2 * (latent_dim + rope_dim)"},
                  {"per_block", "if(latent_dim == 256 and heads % 128 == 0, 128, 64)"},
                  {"turns", "if(latent_dim == 256 and per_block == 64, 2, 1)"},
                  {"tiles", "ceil(context / 64)"},
                  {"each", "ceil(tiles / (splits / turns))"},
                  {"blocks", "ceil(tiles / each)"},
                  {"outputs",
                   "(blocks - 1) * min(turns, each) + min(turns, tiles - (blocks - 1) * each)"}},
       .memory_bytes = {"batch * (64 * tiles * row + paged * 4 * tiles + row * heads + 4 + "
                        "heads * (8 * (outputs * latent_dim + splits) + 2 * latent_dim))"},
       .flops = "batch * (64 * tiles * per_block * ceil(heads / per_block) * "
                "2 * (2 * latent_dim + rope_dim) + 2 * latent_dim * outputs * heads)"});
  all.push_back({.name = "append_latent",
                 .values = {{"row", "latent_dim + rope_dim"}},
                 .memory_bytes = {"batch * (row * element + 4 + 4 * paged + 2 * row) + "
                                  "2 * latent_dim"},
                 .flops = "2 * latent_dim * batch"});
  all.push_back({.name = "join_shards", .memory_bytes = {"6 * batch * width"}, .flops = "0"});
}

// Numbers of 4 bytes are chosen by a radix select, whose scores are read in units of 16 bytes.
void add_screening(std::vector<WorkFormula>& all) {
  constexpr std::string_view kAttendedBytes =
      "rows * (count * (4 * head_dim + id_bytes) + 2 * head_dim + "
      "if(splits > 1, 8 * splits * (head_dim + 1) - 4 * head_dim * (splits - filled) + "
      "2 * head_dim, 2 * head_dim))";
  const std::vector<std::pair<std::string_view, std::string_view>> attended{
      {"rows", "batch * heads"},
      {"count", "min(tokens, k)"},
      {"filled", "ceil(count / (32 * ceil(ceil(k / splits) / 32)))"},
      {"attention",
       "4 * head_dim * 32 * ceil(count / 32) + "
       "if(splits > 1, 2 * head_dim * filled, 0)"}};
  all.push_back({.name = "maple_screen",
                 .memory_bytes = {"4 * batch + batch * heads * (k * id_bytes + "
                                  "if(tokens > k, tokens * rank + rank, 0))"},
                 .flops = "batch * heads * if(tokens > k, 128 * ceil(tokens / 128) * rank * 2, "
                          "0)"});
  all.push_back({.name = "topk",
                 .memory_bytes = {"4 * batch + batch * heads * (k * id_bytes + "
                                  "if(tokens > k, 16 * ceil(tokens * element / 16), 0))"},
                 .flops = "0"});
  WorkFormula selected{
      .name = "selected_attention", .values = attended, .flops = "rows * attention"};
  selected.values.emplace_back("attended", kAttendedBytes);
  selected.memory_bytes = {"4 * batch + attended"};
  all.push_back(selected);
  for (const bool two : {true, false}) {
    WorkFormula scores{.name = "sparq_scores", .variant = two ? "two_copies" : "one_copy"};
    scores.values = {{"rows", "batch * heads"},
                     {"units", "8 * ceil(tokens / 8)"},
                     {"read", two ? "units" : "tokens"},
                     {"scored", two ? "units" : "32 * ceil(tokens / 32)"}};
    scores.memory_bytes = {"4 * batch + rows * (read * components * 2 + head_dim * 2 + units * 4)"};
    scores.flops = "rows * scored * components * 2";
    all.push_back(scores);
    // Scores, choice and attention, with numbers of rows of 2 bytes.
    WorkFormula whole = scores;
    whole.name = "sparq";
    whole.values.erase(whole.values.begin());
    whole.values.insert(whole.values.begin(), attended.begin(), attended.end());
    whole.values.emplace(whole.values.begin(), "id_bytes", "2");
    whole.values.emplace_back("attended", kAttendedBytes);
    whole.memory_bytes = {
        "12 * batch + rows * (read * components * 2 + head_dim * 2 + units * 4 + "
        "k * id_bytes + if(tokens > k, 16 * ceil(tokens / 4), 0)) + attended"};
    whole.flops = "rows * (scored * components * 2 + attention)";
    all.push_back(whole);
  }
  for (const std::string_view sort : {"block_sort", "segmented_sort"})
    all.push_back({.name = sort, .memory_bytes = {"4 * rows * (tokens + k)"}, .flops = "0"});
}

// Scores of an indexer, the choice by them, the hot buffer of chosen rows, and attention over them.
void add_sparse_offload(std::vector<WorkFormula>& all) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"count", "min(context, k)"}, {"missed", "min(misses, count)"}};
  all.push_back({.name = "indexer_scores",
                 .values = {{"scored", "32 * ceil(context / 32)"}},
                 .memory_bytes = {"batch * (4 + heads * (dim + 4) + context * (dim + 4) + "
                                  "4 * ceil(context / 64) + 4 * scored)"},
                 .flops = "2 * batch * heads * (dim + 1) * scored"});
  all.push_back({.name = "topk_long",
                 .memory_bytes = {"batch * (4 + 4 * k + if(tokens > k, 16 * ceil(tokens / 4), 0))"},
                 .flops = "0"});
  all.push_back({.name = "lru_update",
                 .values = rows,
                 .memory_bytes = {"batch * (8 + 12 * count + 16 * slots + 4 * k)"},
                 .flops = "0"});
  for (const bool staged : {true, false}) {
    all.push_back(
        {.name = "hot_step",
         .variant = staged ? "staged" : "missed",
         .values = rows,
         .memory_bytes = {staged ? "batch * (8 + 4 * count + 16 * slots + 4 * k + 4 * missed + "
                                   "2 * count * row_bytes)"
                                 : "batch * (8 + 4 * count + 16 * slots + 4 * k + "
                                   "missed * (4 + row_bytes))"},
         .link_read_bytes = "batch * missed * row_bytes",
         .flops = "0"});
    all.push_back(
        {.name = "hot_gather",
         .variant = staged ? "staged" : "missed",
         .values = rows,
         .memory_bytes = {staged ? "batch * (8 + 8 * count + 4 * missed + 2 * count * row_bytes)"
                                 : "batch * (4 + missed * (12 + row_bytes))"},
         .link_read_bytes = "batch * missed * row_bytes",
         .flops = "0"});
  }
  all.push_back(
      {.name = "sparse_latent",
       .values = {{"row", "latent_dim + 4 * ceil(latent_dim / 128) + 2 * rope_dim"},
                  {"tiles", "ceil(k / number1)"},
                  {"filled", "ceil(k / (number1 * ceil(tiles / splits)))"}},
       .memory_bytes = {"batch * (4 + k * (row + 4) + heads * (2 * (latent_dim + rope_dim) + "
                        "2 * latent_dim + "
                        "if(splits > 1, 8 * (latent_dim * filled + splits), 0)))"},
       .flops = "batch * heads * (2 * (2 * latent_dim + rope_dim) * number1 * tiles + "
                "if(splits > 1, 2 * latent_dim * filled, 0))"});
}

// A vote reads the flags of earlier layers from the second layer on.
void add_early_exit(std::vector<WorkFormula>& all) {
  all.push_back({.name = "lm_head",
                 .values = {{"tiles", "ceil(vocabulary / number1)"}},
                 .memory_bytes = {"2 * depth * (vocabulary + tokens) + 32 * tokens * tiles + "
                                  "20 * tokens + 8"},
                 .flops = "2 * tiles * number1 * number2 * ceil(tokens / number2) * "
                          "64 * ceil(depth / 64)"});
  all.push_back({.name = "residual_vote",
                 .variant = "cosine",
                 .memory_bytes = {"8 * rows * depth + 12 * rows + 20"},
                 .flops = "6 * rows * depth"});
  all.push_back({.name = "residual_vote",
                 .variant = "classifier",
                 .memory_bytes = {"6 * rows * depth + 2 * depth + 12 * rows + 20"},
                 .flops = "4 * rows * depth"});
  for (const bool graph : {true, false})
    all.push_back({.name = "depth",
                   .variant = graph ? "graph_if" : "host_read",
                   .memory_bytes = {graph ? "exit * (6 * rows * depth + 12 * rows + 20) + "
                                            "4 * rows * (exit - 1)"
                                          : "exit * (6 * rows * depth + 12 * rows + 24) + "
                                            "4 * rows * (exit - 1)"},
                   .link_write_bytes = graph ? "0" : "4 * exit",
                   .flops = "exit * 6 * rows * depth"});
  for (const bool wide : {true, false})
    all.push_back({.name = "kv_fill",
                   .variant = wide ? "wide" : "skinny",
                   .values = {{"inner", "64 * heads"}},
                   .memory_bytes = {"2 * depth * (2 * layers * inner + tokens) + 8 * tokens + "
                                    "4 * layers * inner * tokens"},
                   .flops = wide ? "4 * layers * number1 * ceil(inner / number1) * number2 * "
                                   "ceil(tokens / number2) * 64 * ceil(depth / 64)"
                                 : "4 * layers * inner * depth * number1 * ceil(tokens / "
                                   "number1)"});
}

// Six projections and two attentions. project_wide pads depths and tokens to 64, the skinny form
// tokens to the number in its name.
void add_decoder_layer(std::vector<WorkFormula>& all) {
  for (const std::string_view variant : {"skinny", "mixed", "wide"}) {
    const bool large = variant != "skinny";
    WorkFormula formula{.name = "decoder_layer", .variant = variant};
    formula.values = {
        {"inner", "64 * heads"},
        {"few", variant == "wide" ? "64 * ceil(tokens / 64)" : "number1 * ceil(tokens / number1)"},
        {"many", large ? "64 * ceil(tokens / 64)" : "few"},
        {"deep", large ? "64 * ceil(depth / 64)" : "depth"},
        {"deep_small", variant == "wide" ? "deep" : "depth"},
        {"wide_small", variant == "wide" ? "64 * ceil(wide / 64)" : "wide"},
        {"products",
         "2 * (3 * inner * deep + 2 * wide * deep) * many + "
         "2 * (2 * depth * inner + inner * deep_small + depth * wide_small) * few"},
        {"self_idle", "if(decoded >= 16, 0, 4 * (16 - decoded))"},
        {"cross_idle", "if(encoded == 0 or encoded >= 16, 0, 4 * (16 - encoded))"}};
    formula.memory_bytes = {
        "2 * depth * (3 * inner + tokens) + 6 * inner * tokens + 4 * tokens + "
        "2 * (2 * inner * (depth + tokens) + 4 * depth * tokens) + "
        "2 * depth * (inner + tokens) + 2 * inner * tokens + "
        "2 * depth * (2 * wide + tokens) + 2 * wide * tokens + "
        "2 * wide * (depth + tokens) + 4 * depth * tokens + "
        "tokens * (heads * (512 + 256 * (decoded + encoded)) + 8) + 4 * heads * decoded"};
    formula.flops =
        "products + tokens * 128 * heads * (128 * ceil(decoded / 64) - self_idle + "
        "128 * ceil(encoded / 64) - cross_idle)";
    all.push_back(formula);
  }
}

void add_ceilings(std::vector<WorkFormula>& all) {
  all.push_back({.name = "device_copy", .memory_bytes = {"2 * bytes"}, .flops = "0"});
  // A sum of 4 bytes is written by each of 512 threads a block, and the numbers of rows are read.
  constexpr std::string_view kSums =
      "4 * 512 * blocks + if(row_bytes > 0, 4 * read_bytes / max(row_bytes, 1), 0)";
  for (const std::string_view name : {"read_sum", "row_gather", "host_load"}) {
    const bool link = name == "host_load";
    all.push_back({.name = name,
                   .values = {{"sums", kSums}},
                   .memory_bytes = {link ? "sums" : "read_bytes + sums"},
                   .link_read_bytes = link ? "read_bytes" : "0",
                   .flops = "0"});
  }
  for (const bool host : {true, false})
    all.push_back({.name = "pointer_chase",
                   .variant = host ? "host" : "device",
                   .memory_bytes = {host ? "4 + 0 * steps" : "4 * steps + 4"},
                   .link_read_bytes = host ? "4 * steps" : "0",
                   .flops = "0"});
  for (const bool up : {true, false})
    all.push_back({.name = "copy_engine",
                   .variant = up ? "h2d" : "d2h",
                   .memory_bytes = {"bytes"},
                   .link_read_bytes = up ? "bytes" : "0",
                   .link_write_bytes = up ? "0" : "bytes",
                   .flops = "0"});
  // The kernels read the numbers of the rows; copies get them from the host.
  for (const std::string_view variant : {"loads", "bulk", "batch", "cpu", "page"})
    all.push_back(
        {.name = "gather",
         .variant = variant,
         .memory_bytes = {variant == "loads" || variant == "bulk" ? "rows * (row_bytes + 4)"
                                                                  : "rows * row_bytes"},
         .link_read_bytes = "rows * row_bytes",
         .flops = "0"});
}

// Products: an output of the operand type, of 2 or of 4 bytes, which may be read as well.
WorkFormula product(std::string_view name, bool family) {
  return {
      .name = name,
      .family = family,
      .memory_bytes = {"element * (m * k + n * k + m * n)", "element * (m * k + n * k + 2 * m * n)",
                       "element * (m * k + n * k) + 2 * m * n",
                       "element * (m * k + n * k) + 4 * m * n",
                       "element * (m * k + n * k) + 8 * m * n"},
      .flops = "2 * m * n * k",
      .padded = {"m", "n", "k"}};
}

// Attention of users: from the cache alone to the cache with queries, outputs of up to 4 bytes,
// lengths, a page table of pages of 16 tokens, and parts of splits that are written and read.
void add_families(std::vector<WorkFormula>& all) {
  constexpr std::string_view kAround =
      "least + rows * head_dim * (element + 4) + batch * (8 + 8 * ceil(context / 16)) + "
      "if(splits > 1, 8 * splits * rows * (head_dim + 1), 0)";
  all.push_back(product("gemm", true));
  all.push_back({.name = "attention",
                 .family = true,
                 .values = {{"rows", "batch * heads"},
                            {"least", "2 * element * batch * heads * context * head_dim"}},
                 .memory_bytes = {"least"},
                 .memory_most = kAround,
                 .flops = "4 * batch * heads * context * head_dim",
                 .padded = {"context"}});
  all.push_back({.name = "grouped_attention",
                 .family = true,
                 .values = {{"rows", "batch * kv_heads * group"},
                            {"least", "2 * element * batch * kv_heads * context * head_dim"}},
                 .memory_bytes = {"least"},
                 .memory_most = kAround,
                 .flops = "4 * batch * kv_heads * group * context * head_dim",
                 .padded = {"context", "group"}});
  all.push_back(
      {.name = "gathered_attention",
       .family = true,
       .values = {{"rows", "batch * heads"}, {"least", "2 * element * rows * k * head_dim"}},
       .memory_bytes = {"least"},
       .memory_most = "least + rows * (head_dim * (element + 4) + 4 * k) + 8 * batch + "
                      "if(splits > 1, 8 * splits * rows * (head_dim + 1), 0)",
       .flops = "4 * rows * k * head_dim",
       .padded = {"k"}});
  all.push_back({.name = "latent_attention",
                 .family = true,
                 .values = {{"rows", "batch * heads"},
                            {"width", "latent_dim + rope_dim"},
                            {"least", "element * batch * context * width"}},
                 .memory_bytes = {"least"},
                 .memory_most = "least + rows * (width * element + 4 * latent_dim) + "
                                "batch * (8 + 8 * ceil(context / 16)) + "
                                "if(splits > 1, 8 * splits * rows * (latent_dim + 1), 0)",
                 .flops = "2 * rows * context * (2 * latent_dim + rope_dim)",
                 .padded = {"context", "heads"}});
  // Numbers of the chosen rows are written, or every score.
  all.push_back({.name = "screening",
                 .family = true,
                 .values = {{"rows", "batch * heads"}, {"least", "element * rows * tokens * rank"}},
                 .memory_bytes = {"least", "least + 4 * rows * tokens"},
                 .memory_most = "least + rows * (rank * 4 + k * 4) + 8 * batch",
                 .flops = "2 * rows * tokens * rank",
                 .padded = {"tokens"}});
}

}  // namespace

std::span<const WorkFormula> work_formulas() {
  static const std::vector<WorkFormula> all = [] {
    std::vector<WorkFormula> made;
    for (const std::string_view name : {"gemm", "projection", "feed_forward", "head_product"})
      made.push_back(product(name, false));
    add_attention(made);
    add_screening(made);
    add_early_exit(made);
    add_sparse_offload(made);
    add_decoder_layer(made);
    add_ceilings(made);
    add_families(made);
    return made;
  }();
  return all;
}

std::vector<std::string> sizes_of(const WorkFormula& formula) {
  std::set<std::string> out;
  const auto add = [&](std::string_view text) {
    const auto parsed = Expression::parse(std::string(text));
    out.insert(parsed->names().begin(), parsed->names().end());
  };
  for (const auto& [name, text] : formula.values) add(text);
  add(formula.memory_bytes.front());
  if (!formula.memory_most.empty()) add(formula.memory_most);
  add(formula.flops);
  for (const auto& [name, text] : formula.values) out.erase(std::string(name));
  for (const char* other : {"element", "id_bytes", "number1", "number2", "paged", "splits"})
    out.erase(other);
  return {out.begin(), out.end()};
}

const WorkFormula* find_work_formula(std::string_view kernel, std::string_view variant,
                                     std::string_view family) {
  const std::string_view name = family.empty() ? kernel : family;
  const auto all = work_formulas();
  const auto found = std::ranges::find_if(all, [&](const WorkFormula& formula) {
    return formula.name == name && formula.family == !family.empty() &&
           variant.starts_with(formula.variant);
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tiersim
