#pragma once
// The members of one JSON object, read by name. A missing member or one of another kind is a
// mistake; a member that was never read is reported by finish():
//
//  JsonFields peak(node, "context.peaks[0]", file, diagnostics);
//  const double value = peak.number("value", 0);
//  peak.finish();  // unknown key 'vaule' (did you mean 'value'?)
//
// After a mistake the value is 0, empty or false; the caller checks the diagnostics before using
// it.
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/json_node.hpp"

namespace tiersim {

class JsonFields {
 public:
  /// The document, file and diagnostics must outlive this object. The node is a default one where
  /// an earlier mistake was reported.
  JsonFields(JsonNode node, std::string path, const std::string& file, Diagnostics& diagnostics);

  bool has(std::string_view key) const;
  std::string text(const std::string& key);
  double number(const std::string& key, double least);
  std::int64_t whole(const std::string& key, std::int64_t least);
  bool flag(const std::string& key);
  std::string choice(const std::string& key, std::initializer_list<std::string_view> allowed);
  JsonFields object(const std::string& key);
  std::vector<JsonFields> list(const std::string& key);
  /// A list of whole numbers of at least `least`.
  std::vector<std::int64_t> wholes(const std::string& key, std::int64_t least);
  /// An object of whole numbers by name.
  std::map<std::string, std::int64_t> sizes(const std::string& key);
  /// These members must exist; their values are ignored.
  void skip(std::initializer_list<const char*> keys);
  /// The members that were not read so far, in the order of the file; they then count as read.
  std::vector<std::string> rest();
  /// Reports the members that were never read.
  void finish();

  /// Reports a mistake at member `key`, or at the object itself where it lacks the member.
  void fail(const std::string& key, std::string message, std::string hint = {});
  const std::string& path() const { return path_; }
  /// "timing.json:12:3"; of a member, where the object has it.
  std::string place(const std::string& key = {}) const;

 private:
  JsonNode want(const std::string& key, JsonNode::Kind kind, const char* what);
  std::string path_of(const std::string& key) const;

  JsonNode node_;
  std::string path_;
  const std::string* file_;
  Diagnostics* diagnostics_;
  std::vector<std::string> asked_;
};

}  // namespace tiersim
