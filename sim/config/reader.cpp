#include "sim/config/reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/normal_scores.hpp"
#include "sim/config/scalars.hpp"

namespace tiersim::detail {
namespace {

std::string join_path(std::string parent, std::string_view key) {
  if (!parent.empty()) parent += '.';
  return std::move(parent.append(key));
}

// True where the node has the kind; reports a mistake otherwise.
bool expect(NodeKind kind, const Node& node, const Place& place, ReadLog& log) {
  if (node.kind == kind) return true;
  const bool list = kind == NodeKind::sequence;
  const std::string hint =
      node.kind == NodeKind::null ? (list ? "write [] for none" : "write {} for none") : "";
  log.report(node.origin, place.path(),
             fmt::format("expected {}, found {}", list ? "a list" : "a mapping", node.what()),
             hint);
  return false;
}

bool expect_schemas(std::string_view kind, const Node& node, const Place& place, ReadLog& log) {
  bool ok = true;
  for (const SchemaTag& tag : node.schemas) {
    if (tag.kind == kind) continue;
    log.report(tag.origin, place.path(),
               fmt::format("expected schema tiersim.{}/v1, found 'tiersim.{}/v1'", kind, tag.kind),
               "");
    ok = false;
  }
  return ok;
}

Place element(const Place& list, std::size_t index, const Node& item, bool incomplete) {
  return {&list, {}, index, &item.origin, incomplete};
}

std::vector<std::string> to_strings(EnumNames names) {
  return {names.begin(), names.end()};
}

}  // namespace

std::string Place::path() const {
  if (parent == nullptr) return "";
  const bool is_element = key.data() == nullptr;
  return join_path(parent->path(), is_element ? std::to_string(index) : std::string(key));
}

Reader::Reader(ReadLog& log, const Node& mapping, Place place, const ChangedKeys* changed)
    : log_(log),
      mapping_(mapping),
      place_(place),
      changed_(changed),
      mistakes_before_(log.mistakes) {
  place_.incomplete |= mapping.incomplete;
  known_.reserve(mapping.entries.size() + 4);
  met_.resize(mapping.entries.size());
  if (mapping.damaged) ++log_.mistakes;  // was reported when it was loaded
}

Place Reader::below(const Entry& entry, bool incomplete) const {
  return {&place_, entry.key, 0, &entry.key_origin, incomplete};
}

std::string Reader::child_path(std::string_view key) const {
  return key.empty() ? place_.path() : join_path(place_.path(), key);
}

const Entry* Reader::meet(std::string_view key) {
  known_.emplace_back(key);
  for (std::size_t i = 0; i < met_.size(); ++i) {
    const std::size_t at = next_ + i < met_.size() ? next_ + i : next_ + i - met_.size();
    const Entry& entry = mapping_.entries[at];
    if (entry.key != key) continue;
    met_[at] = true;
    next_ = at + 1;
    return &entry;
  }
  return nullptr;
}

void Reader::field(const Field& field, const Value& value) {
  const Entry* entry = meet(field.key);
  if (entry == nullptr || entry->value.removes) {
    if (field.required) missing_.emplace_back(field.key);
    return;
  }
  const ChangedKeys* changed = changed_ == nullptr ? nullptr : changed_->find(field.key);
  if (changed_ != nullptr && changed == nullptr) return;  // was read before
  if (changed != nullptr && changed->whole()) changed = nullptr;
  read(field, value, entry->value, below(*entry, place_.incomplete), changed);
}

void Reader::importable(std::string_view key, std::string_view, ImportCount) {
  importable_.emplace_back(key);
  const Entry* entry = meet(key);
  if (entry == nullptr || entry->value.removes) return;
  log_.report(entry->key_origin, child_path(key), "cannot be imported here", "");
  place_.incomplete = true;  // since the loader had no importer for it
}

void Reader::select(std::string_view key, std::string& kind,
                    const std::vector<Alternative>& alternatives,
                    const DescribeKind& describe_kind) {
  const Entry* entry = meet(key);
  // Another kind has other fields, none of which has been read yet.
  if (changed_ != nullptr && changed_->find(key) != nullptr) changed_ = nullptr;
  const auto names = [&] {
    std::vector<std::string> out;
    for (const Alternative& alternative : alternatives) out.push_back(alternative.name);
    return out;
  };
  std::string chosen = kind;
  if (entry != nullptr && entry->value.removes) entry = nullptr;
  if (entry != nullptr && entry->value.kind != NodeKind::scalar) {
    log_.report(entry->value.origin, child_path(key), "expected text, found " + entry->value.what(),
                "one of: " + join(names()));
    kind_unknown_ = true;
    return;
  }
  if (entry != nullptr) chosen = entry->value.scalar;
  if (entry == nullptr && chosen.empty()) {
    missing_.emplace_back(key);
    kind_unknown_ = true;
    return;
  }
  if (std::ranges::find(alternatives, chosen, &Alternative::name) == alternatives.end()) {
    log_.report(entry == nullptr ? *place_.origin : entry->value.origin, child_path(key),
                fmt::format("unknown value '{}'", chosen), choice_hint(chosen, names()));
    kind_unknown_ = true;
    return;
  }
  selected_ = entry;
  describe_kind(chosen, *this);
  kind = chosen;
}

void Reader::check(bool ok, std::string_view path, std::string_view message,
                   std::string_view hint) {
  if (!ok) failed_.push_back({std::string(path), std::string(message), std::string(hint)});
}

void Reader::correlated(const std::vector<std::string_view>& keys, std::string_view key,
                        const std::vector<double>& correlations) {
  if (correlations.empty()) return;
  const std::size_t pairs = keys.size() * (keys.size() - 1) / 2;
  if (correlations.size() != pairs)
    return check(false, key,
                 fmt::format("has {} elements; {} numbers have {} pairs", correlations.size(),
                             keys.size(), pairs),
                 "of " + join(std::vector<std::string>(keys.begin(), keys.end())) +
                     ": 12 13 14 ... 23 24 ...");
  check(are_correlations(keys.size(), correlations), key,
        "cannot be correlations of any numbers: the matrix is not positive semi-definite", "");
}

void Reader::read(const Field& field, const Value& value, const Node& node, const Place& place,
                  const ChangedKeys* changed) {
  const auto read_kind = [&]<class T>(const T& v) {
    if constexpr (std::is_same_v<T, ScalarValue>) {
      read_scalar(field, v, node, place);
    } else if constexpr (std::is_same_v<T, EnumValue>) {
      read_enum(v, node, place);
    } else if constexpr (std::is_same_v<T, SourcedValue>) {
      read_sourced(field, v, node, place);
    } else if constexpr (std::is_same_v<T, StructValue>) {
      read_struct(field, v, node, place, changed);
    } else if constexpr (std::is_same_v<T, ListValue>) {
      read_list(field, v, node, place);
    } else if constexpr (std::is_same_v<T, MapValue>) {
      read_map(field, v, node, place, changed);
    } else {
      if (changed == nullptr || !v.has()) v.set(node.kind != NodeKind::null);
      if (v.has()) read(field, v.get(), node, place, changed);
    }
  };
  std::visit(read_kind, value.kind);
}

void Reader::read_scalar(const Field& field, const ScalarValue& value, const Node& node,
                         const Place& place) {
  if (auto problem = parse_scalar(node, value, field.limits))
    log_.report(node.origin, place.path(), std::move(problem->message), std::move(problem->hint));
}

void Reader::read_enum(const EnumValue& value, const Node& node, const Place& place) {
  const auto at = std::ranges::find(value.names, node.scalar);
  if (node.kind != NodeKind::scalar)
    log_.report(node.origin, place.path(), "expected text, found " + node.what(),
                "one of: " + join(to_strings(value.names)));
  else if (at == value.names.end())
    log_.report(node.origin, place.path(), fmt::format("unknown value '{}'", node.scalar),
                choice_hint(node.scalar, to_strings(value.names)));
  else
    value.set(static_cast<std::size_t>(at - value.names.begin()));
}

void Reader::read_sourced(const Field& field, const SourcedValue& value, const Node& node,
                          const Place& place) {
  if (node.kind != NodeKind::mapping) {
    *value.number_class = NumberClass::assumed;
    *value.source = unstated_source(node.origin);
    return read_scalar(field, value.value, node, place);
  }
  // A value from the command line does not come from the data sheet of the other parts.
  const auto overridden = [&](std::string_view key) {
    const Entry* entry = node.find(key);
    const auto is_override = [](const Node& part) { return part.origin.is_override(); };
    return entry != nullptr &&
           (is_override(entry->value) || std::ranges::any_of(entry->value.items, is_override));
  };
  const bool new_value = overridden("value");
  const bool new_interval = overridden("ci95");
  Reader parts(log_, node, place);
  parts.field({"value", "", true, field.limits, {}}, {value.value});
  parts.field({"class", "", true, {}, {}}, value_of(*value.number_class, kNumberClassNames));
  parts.field({"source", "", true, {}, {}}, {ScalarValue(value.source)});
  parts.check(!value.source->empty(), "source", "is empty", "say where the number comes from");
  const Entry* interval = parts.meet("ci95");
  value.ci95.set(false);
  if (interval != nullptr && (!new_value || new_interval))
    parts.read_interval(field, value, *interval);
  parts.finish();
  if (new_value && !overridden("class")) *value.number_class = NumberClass::assumed;
  if (overridden("source")) return;
  if (new_value)
    *value.source = "command line";
  else if (new_interval)
    *value.source += "; interval from the command line";
}

void Reader::read_interval(const Field& field, const SourcedValue& value, const Entry& entry) {
  const Node& node = entry.value;
  if (node.removes) return;
  const Place place = below(entry, place_.incomplete);
  if (!field.limits.allowed.empty())
    return log_.report(entry.key_origin, place.path(), "cannot be given",
                       "the value is one of: " + join(field.limits.allowed));
  const bool list = node.kind == NodeKind::sequence;
  if (!list || node.items.size() != 2)
    return log_.report(
        node.origin, place.path(),
        fmt::format("expected a list of two ends, found {}",
                    list ? fmt::format("a list of {}", node.items.size()) : node.what()),
        "[low, high]");
  value.ci95.set(true);
  const std::array ends{value.ci95.low(), value.ci95.high()};
  for (std::size_t i = 0; i < ends.size(); ++i)
    read_scalar(field, ends[i], node.items[i], element(place, i, node.items[i], place_.incomplete));
  const bool ordered = in_order(ends[0], ends[1]);
  check(ordered, "ci95", "has its ends in the wrong order", "[low, high]");
  if (ordered && !(in_order(ends[0], value.value) && in_order(value.value, ends[1])))
    check(false, "ci95", fmt::format("does not contain the value {}", format_scalar(value.value)),
          "");
}

void Reader::read_struct(const Field& field, const StructValue& value, const Node& node,
                         const Place& place, const ChangedKeys* changed) {
  if (!expect(NodeKind::mapping, node, place, log_)) return;
  if (!field.document_kind.empty() && !expect_schemas(field.document_kind, node, place, log_))
    return;
  Reader reader(log_, node, place, changed);
  value.describe(reader);
  reader.finish();
}

void Reader::read_list(const Field& field, const ListValue& value, const Node& node,
                       const Place& place) {
  if (!expect(NodeKind::sequence, node, place, log_)) return;
  value.resize(node.items.size());
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    read(field, value.at(i), item, element(place, i, item, place.incomplete), nullptr);
  }
}

