// The claims of processes that share a sweep. Each ClaimsFile stands for one process: its locks are
// of the file that it opened, and are released when it is gone.
#include "sim/sweep/claims_file.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/sweep/shared_claims.hpp"
#include "sim/sweep/sqlite.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tiersim::claims_file_test {
namespace {
namespace fs = std::filesystem;
using Process = std::unique_ptr<ClaimsFile>;
using std::chrono::milliseconds;

class Claims : public ::testing::Test {
 protected:
  Process process(const std::string& host = "one") {
    const ClaimsFile::Times times{.beat = milliseconds(20), .silence = milliseconds(300)};
    return std::make_unique<ClaimsFile>(path_, host, times);
  }
  // A process with a slot; the first one begins the sweep.
  Process joined(const std::string& host = "one", std::int64_t points = 100) {
    Process out = process(host);
    EXPECT_TRUE(out->lock());
    if (!out->anyone()) out->begin("d1", points);
    out->join();
    out->unlock();
    return out;
  }
  static std::optional<PointRange> claim(ClaimsFile& file, std::size_t slot, std::int64_t count) {
    EXPECT_TRUE(file.lock());
    const auto out = file.claim(slot, count);
    file.unlock();
    return out;
  }
  std::string text() const {
    std::stringstream out;
    out << std::ifstream(path_).rdbuf();
    return out.str();
  }
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

  testing::TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "a.db.claims";
};

TEST_F(Claims, EveryPositionIsClaimedOnce) {
  const Process first = joined();
  const Process second = joined();
  EXPECT_EQ(claim(*first, 1, 30), (PointRange{0, 30}));
  EXPECT_EQ(claim(*second, 2, 50), (PointRange{30, 80}));
  EXPECT_EQ(claim(*first, 1, 50), (PointRange{80, 100}));
  EXPECT_EQ(claim(*second, 2, 1), std::nullopt);
  EXPECT_EQ(text().substr(0, 31), "tiersim.claims/v1 d1 100\nslot o");
}

TEST_F(Claims, OneProcessHasItsTurnAtATime) {
  const Process first = joined();
  const Process second = joined();
  ASSERT_TRUE(first->lock());
  std::atomic<bool> had_turn = false;
  std::jthread other([&] {
    had_turn = second->lock();
    second->unlock();
  });
  first->claim(1, 30);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(had_turn);
  first->unlock();
  other.join();
  EXPECT_TRUE(had_turn);
  EXPECT_EQ(second->contents().next, 30);
}

TEST_F(Claims, ASlotIsTakenOverOnlyWhenItsProcessIsGone) {
  Process first = joined();
  const Process second = joined();
  claim(*first, 1, 30);
  claim(*second, 2, 10);
  claim(*first, 1, 60);
  ASSERT_TRUE(second->lock());
  EXPECT_TRUE(second->anyone());
  EXPECT_EQ(second->take_lost(), std::nullopt);
  second->unlock();
  first.reset();
  ASSERT_TRUE(second->lock());
  EXPECT_FALSE(second->anyone());
  EXPECT_EQ(second->take_lost(), 1);
  EXPECT_EQ(second->take_lost(), std::nullopt);
  EXPECT_EQ(second->slot(1).holder, 2);
  second->unlock();
  SharedClaims claims(*second, 1, 1);
  EXPECT_EQ(claims.next(), (PointRange{0, 30}));
  EXPECT_EQ(claims.next(), (PointRange{40, 100}));
  EXPECT_EQ(claims.next(), std::nullopt);
  EXPECT_EQ(claims.of_others(), 10);
}

TEST_F(Claims, ASlotThatWasTakenOverCanBeLostAgain) {
  Process first = joined();
  Process second = joined();
  const Process third = joined();
  first.reset();
  ASSERT_TRUE(second->lock());
  EXPECT_EQ(second->take_lost(), 1);
  second->unlock();
  ASSERT_TRUE(third->lock());
  EXPECT_EQ(third->take_lost(), std::nullopt);
  third->unlock();
  second.reset();
  ASSERT_TRUE(third->lock());
  EXPECT_EQ(third->take_lost(), 1);
  EXPECT_EQ(third->take_lost(), 2);
}

TEST_F(Claims, ASlotThatIsDoneIsNotLost) {
  Process first = joined();
  const Process second = joined();
  claim(*first, 1, 100);
  ASSERT_TRUE(first->lock());
  first->finish(1);
  first->unlock();
  first.reset();
  ASSERT_TRUE(second->lock());
  EXPECT_EQ(second->take_lost(), std::nullopt);
  EXPECT_FALSE(second->all_done());
  second->finish(2);
  EXPECT_TRUE(second->all_done());
}

TEST_F(Claims, WhoLeavesGivesItsSlotsUp) {
  const Process first = joined();
  const Process second = joined();
  ASSERT_TRUE(first->lock());
  first->leave();
  first->unlock();
  ASSERT_TRUE(second->lock());
  EXPECT_FALSE(second->anyone());
  EXPECT_EQ(second->take_lost(), 1);
}

TEST_F(Claims, NobodyClaimsAfterTheEnd) {
  const Process first = joined();
  const Process second = joined();
  ASSERT_TRUE(first->lock());
  first->end();
  first->unlock();
  EXPECT_EQ(claim(*second, 2, 1), std::nullopt);
  EXPECT_TRUE(second->contents().ending);
}

TEST_F(Claims, ARemovedFileIsTheEndOfTheRun) {
  const Process first = joined();
  const Process second = joined();
  ASSERT_TRUE(first->lock());
  first->remove();
  first->unlock();
  EXPECT_FALSE(second->lock());
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  const Process later = joined();
  EXPECT_EQ(later->contents().slots.size(), 1);
}

TEST_F(Claims, ALineThatAKilledProcessLeftUnfinishedIsOverwritten) {
  const Process first = joined();
  claim(*first, 1, 30);
  append("claim 1 30 4");
  EXPECT_EQ(claim(*first, 1, 5), (PointRange{30, 35}));
  EXPECT_TRUE(text().ends_with("\nclaim 1 30 35\n"));
}

TEST_F(Claims, DamagedLinesAreRefused) {
  for (const std::string line : {"claim 2 0 10", "claim 1 1 10", "claim 1 0 101", "claim 1 0 0",
                                 "claim 0 0 10", "take 1 2", "done 2", "words", "slot"}) {
    const Process first = joined();
    append(line + '\n');
    try {
      static_cast<void>(first->lock());
      FAIL() << line;
    } catch (const DamagedStore& error) {
      EXPECT_NE(std::string(error.what()).find("'" + line + "' is damaged"), std::string::npos);
    }
    fs::remove(path_);
  }
  append("claim 1 0 10\n");
  EXPECT_THROW(static_cast<void>(process()->lock()), DamagedStore);
}

// A process of another machine that writes at the same place, as it does not see the lock.
TEST_F(Claims, ALineThatAnotherProcessOverwroteSaysThatLocksDoNotWork) {
  const Process first = joined();
  claim(*first, 1, 30);
  fs::resize_file(path_, fs::file_size(path_) - std::string("claim 1 0 30\n").size());
  append("claim 2 0 30\n");
  try {
    static_cast<void>(first->lock());
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("do not see each other's locks"), std::string::npos);
  }
}

