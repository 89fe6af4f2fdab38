#pragma once
// The uses of a describe() function (fields.hpp): reading, canonical texts, JSON Schema, `config
// show`. C is a struct with `describe(Fields&, C&)`:
//
//   Diagnostics diagnostics;
//   const LoadOptions options{.overrides = {"step.batch=4"}};
//   const Document document = load_document("a.yaml", options, diagnostics);
//   const auto scenario = read<Scenario>(document, "scenario", diagnostics);
//   const std::string id = sha256_hex(canonical_text_for_id(scenario));
//
// The canonical texts are the same bytes for the same values, whatever file, key order, unit or
// default the values come from.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/changed_keys.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// One number of a configuration with its provenance.
struct SourcedNumber {
  std::string path;   ///< dotted, as --set takes it
  std::string value;  ///< canonical text, "4800 GB/s"
  NumberClass number_class = NumberClass::assumed;
  std::string source;
  /// Canonical texts of the ends of the 95 % interval; empty if there is none.
  std::optional<Interval<std::string>> ci95 = {};
};

/// Both canonical texts of a configuration.
struct CanonicalTexts {
  std::string json;
  std::string for_id;
};

namespace detail {

enum class Sources : std::uint8_t { kept, left_out };

void read_document(const Document& document, std::string_view kind, const StructValue& config,
                   Diagnostics& diagnostics);
bool read_again(const Node& root, const ChangedKeys& changed, const StructValue& config);
std::string canonical(const StructValue& config, Sources sources);
CanonicalTexts canonical_texts(const StructValue& config);
std::string schema_text(std::string_view kind, std::string_view title, const StructValue& config);
std::string show_text(const Document& document, const StructValue& config);
std::vector<SourcedNumber> numbers(const StructValue& config);
bool takes_whole_numbers(const StructValue& config, std::string_view path);

/// The struct for read-only visitors: describe() takes a mutable struct because the reader writes
/// it.
template <class C>
StructValue view(const C& config) {
  auto& described = const_cast<C&>(config);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return struct_value(described);
}

}  // namespace detail

/// Reads a document of the kind (its schema must be tiersim.<kind>/v1). The result is valid only if
/// `diagnostics` is ok() afterwards.
template <class C>
C read(const Document& document, std::string_view kind, Diagnostics& diagnostics) {
  C config{};
  detail::read_document(document, kind, detail::view(config), diagnostics);
  return config;
}

/// Updates a configuration that was read without mistakes from an earlier state of this tree, in
/// which other scalars stood at the paths in `changed`. The result equals read() of the whole tree,
/// since describe() functions change no member themselves. Returns false if the tree now contains a
/// mistake; read() then reports it, and `config` is invalid until it has been read again.
template <class C>
bool read_again(const Node& root, const ChangedKeys& changed, C& config) {
  return detail::read_again(root, changed, detail::view(config));
}

/// The whole effective configuration as a JSON object on one line, with its keys in the order of
/// describe(). load_text() and read() turn it into an equal configuration.
template <class C>
std::string canonical_json(const C& config) {
  return detail::canonical(detail::view(config), detail::Sources::kept);
}

/// The same without the source of each number, so that a corrected citation keeps the run id.
template <class C>
std::string canonical_text_for_id(const C& config) {
  return detail::canonical(detail::view(config), detail::Sources::left_out);
}

/// Both in one pass.
template <class C>
CanonicalTexts canonical_texts(const C& config) {
  return detail::canonical_texts(detail::view(config));
}

/// canonical_text_for_id() for many states of one configuration that differ only in the values at
/// certain paths. The text of all other values is written once.
class RepeatedText {
 public:
  explicit RepeatedText(ChangedKeys changed);
  RepeatedText(RepeatedText&&) noexcept;
  RepeatedText& operator=(RepeatedText&&) noexcept;
  ~RepeatedText();

  template <class C>
  const std::string& text_for_id(const C& config) {
    return write(detail::view(config));
  }
  /// Bytes at the beginning that are the same in all texts.
  std::size_t unchanged() const { return unchanged_; }

 private:
  struct Memory;
  const std::string& write(const detail::StructValue& config);

  ChangedKeys changed_;
  std::unique_ptr<Memory> memory_;
  std::string text_;
  std::size_t unchanged_ = 0;  // known from the second text on
};

/// JSON Schema, draft 2020-12, of files of the kind; pretty-printed, ends in a newline.
template <class C>
std::string json_schema(std::string_view kind, std::string_view title) {
  C config{};
  return detail::schema_text(kind, title, detail::view(config));
}

/// The effective configuration as YAML, which can be loaded again; a comment gives the origin of
/// every value: file:line, the --set option, or default.
template <class C>
std::string show_config(const Document& document, const C& config) {
  return detail::show_text(document, detail::view(config));
}

/// True where the value at the dotted path is a count, which takes no fractions; false if there is
/// no such value.
template <class C>
bool takes_whole_numbers(const C& config, std::string_view path) {
  return detail::takes_whole_numbers(detail::view(config), path);
}

/// Every number with a source, in the order of describe().
template <class C>
std::vector<SourcedNumber> list_numbers(const C& config) {
  return detail::numbers(detail::view(config));
}

}  // namespace tiersim
