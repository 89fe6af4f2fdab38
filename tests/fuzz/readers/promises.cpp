#include <algorithm>
#include <stdexcept>

#include "tests/fuzz/readers/readers.hpp"

namespace tiersim::fuzz {

void promise(bool ok, const std::string& what) {
  if (!ok) throw std::logic_error(what);
}

void expect_places(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.list()) {
    const std::string text = diagnostic.text();
    promise(diagnostic.where.line >= 1 && diagnostic.where.column >= 1, "no place: " + text);
    promise(!diagnostic.message.empty(), "no words: " + text);
    promise(std::ranges::none_of(text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }),
            "more than one line: " + text);
  }
}

std::filesystem::path shipped_configs() {
  return std::filesystem::path(TIERSIM_SOURCE_DIR) / "configs";
}

}  // namespace tiersim::fuzz
