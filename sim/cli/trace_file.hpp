#pragma once
// Writes a trace to a file while it is generated, as gzip if the name ends in .gz; Perfetto loads
// both.
//
//   TraceFile file("trace.json.gz");
//   write_trace(simulations, file.sink());
//   file.commit();
#include <filesystem>
#include <memory>

#include "sim/trace/trace_writer.hpp"

namespace tiersim::cli {

/// The file appears whole or not at all: without commit() it is removed. "-" is stdout.
class TraceFile {
 public:
  /// Throws Failure if the file cannot be written, here and in later calls.
  explicit TraceFile(const std::filesystem::path& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Valid as long as this object.
  TraceSink sink();
  void commit();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tiersim::cli
