// Check for duplicates: of two times of the same case, neither can be preferred.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::detail {
namespace {

auto identity(const TimingCase& timing) {
  const TimedWork& work = timing.work;
  return std::tuple(timing.kernel, timing.variant, timing.dtype, timing.shape, timing.temperature,
                    timing.baseline, timing.tail, timing.bytes_in_flight,
                    std::tuple(work.memory_bytes, work.link_read_bytes, work.link_write_bytes,
                               work.requested_bytes, work.flops));
}

bool differ(const TimingCase& a, const TimingCase& b, double errors) {
  const double noise = std::max(log_noise(a), log_noise(b)) * 1.4142;
  const double apart =
      portable_log(std::max(a.seconds, b.seconds) / std::min(a.seconds, b.seconds));
  const bool beyond = a.low > b.high || b.low > a.high;
  return beyond && apart > kModelMargin + errors * noise;
}

}  // namespace

void check_duplicates(const TimingSet& timings, Findings& findings) {
  std::map<decltype(identity(timings.cases.front())), std::vector<std::size_t>> same;
  for (std::size_t i = 0; i < timings.cases.size(); ++i) {
    if (timings.cases[i].seconds > 0) same[identity(timings.cases[i])].push_back(i);
  }
  const double errors = standard_errors(timings.cases.size());
  for (const auto& [key, all] : same) {
    for (std::size_t later = 1; later < all.size(); ++later) {
      const TimingCase& a = timings.cases[all.front()];
      const TimingCase& b = timings.cases[all[later]];
      const std::string both =
          fmt::format("the same kernel, sizes and work as '{}' at {}", a.name, a.where);
      const bool equal = a.seconds == b.seconds && a.low == b.low && a.high == b.high;
      if (equal) {
        findings.refuse(all[later], "duplicate", both + ", with the same time: one row twice");
      } else if (a.name == b.name || differ(a, b, errors)) {
        for (const auto& [index, mine, other] :
             {std::tuple(all.front(), a, b), std::tuple(all[later], b, a)}) {
          findings.refuse(
              index, "duplicate",
              fmt::format("{:.5g} us, but {:.5g} us for the same kernel, sizes and work at "
                          "{}",
                          mine.seconds * 1e6, other.seconds * 1e6, other.where));
        }
      } else {
        findings.warn(all[later], "duplicate", both + ", within their noise");
      }
    }
  }
}

}  // namespace tiersim::detail
