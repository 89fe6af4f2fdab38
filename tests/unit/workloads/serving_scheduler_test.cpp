// Iterations worked out by hand, in blocks of 4 positions. A plan is written as
//   "0+8 1+3/5 | 2 3 | swap_out 2 of 1": prompt pieces as request+positions (/positions executed
//   where they are padded), the requests that decode, and blocks that move (before; beside).
#include "workloads/serving/scheduler.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace tiersim::serving_scheduler_test {
namespace {

class Bench {
 public:
  explicit Bench(SchedulerPolicy policy, BlockLimits limits = {.blocks = 100},
                 std::int64_t tokens = 8, std::int64_t sequences = 4) {
    config.scheduler = {.policy = policy, .max_sequences = sequences, .max_batched_tokens = tokens};
    config.kv.watermark = 0;
    limits.block = 4;
    limits_ = std::move(limits);
  }

  Scheduler& scheduler() {
    if (!scheduler_) scheduler_.emplace(config, limits_);
    return *scheduler_;
  }
  Sequence& add(std::int64_t input, std::int64_t output, PrefixBlocks prefix = {}) {
    Sequence& s = sequences_.emplace_back();
    s.request = {.id = static_cast<std::int64_t>(sequences_.size()) - 1,
                 .input_tokens = input,
                 .output_tokens = output,
                 .prefix = std::move(prefix)};
    scheduler().submit(s);
    return s;
  }

  // Plans without finishing.
  std::string plan() {
    now = scheduler().plan();
    std::string out;
    for (const auto& [s, tokens, executed, before] : now.pieces) {
      out += id(s) + '+' + std::to_string(tokens);
      if (executed != tokens) out += '/' + std::to_string(executed);
      out += ' ';
    }
    out += '|';
    for (const Sequence* s : now.decodes) out += ' ' + id(s);
    const auto list = [&](const std::vector<SequenceMove>& moves) {
      for (const auto& [move, s] : moves)
        out += (out.back() == '|' || out.back() == ';' ? " " : ", ") +
               std::string(kMoveKindNames[static_cast<std::size_t>(move.kind)]) + ' ' +
               std::to_string(move.blocks) + (s == nullptr ? "" : " of " + id(s));
    };
    if (!now.before.empty() || !now.beside.empty()) out += " |";
    list(now.before);
    if (!now.beside.empty()) out += ';';
    list(now.beside);
    return out;
  }
  std::string iterate() {
    std::string out = plan();
    scheduler().finish(now);
    return out;
  }
  // Until nothing is left to do; moves take no time.
  void run_dry() {
    do {
      iterate();
      for (const SequenceMove& move : now.beside) scheduler().arrived(move);
    } while (now.works() || !now.beside.empty());
  }

  ServerConfig config;
  Iteration now;

 private:
  static std::string id(const Sequence* s) { return std::to_string(s->request.id); }

  BlockLimits limits_;
  std::optional<Scheduler> scheduler_;
  std::deque<Sequence> sequences_;
};

TEST(Scheduler, ReadsPromptsInPiecesBesideWhatDecodes) {
  Bench bench(SchedulerPolicy::chunked);
  bench.add(10, 3);
  bench.add(3, 2);
  bench.add(6, 1);
  EXPECT_EQ(bench.iterate(), "0+8 |");
  EXPECT_EQ(bench.iterate(), "0+2 1+3 2+3 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3 + 1 + 2);  // of whole prompts
  EXPECT_EQ(bench.iterate(), "2+3 | 0 1");
  EXPECT_EQ(bench.scheduler().running(), 1);
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "|");
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

TEST(Scheduler, ReadsWholePromptsBesideWhatDecodes) {
  Bench bench(SchedulerPolicy::mixed);
  bench.add(5, 3);
  bench.add(5, 2);
  EXPECT_EQ(bench.iterate(), "0+5 |");  // the second has no room beside the first
  EXPECT_EQ(bench.iterate(), "1+5 | 0");
  bench.add(8, 1);
  EXPECT_EQ(bench.iterate(), "| 0 1");  // answers leave 6 tokens
  EXPECT_EQ(bench.iterate(), "2+8 |");
}

TEST(Scheduler, LetsPromptsWaitForMoreOfThem) {
  Bench bench(SchedulerPolicy::mixed);
  bench.config.scheduler.prompt_wait = 2;
  bench.config.scheduler.prompt_wait_share = 0.75;  // 6 of 8 tokens
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "0+2 |");  // nothing decodes: no reason to wait
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+2 | 0");  // two iterations are enough
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "| 0 1");
  bench.add(2, 9);
  EXPECT_EQ(bench.iterate(), "2+2 3+2 | 0 1");  // 4 tokens and 2 of answers
}

