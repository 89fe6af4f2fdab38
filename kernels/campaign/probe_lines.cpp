#include "kernels/campaign/probe_lines.hpp"

#include <sstream>

#include "kernels/campaign/record.hpp"

namespace tiersim::kernels::bench {

ProbeLines read_probe_lines(std::string_view text) {
  ProbeLines found;
  std::istringstream lines{std::string(text)};
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    std::string verdict;
    words >> name >> verdict;
    Agreement agreement;
    std::string of;
    if (verdict == "agrees") {
      words >> agreement.compared;
    } else if (verdict == "DIFFERS") {
      words >> agreement.error >> of >> agreement.compared;
    } else if (verdict == "FAILED" || verdict == "MISSING") {
      found.refusals.emplace_back(name, line);
      continue;
    } else {
      continue;
    }
    if (!words || agreement.compared <= 0) {
      found.refusals.emplace_back(name, "not understood: " + line);
      continue;
    }
    found.entries.emplace_back(
        Json::Object{{"name", name},
                     {"status", verdict == "agrees" ? "agrees" : "disagrees"},
                     {"agreement", to_json(agreement)},
                     {"seconds", 0.0}});
  }
  return found;
}

}  // namespace tiersim::kernels::bench
