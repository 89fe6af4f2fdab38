// The scheduler under random requests, limits, policies and orders of arrival. In every case each
// request gets its tokens, no block is lost or held twice, no limit is exceeded, and there is
// always work while a request waits.
#include "workloads/serving/scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "sim/base/rng.hpp"
#include "tests/property/random_scheduler.hpp"

namespace tiersim::serving_scheduler_test {
namespace {

class Play {
 public:
  Play(std::uint64_t seed, SchedulerPolicy policy) : rng_(seed, "scheduler") {
    RandomScheduler drawn(policy, rng_);
    config_ = drawn.config;
    limits_ = drawn.limits;
    splits_ = drawn.splits;
    flights_ = drawn.flights;
    prefetches_some_ = drawn.prefetches;
    const std::size_t replicas = splits_ ? 2 : 1;
    for (std::size_t r = 0; r < replicas; ++r) {
      schedulers_.push_back(std::make_unique<Scheduler>(config_, limits_));
      iterations_.emplace_back();
      moves_.emplace_back();
      stores_.emplace_back();
      prefetches_.emplace_back();
    }
    draw_requests();
  }

  // In any order: a request arrives, a replica begins an iteration or ends it, a move completes.
  void run() {
    while (ended_ < static_cast<std::int64_t>(sequences_.size())) {
      const bool moved = step();
      check();
      if (::testing::Test::HasFailure()) return;
      if (!moved && nothing_to_do()) {
        FAIL() << "deadlock: " << state();
      }
      ASSERT_LT(plans_, most_plans_) << "livelock";
    }
    for (std::size_t r = 0; r < schedulers_.size(); ++r)
      while (!stores_[r].empty()) store(r, 0);
    for (std::size_t r = 0; r < schedulers_.size(); ++r) {
      while (!prefetches_[r].empty()) end_prefetch(r, 0);
      schedulers_[r]->end_pauses();
    }
    for (const auto& scheduler : schedulers_) {
      EXPECT_EQ(scheduler->blocks_used(), 0);
      EXPECT_EQ(scheduler->swapped(), 0);
      EXPECT_EQ(scheduler->running(), 0);
      EXPECT_EQ(scheduler->waiting(), 0);
    }
    if (config_.kv.admission == Admission::whole) {
      EXPECT_EQ(preemptions_, 0);
    }
    EXPECT_EQ(moved_[static_cast<std::size_t>(MoveKind::swap_out)],
              moved_[static_cast<std::size_t>(MoveKind::swap_in)]);
  }

  std::int64_t preemptions() const { return preemptions_; }
  std::int64_t moved(MoveKind kind) const { return moved_[static_cast<std::size_t>(kind)]; }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(double share) { return rng_.uniform() < share; }

  void draw_requests() {
    const std::int64_t count = between(1, 25);
    std::int64_t tokens = 0;
    for (std::int64_t id = 0; id < count; ++id) {
      auto s = std::make_unique<Sequence>();
      Request& r = s->request;
      r.id = id;
      const bool whole = config_.scheduler.policy != SchedulerPolicy::chunked;
      const std::int64_t longest = whole ? std::min<std::int64_t>(60, most_tokens()) : 60;
      do {
        r.input_tokens = between(1, longest);
        r.output_tokens = between(1, chance(0.5) ? 3 : 30);
      } while (schedulers_.front()->most_blocks_of(r) > limits_.blocks);
      if (limits_.prefix_block > 0) r.prefix = some_prefix(r);
      r.session = {.session = between(0, 5),
                   .pause = chance(0.6) ? SessionPause::tool : SessionPause::none};
      tokens += r.input_tokens + r.output_tokens;
      sequences_.push_back(std::move(s));
    }
    at_.resize(sequences_.size());
    // Each request alone takes one plan for each token and one for each move. Others revoke its
    // work at most as often as they have tokens.
    most_plans_ = 100 + 10 * tokens * count;
  }
  std::int64_t most_tokens() const { return config_.scheduler.max_batched_tokens; }

