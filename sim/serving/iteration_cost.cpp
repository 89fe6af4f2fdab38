#include "sim/serving/iteration_cost.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "sim/serving/draft_cost.hpp"
#include "sim/step/executor.hpp"
#include "workloads/early_exit/exit_iteration.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim {
namespace {

// The point of a grid at or below a context, and the distance to the next point. The grid has every
// context up to `exact`, then 2^bits points per octave.
struct GridStep {
  std::int64_t below = 1;
  std::int64_t step = 1;
};
GridStep on_grid(std::int64_t context, std::int64_t exact, int bits) {
  if (context <= exact) return {context, 1};
  const auto octave = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(context))) - 1;
  const std::int64_t step = std::int64_t{1} << std::max(0, octave - bits);
  return {context / step * step, step};
}

// The context of a replica without pipeline stages. The cost of a stage is composed from layers.
AttentionContext without_stages(AttentionContext replica) {
  replica.parallel.pipeline = 1;
  return replica;
}

// A key of a cache for the drafts and their mask, which has as few rows as a step has drafts.
std::int64_t drafts_key(const IterationBatch& of) {
  constexpr std::int64_t kMost = std::int64_t{1} << 16U;
  return (of.drafts * kMost + of.mask.rows) * kMost + of.mask.kept;
}

AttentionContext decode_context(const AttentionContext& replica) {
  AttentionContext c = replica;
  c.step.kind = StepKind::decode;
  return device_step(c).context;
}

}  // namespace

IterationCost::IterationCost(const ServingConfig& config, const System& system)
    : IterationCost(context_of(config.scenario, system), *config.scenario.method.method, system) {}

IterationCost::IterationCost(const AttentionContext& replica, const Method& method,
                             const System& system)
    : system_(system),
      method_(method),
      replica_(without_stages(replica)),
      device_(decode_context(replica_)),
      decode_{.context = device_},
      stages_(replica.parallel.pipeline),
      sum_(system),
      between_(system) {
  replica_.host_works = false;  // the server's own host works in parallel
  replica_.drafts = 0;
  device_.drafts = 0;
  decode_.context.drafts = 0;
  group_layers();
  executed_ = overlaps();
  if (DraftCost::has_passes(replica_))
    draft_ = std::make_unique<DraftCost>(replica_, method_, system_);
}

void IterationCost::group_layers() {
  const LlmConfig& model = replica_.model;
  for (const LayerType type : model.types()) {
    if (type == LayerType::no_attention) continue;
    types_.push_back(
        {static_cast<std::int64_t>(types_.size()),
         model.layers_of(type).attention_chunk.value_or(0),
         type != LayerType::linear_attention,
         {layers(), [&](std::int64_t layer) { return model.type_of(layer) == type; }}});
  }
  // Layers that cache positions have equal products, whichever positions those are, unless they
  // compress them; attention
  // residuals grow from block to block.
  const std::int64_t block = std::max<std::int64_t>(model.residual_block, 1);
  const auto products_of = [&](std::int64_t layer) {
    const LayerType type = model.type_of(layer);
    return std::tuple(
        model.residual_block > 0 ? (layer + block - 1) / block : 0,
        caches_positions(type) && !model.compression ? LayerType::full_attention : type,
        model.has_mlp(layer) ? model.mlp_type(layer) : MlpType::none);
  };
  std::vector<std::tuple<std::int64_t, LayerType, MlpType>> found;
  for (std::int64_t layer = 0; layer < layers(); ++layer) {
    const auto products = products_of(layer);
    if (std::ranges::find(found, products) != found.end()) continue;
    products_.push_back({static_cast<std::int64_t>(found.size()),
                         {layers(), [&](std::int64_t at) { return products_of(at) == products; }}});
    found.push_back(products);
  }
}

IterationCost::Alike::Alike(std::int64_t layers, const std::function<bool(std::int64_t)>& is_one) {
  for (std::int64_t layer = layers - 1; layer >= 0; --layer)
    if (is_one(layer)) first = layer;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    before.push_back(before.back() + (is_one(layer) ? 1 : 0));
}

