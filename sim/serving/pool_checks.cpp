#include "sim/serving/pool_checks.hpp"

namespace tiersim {

void PoolChecks::check(bool ok, std::string_view path, std::string_view message,
                       std::string_view hint) {
  if (ok) return;
  const bool own = path.starts_with("system") || path.starts_with("parallel");
  std::string at(path);
  std::string text(message);
  if (prefill_ && own)
    at = "prefill." + at;
  else if (!reported_.emplace(at, text).second)
    return;
  else if (prefill_)
    text = "in prefill, " + text;
  to_.check(false, at, text, hint);
}

}  // namespace tiersim