  // The first blocks of one of three documents, followed by the request's own blocks.
  PrefixBlocks some_prefix(const Request& r) {
    PrefixBlocks out;
    const std::uint64_t document = rng_.below(3);
    const std::int64_t names = (r.input_tokens + limits_.prefix_block - 1) / limits_.prefix_block;
    const std::int64_t alike = between(0, names);
    for (std::int64_t k = 0; k < names; ++k)
      out.push_back(k < alike ? 1000 * (document + 1) + static_cast<std::uint64_t>(k)
                              : 100'000 + 1000 * static_cast<std::uint64_t>(r.id) +
                                    static_cast<std::uint64_t>(k));
    return out;
  }

  // True where any event happened.
  bool step() {
    const std::size_t r = rng_.below(schedulers_.size());
    now_ += Duration(between(0, 2));
    for (const auto& scheduler : schedulers_) {
      scheduler->advance(now_);
      if (prefetches_some_ && chance(0.1)) scheduler->pass_over(some_levels());
    }
    switch (rng_.below(prefetches_some_ ? 7U : 5U)) {
      case 5:
        if (prefetches_[r].empty()) return false;
        end_prefetch(r, rng_.below(prefetches_[r].size()));
        return true;
      case 6:
        return begin_prefetch(r);
      case 0:
        if (submitted_ == sequences_.size()) return false;
        schedulers_.front()->submit(*sequences_[submitted_]);
        at_[submitted_++] = 0;
        return true;
      case 1:
        if (moves_[r].empty()) return false;
        arrive(r, rng_.below(moves_[r].size()));
        return true;
      case 2:
        if (stores_[r].empty()) return false;
        store(r, rng_.below(stores_[r].size()));
        return true;
      default:
        if (!iterations_[r].empty() && (iterations_[r].size() == flights_ || chance(0.5))) {
          finish(r);
          return true;
        }
        return plan(r);
    }
  }
  bool nothing_to_do() {
    if (submitted_ < sequences_.size()) return false;
    for (std::size_t r = 0; r < schedulers_.size(); ++r)
      if (!iterations_[r].empty() || !moves_[r].empty() || !stores_[r].empty() ||
          !prefetches_[r].empty() || plan(r))
        return false;
    return true;
  }

  std::string state() const {
    std::ostringstream out;
    out << limits_.blocks << " blocks of " << limits_.block << ", prefixes of "
        << limits_.prefix_block << (splits_ ? ", two replicas" : "");
    for (const auto& scheduler : schedulers_)
      out << "; " << scheduler->blocks_used() << " used, " << scheduler->running() << " run, "
          << scheduler->waiting() << " wait";
    for (const auto& s : sequences_)
      if (!s->is_done())
        out << "\n  " << s->request.id << " runs " << s->runs << " prompt " << s->prompt
            << " cached " << s->cached << " generated " << s->generated << " blocks " << s->blocks
            << " shared " << s->shared << " swapped " << s->swapped << " moves " << s->moves
            << " waits " << s->waits_for_prefix << " source " << s->source << " blocks "
            << s->source_blocks << " shared " << s->source_shared;
    return out.str();
  }

  bool plan(std::size_t r) {
    Iteration out = schedulers_[r]->plan();
    begin_stores(r);  // of prompts that it found in the pool
    for (const SequenceMove& move : out.beside) moves_[r].push_back(move);
    for (const auto* list : {&out.before, &out.beside, &out.within})
      for (const SequenceMove& each : *list) {
        EXPECT_GT(each.move.blocks, 0);
        moved_[static_cast<std::size_t>(each.move.kind)] += each.move.blocks;
        preemptions_ += each.move.kind == MoveKind::swap_out ? 1 : 0;
      }
    if (!out.works() && out.before.empty()) return !out.beside.empty();
    ++plans_;
    check_plan(r, out);
    if (out.works()) iterations_[r].push_back(std::move(out));
    return true;
  }