// Launch, arithmetic and memory of an operation are each rounded to a picosecond, and rates of the
// engine to less than a millionth. What overlaps saves more.
constexpr std::int64_t kRoundings = 3;
constexpr std::int64_t kRateRounding = 1'000'000;

// Runs samples of all kinds of iterations both ways.
bool IterationCost::overlaps() {
  if (replica_.step.overlap != Overlap::serial) return true;
  if (replica_.ffn && replica_.ffn->micro_batches > 1) return true;
  const bool encoder = replica_.model.encoder.has_value();
  std::vector<IterationBatch> samples;
  // A method may need a far tier only for long contexts.
  for (const std::int64_t context : {700, 20'000, 200'000})
    samples.push_back(
        {.decodes = 3, .positions = 3 * context, .encoded = encoder ? 60 : 0, .logits = 3});
  if (!encoder) {
    samples.push_back({.chunks = {{300, 0}, {100, 500}}, .logits = 1});
    samples.push_back({.decodes = 2, .positions = 900, .chunks = {{64, 64}}, .logits = 2});
  }
  for (const IterationBatch& sample : samples) {
    const StepGraph graph = build_iteration(replica_, method_, sample.work(), system_.tier_names());
    const Duration events = run(graph).time();
    const Duration sum = compose(sample).time();
    const auto ops = static_cast<std::int64_t>(graph.ops.size());
    const std::int64_t rounding = kRoundings * ops + sum.count() / kRateRounding;
    if (std::abs((events - sum).count()) > rounding) return true;
  }
  return false;
}

IterationCost::~IterationCost() = default;

// Uses the engine, so that operations may overlap.
Demand IterationCost::run(const StepGraph& graph) const {
  const OpPlans plans = system_.plan(graph);
  Demand demand(system_);
  for (const OpPlan& plan : plans) demand.add(plan, system_);
  demand.set_time(execute(graph, system_, plans).time);
  return demand;
}

const Demand& IterationCost::of(const IterationBatch& batch) {
  if (batch.encodes > 0) return encode(batch);
  const Demand& own = executed_ ? execute_whole(batch) : compose(batch);
  if (!draft_) return own;
  // The draft's part has the memory of the whole.
  const Demand& drafted = draft_->before(batch);
  sum_.add(drafted);
  return sum_;
}

const Demand& IterationCost::of(const IterationBatch& batch, const ExitPlan& exits,
                                ExitTechnique technique) {
  TS_EXPECTS(batch.decodes > 0 && batch.chunks.empty() && batch.encodes == 0);
  if (executed_) return execute_exits(batch, exits, technique);
  TS_EXPECTS(batch.padding == 0, batch.padding);
  sum_.clear();
  add_ends(batch.decodes, exits.head_batches * batch.logits);
  IterationWork work = batch.work();
  for (const ExitLayer& at : exits.layers) {
    work.decodes = at.rows;
    add_products(work, at.layer, at.layer + 1);
    for (const OfType& type : types_)
      if (type.layers.between(at.layer, at.layer + 1) > 0)
        add_attention(
            type, {.decodes = at.rows, .positions = batch.positions * at.rows / batch.decodes}, 1);
    if (at.measured > 0) sum_.add(confidence(technique, at.measured, at.layer));
    if (at.filled > 0) sum_.add(fill_beside(at.filled));
  }
  if (const FillWork work_at_end = fill_at_end(exits); work_at_end.pairs > 0)
    sum_.add(fill(work_at_end));
  return sum_;
}

const Demand& IterationCost::compose(const IterationBatch& batch) {
  sum_.clear();
  const IterationWork work = batch.work();
  const std::int64_t drafted = drafted_layers(replica_, work);
  add_ends(rows(drafted > 0 ? last_draft(work) : work), batch.logits);
  if (drafted > 0) {
    IterationBatch last = batch;
    last.positions += batch.decodes * std::exchange(last.drafts, 0);
    add_layers(last, 0, drafted);
  }
  add_layers(batch, drafted, layers());
  return sum_;
}

// Rows of a replica whose GPUs have as many as in this iteration.
std::int64_t IterationCost::rows(const IterationWork& work) const {
  const ParallelConfig& p = replica_.parallel;
  return p.cuts_prompts() ? work.rows_of_rank(p) * p.context_ranks() : work.rows();
}

