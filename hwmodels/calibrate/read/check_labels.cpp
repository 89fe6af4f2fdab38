// Check of a case's name against the fields beside it.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"

namespace tiersim::detail {
namespace {

// Letters that abbreviate sizes in names, with the sizes that each may mean. "*" multiplies.
struct Alias {
  std::string_view letters;
  std::array<std::string_view, 4> sizes;
};
constexpr std::array<Alias, 12> kAliases{{
    {"b", {"batch", "tokens", "rows", "m"}},
    {"s", {"context", "tokens"}},
    {"h", {"heads", "kv_heads*group"}},
    {"kv", {"kv_heads"}},
    {"d", {"latent_dim", "head_dim"}},
    {"r", {"rank", "components"}},
    {"l", {"layers"}},
    {"e", {"exit"}},
    {"w", {"width"}},
    {"n", {"n", "ranks"}},
    {"row", {"row_bytes"}},
    {"split", {"splits"}},
}};

constexpr std::string_view kSeparators = "./-";

std::vector<std::string_view> tokens(std::string_view name) {
  std::vector<std::string_view> out;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of(kSeparators), name.size());
    if (end > 0) out.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return out;
}

std::optional<std::int64_t> size_of(const TimingCase& timing, std::string_view name) {
  const std::size_t times = name.find('*');
  if (times != std::string_view::npos) {
    const auto left = size_of(timing, name.substr(0, times));
    const auto right = size_of(timing, name.substr(times + 1));
    if (!left || !right) return std::nullopt;
    return *left * *right;
  }
  const auto found = timing.shape.find(std::string(name));
  if (name.empty() || found == timing.shape.end()) return std::nullopt;
  return found->second;
}

// "b64" as letters and number; empty for "row4kb", which ends in a unit.
std::optional<std::pair<std::string_view, std::int64_t>> sized(std::string_view token) {
  const std::size_t digits = token.find_first_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
  const std::size_t end = std::min(token.find_first_not_of("0123456789", digits), token.size());
  const auto number = parse_number(token.substr(digits, end - digits));
  const std::string_view unit = token.substr(end);
  const bool plain = unit.empty() || unit == "b";
  if (!number || *number > 1e15 || (!plain && unit != "kb" && unit != "mb")) return std::nullopt;
  const double scale = plain ? 1 : (unit == "kb" ? 1024 : 1024 * 1024);
  return std::pair{token.substr(0, digits), static_cast<std::int64_t>(*number * scale)};
}

// The sizes of this case that a token may abbreviate.
std::vector<std::pair<std::string_view, std::int64_t>> meant(const TimingCase& timing,
                                                             std::string_view letters) {
  std::vector<std::pair<std::string_view, std::int64_t>> out;
  if (const auto own = size_of(timing, letters)) out.emplace_back(letters, *own);
  for (const Alias& alias : kAliases) {
    if (alias.letters != letters || !out.empty()) continue;
    for (const std::string_view size : alias.sizes) {
      if (const auto value = size_of(timing, size)) out.emplace_back(size, *value);
    }
  }
  return out;
}

void check_sizes(const TimingCase& timing, std::size_t index, Findings& findings) {
  for (const std::string_view token : tokens(timing.name)) {
    const auto parts = sized(token);
    if (!parts) continue;
    const auto sizes = meant(timing, parts->first);
    const auto same = [&](const auto& size) { return size.second == parts->second; };
    if (sizes.empty() || std::ranges::any_of(sizes, same)) continue;
    findings.refuse(index, "mislabelled",
                    fmt::format("its name says '{}', but its shape has {} = {}", token,
                                sizes.front().first, sizes.front().second));
  }
}

void check_words(const TimingCase& timing, std::size_t index, const std::set<std::string>& kernels,
                 Findings& findings) {
  const std::vector<std::string_view> parts = tokens(timing.name);
  const auto says = [&](std::string_view word) {
    return std::ranges::find(parts, word) != parts.end();
  };
  const bool warm = timing.temperature == Temperature::warm;
  if (says(warm ? "cold" : "warm") && !says(warm ? "warm" : "cold")) {
    findings.refuse(index, "mislabelled",
                    fmt::format("its name says {}, but its temperature is {}",
                                warm ? "cold" : "warm", warm ? "warm" : "cold"));
  }
  std::string_view other;
  bool own = false;
  for (const std::string_view dtype : {"bf16", "fp16", "f16", "fp32", "f32", "fp8", "int8"}) {
    if (!says(dtype)) continue;
    if (dtype == timing.dtype) own = true;
    other = dtype;
  }
  if (!own && !other.empty() && !timing.dtype.empty()) {
    findings.refuse(index, "mislabelled",
                    fmt::format("its name says {}, but its operands are {}", other, timing.dtype));
  }
  // Whole words only: 'latent_decode' does not name 'decode'. The first part names the kernel.
  const bool first = !parts.empty() && parts.front() != timing.kernel;
  const bool separated = timing.kernel.find_first_of(kSeparators) != std::string::npos;
  const bool stated =
      separated ? timing.name.find(timing.kernel) != std::string::npos : says(timing.kernel);
  for (const std::string& kernel : kernels) {
    if (kernel == timing.kernel || !(stated ? first && parts.front() == kernel : says(kernel)))
      continue;
    findings.refuse(index, "mislabelled",
                    fmt::format("its name says {}, but its kernel is {}", kernel, timing.kernel));
    return;
  }
}

}  // namespace

void check_labels(const TimingSet& timings, Findings& findings) {
  std::set<std::string> kernels;
  for (const TimingCase& timing : timings.cases) kernels.insert(timing.kernel);
  for (std::size_t i = 0; i < timings.cases.size(); ++i) {
    check_sizes(timings.cases[i], i, findings);
    check_words(timings.cases[i], i, kernels, findings);
  }
}

}  // namespace tiersim::detail
