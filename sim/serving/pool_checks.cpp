#include "sim/serving/pool_checks.hpp"

namespace tiersim {

void PoolChecks::check(bool ok, std::string_view path, std::string_view message,
                       std::string_view hint) {
  if (ok) return;
  const bool own = path.starts_with("system") || path.starts_with("parallel");
  std::string at(path);
  std::string text(message);
  std::string how(hint);
  if (prefill_) {
    for (const std::string_view key : {"system.", "parallel."})
      for (std::size_t i = how.find(key); i != std::string::npos; i = how.find(key, i + 16))
        how.insert(i, "prefill.");
  }
  if (prefill_ && own)
    at = "prefill." + at;
  else if ((prefill_ && at == "server.host.workers") ||  // more than its replicas are idle
           !reported_.emplace(at, text).second)
    return;
  else if (prefill_)
    text = "in prefill, " + text;
  to_.check(false, at, text, how);
}

}  // namespace tiersim
