#pragma once
// Which values of a configuration differ from one reading of it to the next: keys in a tree. A
// branch that ends stands for the whole value there.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tiersim {

class ChangedKeys {
 public:
  /// The value at the dotted path, as --set takes it.
  void add(std::string_view path);

  /// Null where nothing at this key or below it differs.
  const ChangedKeys* find(std::string_view key) const {
    for (const auto& [name, keys] : below_)
      if (name == key) return &keys;
    return nullptr;
  }
  /// Whether all of the value may differ, not only what is below some of its keys.
  bool whole() const { return whole_; }
  bool empty() const { return below_.empty() && !whole_; }
  const std::vector<std::pair<std::string, ChangedKeys>>& below() const { return below_; }

 private:
  std::vector<std::pair<std::string, ChangedKeys>> below_ = {};
  bool whole_ = false;
};

}  // namespace tiersim
