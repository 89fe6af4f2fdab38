#include "workloads/attention/nsa.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/attention/prefill.hpp"
#include "workloads/attention/row_fetch.hpp"
#include "workloads/llm/layer_ops.hpp"

namespace tiersim {
namespace {

// Compressed rows that new positions see, over all sequences or chunks.
struct CompressedRows {
  std::int64_t pairs = 0;  ///< of a position and a row that it sees
  std::int64_t read = 0;   ///< rows that some position sees
  std::int64_t made = 0;   ///< rows of all new positions, of which `stride` share one
};

class Nsa final : public Method {
 public:
  void describe(Fields& f) override {
    f.optional("block", block_, "Positions that a compressed row stands for.", in_range(1, 65'536));
    f.optional("stride", stride_, "Positions from one compressed row to the next.",
               in_range(1, 65'536));
    f.optional("chosen_block", chosen_block_, "Positions of a block of the selection.",
               in_range(1, 65'536));
    f.optional("chosen", chosen_, "Blocks that a query selects, the fixed ones included.",
               in_range(1, 1'000'000));
    f.optional("fixed", fixed_, "Blocks that every query selects: the first and the newest.",
               in_range(0, 1'000'000));
    f.optional("window", window_, "Newest positions of the window branch.",
               in_range(1, 100'000'000));
    f.optional("kv_tier", kv_tier_, kKvTierNames, "Where keys and values of the selection live.");
    f.optional("fetch", fetch_, "How the selected blocks come from the far tier.");
    f.check(stride_ <= block_, "stride", fmt::format("{} leaves positions out", stride_),
            fmt::format("at most block, {}", block_));
    f.check(fixed_ <= chosen_, "fixed", fmt::format("{} are more than chosen", fixed_),
            fmt::format("at most {}", chosen_));
  }

  std::vector<MethodProblem> problems(const LlmConfig& model,
                                      const StepConfig& step) const override {
    std::vector<MethodProblem> out = fetch_.problems(
        model, step, kv_tier_, [this](const KvShape& shape) { return choice(shape); });
    // A model with an indexer is refused by itself.
    if (model.mla && !model.indexer)
      out.push_back({"block", "is of keys and values of heads, and the model makes latents",
                     "take dsa, maple or quest"});
    if (fetch_.page != 1 && kv_tier_ == KvTier::far)
      out.push_back(
          {"fetch.page", "has no effect where blocks are chosen", "set chosen_block instead"});
    if (!fetch_.near_key().empty() && kv_tier_ == KvTier::far)
      out.push_back({"fetch." + fetch_.near_key(),
                     "is not known beside blocks that are always near", "more blocks in `fixed`"});
    if (fetch_.choose_per == ChoosePer::query_head)
      out.push_back({"fetch.choose_per", "is not what such models learn: a group selects together",
                     "leave it out"});
    return out;
  }

  std::vector<CachedTensor> cached(const AttentionContext& c) const override {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    std::vector<CachedTensor> out = cached_rows(c, tier_of(c, kv_tier_), shape.context);
    out.push_back({.tensor_class = TensorClass::compressed_rows,
                   .tier = near,
                   .positions = compressed(shape.context),
                   .piece = shape.row_pair(),
                   .pieces = shape.sequences,
                   .own_kernel = true,
                   .covers = stride_});
    out.push_back({.tensor_class = TensorClass::states,
                   .tier = near,
                   .positions = 1,
                   .piece = state(shape),
                   .pieces = shape.sequences,
                   .own_kernel = true});
    return out;
  }

  void add_buffers(const AttentionContext& c, StepGraph& graph) const override {
    const KvShape shape(c);
    const DataType type = c.step.weight_types.of(WeightPart::q, c.step.weight_type);
    add_tensor(graph, TensorClass::weights, c.placement.near,
               (stored(weights_of(products(c.model)), type) + compressor(c)) * c.model.layers);
    add_row_buffers(graph, c, rows(shape));
  }

  LayerOps add_layer(const AttentionContext& c, const LayerInputs& in,
                     StepGraph& graph) const override {
    const std::int64_t tokens = c.step.batch * c.new_positions();
    LayerInputs stored = in;
    stored.projected = LayerOpsBuilder(c, graph, tokens)
                           .products(Phase::projection, in.layer, products(c.model), in.projected);
    stored.projected = add_store(graph, c, in.layer, cached(c), stored.projected);
    stored.projected = compress(c, in.layer, stored.projected, graph);
    stored.screen_after = stored.projected;  // the compressed branch needs the query itself
    ChosenRows chosen = rows(KvShape(c));
    OpId listed;
    chosen.screen = [&](OpId after) {
      const CompressedRows seen = seen_by_step(c);
      after = attend_to_compressed(c, in.layer, seen, after, graph);
      listed = choose(c, in.layer, tokens, seen, list(KvShape(c)), after, graph);
      return listed;
    };
    LayerOps made = add_chosen_rows(graph, c, stored, chosen);
    const OpId in_window = attend_to_window(c, in.layer, {stored.projected, listed}, graph);
    made.attended = merge(c, in.layer, tokens, {made.attended, in_window}, graph);
    return made;
  }

  LayerOps add_prefill_layer(const AttentionContext& c, const LayerInputs& in,
                             StepGraph& graph) const override {
    const std::int64_t tokens = c.step.batch * c.new_positions();
    const OpId projected =
        LayerOpsBuilder(c, graph, tokens)
            .products(Phase::projection, in.layer, products(c.model), in.projected);
    const OpId kept = add_store(graph, c, in.layer, cached(c), projected);
    OpId last = compress(c, in.layer, kept, graph);
    const CompressedRows seen = seen_by_prompt(c);
    last = attend_to_compressed(c, in.layer, seen, last, graph);
    constexpr Bytes kEntry = Bytes::from_base(4);
    last = choose(c, in.layer, tokens, seen, kEntry * (tokens * chosen_ * c.model.kv_heads), last,
                  graph);
    const std::vector<CachedTensor> selection =
        cached_rows(c, tier_of(c, kv_tier_), KvShape(c).context);
    last = add_sparse_prefill_attention(graph, c, in.layer, chosen_ * chosen_block_,
                                        SparseReads::once, selection, {last});
    AttentionContext windowed = c;
    windowed.model.attention_window = std::min(window_, c.model.attention_window.value_or(window_));
    last = add_prefill_attention(graph, windowed, in.layer, {}, {last});
    return {.attended = merge(c, in.layer, tokens, {last}, graph), .fetched = {}};
  }

 private:
  std::int64_t compressed(std::int64_t positions) const {
    return positions < block_ ? 0 : (positions - block_) / stride_ + 1;
  }
  // The sum of compressed(n) over the positions up to this one.
  std::int64_t seen_until(std::int64_t positions) const {
    if (positions < block_) return 0;
    const std::int64_t after = positions - block_;
    const std::int64_t full = after / stride_;
    return stride_ * (full * (full + 1) / 2) + (after % stride_ + 1) * (full + 1);
  }
  // The same where a position sees the rows of a window.
  std::int64_t seen(const LlmConfig& model, std::int64_t positions) const {
    const std::int64_t attended = model.attended(positions);
    return seen_until(attended) + (positions - attended) * compressed(attended);
  }
  CompressedRows seen_by_step(const AttentionContext& c) const {
    const std::int64_t queries = c.step.batch * c.new_positions();
    const std::int64_t rows = compressed(KvShape(c).context);
    return {.pairs = queries * rows, .read = c.step.batch * rows, .made = queries};
  }
  CompressedRows seen_by_prompt(const AttentionContext& c) const {
    CompressedRows out{.made = c.step.batch * c.new_positions()};
    const auto add = [&](std::int64_t tokens, std::int64_t before) {
      const std::int64_t n = before + tokens;
      out.pairs +=
          c.step.batch * std::max<std::int64_t>(0, seen(c.model, n) - seen(c.model, before));
      out.read += c.step.batch * compressed(c.model.attended(n));
    };
    if (c.chunks.empty()) add(c.new_positions(), c.step.found());
    for (const auto& [tokens, before] : c.chunks) add(tokens, before);
    return out;
  }

  // Positions of the fixed blocks, of which the newest may be filled in part.
  std::int64_t fixed_positions(const KvShape& shape) const {
    const std::int64_t blocks = (shape.context + chosen_block_ - 1) / chosen_block_;
    if (blocks <= fixed_) return shape.context;
    if (fixed_ < 2) return fixed_ * chosen_block_;
    return shape.context - (blocks - fixed_) * chosen_block_;
  }
  RowChoice choice(const KvShape& shape) const {
    return {.positions = std::min((chosen_ - fixed_) * chosen_block_,
                                  shape.context - fixed_positions(shape)),
            .block = chosen_block_,
            .beside = fixed_positions(shape)};
  }
  Bytes list(const KvShape& shape) const {
    return shape.indices(fetch_.counts(shape, choice(shape)).listed);
  }
  ChosenRows rows(const KvShape& shape) const {
    const std::int64_t fixed = fixed_positions(shape);
    ChosenRows out{.fetch = fetch_,
                   .tier = kv_tier_,
                   .choice = choice(shape),
                   .beside = {.positions = fixed, .parts = {}}};
    if (kv_tier_ == KvTier::near)
      out.beside.parts = row_runs(shape, fixed, chosen_block_);
    else
      out.beside.parts = {{TensorClass::states, shape.both(fixed),
                           shape.row_pair() * std::min(fixed, chosen_block_)}};
    return out;
  }

  // Rings and copies of one sequence and KV head in one layer.
  Bytes state(const KvShape& shape) const {
    const std::int64_t copies = kv_tier_ == KvTier::far ? fixed_ * chosen_block_ : 0;
    return shape.row_pair() * (window_ + block_ + copies);
  }

  // Keys and values of the two other branches, and a gate of each branch for each head.
  static std::vector<Product> products(const LlmConfig& model) {
    return {full_product(
        model.hidden, 2 * model.kv_heads * (model.head_dim + model.value_dim()) + 3 * model.heads)};
  }
  std::int64_t compressor_weights(const LlmConfig& model) const {
    return block_ * (model.head_dim * model.head_dim + model.value_dim() * model.value_dim());
  }
  Bytes compressor(const AttentionContext& c) const {
    return stored(compressor_weights(c.model),
                  c.step.weight_types.of(WeightPart::q, c.step.weight_type));
  }

  static Bytes share(Bytes of, std::int64_t parts) {
    return Bytes::from_base((of.in_base() + parts - 1) / parts);
  }

  // Writes the rings, and makes the compressed rows of new positions from the rings. A step has the
  // mean of one.
  OpId compress(const AttentionContext& c, int layer, OpId after, StepGraph& graph) const {
    const KvShape shape(c);
    const TierId near = c.placement.near;
    const bool decode = c.step.kind == StepKind::decode;
    const std::int64_t queries = c.step.batch * c.new_positions() * c.model.kv_heads;
    const Bytes own = shape.row_pair() * queries;
    Op op{.phase = Phase::write_back,
          .layer = layer,
          .family = KernelFamily::gemm,
          .flops = Flops::from_base(2 * compressor_weights(c.model) * queries / stride_),
          .after = {after}};
    add_access(op, near, Direction::read, TensorClass::weights, compressor(c));
    add_access(op, near, Direction::read, TensorClass::activations, own * 2);
    if (decode) {
      const std::int64_t copied = kv_tier_ == KvTier::far && fixed_ > 0 ? 3 : 2;
      add_access(op, near, Direction::read, TensorClass::states,
                 share(shape.row_pair() * block_, stride_) * queries);
      add_access(op, near, Direction::write, TensorClass::states, own * copied);
      add_access(op, near, Direction::write, TensorClass::compressed_rows,
                 share(shape.row_pair(), stride_) * queries);
    } else {
      const auto prompts = std::max<std::int64_t>(1, static_cast<std::int64_t>(c.chunks.size()));
      add_access(op, near, Direction::write, TensorClass::states,
                 state(shape) * (shape.sequences * prompts));
      add_access(op, near, Direction::write, TensorClass::compressed_rows,
                 shape.row_pair() * (c.model.kv_heads * made_rows(c)));
    }
    return graph.add(std::move(op));
  }
  std::int64_t made_rows(const AttentionContext& c) const {
    if (c.chunks.empty())
      return c.step.batch * (compressed(KvShape(c).context) -
                             compressed(std::min(c.step.found(), KvShape(c).context)));
    std::int64_t sum = 0;
    for (const auto& [tokens, before] : c.chunks)
      sum += compressed(before + tokens) - compressed(before);
    return sum;
  }

  static Flops pair_flops(const LlmConfig& m, std::int64_t width, std::int64_t pairs) {
    return Flops::from_base(2 * width * m.heads) * pairs;
  }

  OpId attend_to_compressed(const AttentionContext& c, int layer, const CompressedRows& rows,
                            OpId after, StepGraph& graph) const {
    if (rows.read == 0) return after;
    const KvShape shape(c);
    const LlmConfig& m = c.model;
    const Bytes size = shape.row_pair() * (rows.read * m.kv_heads);
    const Part part{TensorClass::compressed_rows, size, size};
    if (c.step.kind == StepKind::decode)
      return add_attention(graph, c, layer, compressed(shape.context), {part}, {after});
    const TierId near = c.placement.near;
    const std::int64_t heads = c.step.batch * c.new_positions() * m.heads;
    Op op{.phase = Phase::attention,
          .layer = layer,
          .family = KernelFamily::prefill_attention,
          .flops = pair_flops(m, m.score_width() + m.mix_width(), rows.pairs),
          .after = {after}};
    add_access(op, near, Direction::read, TensorClass::activations,
               stored(heads * m.score_width(), DataType::bf16));
    add_access(op, near, Direction::write, TensorClass::activations,
               stored(heads * m.mix_width(), DataType::bf16));
    add_access(op, near, Direction::read, part);
    return graph.add(std::move(op));
  }

  OpId choose(const AttentionContext& c, int layer, std::int64_t tokens, const CompressedRows& rows,
              Bytes list, OpId after, StepGraph& graph) const {
    if (rows.read == 0) return after;
    const KvShape shape(c);
    const LlmConfig& m = c.model;
    const TierId near = c.placement.near;
    Op op{.phase = Phase::screening,
          .layer = layer,
          .family = KernelFamily::screening,
          .flops = pair_flops(m, m.score_width(), rows.pairs),
          .after = {after}};
    add_access(op, near, Direction::read, TensorClass::activations,
               stored(tokens * m.heads * m.score_width(), DataType::bf16));
    add_access(op, near, Direction::read, TensorClass::compressed_rows,
               shape.key_row() * (rows.read * m.kv_heads));
    add_access(op, near, Direction::write, TensorClass::indices, list);
    return graph.add(std::move(op));
  }

  OpId attend_to_window(const AttentionContext& c, int layer, OpIds after, StepGraph& graph) const {
    const KvShape shape(c);
    const std::int64_t positions = std::min(window_, shape.context);
    return add_attention(graph, c, layer, positions,
                         {{TensorClass::states, shape.both(positions), shape.both(positions)}},
                         std::move(after));
  }

  // The sum of the branches, each times its gate.
  static OpId merge(const AttentionContext& c, int layer, std::int64_t tokens, OpIds after,
                    StepGraph& graph) {
    constexpr std::int64_t kBranches = 3;
    const LlmConfig& m = c.model;
    const std::int64_t elements = tokens * m.heads * m.mix_width();
    Op op{.phase = Phase::attention,
          .layer = layer,
          .family = KernelFamily::elementwise,
          .flops = Flops::from_base((2 * kBranches - 1) * elements),
          .after = std::move(after)};
    const TierId near = c.placement.near;
    add_access(op, near, Direction::read, TensorClass::activations,
               stored(kBranches * (elements + tokens * m.heads), DataType::bf16));
    add_access(op, near, Direction::write, TensorClass::activations,
               stored(elements, DataType::bf16));
    return graph.add(std::move(op));
  }

  std::int64_t block_ = 32;
  std::int64_t stride_ = 16;
  std::int64_t chosen_block_ = 64;
  std::int64_t chosen_ = 16;
  std::int64_t fixed_ = 3;
  std::int64_t window_ = 512;
  KvTier kv_tier_ = KvTier::near;
  RowFetch fetch_;
};

}  // namespace

void register_nsa(Registry<MethodKind>& registry) {
  registry.add("nsa", {"attention over compressed rows, the blocks that they choose, and a window",
                       []() -> std::unique_ptr<Method> { return std::make_unique<Nsa>(); }});
}

}  // namespace tiersim
