#pragma once
// tiersim calibrate --table: tables of timings that others wrote (timing_table_config.hpp).
#include <cstdint>
#include <string>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"
#include "sim/runner/failure.hpp"

namespace tiersim::cli {

struct TableArguments {
  std::vector<std::string> files;
  std::string table;              ///< name in configs/calibration/tables, or a file
  std::vector<TimingPeak> peaks;  ///< of the data sheet
  std::string l2;                 ///< "50 MiB"; may be empty
  std::int64_t sms = 0;           ///< 0: not stated
  std::string output;             ///< folder of the calibration; empty: nothing is written
  std::string calibration;        ///< its name: <part>/<engine>-<version>
  std::string part;
  std::string command;  ///< for the head of what is written
  bool check_only = false;
  bool json = false;
};

/// Reads the files, prints what was refused, fits the rest, prints the errors of the fits and
/// writes <table>.yaml into the folder, and the gpu.yaml that lays all tables of the folder over
/// each other.
ExitCode calibrate_table(const TableArguments& arguments);

}  // namespace tiersim::cli
