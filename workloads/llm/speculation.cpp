#include "workloads/llm/speculation.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim {
namespace {

constexpr std::int64_t kMostTokens = 64;

std::vector<Alternative> alternatives() {
  return {{"mtp", "the model's own multi-token-prediction modules"},
          {"eagle", "a head of few layers over the model's hidden states"},
          {"model", "a small model of its own"},
          {"ngram", "a search in the text so far, on the CPU"},
          {"early_exit", "the first layers of the model and its head"}};
}

void describe_weight_type(Fields& f, DraftConfig& c) {
  f.optional(
      "weight_type", c.weight_type, kDataTypeNames,
      "Element type of the draft's weights; by default those that its own model states, else "
      "those of the model's.");
  f.optional("dispatch", c.dispatch,
             "CPU time to dispatch a pass of the draft, beside which the GPU works; none where a "
             "graph holds the pass.",
             at_least(0));
}

void describe_eagle(Fields& f, DraftConfig& c) {
  f.optional("layers", c.layers, "Layers like the model's, without experts.", in_range(1, 64));
  f.optional("inputs", c.inputs,
             "Vectors of the model's width that its input projection joins: 2, the embedding and a "
             "hidden state (EAGLE); 4, with three hidden states (EAGLE-3).",
             in_range(1, 16));
  f.optional("vocabulary", c.vocabulary,
             "Entries of a head of its own; by default it uses the model's.",
             in_range(1, 10'000'000));
}

}  // namespace

void describe(Fields& f, DraftConfig& c) {
  f.doc("Who proposes the tokens that the model verifies.");
  f.select("kind", c.kind, alternatives(), [&c](const std::string& kind, Fields& fields) {
    c.kind = kind;
    fields.optional("tree", c.tree, "Several tokens for one place; by default one after another.");
    if (c.is(DraftKind::ngram))
      return fields.optional("host", c.host, "CPU time to draft for one sequence.", at_least(0));
    if (c.is(DraftKind::early_exit))
      return fields.required("layer", c.layer, "Layers, from the first, that draft.",
                             in_range(1, 1000));
    describe_weight_type(fields, c);
    if (c.is(DraftKind::model)) fields.document("model", c.model, "model", "The small model.");
    if (c.is(DraftKind::eagle)) describe_eagle(fields, c);
  });
}

void describe(Fields& f, TokensFrom& c) {
  f.doc("The number of drafts from a number of decoding sequences on.");
  f.required("batch", c.batch, "Decoding sequences of a replica, or more of them.",
             in_range(1, 1'000'000));
  f.required("tokens", c.tokens, "Tokens that are drafted for each; 0: none.",
             in_range(std::int64_t{0}, kMostTokens));
}

namespace {

// Each child that a tree may keep has a probability, and a step has no more drafts than nodes.
void check_tree(Fields& f, const SpeculationConfig& c) {
  const DraftTreeConfig& tree = *c.draft.tree;
  f.check(!tree.branches() || !c.acceptance.by_depth.empty(), "acceptance",
          "says nothing of the second child of a node (draft.tree)",
          "by_depth: a list of `ranks` for each depth");
  if (!c.acceptance.by_depth.empty())
    for (std::size_t d = 0; d < tree.widths.size(); ++d) {
      const std::size_t at = std::min(d, c.acceptance.by_depth.size() - 1);
      f.check(tree.widths[d] <= std::ssize(c.acceptance.by_depth[at].ranks),
              fmt::format("acceptance.by_depth.{}.ranks", at),
              fmt::format("has {} probabilities, and a node has {} children at depth {}",
                          c.acceptance.by_depth[at].ranks.size(), tree.widths[d], d + 1),
              "one for each child, or fewer children (draft.tree.widths)");
    }
  const std::int64_t nodes = tree.nodes(kMostTokens + 1);
  const auto check_tokens = [&](const std::string& path, std::int64_t tokens) {
    f.check(tokens <= nodes, path, fmt::format("is above the {} nodes of draft.tree", nodes),
            "fewer, or wider widths");
  };
  check_tokens("tokens", c.tokens);
  for (std::size_t i = 0; i < c.tokens_by_batch.size(); ++i)
    check_tokens(fmt::format("tokens_by_batch.{}.tokens", i), c.tokens_by_batch[i].tokens);
}

}  // namespace

