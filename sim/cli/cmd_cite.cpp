// tiersim cite: BibTeX of this program, from CITATION.cff as the program was built with it.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/version.hpp"
#include "sim/cli/command_line.hpp"

namespace tiersim {
std::string_view embedded_CITATION_cff();
}

namespace tiersim::cli {
namespace {

// The value of a line `key: value` or `  - key: value`, without its quotes; empty where there is
// none.
std::string citation_value(std::string_view key) {
  const std::string_view text = embedded_CITATION_cff();
  const std::string begin = fmt::format("{}: ", key);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    line.remove_prefix(std::min(line.find_first_not_of(" -"), line.size()));
    if (!line.starts_with(begin)) continue;
    line.remove_prefix(begin.size());
    if (line.size() > 1 && line.front() == '"') line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  return "";
}

ExitCode cite() {
  fmt::print("@software{{tiersim,\n  title   = {{{{{}}}}},\n  author  = {{{{{}}}}},\n",
             citation_value("title"), citation_value("name"));
  fmt::print("  version = {{{}}},\n", kVersion);
  if (const std::string released = citation_value("date-released"); !released.empty())
    fmt::print("  year    = {{{}}},\n", released.substr(0, 4));
  fmt::print("  license = {{{}}}\n}}\n", citation_value("license"));
  return ExitCode::ok;
}

}  // namespace

void add_cite(Verb program) {
  program.add("cite", "Print a BibTeX entry of this program").on_chosen(cite);
}

}  // namespace tiersim::cli
