#include "reports/summary/run_summary.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reports/render/table.hpp"
#include "sim/base/display.hpp"

namespace tiersim {
namespace {

std::string time_text(double seconds) {
  return display(Duration(static_cast<std::int64_t>(seconds * 1e12)));
}
std::string bytes_text(std::int64_t bytes) {
  return bytes == 0 ? "-" : display(Bytes::from_base(bytes));
}

std::string class_parts(const BytesByClass& bytes) {
  std::vector<std::pair<std::string, std::int64_t>> parts(bytes.begin(), bytes.end());
  std::ranges::stable_sort(parts, std::greater<>{}, [](const auto& part) { return part.second; });
  std::string out;
  for (const auto& [name, count] : parts)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, bytes_text(count));
  return out;
}

Table footprint_table(const RunRecord& record) {
  Table table{.title = "Footprint",
              .columns = {{"tier", Align::left}, {"bytes"}, {"of which", Align::left}}};
  for (const auto& [tier, bytes] : record.footprint_bytes)
    table.add({tier, bytes_text(bytes), class_parts(record.footprint_by_class.at(tier))});
  return table;
}

Table traffic_table(const RunRecord& record) {
  Table table{.title = "Traffic of one step (payload)",
              .columns = {{"device", Align::left},
                          {"read"},
                          {"written"},
                          {"moved in granules"},
                          {"busiest direction", Align::left}}};
  for (const auto& [device, bytes] : record.traffic_bytes) {
    if (bytes.read + bytes.write == 0) continue;
    const ReadWrite& moved = record.moved_bytes.at(device);
    std::string busiest = "-";
    double most = 0;
    for (const auto& [channel, share] : record.channel_utilisation) {
      if (!channel.starts_with(device + '.') || share <= most) continue;
      most = share;
      busiest = fmt::format("{} {:.1f} %", channel.substr(device.size() + 1), 100 * share);
    }
    table.add({device, bytes_text(bytes.read), bytes_text(bytes.write),
               bytes_text(moved.read + moved.write), busiest});
  }
  return table;
}

Table share_table(const RunRecord& record) {
  Table table{.title = "What the critical path waits for",
              .columns = {{"cause", Align::left}, {"time"}, {"share"}}};
  double sum = 0;
  for (const TimeShare& share : record.bound_shares) sum += share.seconds;
  for (const auto& [name, seconds] : record.bound_shares)
    table.add({name, time_text(seconds), fmt::format("{:.1f} %", 100 * seconds / sum)});
  return table;
}

std::string trust_line(const RunRecord& record) {
  std::array<int, kNumberClassNames.size()> count{};
  for (const NumberRecord& number : record.numbers)
    ++count[static_cast<std::size_t>(number.number_class)];
  std::string out = "numbers of this configuration:";
  for (std::size_t c = 0; c < count.size(); ++c)
    out += fmt::format("{} {} {}", c == 0 ? "" : ",", count[c], kNumberClassNames[c]);
  return out + " (sources: --json)\n";
}

}  // namespace

std::string summary_text(const RunRecord& record) {
  const auto value = [&](const char* name) { return record.metrics.at(name).value; };
  std::string out = fmt::format("{}  (run {})\n\n", record.name, record.run_id.substr(0, 12));
  out += fmt::format("step       {}   bound {} ({:.2f} of it), bounded by {}\n",
                     time_text(value("step_time_s")), time_text(value("bound_s")),
                     value("bound_s") / value("step_time_s"), record.bounded_by);
  out += fmt::format("throughput {:.2f} tokens/s\n", value("throughput_tokens_per_s"));
  out += fmt::format("capacity   largest batch {:.0f} at this context\n\n", value("max_batch"));
  out += to_text(share_table(record)) + '\n' + to_text(footprint_table(record)) + '\n' +
         to_text(traffic_table(record)) + '\n';
  return out + trust_line(record);
}

}  // namespace tiersim
