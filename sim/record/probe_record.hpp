#pragma once
// Probes of hardware: the workload, the value of a reference, and the result of each level of
// fidelity.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/collective_kind.hpp"
#include "sim/base/units.hpp"

namespace tiersim {

inline constexpr double kGiga = 1e9;  ///< results are in GB/s and billions of accesses a second

/// Levels of fidelity: a closed form for a device alone, flows that share channels, packets.
enum class Fidelity : std::uint8_t { analytic, flow, packet };
inline constexpr std::array<std::string_view, 3> kFidelityNames{"analytic", "flow", "packet"};
constexpr std::string_view name(Fidelity level) {
  return kFidelityNames[static_cast<std::size_t>(level)];
}
inline constexpr std::array kFidelities{Fidelity::analytic, Fidelity::flow, Fidelity::packet};

/// The measured quantity.
enum class ProbeQuantity : std::uint8_t {
  bandwidth,      ///< payload over time, both directions together
  share_of_peak,  ///< the same, relative to the memory's peak
  accesses,       ///< runs over time
  latency,        ///< of one access, from the request to its last byte
  time,           ///< of a collective, on an idle port
  bus_bandwidth,  ///< of an all-reduce, as in NCCL's tests: 2 (n - 1) / n of the size over time
  time_ratio,     ///< time of the accesses by the requester over that by another requester
};
inline constexpr std::array<std::string_view, 7> kProbeQuantityNames{
    "bandwidth", "share_of_peak", "accesses", "latency", "time", "bus_bandwidth", "time_ratio"};
/// "GB/s", "", "G/s", "ns", "us", "GB/s" or "".
std::string_view unit_of(ProbeQuantity quantity);

/// The parameter in which the points of a curve differ.
enum class ProbeAxis : std::uint8_t { none, run, size, rate, read_share, items, cpu_rate, ranks };
inline constexpr std::array<std::string_view, 8> kProbeAxisNames{
    "none", "run", "size", "rate", "read_share", "items", "cpu_rate", "ranks"};

enum class ProbePattern : std::uint8_t { sequential, random };
inline constexpr std::array<std::string_view, 2> kProbePatternNames{"sequential", "random"};

/// The workload of a probe. A missing value comes from the curve, or else is the default in the
/// comments.
struct ProbeWorkload {
  std::optional<ProbePattern> pattern = {};  ///< address pattern; default: sequential
  std::optional<Bytes> run = {};             ///< contiguous bytes of an access; default: 4 KiB
  std::optional<Bytes> size = {};            ///< size of a collective; no default
  std::optional<Bandwidth> rate = {};     ///< offered payload rate; default: as much as is served
  std::optional<double> read_share = {};  ///< share of reads in the payload; default: 1
  std::optional<std::int64_t> streams = {};      ///< streams of sequential addresses; default: 16
  std::optional<std::int64_t> ranks = {};        ///< ranks of a collective; default: 8
  std::optional<CollectiveKind> operation = {};  ///< default: all_reduce
  std::optional<std::int64_t> copies = {};       ///< rows of a token in an all-to-all; default: 1
  std::optional<std::int64_t> outstanding = {};  ///< in flight; default: enough to saturate
  /// Runs of one copy, whose start then counts; default: enough to hide it.
  std::optional<std::int64_t> items = {};
  std::optional<Duration> launch = {};     ///< of a collective by the CPU; default: in a graph
  std::optional<Bandwidth> cpu_rate = {};  ///< reads of CPUs in the memory; default: none

  /// This workload, with missing values from `curve`.
  ProbeWorkload over(const ProbeWorkload& curve) const;
};

/// One point of a reference curve: a value, or the range between two references.
struct ReferencePoint {
  ProbeWorkload at = {};
  double value = 0;
  std::optional<double> other = {};  ///< value of a second reference that differs
  /// By level: the reason why this point is known to lie outside of the band; empty if none is
  /// known.
  std::array<std::string, kFidelityNames.size()> known = {};

  double low() const { return std::min(value, other.value_or(value)); }
  double high() const { return std::max(value, other.value_or(value)); }
  /// Relative distance of the answer from the range [low, high]; 0 within it.
  double error_of(double answer) const;
  double x(ProbeAxis axis) const;  ///< in B, B, GB/s, 1; 0 for none
};

struct LevelResult {
  std::optional<double> value = {};  ///< in the unit of the quantity
  std::string why_none = {};         ///< reason why there is no value
};

enum class ProbeStatus : std::uint8_t {
  within,
  known,  ///< outside, as declared beforehand with the reason
  outside,
  stale,     ///< declared to be outside, but within
  not_held,  ///< the curve makes no claim about this level
  none,      ///< this level has no result
};
inline constexpr std::array<std::string_view, 6> kProbeStatusNames{"within", "known",    "outside",
                                                                   "stale",  "not held", "none"};
constexpr std::string_view name(ProbeStatus status) {
  return kProbeStatusNames[static_cast<std::size_t>(status)];
}

/// The origin of a reference's values.
enum class ReferenceKind : std::uint8_t { measured, simulated, model };
inline constexpr std::array<std::string_view, 3> kReferenceKindNames{"measured", "simulated",
                                                                     "model"};

/// A curve without its hardware.
struct CurveFacts {
  std::string id = {};
  std::string title = {};
  std::string group = {};  ///< "memory", "pcie", "copy", "cxl", "nvlink" or "collective"
  ProbeQuantity quantity = ProbeQuantity::bandwidth;
  ProbeAxis axis = ProbeAxis::none;
  ReferenceKind kind = ReferenceKind::measured;
  std::string source = {};
  double band = 0;                  ///< largest error of a result, as a share of the reference
  std::vector<Fidelity> held = {};  ///< levels that must be within the band
  std::string note = {};
};

struct PointReading {
  ReferencePoint point;
  std::array<LevelResult, kFidelityNames.size()> readings;  ///< by level
};

struct CurveReading {
  CurveFacts facts;
  std::vector<PointReading> points;

  ProbeStatus status(const PointReading& point, Fidelity level) const;
};

}  // namespace tiersim
