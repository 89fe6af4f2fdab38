// The general rules of refusal for tables of timings (timing_table.hpp lists them).
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/order_statistics.hpp"
#include "hwmodels/calibrate/table/timing_table.hpp"

namespace tiersim {
namespace {

constexpr double kShortestLaunch = 1e-6;  // s; an empty kernel takes 1.2 to 2 us between events
constexpr double kHostLaunch = 30e-6;     // s; a captured graph starts a kernel in under 10 us
constexpr double kHostMargin = 1.5;
constexpr std::size_t kFewestOfAFloor = 20;  // rows, for their shortest tenth to be two
constexpr double kBeyondL2 = 2;
constexpr double kApart = 1.5;
constexpr double kAlike = 1.2;

std::string microseconds(double seconds) {
  return fmt::format("{:.4g} us", seconds * 1e6);
}

class Rules {
 public:
  Rules(const TimingTableConfig& config, const TableCeilings& ceilings, const std::string& file,
        TimingKernel& kernel)
      : config_(config), ceilings_(ceilings), file_(file), kernel_(kernel) {}

  void apply() {
    refuse_rows("no launch", [](const TimingRow& row) -> std::string {
      if (row.seconds >= kShortestLaunch) return {};
      return microseconds(row.seconds) + ", but no launch takes less than 1 us";
    });
    refuse_rows("above the peak", [this](const TimingRow& row) { return above_peak(row); });
    refuse_rows("above the memory's rate",
                [this](const TimingRow& row) { return above_memory(row); });
    refuse_rows("above the port's rate", [this](const TimingRow& row) { return above_port(row); });
    refuse_host_launches();
    refuse_untuned();
    for (const std::string& sample : config_.samples) refuse_along(position_of(sample), false);
    for (const std::string& split : config_.splits) refuse_along(position_of(split), true);
  }

 private:
  std::size_t position_of(const std::string& size) const {
    return static_cast<std::size_t>(std::ranges::find(config_.sizes, size) - config_.sizes.begin());
  }

  void refuse_rows(const std::string& rule,
                   const std::function<std::string(const TimingRow&)>& reason) {
    std::erase_if(kernel_.rows, [&](const TimingRow& row) {
      const std::string why = reason(row);
      if (!why.empty()) count(rule, row, why);
      return !why.empty();
    });
  }

  void count(const std::string& rule, const TimingRow& row, const std::string& why) {
    RefusedRows& refused = kernel_.refused[rule];
    if (refused.count == 0)
      refused.first = {fmt::format("{}:{}:1", file_, row.line), kernel_.name, rule, why};
    refused.count += row.repeats;
  }

  std::string above_peak(const TimingRow& row) const {
    const double peak = ceilings_.peak(kernel_.dtype);
    if (peak <= 0 || row.flops <= peak * row.seconds) return {};
    return fmt::format("{:.4g} TFLOP/s, but the peak is {:.4g}", row.flops / row.seconds / 1e12,
                       peak / 1e12);
  }

  std::string above_memory(const TimingRow& row) const {
    if (ceilings_.memory <= 0 || row.working_set <= kBeyondL2 * ceilings_.l2_bytes) return {};
    if (row.memory_bytes <= ceilings_.memory * row.seconds) return {};
    return fmt::format("{:.4g} GB/s, but memory gives {:.4g}", row.memory_bytes / row.seconds / 1e9,
                       ceilings_.memory / 1e9);
  }

  std::string above_port(const TimingRow& row) const {
    if (ceilings_.port <= 0 || row.port_bytes <= ceilings_.port * row.seconds) return {};
    return fmt::format("{:.4g} GB/s, but the port gives {:.4g}", row.port_bytes / row.seconds / 1e9,
                       ceilings_.port / 1e9);
  }

  void refuse_host_launches() {
    std::vector<double> times;
    for (const TimingRow& row : kernel_.rows) times.push_back(row.seconds);
    if (times.size() < kFewestOfAFloor) return;
    const double floor = quantile_of(times, 0.1);
    const double shortest = *std::ranges::min_element(times);
    // A floor is flat: the shortest tenth of a kernel without one spans more.
    if (shortest <= kHostLaunch * static_cast<double>(config_.launches) ||
        floor > kHostMargin * shortest)
      return;
    refuse_rows(std::string(kLaunchedByHost), [&](const TimingRow& row) -> std::string {
      if (row.seconds >= kHostMargin * floor) return {};
      return fmt::format("{}, where the shortest tenth of all cases takes {}",
                         microseconds(row.seconds), microseconds(floor));
    });
  }

