#pragma once
// Kernel timings as a file states them, in any format: the kernel, the bytes and FLOPs that it
// takes by formula, and its time. Readers (read_timings.hpp) make them, the check
// (plausibility.hpp) refuses impossible ones, and fits (fit.hpp) take the rest.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// Warm where the inputs may be in L2 from the run before.
enum class Temperature : std::uint8_t { cold, warm };
inline constexpr std::array<std::string_view, 2> kTemperatureNames{"cold", "warm"};

/// Bytes and FLOPs of one launch, by formula; 0 where a file does not state them.
struct TimedWork {
  double memory_bytes = 0;      ///< read and written in the GPU's own memory, each byte once [B]
  double link_read_bytes = 0;   ///< over the link to the GPU [B]
  double link_write_bytes = 0;  ///< over the link from the GPU [B]
  /// Loads and stores by instructions, with repeats: the bytes that L2 serves [B].
  double requested_bytes = 0;
  double flops = 0;  ///< as executed, with padding of tiles [FLOP]
};

/// One case, all its repetitions taken together.
struct TimingCase {
  /// Place in the file for messages: "timing.csv:12:1".
  std::string where = {};
  /// Places of its members of TimedWork, by their names; `where` for those that have none.
  std::map<std::string, std::string, std::less<>> places = {};
  std::string name = {};     ///< name in the file; unique with the temperature
  std::string kernel = {};   ///< common name of the cases that are fitted together: "dense_decode"
  std::string variant = {};  ///< may be empty
  std::string dtype = {};    ///< operand type: bf16, int8, ...; may be empty
  std::map<std::string, std::int64_t> shape = {};
  Temperature temperature = Temperature::cold;
  bool baseline = false;  ///< kernel of a library: shown, never fitted
  TimedWork work;
  double tail = 1;             ///< ceil(waves) / waves; 1 where not known
  double bytes_in_flight = 0;  ///< of all multiprocessors; 0 where not known [B]
  double seconds = 0;          ///< median time of a launch
  double low = 0;              ///< lower end of the 95 % interval; `seconds` where there is none
  double high = 0;
  /// Half the spread of the processes' medians over `seconds`; 0 for one process.
  double repeat_noise = 0;
};

/// Sizes that decide how memory is accessed, or the kind of inputs, and not how much work there is:
/// a card reads rows of 32 B at a third of the rate of rows of 512 B, rows of a table of 2 GB in
/// host memory at a third of that of 256 MB, and chooses more slowly among scores that are close.
inline constexpr std::array<std::string_view, 5> kPatternSizes{
    "row_bytes", "table_rows", "table_bytes", "huge_pages", "concentrated"};

/// The name of the case without the temperature that a campaign appends: "a.b" of "a.b/cold".
inline std::string_view case_name(const TimingCase& timing) {
  return std::string_view(timing.name).substr(0, timing.name.rfind('/'));
}

/// A rate that nothing can exceed, or a measured ceiling.
struct TimingPeak {
  std::string name = {};  ///< memory, l2, link_read, link_write [B/s]; flops.<dtype> [FLOP/s]
  double value = 0;
  bool hard = true;  ///< false: a measured ceiling, shown beside a timing and not used to refuse it
  NumberClass number_class = NumberClass::assumed;
  std::string source = {};
};

/// A case, or a row of a file, that is impossible, with its numbers for the user.
struct TimingRefusal {
  std::string where = {};   ///< as TimingCase::where, or the place of the number
  std::string name = {};    ///< of the case
  std::string rule = {};    ///< short name: "above the peak", "unit slip"
  std::string reason = {};  ///< a clause with the numbers
};

struct TimingSet {
  std::string file = {};
  std::string format = {};    ///< campaign, google_benchmark, csv, nccl_tests
  std::string device = {};    ///< name by the driver; may be empty
  std::string date = {};      ///< ISO 8601; may be empty
  std::string build_id = {};  ///< of the kernels; may be empty
  /// measured: on a device that the file names. reported: by others, without proof. synthetic: made
  /// from known parameters. none: a dry run, whose times mean nothing.
  std::string data_class = {};
  double l2_bytes = 0;  ///< 0 where not known
  std::vector<TimingPeak> peaks = {};
  /// The family that a kernel stands for, by the kernel's name, as the user says.
  std::map<std::string, KernelFamily, std::less<>> families = {};
  std::vector<TimingCase> cases = {};
  /// Rows that contradict themselves (a rate that is not size over time) or whose result was wrong.
  std::vector<TimingRefusal> refused = {};
  std::vector<std::string> notes = {};  ///< parts of the file that were left out, with reasons
};

}  // namespace tiersim
