// validate_timings [--measurements] FILE...: checks files of the campaign against their schema,
// their rules and physics. `--schema` prints the JSON schema instead, `--help` the usage.
//
// stdout: a line for each valid file. stderr: every problem. Exit: 0 all are valid, 2 usage, 3 a
// file is malformed, 5 a timing is impossible or an error above its tolerance.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/campaign/documents.hpp"

namespace {

using tiersim::kernels::bench::Json;
using tiersim::kernels::bench::Verdict;

constexpr const char* kHelp = "usage: validate_timings [--measurements] FILE... | --schema\n";
constexpr int kUsage = 2;
constexpr int kMalformed = 3;
constexpr int kImpossible = 5;

int report(const std::string& path, const Verdict& verdict) {
  for (const std::string& problem : verdict.malformed) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), problem.c_str());
  }
  for (const std::string& problem : verdict.impossible) {
    std::fprintf(stderr, "%s: refused: %s\n", path.c_str(), problem.c_str());
  }
  if (!verdict.malformed.empty()) return kMalformed;
  if (!verdict.impossible.empty()) return kImpossible;
  std::printf("%s: holds\n", path.c_str());
  return 0;
}

int validate(const std::string& path, bool measurements) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    return kUsage;
  }
  std::ostringstream text;
  text << in.rdbuf();
  try {
    return report(path, judge(Json::parse(text.str()), measurements));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s:%s\n", path.c_str(), error.what());
    return kMalformed;
  }
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> files(values + 1, values + count);
  if (files == std::vector<std::string>{"--schema"}) {
    std::fputs(tiersim::kernels::bench::shipped_schema().c_str(), stdout);
    return 0;
  }
  if (files == std::vector<std::string>{"--help"}) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const bool measurements = !files.empty() && files.front() == "--measurements";
  if (measurements) files.erase(files.begin());
  if (files.empty() || files.front().starts_with("-")) {
    std::fputs(kHelp, stderr);
    return kUsage;
  }
  int worst = 0;
  for (const std::string& file : files) worst = std::max(worst, validate(file, measurements));
  return worst;
}
