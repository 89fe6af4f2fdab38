#pragma once
// A trace on its way to a file, as it is written: gzip where the name ends in .gz, which Perfetto
// loads as it is.
//
//   TraceFile file("trace.json.gz");
//   write_trace(simulations, file.sink());
//   file.commit();
#include <filesystem>
#include <memory>

#include "sim/trace/trace_writer.hpp"

namespace tiersim::cli {

/// The file appears whole, or not at all: what is not committed is removed. "-" is stdout.
class TraceFile {
 public:
  /// Throws Failure where the file cannot be written, here and later.
  explicit TraceFile(const std::filesystem::path& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Valid as long as the file is.
  TraceSink sink();
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tiersim::cli
