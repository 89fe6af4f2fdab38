#pragma once
// Results of DRAM probes, each simulated once: questions about a memory that differ only in what
// the packet level does not read have the same answer.
#include <map>
#include <string>

#include "hwmodels/packet/dram/dram_probe.hpp"

namespace tiersim {

class DramProbes {
 public:
  /// As run_dram_probe(); the reference holds as long as this object.
  const DramProbeResult& result(const DramPacketConfig& config, const DramProbe& probe);

 private:
  std::map<std::string, DramProbeResult> known_;  // by configuration and probe
};

}  // namespace tiersim
