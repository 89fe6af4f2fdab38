#pragma once
// The lines of a trace file of any size, read in pieces and unpacked where the file is gzip's, and
// the mistakes in them.
//
//   TraceLines lines("log.csv.gz");
//   while (const auto line = lines.next()) ...
//   if (!lines.error().empty()) ...
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

using TraceProblems = std::vector<ImportProblem>;

/// A line of a trace without its end; numbers count from 1. The text lives until the next line.
struct TraceLine {
  std::int64_t number = 1;
  std::string_view text;
};

class TraceLines {
 public:
  explicit TraceLines(const std::filesystem::path& path);
  /// The lines of a text, for tests; it must outlive this object.
  static TraceLines of_text(std::string_view text);
  TraceLines(TraceLines&&) noexcept;
  TraceLines& operator=(TraceLines&&) = delete;
  ~TraceLines();

  /// The next line, empty lines included; none at the end, or after an error. A byte order mark
  /// before the first line is left out.
  std::optional<TraceLine> next();
  /// The reason why the file cannot be read to its end; empty if there is none so far.
  const std::string& error() const;
  /// SHA-256 of all bytes of the file, in hexadecimal, after the last line.
  std::string digest() const;

 private:
  class Impl;
  explicit TraceLines(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Collects mistakes in the lines of one file. The first 20 are kept, and the others counted.
class TraceMistakes {
 public:
  explicit TraceMistakes(std::string file) : file_(std::move(file)) {}

  /// `column` counts from 1, in bytes.
  void report(const TraceLine& line, std::size_t column, std::string message,
              std::string hint = {});
  bool any() const { return !problems_.empty(); }
  /// In the order of the file; after 20 of them, one that counts the rest.
  TraceProblems take() &&;

 private:
  std::string file_;
  TraceProblems problems_;
  std::size_t left_out_ = 0;
  std::int64_t left_out_from_ = 0;  // line
};

/// A part of a line for a message: quoted, and shortened to a readable length.
std::string in_quotes(std::string_view text);

}  // namespace tiersim
