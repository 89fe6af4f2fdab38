#include "sim/config/changed_keys.hpp"

#include <algorithm>

namespace tiersim {

void ChangedKeys::add(std::string_view path) {
  ChangedKeys* at = this;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view key = path.substr(0, dot);
    auto it = std::ranges::find(at->below_, key, &std::pair<std::string, ChangedKeys>::first);
    if (it == at->below_.end()) {
      at->below_.emplace_back(std::string(key), ChangedKeys());
      it = at->below_.end() - 1;
    }
    at = &it->second;
    path.remove_prefix(std::min(path.size(), dot + 1));
  }
  at->whole_ = true;
}

}  // namespace tiersim
