// The conformance program: its file, its verdict, and a complete round of it on the emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "kernels/campaign/conformance_file.hpp"

namespace tiersim::kernels::conformance::conformance_test {
namespace {

using ::testing::HasSubstr;

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

std::string complaint(const std::string& text) {
  std::istringstream from(text);
  try {
    read(from);
  } catch (const std::runtime_error& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(ConformanceFile, ReadsWhatItWrote) {
  Expected expected;
  expected["a.probe"] = {0, 1, 0xffffffffU};
  expected["longer"] = std::vector<std::uint32_t>(17, 0xabcdef01U);
  std::stringstream file;
  write(file, expected);
  EXPECT_EQ(read(file), expected);
}

TEST(ConformanceFile, SaysWhichLineIsWrong) {
  const std::string head = "tiersim.conformance/v1\n";
  EXPECT_EQ(complaint(head), "");
  EXPECT_EQ(complaint(""), "line 1: expected 'tiersim.conformance/v1'");
  EXPECT_EQ(complaint(head + "name\n"), "line 2: expected '<probe> <words>'");
  EXPECT_EQ(complaint(head + "name 99999999\n"), "line 2: expected '<probe> <words>'");
  EXPECT_EQ(complaint(head + "name 2\n00000000\n"), "line 4: the file ends within 'name'");
  EXPECT_EQ(complaint(head + "name 1\n0000000g\n"),
            "line 3: '0000000g' is no word of eight hexadecimal digits");
  EXPECT_EQ(complaint(head + "name 1\n00000000 00000000\n"), "line 3: more words than announced");
  EXPECT_EQ(complaint(head + "name 1\n00000000\nname 1\n00000000\n"),
            "line 4: 'name' stands twice");
}

TEST(ConformanceJudgement, IsBitForBitWithoutABound) {
  const Verdict same = judge({1, 2}, {1, 2}, 0, 0);
  EXPECT_EQ(same.different, 0);
  EXPECT_EQ(same.words, 2);
  const Verdict other = judge({1, 2, 3}, {1, 0x20, 0x30}, 0, 0);
  EXPECT_EQ(other.different, 2);
  EXPECT_EQ(other.first, "word 1: 00000020, the emulator says 00000002");
  EXPECT_EQ(judge({bits(0.0F)}, {bits(-0.0F)}, 0, 0).different, 1);
  EXPECT_EQ(judge({1, 2}, {1}, 0, 0).different, 2);
}

TEST(ConformanceJudgement, CountsUnitsInTheLastPlace) {
  constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(ulp_distance(bits(1.0F), bits(1.0F + 0x1p-23F)), 1);
  EXPECT_EQ(ulp_distance(bits(1.0F), bits(1.0F - 0x1p-23F)), 2);
  EXPECT_EQ(ulp_distance(bits(0.0F), bits(-0.0F)), 0);
  EXPECT_EQ(ulp_distance(bits(0x1p-149F), bits(-0x1p-149F)), 2);
  EXPECT_EQ(ulp_distance(0x7fc00000U, 0xffffffffU), 0);
  EXPECT_EQ(ulp_distance(0x7fc00000U, bits(1.0F)), kFar);
}

TEST(ConformanceJudgement, EitherBoundIsEnough) {
  EXPECT_EQ(judge({bits(1.0F)}, {bits(1.0F + 0x1p-22F)}, 2, 0).different, 0);
  EXPECT_EQ(judge({bits(1.0F)}, {bits(1.0F + 0x1p-22F)}, 1, 0).different, 1);
  EXPECT_EQ(judge({bits(1e-9F)}, {bits(-1e-9F)}, 1, 1e-8F).different, 0);
  EXPECT_EQ(judge({bits(1e-9F)}, {0x7fc00000U}, 1, 1e-8F).different, 1);  // NaN
}

int run(const std::string& arguments, const std::filesystem::path& output) {
  const std::string command =
      std::string(TIERSIM_CONFORMANCE) + ' ' + arguments + " > " + output.string() + " 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Conformance, EveryProbeAgreesWithItselfAndADamagedWordIsFound) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "tiersim_conformance";
  std::filesystem::create_directories(folder);
  const std::filesystem::path expected = folder / "expected.txt";
  const std::filesystem::path said = folder / "said.txt";
  ASSERT_EQ(run("--write " + expected.string(), said), 0) << text_of(said);
  EXPECT_EQ(run("--compare " + expected.string(), said), 0) << text_of(said);
  EXPECT_THAT(text_of(said), HasSubstr("48 of 48 probes agree"));

  Expected words;
  {
    std::ifstream file(expected);
    words = read(file);
  }
  words["wgmma.n64.b_k_major.a_shared"].at(77) ^= 1U;
  words.erase("hopper.bulk_ring");
  words["of.another.architecture"] = {1};
  {
    std::ofstream file(expected);
    write(file, words);
  }
  EXPECT_EQ(run("--compare " + expected.string(), said), 5);
  EXPECT_THAT(text_of(said), HasSubstr("DIFFERS 1 of 4096 words; word 77: "));
  EXPECT_THAT(text_of(said), HasSubstr("MISSING in the file"));
  EXPECT_THAT(text_of(said), HasSubstr("left out: not of this architecture"));
  EXPECT_THAT(text_of(said), HasSubstr("46 of 48 probes agree"));
  std::filesystem::remove_all(folder);
}

TEST(Conformance, SaysWhatItCannotRead) {
  const std::filesystem::path said =
      std::filesystem::path(::testing::TempDir()) / "tiersim_conformance_said.txt";
  EXPECT_EQ(run("", said), 2);
  EXPECT_THAT(text_of(said), HasSubstr("usage: conformance --write FILE"));
  EXPECT_EQ(run("--compare /nowhere/at/all", said), 1);
  EXPECT_THAT(text_of(said), HasSubstr("cannot read /nowhere/at/all"));
  std::filesystem::remove(said);
}

}  // namespace
}  // namespace tiersim::kernels::conformance::conformance_test
