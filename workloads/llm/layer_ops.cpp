#include "workloads/llm/layer_ops.hpp"

#include <algorithm>
#include <cmath>

#include "sim/model/expert_loads.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/llm/shard.hpp"

namespace tiersim {
namespace {

// Heads that each multiply with their own block are separate products.
MatrixShape shape(const Product& p, std::int64_t rows) {
  const std::int64_t blocks = p.in * p.out / p.weights;
  return {.rows = rows, .columns = p.out / blocks, .depth = p.in / blocks, .count = blocks};
}

// Rounds a mean over layers up in some layers and down in others, so that the mean over all layers
// stays close to it. The fractional parts of multiples of the golden ratio, which decide which
// layers round up, are spread evenly between 0 and 1.
std::int64_t whole_in_layer(double mean, int layer) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double place = std::max(layer, 0) * kGoldenRatio;
  const double below = std::floor(mean);
  return static_cast<std::int64_t>(below) + (mean - below > place - std::floor(place) ? 1 : 0);
}

}  // namespace

const ExpertLoadConfig* drawn_load(const AttentionContext& context) {
  const bool copies = context.parallel.redundant_experts > 0;
  return !context.step.expert_load && copies ? nullptr : context.step.drawn_load();
}

OpId LayerOpsBuilder::add(Phase phase, int layer, const Work& work, OpId after) {
  const TierId near = c_.placement.near;
  Op op{.phase = phase,
        .layer = layer,
        .family = work.family,
        .arithmetic = c_.execution.arithmetic(work.type),
        .flops = Flops::from_base(2) * work.multiplied,
        .matrix = work.matrix,
        .experts = work.experts};
  op.matrix.weight_bits = bits_with_scales(work.type);
  if (op.family != KernelFamily::experts && op.arithmetic != Arithmetic::bf16)
    op.matrix.input = input_of(phase, layer, work.after_norm);
  add_weights(op, c_, work.weights);
  add_access(op, near, Direction::read, TensorClass::activations,
             stored(work.read, DataType::bf16));
  add_access(op, near, Direction::write, TensorClass::activations,
             stored(work.written, DataType::bf16));
  op.after = {after};
  return graph_.add(std::move(op));
}

bool LayerOpsBuilder::follows_all_reduce(Phase phase, int layer) const {
  const ParallelConfig& p = c_.parallel;
  if (p.attention_gpus() == 1) return false;
  if (c_.ffn && phase != Phase::mlp) return false;  // a gather brings the output of the MLP
  if (!p.sequences_are_spread()) return true;
  if (p.gathers_dense()) return false;  // tokens are scattered before it, and gathered after it
  const LlmConfig& m = c_.model;
  const auto at =
      phase == Phase::mlp ? layer : (layer < 0 ? static_cast<int>(m.layers) : layer) - 1;
  return c_.ffn || at < 0 || !m.has_mlp(at) || !m.is_moe_layer(at);
}

ProductInput LayerOpsBuilder::input_of(Phase phase, int layer, bool after_norm) const {
  if (c_.execution.scales == ActivationScales::dynamic) return ProductInput::unscaled;
  const bool own_norm =
      c_.execution.norms == NormKernels::kernels ||
      (c_.execution.norms == NormKernels::with_all_reduce && !follows_all_reduce(phase, layer));
  return after_norm && own_norm ? ProductInput::scaled : ProductInput::quantised;
}

OpId LayerOpsBuilder::product(Phase phase, int layer, const Product& p, OpId after,
                              bool after_norm) {
  return product_of(WeightPart::q, phase, layer, p, after, after_norm);
}

OpId LayerOpsBuilder::product_of(WeightPart part, Phase phase, int layer, const Product& p,
                                 OpId after, bool after_norm) {
  const DataType type = type_of(part);
  return add(phase, layer,
             {.type = type,
              .weights = stored(p.weights, type),
              .multiplied = p.weights * tokens_,
              .read = tokens_ * p.in,
              .written = tokens_ * p.produced,
              .matrix = shape(p, tokens_),
              .family = p.of_heads && p.weights < p.in * p.out ? KernelFamily::batched_gemm
                                                               : KernelFamily::gemm,
              .after_norm = after_norm},
             after);
}