void Reader::read_map(const Field& field, const MapValue& value, const Node& node,
                      const Place& place, const ChangedKeys* changed) {
  if (!expect(NodeKind::mapping, node, place, log_)) return;
  if (node.damaged) ++log_.mistakes;
  if (changed == nullptr) value.clear();
  for (const Entry& entry : node.entries) {
    if (entry.value.removes) continue;
    const ChangedKeys* of_entry = changed == nullptr ? nullptr : changed->find(entry.key);
    if (changed != nullptr && of_entry == nullptr) continue;
    if (of_entry != nullptr && of_entry->whole()) of_entry = nullptr;
    read(field, value.at(entry.key), entry.value,
         {&place, entry.key, 0, &entry.key_origin, place.incomplete || node.incomplete}, of_entry);
  }
}

// True where the kind was chosen in a layer above that of the key, which then belongs to the kind
// that its own layer chose.
bool Reader::is_of_another_kind(const Entry& entry) const {
  if (selected_ == nullptr || !selected_->value.origin.source || !entry.key_origin.source)
    return false;
  const Origin& chosen = selected_->value.origin;
  const Origin& key = entry.key_origin;
  if (key.is_override() || key.source->file == chosen.source->file) return false;
  return chosen.is_override() ||
         (mapping_.origin.source && mapping_.origin.source->file == chosen.source->file);
}

