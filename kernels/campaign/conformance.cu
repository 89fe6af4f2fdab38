// conformance --write FILE     on the emulator: runs every probe and writes its words
// conformance --compare FILE   on a card: runs them and compares with FILE; one line for each probe
// Exit code: 0 all agree, 1 internal, 2 usage, 5 some probe differs, is missing or failed.
#include "kernels/campaign/conformance.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/campaign/conformance_file.hpp"
#include "kernels/cases/random.hpp"

namespace tiersim::kernels::conformance {

Words random_words(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Words words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.next() >> 32U);
  return words;
}

Words unwritten(std::size_t count) {
  return Words(count, 0xdeadbeefU);
}

Probe probe(std::string name, Kernel kernel, Geometry geometry, Words in, Words start,
            Slack slack) {
  auto run = [kernel, geometry, in = std::move(in), start = std::move(start)] {
    Stream stream;
    const DeviceArray<std::uint32_t> inputs(in, "in");
    DeviceArray<std::uint32_t> outputs(start, "out");
    launch(stream, kernel, geometry, inputs.data(), outputs.data());
    stream.synchronize();
    return outputs.download();
  };
  return {std::move(name), std::move(run), slack};
}

namespace {

int write_file(const std::string& path) {
  Expected expected;
  for (const Probe& one : all_probes()) expected[one.name] = one.run();
  std::ofstream file(path);
  write(file, expected);
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
  std::printf("%zu probes written to %s\n", expected.size(), path.c_str());
  return 0;
}

// Prints the line of the probe; true where it agrees.
bool compare_one(const Probe& one, const Expected& expected) {
  const auto found = expected.find(one.name);
  if (found == expected.end()) {
    std::printf("%-36s MISSING in the file\n", one.name.c_str());
    return false;
  }
  Verdict verdict;
  try {
    verdict = judge(found->second, one.run(), one.slack.ulp, one.slack.absolute);
  } catch (const std::exception& failure) {
    std::printf("%-36s FAILED  %s\n", one.name.c_str(), failure.what());
    return false;
  }
  if (verdict.different == 0) {
    std::printf("%-36s agrees  %zu words%s\n", one.name.c_str(), verdict.words,
                one.slack.ulp > 0 ? ", within its bound" : "");
    return true;
  }
  std::printf("%-36s DIFFERS %zu of %zu words; %s\n", one.name.c_str(), verdict.different,
              verdict.words, verdict.first.c_str());
  return false;
}

int compare_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Expected expected;
  try {
    expected = read(file);
  } catch (const std::exception& wrong) {
    throw std::runtime_error(path + ": " + wrong.what());
  }
  const Probes probes = all_probes();
  std::size_t agree = 0;
  for (const Probe& one : probes) {
    if (compare_one(one, expected)) ++agree;
    std::fflush(stdout);
  }
  for (const auto& [name, words] : expected) {
    const auto is_it = [&name = name](const Probe& one) { return one.name == name; };
    if (std::none_of(probes.begin(), probes.end(), is_it)) {
      std::printf("%-36s left out: not of this architecture\n", name.c_str());
    }
  }
  std::printf("conformance: %zu of %zu probes agree\n", agree, probes.size());
  return agree == probes.size() ? 0 : 5;
}

}  // namespace
}  // namespace tiersim::kernels::conformance

int main(int count, char** arguments) {
  using namespace tiersim::kernels::conformance;
  const std::string what = count == 3 ? arguments[1] : "";
  try {
    if (what == "--write") return write_file(arguments[2]);
    if (what == "--compare") return compare_file(arguments[2]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "conformance: %s\n", failure.what());
    return 1;
  }
  std::fprintf(stderr, "usage: conformance --write FILE | --compare FILE\n");
  return 2;
}
