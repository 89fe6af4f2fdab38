#pragma once
// Predictions about kernels that are made before a card measures them (`schema:
// tiersim.prediction_set/v1`, configs/predictions). A set names a system, the kernels by their
// traffic and FLOPs, and the ratios, shares, rates and differences of their times that were stated
// beforehand. Intervals come from the system's numbers with an interval (ci95). prediction_run.hpp
// evaluates a set.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/step_graph.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim {

/// Bytes that a kernel reads from or writes to a tier, like Access but with names instead of ids.
struct PredictedAccess {
  std::string tier;
  Direction direction = Direction::read;
  Bytes bytes;
  std::optional<Bytes> run;  ///< contiguous bytes of each request; missing: all bytes
};
void describe(Fields& f, PredictedAccess& c);

inline constexpr std::array<std::string_view, 2> kOpKindNames{"compute", "transfer"};

/// A kernel at one shape. Several launches, one after another, share its work evenly.
struct PredictedKernel {
  std::string timed_as = {};  ///< name of the case that will be timed; empty if none
  OpKind kind = OpKind::compute;
  KernelFamily family = KernelFamily::gemm;
  Arithmetic arithmetic = Arithmetic::bf16;
  RequesterKind requester = RequesterKind::sm;
  Flops flops;  ///< as executed
  std::int64_t launches = 1;
  std::vector<PredictedAccess> accesses;
};
void describe(Fields& f, PredictedKernel& c);

/// A kernel that runs `times` times in sequence.
struct PredictedTerm {
  std::string kernel;
  double times = 1;
};
void describe(Fields& f, PredictedTerm& c);

/// The quantity formed from two sums of times.
enum class PredictedKind : std::uint8_t {
  ratio,       ///< `of` over `to`
  share,       ///< `of` over `to`, in percent
  difference,  ///< `of` minus `to` [us]
  rate,        ///< bytes read from remote tiers by `of`, over its time [GB/s]
};
inline constexpr std::array<std::string_view, 4> kPredictedKindNames{"ratio", "share", "difference",
                                                                     "rate"};
/// "", "%", "us", "GB/s".
std::string_view unit_of(PredictedKind kind);

/// The range stated beforehand by hand; one end may be open.
struct StatedRange {
  std::optional<double> low;
  std::optional<double> high;
};
void describe(Fields& f, StatedRange& c);

/// A case of a campaign, whose time counts `times` times.
struct TimedTerm {
  std::string name;
  double times = 1;
};
void describe(Fields& f, TimedTerm& c);

/// The cases whose times stand for both sides of a quantity once they are measured.
struct TimedSides {
  std::vector<TimedTerm> of;
  std::vector<TimedTerm> to;
};
void describe(Fields& f, TimedSides& c);

struct PredictedQuantity {
  std::string id;
  std::string question;
  PredictedKind kind = PredictedKind::ratio;
  std::vector<PredictedTerm> of;
  std::vector<PredictedTerm> to;  ///< none under `rate`
  std::optional<TimedSides> timed = {};
  StatedRange stated;
  std::string note = {};  ///< limits of the number's meaning
};
void describe(Fields& f, PredictedQuantity& c);

struct PredictionSet {
  std::string name;
  std::string date;     ///< when the set was made, before any measurement: 2026-01-31
  SystemConfig system;  ///< with intervals on uncertain numbers
  std::int64_t draws = 400;
  std::int64_t seed = 1;
  std::map<std::string, PredictedKernel> kernels;
  std::vector<PredictedQuantity> quantities;
};
void describe(Fields& f, PredictionSet& c);

}  // namespace tiersim
