#pragma once
// Random parallelism of GPUs for draws of random_steps.hpp. Most draws fit the model and the
// system; the others must be refused with a reason that the user can act on.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/base/rng.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::testing {

template <class Config>
std::map<std::string, Config> shipped_configs_of(const std::string& kind) {
  std::map<std::string, Config> out;
  for (const std::string& path : shipped(kind + "s")) {
    Diagnostics diagnostics;
    const Document document =
        load_document(configs() / path,
                      {.config_root = configs(), .importers = make_all_importers()}, diagnostics);
    out[path] = read<Config>(document, kind, diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  }
  return out;
}

class RandomSharing {
 public:
  RandomSharing()
      : systems_(shipped_configs_of<SystemConfig>("system")),
        models_(shipped_configs_of<LlmConfig>("model")) {}

  /// The tier of the far tensors: behind links, where the system has such a tier.
  std::string far_tier(const std::string& system) const {
    for (const auto& [name, tier] : systems_.at(system).tiers)
      if (!tier.path.empty()) return name;
    return "hbm";
  }
  /// True where its GPUs reach each other.
  bool can_share(const std::string& system) const {
    return systems_.at(system).fabrics.contains("tensor");
  }

  bool has_topology(const std::string& system) const {
    return systems_.at(system).topology.has_value();
  }
  /// Systems with connected GPUs, but for those with a topology.
  std::vector<std::string> systems() const {
    std::vector<std::string> out;
    for (const auto& [path, config] : systems_)
      if (can_share(path) && !config.topology) out.push_back(path);
    return out;
  }
  std::vector<std::string> latent_models() const {
    std::vector<std::string> out;
    for (const auto& [path, config] : models_)
      if (config.mla) out.push_back(path);
    return out;
  }

  /// Each GPU holds the whole model.
  static std::string alone() {
    return "parallel={tensor: 1, latent_slices: 1, attention: tensor, output_projection: "
           "replicated, pipeline: 1, experts: split}";
  }

  /// Settings of a replica of several GPUs, or two such replicas.
  std::vector<std::string> draw(Rng& rng, const std::string& system, const std::string& model) {
    const LlmConfig& m = models_.at(model);
    const bool misfit = rng.below(16) == 0;
    const std::int64_t pipeline =
        rng.below(4) == 0 ? 2 + static_cast<std::int64_t>(rng.below(2)) : 1;
    const std::int64_t tensor = std::int64_t{1} << rng.below(4);
    const bool data = rng.below(4) == 0;
    const bool sliced = (m.mla && m.mla->latent_heads == 1 && !data) || misfit;
    const std::int64_t slices =
        sliced ? std::int64_t{1} << rng.below(misfit ? 4 : width(tensor)) : 1;
    const bool split = (slices > 1 || misfit) && rng.below(2) == 0;
    const bool spread = (m.moe || misfit) && rng.below(2) == 0;
    const std::int64_t gpus = tensor * pipeline * static_cast<std::int64_t>(1 + rng.below(2));
    const int hosts = gpus % 2 == 0 && rng.below(4) == 0 ? 2 : 1;
    std::vector<std::string> set{
        fmt::format("system.gpus={{count: {}, hosts: {}}}", gpus, hosts),
        fmt::format("parallel={{tensor: {}, latent_slices: {}, attention: {}, output_projection: "
                    "{}, pipeline: {}, experts: {}}}",
                    tensor, slices, data ? "data" : "tensor", split ? "split" : "replicated",
                    pipeline, spread ? "spread" : "split")};
    const std::string& port = systems_.at(system).fabrics.at("tensor").path.front();
    if (rng.below(4) == 0) set.push_back(kSharedPort + port + "]");
    if (rng.below(4) == 0)
      set.emplace_back("system.host={step: {value: 1 ms, class: assumed, source: test}}");
    if (rng.below(2) == 0) set.emplace_back("attention_kernel.base=kernels/fa3.yaml");
    if (rng.below(4) == 0)
      set.emplace_back(fmt::format("step.region={}", kRegionNames[rng.below(kRegionNames.size())]));
    if (m.mla && rng.below(4) == 0)
      set.emplace_back(
          fmt::format("step.latent={}", rng.below(2) == 0 ? "absorbed" : "explicit_heads"));
    return set;
  }

  static bool shares_a_port(const std::string& setting) { return setting.starts_with(kSharedPort); }

  /// Settings that hand the cache of a prefill to GPUs that share the model in the simplest way.
  std::vector<std::string> draw_handover(Rng& rng, const std::string& system) {
    const auto& fabrics = systems_.at(system).fabrics;
    std::vector<std::string> set{fmt::format("handover={{to: {{tensor: {}}}, when: {}}}",
                                             1 + rng.below(2), kHandoverTimeNames[rng.below(2)])};
    if (!fabrics.contains("transfer"))
      set.push_back("system.fabrics.transfer={collective: {model: bytes_only}, path: [" +
                    fabrics.at("tensor").path.front() + "]}");
    return set;
  }

 private:
  static constexpr const char* kSharedPort = "system.shared.all=[";

  /// Number of powers of two from 1 to `tensor` GPUs.
  static std::uint64_t width(std::int64_t tensor) {
    std::uint64_t count = 1;
    for (; tensor > 1; tensor /= 2) ++count;
    return count;
  }

  std::map<std::string, SystemConfig> systems_;
  std::map<std::string, LlmConfig> models_;
};

/// True where the parallelism is refused because it suits another model, step or system.
inline bool is_a_misfit(const std::string& text) {
  for (const char* expected : {"cannot have equal parts of",
                               "cannot be equal parts of",
                               "cannot share",
                               "do not divide",
                               "has no latent",
                               "latents of its own",
                               "leaves nothing to slice",
                               "is one latent slice",
                               "has no experts",
                               "are more than the",
                               "an encoder, which is not split",
                               "has no fabric",
                               "a replica is",
                               "have micro-batches already",
                               "has no latent to slice",
                               "each GPU has one sequence",
                               "hands nothing over",
                               "do not lie on one host",
                               "are removed",
                               "would be hit by"})
    if (text.find(expected) != std::string::npos) return true;
  return false;
}

}  // namespace tiersim::testing
