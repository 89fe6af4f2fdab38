#pragma once
// One set of workloads at three levels of fidelity: the result of each level and its cost. The
// packet level is the finest, so errors are relative to it; no value here is a measurement.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/record/probe_record.hpp"

namespace tiersim {

/// The result of one level for one workload.
struct LevelAnswer {
  double value = 0;          ///< in the unit of the workload
  std::uint64_t events = 0;  ///< events of the engine; for a DRAM at packet level: its commands
  Bytes simulated{};         ///< payload that went through
};

struct LevelFacts {
  std::string id;     ///< "pcie.read-64b"
  std::string group;  ///< "hbm", "pcie", "cxl", "cxl-dram", "nvlink" or "all-reduce"
  std::string title;
  std::string unit;    ///< "GB/s", "us" or "ns"
  bool alike = false;  ///< one bottleneck, at least 64 packets, no limiting credit or tag
};

/// Largest relative error of the flow level against packets for workloads that are `alike`.
inline constexpr double kAlikeWithin = 0.02;

struct LevelRow {
  LevelFacts facts;
  std::array<LevelAnswer, kFidelityNames.size()> answers = {};  ///< by level
  std::array<double, kFidelityNames.size()> wall_ms = {};       ///< wall time on this machine
  std::string why = {};  ///< reason why flow and packet differ; empty if unknown

  const LevelAnswer& at(Fidelity level) const { return answers[static_cast<std::size_t>(level)]; }
  /// (value - value of the packet level) / value of the packet level.
  double error_of(Fidelity level) const;
  /// True where the flow level is within its limit, or has none.
  bool agrees() const;
  /// True where the flow level differs by more than kAlikeWithin and a reason is given.
  bool explained() const;
};

/// The set of workloads of one run of the map.
struct FidelityMap {
  std::string title;
  std::vector<LevelRow> rows = {};
};

}  // namespace tiersim