OpId LayerOpsBuilder::products(Phase phase, int layer, const std::vector<Product>& chain,
                               OpId after, bool after_norm) {
  for (std::size_t i = 0; i < chain.size(); ++i)
    after = product(phase, layer, chain[i], after, after_norm && i == 0);
  return after;
}

OpId LayerOpsBuilder::mlp(int layer, OpId after) {
  if (!c_.model.has_mlp(layer)) return after;
  return c_.model.is_moe_layer(layer) ? routed_experts(layer, router(layer, after))
                                      : dense_mlp(layer, after);
}

OpId LayerOpsBuilder::dense_mlp(int layer, OpId after) {
  const std::vector<Product> chain = c_.model.mlp_products(c_.model.intermediate);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (i > 0 && c_.execution.activation == SmallKernel::kernel)
      after = elementwise(Phase::mlp, layer, chain[i - 1].out, chain[i].in, after);
    after = product_of(WeightPart::mlp, Phase::mlp, layer, chain[i], after, i == 0);
  }
  return after;
}

// Routed experts that are reached, and shared ones, as one stretch where they have one type.
Bytes LayerOpsBuilder::stored_experts(std::int64_t routed, std::int64_t shared) const {
  const DataType type = type_of(WeightPart::experts);
  const DataType of_shared = type_of(WeightPart::shared_experts);
  return type == of_shared ? stored(routed + shared, type)
                           : stored(routed, type) + stored(shared, of_shared);
}

// If each GPU holds some of the experts, this is the load of the GPU with the most rows, since all
// others wait for it. Experts are equally popular unless the step states a law.
LayerOpsBuilder::RoutedLoad LayerOpsBuilder::routed_load() const {
  const MoeConfig& moe = *c_.model.moe;
  const std::int64_t on_gpu = c_.model.held_experts();
  const auto held = [&](std::int64_t all) {
    return (all * on_gpu + moe.experts - 1) / moe.experts;
  };
  const ExpertLoadConfig* load = drawn_load(c_);
  if (load && tokens_ > 0 && (c_.step.expert_load || on_gpu < moe.experts)) {
    const ExpertBalance balance = expert_balance(*load, expert_group(moe, c_.parallel, tokens_));
    return {std::clamp(balance.reached, 1.0, static_cast<double>(on_gpu)),
            std::max(balance.rows, 1.0)};
  }
  if (c_.step.expert_skew == 0 || tokens_ == 0) {
    const std::int64_t slots = moe.experts + c_.parallel.redundant_experts;
    const std::int64_t rows = tokens_ * moe.experts_per_token;
    const std::int64_t reached = std::min(held(expected_experts(moe, tokens_)), on_gpu);
    const std::int64_t rows_here = (rows * on_gpu + slots - 1) / slots;
    return {static_cast<double>(reached), static_cast<double>(rows_here)};
  }
  const std::int64_t ranks = (moe.experts + on_gpu - 1) / on_gpu;
  const ExpertLoads loads = expert_loads({.tokens = static_cast<double>(tokens_),
                                          .top_k = static_cast<double>(moe.experts_per_token),
                                          .experts = static_cast<double>(moe.experts),
                                          .ranks = static_cast<double>(ranks),
                                          .skew = c_.step.expert_skew});
  return {std::ceil(loads.active), std::ceil(loads.rows)};
}

// Returns true if one kernel computes the routed and the shared experts. The kernel can do so if
// both have the same width and type, and if this GPU holds a part of every expert.
bool LayerOpsBuilder::fuses_shared_experts() const {
  const LlmConfig& m = c_.model;
  return c_.execution.shared_experts == SharedExperts::fused && m.moe->shared_experts > 0 &&
         !m.moe->latent && !m.moe->shared_gate &&
         m.shared_intermediate() == m.moe->expert_intermediate &&
         type_of(WeightPart::experts) == type_of(WeightPart::shared_experts) &&
         m.held_experts() == m.moe->experts && own_tokens_ == tokens_;
}

