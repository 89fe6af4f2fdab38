#include "kernels/campaign/physics.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace tiersim::kernels::bench {
namespace {

struct Datasheet {
  const char* part;  // part of the driver's name
  const char* source;
  double memory_bytes_per_s;
  double bf16_flops;  // dense
  double int8_ops;
  double fp32_flops;
  double l2_bytes_per_s;
};
// L2 to the multiprocessors: 5120 B a clock (A100 white paper; Hopper has the same) at the largest
// clock of the part. The data sheets do not state it, so the class is "assumed".
constexpr std::array<Datasheet, 4> kDatasheets = {{
    {"H200", "NVIDIA H200 SXM data sheet, dense", 4.8e12, 989e12, 1979e12, 67e12, 5120 * 1.98e9},
    {"GH200", "NVIDIA GH200 data sheet (HBM3e), dense", 4.9e12, 989e12, 1979e12, 67e12,
     5120 * 1.98e9},
    {"H100 80GB HBM3", "NVIDIA H100 SXM data sheet, dense", 3.35e12, 989e12, 1979e12, 67e12,
     5120 * 1.98e9},
    {"A100-SXM4-80GB", "NVIDIA A100 80 GB SXM data sheet, dense", 2.039e12, 312e12, 624e12, 19.5e12,
     5120 * 1.41e9},
}};

// Gen3 on: 8, 16, 32 GT/s a lane in 128b/130b; gen6: 64 GT/s in flits (242 of 256 bytes).
double link_bytes_per_s(int generation, int width) {
  const std::map<int, double> lane = {{3, 8e9 / 8 * 128 / 130},
                                      {4, 16e9 / 8 * 128 / 130},
                                      {5, 32e9 / 8 * 128 / 130},
                                      {6, 64e9 / 8 * 242 / 256}};
  const auto found = lane.find(generation);
  return (found == lane.end() ? lane.at(5) : found->second) * (width > 0 ? width : 16);
}

struct Demand {
  std::string peak;
  double amount = 0;
};

std::vector<Demand> demands(const Timed& timed) {
  const Work& w = timed.work;
  const auto moved = static_cast<double>(w.read_bytes + w.written_bytes);
  return {{timed.warm ? "l2" : "memory", moved},
          {"link_read", static_cast<double>(w.link_read_bytes)},
          {"link_write", static_cast<double>(w.link_written_bytes)},
          {"flops." + timed.dtype, static_cast<double>(std::max(w.flops, w.issued_flops))}};
}

std::string engineering(double value) {
  std::array<char, 32> text = {};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

}  // namespace

Peaks datasheet_peaks(const std::string& device, int link_generation, int link_width,
                      double memory_bytes_per_s) {
  Peaks peaks;
  const Datasheet* best = nullptr;
  for (const Datasheet& sheet : kDatasheets) {  // the longest name wins: GH200 also holds H200
    if (device.find(sheet.part) == std::string::npos) continue;
    if (best == nullptr || std::string(sheet.part).size() > std::string(best->part).size()) {
      best = &sheet;
    }
  }
  const auto add = [&](const char* name, double value, const char* number_class,
                       const std::string& source) {
    peaks.push_back({name, value, true, number_class, source});
  };
  if (best != nullptr) {
    add("memory", best->memory_bytes_per_s, "specification", best->source);
    add("l2", best->l2_bytes_per_s, "assumed", "5120 B a clock at the largest clock");
    for (const char* name : {"flops.bf16", "flops.fp16"}) {
      add(name, best->bf16_flops, "specification", best->source);
    }
    for (const char* name : {"flops.int8", "flops.fp8"}) {
      add(name, best->int8_ops, "specification", best->source);
    }
    add("flops.fp32", best->fp32_flops, "specification", best->source);
  } else if (memory_bytes_per_s > 0) {
    add("memory", memory_bytes_per_s, "assumed", "memory clock x bus width as the driver says");
  } else {
    throw std::runtime_error("no peak bandwidth is known of '" + device + "'");
  }
  const std::string link = link_generation > 0
                               ? "PCIe gen" + std::to_string(link_generation) + " x" +
                                     std::to_string(link_width) + ", as the driver says"
                               : "PCIe gen5 x16, taken since the driver does not say";
  const double rate = link_bytes_per_s(link_generation, link_width);
  add("link_read", rate, "specification", link + ", line rate less its coding");
  add("link_write", rate, "specification", link + ", line rate less its coding");
  return peaks;
}

Json to_json(const Peaks& peaks) {
  Json::Array out;
  for (const Peak& peak : peaks) {
    out.push_back(Json::Object{{"name", peak.name},
                               {"value", peak.value},
                               {"unit", peak.name.starts_with("flops.") ? "FLOP/s" : "B/s"},
                               {"hard", peak.hard},
                               {"class", peak.number_class},
                               {"source", peak.source}});
  }
  return out;
}

Peaks peaks_from_json(const Json& json) {
  Peaks peaks;
  for (const Json& peak : json.array()) {
    peaks.push_back({peak.at("name").text(), peak.at("value").number(), peak.at("hard").boolean(),
                     peak.at("class").text(), peak.at("source").text()});
  }
  return peaks;
}

std::vector<std::string> violations(const Timed& timed, const Peaks& peaks) {
  if (!(timed.seconds > 0)) {
    return {timed.name + ": a time of " + engineering(timed.seconds) + " s is not above zero"};
  }
  std::vector<std::string> found;
  for (const Demand& demand : demands(timed)) {
    const double rate = demand.amount / timed.seconds;
    for (const Peak& peak : peaks) {
      if (!peak.hard || peak.name != demand.peak || rate <= peak.value) continue;
      found.push_back(timed.name + ": " + engineering(demand.amount) + " in " +
                      engineering(timed.seconds) + " s is " + engineering(rate) + "/s, above the " +
                      peak.name + " peak of " + engineering(peak.value) + "/s (" + peak.source +
                      ")");
    }
  }
  return found;
}

std::vector<Share> shares(const Timed& timed, const Peaks& peaks) {
  std::vector<Share> out;
  for (const Demand& demand : demands(timed)) {
    for (const Peak& peak : peaks) {
      if (peak.name != demand.peak || demand.amount <= 0 || !(timed.seconds > 0)) continue;
      out.push_back({peak.name, peak.hard, demand.amount / timed.seconds / peak.value});
    }
  }
  return out;
}

Floor floor_of(const Timed& timed, const Peaks& peaks) {
  Floor floor;
  for (const Demand& demand : demands(timed)) {
    const Peak* best = nullptr;
    for (const Peak& peak : peaks) {
      if (peak.name == demand.peak && (best == nullptr || !peak.hard)) best = &peak;
    }
    if (best == nullptr || demand.amount / best->value <= floor.seconds) continue;
    floor = {demand.amount / best->value, best->name};
  }
  return floor;
}

}  // namespace tiersim::kernels::bench
