// The campaign's files, and the exact error messages for wrong ones.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/hwmodels/timing_texts.hpp"

namespace tiersim::calibrate_read_campaign_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read;
using testing::refusals;
using ::testing::SizeIs;
using testing::told;

// The file of three_impossible.json: one entry on each line, from line 4.
class Campaign {
 public:
  Campaign() {
    std::ostringstream content;
    content << std::ifstream(std::string(TIERSIM_SOURCE_DIR) +
                             "/tests/unit/hwmodels/data/three_impossible.json")
                   .rdbuf();
    text_ = content.str();
  }
  // The first `from` of a line (from 1).
  Campaign& replace(int line, const std::string& from, const std::string& to) {
    const std::size_t at = text_.find(from, start(line));
    EXPECT_LT(at, start(line + 1)) << from;
    text_.replace(at, from.size(), to);
    return *this;
  }
  // Repeats the entry of a line after itself.
  Campaign& repeat(int line) {
    const std::string entry = text_.substr(start(line), start(line + 1) - start(line));
    text_.insert(start(line + 1), entry);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::size_t start(int line) const {
    std::size_t at = 0;
    for (int i = 1; i < line; ++i) at = text_.find('\n', at) + 1;
    return at;
  }
  std::string text_;
};

TEST(ReadCampaign, TakesCasesPeaksAndContext) {
  const TimingSet set = read(Campaign().text());
  EXPECT_EQ(set.format, "campaign");
  EXPECT_EQ(set.device, "emulator");
  EXPECT_EQ(set.date, "2026-11-21T12:00:00Z");
  EXPECT_EQ(set.data_class, "none");
  EXPECT_EQ(set.build_id, "0000000000000000");
  EXPECT_EQ(set.l2_bytes, 60 * 1024 * 1024);
  ASSERT_THAT(set.peaks, SizeIs(5));
  EXPECT_EQ(set.peaks[0].name, "memory");
  EXPECT_EQ(set.peaks[0].value, 4.8e12);
  EXPECT_EQ(set.peaks[0].number_class, NumberClass::specification);
  ASSERT_THAT(set.cases, SizeIs(13));
  const TimingCase& join = set.cases[0];
  EXPECT_EQ(join.where, "f:4:3");
  EXPECT_EQ(join.name, "dense.join.1048576/cold");
  EXPECT_EQ(join.kernel, "join");
  EXPECT_EQ(join.variant, "one_shot");
  EXPECT_EQ(join.work.memory_bytes, 2097152);  // read and written
  EXPECT_EQ(join.tail, 1);                     // the occupancy of its launches is not known
  EXPECT_EQ(join.bytes_in_flight, 0);
  EXPECT_DOUBLE_EQ(join.seconds, 3524e-9);  // 3 us and 2 MiB at 4 TB/s
}

// 396 blocks on 132 multiprocessors that hold two each: 1.5 waves, so that the last half costs a
// whole one; 264 blocks at once with 1000 B each. The combining launch after it does not count.
TEST(ReadCampaign, TakesTailAndBytesInFlightFromTheLaunchThatStreams) {
  const auto launch = [](int blocks, int bytes, double waves) {
    return R"({"kernel": "k", "blocks": )" + std::to_string(blocks) +
           R"(, "threads": 128, "shared_bytes": 0, "bytes_in_flight_per_block": )" +
           std::to_string(bytes) +
           R"(, "known": true, "registers": 1, "local_bytes": 0, "static_shared_bytes": 0, )" +
           R"("blocks_per_multiprocessor": 2, "waves": )" + std::to_string(waves) +
           R"(, "tail": 0.5})";
  };
  Campaign campaign;
  campaign.replace(2, R"("multiprocessors": 0)", R"("multiprocessors": 132)");
  campaign.replace(4, R"("launches": [])",
                   R"("launches": [)" + launch(396, 1000, 1.5) + ", " + launch(9999, 10, 30) + "]");
  campaign.replace(5, R"("launches": [])", R"("launches": [)" + launch(66, 1000, 0.25) + "]");
  const TimingSet set = read(campaign.text());
  EXPECT_DOUBLE_EQ(set.cases[0].tail, 2 / 1.5);
  EXPECT_EQ(set.cases[0].bytes_in_flight, 264000);
  EXPECT_DOUBLE_EQ(set.cases[1].tail, 4);  // a quarter of the device
  EXPECT_EQ(set.cases[1].bytes_in_flight, 66000);
}

TEST(ReadCampaign, MergesTheProcessesOfACase) {
  Campaign campaign;
  campaign.repeat(4);
  campaign.replace(5, "process:0", "process:1");
  campaign.replace(5, R"("repetition_index": 0)", R"("repetition_index": 1)");
  campaign.replace(5, R"("real_time": 3524.0)", R"("real_time": 3724.0)");
  campaign.replace(5, R"("dependent_node": {"median_ns": 3524.0)",
                   R"("dependent_node": {"median_ns": 3724.0)");
  EXPECT_THAT(refusals(read(campaign.text())),
              ElementsAre(HasSubstr("bad interval: of its 2 repeats, number 2 has a median of "
                                    "3.724 us that is not within")));
  campaign.replace(5, R"("high_ns": 3559.2400000000002)", R"("high_ns": 3800)");
  const TimingSet set = read(campaign.text());
  ASSERT_THAT(set.cases, SizeIs(13));
  EXPECT_DOUBLE_EQ(set.cases[0].seconds, 3624e-9);  // of two, their mean
  EXPECT_DOUBLE_EQ(set.cases[0].high, 3724e-9);
  EXPECT_DOUBLE_EQ(set.cases[0].low, 3524e-9 * 0.99);
  EXPECT_NEAR(set.cases[0].repeat_noise, 100.0 / 3624, 1e-12);
  campaign.replace(5, R"("read_bytes": 1048576)", R"("read_bytes": 1048577)");
  EXPECT_THAT(
      told(campaign.text()),
      HasSubstr("benchmarks[1]: this process of 'dense.join.1048576/cold' has another kernel, "
                "shape or work than the one at f:4:3"));
}

TEST(ReadCampaign, RefusesATimeOfAWrongResult) {
  Campaign campaign;
  campaign.replace(4, R"("error": 0.0)", R"("error": 0.5)");
  campaign.replace(5, R"("compared": 1)", R"("compared": 0)");
  const TimingSet set = read(campaign.text());
  EXPECT_THAT(set.cases, SizeIs(11));
  EXPECT_THAT(refusals(set),
              ElementsAre("f:4:3: error: dense.join.1048576/cold: wrong result: its error "
                          "against float64 is 0.5, above the tolerance 0",
                          "f:5:3: error: dense.join.4194304/cold: wrong result: timed without "
                          "having been compared with float64"));
}

TEST(ReadCampaign, NotesWhatTheCampaignHasNoResultOf) {
  Campaign campaign;
  campaign.replace(17, R"("refused": [])", R"("refused": [{"name": "a", "reason": "no card"}])");
  EXPECT_THAT(read(campaign.text()).notes,
              ElementsAre("f:17:14: a: the campaign has no result: no card"));
}

TEST(ReadCampaign, ListsEveryMistakeWithItsPlace) {
  Campaign campaign;
  campaign.replace(2, R"("class": "none")", R"("class": "measured")");
  campaign.replace(2, R"("l2_bytes": 62914560)", R"("l2_byte": 62914560)");
  campaign.replace(4, R"("real_time": 3524.0)", R"("real_time": 3525.0)");
  campaign.replace(5, R"("baseline": false)", R"("baseline": 0)");
  campaign.replace(6, R"("temperature": "cold")", R"("temperature": "cool")");
  campaign.replace(7, R"("read_bytes": 67108864)", R"("read_bytes": -1)");
  campaign.replace(8, "process:0", "process:1");
  campaign.repeat(15);
  EXPECT_EQ(
      told(campaign.text()),
      "f:2:170: error: context.class: this says 'measured', but no card and compiler stand behind "
      "it "
      "(a dry run on the emulator is of class 'none')\n"
      "f:2:304: error: context.device: 'l2_bytes' is missing (a whole number)\n"
      "f:2:403: error: context.device.l2_byte: unknown key 'l2_byte' (did you mean 'l2_bytes'?)\n"
      "f:4:187: error: benchmarks[0].real_time: this is not the median of 'dependent_node'\n"
      "f:5:387: error: benchmarks[1].baseline: this must be true or false, not 0\n"
      "f:6:410: error: benchmarks[2].temperature: 'cool' is not one of cold, warm\n"
      "f:7:534: error: benchmarks[3].work.read_bytes: -1 is not a whole number of at least 0\n"
      "f:8:4: error: benchmarks[4].name: 'dense.join.268435456/cold/process:1' is not "
      "'dense.join.268435456/cold/process:0', as its members say\n"
      "f:16:4: error: benchmarks[12].name: 'latent.append.b4/cold/process:0' stands twice\n");
}

}  // namespace
}  // namespace tiersim::calibrate_read_campaign_test