// Returns the shape of one layer's experts on this GPU, where `reached` experts have `routed` rows.
ExpertsShape LayerOpsBuilder::experts_shape(std::int64_t reached, std::int64_t routed) const {
  const LlmConfig& m = c_.model;
  const MoeConfig& moe = *m.moe;
  ExpertsShape out{
      .tokens = tokens_,
      .hidden = m.expert_hidden(),
      .intermediate = moe.expert_intermediate,
      .top_k = moe.experts_per_token,
      .experts = moe.experts,
      .held = m.held_experts(),
      .reached = reached,
      .routed = routed,
      .gated = m.gated_mlp,
      .weight_bits = bits_with_scales(type_of(WeightPart::experts)),
      .shared_tokens = own_tokens_,
      .shared_width = moe.shared_experts * m.shared_intermediate(),
      .shared_hidden = m.hidden,
      .shared_bits = bits_with_scales(type_of(WeightPart::shared_experts)),
      .shared_arithmetic = c_.execution.arithmetic(type_of(WeightPart::shared_experts)),
      .parts = m.expert_weights(),
      .skew = c_.step.expert_skew};
  if (fuses_shared_experts()) {
    out.top_k += moe.shared_experts;
    out.experts += moe.shared_experts;
    out.held += moe.shared_experts;
    out.reached += moe.shared_experts;
    out.routed += own_tokens_ * moe.shared_experts;
    out.shared_tokens = out.shared_width = out.shared_hidden = 0;
  } else if (out.shared_width > 0) {
    out.shared_beside = c_.execution.shared_beside(own_tokens_);
  }
  return out;
}

OpId LayerOpsBuilder::router(int layer, OpId after) {
  LayerOpsBuilder own(c_, graph_, own_tokens_);
  return own.product_of(WeightPart::router, Phase::mlp, layer,
                        full_product(c_.model.hidden, c_.model.moe->experts), after, true);
}

OpId LayerOpsBuilder::routed_experts(int layer, OpId after) {
  const LlmConfig& m = c_.model;
  const MoeConfig& moe = *m.moe;
  if (!routed_) routed_ = routed_load();
  const std::int64_t reached = whole_in_layer(routed_->reached, layer);
  const std::int64_t routed = std::max(whole_in_layer(routed_->rows, layer), reached);
  const std::int64_t shared = own_tokens_ * moe.shared_experts;
  const std::int64_t used = reached + moe.shared_experts;
  LayerOpsBuilder own(c_, graph_, own_tokens_);
  if (moe.latent)
    after = own.product_of(WeightPart::shared_experts, Phase::mlp, layer,
                           full_product(m.hidden, *moe.latent), after, true);
  const DataType type = type_of(WeightPart::experts);
  ExpertsShape layer_experts = experts_shape(reached, routed);
  const auto of_routed = m.mlp_products(moe.expert_intermediate, m.expert_hidden());
  const auto of_shared = m.mlp_products(m.shared_intermediate());
  for (std::size_t i = 0; i < of_routed.size(); ++i) {
    const Product& r = of_routed[i];
    const Product& s = of_shared[i];
    // Every expert has the mean number of tokens.
    layer_experts.part = r.weights;
    const MatrixShape mean{.rows = (routed + shared + used - 1) / used,
                           .columns = r.out,
                           .depth = r.in,
                           .count = used};
    after = add(Phase::mlp, layer,
                {.type = type,
                 .weights = stored_experts(reached * r.weights, moe.shared_experts * s.weights),
                 .multiplied = routed * r.weights + shared * s.weights,
                 .read = routed * r.in + shared * s.in,
                 .written = routed * r.produced + shared * s.produced,
                 .matrix = mean,
                 .experts = layer_experts,
                 .family = layer_experts.tokens > 0 ? KernelFamily::experts : KernelFamily::gemm},
                after);
  }
  if (moe.latent)
    after = own.product_of(WeightPart::shared_experts, Phase::mlp, layer,
                           full_product(*moe.latent, m.hidden), after, false);
  if (c_.execution.expert_sum != SmallKernel::kernel || layer_experts.shared_width == 0 ||
      own_tokens_ == 0)
    return after;
  return own.elementwise(Phase::mlp, layer, 2 * m.hidden, m.hidden, after);
}