TEST(Scheduler, GivesPromptsWhatTheTokensOfAnswersLeave) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 100}, 4);
  bench.add(1, 9);
  bench.add(1, 9);
  bench.add(1, 9);
  EXPECT_EQ(bench.iterate(), "0+1 1+1 2+1 |");
  bench.add(9, 1);
  EXPECT_EQ(bench.iterate(), "3+1 | 0 1 2");
  EXPECT_EQ(bench.iterate(), "3+1 | 0 1 2");
}

// Otherwise pieces of it would be read and dropped again.
TEST(Scheduler, BeginsAPromptWhereAllOfItHasRoom) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4});
  bench.add(5, 3);
  bench.add(12, 1);
  EXPECT_EQ(bench.iterate(), "0+5 |");  // 3 tokens are left, but 2 blocks for the other's 3
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+8 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3);
}

TEST(Scheduler, ReadsWholePromptsBeforeAnythingDecodes) {
  Bench bench(SchedulerPolicy::prefill_first);
  bench.add(5, 2);
  bench.add(3, 2);
  bench.add(6, 2);
  bench.add(3, 2);
  EXPECT_EQ(bench.iterate(), "0+5 1+3 |");
  EXPECT_EQ(bench.iterate(), "2+6 |");  // and not the 2 of the last one's 3 that are left
  EXPECT_EQ(bench.iterate(), "3+3 |");
  EXPECT_EQ(bench.iterate(), "| 0 1 2 3");
  EXPECT_EQ(bench.scheduler().running(), 0);
}

TEST(Scheduler, ReadsNoPromptWhileAnythingDecodes) {
  Bench bench(SchedulerPolicy::decode_first);
  bench.add(5, 3);
  bench.add(3, 1);
  EXPECT_EQ(bench.iterate(), "0+5 1+3 |");
  bench.add(2, 1);
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "2+2 |");
}

TEST(Scheduler, PadsAStaticBatchAndKeepsItsSlotsUntilTheLastAnswerEnds) {
  Bench bench(SchedulerPolicy::static_batch, {.blocks = 100}, 100, 2);
  const Sequence& first = bench.add(5, 1);
  bench.add(3, 4);
  bench.add(4, 2);
  EXPECT_EQ(bench.iterate(), "0+5 1+3/5 |");
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(bench.scheduler().blocks_used(), 2 + 2);  // 5 + 4 - 1 positions each
    EXPECT_EQ(bench.scheduler().waiting(), 1);
    EXPECT_EQ(bench.iterate(), "| 0 1");
    EXPECT_EQ(first.generated, 1);
  }
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.iterate(), "2+4 |");
}

TEST(Scheduler, FormsAStaticBatchOfWhatFitsPadded) {
  Bench by_room(SchedulerPolicy::static_batch, {.blocks = 5}, 100);
  by_room.add(2, 1);  // 1 block alone, 2 beside the next one
  by_room.add(8, 1);
  by_room.add(1, 1);
  EXPECT_EQ(by_room.iterate(), "0+2/8 1+8 |");
  Bench by_tokens(SchedulerPolicy::static_batch, {.blocks = 100}, 15);
  by_tokens.add(2, 1);
  by_tokens.add(8, 1);
  EXPECT_EQ(by_tokens.iterate(), "0+2 |");
  EXPECT_EQ(by_tokens.iterate(), "1+8 |");
}

