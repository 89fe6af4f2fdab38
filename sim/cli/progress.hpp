#pragma once
// One line on a terminal that says how far a long command is, with rate and time left. Nothing in
// the first second, and nothing where stderr is no terminal.
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

  /// `before` of those that are done were done before; `note` stands at the end of the line, and
  /// may be empty.
  void update(std::int64_t done, std::int64_t before, std::int64_t of, const std::string& note);

  /// Seconds since it was made.
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
