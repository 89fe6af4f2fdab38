// Physical checks of timings. A timing faster than the device's peaks is wrong: its byte count, its
// clock, or its cache state. It is refused with the numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/campaign/json.hpp"
#include "kernels/cases/work.hpp"

namespace tiersim::kernels::bench {

// An upper limit of the device, or a measured ceiling.
struct Peak {
  std::string name;          // memory, l2, link_read, link_write [B/s]; flops.<dtype> [FLOP/s]
  double value = 0;          // per second
  bool hard = true;          // false: a measured ceiling, shown beside the timing and not enforced
  std::string number_class;  // specification, measured, assumed
  std::string source;
};
using Peaks = std::vector<Peak>;

// Data-sheet peaks by the device's name in the driver. `link_generation` and `link_width` are those
// of the PCIe link, 0 where unknown; Gen5 x16 is then assumed. A part that is not listed gets its
// memory peak from memory clock and bus width, and no peak of FLOP/s. Throws std::runtime_error
// where neither is known.
Peaks datasheet_peaks(const std::string& device, int link_generation, int link_width,
                      double memory_bytes_per_s);

Json to_json(const Peaks& peaks);
Peaks peaks_from_json(const Json& json);  // JsonError where a member is missing

// The data of one timing that the check needs.
struct Timed {
  std::string name;
  std::string dtype;  // of the operands
  Work work;
  bool warm = false;  // inputs may be in L2: the peak of L2 applies instead of device memory's
  double seconds = 0;
};

// All violations of the peaks; empty where the timing is possible.
std::vector<std::string> violations(const Timed& timed, const Peaks& peaks);

// The share of each peak that the timing reaches, hard peaks and measured ceilings, for reports.
struct Share {
  std::string peak;
  bool hard = true;
  double share = 0;
};
std::vector<Share> shares(const Timed& timed, const Peaks& peaks);

// The least time that the peaks allow [s], and the peak that binds. Measured ceilings are used
// where given, else the hard peaks. 0 and "" for work without bytes and FLOPs.
struct Floor {
  double seconds = 0;
  std::string bound;
};
Floor floor_of(const Timed& timed, const Peaks& peaks);

}  // namespace tiersim::kernels::bench
