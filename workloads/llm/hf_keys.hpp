#pragma once
// The keys of a Hugging Face config.json, read by name. All mistakes are collected; an unread key
// that may be a size is one of them.
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
  /// Problems of the whole text are returned by problems(); every key is then missing.
  HfKeys(std::string shown_path, const std::string& text);
  ~HfKeys();
  HfKeys(const HfKeys&) = delete;
  HfKeys& operator=(const HfKeys&) = delete;

  bool readable() const { return readable_; }

  /// Returns 0 after a problem: the key is missing or no whole number. `hint` is for a missing key.
  std::int64_t whole(const std::string& key, const std::string& hint = {});
  /// Empty where the key is missing or null.
  std::optional<std::int64_t> whole_or_none(const std::string& key);
  bool flag(const std::string& key, bool preset);
  std::string text(const std::string& key, const std::string& preset);
  /// A list of whole numbers, or a text of them with commas; empty where the key is missing or
  /// null.
  std::vector<std::int64_t> wholes(const std::string& key);
  /// The same of texts.
  std::vector<std::string> texts(const std::string& key);
  /// A text within the mapping of the key; empty where there is none.
  std::string text_below(const std::string& key, const std::string& inner);
  /// A whole number within the mapping of the key; empty where there is none.
  std::optional<std::int64_t> whole_below(const std::string& key, const std::string& inner);
  /// Whole numbers, and a flag, likewise; empty and false where there are none.
  std::vector<std::int64_t> wholes_below(const std::string& key, const std::string& inner);
  bool flag_below(const std::string& key, const std::string& inner);
  /// The value of the key as JSON text; "null" where there is none.
  std::string json_of(const std::string& key);
  /// True where the key has a non-empty mapping or list.
  bool has_entries(const std::string& key) const;
  /// True where the key is present, even if null.
  bool has_key(const std::string& key) const;

  /// Goes on with the mapping of this key in place of the whole file: the language model of a model
  /// that also sees or hears. False where there is no such mapping.
  bool enter(const std::string& key);

  /// Marks the key as read, whatever its value.
  void ignore(const std::string& key) { asked_.insert(key); }
  /// Reports a problem when the flag is set: its effect is not modelled.
  void refuse(const std::string& key);
  /// Reports a problem at a key whose value does not fit.
  void reject(const std::string& key, const std::string& why, const std::string& hint = {});
  /// Reports a problem when `layer_types` was not read and has layers of another kind of attention.
  void reject_mixed_layers();
  /// Reports a problem for every unread key that looks like a size.
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