  void refuse_untuned() {
    if (!config_.untuned || ceilings_.memory <= 0) return;
    std::map<std::string, double> best;  // rate of a shape's fastest row that streams
    for (const TimingRow& row : kernel_.rows) {
      if (row.memory_bytes < config_.untuned->bytes) continue;
      double& rate = best[row.shape];
      rate = std::max(rate, row.memory_bytes / row.seconds);
    }
    refuse_rows("untuned", [&](const TimingRow& row) -> std::string {
      const auto rate = best.find(row.shape);
      if (rate == best.end() || rate->second >= config_.untuned->share * ceilings_.memory)
        return {};
      return fmt::format("no row of its shape moves more than {:.4g} GB/s, of {:.4g}",
                         rate->second / 1e9, ceilings_.memory / 1e9);
    });
  }

  // Rules along one size, all others equal; rows with more of a split have less work.
  void refuse_along(std::size_t size, bool split) {
    std::vector<TimingRow>& rows = kernel_.rows;
    const auto others = [&](const TimingRow& row) {
      std::vector<double> key = row.sizes;
      key[size] = 0;
      return key;
    };
    std::ranges::stable_sort(rows, [&](const TimingRow& a, const TimingRow& b) {
      const auto key_a = others(a);
      const auto key_b = others(b);
      if (key_a != key_b) return key_a < key_b;
      return split ? a.sizes[size] > b.sizes[size] : a.sizes[size] < b.sizes[size];
    });
    std::vector<std::string> why(rows.size());
    std::vector<std::string> rule(rows.size());
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t last = first + 1;
      const auto key = others(rows[first]);
      while (last < rows.size() && others(rows[last]) == key) ++last;
      judge(first, last, size, split, rule, why);
      first = last;
    }
    std::vector<TimingRow> kept;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (why[i].empty())
        kept.push_back(std::move(rows[i]));
      else
        count(rule[i], rows[i], why[i]);
    }
    rows = std::move(kept);
    std::ranges::stable_sort(rows, {}, &TimingRow::sizes);
  }

  void judge(std::size_t first, std::size_t last, std::size_t size, bool split,
             std::vector<std::string>& rule, std::vector<std::string>& why) const {
    const std::vector<TimingRow>& rows = kernel_.rows;
    const std::string& name = config_.sizes[size];
    double least = std::numeric_limits<double>::infinity();
    std::size_t least_at = last;
    for (std::size_t i = last; i-- > first;) {
      const double time = rows[i].seconds;
      if (!split && i > first && i + 1 < last) {
        const double low = std::min(rows[i - 1].seconds, rows[i + 1].seconds);
        const double high = std::max(rows[i - 1].seconds, rows[i + 1].seconds);
        if (time < low / kApart && high < kAlike * low) {
          rule[i] = "dip";
          why[i] =
              fmt::format("{} at {} = {:g}, but its neighbours take {} and {}", microseconds(time),
                          name, rows[i].sizes[size], microseconds(rows[i - 1].seconds),
                          microseconds(rows[i + 1].seconds));
          continue;  // is no measure for rows with less work
        }
      }
      if (time > kApart * least) {
        rule[i] = split ? "slower than with less split" : "slower than more work";
        why[i] = fmt::format("{} at {} = {:g}, but {} at {:g}", microseconds(time), name,
                             rows[i].sizes[size], microseconds(least), rows[least_at].sizes[size]);
      }
      if (time < least) {
        least = time;
        least_at = i;
      }
    }
  }

  const TimingTableConfig& config_;
  const TableCeilings& ceilings_;
  const std::string& file_;
  TimingKernel& kernel_;
};

}  // namespace

double TableCeilings::peak(const std::string& dtype) const {
  auto at = flops.find(dtype);
  if (at == flops.end()) at = flops.find(dtype.substr(0, dtype.find('_')));
  return at == flops.end() ? 0 : at->second;
}

void check_timing_table(const TimingTableConfig& config, const TableCeilings& ceilings,
                        TimingTable& table) {
  for (TimingKernel& kernel : table.kernels) Rules(config, ceilings, table.file, kernel).apply();
}

}  // namespace tiersim