TEST(Scheduler, RunsNoMoreThanItsSequences) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 100}, 8, 2);
  bench.add(1, 2);
  bench.add(1, 3);
  bench.add(1, 1);
  EXPECT_EQ(bench.iterate(), "0+1 1+1 |");
  EXPECT_EQ(bench.iterate(), "| 0 1");
  EXPECT_EQ(bench.iterate(), "2+1 | 1");
}

TEST(Scheduler, LeavesTheWatermarkFreeUnlessNothingRuns) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 10}, 100);
  bench.config.kv.watermark = 0.25;  // 2 blocks
  bench.add(16, 9);
  bench.add(16, 1);
  bench.add(4, 1);
  EXPECT_EQ(bench.iterate(), "0+16 1+16 |");  // 8 blocks
  EXPECT_EQ(bench.iterate(), "2+4 | 0");      // 5 held, 1 and the 2
  Bench whole(SchedulerPolicy::chunked, {.blocks = 10}, 100);
  whole.config.kv.watermark = 0.25;
  whole.add(40, 1);
  EXPECT_EQ(whole.iterate(), "0+40 |");
}

// Each needs 3 blocks of 4 positions at its full length of 12; two have room for their prompts.
TEST(Scheduler, AdmitsWhatFitsToItsEnd) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4}, 16);
  bench.config.kv.admission = Admission::whole;
  const Sequence& first = bench.add(8, 5);
  const Sequence& second = bench.add(8, 5);
  EXPECT_EQ(bench.iterate(), "0+8 |");
  for (int step = 0; step < 4; ++step) EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+8 |");
  EXPECT_EQ(first.preemptions + second.preemptions, 0);
}

// Where another replica decodes, a prompt's blocks are all that a sequence needs.
TEST(Scheduler, PromisesThePromptOnlyWhereSequencesLeaveAfterIt) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4, .prompts_only = true}, 16);
  bench.config.kv.admission = Admission::whole;
  bench.add(8, 5);
  bench.add(8, 5);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
}

// Two sequences of 2 blocks in a pool of 4; at 9 positions each needs another one.
TEST(Scheduler, ReadsThePromptAndTheAnswerOfThePreemptedAgain) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4}, 16);
  bench.add(8, 5);
  const Sequence& young = bench.add(8, 5);
  bench.add(1, 1);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3);
  EXPECT_EQ(young.preemptions, 1);
  EXPECT_EQ(young.prompt, 9);
  // It needs 3 blocks; the one that came last has room, but waits behind it.
  for (int step = 0; step < 3; ++step) EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+9 2+1 |");
  EXPECT_EQ(young.generated, 2);
  EXPECT_EQ(bench.iterate(), "| 1");
}

TEST(Scheduler, SwapsBlocksOutAndInWhereTheyFit) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4, .swap_blocks = 2}, 16);
  bench.config.kv.preemption = Preemption::swap;
  bench.add(8, 2);
  const Sequence& young = bench.add(8, 3);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0 | swap_out 2 of 1");
  EXPECT_EQ(bench.scheduler().swapped(), 2);
  EXPECT_EQ(young.cached, 8);
  EXPECT_EQ(bench.iterate(), "| |; swap_in 2 of 1");
  EXPECT_EQ(bench.scheduler().swapped(), 0);
  EXPECT_EQ(bench.scheduler().blocks_used(), 2);
  const SequenceMove back = bench.now.beside.front();
  EXPECT_EQ(bench.iterate(), "|");  // on its way
  bench.scheduler().arrived(back);
  EXPECT_EQ(bench.iterate(), "| 1");
  EXPECT_EQ(young.generated, 2);
  EXPECT_EQ(bench.iterate(), "| 1");
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

TEST(Scheduler, ReadsAgainWhatTheSwapSpaceDoesNotHold) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4, .swap_blocks = 1}, 16);
  bench.config.kv.preemption = Preemption::swap;
  bench.add(8, 2);
  bench.add(8, 3);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.iterate(), "1+9 |");
}

