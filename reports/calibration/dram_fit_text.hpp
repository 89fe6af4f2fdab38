#pragma once
// A memory's flow level as fitted to its packet level (hwmodels/memory/dram_fit.hpp): as a table,
// and as the part of a device's file that states it.
#include <string>

#include "hwmodels/memory/dram_fit.hpp"
#include "sim/base/table.hpp"

namespace tiersim {

/// The table has a row for each run length and read share. A row gives the share of peak bandwidth
/// that such accesses reach, and the queueing latency at several loads. `number_class` is the class
/// of all numbers; a note states it.
Table dram_fit_table(const DramFit& fit, NumberClass number_class);

/// {class, read_efficiency, write_efficiency, row_time_s, loads, curves: [{run_bytes, read_share,
/// reaches, added_s}]}; loads are shares of what a curve reaches, which is a share of peak.
std::string dram_fit_json(const DramFit& fit, NumberClass number_class);

/// A YAML of `schema: tiersim.device/v1` with the fitted numbers, for the `base` of a device.
/// `command` writes it again; `source` and `number_class` are those of every number in it.
std::string dram_fit_yaml(const DramFit& fit, const std::string& command, NumberClass number_class,
                          const std::string& source);

}  // namespace tiersim