void IterationCost::add_layers(const IterationBatch& batch, std::int64_t from, std::int64_t to) {
  IterationWork work = batch.work();
  add_products(work, from, to);
  for (OfType& type : types_) {
    const std::int64_t layers = type.layers.between(from, to);
    if (layers == 0) continue;
    if (batch.decodes > 0) add_attention(type, batch, layers);
    if (!batch.chunks.empty()) add_prompts(type, batch.chunks, layers);
  }
}

void IterationCost::add_products(const IterationWork& work, std::int64_t from, std::int64_t to) {
  for (const OfProducts& products : products_)
    if (const std::int64_t layers = products.layers.between(from, to); layers > 0)
      sum_.add(layer(products, work), layers);
}

void IterationCost::add_prompts(OfType& type, const std::vector<PromptChunk>& chunks,
                                std::int64_t times) {
  const auto make = [&](const std::vector<PromptChunk>& of) {
    const AttentionPart part = iteration_parts(replica_, {.chunks = of}).front();
    return demand_of(build_part_attention(part, method_, static_cast<int>(type.layers.first),
                                          system_.tier_names()),
                     system_);
  };
  if (replica_.parallel.cuts_prompts()) {  // each by itself
    for (const PromptChunk& chunk : chunks)
      sum_.add(type.prompts.get({chunk.tokens, chunk.before, 0, 0}, [&] { return make({chunk}); }),
               times);
    return;
  }
  if (chunks.size() > 2) return sum_.add(make(chunks), times);
  DemandCache::Key key{chunks[0].tokens, chunks[0].before, 0, 0};
  if (chunks.size() == 2) key = {key[0], key[1], chunks[1].tokens, chunks[1].before};
  sum_.add(type.prompts.get(key, [&] { return make(chunks); }), times);
}

// The first layer of a stage. If the layers cannot be shared evenly, the first stages have one
// more.
std::int64_t IterationCost::first_layer(std::int64_t stage) const {
  return stage * (layers() / stages_) + std::min(stage, layers() % stages_);
}

const Demand& IterationCost::of_stage(const IterationBatch& batch, std::int64_t stage) {
  TS_EXPECTS(stage >= 0 && stage < stages_ && batch.encodes == 0, stage, stages_);
  if (stages_ == 1) return of(batch);
  if (!executed_) return compose_stage(batch, stage);
  const Demand whole = execute_whole(batch);
  Demand none(system_);
  sum_.clear();
  sum_.add_between(none, whole, first_layer(stage + 1) - first_layer(stage), layers());
  if (stage + 1 < stages_) sum_.add(transfer(batch.work()));
  return sum_;
}

const Demand& IterationCost::compose_stage(const IterationBatch& batch, std::int64_t stage) {
  const IterationWork work = batch.work();
  const std::int64_t tokens = work.rows();
  sum_.clear();
  if (stage == 0) sum_.add(begin(tokens));
  add_layers(batch, first_layer(stage), first_layer(stage + 1));
  if (stage + 1 < stages_) {
    sum_.add(transfer({.decodes = tokens}));
    return sum_;
  }
  sum_.add(end(batch.logits));
  return sum_;
}

const Demand& IterationCost::transfer(const IterationWork& work) {
  const std::int64_t tokens = work.rows();
  return transfer_.get({tokens}, [&] {
    return demand_of(
        build_stage_transfer(replica_, method_, {.decodes = tokens}, system_.tier_names()),
        system_);
  });
}

const Demand& IterationCost::begin(std::int64_t tokens) {
  return begin_.get({tokens}, [&] {
    return demand_of(
        build_iteration_begin(replica_, method_, {.decodes = tokens}, system_.tier_names()),
        system_);
  });
}

// The head sees only the rows whose token is chosen, however many others there are.
const Demand& IterationCost::end(std::int64_t logits) {
  return end_.get({logits}, [&] {
    return demand_of(
        build_iteration_end(replica_, method_,
                            {.decodes = std::max<std::int64_t>(1, logits), .logits = logits},
                            system_.tier_names()),
        system_);
  });
}

void IterationCost::add_ends(std::int64_t tokens, std::int64_t logits) {
  sum_.add(begin(tokens));
  sum_.add(end(logits));
}

