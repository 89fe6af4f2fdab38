#include "sim/sweep/point_reader.hpp"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/config/changed_keys.hpp"
#include "sim/config/describe.hpp"

namespace tiersim {
namespace {

// Limit of the combinations of files, names and words in memory; further ones replace the oldest.
constexpr std::size_t kMostFamilies = 32;

std::string_view setting_key(std::string_view option) {
  return option.substr(0, std::min(option.find('='), option.size()));
}

std::string_view value_of(std::string_view option) {
  return option.substr(std::min(option.find('=') + 1, option.size()));
}

}  // namespace

Node* scalar_at(Node& root, std::string_view path) {
  Node* at = &root;
  for (;;) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view key = path.substr(0, dot);
    std::size_t index = 0;
    if (Entry* entry = at->edit(key))
      at = &entry->value;
    else if (std::from_chars(key.data(), key.data() + key.size(), index).ptr ==
                 key.data() + key.size() &&
             index < at->items.size())
      at = &at->items.each()[index];
    else
      return nullptr;
    if (dot == path.size()) return at->kind == NodeKind::scalar ? at : nullptr;
    path.remove_prefix(dot + 1);
  }
}

bool is_number_text(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || !is_decimal_digit(digits.front()) || digits.back() == ' ') return false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const char c = digits[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool other = c == '.' || c == '/' || c == '+' || c == '-' || c == '_' ||
                       (c == ' ' && digits[i - 1] != ' ');
    if (!is_decimal_digit(c) && !letter && !other) return false;
  }
  return true;
}

// Points with the same file and settings, except for the values of some numbers.
struct PointReader::Family {
  struct Setting {
    std::string text = {};   // the whole setting, or its key and '='
    Node* number = nullptr;  // its value in the tree, if that may change
  };

  Family(std::string name, Node tree, ReadPoint read)
      : scenario(std::move(name)), root(std::move(tree)), point(std::move(read)) {}

  void take(const PointLoader& loader, const std::vector<std::string>& set, const StepRoom& room) {
    ChangedKeys keys;
    for (const std::string& option : set) {
      const std::string_view key = setting_key(option);
      Node* node = is_number_text(value_of(option)) && !loader.may_name_files(option)
                       ? scalar_at(root, key)
                       : nullptr;
      // A later setting may override this one.
      if (node != nullptr && node->scalar != value_of(option)) node = nullptr;
      settings.push_back({node == nullptr ? option : std::string(key) + '=', node});
      if (node != nullptr) keys.add(key);
    }
    point.repeated = std::make_shared<RepeatedStep>(keys, room);
    changed = keys;
    text = RepeatedText(std::move(keys));
    identify();
  }

  bool has(const std::string& name, const std::vector<std::string>& set) const {
    if (name != scenario || set.size() != settings.size()) return false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const Setting& setting = settings[i];
      if (setting.number == nullptr
              ? set[i] != setting.text
              : !set[i].starts_with(setting.text) || !is_number_text(value_of(set[i])))
        return false;
    }
    return true;
  }

  // Returns false if the configuration has a mistake.
  bool read(const std::vector<std::string>& set) {
    for (std::size_t i = 0; i < set.size(); ++i)
      if (settings[i].number != nullptr) settings[i].number->scalar = value_of(set[i]);
    if (!point.config ||
        !std::visit([&](auto& config) { return read_again(root, changed, config); }, *point.config))
      return false;
    identify();
    return true;
  }

  void identify() {
    const std::size_t same = text.unchanged();
    point.id = std::visit(
        [&](const auto& config) { return hex(digest.of(text.text_for_id(config), same)); },
        *point.config);
  }

  std::string scenario;
  Node root;
  ReadPoint point;
  std::vector<Setting> settings = {};
  ChangedKeys changed = {};
  RepeatedText text{ChangedKeys()};
  RepeatedSha256 digest = {};
};

PointReader::PointReader(const PointLoader& loader) : loader_(loader) {}
PointReader::~PointReader() = default;

const ReadPoint& PointReader::read(const std::string& scenario,
                                   const std::vector<std::string>& set) {
  Family* family = family_of(scenario, set);
  if (family == nullptr) return read_whole(scenario, set);
  if (family->read(set)) return family->point;
  other_ = read_point(loader_, {scenario, set});  // with the mistakes
  return other_;
}

PointReader::Family* PointReader::family_of(const std::string& scenario,
                                            const std::vector<std::string>& set) {
  const auto it = std::ranges::find_if(
      families_, [&](const auto& family) { return family->has(scenario, set); });
  if (it == families_.end()) return nullptr;
  std::rotate(families_.begin(), it, it + 1);
  return families_.front().get();
}

const ReadPoint& PointReader::read_whole(const std::string& scenario,
                                         const std::vector<std::string>& set) {
  Node root;
  ReadPoint point = read_point_without_id(loader_, {scenario, set}, root);
  if (!point.problem.empty()) {
    other_ = std::move(point);
    return other_;
  }
  auto family = std::make_unique<Family>(scenario, std::move(root), std::move(point));
  family->take(loader_, set, room_);
  families_.insert(families_.begin(), std::move(family));
  if (families_.size() > kMostFamilies) families_.pop_back();
  return families_.front()->point;
}

}  // namespace tiersim
