#include "sim/record/record_reader.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/config/json_node.hpp"
#include "sim/record/record_fields.hpp"

namespace tiersim {
namespace {

using NodeKind = JsonNode::Kind;

// The place of a value in the record. Only the first mistake is kept, and a wrong value reads as
// empty, so that the readers below need no error paths. Places live on the stack below those of
// their parents.
class Place {
 public:
  Place(std::string_view name, std::string& error) : name_(name), error_(&error) {}
  Place(const Place& parent, std::string_view name)
      : name_(name), parent_(&parent), error_(parent.error_) {}
  Place(const Place& parent, std::size_t index)
      : index_(index), parent_(&parent), error_(parent.error_) {}

  bool failed() const { return !error_->empty(); }
  void fail(const std::string& problem) const {
    if (!failed()) replace(problem);
  }
  void replace(const std::string& problem) const {
    const std::string at = path();
    *error_ = at.empty() ? problem : at + ": " + problem;
  }

 private:
  std::string path() const {
    if (parent_ == nullptr) return std::string(name_);
    const std::string above = parent_->path();
    if (name_.empty()) return fmt::format("{}[{}]", above, index_);
    return above.empty() ? printable(name_) : above + '.' + printable(name_);
  }

  std::string_view name_ = {};
  std::size_t index_ = 0;
  const Place* parent_ = nullptr;
  std::string* error_;
};

// The keys of an object's fields.
class FieldKeys : public record::Visitor<FieldKeys> {
 public:
  void doc(std::string_view, std::string_view) {}
  template <class T>
  void field(const record::Field& f, const T& /*member*/) {
    keys_.push_back(f.key);
  }
  bool has(std::string_view key) const { return std::ranges::find(keys_, key) != keys_.end(); }

 private:
  std::vector<std::string_view> keys_;
};

template <class T>
void read(const Place& place, JsonNode node, T& out);

// Reads the members of an object. They mostly stand in the order of describe(), so the next one is
// tried first.
class FieldReader : public record::Visitor<FieldReader> {
 public:
  FieldReader(const Place& place, JsonNode object)
      : place_(place), object_(object), next_(object.begin()), failed_before_(place.failed()) {}

  void doc(std::string_view, std::string_view) {}
  template <class T>
  void field(const record::Field& f, T&& member) {
    const JsonNode value = take(f.key);
    if (value)
      read(Place(place_, f.key), value, member);
    else if (f.presence == record::Presence::always)
      place_.fail(fmt::format("has no '{}'", f.key));
  }
  /// An unknown member is the mistake to report, even if members below are wrong as well.
  template <class T>
  void finish(T& described) const {
    if (taken_ == object_.size() || failed_before_) return;
    FieldKeys known;
    record::describe(known, described);
    for (const JsonNode member : object_)
      if (!known.has(member.key()))
        return place_.replace(
            fmt::format("'{}' is unknown to this tiersim", printable(member.key())));
  }

 private:
  JsonNode take(std::string_view key) {
    JsonNode found;
    if (next_ != object_.end() && (*next_).key() == key) {
      found = *next_;
      ++next_;
    } else {
      found = object_.find(key);
    }
    if (found) ++taken_;
    return found;
  }

