#include "sim/study/step_pair.hpp"

#include <algorithm>
#include <bit>

#include "sim/base/portable_math.hpp"
#include "sim/step/packet_network.hpp"
#include "workloads/attention/kv_ops.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kIngredients = kIngredientNames.size();

std::size_t index(Ingredient ingredient) {
  return static_cast<std::size_t>(ingredient);
}

// The limit of the time after the setup.
StepLimit limit_of(const Op& op, const OpPlan& plan, const std::vector<SystemChannel>& channels,
                   StepKind kind) {
  if (op.kind == OpKind::collective) return StepLimit::collective;
  const bool arithmetic =
      plan.min_reason == "compute" && plan.setup + plan.min_duration == plan.uncontended(channels);
  if (arithmetic) return StepLimit::flop;
  const bool rows = op.phase == Phase::attention || op.phase == Phase::write_back;
  // A larger batch would not share a prompt's weights.
  return rows || kind == StepKind::prefill ? StepLimit::hbm : StepLimit::capacity;
}

void add_limits(const Op& op, const OpPlan& plan, const std::vector<SystemChannel>& channels,
                std::int64_t times, StepKind kind,
                std::array<Duration, kStepLimitNames.size()>& limits) {
  const StepLimit limit = limit_of(op, plan, channels, kind);
  const StepLimit start = limit == StepLimit::collective ? limit : StepLimit::launch;
  limits[static_cast<std::size_t>(start)] += plan.setup * times;
  limits[static_cast<std::size_t>(limit)] += (plan.uncontended(channels) - plan.setup) * times;
}

std::string refusal(const ScenarioConfig& config) {
  if (config.parallel.pipeline > 1) return "a pipeline's stages run at the same time";
  if (config.step.overlap != Overlap::serial) return "its operations overlap";
  if (config.model.mixes_types()) return "its layers attend in different ways";
  if (config.handover) return "its cache is sent beside the step";
  if (const auto packets = at_packet_level(config.system); !packets.empty())
    return packets.front() + " is at packet level, which has no closed form";
  return {};
}

std::string refusal(const Op& op) {
  if (op.kind == OpKind::transfer) return "rows come from another tier";
  if (op.phase == Phase::screening || op.phase == Phase::gather) return "it screens rows";
  return {};
}

}  // namespace

Expected<StepPair::Side> StepPair::side(const ScenarioConfig& config, const System& system,
                                        std::int64_t batch) {
  if (const std::string why = refusal(config); !why.empty())
    return Unexpected("'" + config.name + "' has no factors: " + why);
  AttentionContext context = context_of(config, system);
  context.step.batch = batch;
  context.host_works = false;
  context.kernel = {};
  const StepGraph graph = build_step(context, *config.method.method, system.tier_names());
  const AttentionContext device = device_step(context).context;
  const KvShape shape(device);
  Side side;
  side.kind = config.step.kind;
  if (side.kind == StepKind::decode) side.rows = device.model.heads / device.model.key_groups();
  side.value_width = shape.mix_width;
  side.tokens = graph.tokens;
  const OpPlans plans = system.plan(graph);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    if (const std::string why = refusal(op); !why.empty())
      return Unexpected("'" + config.name + "' has no factors: " + why);
    if (op.phase == Phase::attention && op.kind == OpKind::compute) {
      if (side.attentions++ == 0) side.attention = op;
      if (!same_work(op, side.attention))
        return Unexpected("'" + config.name + "' has no factors: its layers differ in attention");
      continue;
    }
    const OpPlan& plan = plans[i];
    const Duration time = plan.uncontended(system.channels());
    if (op.kind == OpKind::collective)
      side.collectives += time;
    else if (op.phase == Phase::write_back)
      side.stores += time;
    else
      side.weights += time;
    add_limits(op, plan, system.channels(), 1, side.kind, side.limits);
  }
  return side;
}

