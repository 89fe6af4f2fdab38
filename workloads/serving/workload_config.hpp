#pragma once
// Where requests come from: an arrival process with lengths drawn from distributions, or a trace of
// a real service.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/config/fields.hpp"
#include "workloads/serving/request.hpp"

namespace tiersim {

enum class ArrivalProcess : std::uint8_t {
  at_once,      ///< all at time 0: how fast are they done?
  closed_loop,  ///< so many users, each with one request at a time
  fixed_rate,
  poisson,
  gamma,  ///< gaps of a stated coefficient of variation: bursty above 1
};
inline constexpr std::array<std::string_view, 5> kArrivalProcessNames{
    "at_once", "closed_loop", "fixed_rate", "poisson", "gamma"};

struct ArrivalConfig {
  ArrivalProcess process = ArrivalProcess::poisson;
  double requests_per_s = 0;  ///< of the open processes
  double variation = 1;       ///< gamma: standard deviation of the gaps over their mean
  std::int64_t users = 0;     ///< of a closed loop
  Duration think_time{};      ///< of a closed loop: mean time from an answer to the next request
};
void describe(Fields& f, ArrivalConfig& c);

enum class LengthDistribution : std::uint8_t { fixed, uniform, lognormal };
inline constexpr std::array<std::string_view, 3> kLengthDistributionNames{"fixed", "uniform",
                                                                          "lognormal"};

struct LengthConfig {
  LengthDistribution distribution = LengthDistribution::fixed;
  std::int64_t tokens = 0;  ///< fixed: all; lognormal: the median
  double sigma = 0;         ///< lognormal: of the logarithm
  std::int64_t min = 1;     ///< uniform: the range; lognormal: what is drawn is cut to it
  std::int64_t max = 0;
};
void describe(Fields& f, LengthConfig& c);

/// A trace file: Azure LLM inference (CSV) or Mooncake (JSON lines), each as published.
struct TraceConfig {
  std::string file = {};    ///< empty: none
  std::string digest = {};  ///< SHA-256 of its bytes
  double speed = 1;         ///< arrivals come so much faster than recorded
  std::int64_t skip = 0;    ///< requests left out at the start
};

struct WorkloadConfig {
  std::int64_t requests = 0;  ///< how many; of a trace all that are left where 0
  ArrivalConfig arrivals = {};
  LengthConfig input = {};
  LengthConfig output = {};
  TraceConfig trace = {};
  std::int64_t prefix_block = 512;  ///< tokens that one name of a prefix stands for
};
void describe(Fields& f, WorkloadConfig& c);

/// The source of these requests; the error is what is wrong with the trace file, for the user.
Expected<std::unique_ptr<RequestSource>> make_request_source(const WorkloadConfig& config,
                                                             std::uint64_t seed);

}  // namespace tiersim
