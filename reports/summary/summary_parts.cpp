#include "reports/summary/summary_parts.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reports/render/table.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"

namespace tiersim {

std::string time_text(double seconds) {
  return seconds == 0 ? "-" : display(Duration(std::llround(seconds * 1e12)));
}

std::string bytes_text(std::int64_t bytes) {
  return bytes == 0 ? "-" : display(Bytes::from_base(bytes));
}

std::string share_text(double share) {
  if (share == 0) return "-";
  return share < 0.001 ? "< 0.1 %" : fmt::format("{:.1f} %", 100 * share);
}

std::string number_text(double value) {
  return value >= 1000 && value < 1e9 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string shares_text(const std::string& title, const std::string& column,
                        const std::vector<TimeShare>& shares) {
  constexpr double kBar = 30;  // characters
  double sum = 0;
  for (const TimeShare& share : shares) sum += share.seconds;
  if (sum == 0) return "";
  Table table{.title = title,
              .columns = {{column, Align::left}, {"time"}, {"share"}, {"", Align::left}}};
  for (const auto& [name, seconds] : shares) {
    if (seconds == 0) continue;
    const auto length = static_cast<std::size_t>(std::lround(kBar * seconds / sum));
    table.add(
        {printable(name), time_text(seconds), share_text(seconds / sum), std::string(length, '#')});
  }
  return to_text(table) + '\n';
}

std::string trust_line(const RunRecord& record) {
  std::array<int, kNumberClassNames.size()> count{};
  int without = 0;
  for (const NumberRecord& number : record.numbers) {
    if (!number.in_times) continue;
    ++count[static_cast<std::size_t>(number.number_class)];
    if (!number.ci95) ++without;
  }
  std::string out = "numbers that the times depend on:";
  for (std::size_t c = 0; c < count.size(); ++c)
    out += fmt::format("{} {} {}", c == 0 ? "" : ",", count[c], kNumberClassNames[c]);
  out += " (sources: --json)\n";
  if (!record.draws) return out;
  out += fmt::format(
      "[low, high]: 95 % interval, from {} draws of the {} that {}", record.draws->draws,
      record.draws->numbers == 1 ? "number" : fmt::format("{} numbers", record.draws->numbers),
      record.draws->numbers == 1 ? "has one" : "have one");
  if (without > 0) out += fmt::format("; {} {} none", without, without == 1 ? "has" : "have");
  return out + '\n';
}

}  // namespace tiersim