Expected<StepPair> StepPair::make(const ScenarioConfig& base, const ScenarioConfig& other,
                                  std::int64_t base_batch, std::int64_t other_batch) {
  StepPair pair;
  pair.batches_ = {base_batch, other_batch};
  const std::array systems{std::make_shared<const System>(build_system(base)),
                           std::make_shared<const System>(build_system(other))};
  pair.system_ = systems[0];
  const std::array<const ScenarioConfig*, 2> configs{&base, &other};
  for (std::size_t way = 0; way < 2; ++way)
    for (std::size_t batch = 0; batch < 2; ++batch) {
      const auto made = side(*configs[way], *systems[way], pair.batches_[batch]);
      if (!made) return Unexpected(made.error());
      pair.sides_[way][batch] = *made;
    }
  const Side& first = pair.sides_[0][0];
  const Side& second = pair.sides_[1][0];
  const auto takes = [&](std::size_t system) {
    return systems[system]->plan(second.attention).uncontended(systems[system]->channels());
  };
  if (first.attentions != second.attentions)
    return Unexpected(std::string("the two have attention in different numbers of layers"));
  if (first.tokens != second.tokens)
    return Unexpected(std::string("the two make different numbers of tokens of one batch"));
  if (replicas(base) != replicas(other))
    return Unexpected(std::string("the two have different numbers of replicas"));
  if (takes(0) != takes(1))
    return Unexpected(std::string("the two run attention on different devices"));
  return pair;
}

const StepPair::Side& StepPair::from(const Choice& choice, Ingredient ingredient) const {
  return sides_[choice[index(ingredient)]][choice[index(Ingredient::batch)]];
}

// Combines bytes, FLOPs and padding, each from one of the two variants.
Op StepPair::attention(const Choice& choice, const AttentionKernelConfig& kernel) const {
  Op op = from(choice, Ingredient::bytes).attention;
  const Side& padded = from(choice, Ingredient::padding);
  const Flops useful = from(choice, Ingredient::flops).attention.flops;
  op.padding = {};
  if (padded.rows > 0) {
    const Flops row = Flops::from_base(useful.in_base() / padded.rows);
    op.padding = row * (kernel.executed_rows(padded.rows, padded.value_width) - padded.rows);
  }
  op.flops = useful + op.padding;
  return op;
}

double StepPair::rate(const Choice& choice, const AttentionKernelConfig& kernel,
                      Duration host) const {
  const Duration attention_time =
      system_->plan(attention(choice, kernel)).uncontended(system_->channels());
  const Duration time = attention_time * from(choice, Ingredient::bytes).attentions +
                        from(choice, Ingredient::bytes).stores +
                        from(choice, Ingredient::weights).weights +
                        from(choice, Ingredient::collectives).collectives + host;
  return static_cast<double>(from(choice, Ingredient::bytes).tokens) / to_seconds(time);
}

StepRate StepPair::rate_of(std::size_t way, const AttentionKernelConfig& kernel,
                           Duration host) const {
  Choice choice{};
  choice.fill(way);
  const Side& side = sides_[way][way];
  auto limits = side.limits;
  const Op op = attention(choice, kernel);
  add_limits(op, system_->plan(op), system_->channels(), side.attentions, side.kind, limits);
  limits[static_cast<std::size_t>(StepLimit::host)] += host;
  const auto largest = std::ranges::max_element(limits) - limits.begin();
  return {.batch = batches_[way],
          .tokens_per_s = rate(choice, kernel, host),
          .limit = static_cast<StepLimit>(largest)};
}

Speedup StepPair::speedup(const AttentionKernelConfig& kernel, Duration host) const {
  constexpr std::size_t kSets = std::size_t{1} << kIngredients;
  std::array<double, kSets> logs{};  // indexed by the set of exchanged ingredients
  for (std::size_t set = 0; set < kSets; ++set) {
    Choice choice{};
    for (std::size_t i = 0; i < kIngredients; ++i) choice[i] = set >> i & 1U;
    logs[set] = portable_log(rate(choice, kernel, host));
  }
  // Shapley weight of a set of s exchanged ingredients: s! (n - 1 - s)! / n!
  std::array<double, kIngredients> weight{};
  for (std::size_t s = 0; s < kIngredients; ++s) {
    weight[s] = 1.0 / static_cast<double>(kIngredients);
    for (std::size_t k = 1; k <= s; ++k)
      weight[s] *= static_cast<double>(k) / static_cast<double>(kIngredients - k);
  }
  Speedup out{.base = rate_of(0, kernel, host), .other = rate_of(1, kernel, host)};
  out.ratio = out.other.tokens_per_s / out.base.tokens_per_s;
  for (std::size_t i = 0; i < kIngredients; ++i) {
    double value = 0;
    for (std::size_t set = 0; set < kSets; ++set) {
      if ((set >> i & 1U) != 0) continue;
      const auto others = static_cast<std::size_t>(std::popcount(set));
      value += weight[others] * (logs[set | std::size_t{1} << i] - logs[set]);
    }
    out.factors[i] = portable_exp(value);
  }
  return out;
}

}  // namespace tiersim
