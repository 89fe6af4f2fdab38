#include "kernels/campaign/predictions.hpp"

#include <fstream>
#include <sstream>

#include "kernels/campaign/json.hpp"

namespace tiersim::kernels::bench {
namespace {

Predictions parse(const std::string& text, const std::string& build_id) {
  const Json document = Json::parse(text);
  if (document.at("schema").text() != "tiersim.predictions/v1") {
    throw UsageError("its schema is not tiersim.predictions/v1");
  }
  if (document.at("build_id").text() != build_id) {
    throw UsageError("it was made from build " + document.at("build_id").text() + ", this is " +
                     build_id);
  }
  Predictions found;
  for (const Json& each : document.at("predictions").array()) {
    const Prediction said = {each.at("median_ns").number(), each.at("low_ns").number(),
                             each.at("high_ns").number()};
    const std::string& name = each.at("name").text();
    if (!(0 < said.low_ns && said.low_ns <= said.median_ns && said.median_ns <= said.high_ns)) {
      throw UsageError(name + ": not 0 < low <= median <= high");
    }
    if (!found.emplace(name, said).second) throw UsageError(name + " stands twice");
  }
  return found;
}

}  // namespace

Predictions read_predictions(const Options& options) {
  if (options.no_predictions) return {};
  if (options.predictions.empty()) {
    throw UsageError(
        "composition is measured after it was predicted: --predictions FILE, by this build, or "
        "--no-predictions");
  }
  std::ifstream in(options.predictions);
  std::ostringstream text;
  text << in.rdbuf();
  try {
    if (!in) throw UsageError("cannot be read");
    return parse(text.str(), options.build_id);
  } catch (const std::runtime_error& error) {
    throw UsageError(options.predictions + ": " + error.what());
  }
}

}  // namespace tiersim::kernels::bench
