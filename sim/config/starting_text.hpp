#pragma once
// A configuration file to start from: what a complete example sets, each key with its meaning, and
// every other key as a comment with its default. It reads as the example does.
//
//   const Document example = load_document("model.yaml", options, diagnostics);
//   const auto config = read<LlmConfig>(example, "model", diagnostics);
//   std::string text = starting_text(example, config, {.config_root = options.config_root});
#include <filesystem>
#include <string>

#include "sim/config/describe.hpp"

namespace tiersim {

struct StartingText {
  /// The first lines, comments for an editor and for people; each ends in a newline.
  std::string head = {};
  /// Bases below this folder are named relative to it, where every file finds them.
  std::filesystem::path config_root = {};
};

namespace detail {
std::string starting_text(const Document& example, const StructValue& config,
                          const StartingText& text);
}  // namespace detail

/// `config` is what was read from `example`, without a mistake.
template <class C>
std::string starting_text(const Document& example, const C& config, const StartingText& text) {
  return detail::starting_text(example, detail::view(config), text);
}

}  // namespace tiersim