// The oldest sequence decodes; of the others the youngest gives its blocks up, until there is room.
TEST(Scheduler, PreemptsTheYoungestFirst) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6}, 24);
  bench.add(8, 9);
  bench.add(8, 9);
  bench.add(8, 9);
  EXPECT_EQ(bench.iterate(), "0+8 1+8 2+8 |");
  EXPECT_EQ(bench.iterate(), "| 0 1");  // 3 + 3 blocks
  EXPECT_EQ(bench.scheduler().blocks_used(), 6);
  for (int step = 0; step < 3; ++step) EXPECT_EQ(bench.iterate(), "| 0 1");
  EXPECT_EQ(bench.iterate(), "| 0");  // 13 positions
  EXPECT_EQ(bench.scheduler().waiting(), 2);
  bench.run_dry();
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.scheduler().waiting(), 0);
}

// Where all others are in an iteration, the sequence that needs a block waits itself.
TEST(Scheduler, PreemptsWhoNeedsABlockWhereTheOthersAreAtWork) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 4}, 16);
  bench.add(4, 9);
  const Sequence& young = bench.add(8, 9);
  EXPECT_EQ(bench.iterate(), "0+4 1+8 |");
  EXPECT_EQ(bench.iterate(), "| 0");  // 2 + 2 blocks
  EXPECT_EQ(young.preemptions, 1);
  EXPECT_EQ(bench.scheduler().blocks_used(), 2);
}

// Entries of 8 positions, 2 blocks.
const BlockLimits kPrefixes{.blocks = 100, .prefix_block = 8};

TEST(Scheduler, FindsThePrefixThatAnEarlierPromptLeft) {
  Bench bench(SchedulerPolicy::chunked, kPrefixes, 100);
  bench.add(19, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "0+19 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
  EXPECT_EQ(bench.scheduler().pool().occupied(), 4);  // the whole ones
  const Sequence& like = bench.add(18, 1, {1, 2, 4});
  EXPECT_EQ(bench.scheduler().cached_prefix(like.request), 16);
  EXPECT_EQ(bench.plan(), "1+2 |");
  EXPECT_EQ(like.cached_tokens, 16);
  EXPECT_EQ(bench.scheduler().blocks_used(), 4 + 1);
}

TEST(Scheduler, ComputesTheLastPositionOfAPromptThatIsCachedWhole) {
  Bench bench(SchedulerPolicy::chunked, kPrefixes, 100);
  bench.add(16, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  bench.add(16, 2, {1, 2});
  EXPECT_EQ(bench.iterate(), "1+8 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 4);  // no second copy stays
}

TEST(Scheduler, SharesWhatIsComputedAsSoonAsItIsThere) {
  Bench bench(SchedulerPolicy::chunked, kPrefixes, 8);
  bench.add(24, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "0+8 |");
  EXPECT_EQ(bench.iterate(), "0+8 |");
  bench.add(18, 1, {1, 2, 4});
  EXPECT_EQ(bench.iterate(), "0+8 |");
  EXPECT_EQ(bench.iterate(), "1+2 |");
}

// The last block of a prompt is filled by the answer, which is not shared with the next client.
TEST(Scheduler, SharesNoBlockThatAnAnswerFills) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .prefix_block = 8}, 100);
  bench.add(8, 2);
  const Sequence& s = bench.add(15, 3, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+8 1+15 |");
  EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(s.prompt, 16);              // with the token that it had
  EXPECT_EQ(bench.iterate(), "1+8 |");  // its first block was still there
  EXPECT_EQ(bench.scheduler().cached_prefix(s.request), 8);
}

TEST(Scheduler, WaitsForAPrefixThatComesUpAndSoDoWhoShareIt) {
  Bench bench(SchedulerPolicy::chunked,
              {.blocks = 6,
               .prefix_block = 8,
               .prefix_levels = {10},
               .write_policy = WritePolicy::write_back},
              100);
  bench.add(16, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  bench.add(24, 1);  // needs the whole pool
  EXPECT_EQ(bench.iterate(), "1+24 | | prefix_store 4");
  const Sequence& loads = bench.add(18, 1, {1, 2, 3});
  const Sequence& waits = bench.add(18, 1, {1, 2, 4});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 4 of 2");
  EXPECT_EQ(bench.scheduler().blocks_used(), 4 + 1 + 1);
  const SequenceMove load = bench.now.beside.front();
  EXPECT_TRUE(loads.loading());
  EXPECT_TRUE(waits.loading());
  EXPECT_EQ(bench.iterate(), "|");
  bench.scheduler().arrived(load);
  EXPECT_EQ(bench.iterate(), "2+2 3+2 |");
}

// The same where blocks are written through: the pool's room waits for the store, and the next
// prompt for neither.
TEST(Scheduler, WritesAPrefixThroughBesideTheIterations) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .prefix_block = 8, .prefix_levels = {10}},
              100);
  bench.add(16, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 4);
  bench.add(24, 1);  // needs the whole pool
  EXPECT_EQ(bench.iterate(), "|");
  const auto store = bench.scheduler().next_store(1);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->blocks, (PrefixBlocks{1, 2}));
  bench.scheduler().stored(*store);
  EXPECT_EQ(bench.iterate(), "1+24 |");
  bench.add(18, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 4 of 2");
}