  const Place& place_;
  JsonNode object_;
  JsonNode::Iterator next_;
  std::size_t taken_ = 0;
  bool failed_before_;
};

void read_scalar(const Place& place, JsonNode node, std::int64_t& out) {
  constexpr double kExact = 9'007'199'254'740'992;  // 2^53
  const double value = node.number();
  if (node.is_whole())
    out = node.integer();
  else if (node.kind() == NodeKind::number && std::trunc(value) == value &&
           std::abs(value) <= kExact)
    out = static_cast<std::int64_t>(value);
  else
    place.fail("is no whole number");
}
void read_scalar(const Place& place, JsonNode node, double& out) {
  if (node.kind() != NodeKind::number) return place.fail("is no number");
  out = node.number();
}
void read_scalar(const Place& place, JsonNode node, bool& out) {
  if (node.kind() != NodeKind::boolean) return place.fail("is neither true nor false");
  out = node.flag();
}
void read_scalar(const Place& place, JsonNode node, std::string& out) {
  if (node.kind() != NodeKind::text) return place.fail("is no text");
  out = node.text();
}
void read_scalar(const Place& place, JsonNode node, NumberClass& out) {
  if (node.kind() != NodeKind::text) return place.fail("is no text");
  const auto* const known = std::ranges::find(kNumberClassNames, node.text());
  if (known == kNumberClassNames.end())
    return place.fail(fmt::format("'{}' is none of {}", printable(node.text()),
                                  fmt::join(kNumberClassNames, ", ")));
  out = static_cast<NumberClass>(known - kNumberClassNames.begin());
}

template <class T>
void read_list(const Place& place, JsonNode node, std::vector<T>& out) {
  if (node.kind() != NodeKind::list) return place.fail("is no list");
  out.reserve(node.size());
  for (const JsonNode entry : node) {
    const Place below(place, out.size());
    read(below, entry, out.emplace_back());
  }
}

// Two numbers or texts, low first.
template <class T>
void read_interval(const Place& place, JsonNode node, Interval<T>& out) {
  std::vector<T> ends;
  read_list(place, node, ends);
  if (ends.size() == 2)
    out = {std::move(ends[0]), std::move(ends[1])};
  else
    place.fail("is no list of two");
}

template <class T>
void read_object(const Place& place, JsonNode node, T& out) {
  if (node.kind() != NodeKind::object) return place.fail("is no object");
  FieldReader fields(place, node);
  record::describe(fields, out);
  fields.finish(out);
}

template <class T>
void read(const Place& place, JsonNode node, T& out) {
  if constexpr (record::kIsOptional<T>) {
    read(place, node, out.emplace());
  } else if constexpr (record::kIsInterval<T>) {
    read_interval(place, node, out);
  } else if constexpr (record::kIsSeries<T>) {
    if (node.kind() != NodeKind::object) return place.fail("is no object");
    for (const JsonNode member : node)
      read(Place(place, member.key()), member,
           out.emplace_back(ServingTimeline::Series{std::string(member.key()), {}}).values);
  } else if constexpr (record::kIsList<T>) {
    read_list(place, node, out);
  } else if constexpr (record::kIsMap<T>) {
    if (node.kind() != NodeKind::object) return place.fail("is no object");
    for (const JsonNode member : node)
      read(Place(place, member.key()), member, out[std::string(member.key())]);
  } else if constexpr (requires { read_scalar(place, node, out); }) {
    read_scalar(place, node, out);
  } else if constexpr (record::kIsJsonText<T> || std::is_same_v<T, record::Tag>) {
    // read_record() checks the tag first and reads the configuration last
  } else {
    read_object(place, node, out);
  }
}

// The text of a configuration as canonical_json() writes it. JSON admits 0x7f in text; YAML, which
// may read the text again, does not.
std::string on_one_line(std::string_view json) {
  std::string out;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!in_text && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) continue;
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') out += json[i++];
    if (json[i] == '\x7f')
      out += "\\u007f";
    else
      out += json[i];
  }
  return out;
}

// A value and its place, for objects that are read in part.
struct Placed {
  Placed(Place at, JsonNode value) : place(at), node(value) {}
  Placed(const Placed& object, std::string_view key, record::Presence presence)
      : place(object.place, key) {
    if (!object.node) return;
    node = object.node.find(key);
    if (object.node.kind() != NodeKind::object)
      object.place.fail("is no object");
    else if (!node && presence == record::Presence::always)
      object.place.fail(fmt::format("has no '{}'", key));
  }

  Placed operator[](std::string_view key) const { return {*this, key, record::Presence::always}; }
  template <class T>
  void read_member(std::string_view key, T& out,
                   record::Presence presence = record::Presence::always) const {
    if (const Placed member(*this, key, presence); member.node)
      read(member.place, member.node, out);
  }

  Place place;
  JsonNode node;
};

