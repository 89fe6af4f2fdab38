#include "hwmodels/calibrate/table/named_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tiersim::detail {
namespace {

// The search that the standard library does by default recurses for each character of a name, and
// takes time that is exponential in its length for patterns such as (a*)*b. This one of libstdc++
// follows all ways through the pattern at the same time: polynomial, and the longest match counts.
constexpr auto kSearch = std::regex::ECMAScript | std::regex_constants::__polynomial;
constexpr std::size_t kLongestName = 2048;     // the rest of a longer one is not searched
constexpr std::size_t kLongestPattern = 1000;  // the parser recurses for each bracket
constexpr double kMostRepeats = 32;            // counts in braces copy what they repeat
constexpr std::size_t kLongestShown = 60;
constexpr std::size_t kMostShown = 8;

std::string shown(const std::string& name) {
  return name.size() <= kLongestShown ? name : name.substr(0, kLongestShown) + "...";
}

// "$2" with the second group of a match; nothing else is replaced.
std::string filled(const std::string& text, const std::smatch& match) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool group =
        text[i] == '$' && i + 1 < text.size() && text[i + 1] >= '1' && text[i + 1] <= '9';
    if (!group) {
      out += text[i];
      continue;
    }
    out += match.str(static_cast<std::size_t>(text[++i] - '0'));
  }
  return out;
}

// The product of all counts in braces, as of nested ones: 6 for a{2}b{1,3}.
double repeats_in(const std::string& pattern) {
  double out = 1;
  for (std::size_t at = pattern.find('{'); at != std::string::npos; at = pattern.find('{', at)) {
    const std::size_t end = std::min(pattern.find('}', at), pattern.size());
    const bool literal = at > 0 && pattern[at - 1] == '\\';
    double most = 1;
    for (++at; at < end; ++at) {
      double count = 0;
      for (; at < end && pattern[at] >= '0' && pattern[at] <= '9'; ++at)
        count = 10 * count + (pattern[at] - '0');
      most = std::max(most, count);
    }
    if (!literal) out *= most;
  }
  return out;
}

}  // namespace

std::optional<std::string> mistake_in_pattern(const std::string& pattern) {
  if (pattern.size() > kLongestPattern)
    return fmt::format("it is longer than {} characters", kLongestPattern);
  if (repeats_in(pattern) > kMostRepeats)
    return fmt::format("its counts in braces repeat more than {} times", kMostRepeats);
  try {
    const std::regex parsed(pattern, kSearch);
    return std::nullopt;
  } catch (const std::regex_error& error) {
    return error.what();
  }
}

std::size_t groups_in(const std::string& pattern) {
  return std::regex(pattern, kSearch).mark_count();
}

NamedRowRules::NamedRowRules(const std::vector<NamedRows>& rules) {
  for (const NamedRows& config : rules) {
    Rule rule{.config = &config, .pattern = {}, .where = {}};
    if (!config.matches.empty()) rule.pattern = std::regex(config.matches, kSearch);
    if (!config.where.empty()) rule.where = *Expression::parse(config.where);
    rules_.push_back(std::move(rule));
  }
}

bool NamedRowRules::give(const std::string& column) const {
  return !rules_.empty() && std::ranges::all_of(rules_, [&](const Rule& rule) {
    return rule.config->is.contains(column);
  });
}

std::optional<NamedRowRules::Texts> NamedRowRules::texts_of(const std::string& name,
                                                            const Expression::Lookup& columns) {
  const std::string searched = name.substr(0, kLongestName);
  for (Rule& rule : rules_) {
    std::smatch match;
    if (rule.pattern ? !std::regex_search(searched, match, *rule.pattern)
                     : name != rule.config->name)
      continue;
    if (rule.where) {
      const auto holds = rule.where->evaluate(columns);
      const bool* truth = holds ? std::get_if<bool>(&*holds) : nullptr;
      if (truth == nullptr || !*truth) continue;
    }
    ++rule.rows;
    Texts out;
    for (const auto& [column, text] : rule.config->is)
      out.emplace(column, rule.pattern ? filled(text, match) : text);
    return out;
  }
  ++unnamed_[name];
  return std::nullopt;
}

std::vector<std::string> NamedRowRules::notes() const {
  std::vector<std::string> out;
  int rows = 0;
  for (const auto& [name, count] : unnamed_) rows += count;
  if (rows > 0)
    out.push_back(
        fmt::format("{} rows of {} names follow no rule of 'kernels' and are left out: {}", rows,
                    unnamed_.size(), some_of(unnamed_, kMostShown)));
  for (const Rule& rule : rules_) {
    if (rule.rows > 0) continue;
    const NamedRows& config = *rule.config;
    out.push_back(fmt::format("no row follows the rule '{}'{}",
                              shown(config.name.empty() ? config.matches : config.name),
                              config.where.empty() ? "" : " where " + config.where));
  }
  return out;
}

std::string some_of(const std::map<std::string, int>& names, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  for (const auto& [name, rows] : names) {
    if (count++ == most) return out + ", ...";
    out += (out.empty() ? "" : ", ") + shown(name);
  }
  return out;
}

}  // namespace tiersim::detail