OpId LayerOpsBuilder::elementwise(Phase phase, int layer, std::int64_t read, std::int64_t written,
                                  OpId after) {
  const TierId near = c_.placement.near;
  Op op{.phase = phase, .layer = layer, .family = KernelFamily::elementwise, .flops = {}};
  add_access(op, near, Direction::read, TensorClass::activations,
             stored(tokens_ * read, DataType::bf16));
  add_access(op, near, Direction::write, TensorClass::activations,
             stored(tokens_ * written, DataType::bf16));
  op.after = {after};
  return graph_.add(std::move(op));
}

OpId LayerOpsBuilder::norm(Phase phase, int layer, OpId after) {
  const NormKernels norms = c_.execution.norms;
  if (tokens_ == 0) return after;
  if (c_.model.hyper) return hyper_connection(phase, layer, after);
  after = mixture(phase, layer, after);
  if (norms == NormKernels::fused) return after;
  // The stream and what is added to it; their sum and its norm.
  after = elementwise(phase, layer, 2 * c_.model.hidden, 2 * c_.model.hidden, after);
  graph_.ops[after.index()].fused =
      norms == NormKernels::with_all_reduce && follows_all_reduce(phase, layer);
  return after;
}

// One kernel between two sublayers, as engines fuse it: the output of the one before is added to
// all streams, these are mixed, and joined to the input of the next, whose norm is part of it.
// Before the head they are only joined.
OpId LayerOpsBuilder::hyper_connection(Phase phase, int layer, OpId after) {
  const HyperConfig& hyper = *c_.model.hyper;
  const std::int64_t streams = hyper.streams;
  const std::int64_t outputs = layer < 0 ? streams : hyper.mixed();
  const std::int64_t product = outputs * streams * c_.model.hidden;
  const std::int64_t mixing = (streams + streams + streams * streams) * c_.model.hidden;
  after = elementwise(phase, layer, (streams + 1) * c_.model.hidden,
                      (layer < 0 ? 1 : streams + 1) * c_.model.hidden, after);
  Op& op = graph_.ops[after.index()];
  op.flops = Flops::from_base(2) * ((product + mixing) * tokens_);
  add_weights(op, c_, stored(product, type_of(WeightPart::other)));
  return after;
}

// Attention residuals: the sums that were kept, and the one since then, are read and mixed. Before
// the head all of them are.
OpId LayerOpsBuilder::mixture(Phase phase, int layer, OpId after) {
  const LlmConfig& m = c_.model;
  if (m.residual_block == 0) return after;
  const std::int64_t first = m.part ? m.part->first_layer : 0;
  const std::int64_t before = first + (layer < 0 ? m.layers : layer);
  const std::int64_t kept = (before + m.residual_block - 1) / m.residual_block;
  return elementwise(phase, layer, (kept + 1) * m.hidden, m.hidden, after);
}

OpId LayerOpsBuilder::query_norms(int layer, OpId after) {
  const LlmConfig& m = c_.model;
  const QueryNorms norms = c_.execution.query_norms;
  if (!m.qk_norm || norms == QueryNorms::fused || tokens_ == 0) return after;
  const std::int64_t queries = m.query_width();
  const std::int64_t keys = m.kv_width();
  if (m.qk_norm_over == QkNormWidth::all_heads && c_.parallel.attention_gpus() > 1) {
    after = elementwise(Phase::attention, layer, queries + keys, 2, after);
    const Bytes sums = Bytes::from_base(8) * tokens_;  // two numbers in fp32
    after =
        collective(layer, CollectiveKind::all_reduce, sums, c_.parallel.attention_gpus(), after);
  }
  if (norms == QueryNorms::kernel)
    return elementwise(Phase::attention, layer, queries + keys, queries + keys, after);
  after = elementwise(Phase::attention, layer, queries, queries, after);
  return elementwise(Phase::attention, layer, keys, keys, after);
}

