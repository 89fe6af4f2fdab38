#pragma once
// What was asked of hardware, what a reference says, and what each level of fidelity answers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

inline constexpr double kGiga = 1e9;  ///< answers are in GB/s and billions of accesses a second

/// How closely a device is looked at: a formula for one that is alone, flows that share, packets.
enum class Fidelity : std::uint8_t { analytic, flow, packet };
inline constexpr std::array<std::string_view, 3> kFidelityNames{"analytic", "flow", "packet"};
constexpr std::string_view name(Fidelity level) {
  return kFidelityNames[static_cast<std::size_t>(level)];
}
inline constexpr std::array kFidelities{Fidelity::analytic, Fidelity::flow, Fidelity::packet};

/// What is measured.
enum class ProbeQuantity : std::uint8_t {
  bandwidth,      ///< payload over time, both directions together
  share_of_peak,  ///< the same over the memory's peak
  accesses,       ///< runs over time
  latency,        ///< of one access, from request to last byte
  time,           ///< of a collective, on an idle port
  bus_bandwidth,  ///< of an all-reduce, as NCCL's tests count: 2 (n - 1) / n of the size over time
};
inline constexpr std::array<std::string_view, 6> kProbeQuantityNames{
    "bandwidth", "share_of_peak", "accesses", "latency", "time", "bus_bandwidth"};
/// "GB/s", "", "G/s", "ns", "us" or "GB/s".
std::string_view unit_of(ProbeQuantity quantity);

/// What the points of a curve differ in.
enum class ProbeAxis : std::uint8_t { none, run, size, rate, read_share };
inline constexpr std::array<std::string_view, 5> kProbeAxisNames{"none", "run", "size", "rate",
                                                                 "read_share"};

enum class ProbePattern : std::uint8_t { sequential, random };
inline constexpr std::array<std::string_view, 2> kProbePatternNames{"sequential", "random"};

/// What a probe asks for. What is absent is taken from the curve, and then the value beside it.
struct ProbeWorkload {
  std::optional<ProbePattern> pattern = {};      ///< of addresses: sequential
  std::optional<Bytes> run = {};                 ///< contiguous bytes of an access: 4 KiB
  std::optional<Bytes> size = {};                ///< of a collective: none
  std::optional<Bandwidth> rate = {};            ///< offered, of payload: as much as is served
  std::optional<double> read_share = {};         ///< of payload: 1
  std::optional<std::int64_t> streams = {};      ///< of sequential addresses: 16
  std::optional<std::int64_t> ranks = {};        ///< of a collective: 8
  std::optional<std::int64_t> outstanding = {};  ///< accesses at a time: enough to saturate

  /// With what is absent here taken from `curve`.
  ProbeWorkload over(const ProbeWorkload& curve) const;
};

/// One point of a reference curve: a value, or the range between two references.
struct ReferencePoint {
  ProbeWorkload at = {};
  double value = 0;
  std::optional<double> other = {};  ///< of another reference, where two differ
  /// By level: why this point is known to lie outside of the band there; empty where it should not.
  std::array<std::string, kFidelityNames.size()> known = {};

  double low() const { return std::min(value, other.value_or(value)); }
  double high() const { return std::max(value, other.value_or(value)); }
  /// (answer - nearest of [low, high]) / that; 0 within.
  double error_of(double answer) const;
  double x(ProbeAxis axis) const;  ///< in B, B, GB/s, 1; 0 for none
};

struct LevelResult {
  std::optional<double> value = {};  ///< in the unit of the quantity
  std::string why_none = {};         ///< where there is no value
};

enum class ProbeStatus : std::uint8_t {
  within,
  known,  ///< outside, and said so beforehand with the reason
  outside,
  stale,     ///< said to be outside, but within
  not_held,  ///< the curve says nothing of this level
  none,      ///< this level has no answer
};
inline constexpr std::array<std::string_view, 6> kProbeStatusNames{"within", "known",    "outside",
                                                                   "stale",  "not held", "none"};
constexpr std::string_view name(ProbeStatus status) {
  return kProbeStatusNames[static_cast<std::size_t>(status)];
}

/// What the values of a reference are.
enum class ReferenceKind : std::uint8_t { measured, simulated, model };
inline constexpr std::array<std::string_view, 3> kReferenceKindNames{"measured", "simulated",
                                                                     "model"};

/// What a curve is, without its hardware.
struct CurveFacts {
  std::string id = {};
  std::string title = {};
  std::string group = {};  ///< "memory", "pcie", "cxl", "nvlink", "collective"
  ProbeQuantity quantity = ProbeQuantity::bandwidth;
  ProbeAxis axis = ProbeAxis::none;
  ReferenceKind kind = ReferenceKind::measured;
  std::string source = {};
  double band = 0;                  ///< share of the reference that an answer may be off
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
