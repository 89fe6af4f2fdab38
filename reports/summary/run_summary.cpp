#include "reports/summary/run_summary.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/render/table.hpp"
#include "reports/summary/serving_summary.hpp"
#include "reports/summary/sharing_text.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

// "  [3.62 ms, 3.85 ms]"; empty where there is no interval.
template <class Text>
std::string interval_text(const std::optional<Interval<double>>& ci95, const Text& text) {
  return ci95 ? fmt::format("  [{}, {}]", text(ci95->low), text(ci95->high)) : "";
}

std::string class_parts(const BytesByClass& bytes) {
  std::vector<std::pair<std::string, std::int64_t>> parts(bytes.begin(), bytes.end());
  std::ranges::stable_sort(parts, std::greater<>{}, [](const auto& part) { return part.second; });
  std::string out;
  for (const auto& [name, count] : parts)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, bytes_text(count));
  return out;
}

bool several_gpus(const RunRecord& record) {
  return record.gpus > 1 || record.ffn_gpus;
}

// The number of GPUs that share one instance of the device; empty for one GPU.
std::string used_by(const RunRecord& record, const std::string& device) {
  const auto it = record.sharers.find(device);
  const std::int64_t gpus = it == record.sharers.end() ? 1 : it->second;
  return gpus == 1 ? "each GPU has one" : fmt::format("one for {} GPUs", gpus);
}

// A table of devices that gets a column with used_by() where there are several GPUs.
class DeviceTable {
 public:
  DeviceTable(const RunRecord& record, Table table) : record_(record), table_(std::move(table)) {
    if (several_gpus(record_)) table_.columns.push_back({"instances", Align::left});
  }
  void add(const std::string& device, std::vector<std::string> cells) {
    cells.insert(cells.begin(), printable(device));
    if (several_gpus(record_)) cells.push_back(used_by(record_, device));
    table_.add(std::move(cells));
  }
  std::string text() const { return to_text(table_) + '\n'; }

 private:
  const RunRecord& record_;
  Table table_;
};

std::string of_one_instance(const RunRecord& record, const std::string& title) {
  return several_gpus(record) ? title + ", for one instance and all GPUs that share it" : title;
}

std::string footprint_text(const RunRecord& record) {
  DeviceTable table(record,
                    {.title = of_one_instance(record, "Footprint"),
                     .columns = {{"tier", Align::left}, {"bytes"}, {"of which", Align::left}}});
  for (const auto& [tier, bytes] : record.footprint_bytes)
    table.add(tier, {bytes_text(bytes), class_parts(record.footprint_by_class.at(tier))});
  return table.text();
}

std::string traffic_text(const RunRecord& record) {
  DeviceTable table(record, {.title = of_one_instance(record, "Traffic of one step (payload)"),
                             .columns = {{"device", Align::left},
                                         {"read"},
                                         {"written"},
                                         {"moved in granules"},
                                         {"busiest direction", Align::left}}});
  for (const auto& [device, bytes] : record.traffic_bytes) {
    if (bytes.read + bytes.write == 0) continue;
    const ReadWrite& moved = record.moved_bytes.at(device);
    std::string busiest = "-";
    double most = 0;
    for (const auto& [channel, share] : record.channel_utilisation) {
      if (!channel.starts_with(device + '.') || share <= most) continue;
      most = share;
      busiest = fmt::format("{} {}", channel.substr(device.size() + 1), share_text(share));
    }
    table.add(device, {bytes_text(bytes.read), bytes_text(bytes.write),
                       bytes_text(moved.read + moved.write), busiest});
  }
  return table.text();
}

std::string gpus_text(const RunRecord& record) {
  if (!several_gpus(record)) return "";
  constexpr const char* kOfOne = "numbers are of one GPU unless they say otherwise";
  const std::int64_t each = record.device.gpus_per_replica;
  if (record.ffn_gpus) {
    const std::int64_t groups = record.gpus / each;
    const std::string attend =
        each == 1 ? fmt::format("{} that attend", record.gpus)
                  : fmt::format("{} that attend in {} ({})", record.gpus,
                                groups == 1 ? "one group" : fmt::format("{} groups", groups),
                                sharing_text(record.device));
    return fmt::format(
        "gpus       {}, and {} the MLPs for all of them; the batch is of {}, other {}\n", attend,
        *record.ffn_gpus == 1 ? "1 that has" : fmt::format("{} that have", *record.ffn_gpus),
        each == 1 ? "a GPU that attends" : "a group", kOfOne);
  }
  if (each == 1)
    return fmt::format("gpus       {}, each with a step of its own; {}\n", record.gpus, kOfOne);
  const std::int64_t replicas = record.gpus / each;
  const std::string share =
      replicas == 1 ? "which share one model"
                    : fmt::format("{} replicas of {}, each with a step of its own", replicas, each);
  return fmt::format("gpus       {}, {} ({}); batch and step are of a replica, other {}\n",
                     record.gpus, share, sharing_text(record.device), kOfOne);
}

