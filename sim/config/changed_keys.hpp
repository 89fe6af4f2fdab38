#pragma once
// The values of a configuration that differ from one reading of it to the next, as a tree of keys.
// A leaf stands for the whole value at its path.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tiersim {

class ChangedKeys {
 public:
  /// The value at the dotted path, as --set takes it.
  void add(std::string_view path);

  /// nullptr if nothing at this key or below it differs.
  const ChangedKeys* find(std::string_view key) const {
    for (const auto& [name, keys] : below_)
      if (name == key) return &keys;
    return nullptr;
  }
  /// True where the whole value may differ, not only the values below some of its keys.
  bool whole() const { return whole_; }
  bool empty() const { return below_.empty() && !whole_; }
  const std::vector<std::pair<std::string, ChangedKeys>>& below() const { return below_; }

 private:
  std::vector<std::pair<std::string, ChangedKeys>> below_ = {};
  bool whole_ = false;
};

}  // namespace tiersim