  void check_plan(std::size_t r, const Iteration& out) {
    const SchedulerConfig& c = config_.scheduler;
    std::int64_t tokens = 0;
    std::set<const Sequence*> seen;
    const auto works = [&](const Sequence& s, std::int64_t positions) {
      EXPECT_TRUE(seen.insert(&s).second) << "twice in an iteration";
      EXPECT_TRUE(s.runs);
      EXPECT_TRUE(!s.loading() || std::ranges::count(out.within, &s, &SequenceMove::sequence) > 0);
      EXPECT_EQ(s.swapped, 0);
      if (!s.ended) {  // of a static batch
        EXPECT_EQ(at_[static_cast<std::size_t>(s.request.id)], static_cast<std::int64_t>(r));
      }
      EXPECT_GE(s.blocks + pinned_for(s, positions), blocks_for(s, positions));
      EXPECT_EQ(s.planned(), positions);
    };
    for (const Sequence* s : out.decodes) {
      works(*s, s->cached + 1);
      EXPECT_FALSE(s->prefilling());
    }
    for (const auto& [s, gains, executed, before] : out.pieces) {
      works(*s, before + gains);
      EXPECT_GT(gains, 0);
      EXPECT_GE(before, s->cached);
      EXPECT_LE(before + gains, s->prompt);
      const bool padded = c.policy == SchedulerPolicy::static_batch || limits_.encoder;
      if (padded)
        EXPECT_GE(executed, limits_.encoder ? 1 : gains);
      else
        EXPECT_EQ(executed, gains);
      tokens += executed;
      if (limits_.prefix_block == 0 && s->preemptions == 0 && before == 0 && r == 0) {
        EXPECT_GT(s->request.id, last_begun_) << "out of the order of arrival";
        last_begun_ = s->request.id;
      }
    }
    EXPECT_LE(schedulers_[r]->running(), c.max_sequences);
    if (c.policy == SchedulerPolicy::chunked) {
      EXPECT_LE(tokens + static_cast<std::int64_t>(out.decodes.size()), c.max_batched_tokens);
    } else if (c.policy == SchedulerPolicy::mixed && !out.decodes.empty()) {
      EXPECT_LE(tokens + static_cast<std::int64_t>(out.decodes.size()), c.max_batched_tokens);
    } else {
      EXPECT_TRUE(out.decodes.empty() || out.pieces.empty());
      // A preempted sequence may be longer than the budget by its generated tokens.
      EXPECT_TRUE(tokens <= c.max_batched_tokens || out.pieces.size() == 1) << tokens;
    }
  }
  std::int64_t blocks_for(const Sequence& s, std::int64_t positions) const {
    const auto whole = [&](std::int64_t of) {
      const std::int64_t all = (of + limits_.block - 1) / limits_.block;
      std::int64_t sum = 0;
      for (const BlockGroup& g : limits_.groups)
        for (std::int64_t i = 0; i < all && (g.most == 0 || i < g.most); ++i) sum += g.blocks;
      return sum;
    };
    return whole(positions) + (limits_.encoder ? whole(s.request.input_tokens) : 0);
  }
  PrefixParts parts() const {
    return {limits_.groups, limits_.block, std::max(limits_.block, limits_.prefix_block)};
  }
  // Blocks of shared entries that hold what a sequence of so many positions needs.
  std::int64_t pinned_for(const Sequence& s, std::int64_t positions) const {
    const PrefixParts of = parts();
    std::int64_t sum = s.shared * of.whole_blocks();
    for (const WindowPart& part : s.window)
      if (of.is_held(part, positions)) sum += part.blocks;
    return sum;
  }

