#pragma once
// How the configuration file of each family of Hugging Face models (`model_type`) becomes a model.
// To add a family, add a function and a row of the table.
#include <span>
#include <string_view>

namespace tiersim {

class HfKeys;
struct LlmConfig;

struct HfFamily {
  std::string_view model_type;
  void (*read)(HfKeys& keys, LlmConfig& model);
};
/// In alphabetic order.
std::span<const HfFamily> hf_families();

}  // namespace tiersim
