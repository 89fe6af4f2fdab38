// No kernel is faster than its device. A timing that says so is wrong (its bytes are, or its clock,
// or it found its inputs in a cache that it should not have), and is refused with the numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/campaign/json.hpp"
#include "kernels/cases/work.hpp"

namespace tiersim::kernels::bench {

// What the device cannot beat, or what was seen of it.
struct Peak {
  std::string name;          // memory, l2, link_read, link_write [B/s]; flops.<dtype> [FLOP/s]
  double value = 0;          // per second
  bool hard = true;          // false: a measured ceiling, shown beside the timing but not enforced
  std::string number_class;  // specification, measured, assumed
  std::string source;
};
using Peaks = std::vector<Peak>;

// Data-sheet peaks by the device's name as the driver gives it. `link_generation` and `link_width`
// are those of the PCIe link, 0 where unknown (then a link cannot be checked: Gen5 x16 is taken).
// Of a part that is not listed: from its memory clock and bus width; FLOP/s then have no peak.
// Throws std::runtime_error where neither is known.
Peaks datasheet_peaks(const std::string& device, int link_generation, int link_width,
                      double memory_bytes_per_s);

Json to_json(const Peaks& peaks);
Peaks peaks_from_json(const Json& json);  // JsonError where a member is missing

// One timing as the check sees it.
struct Timed {
  std::string name;
  std::string dtype;  // of the operands
  Work work;
  bool warm = false;  // inputs may stand in L2: device memory's peak says nothing, L2's does
  double seconds = 0;
};

// Every way in which the timing is impossible; empty where it is possible.
std::vector<std::string> violations(const Timed& timed, const Peaks& peaks);

// Share of each peak that the timing reaches, hard ones and measured ceilings, for reports.
struct Share {
  std::string peak;
  bool hard = true;
  double share = 0;
};
std::vector<Share> shares(const Timed& timed, const Peaks& peaks);

// The least time that the peaks allow [s], and which one binds; the measured ceilings where given,
// else the hard peaks. 0 and "" for work without bytes and FLOPs.
struct Floor {
  double seconds = 0;
  std::string bound;
};
Floor floor_of(const Timed& timed, const Peaks& peaks);

}  // namespace tiersim::kernels::bench
