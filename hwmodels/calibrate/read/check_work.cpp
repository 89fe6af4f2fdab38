// Check of bytes and FLOPs against the sizes of a case, for the kernels and families whose
// formulas are stated (work_formulas.hpp). A dry run may have sequences of different lengths, of
// which its sizes name the longest, so that its work is held to the formula as an upper limit.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"
#include "hwmodels/calibrate/read/work_formulas.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim::detail {
namespace {

constexpr double kRounding = 1e-6;  // of amounts that a file states with seven digits
constexpr std::array<double, 7> kTiles{1, 8, 16, 32, 64, 128, 256};

using Sizes = std::map<std::string, double, std::less<>>;

// Numbers from `low` to `high`, both included.
struct Span {
  double low = 0;
  double high = 0;
};

std::optional<double> value_of(const Expression& formula, const Sizes& sizes) {
  const auto value = formula.evaluate([&](std::string_view name) -> std::optional<ExpressionValue> {
    const auto found = sizes.find(name);
    if (found == sizes.end()) return std::nullopt;
    return Magnitude{found->second};
  });
  if (!value) return std::nullopt;
  const auto* number = std::get_if<Magnitude>(&*value);
  return number ? std::optional(number->value) : std::nullopt;
}

// The numbers in "wide64x128".
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> out;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) out.push_back(0);
    if (digit) out.back() = 10 * out.back() + (c - '0');
    inside = digit;
  }
  return out;
}

// A formula that was parsed, for the cases of a kernel.
class Parsed {
 public:
  explicit Parsed(const WorkFormula& formula) : formula_(&formula) {
    for (const auto& [name, text] : formula.values) values_.emplace_back(name, parse(text));
    for (const std::string_view text : formula.memory_bytes) memory_.push_back(parse(text));
    if (!formula.memory_most.empty()) most_ = parse(formula.memory_most);
    link_read_ = parse(formula.link_read_bytes);
    link_write_ = parse(formula.link_write_bytes);
    flops_ = parse(formula.flops);
  }

  // Sizes of a case with the values that follow from them.
  Sizes sizes_of(const TimingCase& timing) const {
    Sizes sizes(timing.shape.begin(), timing.shape.end());
    // A template argument is the variant of a file without types.
    const int element = element_bytes(timing.dtype.empty() ? timing.variant : timing.dtype);
    if (element > 0) sizes.emplace("element", element);
    if (timing.variant.ends_with("u16")) sizes.emplace("id_bytes", 2);
    if (timing.variant.ends_with("i32")) sizes.emplace("id_bytes", 4);
    const std::vector<double> numbers = numbers_in(timing.variant);
    if (!numbers.empty()) sizes.emplace("number1", numbers[0]);
    if (numbers.size() > 1) sizes.emplace("number2", numbers[1]);
    sizes.emplace("paged", timing.name.find("paged") != std::string::npos ? 1 : 0);
    sizes.emplace("splits", 1);
    const auto known = [&](std::string_view name) {
      const auto found = sizes.find(name);
      return found == sizes.end() ? 0.0 : found->second;
    };
    if (known("heads") > 0 && known("kv_heads") > 0)
      sizes.emplace("group", known("heads") / known("kv_heads"));
    return sizes;
  }

  std::vector<Span> memory(Sizes sizes) const {
    add_values(sizes);
    std::vector<Span> out;
    for (const Expression& each : memory_)
      if (const auto bytes = value_of(each, sizes)) out.push_back({*bytes, *bytes});
    if (most_ && !out.empty()) {
      const auto most = value_of(*most_, sizes);
      if (!most) return {};
      out.front().high = *most;
    }
    return out;
  }
  std::vector<Span> link_read(Sizes sizes) const { return one(link_read_, std::move(sizes)); }
  std::vector<Span> link_write(Sizes sizes) const { return one(link_write_, std::move(sizes)); }
  std::vector<Span> flops(const Sizes& sizes) const {
    std::vector<Span> out = one(flops_, sizes);
    const bool known = std::ranges::all_of(
        formula_->padded, [&](std::string_view name) { return sizes.contains(name); });
    if (known && !out.empty()) pad(sizes, 0, out);
    return out;
  }

  // Sizes without which neither bytes nor FLOPs have a value.
  std::vector<std::string> missing(const Sizes& sizes) const {
    std::vector<std::string> out;
    const auto look = [&](const Expression& formula) {
      for (const std::string& name : formula.names()) {
        const bool value =
            std::ranges::any_of(values_, [&](const auto& each) { return each.first == name; });
        const bool of_variant = name == "id_bytes" || name.starts_with("number");
        const std::string shown = name == "element" ? "dtype" : of_variant ? "variant" : name;
        if (!value && !sizes.contains(name) && std::ranges::find(out, shown) == out.end())
          out.push_back(shown);
      }
    };
    for (const auto& [name, formula] : values_) look(formula);
    look(memory_.front());
    if (most_) look(*most_);
    look(flops_);
    return out;
  }

 private:
  static Expression parse(std::string_view text) { return *Expression::parse(std::string(text)); }

