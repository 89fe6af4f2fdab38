#include "workloads/llm/hf_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

using Value = nlohmann::ordered_json;

// Far above any dimension; products of two still do not overflow.
constexpr std::int64_t kLargest = 1'000'000'000;

// Words in keys that may be a tensor's size or change the number of tensors.
constexpr auto kSizeWords = std::to_array<std::string_view>(
    {"adapter",      "bias",   "blocks", "config", "dim",    "dims",  "expert",
     "experts",      "freq",   "head",   "heads",  "hidden", "inner", "interval",
     "intermediate", "kernel", "layer",  "layers", "norm",   "rank",  "size",
     "types",        "vocab",  "width",  "window"});
constexpr auto kSizePrefixes = std::to_array<std::string_view>({"d", "n", "num"});

// Keys with such words that change no tensor of the model, but its generation, its split over
// devices or its routing.
constexpr auto kNoSizes = std::to_array<std::string_view>({"chunk_size_feed_forward",
                                                           "compression_config",
                                                           "encoder_no_repeat_ngram_size",
                                                           "ep_size",
                                                           "max_window_layers",
                                                           "n_ctx",
                                                           "n_group",
                                                           "n_positions",
                                                           "no_repeat_ngram_size",
                                                           "norm_topk_prob",
                                                           "norm_eps",
                                                           "layer_norm_eps",
                                                           "initial_context_length",
                                                           "num_beam_groups",
                                                           "num_beams",
                                                           "num_labels",
                                                           "num_nextn_predict_layers",
                                                           "num_return_sequences",
                                                           "output_hidden_states",
                                                           "quantization_config"});

bool looks_like_a_size(std::string_view key) {
  if (key.starts_with('_') || std::ranges::find(kNoSizes, key) != kNoSizes.end()) return false;
  bool first = true;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find('_'), key.size());
    const std::string_view word = key.substr(0, end);
    if (std::ranges::find(kSizeWords, word) != kSizeWords.end()) return true;
    if (first && std::ranges::find(kSizePrefixes, word) != kSizePrefixes.end()) return true;
    first = false;
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return false;
}

bool says_something(const Value& value) {
  if (value.is_number()) return value.is_number_integer() && value != 0;
  if (value.is_boolean()) return value.get<bool>();
  return value.is_structured() && !value.empty();
}

std::optional<std::int64_t> to_whole(const Value& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{kLargest})
    return std::nullopt;
  const auto number = value.get<std::int64_t>();
  if (number < -kLargest) return std::nullopt;
  return number;
}

// A list of the numbers between commas; a text that has anything else stays one.
Value list_of(const std::string& text) {
  Value list = Value::parse('[' + text + ']', nullptr, false);
  return list.is_array() ? list : Value(text);
}

std::string shown(const Value& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "a mapping";
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

// Line and column of a byte, counted from 1 as the parser does.
std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::max<std::size_t>(byte, 1) - 1);
  const std::size_t start = before.rfind('\n') + 1;  // 0 where there is none
  return fmt::format("line {}, column {}", std::ranges::count(before, '\n') + 1,
                     before.size() - start + 1);
}

// The parser silently takes the last of several values; `repeated` receives their keys.
Value parse(const std::string& text, std::set<std::string>& repeated) {
  using Event = Value::parse_event_t;
  std::vector<std::set<std::string>> open;  // keys so far of each open object
  return Value::parse(text, [&](int, Event event, Value& parsed) {
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key) {
      const auto key = parsed.get<std::string>();
      if (!open.back().insert(key).second) repeated.insert(key);
    }
    return true;
  });
}

}  // namespace

struct HfKeys::Json {
  Value value = Value::object();

  const Value* find(const std::string& key) const {
    const auto at = value.find(key);
    return at == value.end() || at->is_null() ? nullptr : &*at;
  }
};

HfKeys::HfKeys(std::string shown_path, const std::string& text)
    : shown_path_(std::move(shown_path)), json_(std::make_unique<Json>()) {
  try {
    std::set<std::string> repeated;
    Value parsed = parse(text, repeated);
    for (const std::string& key : repeated)
      reject(key, "stands twice in one mapping", "take one of them out");
    if (parsed.is_object()) {
      json_->value = std::move(parsed);
      readable_ = true;
      return;
    }
    problems_.push_back({fmt::format("'{}' is not a JSON object", shown_path_)});
  } catch (const Value::parse_error& error) {
    problems_.push_back({fmt::format("'{}' is not JSON", shown_path_),
                         "first fault at " + position(text, error.byte)});
  } catch (const Value::out_of_range&) {
    problems_.push_back({fmt::format("'{}' is not JSON", shown_path_), "a number is too large"});
  }
}

HfKeys::~HfKeys() = default;

void HfKeys::reject(const std::string& key, const std::string& why, const std::string& hint) {
  problems_.push_back({fmt::format("'{}': '{}' {}", shown_path_, key, why), hint});
}

bool HfKeys::has_key(const std::string& key) const {
  return json_->value.contains(key);
}

std::optional<std::int64_t> HfKeys::whole_or_none(const std::string& key) {
  asked_.insert(key);
  const Value* value = json_->find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto number = to_whole(*value)) return number;
  reject(key, fmt::format("is {}, not a whole number of at most {}", shown(*value), kLargest));
  return 0;
}