// A store that is late leaves a hole: block 1 has left the pool, 2 and 3 have not. What is loaded
// is block 1, and it is there once its own load is.
TEST(Scheduler, LoadsABlockInFrontOfOthersThatAreThere) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .prefix_block = 8, .prefix_levels = {10}}, 8);
  bench.add(24, 1, {1, 2, 3});
  bench.iterate();
  const auto first = bench.scheduler().next_store(1);
  bench.iterate();
  bench.iterate();
  const auto others = bench.scheduler().next_store(1);
  bench.scheduler().stored(*first);
  bench.add(8, 1);  // takes the room of block 1
  EXPECT_EQ(bench.iterate(), "1+8 |");
  bench.scheduler().stored(*others);
  Sequence& s = bench.add(23, 1, {1, 2, 3});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 2 of 2");
  EXPECT_EQ(s.loads, PrefixBlocks{1});
  bench.scheduler().arrived(bench.now.beside.front());
  EXPECT_EQ(bench.iterate(), "2+7 |");
}

TEST(Scheduler, WaitsForWhatItLoadsAndForWhatAnotherLoads) {
  Bench bench(SchedulerPolicy::chunked,
              {.blocks = 6,
               .prefix_block = 8,
               .prefix_levels = {10},
               .write_policy = WritePolicy::write_back},
              100);
  bench.add(16, 1, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+16 |");
  bench.add(24, 1);
  EXPECT_EQ(bench.iterate(), "1+24 | | prefix_store 4");
  bench.add(10, 1, {1, 3});
  const Sequence& second = bench.add(18, 1, {1, 2, 4});
  EXPECT_EQ(bench.iterate(), "| |; prefix_load 2 of 2, prefix_load 2 of 3");
  const std::vector<SequenceMove> loads = bench.now.beside;
  bench.scheduler().arrived(loads[1]);
  EXPECT_TRUE(second.loading());  // its first block is the other one's
  EXPECT_EQ(bench.iterate(), "|");
  bench.scheduler().arrived(loads[0]);
  EXPECT_EQ(bench.iterate(), "2+2 3+2 |");
}

// If the waiting sequence pinned its prefix, the other, which needs the whole pool, could never
// run.
TEST(Scheduler, SwapsACopyOfWhatIsSharedAlong) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 6, .swap_blocks = 10, .prefix_block = 8}, 100);
  bench.config.kv.preemption = Preemption::swap;
  bench.add(8, 6);
  const Sequence& shares = bench.add(10, 8, {1, 2});
  EXPECT_EQ(bench.iterate(), "0+8 1+10 |");
  EXPECT_EQ(bench.iterate(), "| 0 1");  // 9 and 11 positions: all blocks
  EXPECT_EQ(bench.iterate(), "| 0 1");
  EXPECT_EQ(shares.shared, 1);
  EXPECT_EQ(bench.iterate(), "| 0 | swap_out 3 of 1");
  EXPECT_EQ(shares.shared, 0);
  EXPECT_EQ(bench.scheduler().blocks_used(), 3);
  EXPECT_EQ(bench.scheduler().cached_prefix(shares.request), 8);  // for another sequence
  EXPECT_EQ(bench.iterate(), "| 0 |; swap_in 3 of 1");
  bench.scheduler().arrived(bench.now.beside.front());
  EXPECT_EQ(bench.scheduler().blocks_used(), 6);
  bench.run_dry();
  EXPECT_TRUE(shares.is_done());
  EXPECT_EQ(bench.scheduler().blocks_used(), 0);
}

