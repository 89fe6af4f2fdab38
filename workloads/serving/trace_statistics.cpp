#include "workloads/serving/trace_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/core/stats.hpp"
#include "workloads/serving/trace_order.hpp"

namespace tiersim {
namespace {

constexpr double kPicoseconds = 1e12;  // in a second

class Window {
 public:
  explicit Window(std::int64_t seconds)
      : seconds_(seconds), length_(Int128(seconds) * static_cast<std::int64_t>(kPicoseconds)) {}

  void add(Int128 since_first) {
    const Int128 window = since_first / length_;
    if (window != at_) close();
    at_ = window;
    ++in_window_;
  }
  WindowCounts counts() const {
    WindowCounts out{.seconds = static_cast<double>(seconds_),
                     .windows = static_cast<std::int64_t>(at_),
                     .most = most_};
    if (out.windows == 0) return out;
    const auto n = static_cast<double>(out.windows);
    out.mean = sum_ / n;
    if (out.windows > 1) out.dispersion = (squares_ - n * out.mean * out.mean) / (n - 1) / out.mean;
    return out;
  }

 private:
  void close() {
    const auto count = static_cast<double>(in_window_);
    sum_ += count;
    squares_ += count * count;
    most_ = std::max(most_, in_window_);
    in_window_ = 0;
  }

  std::int64_t seconds_;
  Int128 length_;
  Int128 at_ = 0;  // number of the window that is being filled
  std::int64_t in_window_ = 0;
  std::int64_t most_ = 0;
  double sum_ = 0;  // over full windows
  double squares_ = 0;
};

// Takes requests in the order of arrival.
class Collector {
 public:
  explicit Collector(double sampled) : out_{.reuse = LruCurve(sampled)} {}

  void add(Int128 time, std::int64_t input, std::int64_t output,
           std::span<const std::uint64_t> prefix) {
    if (out_.requests++ == 0) {
      first_ = time;
    } else {
      gaps_.add(static_cast<double>(time - last_) / kPicoseconds);
    }
    last_ = time;
    for (Window& window : windows_) window.add(time - first_);
    out_.input.add(input);
    out_.output.add(output);
    if (prefix.empty()) return;
    ++out_.with_blocks;
    out_.reuse.look_up(prefix);
  }
  TraceStatistics take() {
    out_.seconds = static_cast<double>(last_ - first_) / kPicoseconds;
    if (gaps_.count() > 1 && gaps_.mean() > 0)
      out_.gap_variation = std::sqrt(gaps_.variance()) / gaps_.mean();
    for (std::size_t i = 0; i < windows_.size(); ++i) out_.windows[i] = windows_[i].counts();
    return std::move(out_);
  }

 private:
  TraceStatistics out_;
  Int128 first_ = 0;
  Int128 last_ = 0;
  Tally gaps_;
  std::array<Window, 3> windows_{Window(1), Window(10), Window(60)};
};

}  // namespace

double LengthCounts::mean() const {
  double sum = 0;
  for (const auto& [length, count] : counts_)
    sum += static_cast<double>(length) * static_cast<double>(count);
  return all_ == 0 ? 0 : sum / static_cast<double>(all_);
}

double LengthCounts::variation() const {
  if (all_ < 2) return 0;
  const double middle = mean();
  double squares = 0;
  for (const auto& [length, count] : counts_) {
    const double off = static_cast<double>(length) - middle;
    squares += off * off * static_cast<double>(count);
  }
  return std::sqrt(squares / static_cast<double>(all_ - 1)) / middle;
}

std::int64_t LengthCounts::quantile(double share) const {
  TS_EXPECTS(share >= 0 && share <= 1, share);
  const auto wanted =
      static_cast<std::int64_t>(std::ceil(share * static_cast<double>(all_) * (1 - 1e-12)));
  std::int64_t below = 0;
  for (const auto& [length, count] : counts_)
    if ((below += count) >= wanted) return length;
  return most();
}

Expected<TraceStatistics, TraceProblems> trace_statistics(const std::filesystem::path& path,
                                                          const std::optional<TraceFormat>& format,
                                                          double sampled) {
  TraceSummary told;
  auto seen = in_arrival_order(
      path, format, [&] { return Collector(sampled); }, &told);
  if (!seen) return Unexpected(seen.error());
  TraceStatistics out = (*std::move(seen)).take();
  out.block = told.block;
  out.sessions = told.sessions;
  out.left_out = told.left_out;
  out.timed = told.timed;
  return out;
}

}  // namespace tiersim
