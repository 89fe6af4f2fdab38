#include "workloads/llm/shard.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim {
namespace {

std::int64_t parts_of(std::int64_t whole, std::int64_t parts) {
  return (whole + parts - 1) / parts;
}

class Problems {
 public:
  void expect(bool holds, const char* key, std::string message, std::string hint) {
    if (!holds) list_.push_back({key, std::move(message), std::move(hint)});
  }
  /// Checks that `parts` GPUs get equal parts of `whole`.
  void divides(const char* key, std::int64_t parts, std::int64_t whole, const char* what) {
    expect(whole % parts == 0, key,
           fmt::format("{} GPUs cannot have equal parts of {} {}", parts, whole, what),
           fmt::format("a number that divides {}", whole));
  }
  std::vector<ShardProblem> take() { return std::move(list_); }

 private:
  std::vector<ShardProblem> list_;
};

void check_slices(Problems& problems, const LlmConfig& m, const ParallelConfig& p) {
  if (p.latent_slices == 1) {
    problems.expect(p.output_projection == OutputProjection::replicated, "output_projection",
                    "there is one latent slice, so that nothing is replicated",
                    "leave it out, or more latent_slices");
    return;
  }
  if (!m.mla)
    return problems.expect(false, "latent_slices", "model '" + m.name + "' has no latent",
                           "a model with mla, or 1");
  problems.expect(m.mla->latent_heads == 1, "latent_slices",
                  "model '" + m.name + "' has latents of its own for groups of heads (GLA)",
                  "1: they are split like heads");
  problems.expect(p.attention == AttentionSharing::tensor, "latent_slices",
                  "attention: data leaves nothing to slice", "1, or attention: tensor");
  problems.expect(m.mla->kv_lora_rank % p.latent_slices == 0, "latent_slices",
                  fmt::format("{} slices cannot be equal parts of {} latent elements",
                              p.latent_slices, m.mla->kv_lora_rank),
                  fmt::format("a number that divides {}", m.mla->kv_lora_rank));
}

void check_heads(Problems& problems, const LlmConfig& m, const ParallelConfig& p) {
  const std::int64_t shards = std::max<std::int64_t>(p.head_shards(), 1);
  const char* key = p.attention_tensor ? "attention_tensor" : "tensor";
  problems.divides(key, shards, m.heads, "query heads");
  if (p.output_projection == OutputProjection::split)
    problems.divides("output_projection", p.tensor, m.heads, "query heads");
  if (m.mla) {
    const std::int64_t latents = m.mla->latent_heads;
    problems.expect(shards % latents == 0 || latents % shards == 0, key,
                    fmt::format("{} GPUs cannot share {} latent heads", shards, latents),
                    "a multiple or a divisor of them");
  } else {
    problems.expect(shards % m.kv_heads == 0 || m.kv_heads % shards == 0, key,
                    fmt::format("{} GPUs cannot share {} KV heads", shards, m.kv_heads),
                    "a multiple or a divisor of them");
  }
  if (m.shared_kv)
    problems.divides(key, shards, m.shared_kv->output_groups,
                     "groups of heads of the output projection");
}

// Each GPU has a part of the value heads, with their keys.
void check_linear(Problems& problems, const LinearConfig& linear, const ParallelConfig& p) {
  const char* key = p.sequences_are_spread() ? "attention_tensor" : "tensor";
  problems.divides(key, p.attention_gpus(), linear.value_heads, "value heads of linear attention");
  problems.divides(key, p.attention_gpus(), linear.key_heads, "key heads of linear attention");
}

// Shared experts are split like an MLP, unless each GPU has its own tokens for them.
void check_experts(Problems& problems, const MoeConfig& moe, const ParallelConfig& p) {
  if (p.experts == ExpertSharing::split)
    return problems.divides("tensor", p.tensor, moe.expert_intermediate, "columns of an expert");
  problems.divides("experts", p.tensor, moe.experts + p.redundant_experts,
                   p.redundant_experts > 0 ? "experts with their copies" : "experts");
  if (moe.shared_experts > 0 && !p.sequences_are_spread())
    problems.divides("tensor", p.tensor, moe.shared_width(), "columns of a shared expert");
}

// Each GPU of a context rank has its part of the heads, for the positions of that rank.
void check_context(Problems& problems, const LlmConfig& m, const ParallelConfig& p) {
  if (!p.cuts_prompts()) {
    problems.expect(!p.context_order, "context_order", "no prompt is cut: context is 1",
                    "leave it out, or context: 2");
    problems.expect(!p.context_exchange, "context_exchange", "no prompt is cut: context is 1",
                    "leave it out, or context: 2");
    problems.expect(!p.context_ring, "context_ring", "no prompt is cut: context is 1",
                    "leave it out, or context: 2");
    return;
  }
  problems.expect(!m.linear, "context",
                  "model '" + m.name +
                      "' has linear attention, whose state passes from each rank to the next one, "
                      "which is not modelled",
                  "1, or a model without");
  problems.expect(
      !m.compression, "context",
      "model '" + m.name + "' has rows of several positions, which pieces of a prompt would cut",
      "1, or a model without");
  problems.expect(!m.indexer || m.compression, "context",
                  "model '" + m.name + "' has an indexer, whose keys ranks would exchange, too",
                  "1, or a model without");
  problems.expect(p.attention == AttentionSharing::tensor, "context",
                  "attention: data gives each GPU whole prompts of its own",
                  "1, or attention: tensor");
  problems.expect(p.latent_slices == 1, "context",
                  "slices of the latent on several ranks are not modelled",
                  "1, or latent_slices: 1");
  problems.expect(!p.context_ring || p.exchange() == ContextExchange::ring, "context_ring",
                  "nothing goes round: context_exchange is not ring", "leave it out");
  if (p.exchange() != ContextExchange::all_to_all) return;
  problems.expect(!p.context_order, "context_order",
                  "with all_to_all every rank attends over the whole prompt", "leave it out");
  if (m.mla)
    return problems.expect(
        false, "context_exchange",
        "the latent of model '" + m.name + "' serves all heads, which all_to_all would part",
        "ring or all_gather");
  const std::int64_t shards = std::max<std::int64_t>(p.head_shards(), 1);
  const std::int64_t kv_heads = std::max<std::int64_t>(m.kv_heads / shards, 1);
  const std::int64_t ranks = p.context_ranks();
  const std::int64_t heads = m.heads / shards;
  problems.expect(
      heads % ranks == 0, "context",
      fmt::format("{} ranks cannot have equal parts of {} query heads of a GPU", ranks, heads),
      fmt::format("a number that divides {}", heads));
  problems.expect(kv_heads % ranks == 0 || ranks % kv_heads == 0, "context",
                  fmt::format("{} ranks cannot share {} KV heads of a GPU", ranks, kv_heads),
                  "a multiple or a divisor of them");
}

// The stage with the most weights, which the others wait for: the first, if its dense layers weigh
// more than a head, or else the last. Either is assumed to have the larger number of layers.
LlmConfig heaviest_stage(const LlmConfig& m, std::int64_t stages) {
  LlmConfig first = m;
  first.tied_embeddings = true;  // a stage has either the embedding or the head
  first.layers = parts_of(m.layers, stages);
  LlmConfig last = first;
  first.part->stage = PipelineStage::first;
  last.part->stage = PipelineStage::last;
  last.part->first_layer = m.layers - last.layers;
  return first.parameters() > last.parameters() ? first : last;
}

}  // namespace