TEST_F(Claims, AnotherMachineIsTakenOverOnceItIsSilent) {
  Process first = joined("one");
  const Process second = joined("two");
  first.reset();
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(second->lock());
  EXPECT_EQ(second->take_lost(), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(300));
}

// first's locks are those of a file of its own, as where a machine does not share them.
TEST_F(Claims, AnotherMachineThatBeatsWithoutALockIsAnError) {
  const Process first = joined("one");
  const std::string text = this->text();
  fs::remove(path_);
  append(text);
  const Process second = process("two");
  ASSERT_TRUE(second->lock());
  EXPECT_THROW(second->anyone(), StoreError);
}

// 1, 2, 4 ... while claims take less than 0.25 s, and half of it after more than 1 s.
TEST(ClaimSize, FollowsTheTimeOfAClaim) {
  ClaimSize size(1);
  constexpr std::int64_t kLeft = 1'000'000;
  EXPECT_EQ(size.next(0, kLeft, 1), 1);
  EXPECT_EQ(size.next(0.1, kLeft, 1), 2);
  EXPECT_EQ(size.next(0.1, kLeft, 1), 4);
  EXPECT_EQ(size.next(0.5, kLeft, 1), 4);
  EXPECT_EQ(size.next(2, kLeft, 1), 2);
  EXPECT_EQ(size.next(2, kLeft, 1), 1);
  EXPECT_EQ(size.next(2, kLeft, 1), 1);
}

// A quarter of an equal share: 100 / (4 * 5) = 5.
TEST(ClaimSize, ShrinksTowardsTheEnd) {
  EXPECT_EQ(ClaimSize(64).next(0, 100'000, 5), 64);
  EXPECT_EQ(ClaimSize(64).next(0, 100, 5), 5);
  EXPECT_EQ(ClaimSize(64).next(0, 3, 5), 1);
}

}  // namespace
}  // namespace tiersim::claims_file_test
