#include "sim/serving/kv_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/base/display.hpp"
#include "sim/step/accounting.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/step_builder.hpp"

namespace tiersim {
namespace {

constexpr std::array kFixed{TensorClass::weights, TensorClass::activations, TensorClass::workspace};

Bytes scaled(Bytes bytes, double by) {
  return by == 1 ? bytes
                 : Bytes::from_base(std::llround(static_cast<double>(bytes.in_base()) * by));
}

Bytes over(Bytes bytes, std::int64_t parts) {
  return Bytes::from_base(bytes.in_base() / parts);
}

bool is_fixed(TensorClass tensor_class) {
  return std::ranges::count(kFixed, tensor_class) != 0;
}

// Bytes by tier and class on one GPU.
std::vector<ClassBytes> tensors(const ServingConfig& config, const System& system, StepKind kind,
                                std::int64_t batch, std::int64_t context) {
  AttentionContext c = context_of(config.scenario, system);
  c.step.kind = kind;
  c.step.batch = batch;
  c.step.context = context;
  return footprint_of(build_step_tensors(c, *config.scenario.method.method, system.tier_names()));
}

// The part that grows with the number of sequences.
std::vector<Bytes> of_sequences(const std::vector<ClassBytes>& tiers) {
  std::vector<Bytes> out;
  for (const ClassBytes& tier : tiers) {
    Bytes sum;
    for (std::size_t c = 0; c < tier.size(); ++c)
      if (!is_fixed(static_cast<TensorClass>(c))) sum += tier[c];
    out.push_back(sum);
  }
  return out;
}

// The largest size of each class over several graphs.
std::vector<ClassBytes> largest(const std::vector<std::vector<ClassBytes>>& all) {
  std::vector<ClassBytes> out = all.front();
  for (const auto& tiers : all)
    for (std::size_t t = 0; t < tiers.size(); ++t)
      for (std::size_t c = 0; c < tiers[t].size(); ++c)
        out[t][c] = std::max(out[t][c], tiers[t][c]);
  return out;
}

std::int64_t kept(const ServingConfig& config, const System& system, std::int64_t context) {
  AttentionContext c = context_of(config.scenario, system);
  c.step.kind = StepKind::decode;
  c.step.context = context;
  std::int64_t sum = 0;
  for (const CachedTensor& tensor : config.scenario.method.method->cached(device_step(c).context))
    if (tensor.tensor_class == TensorClass::keys) sum += tensor.positions;
  return sum;
}

// Cached bytes of one sequence on one GPU, over all layers, by tier.
std::vector<Bytes> cached(const ServingConfig& config, const System& system, std::int64_t context) {
  AttentionContext c = context_of(config.scenario, system);
  c.step.kind = StepKind::decode;
  c.step.batch = 1;
  c.step.context = context;
  c = device_step(c).context;
  std::vector<Bytes> out(system.tier_names().size());
  for (const CachedTensor& tensor : config.scenario.method.method->cached(c))
    out[tensor.tier.index()] += tensor.all() * c.model.layers;
  return out;
}

class Layout {
 public:
  Layout(const ServingConfig& config, const System& system)
      : config_(config), system_(system), block_(config.server.kv.block) {}

  Expected<KvLayout> make() {
    const ParallelConfig& parallel = config_.scenario.parallel;
    out_.pools = parallel.sequences_are_spread() ? parallel.tensor : 1;
    out_.gpus_of_block = parallel.devices() / out_.pools;
    out_.block = block_;
    out_.block_bytes.resize(system_.tier_names().size());
    measure_block();
    fill_tiers();
    if (out_.blocks == std::numeric_limits<std::int64_t>::max())
      return Unexpected(std::string("the method keeps nothing of a sequence"));
    describe();
    if (problem_.empty() && out_.blocks > 0) check_room();
    if (!problem_.empty()) return Unexpected(problem_);
    if (out_.blocks > 0) return out_;
    std::string text = "no block of keys and values fits:";
    for (const KvCapacity::Part& part : out_.capacity.parts)
      if (part.tier == out_.capacity.limited_by)
        text += fmt::format(" {} {},", part.what, display(Bytes::from_base(part.bytes)));
    text.back() = '.';
    text.pop_back();
    return Unexpected(fmt::format("{} in tier '{}'", text, out_.capacity.limited_by));
  }

