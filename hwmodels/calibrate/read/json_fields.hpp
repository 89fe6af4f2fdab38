#pragma once
// The members of one JSON object, asked for by name. A member that is missing or of another kind is
// a mistake, and so is, at the end, one that nobody asked for:
//
//  JsonFields peak(node, "context.peaks[0]", file, diagnostics);
//  const double value = peak.number("value", 0);
//  peak.finish();  // unknown key 'vaule' (did you mean 'value'?)
//
// After a mistake a value is 0, empty or false; the diagnostics say that nothing is to be used.
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/json_node.hpp"

namespace tiersim {

class JsonFields {
 public:
  /// The node, file and diagnostics must outlive this. `node` may be null: said already.
  JsonFields(const JsonNode* node, std::string path, const std::string& file,
             Diagnostics& diagnostics);

  bool has(std::string_view key) const;
  std::string text(const std::string& key);
  double number(const std::string& key, double least);
  std::int64_t whole(const std::string& key, std::int64_t least);
  bool flag(const std::string& key);
  std::string choice(const std::string& key, std::initializer_list<std::string_view> allowed);
  JsonFields object(const std::string& key);
  std::vector<JsonFields> list(const std::string& key);
  /// A list of whole numbers.
  std::vector<std::int64_t> wholes(const std::string& key, std::int64_t least);
  /// Whole numbers by name.
  std::map<std::string, std::int64_t> sizes(const std::string& key);
  /// These must be there and are not looked at.
  void skip(std::initializer_list<const char*> keys);
  /// The members that nobody has asked for yet, in the order of the file; they count as asked for.
  std::vector<std::string> rest();
  /// Reports what nobody asked for.
  void finish();

  /// Reports a mistake at member `key`, or at the object itself where it has none.
  void fail(const std::string& key, std::string message, std::string hint = {});
  const std::string& path() const { return path_; }
  int line() const;

 private:
  const JsonNode* want(const std::string& key, JsonNode::Kind kind, const char* what);
  std::string path_of(const std::string& key) const;

  const JsonNode* node_;
  std::string path_;
  const std::string* file_;
  Diagnostics* diagnostics_;
  std::vector<std::string> asked_;
};

}  // namespace tiersim
