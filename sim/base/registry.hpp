#pragma once
// Factories by name, registered explicitly. There are no static constructors, so nothing depends on
// link order and nothing is dropped from a static library. CMake generates the
// register_all_<name>.cpp that fills a registry.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/check.hpp"

namespace tiersim {

/// Entry is the type that each kind registers (a factory, a schema, a one-line summary). Iteration
/// is in order of name.
template <class Entry>
class Registry {
 public:
  void add(std::string_view kind, Entry entry) {
    const bool inserted = entries_.emplace(std::string(kind), std::move(entry)).second;
    TS_EXPECTS(inserted, kind);
  }
  /// nullptr if there is no such kind.
  const Entry* find(std::string_view kind) const {
    const auto it = entries_.find(kind);
    return it == entries_.end() ? nullptr : &it->second;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [kind, entry] : entries_) out.push_back(kind);
    return out;
  }
  const std::map<std::string, Entry, std::less<>>& entries() const& { return entries_; }
  void entries() const&& = delete;  // would dangle in `for (... : make_library().entries())`

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace tiersim
