#include "hwmodels/calibrate/read/json_fields.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {
namespace {

std::string named(std::string_view name) {
  return fmt::format("'{}'", name);
}

}  // namespace

JsonFields::JsonFields(JsonNode node, std::string path, const std::string& file,
                       Diagnostics& diagnostics)
    : node_(node), path_(std::move(path)), file_(&file), diagnostics_(&diagnostics) {
  if (!node_ || node_.kind() == JsonNode::Kind::object) return;
  fail("", fmt::format("this must be an object, not {}", node_.shown()));
  node_ = {};
}

std::string JsonFields::path_of(const std::string& key) const {
  if (key.empty() || path_.empty()) return path_ + key;
  return path_ + '.' + key;
}

std::string JsonFields::place(const std::string& key) const {
  JsonNode at = node_ && !key.empty() ? node_.find(key) : node_;
  if (!at) at = node_;
  return at ? fmt::format("{}:{}:{}", *file_, at.line(), at.column()) : *file_ + ":1:1";
}

void JsonFields::fail(const std::string& key, std::string message, std::string hint) {
  JsonNode at = node_ && !key.empty() ? node_.find(key) : node_;
  if (!at) at = node_;
  Location where{*file_};
  if (at) where = {*file_, at.line(), at.column()};
  diagnostics_->report({where, std::move(message), std::move(hint), path_of(key)});
}

bool JsonFields::has(std::string_view key) const {
  return node_ && node_.find(key);
}

JsonNode JsonFields::want(const std::string& key, JsonNode::Kind kind, const char* what) {
  asked_.push_back(key);
  if (!node_) return {};
  const JsonNode found = node_.find(key);
  if (!found) {
    fail("", fmt::format("'{}' is missing ({})", key, what));
    return {};
  }
  if (found.kind() == kind) return found;
  fail(key, fmt::format("this must be {}, not {}", what, found.shown()));
  return {};
}

std::string JsonFields::text(const std::string& key) {
  const JsonNode found = want(key, JsonNode::Kind::text, "a text");
  return found ? std::string(found.text()) : std::string();
}

double JsonFields::number(const std::string& key, double least) {
  const JsonNode found = want(key, JsonNode::Kind::number, "a number");
  if (!found) return 0;
  if (found.number() >= least) return found.number();
  fail(key, fmt::format("{} is below {:g}", found.shown(), least));
  return 0;
}

std::int64_t JsonFields::whole(const std::string& key, std::int64_t least) {
  const JsonNode found = want(key, JsonNode::Kind::number, "a whole number");
  if (!found) return 0;
  if (found.is_whole() && found.integer() >= least) return found.integer();
  fail(key, fmt::format("{} is not a whole number of at least {}", found.shown(), least));
  return 0;
}

bool JsonFields::flag(const std::string& key) {
  const JsonNode found = want(key, JsonNode::Kind::boolean, "true or false");
  return found && found.flag();
}

std::string JsonFields::choice(const std::string& key,
                               std::initializer_list<std::string_view> allowed) {
  const JsonNode found = want(key, JsonNode::Kind::text, "a text");
  if (!found) return {};
  if (std::ranges::find(allowed, found.text()) != allowed.end()) return std::string(found.text());
  const std::vector<std::string> names(allowed.begin(), allowed.end());
  fail(key, fmt::format("'{}' is not one of {}", found.text(), join(names)));
  return {};
}

JsonFields JsonFields::object(const std::string& key) {
  return {want(key, JsonNode::Kind::object, "an object"), path_of(key), *file_, *diagnostics_};
}

std::vector<JsonFields> JsonFields::list(const std::string& key) {
  const JsonNode found = want(key, JsonNode::Kind::list, "a list");
  std::vector<JsonFields> out;
  if (!found) return out;
  out.reserve(found.size());
  const std::string path = path_of(key);
  for (const JsonNode entry : found)
    out.emplace_back(entry, fmt::format("{}[{}]", path, out.size()), *file_, *diagnostics_);
  return out;
}

std::vector<std::int64_t> JsonFields::wholes(const std::string& key, std::int64_t least) {
  const JsonNode found = want(key, JsonNode::Kind::list, "a list");
  std::vector<std::int64_t> out;
  if (!found) return out;
  for (const JsonNode item : found) {
    if (item.is_whole() && item.integer() >= least) {
      out.push_back(item.integer());
      continue;
    }
    fail(key, fmt::format("{} is not a whole number of at least {}", item.shown(), least));
  }
  return out;
}

std::map<std::string, std::int64_t> JsonFields::sizes(const std::string& key) {
  JsonFields members = object(key);
  std::map<std::string, std::int64_t> out;
  for (const std::string& name : members.rest()) out[name] = members.whole(name, 0);
  return out;
}

void JsonFields::skip(std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    asked_.emplace_back(key);
    if (node_ && !has(key)) fail("", named(key) + " is missing");
  }
}

std::vector<std::string> JsonFields::rest() {
  std::vector<std::string> out;
  if (!node_) return out;
  for (const JsonNode member : node_)
    if (std::ranges::find(asked_, member.key()) == asked_.end()) out.emplace_back(member.key());
  asked_.insert(asked_.end(), out.begin(), out.end());
  return out;
}

void JsonFields::finish() {
  const std::vector<std::string> known = asked_;
  for (const std::string& key : rest()) {
    const std::string_view near = nearest(key, known);
    fail(key, "unknown key " + named(key),
         near.empty() ? "known are: " + join(known) : "did you mean " + named(near) + "?");
  }
}

}  // namespace tiersim
