#include "workloads/llm/hf_config.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/config/describe.hpp"
#include "workloads/llm/hf_families.hpp"
#include "workloads/llm/hf_keys.hpp"
#include "workloads/llm/hf_quantised.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim {
namespace {

// Models that also see, by the key of their language model.
constexpr std::string_view kLanguageModel = "text_config";

// The last part of a path; that of "a/b/" is b.
std::string last_part(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string name_of(HfKeys& keys, const std::filesystem::path& path, std::string_view type) {
  std::string name = last_part(keys.text("_name_or_path", ""));
  if (name.empty() && path.stem() != "config") name = path.stem().string();
  if (name.empty()) name = path.parent_path().filename().string();
  return name.empty() ? std::string(type) : name;
}

// Without parent folders: the same file on another machine is the same model.
std::string source_of(HfKeys& keys, const std::filesystem::path& path, std::string_view type) {
  const auto folder = path.parent_path().filename();
  std::string source = fmt::format("Hugging Face configuration file {}, model_type {}",
                                   (folder / path.filename()).generic_string(), type);
  if (keys.whole_or_none("num_nextn_predict_layers").value_or(0) > 0)
    source += ", without the weights of its multi-token-prediction modules";
  return source;
}

ImportProblem unknown_type(const std::string& name, const std::filesystem::path& path) {
  const std::vector<std::string> known = hf_model_types();
  if (name.empty())
    return {fmt::format("'{}': missing key 'model_type'", path.string()),
            "supported: " + join(known)};
  const std::string_view like = nearest(name, known);
  std::string hint = like.empty() ? "" : fmt::format("did you mean '{}'? ", like);
  hint += "supported: " + join(known) +
          "; for another, write its dimensions as in configs/models/qwen3_30b_a3b.yaml";
  return {fmt::format("model_type '{}' is not supported", name), hint};
}

}  // namespace

std::vector<std::string> hf_model_types() {
  std::vector<std::string> names;
  for (const HfFamily& family : hf_families()) names.emplace_back(family.model_type);
  return names;
}

Expected<std::string, std::vector<ImportProblem>> import_hf_config(
    const std::filesystem::path& path, const std::string& text) {
  HfKeys keys(path.string(), text);
  if (!keys.readable()) return Unexpected(keys.problems());
  const bool nested = keys.has_entries(std::string(kLanguageModel));
  const std::string whole = nested ? keys.text("model_type", "") : "";
  if (nested) keys.enter(std::string(kLanguageModel));
  const std::string name = keys.text("model_type", whole);  // that of MiniMax-M3 stands outside
  const auto families = hf_families();
  const auto type = std::ranges::find(families, std::string_view(name), &HfFamily::model_type);
  if (type == families.end()) {
    if (!keys.problems().empty()) return Unexpected(keys.problems());
    return Unexpected(std::vector<ImportProblem>{unknown_type(name, path)});
  }
  LlmConfig model;
  type->read(keys, model);
  if (const auto modules = keys.whole_or_none("num_nextn_predict_layers").value_or(0); modules > 0)
    model.mtp = MtpConfig{.modules = modules};
  model.name = name_of(keys, path, name);
  model.source = source_of(keys, path, name) + read_quantisation(keys, model);
  if (nested) model.source += ", the language model alone";
  keys.reject_mixed_layers();
  keys.reject_unknown_sizes();
  if (!keys.problems().empty()) return Unexpected(keys.problems());
  // JSON is valid YAML, and this is the form that the reader expects.
  return R"({"schema":"tiersim.model/v1",)" + canonical_json(model).substr(1);
}

}  // namespace tiersim
