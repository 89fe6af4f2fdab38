#pragma once
// The keys of a Hugging Face config.json as they are asked for: every mistake is kept, and what was
// not asked for and may be a size is one.
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

class HfKeys {
 public:
  /// Problems of the text as a whole are found in problems(); every key is missing then.
  HfKeys(std::string shown_path, const std::string& text);
  ~HfKeys();
  HfKeys(const HfKeys&) = delete;
  HfKeys& operator=(const HfKeys&) = delete;

  bool readable() const { return readable_; }

  /// 0 after a problem: the key is missing, or no whole number. A missing key has the hint.
  std::int64_t whole(const std::string& key, const std::string& hint = {});
  /// None where the key is missing or null.
  std::optional<std::int64_t> whole_or_none(const std::string& key);
  bool flag(const std::string& key, bool preset);
  std::string text(const std::string& key, const std::string& preset);
  /// A list of whole numbers; empty where the key is missing or null.
  std::vector<std::int64_t> wholes(const std::string& key);
  /// A text in the mapping of the key; empty where there is none.
  std::string text_below(const std::string& key, const std::string& inner);
  /// A whole number in the mapping of the key; none where there is none.
  std::optional<std::int64_t> whole_below(const std::string& key, const std::string& inner);
  /// Whether the key has a mapping or list with something in it.
  bool has_entries(const std::string& key) const;
  /// Whether the key is there, if only as null.
  bool has_key(const std::string& key) const;

  /// Asked for, whatever it says.
  void ignore(const std::string& key) { asked_.insert(key); }
  /// A problem when the flag is set: what it adds is not modelled.
  void refuse(const std::string& key);
  /// A problem at a key whose value does not fit.
  void reject(const std::string& key, const std::string& why, const std::string& hint = {});
  /// A problem when `layer_types` says that some layers attend in another way.
  void reject_mixed_layers();
  /// A problem for every key that was not asked for and looks like a size.
  void reject_unknown_sizes();

  const std::vector<ImportProblem>& problems() const { return problems_; }

 private:
  struct Json;

  std::string shown_path_;
  std::unique_ptr<Json> json_;
  bool readable_ = false;
  std::set<std::string> asked_;
  std::vector<ImportProblem> problems_;
};

}  // namespace tiersim
