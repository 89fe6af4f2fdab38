#pragma once
// Files of kernel timings in a folder, told apart by their names, and the shipped calibrations that
// can answer for them.
#include <filesystem>
#include <string>
#include <vector>

#include "hwmodels/calibrate/table/timing_table_config.hpp"

namespace tiersim::cli {

/// A file of timings, by what its path says: <gpu>/<table>__<engine>_<version>.csv.gz.
struct TimedFile {
  std::filesystem::path path;
  std::string folder;        ///< "h200_sxm"
  std::string description;   ///< name in configs/calibration/tables, or a file; empty: none
  std::string engine = {};   ///< "vllm"; empty: not said
  std::string version = {};  ///< "0.24.0"
};

/// A calibration of the shipped ones: <part>/<engine>-<version>.
struct ShippedCalibration {
  std::string part;
  std::string engine;
  std::string name;
  std::vector<std::string> tables;  ///< names of the descriptions that it was fitted with

  bool has(const std::vector<std::string>& any) const;
};

/// A GPU with a calibration, and the first system of it by name.
struct KnownPart {
  std::string name;  ///< "h200"
  std::filesystem::path system;
};

/// Of kernels of a GPU alone.
struct KernelTable {
  TimedFile file;
  TimingTableConfig description;
  std::vector<std::string> alike;  ///< names of the descriptions of the same operations
};

std::vector<KnownPart> known_parts();
std::vector<ShippedCalibration> shipped_calibrations();
/// "h200" of "h200_sxm".
std::string first_word(const std::string& name);

/// The files of these paths, which may be folders, that a description is for. `description`: for
/// all of them; empty: by their names. `only`: of these descriptions; empty: all. The others are
/// named. Of a folder, versions of an engine beside the one with a calibration are left out.
std::vector<KernelTable> kernel_tables(const std::vector<std::string>& paths,
                                       const std::string& description,
                                       const std::vector<std::string>& only);

}  // namespace tiersim::cli
