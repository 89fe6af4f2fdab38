// Occupancy: the formula, and a check that every kernel of the campaign keeps the number of blocks
// of its design.
#include "kernels/campaign/occupancy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "kernels/cases/all_cases.hpp"

#if defined(TS_TEST_TOOLKIT)
int toolkit_blocks_per_multiprocessor(int threads, int registers, int shared_bytes);
#endif

namespace tiersim::kernels::bench::occupancy_test {
namespace {

const Multiprocessor kHopper = multiprocessor("90a");

TEST(Occupancy, IsLimitedByThreadsRegistersSharedMemoryOrBlocks) {
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 256, 32, 0), 8);          // 2048 threads / 256
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 32, 16, 0), 32);          // blocks
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 256, 128, 0), 2);         // 65536 / (256 x 128)
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 128, 32, 75 * 1024), 3);  // 3 x 76 KB = 228 KB
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 128, 32, 76 * 1024), 2);
}

TEST(Occupancy, RegistersAreGivenOutInUnitsOf256AWarp) {
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 32, 249, 0), 8);  // as 256: 2 warps a quarter
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 96, 168, 0), 4);  // 12 warps of 5376 in 4 quarters
}

TEST(Occupancy, IsZeroWhereNoBlockFits) {
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 1024, 72, 0), 0);
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 128, 32, 227 * 1024 + 1), 0);
  EXPECT_EQ(blocks_per_multiprocessor(kHopper, 1056, 32, 0), 0);
}

TEST(Occupancy, UnknownArchitecturesAreRefused) {
  EXPECT_THROW(multiprocessor("75"), std::invalid_argument);
}

#if defined(TS_TEST_TOOLKIT)
TEST(Occupancy, IsWhatTheToolkitSays) {
  for (const int threads : {32, 64, 96, 128, 192, 256, 384, 512, 1024}) {
    for (const int registers : {16, 24, 32, 40, 64, 72, 96, 128, 168, 255}) {
      for (const int shared_bytes : {0, 1000, 16384, 49152, 75 * 1024, 113 * 1024, 227 * 1024}) {
        const int toolkit = toolkit_blocks_per_multiprocessor(threads, registers, shared_bytes);
        EXPECT_EQ(blocks_per_multiprocessor(kHopper, threads, registers, shared_bytes), toolkit)
            << threads << " threads, " << registers << " registers, " << shared_bytes << " B";
      }
    }
  }
}
#endif

/// kernels/budgets.txt for sm_90a: kernel to registers.
std::map<std::string, int> budgets() {
  std::ifstream file(std::filesystem::path(TIERSIM_SOURCE_DIR) / "kernels" / "budgets.txt");
  std::map<std::string, int> found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kernel;
    std::string architecture;
    int registers = 0;
    if (words >> kernel >> architecture >> registers && architecture == "90a") {
      found[kernel] = registers;
    }
  }
  return found;
}

bool is_ceiling(const Case& made) {
  const std::string family = made.info().family;
  return family == "ceiling" || family == "host_gather";  // their bytes in flight vary by design
}

// A launch whose blocks do not fit would fail on the card. A kernel without a budget has been
// renamed.
TEST(Occupancy, EveryLaunchOfTheCampaignFitsAMultiprocessor) {
  const std::map<std::string, int> registers = budgets();
  ASSERT_FALSE(registers.empty());
  std::set<std::string> seen;
  std::set<std::string> unknown;  // reported once
  for (const CaseEntry& entry : all_cases(Sizes::timed)) {
    const std::unique_ptr<Case> made = entry.make();
    if (made->info().baseline) continue;
    for (LaunchUse use : made->launches()) {
      std::erase(use.kernel, ' ');
      const auto budget = registers.find(use.kernel);
      seen.insert(use.kernel);
      if (budget == registers.end()) {
        EXPECT_TRUE(unknown.count(use.kernel) > 0) << entry.name << " launches " << use.kernel;
        unknown.insert(use.kernel);
        continue;
      }
      const int blocks = blocks_per_multiprocessor(kHopper, use.threads, budget->second,
                                                   static_cast<int>(use.shared_bytes));
      EXPECT_GE(blocks, 1) << entry.name << ": " << use.kernel;
      // Streaming kernels with enough blocks: the 4.3 TB/s and about 0.75 us of an H200's memory
      // need 24 KB in flight on each of 132 multiprocessors.
      const bool streams = made->work().read_bytes > std::int64_t{100} << 20U;
      const bool fills = use.blocks >= std::int64_t{132} * blocks;
      // Less by design: fp32 keys of 32768 tokens leave room for one block with 16 KB.
      const bool short_of_it = entry.name.starts_with("screening.topk.f32-i32.b32-h32-s32768");
      if (streams && fills && !short_of_it && use.bytes_in_flight_per_block > 0 &&
          !is_ceiling(*made)) {
        EXPECT_GE(blocks * use.bytes_in_flight_per_block, 24 * 1024)
            << entry.name << ": " << use.kernel << ", " << blocks << " blocks";
      }
    }
  }
  EXPECT_GE(seen.size(), 12U);
}

}  // namespace
}  // namespace tiersim::kernels::bench::occupancy_test