 private:
  // Measured over a stretch in which everything is kept, or over all kept positions.
  void measure_block() {
    constexpr std::int64_t kStretch = 64;  // blocks
    const std::int64_t longest = kept(config_, system_, kLong);
    const std::int64_t window = longest < kLong ? longest / block_ : kStretch + 1;
    if (longest < kLong)
      out_.most_blocks = std::max<std::int64_t>(1, (longest + block_ - 1) / block_);
    const std::int64_t many = std::clamp<std::int64_t>(window - 1, 1, kStretch);
    const auto one = of_sequences(at(block_));
    const auto more = of_sequences(at((many + 1) * block_));
    sequence_bytes_.resize(one.size());
    out_.cached_bytes.resize(one.size());
    const auto cached_one = cached(config_, system_, block_);
    const auto cached_more = cached(config_, system_, (many + 1) * block_);
    for (std::size_t t = 0; t < one.size(); ++t) {
      const Bytes grown = more[t] > one[t] ? more[t] - one[t] : Bytes{};
      out_.block_bytes[t] = a_block(grown, many);
      out_.cached_bytes[t] = a_block(cached_more[t] - cached_one[t], many);
      sequence_bytes_[t] = one[t] > out_.block_bytes[t] ? one[t] - out_.block_bytes[t] : Bytes{};
    }
    AttentionContext c = context_of(config_.scenario, system_);
    c.step.kind = StepKind::decode;
    c.step.context = block_;
    out_.run_bytes.resize(one.size());
    for (const CachedTensor& tensor :
         config_.scenario.method.method->cached(device_step(c).context)) {
      Bytes& run = out_.run_bytes[tensor.tier.index()];
      run = std::max(run, tensor.per_position() * std::min(block_, tensor.positions));
    }
  }

  static Bytes a_block(Bytes of, std::int64_t blocks) {
    return Bytes::from_base((of.in_base() + blocks - 1) / blocks);
  }

  std::vector<ClassBytes> at(std::int64_t context) const {
    return tensors(config_, system_, StepKind::decode, 1, context);
  }

  void part(std::size_t tier, std::string what, Bytes bytes, NumberClass number_class) {
    if (bytes > Bytes{})
      out_.capacity.parts.push_back(
          {system_.tier_names()[tier], std::move(what), bytes.in_base(), number_class});
  }

  void fill_tiers() {
    const SchedulerConfig& s = config_.server.scheduler;
    const auto fixed = largest(
        {tensors(config_, system_, StepKind::prefill, s.max_sequences, s.max_batched_tokens),
         tensors(config_, system_, StepKind::decode, s.max_sequences, 1)});
    const TierId near = system_.tier(config_.scenario.placement.near);
    out_.blocks = std::numeric_limits<std::int64_t>::max();
    for (std::size_t t = 0; t < out_.block_bytes.size(); ++t) {
      const TierId tier(t);
      const auto sharers = system_.sharers(system_.device(tier));
      const Bytes filled = over(share_of(tier, system_.capacity(tier)), sharers);
      Bytes left = over(share_of(tier, system_.installed(tier)), sharers);
      part(t, "installed", left, NumberClass::specification);
      const auto take = [&](std::string what, Bytes bytes, NumberClass number_class) {
        part(t, std::move(what), bytes, number_class);
        left = left > bytes ? left - bytes : Bytes{};
      };
      take("left free (near_share)", left - filled, NumberClass::specification);
      for (const TensorClass c : kFixed)
        take(std::string(name(c)), fixed[t][static_cast<std::size_t>(c)],
             c == TensorClass::weights ? NumberClass::specification : NumberClass::assumed);
      if (tier == near)
        take("runtime reserve", config_.server.kv.runtime_reserve.value,
             config_.server.kv.runtime_reserve.number_class);
      const std::int64_t sequences = (s.max_sequences + out_.pools - 1) / out_.pools;
      take(fmt::format("buffers of {} sequences", sequences), sequence_bytes_[t] * sequences,
           NumberClass::specification);
      if (const Bytes prefixes = prefix_bytes(tier); prefixes > left)
        problem_ = fmt::format(
            "server.prefix_cache.tiers: {} on each GPU is above the {} that is free in tier '{}'",
            display(prefixes), display(left), system_.tier_names()[t]);
      take("prefix cache", prefix_bytes(tier), NumberClass::specification);
      if (tier == near)
        take("left free (kv.share)", left - scaled(left, config_.server.kv.share),
             NumberClass::specification);
      left_.push_back(left);
      if (out_.block_bytes[t] == Bytes{}) continue;
      const std::int64_t fits = left.in_base() / out_.block_bytes[t].in_base() * out_.pools;
      if (fits >= out_.blocks) continue;
      out_.blocks = fits;
      out_.capacity.limited_by = system_.tier_names()[t];
    }
  }