  void finish(std::size_t r) {
    const Iteration done = std::move(iterations_[r].front());
    iterations_[r].pop_front();
    for (const SequenceMove& move : done.within) schedulers_[r]->arrived(move);
    std::vector<Sequence*> given;
    std::map<const Sequence*, std::int64_t> had;
    std::map<const Sequence*, std::int64_t> gains;
    for (const auto& [s, tokens, executed, before] : done.pieces) {
      s->has_started = true;
      EXPECT_EQ(s->cached, before) << "out of the order of the pieces";
      had[s] = s->generated;
      if (s->cached + tokens != s->prompt) continue;
      given.push_back(s);
      gains[s] = 1;
    }
    for (std::size_t k = 0; k < done.decodes.size(); ++k) {
      Sequence* s = done.decodes[k];
      had[s] = s->generated;
      if (s->ended) continue;
      given.push_back(s);
      gains[s] = done.gain(k);
      EXPECT_LE(done.gain(k), 1 + done.drafts);
    }
    schedulers_[r]->finish(done);
    begin_stores(r);
    for (const auto& [s, before] : had) EXPECT_EQ(s->generated - before, gains[s]) << s->request.id;
    for (Sequence* s : given) {
      EXPECT_LE(s->generated, s->request.output_tokens);
      const auto id = static_cast<std::size_t>(s->request.id);
      if (s->is_done()) {
        preemptions_ += config_.kv.preemption == Preemption::recompute ? s->preemptions : 0;
        at_[id].reset();
        ++ended_;
      } else if (splits_ && r == 0) {
        schedulers_[0]->hand_over(*s);
        s->source = 0;
        schedulers_[1]->submit(*s);
        at_[id] = 1;
      }
    }
  }

  void arrive(std::size_t r, std::size_t which) {
    const SequenceMove move = moves_[r][which];
    moves_[r].erase(moves_[r].begin() + static_cast<std::ptrdiff_t>(which));
    schedulers_[r]->arrived(move);
    begin_stores(r);
    if (move.move.kind != MoveKind::handover) return;
    EXPECT_EQ(move.move.blocks, blocks_for(*move.sequence, move.sequence->cached));
    move.sequence->source = -1;
    schedulers_[0]->release(*move.sequence);
  }

  // Levels whose queues are too long for a while.
  std::vector<char> some_levels() {
    std::vector<char> out(limits_.prefix_levels.size() + 1, 0);
    for (std::size_t l = 1; l < out.size(); ++l) out[l] = chance(0.3) ? 1 : 0;
    return out;
  }
  bool begin_prefetch(std::size_t r) {
    const Sequence& s = *sequences_[rng_.below(sequences_.size())];
    Scheduler::Prefetch load = schedulers_[r]->prefetch(s.request);
    if (load.entries.empty()) return false;
    for (const BlockMove& move : load.moves)
      moved_[static_cast<std::size_t>(move.kind)] += move.blocks;
    prefetches_[r].push_back(std::move(load));
    return true;
  }
  void end_prefetch(std::size_t r, std::size_t which) {
    schedulers_[r]->prefetched(prefetches_[r][which]);
    prefetches_[r].erase(prefetches_[r].begin() + static_cast<std::ptrdiff_t>(which));
    begin_stores(r);
  }

  void begin_stores(std::size_t r) {
    for (std::size_t level = 1; level <= limits_.prefix_levels.size(); ++level) {
      const auto next = schedulers_[r]->next_store(static_cast<std::int64_t>(level));
      if (!next) continue;
      EXPECT_FALSE(next->entries.empty());
      EXPECT_LT(next->from, next->to);
      moved_[static_cast<std::size_t>(MoveKind::prefix_store)] += blocks_of(next->entries);
      stores_[r].push_back(*next);
    }
  }
  void store(std::size_t r, std::size_t which) {
    const PrefixCopies::Store done = stores_[r][which];
    stores_[r].erase(stores_[r].begin() + static_cast<std::ptrdiff_t>(which));
    schedulers_[r]->stored(done);
    begin_stores(r);
  }

