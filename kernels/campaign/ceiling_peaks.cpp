#include "kernels/campaign/ceiling_peaks.hpp"

#include <algorithm>

#include "kernels/campaign/record.hpp"

namespace tiersim::kernels::bench {
namespace {

void keep_best(Peaks& peaks, const std::string& name, double rate, const std::string& source) {
  for (Peak& peak : peaks) {
    if (peak.name != name) continue;
    if (rate > peak.value) {
      peak.value = rate;
      peak.source = source;
    }
    return;
  }
  peaks.push_back({name, rate, false, "measured", source});
}

}  // namespace

Peaks measured_ceilings(const Json& document) {
  Peaks peaks;
  if (document.is_null()) return peaks;
  for (const Json& entry : document.at("benchmarks").array()) {
    const Timed timed = timed_of(entry);
    if (timed.warm || !(timed.seconds > 0)) continue;
    const std::string& kernel = entry.at("kernel").text();
    const Work& w = timed.work;
    const auto rate = [&](std::int64_t amount) {
      return static_cast<double>(amount) / timed.seconds;
    };
    if (kernel == "device_copy" || kernel == "read_sum") {
      keep_best(peaks, "memory", rate(w.read_bytes + w.written_bytes), timed.name);
    } else if (kernel == "copy_engine" && w.link_read_bytes > 0) {
      keep_best(peaks, "link_read", rate(w.link_read_bytes), timed.name);
    } else if (kernel == "copy_engine") {
      keep_best(peaks, "link_write", rate(w.link_written_bytes), timed.name);
    } else if (kernel == "gemm") {
      keep_best(peaks, "flops.bf16", rate(w.flops), timed.name);
    }
  }
  return peaks;
}

}  // namespace tiersim::kernels::bench