  void add_values(Sizes& sizes) const {
    for (const auto& [name, formula] : values_)
      if (const auto value = value_of(formula, sizes)) sizes.insert_or_assign(name, *value);
  }
  std::vector<Span> one(const Expression& formula, Sizes sizes) const {
    add_values(sizes);
    const auto value = value_of(formula, sizes);
    return value ? std::vector<Span>{{*value, *value}} : std::vector<Span>{};
  }
  // Adds the FLOPs of sizes that are padded to whole tiles.
  void pad(const Sizes& sizes, std::size_t at, std::vector<Span>& out) const {
    if (at == formula_->padded.size()) {
      const std::vector<Span> padded = one(flops_, sizes);
      if (!padded.empty() && padded.front().low != out.front().low) out.push_back(padded.front());
      return;
    }
    const std::string_view name = formula_->padded[at];
    const double size = sizes.find(name)->second;
    double before = 0;
    for (const double tile : kTiles) {
      Sizes next = sizes;
      const double padded = tile * std::ceil(size / tile);
      if (padded == before) continue;
      before = padded;
      next.insert_or_assign(std::string(name), padded);
      pad(next, at + 1, out);
    }
  }

  const WorkFormula* formula_;
  std::vector<std::pair<std::string, Expression>> values_;
  std::vector<Expression> memory_;
  std::optional<Expression> most_;
  Expression link_read_ = parse("0");
  Expression link_write_ = parse("0");
  Expression flops_ = parse("0");
};

class WorkCheck {
 public:
  WorkCheck(const TimingSet& timings, Findings& findings)
      : timings_(timings), findings_(findings), dry_(timings.data_class == "none") {
    for (const TimingCase& timing : timings.cases) {
      States& states = states_[timing.kernel];
      states.memory |= timing.work.memory_bytes > 0;
      states.link_read |= timing.work.link_read_bytes > 0;
      states.link_write |= timing.work.link_write_bytes > 0;
      states.flops |= timing.work.flops > 0;
    }
  }

  void check(std::size_t index) {
    const TimingCase& timing = timings_.cases[index];
    const auto mapped = timings_.families.find(timing.kernel);
    const WorkFormula* formula = find_work_formula(
        timing.kernel, timing.variant,
        mapped == timings_.families.end() ? std::string_view() : name(mapped->second));
    if (formula == nullptr) {
      without_formula_.insert(timing.kernel);
      return;
    }
    const Parsed& parsed =
        parsed_.try_emplace({formula->name, formula->variant}, *formula).first->second;
    const Sizes sizes = parsed.sizes_of(timing);
    const std::vector<std::string> missing = parsed.missing(sizes);
    if (!missing.empty())
      without_sizes_.emplace(timing.kernel, fmt::format("{}", fmt::join(missing, ", ")));
    const States& states = states_.at(timing.kernel);
    const TimedWork& work = timing.work;
    if (states.memory) compare(index, "memory_bytes", work.memory_bytes, parsed.memory(sizes), "B");
    if (states.link_read)
      compare(index, "link_read_bytes", work.link_read_bytes, parsed.link_read(sizes), "B");
    if (states.link_write)
      compare(index, "link_write_bytes", work.link_write_bytes, parsed.link_write(sizes), "B");
    if (states.flops) compare(index, "flops", work.flops, parsed.flops(sizes), "FLOP");
  }

  void finish() {
    if (!without_formula_.empty())
      findings_.note(
          fmt::format("no formula is stated for {}: bytes and FLOPs are not checked against sizes "
                      "(--family NAME=KIND)",
                      fmt::join(without_formula_, ", ")));
    for (const auto& [kernel, sizes] : without_sizes_)
      findings_.note(
          fmt::format("{}: bytes and FLOPs are not checked against sizes, as it does not state {}",
                      kernel, sizes));
  }

 private:
  struct States {
    bool memory = false;
    bool link_read = false;
    bool link_write = false;
    bool flops = false;
  };

  void compare(std::size_t index, const char* what, double stated,
               const std::vector<Span>& expected, const char* unit) {
    if (expected.empty()) return;
    const auto holds = [&](const Span& span) {
      return stated <= span.high * (1 + kRounding) &&
             (dry_ || stated >= span.low * (1 - kRounding));
    };
    if (std::ranges::any_of(expected, holds)) return;
    const TimingCase& timing = timings_.cases[index];
    const Span& first = expected.front();
    const double factor = first.low > 0 ? stated / first.low : 0;
    std::string told = fmt::format(
        "{} is {:.0f}, but its sizes ({}) give {:.0f}{} {}", what, stated, sizes_text(timing),
        first.low, first.high > first.low ? fmt::format(" to {:.0f}", first.high) : std::string(),
        unit);
    if (factor > 0) told += fmt::format(": {:.4g} times that", factor);
    std::string rule = unit[0] == 'B' ? "bytes against sizes" : "FLOPs against sizes";
    if (const auto slip =
            unit[0] == 'B' ? byte_slip(factor, element_bytes(timing.dtype)) : std::nullopt) {
      rule = slip->rule;
      told += ", " + slip->what;
    }
    const auto place = timing.places.find(what);
    findings_.refuse(index, std::move(rule), std::move(told),
                     place == timing.places.end() ? timing.where : place->second);
  }

  static std::string sizes_text(const TimingCase& timing) {
    std::string out = timing.dtype;
    for (const auto& [name, size] : timing.shape)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, size);
    return out;
  }

  const TimingSet& timings_;
  Findings& findings_;
  bool dry_;
  std::map<std::string, States> states_;  // by kernel: the amounts that any of its cases states
  std::map<std::pair<std::string_view, std::string_view>, Parsed> parsed_;  // by name, variant
  std::set<std::string> without_formula_;
  std::map<std::string, std::string> without_sizes_;
};

}  // namespace

void check_work(const TimingSet& timings, Findings& findings) {
  if (timings.format == "nccl_tests") return;  // its reader has checked every row
  WorkCheck check(timings, findings);
  for (std::size_t i = 0; i < timings.cases.size(); ++i) check.check(i);
  check.finish();
}

}  // namespace tiersim::detail
