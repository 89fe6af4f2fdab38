#pragma once
// One function for each reader of files and texts that users give. It reads any bytes, as a fuzzer
// makes them, and throws std::logic_error where the reader breaks a promise: a mistake without a
// place or words, or a text that changes when it is written and read again. What the reader is to
// refuse it refuses without a throw. Only read_store() writes, to a temporary folder.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/diagnostics.hpp"

namespace tiersim::fuzz {

void read_expression(std::string_view text);      // of sweeps and tables
void read_configuration(std::string_view text);   // YAML of every schema, by its schema line
void read_settings(std::string_view text);        // --set options, one a line; "scenario" first
void read_hf_config(std::string_view text);       // config.json of the Hugging Face hub
void read_records(std::string_view text);         // records and their results
void read_kernel_timings(std::string_view text);  // campaigns, CSV, Google Benchmark, NCCL's tests
void read_traces(std::string_view text);          // requests, exit depths, chosen rows
void read_own_traces(std::string_view text);      // requests in columns that a user names
void read_packed(std::string_view text);          // files of gzip
void read_sweep_spec(std::string_view text);      // a design space with its files
void read_store(std::string_view edits);          // a store of sweeps with some bytes replaced
void read_tables(std::string_view text);          // timings and runs by shipped descriptions
void read_profiles(std::string_view text);        // nsys, nvbench and others by any description
void read_goals(std::string_view text);           // of `solve`, and names of metrics
void read_array(std::string_view text);           // NumPy's .npy

/// Throws std::logic_error with `what` unless `ok`.
void promise(bool ok, const std::string& what);
/// Every mistake has a line, a column and words, and stands on one line.
void expect_places(const Diagnostics& diagnostics);

/// The shipped configurations.
std::filesystem::path shipped_configs();

}  // namespace tiersim::fuzz