void Reader::report_unknown_keys() {
  std::vector<std::string> of_another_kind;
  for (std::size_t i = 0; i < met_.size(); ++i) {
    const Entry& entry = mapping_.entries[i];
    if (entry.value.removes || met_[i]) continue;
    // An option that chooses another kind leaves the keys of the old one without a meaning.
    if (is_of_another_kind(entry) && selected_->value.origin.is_override()) continue;
    std::string hint = "known keys: " + join(known_);
    if (entry.key == "schema") hint = "it stands at the top of a file only";
    if (const std::string_view near = nearest(entry.key, known_); !near.empty()) {
      hint = fmt::format("did you mean '{}'?", near);
      std::erase(missing_, near);
      // The keys that seem to be missing would have come from the file.
      if (std::ranges::find(importable_, near) != importable_.end()) place_.incomplete = true;
    } else if (is_of_another_kind(entry)) {
      of_another_kind.push_back('\'' + entry.key + '\'');
      continue;
    }
    log_.report(entry.key_origin, place_.path(), fmt::format("unknown key '{}'", entry.key), hint);
  }
  if (of_another_kind.empty()) return;
  const bool one = of_another_kind.size() == 1;
  log_.report(selected_->value.origin, place_.path(),
              fmt::format("unknown {} {}", one ? "key" : "keys", join(of_another_kind)),
              fmt::format("{} from a base that '{}' was put over; give the mapping a base of its "
                          "own or start from a file with it",
                          one ? "comes" : "they come", selected_->value.scalar));
}