void describe(Fields& f, SpeculationConfig& c) {
  f.doc("Speculative decoding: drafted tokens that the model verifies in one pass.");
  f.required("draft", c.draft, "Who proposes tokens.");
  f.required("tokens", c.tokens,
             "Tokens that are drafted for each sequence in a step, of a tree all that are kept.",
             in_range(std::int64_t{0}, kMostTokens));
  f.optional("tokens_by_batch", c.tokens_by_batch,
             "Other numbers of them from a number of decoding sequences on, batches rising.");
  f.required("acceptance", c.acceptance, "How many of them are accepted.");
  for (std::size_t i = 1; i < c.tokens_by_batch.size(); ++i)
    f.check(c.tokens_by_batch[i - 1].batch < c.tokens_by_batch[i].batch,
            fmt::format("tokens_by_batch.{}.batch", i), "is not above the one before it",
            "batches rise");
  if (c.draft.tree) check_tree(f, c);
  for (std::size_t d = 0; d < c.acceptance.by_depth.size() && !c.draft.tree; ++d)
    f.check(c.acceptance.by_depth[d].ranks.size() <= 1,
            fmt::format("acceptance.by_depth.{}.ranks", d),
            "has second children, and the drafts are a chain", "one probability, or draft.tree");
  if (!c.acceptance.mean_length) return;
  f.check(c.tokens > 0, "acceptance.mean_length", "is the mean of steps without drafts",
          "tokens above 0, at which it was measured");
  f.check(c.tokens == 0 || c.acceptance.mean_length->value <= static_cast<double>(c.tokens + 1),
          "acceptance.mean_length",
          fmt::format("is above the {} tokens that a step with {} drafts can give", c.tokens + 1,
                      c.tokens),
          "the mean length of steps with as many drafts as `tokens`");
}

std::int64_t SpeculationConfig::tokens_at(std::int64_t batch) const {
  std::int64_t out = tokens;
  for (const TokensFrom& from : tokens_by_batch)
    if (batch >= from.batch) out = from.tokens;
  return out;
}

std::int64_t SpeculationConfig::most_tokens() const {
  std::int64_t out = tokens_at(1);
  for (const TokensFrom& from : tokens_by_batch) out = std::max(out, from.tokens);
  return out;
}

TreeShape SpeculationConfig::shape(std::int64_t drafts) const {
  if (draft.branches())
    return tree_shape(likeliest_nodes(acceptance, 0, draft.tree->widths, drafts), drafts);
  TreeShape out;
  out.nodes.assign(static_cast<std::size_t>(drafts), 1);
  out.inner.assign(static_cast<std::size_t>(std::max<std::int64_t>(drafts - 1, 0)), 1);
  return out;
}

std::vector<SpeculationProblem> speculation_problems(const SpeculationConfig& config,
                                                     const LlmConfig& model) {
  std::vector<SpeculationProblem> out;
  const DraftConfig& draft = config.draft;
  const auto expect = [&](bool holds, const char* path, std::string message, std::string hint) {
    if (!holds) out.push_back({path, std::move(message), std::move(hint)});
  };
  if (model.layers == 0) return out;  // incomplete after errors
  expect(!model.encoder, "draft", "model '" + model.name + "' has an encoder",
         "a model without, or leave speculation out");
  if (draft.branches()) {
    expect(!model.linear && !model.compression, "draft.tree",
           "model '" + model.name + "' has states, and each branch would need its own",
           "widths of 1, or leave it out");
    expect(
        !draft.is(DraftKind::early_exit), "draft.tree",
        "the last tokens of each branch would pass the first layers again, which is not modelled",
        "widths of 1, or leave it out");
  }
  if (draft.is(DraftKind::mtp))
    expect(model.mtp.has_value(), "draft.kind",
           "model '" + model.name + "' has no modules for multi-token prediction (mtp)",
           "eagle, model, ngram or early_exit");
  if (draft.is(DraftKind::early_exit))
    expect(draft.layer < model.layers, "draft.layer",
           fmt::format("leaves none of the {} layers to the verification", model.layers),
           "fewer layers");
  if (draft.is(DraftKind::model) && draft.model.layers > 0) {
    expect(!draft.model.encoder, "draft.model", "model '" + draft.model.name + "' has an encoder",
           "a model without");
    expect(draft.model.vocabulary == model.vocabulary, "draft.model",
           fmt::format("has a vocabulary of {}, and model '{}' of {}", draft.model.vocabulary,
                       model.name, model.vocabulary),
           "a model with the same tokens");
  }
  return out;
}

}  // namespace tiersim