  // Every block of the pool has one holder: a sequence, its source, or an entry that is pinned by
  // sequences, pauses, stores or prefetches.
  void check() const {
    const PrefixParts of = parts();
    for (std::size_t r = 0; r < schedulers_.size(); ++r) {
      const Scheduler& scheduler = *schedulers_[r];
      std::int64_t own = 0;
      std::int64_t swapped = 0;
      std::map<std::pair<std::uint64_t, std::int64_t>, std::int64_t> pinned;  // blocks, by entry
      const auto pin = [&](const PrefixEntry& entry) {
        pinned[{entry.name, entry.part}] = entry.blocks;
      };
      for (std::size_t id = 0; id < submitted_; ++id) {
        const Sequence& s = *sequences_[id];
        const auto pins = [&](std::int64_t names, const WindowParts& window) {
          for (std::int64_t k = 0; k < names && of.whole_blocks() > 0; ++k)
            pin(of.whole(s.request.prefix[static_cast<std::size_t>(k)]));
          for (const WindowPart& part : window) pin(of.entry(part));
        };
        if (at_[id] == static_cast<std::int64_t>(r) || (s.runs && !splits_)) {
          EXPECT_GE(s.blocks, 0);
          own += s.blocks;
          swapped += s.swapped;
          pins(s.shared, s.window);
        }
        if (r == 0) {
          own += s.source_blocks;
          pins(s.source_shared, s.source_window);
        }
      }
      for (const PrefixCopies::Store& store : stores_[r])
        if (store.from == 0)
          for (const PrefixEntry& entry : store.entries) pin(entry);
      for (const Scheduler::Prefetch& load : prefetches_[r])
        for (const PrefixEntry& entry : load.entries) pin(entry);
      for (const PrefixEntry& entry : scheduler.pool().preserved()) pin(entry);
      std::int64_t held = own;
      for (const auto& [entry, blocks] : pinned) held += blocks;
      EXPECT_EQ(scheduler.blocks_used(), held);
      EXPECT_EQ(scheduler.swapped(), swapped);
      EXPECT_LE(swapped, limits_.swap_blocks);
      EXPECT_LE(scheduler.blocks_used(), limits_.blocks);
      EXPECT_LE(scheduler.pool().occupied(), limits_.blocks);
      for (std::size_t l = 0; l < limits_.prefix_levels.size(); ++l)
        EXPECT_LE(scheduler.pool().below(static_cast<std::int64_t>(l) + 1),
                  limits_.prefix_levels[l].blocks);
    }
  }

  Rng rng_;
  ServerConfig config_;
  BlockLimits limits_;
  bool splits_ = false;  // the first replica prefills, the second one decodes
  std::vector<std::unique_ptr<Sequence>> sequences_;  // by id
  std::vector<std::optional<std::int64_t>> at_;       // replica, by id; none before and after
  std::size_t submitted_ = 0;
  std::int64_t ended_ = 0;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;
  std::vector<std::deque<Iteration>> iterations_;         // under way, by replica, in their order
  std::size_t flights_ = 1;                               // of them at a time
  std::vector<std::vector<SequenceMove>> moves_;          // likewise
  std::vector<std::vector<PrefixCopies::Store>> stores_;  // likewise
  std::vector<std::vector<Scheduler::Prefetch>> prefetches_;  // likewise
  bool prefetches_some_ = false;
  SimTime now_{};
  std::array<std::int64_t, kMoveKindNames.size()> moved_{};
  std::int64_t preemptions_ = 0;
  std::int64_t plans_ = 0;
  std::int64_t most_plans_ = 0;
  std::int64_t last_begun_ = -1;
};

class SchedulerProperty : public ::testing::TestWithParam<SchedulerPolicy> {};

TEST_P(SchedulerProperty, GivesEveryRequestItsTokensAndEveryBlockBack) {
  std::int64_t preemptions = 0;
  std::array<std::int64_t, kMoveKindNames.size()> moved{};
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Play play(seed, GetParam());
    play.run();
    if (::testing::Test::HasFailure()) return;
    preemptions += play.preemptions();
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += play.moved(static_cast<MoveKind>(k));
  }
  // The draws reach the cases that they are made for.
  if (GetParam() == SchedulerPolicy::static_batch) return;
  EXPECT_GT(preemptions, 500);
  for (std::size_t k = 0; k < moved.size(); ++k) EXPECT_GT(moved[k], 100) << kMoveKindNames[k];
}

INSTANTIATE_TEST_SUITE_P(Policies, SchedulerProperty,
                         ::testing::Values(SchedulerPolicy::static_batch,
                                           SchedulerPolicy::prefill_first,
                                           SchedulerPolicy::decode_first, SchedulerPolicy::chunked,
                                           SchedulerPolicy::mixed),
                         [](const auto& policy) {
                           return std::string(
                               kSchedulerPolicyNames[static_cast<std::size_t>(policy.param)]);
                         });

}  // namespace
}  // namespace tiersim::serving_scheduler_test
