#include "kernels/campaign/options.hpp"

#include <charconv>
#include <functional>
#include <map>

namespace tiersim::kernels::bench {
namespace {

template <class T>
T number_of(const std::string& name, const std::string& text, T least) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !(value >= least)) {
    throw UsageError(name + ": '" + text + "' is no number of at least " + std::to_string(least));
  }
  return value;
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options o;
  using Take = std::function<void(const std::string&)>;
  const std::map<std::string, Take> valued = {
      {"--out", [&](const std::string& v) { o.out = v; }},
      {"--limit", [&](const std::string& v) { o.limit_s = number_of("--limit", v, 1.0); }},
      {"--seed", [&](const std::string& v) { o.seed = number_of<std::int64_t>("--seed", v, 0); }},
      {"--process", [&](const std::string& v) { o.process = number_of("--process", v, 0); }},
      {"--processes", [&](const std::string& v) { o.processes = number_of("--processes", v, 1); }},
      {"--case-limit",
       [&](const std::string& v) { o.case_limit_s = number_of("--case-limit", v, 1.0); }},
      {"--filter", [&](const std::string& v) { o.filter = v; }},
      {"--rounds", [&](const std::string& v) { o.limits.rounds = number_of("--rounds", v, 2); }},
      {"--rounds-least",
       [&](const std::string& v) { o.limits.rounds_least = number_of("--rounds-least", v, 2); }},
      {"--nodes", [&](const std::string& v) { o.limits.nodes_most = number_of("--nodes", v, 2); }},
      {"--lines", [&](const std::string& v) { o.lines = v; }},
      {"--predictions", [&](const std::string& v) { o.predictions = v; }},
      {"--commit", [&](const std::string& v) { o.commit = v; }},
      {"--build-id", [&](const std::string& v) { o.build_id = v; }},
      {"--compiler", [&](const std::string& v) { o.compiler = v; }},
      {"--nvcc", [&](const std::string& v) { o.nvcc = v; }},
  };
  const std::map<std::string, bool*> flags = {{"--toy", &o.toy},
                                              {"--no-predictions", &o.no_predictions},
                                              {"--keep-refused", &o.keep_refused}};
  if (arguments.empty()) throw UsageError("which stage?");
  o.stage = arguments.front();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const auto take = valued.find(name);
    if (take == valued.end()) throw UsageError("unknown option '" + name + "'");
    if (++i == arguments.size()) throw UsageError(name + " wants a value");
    take->second(arguments[i]);
  }
  if (o.process >= o.processes) throw UsageError("--process counts from 0 to --processes - 1");
  return o;
}

}  // namespace tiersim::kernels::bench
