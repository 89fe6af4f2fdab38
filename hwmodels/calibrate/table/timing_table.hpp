#pragma once
// Reader of a table of timings by its description (timing_table_config.hpp), and the check that
// comes before any fit.
//
//  const auto table = read_timing_table("gemm.csv", text, config, l2_bytes);
//  for (const TimingKernel& kernel : table->kernels) ...
//
// Repeated rows of one case become one row with the median of their times; their spread is the
// noise floor of the table. A fit cannot be judged to be closer than that.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"
#include "hwmodels/calibrate/table/timing_table_config.hpp"
#include "sim/base/expected.hpp"
#include "sim/config/diagnostics.hpp"

namespace tiersim {

struct TimingRow {
  int line = 0;               ///< in the file; of repeated rows the first
  std::vector<double> sizes;  ///< in the order of the description
  double memory_bytes = 0;
  double flops = 0;
  double port_bytes = 0;   ///< of a collective, least, through the port of a GPU, one way [B]
  double working_set = 0;  ///< bytes that all repetitions touch [B]
  double seconds = 0;
  double spread = 0;  ///< of repeated rows: largest less smallest time, over the median; else 0
  int repeats = 1;
  std::string shape;                    ///< all sizes but the samples: "n 4096 k 512"
  std::string group = {};               ///< sizes of the description's groups; empty: none
  std::vector<double> form_sizes = {};  ///< of the description's form; empty without one
};

struct RefusedRows {
  std::int64_t count = 0;
  TimingRefusal first;  ///< an example with its line and numbers
};

/// All rows with the same labels and the same value of `split`.
struct TimingKernel {
  std::string name;  ///< the labels, and the value of `split`: "torch_flow bfloat16"
  std::string dtype;
  std::string operation = {};                  ///< of a collective; else empty
  std::int64_t read = 0;                       ///< rows of the file
  std::vector<TimingRow> rows;                 ///< without refused ones; ascending by sizes
  std::map<std::string, RefusedRows> refused;  ///< by rule
};

struct TimingTable {
  std::string file;
  std::vector<TimingKernel> kernels;    ///< ascending by name
  std::vector<std::string> notes = {};  ///< rows that were left out, with the file and the reason
};

/// Every mistake of the file, with its line and column: a column that is missing or that the
/// description does not name, a cell that is no number, a formula without a value.
Expected<TimingTable, Diagnostics> read_timing_table(const std::string& file, std::string_view text,
                                                     const TimingTableConfig& config,
                                                     double l2_bytes);

/// Rates that no row can exceed; 0 where not known.
struct TableCeilings {
  double memory = 0;                    ///< B/s
  double port = 0;                      ///< B/s, to other GPUs, one way
  double l2_bytes = 0;                  ///< size of L2
  std::map<std::string, double> flops;  ///< FLOP/s by operand type

  /// The peak of a type: its own, or that of its name before '_' (fp8 of fp8_block); 0: not known.
  double peak(const std::string& dtype) const;
};

/// The rule of rows that a graph of kernels would not have.
inline constexpr const char* kLaunchedByHost = "launched by the host";

/// Moves the rows that cannot be into `refused`. The rules, in order; the first that holds counts:
/// - those of the description;
/// - "no launch": shorter than 1 us, which no launch of a kernel takes;
/// - "above the peak": more FLOPs a second than the peak of its operands;
/// - "above the memory's rate": more bytes a second than memory serves, where what the repetitions
///   touch is more than twice L2;
/// - "above the port's rate": a collective that sends more bytes a second than the port of a GPU;
/// - "launched by the host": the kernel's shortest tenth takes more than 30 us for each of
///   `launches`, as if launched one by one from the host instead of in a captured graph, and the
///   row takes less than 1.5 times that;
/// - "untuned": a row of a shape that never comes near the memory's rate (UntunedRule), as if the
///   engine had taken the first kernel instead of the best;
/// - "dip": less than two thirds of the times of both neighbours in a sample, which agree within
///   20 %;
/// - "slower than more work": more than 1.5 times the time of a row that has more of a sample and
///   all else equal: the kernel could run that row's product instead, so this one was not tuned;
/// - "slower than with less split": the same for a row that a split leaves more work.
void check_timing_table(const TimingTableConfig& config, const TableCeilings& ceilings,
                        TimingTable& table);

/// Spread of repeated cases over their median time: the median and the 90th percentile.
struct NoiseFloor {
  std::int64_t cases = 0;
  double median = 0;
  double p90 = 0;
};
NoiseFloor noise_floor(const TimingKernel& kernel);

}  // namespace tiersim