std::vector<ShardProblem> shard_problems(const LlmConfig& m, const ParallelConfig& p) {
  Problems problems;
  problems.expect(p.tensor % p.latent_slices == 0, "latent_slices",
                  fmt::format("{} slices do not divide {} tensor GPUs", p.latent_slices, p.tensor),
                  "each slice is on the same number of GPUs");
  if (m.heads == 0 || m.layers == 0 || (!m.mla && m.kv_heads == 0))
    return problems.take();                             // the model is incomplete after errors
  if (p.attention_tensor && *p.attention_tensor > 0 &&  // 0 where it could not be read
      (p.tensor % *p.attention_tensor != 0 || *p.attention_tensor >= p.tensor)) {
    problems.expect(false, "attention_tensor",
                    fmt::format("groups of {} GPUs are not equal parts of {} tensor GPUs",
                                *p.attention_tensor, p.tensor),
                    "a divisor of `tensor` below it; attention: tensor for one group");
    return problems.take();  // heads cannot be shared by such groups
  }
  check_slices(problems, m, p);
  check_heads(problems, m, p);
  if (m.linear) check_linear(problems, *m.linear, p);
  problems.divides("tensor", p.dense_shards(), m.intermediate, "columns of the MLP");
  if (m.moe && m.moe->removed)
    problems.expect(p.experts == ExpertSharing::split, "experts",
                    "the experts of model '" + m.name + "' are removed", "leave it out");
  if (m.moe)
    check_experts(problems, *m.moe, p);
  else
    problems.expect(p.experts == ExpertSharing::split, "experts",
                    "model '" + m.name + "' has no experts", "leave it out");
  check_context(problems, m, p);
  problems.expect(p.pipeline <= m.layers, "pipeline",
                  fmt::format("{} stages are more than the {} layers", p.pipeline, m.layers),
                  "a layer or more on each stage");
  problems.expect(!m.indexer || m.compression || p.latent_slices == 1, "latent_slices",
                  "model '" + m.name + "' has an indexer, whose rows are whole latents",
                  "1, or attention: data");
  problems.expect(!m.encoder || p.devices() == 1, p.cuts_prompts() ? "context" : "tensor",
                  "model '" + m.name + "' has an encoder, which is not split",
                  "more replicas (gpus.count) instead");
  return problems.take();
}

