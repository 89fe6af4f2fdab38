// Check of bytes against sizes. If the bytes of all cases of a kernel but one are exactly a
// constant times the product of their sizes, that one is wrong, and its factor tells the mistake:
// an element count, bits for bytes, or KB where the others use KiB. If the bytes of all cases are
// exactly the product, and operands take several bytes, all are element counts.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"

namespace tiersim::detail {
namespace {

constexpr double kExact = 1e-9;      // rounding of a division
constexpr double kSlipExact = 1e-6;  // a slip's factor, against bytes by formula
constexpr std::size_t kProof = 3;    // number of sizes that must agree

bool near(double a, double b, double within = kExact) {
  return std::abs(a - b) <= within * std::abs(b);
}

// The product of the sizes; empty where a size is 0 or already in bytes.
std::optional<double> product(const TimingCase& timing) {
  double out = 1;
  for (const auto& [name, size] : timing.shape) {
    if (size <= 0 || name.find("bytes") != std::string::npos) return std::nullopt;
    out *= static_cast<double>(size);
  }
  if (timing.shape.empty()) return std::nullopt;
  return out;
}

struct Ratio {
  std::size_t index = 0;
  double value = 0;  // bytes over the product of sizes
  double product = 0;
};

void check_group(const TimingSet& timings, const std::vector<Ratio>& ratios, Findings& findings) {
  std::vector<double> values;
  for (const Ratio& ratio : ratios) values.push_back(ratio.value);
  std::ranges::sort(values);
  const double common = values[values.size() / 2];
  std::map<double, int> sizes;  // products of the sizes that agree, with their counts
  std::vector<Ratio> others;
  for (const Ratio& ratio : ratios) {
    if (near(ratio.value, common)) {
      ++sizes[ratio.product];
    } else {
      others.push_back(ratio);
    }
  }
  const int element = element_bytes(timings.cases[ratios.front().index].dtype);
  if (others.empty() && near(common, 1) && element > 1 && sizes.size() > 1) {
    for (const Ratio& ratio : ratios) {
      if (findings.refused_for(ratio.index, "elements for bytes")) continue;
      findings.refuse(
          ratio.index, "elements for bytes",
          fmt::format("its {:.0f} bytes are the product of its sizes, {:.0f}: elements of {} "
                      "B, not bytes",
                      ratio.value * ratio.product, ratio.product, element));
    }
    return;
  }
  if (sizes.size() < kProof || others.size() >= sizes.size()) return;
  for (const Ratio& ratio : others) {
    if (findings.refused_for(ratio.index, "bytes against sizes")) continue;
    const double expected = common * ratio.product;
    const double bytes = ratio.value * ratio.product;
    const std::string told = fmt::format(
        "{} other sizes move {:.6g} B for each of the product of their sizes, which is "
        "{:.0f} B here; it says {:.0f} B",
        sizes.size(), common, expected, bytes);
    if (const auto slip = byte_slip(bytes / expected, element)) {
      if (findings.refused_for(ratio.index, slip->rule)) continue;
      findings.refuse(ratio.index, slip->rule, told + ", " + slip->what);
    } else {
      findings.warn(ratio.index, "bytes against sizes", told);
    }
  }
}

// A kernel that moves bytes at all other sizes must also move some at this one.
void check_missing(const TimingSet& timings, Findings& findings) {
  struct Group {
    std::size_t with = 0;
    std::vector<std::size_t> without;
  };
  std::map<std::tuple<std::string, std::string>, Group> groups;
  for (std::size_t i = 0; i < timings.cases.size(); ++i) {
    const TimingCase& timing = timings.cases[i];
    const bool empty =
        std::ranges::any_of(timing.shape, [](const auto& s) { return s.second == 0; });
    Group& group = groups[{timing.kernel, timing.variant}];
    if (timing.work.memory_bytes > 0) ++group.with;
    if (timing.work.memory_bytes <= 0 && !empty) group.without.push_back(i);
  }
  for (const auto& [key, group] : groups) {
    if (group.without.size() != 1 || group.with < kProof) continue;
    findings.refuse(group.without.front(), "no bytes",
                    fmt::format("it moves 0 bytes of memory, each of the {} other cases of '{}' "
                                "some",
                                group.with, std::get<0>(key)));
  }
}

}  // namespace

std::optional<ByteSlip> byte_slip(double factor, int element) {
  for (const int size : {2, 4, 8}) {
    const bool possible = element == 0 || element == size;
    if (!possible || !near(factor * size, 1, kSlipExact)) continue;
    return ByteSlip{"elements for bytes",
                    fmt::format("1/{} of it: the count of elements of {} B", size, size)};
  }
  if (near(factor, 8, kSlipExact)) return ByteSlip{"bits for bytes", "8 times it: bits"};
  double power = 1;
  for (const char* unit : {"KB", "MB", "GB"}) {
    power *= 1.024;
    for (const double ratio : {power, 1 / power}) {
      if (near(factor, ratio, kSlipExact)) {
        return ByteSlip{"KB against KiB", fmt::format("{:.6g} times it: {} against {}iB", factor,
                                                      unit, std::string(unit, 1))};
      }
    }
  }
  return std::nullopt;
}

void check_byte_formulas(const TimingSet& timings, Findings& findings) {
  if (timings.format == "nccl_tests") return;  // its reader has checked every row
  for (double TimedWork::*const member : {&TimedWork::memory_bytes, &TimedWork::link_read_bytes}) {
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<Ratio>> groups;
    for (std::size_t i = 0; i < timings.cases.size(); ++i) {
      const TimingCase& timing = timings.cases[i];
      const auto sizes = product(timing);
      const double bytes = timing.work.*member;
      if (!sizes || bytes <= 0) continue;
      groups[{timing.kernel, timing.variant, timing.dtype}].push_back({i, bytes / *sizes, *sizes});
    }
    for (const auto& [key, ratios] : groups) check_group(timings, ratios, findings);
  }
  check_missing(timings, findings);
}

}  // namespace tiersim::detail
