// Checks of a single case: its interval, and the peaks of the device.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"

namespace tiersim::detail {
namespace {

// PCIe reads in completions of 256 bytes reach 52.7 of 63.0 GB/s at Gen5 x16, and the same share at
// the other generations. Devices with larger packets exceed it; none exceeds the raw rate.
constexpr double kReadModelShare = 52.7 / 63.0;

constexpr double kLongFloor = 10e-6;  // s; longer than any launch
constexpr double kSlow = 300;  // times the floor; slower than any kernel, so the unit is wrong
// A file whose times are 1000 times too long exceeds the floor and the fastest launch in all cases.
constexpr double kFastestLaunch = 1e-6;  // s
constexpr double kUnitSlip = 999;        // 1000, less rounding
constexpr std::size_t kWholeFile = 3;    // cases

std::string rate_text(double per_second, bool flops) {
  const char* unit = flops ? "TFLOP/s" : "GB/s";
  return fmt::format("{:.5g} {}", per_second / (flops ? 1e12 : 1e9), unit);
}

std::string time_text(double seconds) {
  return fmt::format("{:.5g} us", seconds * 1e6);
}

// The operand type as the names of peaks spell it.
std::string flops_name(const std::string& dtype) {
  const std::map<std::string, std::string> same{
      {"f16", "fp16"}, {"half", "fp16"}, {"bfloat16", "bf16"}, {"f32", "fp32"},   {"float", "fp32"},
      {"e4m3", "fp8"}, {"e5m2", "fp8"},  {"f64", "fp64"},      {"double", "fp64"}};
  const auto found = same.find(dtype);
  return "flops." + (found == same.end() ? dtype : found->second);
}

class Limits {
 public:
  Limits(const TimingSet& timings, Findings& findings) : timings_(timings), findings_(findings) {}

  void check(std::size_t index) {
    const TimingCase& timing = timings_.cases[index];
    if (!interval(index, timing)) return;
    memory(index, timing);
    hold(index, timing, "link_read", timing.work.link_read_bytes);
    hold(index, timing, "link_write", timing.work.link_write_bytes);
    read_model(index, timing);
    if (timing.work.flops > 0) hold(index, timing, flops_name(timing.dtype), timing.work.flops);
    add_to_slowness(index, timing);
    if (timing.work.memory_bytes + timing.work.link_read_bytes + timing.work.link_write_bytes +
            timing.work.flops <=
        0) {
      findings_.warn(index, "no work", "neither bytes nor FLOPs are known of it");
    }
  }

  void finish() {
    const bool timed = timings_.data_class != "none";  // a dry run may have any time
    if (timed && held_.size() >= kWholeFile && least_over_all_ >= kUnitSlip) {
      for (const std::size_t index : held_) {
        findings_.refuse(
            index, "unit slip",
            fmt::format("every case takes at least {:.3g} times as long as its floor and as the "
                        "fastest launch, this one {}: the times are not in the unit that the file "
                        "says",
                        least_over_all_, time_text(timings_.cases[index].seconds)));
      }
    } else if (timed && long_ > 2 && least_over_ > kSlow) {
      findings_.warn_file("unit slip",
                          fmt::format("all {} cases that move or compute for more than "
                                      "10 us take at least {:.3g} times their floor: is "
                                      "the time in the unit that the file says?",
                                      long_, least_over_));
    }
    for (const auto& [name, cases] : unheld_) {
      findings_.warn_file("no peak",
                          fmt::format("no hard peak of '{}' is known, so {} cases are not "
                                      "held against one",
                                      name, cases));
    }
  }

 private:
  bool interval(std::size_t index, const TimingCase& timing) {
    if (!(timing.seconds > 0)) {
      findings_.refuse(index, "bad interval",
                       fmt::format("a time of {} is not above 0", time_text(timing.seconds)));
      return false;
    }
    if (timing.low > 0 && timing.low <= timing.seconds && timing.seconds <= timing.high)
      return true;
    findings_.refuse(
        index, "bad interval",
        fmt::format("its median of {} is not within its interval from {} to {}, which "
                    "must be above 0",
                    time_text(timing.seconds), time_text(timing.low), time_text(timing.high)));
    return false;
  }

  // Records how far the case is above its lower bound, if that is long against a launch.
  void add_to_slowness(std::size_t index, const TimingCase& timing) {
    double floor = 0;
    const auto at_least = [&](const std::string& name, double amount) {
      const TimingPeak* limit = amount > 0 ? peak(name) : nullptr;
      if (limit != nullptr) floor = std::max(floor, amount / limit->value);
    };
    at_least(timing.temperature == Temperature::warm ? "l2" : "memory", timing.work.memory_bytes);
    at_least("link_read", timing.work.link_read_bytes);
    at_least("link_write", timing.work.link_write_bytes);
    at_least(flops_name(timing.dtype), timing.work.flops);
    if (floor <= 0) return;
    held_.push_back(index);
    least_over_all_ = std::min(least_over_all_, timing.seconds / std::max(floor, kFastestLaunch));
    if (floor < kLongFloor) return;
    ++long_;
    least_over_ = std::min(least_over_, timing.seconds / floor);
  }