// Without a latent that is unpacked in two ways, all tokens are equal for a layer's products.
const Demand& IterationCost::layer(const OfProducts& products, const IterationWork& work) {
  const ParallelConfig& p = replica_.parallel;
  const bool cut = p.cuts_prompts();
  const std::int64_t prompts =
      cut ? rows({.decodes = 0, .chunks = work.chunks}) : work.prompt_tokens();
  IterationWork like{.decodes = work.decodes,
                     .padding = work.padding,
                     .encoder_context = work.encoder_context,
                     .drafts = work.drafts};
  if (!replica_.parallel.sequences_are_spread()) {
    like.decodes *= 1 + like.drafts;
    like.padding *= 1 + std::exchange(like.drafts, 0);
  }
  if (cut)
    like.decodes = rows({.decodes = work.decodes, .padding = std::exchange(like.padding, 0)});
  const bool by_part = replica_.model.mla.has_value();
  if (prompts > 0 && by_part) like.chunks = {{prompts, 0}};
  if (!by_part) like.decodes += prompts;
  const auto make = [&](const IterationWork& of) {
    return demand_of(
        build_iteration_layer(replica_, method_, of, static_cast<int>(products.layers.first),
                              system_.tier_names()),
        system_);
  };
  if (replica_.parallel.sequences_are_spread() && prompts > 0) {
    uncached_ = make(work);  // the GPU with the largest part depends on every prompt
    return uncached_;
  }
  // A model with an encoder has no drafts.
  return layers_.get(
      {static_cast<std::int64_t>(products_.size()) * (like.encoder_context + like.drafts) +
           products.index,
       like.decodes, by_part ? prompts : 0, like.padding},
      [&] { return make(like); });
}

const Demand& IterationCost::attention(const OfType& type, const IterationBatch& of,
                                       std::int64_t context) {
  return attention_.get({of.decodes, context, drafts_key(of), type.index}, [&] {
    decode_.context.step.batch = replica_.parallel.own_sequences(of.decodes);
    if (replica_.parallel.cuts_prompts()) decode_.context.shared = of.decodes;
    decode_.context.step.context = context + of.drafts;
    decode_.context.drafts = of.drafts;
    decode_.context.mask =
        replica_.speculation != nullptr ? replica_.speculation->mask(of.drafts) : of.mask;
    return demand_of(build_part_attention(decode_, method_, static_cast<int>(type.layers.first),
                                          system_.tier_names()),
                     system_);
  });
}

void IterationCost::add_attention(const OfType& type, const IterationBatch& of,
                                  std::int64_t times) {
  if (!type.positions) return sum_.add(attention(type, of, 1), times);
  const std::int64_t decodes = of.decodes;
  std::int64_t positions = of.positions;
  // In a chunk a sequence reads what it would in the first one. Costs are linear in these
  // positions.
  if (const std::int64_t mean = positions / decodes; type.chunk > 0 && mean > type.chunk)
    positions -= (mean - 1) / type.chunk * type.chunk * decodes;
  const auto [below, step] = on_grid(std::max<std::int64_t>(1, positions / decodes), 1024, 6);
  const std::int64_t above = type.chunk > 0 ? std::min(below + step, type.chunk) : below + step;
  const std::int64_t rest = positions - below * decodes;
  if (rest <= 0 || above == below) {
    sum_.add(attention(type, of, below), times);
    return;
  }
  between_.clear();
  low_ = attention(type, of, below);
  between_.add_between(low_, attention(type, of, above), rest, (above - below) * decodes);
  sum_.add(between_, times);
}

// A batch of equal sequences is one step, in which operations may overlap.
const Demand& IterationCost::decode(const IterationBatch& of, std::int64_t context) {
  return attention_.get({of.decodes, context, of.padding, drafts_key(of)}, [&] {
    if (of.padding > 0 || replica_.speculation != nullptr || replica_.joined > 0)
      return run(build_iteration(replica_, method_,
                                 {.decodes = of.decodes,
                                  .context = context,
                                  .padding = of.padding,
                                  .logits = of.decodes * (1 + of.drafts),
                                  .drafts = of.drafts,
                                  .mask = of.mask},
                                 system_.tier_names()));
    AttentionContext c = replica_;
    c.step.kind = StepKind::decode;
    c.step.batch = of.decodes;
    c.step.context = context;
    return run(build_step(c, method_, system_.tier_names()));
  });
}