TEST(Scheduler, HoldsHandedOverBlocksAtTheirSourceUntilTheyAreReleased) {
  Bench prefill(SchedulerPolicy::chunked);
  Bench decode(SchedulerPolicy::chunked);
  Sequence& s = prefill.add(8, 3);
  EXPECT_EQ(prefill.iterate(), "0+8 |");
  prefill.scheduler().hand_over(s);
  EXPECT_EQ(prefill.scheduler().running(), 0);
  EXPECT_EQ(prefill.scheduler().blocks_used(), 2);
  s.source = 0;
  decode.scheduler().submit(s);
  EXPECT_EQ(decode.iterate(), "| |; handover 2 of 0");
  EXPECT_EQ(prefill.scheduler().blocks_used(), 2);
  decode.scheduler().arrived(decode.now.beside.front());
  s.source = -1;
  prefill.scheduler().release(s);
  EXPECT_EQ(prefill.scheduler().blocks_used(), 0);
  EXPECT_EQ(decode.iterate(), "| 0");
  EXPECT_EQ(decode.iterate(), "| 0");
  EXPECT_EQ(s.generated, 3);
  EXPECT_EQ(decode.scheduler().blocks_used(), 0);
}

TEST(Scheduler, KeepsTheRowsOfAnEncoderBesideTheAnswers) {
  Bench bench(SchedulerPolicy::prefill_first, {.blocks = 100, .encoder = true}, 20);
  bench.add(10, 6);
  bench.add(9, 1);
  bench.add(2, 1);
  EXPECT_EQ(bench.plan(), "0+1/10 1+1/9 |");  // 19 of the 20
  EXPECT_EQ(bench.scheduler().blocks_used(), (3 + 1) + (3 + 1));
  bench.scheduler().finish(bench.now);
  EXPECT_EQ(bench.iterate(), "2+1/2 |");
  for (int step = 0; step < 4; ++step) EXPECT_EQ(bench.iterate(), "| 0");
  EXPECT_EQ(bench.scheduler().blocks_used(), 3 + 2);  // 5 positions of the decoder
}

TEST(Scheduler, HoldsNoMoreThanTheWindow) {
  Bench bench(SchedulerPolicy::chunked, {.blocks = 5, .most_blocks = 2}, 100);
  bench.add(50, 3);
  bench.add(3, 1);
  EXPECT_EQ(bench.plan(), "0+50 1+3 |");
  EXPECT_EQ(bench.scheduler().blocks_used(), 2 + 1);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 1000, .output_tokens = 1}), 2);
}

// The last token's own keys are never kept.
TEST(Scheduler, NeedsBlocksForAllPositionsButThatOfTheLastToken) {
  Bench bench(SchedulerPolicy::chunked);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 4, .output_tokens = 1}), 1);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 4, .output_tokens = 5}), 2);
  EXPECT_EQ(bench.scheduler().most_blocks_of({.input_tokens = 4, .output_tokens = 6}), 3);
}

}  // namespace
}  // namespace tiersim::serving_scheduler_test
