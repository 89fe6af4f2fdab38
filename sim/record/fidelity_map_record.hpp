#pragma once
// One set of workloads at three levels of fidelity: what each answers, and what the answer takes.
// The packet level is the finest, so errors are relative to it; nothing here is a measurement.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/record/probe_record.hpp"

namespace tiersim {

/// What one level says of one workload.
struct LevelAnswer {
  double value = 0;          ///< in the unit of the workload
  std::uint64_t events = 0;  ///< of the engine; of a DRAM at packet level: its commands
  Bytes simulated{};         ///< payload that went through
};

struct LevelFacts {
  std::string id;     ///< "pcie.read-64b"
  std::string group;  ///< "hbm", "pcie", "cxl", "cxl-dram", "nvlink" or "all-reduce"
  std::string title;
  std::string unit;    ///< "GB/s", "us" or "ns"
  bool alike = false;  ///< one bottleneck, 64 packets or more, no credit or tag that limits
};

/// How far flow may be from packet where a workload is `alike`.
inline constexpr double kAlikeWithin = 0.02;

struct LevelRow {
  LevelFacts facts;
  std::array<LevelAnswer, kFidelityNames.size()> answers = {};  ///< by level
  std::array<double, kFidelityNames.size()> wall_ms = {};       ///< of this run, on this machine
  std::string why = {};  ///< that flow and packet differ; empty where nobody has said

  const LevelAnswer& at(Fidelity level) const { return answers[static_cast<std::size_t>(level)]; }
  /// (answer - that of packets) / that.
  double error_of(Fidelity level) const;
  /// Whether flow is where it must be.
  bool agrees() const;
  /// Whether flow differs so much that a reason is due, and there is one.
  bool explained() const;
};

/// What a run of the map was on.
struct FidelityMap {
  std::string title;
  std::vector<LevelRow> rows = {};
};

}  // namespace tiersim