  // One replica's share. Replicas share a common tier evenly.
  Bytes share_of(TierId tier, Bytes of) const {
    const std::string& name = system_.tier_names()[tier.index()];
    const std::int64_t all = config_.scenario.system.sharers(name);
    const std::int64_t own = system_.sharers(system_.device(tier));
    return over(of * own, all);
  }

  Bytes prefix_bytes(TierId tier) const {
    Bytes sum;
    if (config_.server.prefix_cache)
      for (const PrefixTier& t : config_.server.prefix_cache->tiers)
        if (t.tier == system_.tier_names()[tier.index()]) sum += t.capacity;
    return over(sum, config_.scenario.parallel.devices());
  }

  void describe() {
    KvCapacity& c = out_.capacity;
    out_.left_over = left_;
    for (std::size_t t = 0; t < left_.size(); ++t) {
      const Bytes used = out_.block_bytes[t] * (out_.blocks / out_.pools);
      part(t, "KV blocks", used, NumberClass::specification);
      out_.left_over[t] -= used;
      if (out_.block_bytes[t] > Bytes{} && left_[t] > used)
        part(t, "left over", out_.left_over[t], NumberClass::specification);
      c.block_bytes += out_.block_bytes[t].in_base();
    }
    c.block_positions = block_;
    c.blocks = out_.blocks;
    c.positions = out_.blocks * block_;
  }

  // Checks that the stated room holds at least one block, and is available.
  void check_room() {
    const Bytes block = out_.gathered();
    const auto holds = [&](const std::string& key, Bytes room, Bytes least) {
      if (room < least)
        problem_ = fmt::format("server.{}: {} is below the {} of {} positions", key, display(room),
                               display(least), block_ * (least.in_base() / block.in_base()));
    };
    const KvCacheConfig& kv = config_.server.kv;
    if (kv.preemption == Preemption::swap && kv.swap_space) {
      holds("kv.swap_space", *kv.swap_space, block);
      const TierId far = system_.tier(config_.scenario.placement.far);
      const Bytes free = out_.left_over[far.index()] * config_.scenario.parallel.devices();
      if (*kv.swap_space > free)
        problem_ = fmt::format(
            "server.kv.swap_space: {} is above the {} that a replica has left over of tier '{}'",
            display(*kv.swap_space), display(free), system_.tier_names()[far.index()]);
    }
    if (!config_.server.prefix_cache) return;
    const std::int64_t blocks = config_.workload.prefix_block / block_;
    for (const PrefixTier& tier : config_.server.prefix_cache->tiers)
      holds("prefix_cache.tiers: '" + tier.tier + "'", tier.capacity, block * blocks);
  }

  static constexpr std::int64_t kLong = 1 << 20;
  const ServingConfig& config_;
  const System& system_;
  std::int64_t block_;
  KvLayout out_;
  std::vector<Bytes> sequence_bytes_;  // by TierId: of one sequence of any length
  std::vector<Bytes> left_;            // by TierId: available for blocks
  std::string problem_;
};

}  // namespace

Expected<KvLayout> kv_layout(const ServingConfig& config, const System& system) {
  return Layout(config, system).make();
}

}  // namespace tiersim
