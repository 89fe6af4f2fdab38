#include "sim/serving/kv_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/display.hpp"
#include "sim/step/accounting.hpp"
#include "workloads/attention/context_decode.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/llm/device_step.hpp"
#include "workloads/llm/draft.hpp"
#include "workloads/llm/ffn_share.hpp"
#include "workloads/llm/step_builder.hpp"
#include "workloads/serving/prefix_parts.hpp"

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

AttentionContext step_of(AttentionContext replica, StepKind kind, std::int64_t batch,
                         std::int64_t context) {
  replica.step.kind = kind;
  replica.step.batch = batch;
  replica.step.context = context;
  return replica;
}

// Positions of drafts are counted by the blocks that the scheduler takes for them.
AttentionContext without_drafts(AttentionContext replica) {
  replica.drafts = 0;
  return replica;
}

// The replica with layers that all keep every position, but for those that keep none.
AttentionContext without_limits(AttentionContext replica) {
  if (!replica.model.mixes_types() || replica.model.compression) return replica;
  for (LayerType& type : replica.model.layer_types)
    if (type == LayerType::sliding_attention || type == LayerType::chunked_attention)
      type = LayerType::full_attention;
  replica.model.attention_window.reset();
  replica.model.attention_chunk.reset();
  return replica;
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

std::int64_t kept_keys(const std::vector<CachedTensor>& tensors) {
  std::int64_t sum = 0;
  for (const CachedTensor& tensor : tensors)
    if (tensor.tensor_class == TensorClass::keys) sum += tensor.positions * tensor.covers;
  return sum;
}

class Layout {
 public:
  Layout(const ServingConfig& config, const System& system)
      : config_(config),
        system_(system),
        method_(*config.scenario.method.method),
        replica_(without_drafts(context_of(config.scenario, system))),
        unlimited_(without_limits(replica_)),
        block_(config.server.kv.block) {
    replica_.spilled = unlimited_.spilled = true;
  }

  Expected<KvLayout> make() {
    const ParallelConfig& parallel = config_.scenario.parallel;
    out_.pools = parallel.sequences_are_spread() ? parallel.sequence_groups() : 1;
    out_.gpus_of_block = parallel.devices() / out_.pools;
    out_.block = block_;
    out_.block_bytes.resize(system_.tier_names().size());
    if (replica_.model.attention_layers() == 0)
      return Unexpected(std::string("no layer of the model keeps keys and values of positions"));
    group_layers();
    measure_block();
    measure_near_rows();
    add_states();
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
  // The layers of each type, and the stretches of positions that they keep of a long sequence.
  void group_layers() {
    std::vector<std::int64_t> layers;
    out_.groups.clear();
    for (const LayersCached& of_type : cached_at(replica_, kLong)) {
      // A window beside compressed rows is a state.
      if (replica_.model.compression && kept_keys(of_type.tensors) == 0) continue;
      const std::int64_t kept = std::min(kept_keys(of_type.tensors), kLong);
      const std::int64_t most = kept < kLong ? std::max<std::int64_t>(1, stretches(kept)) : 0;
      if (most == 0 && !out_.groups.empty() && out_.groups.front().most == 0) {
        layers.front() += of_type.layers;  // keeps as many positions, with an index key or without
        continue;
      }
      layers.push_back(of_type.layers);
      out_.groups.push_back({.most = most, .chunk = of_type.chunk});
    }
    for (const std::int64_t of_type : layers) shared_ = std::gcd(shared_, of_type);
    for (std::size_t g = 0; g < layers.size(); ++g) {
      out_.groups[g].blocks = layers[g] / shared_;
      stretch_blocks_ += out_.groups[g].blocks;
    }
  }

  // Measured over a stretch in which everything is kept, or over all kept positions.
  void measure_block() {
    constexpr std::int64_t kStretch = 64;  // blocks
    std::int64_t longest = 0;
    for (const LayersCached& of_type : cached_at(unlimited_, kLong))
      longest = std::max(longest, kept_keys(of_type.tensors));
    const std::int64_t window = longest < kLong ? longest / block_ : kStretch + 1;
    const std::int64_t many = std::clamp<std::int64_t>(window - 1, 1, kStretch);
    const std::int64_t blocks = many * stretch_blocks_;
    const auto one = of_sequences(at(unlimited_, block_));
    const auto more = of_sequences(at(unlimited_, (many + 1) * block_));
    const auto first = of_sequences(at(replica_, block_));
    sequence_bytes_.resize(one.size());
    out_.cached_bytes.resize(one.size());
    const auto cached_one = cached(block_);
    const auto cached_more = cached((many + 1) * block_);
    for (std::size_t t = 0; t < one.size(); ++t) {
      const Bytes grown = more[t] > one[t] ? more[t] - one[t] : Bytes{};
      out_.block_bytes[t] = a_block(grown, blocks);
      out_.cached_bytes[t] = a_block(cached_more[t] - cached_one[t], blocks);
      sequence_bytes_[t] = beside_blocks(t, first[t]);
    }
    if (longest == kLong) reserve_capped(first);
    out_.run_bytes.resize(one.size());
    for (const LayersCached& of_type : cached_on_rank(replica_, block_))
      for (const CachedTensor& tensor : of_type.tensors) {
        Bytes& run = out_.run_bytes[tensor.tier.index()];
        run = std::max(run, tensor.per_position() * std::min(block_, tensor.positions));
      }
  }

  // The bytes of a sequence of one block that are not in this block.
  Bytes beside_blocks(std::size_t tier, Bytes first) const {
    const Bytes held = out_.block_bytes[tier] * out_.blocks_of(block_);
    return first > held ? first - held : Bytes{};
  }

  // Staging and lists of a choice that stops growing with the context are of a sequence, however
  // long, and not of its blocks.
  void reserve_capped(const std::vector<Bytes>& first) {
    const auto buffers = [&](std::int64_t context) {
      // A step adds the positions of its drafts.
      std::vector<Bytes> out = of_sequences(at(unlimited_, context - unlimited_.drafts));
      const std::vector<Bytes> rows = cached(context);
      for (std::size_t t = 0; t < out.size(); ++t) out[t] -= std::min(out[t], rows[t]);
      return out;
    };
    const auto of_one = buffers(block_);
    unlimited_.drafts = context_of(config_.scenario, system_).drafts;  // each has a list of its own
    const auto of_long = buffers(kLong);
    const auto of_longer = buffers(2 * kLong);
    unlimited_.drafts = 0;
    for (std::size_t t = 0; t < first.size(); ++t) {
      // Buffers that grow with the context would double from kLong to twice kLong.
      const Bytes grown = of_longer[t] - std::min(of_longer[t], of_one[t]);
      if (grown == Bytes{} || grown * 2 > (of_long[t] - of_one[t]) * 3) continue;
      out_.block_bytes[t] = out_.cached_bytes[t];
      sequence_bytes_[t] = beside_blocks(t, first[t] + grown);
    }
  }

  // The rows that lie near before others spill: what they take near, and save in the far tier.
  void measure_near_rows() {
    near_bytes_.resize(out_.block_bytes.size());
    saved_bytes_.resize(out_.block_bytes.size());
    if (method_.near_rows() == 0) return;
    const auto spilled = cached(method_.near_rows());
    unlimited_.spilled = false;
    const auto kept = cached(method_.near_rows());
    unlimited_.spilled = true;
    for (std::size_t t = 0; t < kept.size(); ++t) {
      near_bytes_[t] = kept[t] - std::min(kept[t], spilled[t]);
      saved_bytes_[t] = spilled[t] - std::min(kept[t], spilled[t]);
    }
  }

  static Bytes a_block(Bytes of, std::int64_t blocks) {
    return Bytes::from_base((of.in_base() + blocks - 1) / blocks);
  }
  std::int64_t stretches(std::int64_t positions) const { return (positions + block_ - 1) / block_; }
  // States of linear attention take blocks of the pool, as many at every length; where the pool has
  // no bytes in the near tier they stay in the buffers of a sequence.
  void add_states() {
    const auto near = system_.tier(config_.scenario.placement.near).index();
    const auto of_class = static_cast<std::size_t>(TensorClass::states);
    const Bytes state = tensors(step_of(replica_, StepKind::decode, 1, block_))[near][of_class];
    const Bytes block = out_.block_bytes[near];
    if (state == Bytes{}) return;
    const Bytes all = std::accumulate(out_.cached_bytes.begin(), out_.cached_bytes.end(), Bytes{});
    if (config_.server.prefix_cache && out_.cached_bytes[near] != all)
      problem_ = fmt::format(
          "server.prefix_cache: copies of states take blocks of tier '{}', and method '{}' keeps "
          "keys and values elsewhere, too",
          config_.scenario.placement.near, config_.scenario.method.name);
    if (block == Bytes{}) return;
    const std::int64_t blocks = (state.in_base() + block.in_base() - 1) / block.in_base();
    out_.groups.push_back({.blocks = blocks, .most = 1, .is_state = true});
    out_.capacity.state_blocks = blocks;
    out_.state_bytes = state;
    // The first block may hold less than the mean of later ones, by more than the state.
    Bytes& buffers = sequence_bytes_[near];
    buffers = buffers > state ? buffers - state : Bytes{};
  }

  // Bytes by tier and class on one GPU.
  std::vector<ClassBytes> tensors(const AttentionContext& c) const {
    return footprint_of(build_step_tensors(c, method_, system_.tier_names()));
  }
  std::vector<ClassBytes> at(const AttentionContext& replica, std::int64_t context) const {
    return tensors(step_of(replica, StepKind::decode, 1, context));
  }
  // Tensors that the method caches for one sequence on one GPU, by type of layer; of context ranks
  // those of all of them.
  std::vector<LayersCached> cached_at(const AttentionContext& replica, std::int64_t context) const {
    return cached_by_type(method_,
                          device_step(step_of(replica, StepKind::decode, 1, context)).context);
  }
  std::vector<LayersCached> cached_on_rank(const AttentionContext& replica,
                                           std::int64_t context) const {
    return cached_by_type(
        method_, rank_part(device_step(step_of(replica, StepKind::decode, 1, context)).context));
  }
  // The same in bytes by tier, where layers keep every position.
  std::vector<Bytes> cached(std::int64_t context) const {
    std::vector<Bytes> out(system_.tier_names().size());
    for (const LayersCached& of_type : cached_on_rank(unlimited_, context))
      for (const CachedTensor& tensor : of_type.tensors)
        out[tensor.tier.index()] += tensor.all() * of_type.layers;
    if (const SpeculationConfig* speculation = unlimited_.speculation;
        speculation != nullptr && speculation->draft.has_tensors()) {
      StepGraph graph{.tier_names = system_.tier_names()};
      add_draft_tensors(graph, step_of(unlimited_, StepKind::decode, 1, context), method_);
      for (const Tensor& tensor : graph.tensors)
        if (is_kv_cache(tensor.tensor_class)) out[tensor.tier.index()] += tensor.size;
    }
    return out;
  }

  void part(std::size_t tier, std::string what, Bytes bytes, NumberClass number_class) {
    if (bytes > Bytes{})
      out_.capacity.parts.push_back(
          {system_.tier_names()[tier], std::move(what), bytes.in_base(), number_class});
  }

  // Under attention: data as many prompts as groups of GPUs that attend together are read at a
  // time, and the limit is of all of them.
  std::int64_t most_tokens_of_prompt() const {
    const SchedulerConfig& s = config_.server.scheduler;
    const ParallelConfig& parallel = replica_.parallel;
    const std::int64_t prompts =
        parallel.sequences_are_spread() ? std::min(parallel.sequence_groups(), s.max_sequences) : 1;
    return (s.max_batched_tokens + prompts - 1) / prompts;
  }

  void fill_tiers() {
    const SchedulerConfig& s = config_.server.scheduler;
    const AttentionContext drafting = context_of(config_.scenario, system_);
    const auto fixed = largest(
        {tensors(step_of(replica_, StepKind::prefill, s.max_sequences, most_tokens_of_prompt())),
         tensors(step_of(drafting, StepKind::decode, s.max_sequences, 1))});
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
      const Bytes weights = fixed[t][static_cast<std::size_t>(TensorClass::weights)];
      if (tier != near && !system_.is_of_ffn(tier) && weights > left)
        problem_ = fmt::format(
            "placement.weights: {} on each GPU is above the {} that it may fill of tier '{}'",
            display(weights), display(left), system_.tier_names()[t]);
      if (system_.is_of_ffn(tier)) check_ffn_room(t, fixed[t], left);
      for (const TensorClass c : kFixed)
        take(std::string(name(c)), fixed[t][static_cast<std::size_t>(c)],
             c == TensorClass::weights ? NumberClass::specification : NumberClass::assumed);
      if (tier == near || (replica_.ffn && tier == replica_.ffn->near))
        take("runtime reserve", config_.server.kv.runtime_reserve.value,
             config_.server.kv.runtime_reserve.number_class);
      const std::int64_t sequences = (s.max_sequences + out_.pools - 1) / out_.pools;
      take("rows kept near", near_bytes_[t], NumberClass::specification);
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
      const std::int64_t fits =
          (left + saved_bytes_[t]).in_base() / out_.block_bytes[t].in_base() * out_.pools;
      if (fits >= out_.blocks) continue;
      out_.blocks = fits;
      out_.capacity.limited_by = system_.tier_names()[t];
    }
  }

  // No block lies on GPUs with the MLPs, so that nothing else finds them too full.
  void check_ffn_room(std::size_t tier, const ClassBytes& fixed, Bytes room) {
    if (TierId(tier) != replica_.ffn->near) return;
    Bytes sum = config_.server.kv.runtime_reserve.value;
    for (const TensorClass c : kFixed) sum += fixed[static_cast<std::size_t>(c)];
    if (sum <= room) return;
    problem_ = fmt::format(
        "ffn: {} on each GPU, of which weights are {}, is above the {} that it may fill of tier "
        "'{}'",
        display(sum), display(fixed[static_cast<std::size_t>(TensorClass::weights)]), display(room),
        system_.tier_names()[tier]);
  }

  // One replica's share. Replicas share a common tier evenly.
  Bytes share_of(TierId tier, Bytes of) const {
    const std::string& name = system_.tier_names()[tier.index()];
    const std::int64_t all = config_.scenario.system.sharers(name);
    const std::int64_t own = system_.sharers(system_.device(tier));
    return over(of * own, all);
  }

  // The bytes that prefixes may fill on one GPU. A tier that all replicas share counts with an
  // equal part for each GPU.
  Bytes prefix_bytes(TierId tier) const {
    Bytes sum;
    if (config_.server.prefix_cache)
      for (const PrefixTier& t : config_.server.prefix_cache->tiers)
        if (t.tier == system_.tier_names()[tier.index()])
          sum += over(t.capacity, t.shared ? config_.scenario.system.gpus.count
                                           : config_.scenario.parallel.devices());
    return sum;
  }

  void describe() {
    KvCapacity& c = out_.capacity;
    out_.left_over = left_;
    for (std::size_t t = 0; t < left_.size(); ++t) {
      const Bytes grown = out_.block_bytes[t] * (out_.blocks / out_.pools);
      const Bytes used = grown - std::min(grown, saved_bytes_[t]);
      part(t, "KV blocks", used, NumberClass::specification);
      out_.left_over[t] -= used;
      if (out_.block_bytes[t] > Bytes{} && left_[t] > used)
        part(t, "left over", out_.left_over[t], NumberClass::specification);
      c.block_bytes += out_.block_bytes[t].in_base();
    }
    c.block_positions = block_;
    c.blocks = out_.blocks;
    c.positions = out_.blocks / stretch_blocks_ * block_;
  }

  // Checks that the stated room holds at least one block, and is available.
  void check_room() {
    const Bytes block = out_.gathered();
    const KvCacheConfig& kv = config_.server.kv;
    if (kv.preemption == Preemption::swap && kv.swap_space) {
      if (*kv.swap_space < block)
        problem_ = fmt::format("server.kv.swap_space: {} is below the {} of {} positions",
                               display(*kv.swap_space), display(block), block_);
      const TierId far = system_.tier(config_.scenario.placement.far);
      const Bytes free = out_.left_over[far.index()] * config_.scenario.parallel.devices();
      if (*kv.swap_space > free)
        problem_ = fmt::format(
            "server.kv.swap_space: {} is above the {} that a replica has left over of tier '{}'",
            display(*kv.swap_space), display(free), system_.tier_names()[far.index()]);
    }
    if (!config_.server.prefix_cache) return;
    const PrefixParts parts(out_.groups, block_, config_.workload.prefix_block);
    const auto& tiers = config_.server.prefix_cache->tiers;
    for (std::size_t i = 0; i < tiers.size(); ++i) {
      const PrefixTier& tier = tiers[i];
      const std::int64_t names = config_.names_of_block(i);
      if (names > 1 && (parts.has_windows() || parts.state_blocks() > 0)) {
        problem_ = fmt::format(
            "server.prefix_cache.tiers.{}.block: model '{}' has layers with a window or a state, "
            "and tiers keep parts of named blocks of these",
            i, config_.scenario.model.name);
        return;
      }
      if (const Bytes least = scale_up(block, 1 / tier.ratio()) * (parts.largest() * names);
          tier.capacity < least)
        problem_ =
            fmt::format("server.prefix_cache.tiers: '{}': {} is below the {} of {}", tier.tier,
                        display(tier.capacity), display(least),
                        parts.largest() == parts.state_blocks()
                            ? "the states of a sequence"
                            : fmt::format("{} positions", config_.workload.prefix_block * names));
    }
  }

  static constexpr std::int64_t kLong = 1 << 20;
  const ServingConfig& config_;
  const System& system_;
  const Method& method_;
  AttentionContext replica_;
  AttentionContext unlimited_;
  std::int64_t block_;
  std::int64_t shared_ = 0;          // layers of one block of the pool
  std::int64_t stretch_blocks_ = 0;  // blocks of a stretch of positions that all layers keep
  KvLayout out_;
  std::vector<Bytes> sequence_bytes_;  // by TierId: of one sequence of any length
  std::vector<Bytes> near_bytes_;      // by TierId: of rows that are kept near
  std::vector<Bytes> saved_bytes_;     // by TierId: of these rows where they would lie else
  std::vector<Bytes> left_;            // by TierId: available for blocks
  std::string problem_;
};

}  // namespace

Expected<KvLayout> kv_layout(const ServingConfig& config, const System& system) {
  return Layout(config, system).make();
}

}  // namespace tiersim
