#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/sample_text.hpp"

namespace tiersim::reader_test {
namespace {

using namespace sample;
using namespace std::chrono_literals;

TEST(Reader, FillsEveryKindOfMember) {
  const Read got = read_text(kText);
  EXPECT_EQ(got.mistakes, "");
  const Experiment& c = got.config;
  EXPECT_EQ(c.name, "demo");
  EXPECT_TRUE(c.model.tied);
  EXPECT_EQ(c.devices.at("hbm").kind, "memory");
  EXPECT_EQ(c.devices.at("hbm").memory.peak.value, Bandwidth::from_base(4'800'000'000'000));
  EXPECT_EQ(c.devices.at("pcie").link.lanes, 8);
  EXPECT_EQ(c.step.kv_type, DataType::fp8);
  EXPECT_THAT(c.path, ::testing::ElementsAre("pcie", "hbm"));
  ASSERT_EQ(c.windows.size(), 1U);
  EXPECT_EQ(c.windows[0].to, Duration(2ms));
  ASSERT_TRUE(c.warm_up.has_value());
  EXPECT_EQ(c.warm_up->to, Duration(500us));
}

TEST(Reader, LeavesAMissingOptionalAtItsDefault) {
  const Read got = read_text(kText);
  EXPECT_EQ(got.config.note, "none");
  EXPECT_EQ(got.config.scale, std::nullopt);
  EXPECT_EQ(got.config.devices.at("hbm").memory.efficiency.source, "ideal");
}

TEST(Reader, ReportsNoMissingKeyThatIsThereMisspelt) {
  EXPECT_EQ(read_text(with("batch: 4", "bacth: 4")).mistakes,
            "a.yaml:10:8: error: step: unknown key 'bacth' (did you mean 'batch'?)\n");
}

TEST(Reader, ReportsNoFieldsOfAnUnknownKind) {
  EXPECT_EQ(read_text(with("model: link", "model: lnk")).mistakes,
            "a.yaml:9:17: error: devices.pcie.model: unknown value 'lnk' (did you mean 'link'? one "
            "of: memory, link)\n");
}

TEST(Reader, ChecksAcrossFieldsOnlyWhenAllCouldBeRead) {
  EXPECT_EQ(read_text(with("kv_heads: 2", "kv_heads: 3")).mistakes,
            "a.yaml:3:42: error: model.kv_heads: does not divide heads (every key head serves the "
            "same number of query heads)\n");
  EXPECT_EQ(read_text(with("layers: 2, heads: 8, kv_heads: 2", "layers: 0, heads: 8, kv_heads: 3"))
                .mistakes,
            "a.yaml:3:29: error: model.layers: '0' is out of range (allowed: 1 to 1000)\n");
  // Neither beside a key that is not read, nor above a mapping with a mistake.
  EXPECT_EQ(read_text(with("kv_heads: 2, tied", "kv_heads: 3, tide")).mistakes,
            "a.yaml:3:55: error: model: unknown key 'tide' (did you mean 'tied'?)\n");
  EXPECT_EQ(
      read_text(with("pcie: {model: link, raw: 64 GB/s", "pci: {model: link, raw: 0 B/s")).mistakes,
      "a.yaml:9:27: error: devices.pci.raw: '0 B/s' is out of range (allowed: above 0)\n");
}

TEST(Reader, NamesTheElementOfAListInACheck) {
  EXPECT_EQ(read_text(with("[pcie, hbm]", "[pcie, ssd]")).mistakes,
            "a.yaml:11:14: error: path.1: no device is named 'ssd' (the devices are: hbm, pcie)\n");
}

TEST(Reader, TakesNumbersAtTheirBounds) {
  EXPECT_EQ(read_text(with("layers: 2", "layers: 1000")).mistakes, "");
  EXPECT_EQ(read_text(with("lanes: 8", "lanes: 8, latency: 1 ms")).mistakes, "");
  EXPECT_EQ(read_text(with("lanes: 8", "lanes: 8, latency: 1.001 ms")).mistakes,
            "a.yaml:9:56: error: devices.pcie.latency: '1.001 ms' is out of range (allowed: 0 ps "
            "to 1 ms)\n");
  EXPECT_EQ(read_text(with("path:", "scale: 0\npath:")).mistakes,
            "a.yaml:11:8: error: scale: '0' is out of range (allowed: above 0)\n");
}

TEST(Reader, TakesNoQuotedNumberAndNoInfinity) {
  EXPECT_EQ(read_text(with("layers: 2", "layers: \"2\"")).mistakes,
            "a.yaml:3:29: error: model.layers: expected a whole number, found text '2' (without "
            "quotes)\n");
  for (const char* text : {"inf", "nan", "1e999", "0x10", "1,5"})
    EXPECT_EQ(read_text(with("path:", std::string("scale: ") + text + "\npath:")).mistakes,
              std::string("a.yaml:11:8: error: scale: expected a number, found '") + text + "'\n");
}

TEST(Reader, SaysOfANumberOfTooManyDigitsThatItIsTooLarge) {
  for (const char* text : {"99999999999999999999", "-99999999999999999999"})
    EXPECT_EQ(read_text(with("layers: 2", std::string("layers: ") + text)).mistakes,
              std::string("a.yaml:3:29: error: model.layers: '") + text + "' is too large\n");
}

TEST(Reader, ReadsANullOptionalAsNone) {
  const Read got = read_text(with("warm_up: {from: 0 ps, to: 500 us}", "warm_up:"));
  EXPECT_EQ(got.mistakes, "");
  EXPECT_EQ(got.config.warm_up.has_value(), false);
}

TEST(Reader, AsksWhereANumberComesFrom) {
  EXPECT_EQ(read_text(with("source: \"data sheet\"", "source: \"\"")).mistakes,
            "a.yaml:7:53: error: devices.hbm.capacity.source: is empty (say where the number comes "
            "from)\n");
}

}  // namespace
}  // namespace tiersim::reader_test