// Finds how many GPUs share the devices of a system, whose names in the record have the prefix.
// Returns its GPUs.
std::int64_t read_system(const Placed& system, std::string_view prefix, RunRecord& out) {
  const Placed gpus = system["gpus"];
  std::int64_t count = 1;
  gpus.read_member("count", count);
  std::int64_t hosts = 0;
  gpus.read_member("hosts", hosts);
  if (hosts < 1) gpus.place.fail("has no hosts");
  std::vector<std::string> by_host;
  std::vector<std::string> by_all;
  const Placed shared = system["shared"];
  shared.read_member("host", by_host);
  shared.read_member("all", by_all);
  for (const auto& [device, bytes] : out.traffic_bytes) {
    if (!device.starts_with(prefix)) continue;
    const std::string name = device.substr(prefix.size());
    std::int64_t& sharers = out.sharers[device] = 1;
    if (std::ranges::find(by_host, name) != by_host.end() && hosts > 0) sharers = count / hosts;
    if (std::ranges::find(by_all, name) != by_all.end()) sharers = count;
  }
  return count;
}

// The members that a record holds only in its configuration. It runs after the results, which name
// the devices of `sharers`; a served configuration has no batch or context.
void read_config(const Placed& config, RunRecord& out) {
  out.config = on_one_line(config.node.written());
  config.read_member("name", out.name);
  const Placed step = config["step"];
  step.read_member("batch", out.batch, record::Presence::if_any);
  step.read_member("context", out.context, record::Presence::if_any);
  out.gpus = read_system(config["system"], "", out);
  // A server may read prompts on a system of its own.
  if (const Placed prefill(config, "prefill", record::Presence::if_any);
      prefill.node && prefill.node.kind() == NodeKind::object)
    out.gpus += read_system(prefill["system"], "prefill.", out);
  // The MLPs of a step may be on GPUs of their own.
  if (const Placed ffn(config, "ffn", record::Presence::if_any);
      ffn.node && ffn.node.kind() == NodeKind::object)
    out.ffn_gpus = read_system(ffn["system"], kFfnPrefix, out);
}

// Empty where the text is a document.
std::string fault_of(JsonDocument& document, const std::string& json, std::string no_json) {
  const auto fault = document.parse(json);
  if (!fault) return {};
  if (fault->is_json) return fmt::format("{}:{}: {}", fault->line, fault->column, fault->message);
  return no_json;
}

std::string text_at(JsonNode object, std::string_view key) {
  const JsonNode member = object.find(key);
  return member && member.kind() == NodeKind::text ? std::string(member.text()) : "unknown";
}

Expected<RecordOrigin> origin_of(JsonDocument& document, const std::string& json) {
  const std::string no_json = "is not JSON (a record, as `run -o` writes it, is)";
  if (const std::string fault = fault_of(document, json, no_json); !fault.empty())
    return Unexpected(fault);
  const JsonNode root = document.root();
  if (root.kind() != NodeKind::object) return Unexpected(no_json);
  if (const JsonNode schema = root.find("schema");
      !schema || schema.kind() != NodeKind::text || schema.text() != kRecordSchema)
    return Unexpected(fmt::format("is not a record (schema {} expected)", kRecordSchema));
  for (const char* key : {"config", "results"})
    if (const JsonNode member = root.find(key); !member || member.kind() != NodeKind::object)
      return Unexpected(fmt::format("has no '{}' object", key));
  const JsonNode provenance = root.find("provenance");
  if (!provenance) return RecordOrigin{"unknown", "unknown"};
  return RecordOrigin{text_at(provenance, "tiersim_version"), text_at(provenance, "run_id")};
}

}  // namespace

Expected<RecordOrigin> origin_of_record(const std::string& json) {
  JsonDocument document;
  return origin_of(document, json);
}

Expected<RunRecord> read_record(const std::string& json) {
  JsonDocument document;
  const auto origin = origin_of(document, json);
  if (!origin) return Unexpected(origin.error());
  std::string error;
  const Place root("", error);
  RunRecord out;
  read(root, document.root(), out);
  read_config({Place(root, "config"), document.root().find("config")}, out);
  if (!error.empty())
    return Unexpected(
        fmt::format("{} (a record of tiersim {})", error, printable(origin->tiersim_version)));
  return out;
}

Expected<RunRecord> read_results(const std::string& results_json) {
  JsonDocument document;
  std::string error = fault_of(document, results_json, "is not JSON");
  if (!error.empty()) return Unexpected(error);
  RunRecord out;
  record::ResultsOf results{out};
  read(Place("results", error), document.root(), results);
  if (!error.empty()) return Unexpected(error);
  return out;
}

}  // namespace tiersim
