#include "sim/cli/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace tiersim::cli {

ProgressLine::ProgressLine(std::string noun)
    : noun_(std::move(noun)), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

double ProgressLine::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - began_).count();
}

void ProgressLine::update(std::int64_t done, std::int64_t before, std::int64_t of,
                          const std::string& note) {
  constexpr std::chrono::milliseconds kBetween(100);
  const Clock::time_point now = Clock::now();
  if (!terminal_ || elapsed() < 1 || now - last_ < kBetween) return;
  last_ = now;
  shown_ = true;
  const double rate = static_cast<double>(done - before) / elapsed();
  const std::string left =
      rate > 0 ? rough_time(static_cast<double>(of - done) / rate) + " left" : "";
  std::fputs(fmt::format("\r\x1b[Ktiersim: {} of {} {}, {:.4g}/s, {}{}{}", done, of, noun_, rate,
                         left, note.empty() ? "" : ", ", note)
                 .c_str(),
             stderr);
  std::fflush(stderr);
}

std::string rough_time(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace tiersim::cli
