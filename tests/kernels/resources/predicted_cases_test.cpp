// The predicted cases are the timed ones: the cases in the questions and in the composed sequences
// exist at the sizes of a card.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "kernels/campaign/composition_json.hpp"
#include "kernels/cases/all_cases.hpp"

namespace tiersim::kernels::bench::predicted_cases_test {
namespace {

std::set<std::string> timed_cases() {
  std::set<std::string> names;
  for (const CaseEntry& entry : all_cases(Sizes::timed)) names.insert(entry.name);
  return names;
}

TEST(PredictedCases, OfTheQuestionsAreTimed) {
  const std::set<std::string> timed = timed_cases();
  std::ifstream in(TIERSIM_SOURCE_DIR "/configs/predictions/h200.yaml");
  std::map<std::string, int> named;
  for (std::string line; std::getline(in, line);) {
    for (const std::string key : {"timed_as: ", "{case: "}) {
      const std::size_t at = line.find(key);
      if (at == std::string::npos) continue;
      ++named[key];
      const std::size_t first = at + key.size();
      const std::size_t end = std::min(line.size(), line.find_first_of(",}", first));
      EXPECT_TRUE(timed.contains(line.substr(first, end - first))) << line;
    }
  }
  EXPECT_GT(named["timed_as: "], 10);
  EXPECT_GT(named["{case: "], 15);
}

// All sequences except the decode, whose growing caches are separate cases.
TEST(PredictedCases, OfTheSequencesAreTimed) {
  const std::set<std::string> timed = timed_cases();
  const Json plan = plan_json(compositions(all_cases(Sizes::timed), Sizes::timed), "build");
  EXPECT_GT(plan.at("sequences").array().size(), 150U);
  for (const Json& sequence : plan.at("sequences").array()) {
    SCOPED_TRACE(sequence.at("name").text());
    EXPECT_EQ(sequence.at("missing").text(), "");
    for (const Json& part : sequence.at("parts").array()) {
      const bool own = sequence.at("experiment").text() == "F4";
      EXPECT_EQ(timed.contains(part.at("timed_as").text()), !own) << part.at("case").text();
      const Json& work = part.at("work");
      EXPECT_GT(work.at("read_bytes").integer() + work.at("link_read_bytes").integer(), 0);
    }
  }
}

}  // namespace
}  // namespace tiersim::kernels::bench::predicted_cases_test