  // The lowest hard peak of that name; null where there is none. A sequence of mixed types is
  // checked against the fastest type.
  const TimingPeak* peak(const std::string& name) const {
    const TimingPeak* found = nullptr;
    for (const TimingPeak& each : timings_.peaks) {
      const bool mixed = name == "flops.mixed" && each.name.starts_with("flops.");
      if (!each.hard || (each.name != name && !mixed)) continue;
      const bool better =
          found == nullptr || (mixed ? each.value > found->value : each.value < found->value);
      if (better) found = &each;
    }
    return found;
  }

  void refuse(std::size_t index, const TimingCase& timing, double amount, const TimingPeak& limit,
              const std::string& more) {
    constexpr double kFar = 10;  // no cache is this much faster than memory
    constexpr double kThousand = 1000;
    const bool flops = limit.name.starts_with("flops.");
    const double over = amount / timing.seconds / limit.value;
    const bool slip = over > kFar && over <= kThousand;
    findings_.refuse(
        index, "above the peak",
        fmt::format("{:.6g} {} in {} is {}, above the {} peak of {} ({}){}", amount,
                    flops ? "FLOP" : "B", time_text(timing.seconds),
                    rate_text(amount / timing.seconds, flops), limit.name,
                    rate_text(limit.value, flops), limit.source,
                    slip ? "; a unit slip: 1000 times that time would be possible" : more));
  }

  void hold(std::size_t index, const TimingCase& timing, const std::string& name, double amount) {
    if (amount <= 0) return;
    const TimingPeak* limit = peak(name);
    if (limit == nullptr) {
      ++unheld_[name];
    } else if (amount / timing.seconds > limit->value) {
      refuse(index, timing, amount, *limit, "");
    }
  }

  void memory(std::size_t index, const TimingCase& timing) {
    const double bytes = timing.work.memory_bytes;
    const double l2 = timings_.l2_bytes;
    if (bytes <= 0) return;
    if (timing.temperature == Temperature::warm) {
      hold(index, timing, "l2", bytes);
      if (l2 <= 0 || bytes <= l2) return;
      const TimingPeak* limit = peak("memory");
      if (limit != nullptr && (bytes - l2) / timing.seconds > limit->value) {
        refuse(index, timing, bytes - l2, *limit,
               fmt::format(": that much of its {:.6g} B does not fit in L2", bytes));
      } else if (limit != nullptr && bytes / timing.seconds > limit->value) {
        findings_.warn(
            index, "above memory's peak",
            fmt::format("{:.6g} B in {} is more than memory gives; L2 may have held {:.6g} "
                        "B of it",
                        bytes, time_text(timing.seconds), l2));
      }
      return;
    }
    const TimingPeak* limit = peak("memory");
    if (limit == nullptr) {
      ++unheld_["memory"];
      return;
    }
    if (bytes / timing.seconds <= limit->value) return;
    const TimingPeak* cache = peak("l2");
    const bool cached =
        l2 > 0 && bytes <= l2 && (cache == nullptr || bytes / timing.seconds <= cache->value);
    refuse(index, timing, bytes, *limit,
           cached ? fmt::format("; labelled cold, but its working set fits L2 ({:.6g} of {:.6g} B)",
                                bytes, l2)
                  : std::string());
  }

  void read_model(std::size_t index, const TimingCase& timing) {
    const TimingPeak* limit = peak("link_read");
    const double rate = timing.work.link_read_bytes / timing.seconds;
    const bool pcie = timings_.format != "nccl_tests";
    if (!pcie || limit == nullptr || rate > limit->value ||
        rate <= kReadModelShare * limit->value) {
      return;
    }
    findings_.warn(
        index, "above the read model",
        fmt::format("{} over the link is above the {} that reads in packets of 256 bytes "
                    "reach, and below its raw {}",
                    rate_text(rate, false), rate_text(kReadModelShare * limit->value, false),
                    rate_text(limit->value, false)));
  }

  const TimingSet& timings_;
  Findings& findings_;
  std::map<std::string, int> unheld_;
  std::vector<std::size_t> held_;  // cases with a lower bound
  double least_over_all_ = std::numeric_limits<double>::infinity();
  int long_ = 0;
  double least_over_ = std::numeric_limits<double>::infinity();
};

}  // namespace

void check_limits(const TimingSet& timings, Findings& findings) {
  Limits limits(timings, findings);
  for (std::size_t i = 0; i < timings.cases.size(); ++i) limits.check(i);
  limits.finish();
}

}  // namespace tiersim::detail