OpId LayerOpsBuilder::latent_norms(int layer, OpId after) {
  const QueryNorms norms = c_.execution.latent_norms.value_or(QueryNorms::fused);
  const LlmConfig& m = c_.model;
  const bool latent = m.mla || m.shared_kv || m.q_lora_rank;
  if (!latent || norms == QueryNorms::fused || tokens_ == 0) return after;
  // 0: queries, or keys and values, have no latent.
  const std::int64_t queries = m.mla         ? m.mla->q_lora_rank
                               : m.shared_kv ? m.shared_kv->q_lora_rank
                                             : m.query_latent();
  const std::int64_t rows = m.mla ? m.mla->kv_lora_rank : m.shared_kv ? m.head_dim : 0;
  if (norms == QueryNorms::kernel || queries == 0 || rows == 0)
    return elementwise(Phase::attention, layer, queries + rows, queries + rows, after);
  after = elementwise(Phase::attention, layer, queries, queries, after);
  return elementwise(Phase::attention, layer, rows, rows, after);
}

OpId LayerOpsBuilder::rotary(int layer, OpId after) {
  const LlmConfig& m = c_.model;
  if (c_.execution.rotary == SmallKernel::fused || m.relative_buckets > 0) return after;
  const std::int64_t turned = m.shared_kv ? (m.heads + 1) * m.shared_kv->rope_head_dim
                              : m.mla     ? (m.heads + 1) * m.mla->qk_rope_head_dim
                                          : m.query_width() + m.kv_width();
  return elementwise(Phase::attention, layer, turned, turned, after);
}

OpId LayerOpsBuilder::linear_split(int layer, OpId after) {
  const LinearConfig& linear = *c_.model.linear;
  const bool is_joint = linear.kind == LinearKind::gated_delta_net;
  if (c_.execution.linear_split != SmallKernel::kernel || !is_joint) return after;
  const std::int64_t width = linear.conv_width() + linear.value_width() + 2 * linear.value_heads;
  return elementwise(Phase::attention, layer, width, width, after);
}

OpId LayerOpsBuilder::linear_norm(int layer, OpId after) {
  if (c_.execution.linear_norm != SmallKernel::kernel) return after;
  const std::int64_t width = c_.model.linear->value_width();
  return elementwise(Phase::attention, layer, 2 * width, width, after);  // outputs and gates
}

OpId LayerOpsBuilder::sampling(std::int64_t rows, std::int64_t vocabulary, OpId after) {
  if (c_.execution.sampling == SmallKernel::fused) return after;
  return LayerOpsBuilder(c_, graph_, rows).elementwise(Phase::head, -1, vocabulary, 1, after);
}

OpId LayerOpsBuilder::embedding() {
  const Bytes row = stored(c_.model.hidden, c_.execution.vocabulary(c_.step.weight_type));
  const TierId near = c_.placement.near;
  Op op{.phase = Phase::embedding, .family = KernelFamily::elementwise, .flops = {}};
  add_access(op, near, Direction::read, {TensorClass::weights, row * tokens_, row});
  add_access(op, near, Direction::write, TensorClass::activations,
             stored(tokens_ * c_.model.hidden, DataType::bf16));
  return graph_.add(std::move(op));
}

OpId LayerOpsBuilder::head(std::int64_t rows, OpId after) {
  const LlmConfig& m = c_.model;
  const std::int64_t weights = m.hidden * m.vocabulary;
  const DataType type = c_.execution.vocabulary(c_.step.weight_type);
  return add(Phase::head, -1,
             {.type = type,
              .weights = stored(weights, type),
              .multiplied = weights * rows,
              .read = rows * m.hidden,
              .written = rows * m.vocabulary,
              .matrix = {.rows = rows, .columns = m.vocabulary, .depth = m.hidden},
              .after_norm = true},
             after);
}

OpId LayerOpsBuilder::collective(int layer, CollectiveKind kind, Bytes size, std::int64_t ranks,
                                 OpId after, Fabric fabric) {
  return collective(layer, {.kind = kind, .fabric = fabric, .size = size, .ranks = ranks}, after);
}

OpId LayerOpsBuilder::collective(int layer, const CollectiveWork& work, OpId after) {
  if (work.ranks == 1) return after;
  const TierId near = c_.placement.near;
  Op op{.kind = OpKind::collective,
        .phase = Phase::collective,
        .layer = layer,
        .flops = {},
        .collective = work};
  add_access(op, near, Direction::read, TensorClass::activations, work.size);
  add_access(op, near, Direction::write, TensorClass::activations, work.size);
  op.after = {after};
  return graph_.add(std::move(op));
}

}  // namespace tiersim
