#pragma once
// One line on a terminal with the progress of a long command, its rate and the remaining time.
// Nothing is shown in the first second, or if stderr is not a terminal.
#include <chrono>
#include <cstdint>
#include <string>

namespace tiersim::cli {

class ProgressLine {
 public:
  /// `noun`: "points".
  explicit ProgressLine(std::string noun);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  /// `before` is the part of `done` that was complete at the start; `note` is shown at the end of
  /// the line, and may be empty.
  void update(std::int64_t done, std::int64_t before, std::int64_t of, const std::string& note);

  /// Seconds since construction.
  double elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string noun_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_ = began_;
};

/// "0.4 s", "75 s", "12 min", "3.5 h".
std::string rough_time(double seconds);

}  // namespace tiersim::cli
