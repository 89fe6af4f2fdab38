#pragma once
// Importer of config.json files, as models are published with on the Hugging Face hub:
//
//   model: {hf_config: Llama-2-7b-hf/config.json}
//
// The supported types are those of hf_model_types(). A key that changes the size of a tensor and is
// not supported (biases, windows in some layers only, a key that looks like a dimension) is an
// error; one that does not (rotary base, dropout, tokens) is ignored. The default of a missing key
// is that of the type's configuration class in transformers, if that follows from the other keys;
// a default that is only an example of the class's author is an error instead.
#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/importer.hpp"

namespace tiersim {

/// Supported values of `model_type`.
std::vector<std::string> hf_model_types();

/// YAML of a tiersim.model/v1 mapping. The name is that of the checkpoint (_name_or_path) or of the
/// file's folder; the source names the file.
Expected<std::string, std::vector<ImportProblem>> import_hf_config(
    const std::filesystem::path& path, const std::string& text);

}  // namespace tiersim
