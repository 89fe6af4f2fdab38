#include "sim/validate/dram_probes.hpp"

#include <fmt/format.h>

#include "sim/config/describe.hpp"

namespace tiersim {

const DramProbeResult& DramProbes::result(const DramPacketConfig& config, const DramProbe& probe) {
  const auto& [pattern, streams, run, read_share, arrivals, outstanding, offered, atoms, seed,
               write_limit] = probe;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(pattern), streams,
                  run.in_base(), read_share, static_cast<int>(arrivals), outstanding, offered,
                  atoms, seed, write_limit, canonical_text_for_id(config));
  const auto it = known_.find(key);
  if (it != known_.end()) return it->second;
  return known_.emplace(key, run_dram_probe(config, probe)).first->second;
}

}  // namespace tiersim