std::int64_t HfKeys::whole(const std::string& key, const std::string& hint) {
  if (const auto number = whole_or_none(key)) return *number;
  problems_.push_back({fmt::format("'{}': missing key '{}'", shown_path_, key), hint});
  return 0;
}

bool HfKeys::flag(const std::string& key, bool preset) {
  asked_.insert(key);
  const Value* value = json_->find(key);
  if (value == nullptr) return preset;
  if (value->is_boolean()) return value->get<bool>();
  reject(key, fmt::format("is {}, not true or false", shown(*value)));
  return preset;
}

std::string HfKeys::text(const std::string& key, const std::string& preset) {
  asked_.insert(key);
  const Value* value = json_->find(key);
  if (value == nullptr) return preset;
  if (value->is_string()) return value->get<std::string>();
  reject(key, fmt::format("is {}, not text", shown(*value)));
  return preset;
}

std::vector<std::int64_t> HfKeys::wholes(const std::string& key) {
  asked_.insert(key);
  std::vector<std::int64_t> numbers;
  const Value* value = json_->find(key);
  if (value == nullptr) return numbers;
  const Value list = value->is_string() ? list_of(value->get<std::string>()) : *value;
  const bool fits = list.is_array() && std::ranges::all_of(list, [](const Value& item) {
                      return to_whole(item).has_value();
                    });
  if (!fits) reject(key, fmt::format("is {}, not a list of whole numbers", shown(*value)));
  for (const Value& item : list)
    if (fits) numbers.push_back(*to_whole(item));
  return numbers;
}

std::vector<std::string> HfKeys::texts(const std::string& key) {
  asked_.insert(key);
  std::vector<std::string> out;
  const Value* value = json_->find(key);
  if (value == nullptr) return out;
  const bool fits = value->is_array() &&
                    std::ranges::all_of(*value, [](const Value& item) { return item.is_string(); });
  if (!fits) reject(key, fmt::format("is {}, not a list of texts", shown(*value)));
  for (const Value& item : *value)
    if (fits) out.push_back(item.get<std::string>());
  return out;
}

bool HfKeys::enter(const std::string& key) {
  const Value* value = json_->find(key);
  if (value == nullptr || !value->is_object()) return false;
  Value inner = *value;
  for (const char* shared : {"_name_or_path", "quantization_config", "tie_word_embeddings"})
    if (!inner.contains(shared) && json_->value.contains(shared))
      inner[shared] = json_->value[shared];
  json_->value = std::move(inner);
  asked_.clear();
  return true;
}

std::string HfKeys::text_below(const std::string& key, const std::string& inner) {
  const Value* value = json_->find(key);
  if (value == nullptr || !value->is_object()) return "";
  const auto at = value->find(inner);
  return at == value->end() || !at->is_string() ? "" : at->get<std::string>();
}

std::optional<std::int64_t> HfKeys::whole_below(const std::string& key, const std::string& inner) {
  const Value* value = json_->find(key);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  const auto at = value->find(inner);
  return at == value->end() ? std::nullopt : to_whole(*at);
}

std::vector<std::int64_t> HfKeys::wholes_below(const std::string& key, const std::string& inner) {
  const Value* value = json_->find(key);
  if (value == nullptr || !value->is_object()) return {};
  const auto at = value->find(inner);
  if (at == value->end() || !at->is_array()) return {};
  std::vector<std::int64_t> out;
  for (const Value& entry : *at) {
    const auto whole = to_whole(entry);
    if (!whole) {
      reject(key, "has " + inner + " with an entry that is no whole number");
      return {};
    }
    out.push_back(*whole);
  }
  return out;
}

bool HfKeys::flag_below(const std::string& key, const std::string& inner) {
  const Value* value = json_->find(key);
  if (value == nullptr || !value->is_object()) return false;
  const auto at = value->find(inner);
  return at != value->end() && at->is_boolean() && at->get<bool>();
}

std::string HfKeys::json_of(const std::string& key) {
  asked_.insert(key);
  const Value* value = json_->find(key);
  return value == nullptr ? "null" : value->dump();
}

bool HfKeys::has_entries(const std::string& key) const {
  const Value* value = json_->find(key);
  return value != nullptr && value->is_structured() && !value->empty();
}

void HfKeys::refuse(const std::string& key) {
  if (flag(key, false)) reject(key, "is true, which is not modelled");
}

void HfKeys::reject_mixed_layers() {
  if (!asked_.insert("layer_types").second) return;
  const Value* types = json_->find("layer_types");
  if (types == nullptr) return;
  const bool full = types->is_array() && std::ranges::all_of(*types, [](const Value& type) {
                      return type == "full_attention";
                    });
  if (!full) reject("layer_types", "is not all full_attention, which is not modelled");
}

void HfKeys::reject_unknown_sizes() {
  for (const auto& [key, value] : json_->value.items())
    if (!asked_.contains(key) && says_something(value) && looks_like_a_size(key))
      reject(key, "is not understood", "take it out of the file if it changes no size");
}

}  // namespace tiersim
