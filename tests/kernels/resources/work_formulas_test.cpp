// The formulas that hold the rows of a file to their sizes (work_formulas.hpp) are those of the
// kernels: each case of a card has exactly the work that its sizes give, and a dry run, whose
// sequences may be shorter, no more.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hwmodels/calibrate/read/plausibility.hpp"
#include "kernels/cases/all_cases.hpp"

namespace tiersim::kernels::work_formulas_test {
namespace {

TimingSet set_of(Sizes sizes) {
  TimingSet set;
  set.file = "cases";
  set.format = "campaign";
  set.data_class = sizes == Sizes::toy ? "none" : "measured";
  for (const CaseEntry& entry : all_cases(sizes)) {
    const auto made = entry.make();
    const CaseInfo info = made->info();
    const Work work = made->work();
    TimingCase timing;
    timing.where = "cases:" + std::to_string(set.cases.size() + 1) + ":1";
    timing.name = entry.name + "/cold";
    timing.kernel = info.kernel;
    timing.variant = info.variant;
    timing.dtype = info.dtype;
    timing.shape.insert(info.shape.begin(), info.shape.end());
    timing.baseline = info.baseline;
    timing.work.memory_bytes = static_cast<double>(work.read_bytes + work.written_bytes);
    timing.work.link_read_bytes = static_cast<double>(work.link_read_bytes);
    timing.work.link_write_bytes = static_cast<double>(work.link_written_bytes);
    timing.work.flops = static_cast<double>(std::max(work.flops, work.issued_flops));
    timing.seconds = timing.low = timing.high = 1;
    set.cases.push_back(std::move(timing));
  }
  return set;
}

// The cases that their sizes refuse, with the messages.
std::set<std::string> refused(const TimingSet& set, std::string& told) {
  std::set<std::string> out;
  for (const TimingRefusal& refusal : check_timings(set).refused) {
    const bool slip = refusal.rule.ends_with("for bytes");
    if (!refusal.rule.ends_with("against sizes") && !slip) continue;
    out.insert(refusal.name);
    told += text(refusal) + '\n';
  }
  return out;
}

TEST(WorkFormulas, AreThoseOfEveryKernelOfACard) {
  const TimingSet set = set_of(Sizes::timed);
  ASSERT_GT(set.cases.size(), 200U);
  std::string told;
  EXPECT_EQ(refused(set, told).size(), 0U) << told;
  EXPECT_EQ(check_timings(set).notes, std::vector<std::string>{});  // each has a formula
}

TEST(WorkFormulas, LimitADryRun) {
  std::string told;
  EXPECT_EQ(refused(set_of(Sizes::toy), told).size(), 0U) << told;
}

TEST(WorkFormulas, FindHalfAndOneFourteenthMoreInAnyCase) {
  for (const double factor : {0.5, 1.073}) {
    TimingSet bytes = set_of(Sizes::timed);
    TimingSet flops = bytes;
    std::size_t with_flops = 0;
    for (TimingCase& timing : bytes.cases) {
      timing.work.memory_bytes *= factor;
      timing.work.link_read_bytes *= factor;
    }
    for (TimingCase& timing : flops.cases) {
      timing.work.flops *= factor;
      with_flops += timing.work.flops > 0 ? 1 : 0;
    }
    std::string told;
    EXPECT_EQ(refused(bytes, told).size(), bytes.cases.size());
    EXPECT_EQ(refused(flops, told).size(), with_flops);
  }
}

}  // namespace
}  // namespace tiersim::kernels::work_formulas_test
