// Planted mistake              caught by
// newest_evicted               any schedule, where a row stays that is not chosen
// chosen_not_pinned            any schedule, where a chosen row is among the oldest
// no_barrier_before_victims    greedy_warp: a miss takes its slot before the victims are listed
// no_tail_mask                 any schedule, at a list shorter than k
#include "kernels/cases/lru_update_case.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::lru_update_test {
namespace {

using reference::HotRow;
using Small = LruUpdateCase<64, 2>;

template <class Subject>
MakeCase subject(const HotShape& shape) {
  return [=] { return std::make_unique<Subject>(shape); };
}

HotShape shape_of(std::vector<int> lengths, int k, int slots, int misses, int free = 0) {
  return {.batch = static_cast<int>(lengths.size()),
          .context = *std::max_element(lengths.begin(), lengths.end()),
          .k = k,
          .slots = slots,
          .misses = misses,
          .free = free,
          .lengths = lengths};
}

// Slots 0 to 3, of which 3 is free, then the oldest row is 7. The step finds 5, and fetches 2 and 6
// into the free slot and into that of 7; 9 stays.
TEST(UseRows, KeepsTheOrderOfStepsAndPinsTheRowsOfThisOne) {
  const auto step = reference::use_rows({{-1, 3}, {5, 0}, {7, 1}, {9, 2}}, {2, 5, 6});
  EXPECT_EQ(step.held, (std::vector<HotRow>{{9, 2}, {2, 3}, {6, 1}, {5, 0}}));
  EXPECT_EQ(step.missed, (std::vector<reference::HotMove>{{2, 3, 0}, {6, 1, 2}}));
  EXPECT_EQ(step.found, (std::vector<reference::HotMove>{{5, 0, 1}}));
}

TEST(LruUpdate, IsTheSequentialLruOverRaggedLists) {
  expect_right_and_counted(subject<Small>(shape_of({400, 131, 96, 40, 39, 1, 0}, 40, 96, 11)));
}

TEST(LruUpdate, FindsAllAndNothing) {
  expect_right_and_counted(subject<Small>(shape_of({300, 60}, 50, 128, 0)));
  expect_right_and_counted(subject<Small>(shape_of({300, 60}, 50, 128, 50)));
}

TEST(LruUpdate, TakesFreeSlotsFirst) {
  expect_right_and_counted(subject<Small>(shape_of({300}, 50, 120, 20, 7)));
  expect_right_and_counted(subject<Small>(shape_of({300}, 50, 120, 20, 60)));
  expect_right_and_counted(subject<Small>(shape_of({300}, 50, 120, 50, 120)));  // the first step
}

TEST(LruUpdate, ReplacesTheWholeBuffer) {
  expect_right_and_counted(subject<Small>(shape_of({300}, 64, 64, 64)));
  expect_right_and_counted(subject<Small>(shape_of({300}, 64, 64, 1)));
  expect_right_and_counted(subject<Small>(shape_of({5}, 1, 1, 1)));
}

TEST(LruUpdate, DecidesForManyRows) {
  expect_right_under(subject<LruUpdateCase<256, 4>>(shape_of({5000}, 511, 1001, 77)),
                     {emulator::Order::shuffled, emulator::Landing::late, 3});
}

// Twenty steps in place. Chosen tokens drift, so that rows come, stay, and come again.
TEST(LruUpdate, FollowsManyStepsInPlace) {
  constexpr int kTokens = 60;
  constexpr int kRows = 16;
  constexpr int kSlots = 24;
  std::vector<HotRow> rows;
  std::vector<int2> table;
  for (int slot = 0; slot < kSlots; ++slot) {
    rows.push_back({-1, slot});
    table.push_back(make_int2(-1, slot));
  }
  DeviceArray<int2> held(table, "held");
  DeviceArray<int> lengths(std::vector<int>{kTokens}, "lengths");
  DeviceArray<int> slot_of(kRows, "slot_of");
  DeviceArray<int2> moves(kRows, "moves");
  DeviceArray<int> misses(1, "misses");
  Random random(9);
  Stream stream;
  int missed = 0;
  for (int step = 0; step < 20; ++step) {
    std::vector<int> list = ascending_numbers(kRows, kTokens / 2, random);
    for (int& token : list) token += step;
    DeviceArray<int> chosen(list, "chosen");
    const LruArguments arguments{chosen.data(), lengths.data(), held.data(),
                                 held.data(),   slot_of.data(), moves.data(),
                                 misses.data(), kRows,          kSlots};
    launch(stream, &lru_update<32, 1>, {dim3(1), dim3(32), lru_shared_bytes(kRows, 32)}, arguments);
    const reference::HotStep expected = reference::use_rows(rows, list);
    rows = expected.held;
    const std::vector<int2> got = held.download();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i], (HotRow{got[i].x, got[i].y})) << "step " << step << ", row " << i;
    }
    EXPECT_EQ(misses.download()[0], static_cast<int>(expected.missed.size()));
    missed += step > 0 ? misses.download()[0] : 0;
  }
  EXPECT_GT(missed, 0);
  EXPECT_LT(missed, 19 * kRows);
}

TEST(LruUpdate, PlantedMistakesAreCaught) {
  const HotShape shape = shape_of({300, 30}, 40, 96, 11);
  EXPECT_FALSE(is_caught(subject<Small>(shape)));
  EXPECT_TRUE(is_caught(subject<LruUpdateCase<64, 2, Mistake::newest_evicted>>(shape)));
  EXPECT_TRUE(is_caught(subject<LruUpdateCase<64, 2, Mistake::chosen_not_pinned>>(shape)));
  EXPECT_TRUE(is_caught(subject<LruUpdateCase<64, 2, Mistake::no_tail_mask>>(shape)));
}

TEST(LruUpdate, AMissingBarrierIsCaught) {
  TS_SKIP_UNDER_TSAN();
  const HotShape shape = shape_of({300}, 100, 120, 60);  // a list of both warps
  EXPECT_FALSE(is_caught(subject<Small>(shape)));
  EXPECT_TRUE(is_caught(subject<LruUpdateCase<64, 2, Mistake::no_barrier_before_victims>>(shape)));
}

}  // namespace
}  // namespace tiersim::kernels::lru_update_test
