#include "workloads/llm/hf_config.hpp"

#include "sim/config/describe.hpp"
#include "tests/fuzz/readers/readers.hpp"
#include "workloads/llm/llm_config.hpp"

namespace tiersim::fuzz {

void read_hf_config(std::string_view text) {
  const auto yaml = import_hf_config("a/config.json", std::string(text));
  if (!yaml) {
    promise(!yaml.error().empty(), "refused without a reason");
    for (const ImportProblem& problem : yaml.error()) promise(!problem.message.empty(), "no words");
    return;
  }
  Diagnostics diagnostics;
  const Document document = load_text(*yaml, "a.yaml", {}, diagnostics);
  promise(diagnostics.ok(), "the importer's text does not load: " + diagnostics.text());
  (void)read<LlmConfig>(document, "model", diagnostics);  // it may lie out of a range
  expect_places(diagnostics);
}

}  // namespace tiersim::fuzz
