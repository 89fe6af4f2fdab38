#pragma once
// Timings of kernels as a file states them, whatever its format: what was run, how much it moves
// and computes by formula, and how long it took. Readers (read_timings.hpp) make them, the check
// (plausibility.hpp) refuses what no device can do, fits (fit.hpp) take what is left.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"

namespace tiersim {

/// Whether its inputs may stand in L2 from the run before.
enum class Temperature : std::uint8_t { cold, warm };
inline constexpr std::array<std::string_view, 2> kTemperatureNames{"cold", "warm"};

/// What one launch moves and computes, by formula; 0 where a file does not say.
struct TimedWork {
  double memory_bytes = 0;      ///< read and written in the GPU's own memory, each byte once [B]
  double link_read_bytes = 0;   ///< over the link to the GPU [B]
  double link_write_bytes = 0;  ///< over the link from the GPU [B]
  double requested_bytes = 0;   ///< that instructions ask for, repeats included: what L2 serves [B]
  double flops = 0;             ///< as executed: padding of tiles counted [FLOP]
};

/// One case, all its repetitions taken together.
struct TimingCase {
  std::string where = {};    ///< "timing.json: benchmarks[12]", "nccl.log:14": for messages
  std::string name = {};     ///< as the file has it; unique with the temperature
  std::string kernel = {};   ///< what is fitted together: "dense_decode"
  std::string variant = {};  ///< may be empty
  std::string dtype = {};    ///< of the operands: bf16, int8, ...; may be empty
  std::map<std::string, std::int64_t> shape = {};
  Temperature temperature = Temperature::cold;
  bool baseline = false;  ///< a library's kernel: shown, never fitted
  TimedWork work;
  double tail = 1;             ///< ceil(waves) / waves; 1 where not known
  double bytes_in_flight = 0;  ///< of all multiprocessors; 0 where not known [B]
  double seconds = 0;          ///< median of a launch
  double low = 0;              ///< of its 95 % interval; `seconds` where there is none
  double high = 0;
  double repeat_noise = 0;  ///< half the spread of the processes' medians over `seconds`; 0: one
};

/// A rate that nothing can beat, or a ceiling that was measured.
struct TimingPeak {
  std::string name = {};  ///< memory, l2, link_read, link_write [B/s]; flops.<dtype> [FLOP/s]
  double value = 0;
  bool hard = true;  ///< false: measured, so shown beside a timing and not held against it
  NumberClass number_class = NumberClass::assumed;
  std::string source = {};
};

/// A case, or a row of a file, that cannot be: with its numbers, for the user.
struct TimingRefusal {
  std::string where = {};   ///< as TimingCase::where
  std::string name = {};    ///< of the case
  std::string rule = {};    ///< in a few words: "above the peak", "unit slip"
  std::string reason = {};  ///< a clause with the numbers
};

struct TimingSet {
  std::string file = {};
  std::string format = {};    ///< campaign, google_benchmark, csv, nccl_tests
  std::string device = {};    ///< as the driver names it; may be empty
  std::string date = {};      ///< ISO 8601; may be empty
  std::string build_id = {};  ///< of the kernels; may be empty
  /// measured: on a card, and the file proves or says which. reported: by others, unproved.
  /// synthetic: made from a planted truth. none: a dry run, times mean nothing.
  std::string data_class = {};
  double l2_bytes = 0;  ///< 0 where not known
  std::vector<TimingPeak> peaks = {};
  std::vector<TimingCase> cases = {};
  /// Rows that contradict themselves (a rate that is not size over time) or gave a wrong result.
  std::vector<TimingRefusal> refused = {};
  std::vector<std::string> notes = {};  ///< what was left out of the file, and why
};

}  // namespace tiersim
