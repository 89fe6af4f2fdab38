#include "sim/config/diagnostics.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

// All fields but the path, which differs if one file serves several settings.
auto mistake(const Diagnostic& d) {
  return std::tie(d.where.file, d.where.line, d.where.column, d.message, d.hint);
}

}  // namespace

std::string Diagnostic::text() const {
  std::string out = fmt::format("{}:{}:{}: error: ", where.file, where.line, where.column);
  // The rest may quote any text of a file.
  if (!path.empty()) out += without_long_words(path) + ": ";
  out += without_long_words(message);
  if (!hint.empty()) out += " (" + without_long_words(hint) + ')';
  return printable(out);
}

std::vector<Diagnostic> Diagnostics::list() const {
  std::vector<Diagnostic> out = all_;
  std::ranges::stable_sort(
      out, [](const Diagnostic& a, const Diagnostic& b) { return mistake(a) < mistake(b); });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return mistake(a) == mistake(b);
  };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

std::string Diagnostics::text() const {
  std::string out;
  for (const Diagnostic& diagnostic : list()) out += diagnostic.text() + '\n';
  return out;
}

}  // namespace tiersim