// If all sequences leave at the same layer, that depth determines the iteration.
const Demand& IterationCost::execute_exits(const IterationBatch& batch, const ExitPlan& exits,
                                           ExitTechnique technique) {
  IterationWork work = batch.work();
  const auto run_at = [&](std::int64_t context) {
    work.context = context;
    return run(
        build_exit_iteration(replica_, method_, work, exits, technique, system_.tier_names()));
  };
  sum_.clear();
  const bool together = std::ranges::all_of(
      exits.layers, [&](const ExitLayer& at) { return at.rows == batch.decodes; });
  if (!together) {
    sum_.add(run_at(work.context));
    return sum_;
  }
  const auto [below, step] =
      on_grid(std::max<std::int64_t>(1, batch.positions / batch.decodes), 16, 4);
  const auto at = [&](std::int64_t context) -> const Demand& {
    return exits_.get({batch.decodes, context, exits.depth}, [&] { return run_at(context); });
  };
  low_ = at(below);
  sum_.add_between(low_, at(below + step), batch.positions - below * batch.decodes,
                   step * batch.decodes);
  return sum_;
}

const Demand& IterationCost::execute_whole(const IterationBatch& batch) {
  sum_.clear();
  if (!batch.chunks.empty() || batch.encoded > 0) {
    const auto make = [&] {
      return run(build_iteration(replica_, method_, batch.work(), system_.tier_names()));
    };
    // Equal prompts on a replica that does not decode have the same pieces.
    const bool alone =
        batch.decodes == 0 && batch.encoded == 0 && batch.padding == 0 && batch.drafts == 0;
    if (alone && batch.chunks.size() == 1)
      sum_.add(pieces_.get({batch.chunks[0].tokens, batch.chunks[0].before, batch.logits}, make));
    else
      sum_.add(make());
    return sum_;
  }
  const auto [below, step] =
      on_grid(std::max<std::int64_t>(1, batch.positions / batch.decodes), 16, 4);
  low_ = decode(batch, below);
  sum_.add_between(low_, decode(batch, below + step), batch.positions - below * batch.decodes,
                   step * batch.decodes);
  return sum_;
}

// An encoder reads whole prompts, each as if it had the mean length.
const Demand& IterationCost::encode(const IterationBatch& batch) {
  const std::int64_t mean = mean_rounded_up(batch.encode_positions, batch.encodes);
  const std::int64_t outputs = mean_rounded_up(batch.encode_outputs, batch.encodes);
  return encode_.get({batch.encodes, mean, outputs}, [&] {
    AttentionContext c = replica_;
    c.step.kind = StepKind::prefill;
    c.step.batch = batch.encodes;
    c.step.context = outputs;
    c.step.encoder_context = mean;
    return demand_of(build_step(c, method_, system_.tier_names()), system_);
  });
}

// The first layer has no flags to read; all later layers are equal.
const Demand& IterationCost::confidence(ExitTechnique technique, std::int64_t rows, int layer) {
  const int like = std::min(layer, 1);
  return confidence_.get({static_cast<std::int64_t>(technique), rows, like}, [&] {
    StepGraph graph{.tier_names = system_.tier_names()};
    add_confidence(graph, device_, technique, like, rows, OpId());
    return demand_of(graph, system_);
  });
}

const Demand& IterationCost::fill(const FillWork& work) {
  return fill_.get({work.layers, work.rows, work.pairs}, [&] {
    StepGraph graph{.tier_names = system_.tier_names()};
    add_fill(graph, device_, method_, work, OpId());
    return demand_of(graph, system_);
  });
}

const Demand& IterationCost::fill_beside(std::int64_t rows) {
  return fill_beside_.get({rows}, [&] {
    StepGraph graph{.tier_names = system_.tier_names()};
    add_fill_beside(graph, device_, method_, 0, rows, OpId());
    return demand_of(graph, system_);
  });
}

}  // namespace tiersim