void Reader::finish() {
  if (!kind_unknown_) report_unknown_keys();
  if (place_.incomplete) return;
  for (const std::string& key : missing_)
    log_.report(*place_.origin, place_.path(), fmt::format("missing required key '{}'", key), "");
  if (log_.mistakes != mistakes_before_) return;
  for (const FailedCheck& check : failed_)
    log_.report(origin_at(mapping_, check.path, *place_.origin), child_path(check.path),
                check.message, check.hint, true);
}

bool read_again(const Node& root, const ChangedKeys& changed, const StructValue& config) {
  if (changed.empty()) return true;
  Diagnostics ignored;
  ReadLog log{ignored};
  Reader reader(log, root, {.origin = &root.origin}, changed.whole() ? nullptr : &changed);
  config.describe(reader);
  reader.finish();
  return log.mistakes == 0;
}

void read_document(const Document& document, std::string_view kind, const StructValue& config,
                   Diagnostics& diagnostics) {
  const Node& root = document.root();
  if (root.kind != NodeKind::mapping) return;  // reported when it was loaded
  ReadLog log{diagnostics};
  const Place place{.origin = &root.origin};
  if (!expect_schemas(kind, root, place, log)) return;
  Reader reader(log, root, place);
  config.describe(reader);
  reader.finish();
}

}  // namespace tiersim::detail