std::string speed_text(const RunRecord& record) {
  const auto value = [&](const char* name) { return record.metrics.at(name).value; };
  const auto time = [&](const char* name) {
    return time_text(value(name)) + interval_text(record.metrics.at(name).ci95, time_text);
  };
  const double throughput = value("throughput_tokens_per_s");
  std::string out = fmt::format(
      "step       {}   bound {} ({:.2f} of the step), bounded by {}\n", time("step_time_s"),
      time("bound_s"), value("bound_s") / value("step_time_s"), printable(record.bounded_by));
  out += fmt::format("throughput {} tokens/s{}", number_text(throughput),
                     interval_text(record.metrics.at("throughput_tokens_per_s").ci95, number_text));
  const std::int64_t each = record.device.gpus_per_replica;
  if (several_gpus(record)) out += " on all GPUs";
  if (record.ffn_gpus)
    out += fmt::format(
        ", {} a GPU\nbusy       GPUs that attend {} of the step, those with the MLPs {}",
        number_text(throughput / static_cast<double>(record.gpus + *record.ffn_gpus)),
        share_text(value("attention_gpu_busy")), share_text(value("ffn_gpu_busy")));
  else if (record.gpus > each)
    out += fmt::format(
        ", {} on each{}",
        number_text(throughput * static_cast<double>(each) / static_cast<double>(record.gpus)),
        each == 1 ? "" : " replica");
  if (record.metrics.contains("acceptance_length"))
    out += fmt::format(
        "\ndrafts     {} tokens a step and sequence; {} of the step drafts; {} times as fast as "
        "without",
        number_text(value("acceptance_length")), time_text(value("draft_time_s")),
        number_text(value("speculation_speedup")));
  return out + fmt::format("\ncapacity   largest batch {:.0f}{} at this context\n",
                           value("max_batch"),
                           record.ffn_gpus ? each == 1 ? " of a GPU that attends" : " of a group"
                           : each == 1     ? ""
                                           : " of a replica");
}

// Empty where the devices state no energy.
std::string costs_text(const RunRecord& record) {
  std::string out;
  const auto line = [&](const char* title, const char* metric, const char* unit) {
    const auto it = record.metrics.find(metric);
    if (it == record.metrics.end()) return;
    out += fmt::format("{} {} {}{} (class {})\n", title, number_text(it->second.value), unit,
                       interval_text(it->second.ci95, number_text), name(it->second.number_class));
  };
  line("energy    ", "energy_j_per_token", "J a token");
  line("cost      ", "cost_usd_per_mtoken", "USD a million tokens");
  if (out.empty() || record.costs_unstated.empty()) return out;
  return out + "           not stated, so left out: " + printable(join(record.costs_unstated)) +
         '\n';
}

// Time of each kernel family, and its class: measured, fitted, specified or assumed.
std::string kernels_text(const RunRecord& record) {
  if (record.kernel_times.empty()) return "";
  Table table{.title = "Kernels of the step, by family",
              .columns = {{"family", Align::left},
                          {"time"},
                          {"basis", Align::left},
                          {"class", Align::left},
                          {"source", Align::left}}};
  const bool drawn = std::ranges::any_of(
      record.kernel_times, [](const KernelTimeRecord& kernel) { return kernel.ci95.has_value(); });
  if (drawn) table.columns.insert(table.columns.begin() + 2, {"95 %", Align::left});
  for (const KernelTimeRecord& kernel : record.kernel_times) {
    std::vector<std::string> cells{kernel.family, time_text(kernel.seconds), kernel.basis,
                                   std::string(name(kernel.number_class)),
                                   printable(kernel.source)};
    if (drawn)
      cells.insert(cells.begin() + 2, kernel.ci95
                                          ? fmt::format("{} to {}", time_text(kernel.ci95->low),
                                                        time_text(kernel.ci95->high))
                                          : "-");
    table.add(std::move(cells));
  }
  return to_text(table) + '\n';
}

}  // namespace

std::string summary_text(const RunRecord& record) {
  if (record.serving) return serving_summary_text(record);
  const std::string gpu = several_gpus(record) ? " (GPU 0)" : "";
  return fmt::format("{}  (run {})\n\n", printable(record.name), record.run_id.substr(0, 12)) +
         gpus_text(record) + speed_text(record) + costs_text(record) + '\n' +
         shares_text("Where the time of the step goes" + gpu, "part", record.time_split) +
         kernels_text(record) +
         shares_text("Critical path of the step without contention", "cause", record.bound_shares) +
         footprint_text(record) + traffic_text(record) + trust_line(record);
}

}  // namespace tiersim
