#include "sim/serving/replica.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/engine.hpp"

namespace tiersim {
namespace {

std::int64_t tokens_of(const Request& request) {
  return request.input_tokens + request.output_tokens;
}

std::int64_t sequences_of(const Iteration& iteration) {
  return static_cast<std::int64_t>(iteration.decodes.size() + iteration.pieces.size());
}

// How long the GPU waits for drafts that the CPU searches in the tokens so far.
Duration search_time(const std::optional<SpeculationConfig>& speculation,
                     const Iteration& iteration) {
  if (!speculation || !speculation->draft.is(DraftKind::ngram) || iteration.drafts == 0) return {};
  return repeated(speculation->draft.host.value,
                  static_cast<std::int64_t>(iteration.decodes.size()));
}

Duration slowed(Duration time, double by) {
  return by == 1 ? time : Duration(std::llround(static_cast<double>(time.count()) * by));
}

// By how much a named block takes longer for each one before it, as a share of the first one's
// time: of long pieces, in which launches and weights do not count.
double cost_growth(const ServingParts& parts) {
  const auto& prefixes = parts.config.server.prefix_cache;
  if (!prefixes) return 0;
  const auto asks = [](const auto& cache) { return cache.eviction_policy == Eviction::gdsf; };
  if (!asks(*prefixes) && std::ranges::none_of(prefixes->tiers, asks)) return 0;
  constexpr std::int64_t kPiece = 8192;
  const auto seconds = [&](std::int64_t before) {
    return to_seconds(
        parts.cost.of({.chunks = {{.tokens = kPiece, .before = before}}, .logits = 1}).time());
  };
  const double blocks =
      static_cast<double>(kPiece) / static_cast<double>(parts.config.workload.prefix_block);
  const double first = seconds(0);
  return (seconds(kPiece) - first) / blocks / first;
}

BlockLimits limits_of(const ServingParts& parts, bool prompts_only) {
  BlockLimits out = block_limits(parts.config, parts.system, parts.layout);
  out.prompts_only = prompts_only;
  // The replicas that read prompts have the prefixes, as the pool that reads has them (pools.cpp).
  if (parts.config.server.disaggregation && !prompts_only) {
    out.prefix_block = 0;
    out.prefix_levels.clear();
  }
  out.gives_no_token = prompts_only && parts.config.server.first_token() == FirstToken::decode;
  out.prefix_cost_growth = cost_growth(parts);
  for (std::size_t k = 0; k < out.prefix_levels.size() && k < parts.shared_tiers.size(); ++k)
    out.prefix_levels[k].shared = parts.shared_tiers[k];
  return out;
}

}  // namespace

Replica::Replica(ServingParts& parts, std::int64_t index, bool prefills_only, Sink sink,
                 ServingTotals& totals)
    : parts_(parts),
      index_(index),
      prefills_only_(prefills_only),
      sink_(std::move(sink)),
      totals_(totals),
      scheduler_(parts.config.server, limits_of(parts, prefills_only)),
      frontend_(parts.engine, 1),
      bell_(parts.engine, 0),
      entrance_(parts.engine, 1),
      slots_(parts.engine, parts.config.scenario.parallel.pipeline),
      loading_(scheduler_.limits().prefix_levels.size() + 1, 0),
      storing_(scheduler_.limits().prefix_levels.size() + 1, 0),
      work_(parts.system) {
  for (std::int64_t s = 0; s < parts.config.scenario.parallel.pipeline; ++s)
    stages_.push_back(std::make_unique<Resource>(parts.engine, 1));
  limit_stores();
  const ServerConfig& server = parts.config.server;
  if (server.stragglers && std::ranges::count(server.stragglers->replicas, index_) > 0)
    slowdown_ = server.stragglers->slowdown.value;
  const auto& prefixes = server.prefix_cache;
  if (prefixes && prefixes->load == LoadPolicy::if_faster)
    scheduler_.choose_loads([this](const PrefixLoad& load) { return is_load_faster(load); });
}

void Replica::receive(Sequence& sequence) {
  count(sequence);
  const Duration time = parts_.config.frontend_time(sequence.request.input_tokens);
  if (time > Duration{})
    parts_.engine.spawn(read(sequence, time));
  else
    enqueue_new(sequence);
}

Process Replica::read(Sequence& sequence, Duration time) {
  Resource::Acquire turn = frontend_.acquire();
  co_await turn;
  co_await parts_.engine.delay(time);
  frontend_.release();
  enqueue_new(sequence);
}

void Replica::submit(Sequence& sequence) {
  if (sequence.reserved == 0) count(sequence);
  enqueue(sequence);
  if (sequence.reserved > 0 && sequence.coming == 0) all_has_come(sequence);
}

void Replica::count(const Sequence& sequence) {
  ++requests_;
  tokens_ += tokens_of(sequence.request);
}

// Where nothing runs, it is admitted now.
void Replica::enqueue_new(Sequence& sequence) {
  const auto& prefixes = parts_.config.server.prefix_cache;
  const bool early = prefixes && prefixes->prefetch && prefixes->prefetch->at_arrival;
  if (early && scheduler_.running() > 0) prefetch(sequence.request);
  enqueue(sequence);
}

void Replica::enqueue(Sequence& sequence) {
  if (down_) return give_away(sequence);  // it came before the failure
  come_.push_back(&sequence);
  parts_.observer.on_submit(index_, parts_.engine.now(), sequence);
  wake();
}

bool Replica::take_in() {
  for (Sequence* s : come_) scheduler_.submit(*s);
  return !std::exchange(come_, {}).empty();
}

// After an iteration that read prompts, as if many had decoded.
constexpr std::int64_t kAtOnce = 1'000'000;

void Replica::look_for_requests() {
  const std::int64_t interval = parts_.config.server.scheduler.receive_interval;
  if (interval > 1 && scheduler_.running() > 0 && decoded_ < interval) return;
  decoded_ = 0;
  take_in();
}

Scheduler& Replica::scheduler_now() {
  scheduler_.advance(parts_.engine.now());
  return scheduler_;
}

// Under `overlap`, the requests that came during the last iteration are taken in when the planned
// one begins. Where nothing runs, nothing was planned ahead.
Iteration Replica::plan() {
  if (!parts_.config.server.host.overlap || scheduler_.running() == 0) look_for_requests();
  pass_over_long_queues();
  return scheduler_now().plan();
}

void Replica::release(Sequence& sequence) {
  scheduler_.release(sequence);
  wake();
}

void Replica::fail() {
  down_ = true;
  lost_ = true;
  if (idle_) give_up();
}

void Replica::restore() {
  down_ = false;
  wake();
}

void Replica::give_up() {
  lost_ = false;
  std::vector<Sequence*> lost = scheduler_.lose_all();
  const std::vector<Sequence*> come = std::exchange(come_, {});
  lost.insert(lost.end(), come.begin(), come.end());
  count_held();
  for (Sequence* s : lost) give_away(*s);
}

void Replica::give_away(Sequence& sequence) {
  --requests_;
  tokens_ -= tokens_of(sequence.request);
  parts_.observer.on_hand_over(index_, parts_.engine.now(), sequence);
  sink_.lost(sequence);
}

void Replica::wake() {
  if (!std::exchange(idle_, false)) return;
  bell_.release();
}

Process Replica::serve() {
  for (;;) {
    Semaphore::Acquire slot = slots_.acquire();
    co_await slot;
    if (lost_) give_up();
    if (down_) {
      slots_.release();
      idle_ = true;
      Semaphore::Acquire ring = bell_.acquire();
      co_await ring;
      continue;
    }
    Iteration iteration = plan();
    start_storing();
    parts_.observer.on_plan(index_, parts_.engine.now(), scheduler_.sequences());
    const bool moves = !iteration.before.empty();
    if (stages_.size() > 1) {
      // A later plan may use blocks that these copies free, or bring back a sequence that they
      // swap out, so they end before it is made.
      for (const SequenceMove& what : std::exchange(iteration.before, {})) {
        const Process moving = move(what);
        co_await moving;
      }
    }
    for (const SequenceMove& what : iteration.beside) parts_.engine.spawn(move_beside(what));
    if (!iteration.works() && !moves) {
      slots_.release();
      if (take_in()) continue;
      // All sequences wait for copies, or for blocks that are being copied out.
      idle_ = true;
      Semaphore::Acquire ring = bell_.acquire();
      co_await ring;
      continue;
    }
    if (stages_.size() > 1 && iteration.works()) {
      parts_.engine.spawn(fly(std::move(iteration)));
      continue;
    }
    const Process work = iterate(std::move(iteration));
    co_await work;
    slots_.release();
  }
}

bool Replica::rebalances_next() const {
  const auto& rebalance = parts_.config.server.expert_rebalance;
  return rebalance && iterations_ - moved_at_ >= rebalance->iterations;
}

Process Replica::fly(Iteration iteration) {
  const Process work = iterate(std::move(iteration));
  co_await work;
  slots_.release();
  wake();
}

Process Replica::iterate(Iteration iteration) {
  Engine& engine = parts_.engine;
  Resource::Acquire turn = entrance_.acquire();
  co_await turn;
  const SimTime begin = engine.now();
  const bool overlap = parts_.config.server.host.overlap;
  const Duration host = host_time(iteration);
  if (!overlap && host > Duration{}) {
    const Process preparing = prepare(host);
    co_await preparing;
  }
  const SimTime copies = engine.now();
  if (iteration.works() && rebalances_next()) {
    moved_at_ = iterations_;
    const Duration pause = parts_.config.server.expert_rebalance->pause.value;
    co_await engine.delay(pause);
  }
  for (const SequenceMove& what : iteration.before) {
    const Process moving = move(what);
    co_await moving;
  }
  if (!iteration.works()) {
    entrance_.release();
    co_return;
  }
  look_for_requests();
  decoded_ = iteration.pieces.empty() ? decoded_ + 1 : kAtOnce;
  IterationSample sample{
      .replica = index_, .pool = parts_.pool, .begin = begin, .gpu = engine.now()};
  sample.copies = sample.gpu - copies;
  std::vector<StageWork> stages = std::exchange(spare_, {});
  work_of(iteration, stages, sample.layers);
  for (const StageWork& stage : stages) totals().demand.add(stage.demand);
  Trigger prepared(engine);
  const bool beside = overlap && host > Duration{};
  Semaphore loaded(engine, 0);
  SimTime last_load{};
  if (!iteration.within.empty()) {
    const Process first_layer = load_first_layer(iteration.within);
    co_await first_layer;
    for (const SequenceMove& what : iteration.within)
      engine.spawn(load_within(what, loaded, last_load));
  }
  const std::shared_ptr<Trigger> computed = begin_sends(iteration, stages.front().time);
  const Process work = pass(stages, beside ? &prepared : nullptr, sample);
  if (beside) engine.spawn(prepare_beside(host, prepared));
  co_await work;
  if (!iteration.within.empty()) {
    for (std::size_t k = 0; k < iteration.within.size(); ++k) {
      Semaphore::Acquire one = loaded.acquire();
      co_await one;
    }
    // The last layer is computed after its load.
    const SimTime least = last_load + stages.front().time / parts_.config.scenario.model.layers;
    if (least > engine.now()) co_await engine.until(least);
  }
  if (lost_) {
    Scheduler::abandon(iteration);
    spare_ = std::move(stages);
    co_return;
  }
  if (computed) end_sends(iteration, *computed);
  work_.clear();
  for (const StageWork& stage : stages) work_.add(stage.demand);
  spare_ = std::move(stages);
  end(iteration, sample);
}

void Replica::end(const Iteration& iteration, IterationSample& sample) {
  ++iterations_;
  sample.work = &work_;
  std::int64_t prompt_tokens = 0;
  for (const auto& [s, tokens, executed, before] : iteration.pieces)
    prompt_tokens += scheduler_.limits().encoder ? s->request.input_tokens : tokens;
  sample.end = parts_.engine.now();
  sample.decodes = std::ranges::count(iteration.decodes, false, &Sequence::ended);
  sample.drafts = sample.decodes * iteration.drafts;
  sample.prompt_tokens = prompt_tokens;
  parts_.observer.on_work(sample, iteration);
  hand_out(iteration, sample.begin);
  start_storing();
  count_held();
  sample.running = scheduler_.running();
  sample.waiting = scheduler_.waiting() + static_cast<std::int64_t>(come_.size());
  sample.blocks_used = scheduler_.blocks_used();
  parts_.observer.on_iteration(sample);
}

Process Replica::pass(const std::vector<StageWork>& of, Trigger* prepared,
                      IterationSample& sample) {
  Engine& engine = parts_.engine;
  const auto count = static_cast<std::int64_t>(stages_.size());
  for (std::int64_t s = 0; s < count; ++s) {
    Resource& stage = *stages_[static_cast<std::size_t>(s)];
    Resource::Acquire turn = stage.acquire();
    co_await turn;
    if (s == 0) entrance_.release();
    const SimTime from = engine.now();
    const auto& [demand, time] = of[static_cast<std::size_t>(s)];
    const Process work = parts_.hardware.work(group(s), demand, time);
    co_await work;
    if (s + 1 == count && prepared != nullptr) {
      ListWait next = prepared->wait();
      co_await next;
    }
    if (count > 1) sample.stages.emplace_back(from, engine.now());
    stage.release();
  }
}

Process Replica::prepare(Duration host) {
  Resource::Acquire worker = parts_.hosts.acquire();
  co_await worker;
  co_await parts_.engine.delay(host);
  parts_.hosts.release();
}

Process Replica::prepare_beside(Duration host, Trigger& prepared) {
  const Process preparing = prepare(host);
  co_await preparing;
  prepared.fire();
}

Duration Replica::host_time(const Iteration& iteration) const {
  const ServerHostConfig& host = parts_.config.server.host;
  return host.iteration.value + repeated(host.sequence.value, sequences_of(iteration));
}

void Replica::work_of(const Iteration& iteration, std::vector<StageWork>& out,
                      std::int64_t& layers) {
  IterationBatch batch = batch_of(iteration, scheduler_.limits().encoder);
  const ServerHostConfig& host = parts_.config.server.host;
  const Launching launching = launching_of(parts_.config, batch);
  layers = parts_.config.scenario.model.layers;
  std::int64_t decisions = 0;
  out.resize(stages_.size());
  if (parts_.depths == nullptr || !iteration.pieces.empty()) {
    batch.padding = launching.padding;
    for (std::size_t s = 0; s < out.size(); ++s)
      out[s].demand = out.size() == 1 ? parts_.cost.of(batch)
                                      : parts_.cost.of_stage(batch, static_cast<std::int64_t>(s));
  } else {  // the batch shrinks from layer to layer, so that no graph of a fixed size fits
    depths_.clear();
    // The iterations of each replica have their own numbers.
    const std::int64_t number = iterations_ * (std::int64_t{1} << 20U) + index_;
    for (const Sequence* s : iteration.decodes) {
      // The padding of a static batch runs as deep as the last token did.
      const std::int64_t token = std::min(s->generated, s->request.output_tokens - 1);
      depths_.push_back(
          parts_.depths->depth(s->request.id, token, s->request.output_tokens, number));
    }
    const EarlyExitConfig& config = *parts_.config.early_exit;
    const ExitPlan exits = plan_exits(config, layers, depths_);
    layers = exits.depth;
    decisions = exits.decisions;
    out.front().demand = parts_.cost.of(batch, exits, config.technique);
  }
  for (StageWork& stage : out)
    stage.time = slowed(
        std::max(stage.demand.time(), repeated(launching.each, stage.demand.kernels())), slowdown_);
  out.back().time += repeated(host.sync.value, decisions + 1) +
                     repeated(host.sync_sequence.value, sequences_of(iteration)) +
                     search_time(parts_.config.scenario.speculation, iteration);
}

// Reports the tokens of this iteration.
void Replica::hand_out(const Iteration& iteration, SimTime begin) {
  const SimTime now = parts_.engine.now();
  std::vector<Sequence*> changed;
  Duration gap{};
  std::int64_t alike = 0;  // tokens with this gap
  const auto flush = [&] {
    if (alike > 0) parts_.observer.on_gap(now, gap, alike);
    alike = 0;
  };
  std::int64_t together = 0;  // tokens that come with the one before them
  const bool shared = parts_.config.measure.as == MeasuredAs::sglang_bench;
  const auto token = [&](Sequence& s, std::int64_t tokens) {
    if (s.generated == 0) {
      s.first_token = now;
      together += tokens - 1;
    } else {
      Duration since = now - s.last_token;
      if (shared) since /= tokens;
      if (since != gap) flush();
      gap = since;
      alike += shared ? tokens : 1;
      together += shared ? 0 : tokens - 1;
    }
    s.last_token = now;
    if (s.generated + tokens == s.request.output_tokens || prefills_only_) changed.push_back(&s);
  };
  for (const auto& [s, tokens, executed, before] : iteration.pieces) {
    if (!s->has_started) s->started = begin;
    s->has_started = true;
    if (before + tokens < s->prompt) continue;
    if (scheduler_.limits().gives_no_token)
      changed.push_back(s);
    else
      token(*s, 1);
  }
  for (std::size_t i = 0; i < iteration.decodes.size(); ++i)
    if (!iteration.decodes[i]->ended) token(*iteration.decodes[i], iteration.gain(i));
  flush();
  if (together > 0) parts_.observer.on_gap(now, Duration{}, together);
  scheduler_now().finish(iteration);
  for (Sequence* s : changed) {
    if (!s->is_done()) scheduler_.hand_over(*s);
    --requests_;
    tokens_ -= tokens_of(s->request);
    if (s->is_done()) {
      sink_.ended(*s);
    } else {
      s->source = index_;
      parts_.observer.on_hand_over(index_, now, *s);
      sink_.prefilled(*s);
    }
  }
}

}  // namespace tiersim
