#pragma once
// The config.json that a model of the Hugging Face hub is published with, as an LlmConfig:
//
//   model: {hf_config: Llama-2-7b-hf/config.json}
//
// Understood are the types in hf_model_types(). What changes the size of a tensor and is not
// understood (biases, windows in some layers only, a key that looks like a dimension) is an error;
// what does not (rotary base, dropout, tokens) is ignored. Where a key is missing, the default is
// that of the type's configuration class in transformers, if it has one that follows from the other
// keys; a default that is only the class author's example is an error instead.
#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

/// Values of `model_type` that are understood.
std::vector<std::string> hf_model_types();

/// YAML of a tiersim.model/v1 mapping. The name is that of the checkpoint (_name_or_path) or of the
/// file's folder; the source names the file.
Expected<std::string, std::vector<ImportProblem>> import_hf_config(
    const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