LlmConfig shard_of(const LlmConfig& model, const ParallelConfig& p) {
  LlmConfig m = model;
  if (p.devices() == 1) return m;
  const std::int64_t shards = p.head_shards();
  m.part = ModelPart{.output_heads = m.heads / shards, .vocabulary = m.vocabulary};
  m.heads /= shards;
  if (p.output_projection == OutputProjection::split) m.part->output_heads = model.heads / p.tensor;
  if (m.mla) {
    MlaConfig& mla = *m.mla;
    const std::int64_t held = std::max<std::int64_t>(mla.latent_heads / shards, 1);
    mla.kv_lora_rank = mla.kv_lora_rank / mla.latent_heads * held / p.latent_slices;
    mla.latent_heads = held;
    m.kv_heads = m.heads;
  } else {
    m.kv_heads = std::max<std::int64_t>(m.kv_heads / shards, 1);
    if (m.indexer && m.indexer->kind == IndexerKind::msa)
      m.indexer->heads = m.kv_heads;  // one for each group of query heads
  }
  if (m.shared_kv) m.shared_kv->output_groups /= shards;
  if (m.linear) {
    m.linear->key_heads /= p.attention_gpus();
    m.linear->value_heads /= p.attention_gpus();
  }
  m.intermediate /= p.dense_shards();
  m.vocabulary = parts_of(m.vocabulary, p.dense_shards());
  if (m.moe) {
    const bool spread = p.experts == ExpertSharing::spread;
    m.part->held_experts =
        spread ? (m.moe->experts + p.redundant_experts) / p.tensor : m.moe->experts;
    m.part->shared_intermediate = p.sequences_are_spread() && spread
                                      ? m.moe->shared_width()
                                      : m.moe->shared_width() / p.tensor;
    if (!spread) m.moe->expert_intermediate /= p.tensor;
  }
  return p.pipeline > 1 ? heaviest_stage(m, p.pipeline) : m;
}

ExpertGroup expert_group(const MoeConfig& moe, const ParallelConfig& p, std::int64_t tokens) {
  const bool spread = p.experts == ExpertSharing::spread;
  return {.experts = moe.experts,
          .top_k = moe.experts_per_token,
          .tokens = tokens,
          .ranks = spread ? p.tensor : 1,
          .copies = p.redundant_experts,
          .placement = p.expert_placement};
}

}  // namespace tiersim
