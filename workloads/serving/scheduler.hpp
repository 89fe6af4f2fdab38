#pragma once
// The sequences of the next iteration of one replica (server_config.hpp has the policies), and the
// blocks of each. The scheduler has no clock: plan() returns the work, finish() reports its end.
// With pipeline stages several iterations are in flight, and they end in the order of their plans.
// A decoding sequence is in one iteration at a time. Pieces of one prompt may be in several.
//
//   admission   first come, first served, a preempted sequence before all others (under order:
//               priority, among equal ones), but after those that have their blocks already; where
//               blocks for its whole prompt are free, beyond the watermark unless nothing runs.
//               Under admission: whole, only where it and all that runs fit at their full length,
//               so that nothing is preempted. One that is read elsewhere gets blocks ahead of time
//               where nothing waits for any
//   preemption  where a running sequence needs a block and none is free, the last admitted one
//               gives up its blocks; this may be the sequence itself
//   drafts      under speculation, blocks for every draft are taken with those of the next token,
//   and
//               those of rejected drafts are given back when the iteration ends
//   prefixes    whole named blocks of a prompt that are cached are not computed again, except for
//               the last position, which gives the first token; computed blocks are shared at once,
//               those of an answer too where its text has a name.
//               Of layers with a window a sequence pins what lies in it, and what has left it stays
//               as long as nobody needs the room; a state is copied to the sequence at its
//               admission, and copies of its own are kept where there is room that no sequence
//               holds
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "workloads/serving/block_group.hpp"
#include "workloads/serving/drafting.hpp"
#include "workloads/serving/kv_pool.hpp"
#include "workloads/serving/sequence.hpp"
#include "workloads/serving/server_config.hpp"

namespace tiersim {

/// Capacity for the sequences of a replica.
struct BlockLimits {
  std::int64_t blocks = 1;                ///< of the pool
  std::int64_t block = 16;                ///< positions of one block
  std::vector<BlockGroup> groups = {{}};  ///< of the layers, by how many positions they keep
  std::int64_t swap_blocks = 0;           ///< in the far tier
  bool prompts_only = false;      ///< sequences leave for another replica after their first token
  bool gives_no_token = false;    ///< of these: the other replica computes the last position again
  bool encoder = false;           ///< an encoder reads the input, and its rows are kept
  std::int64_t prefix_block = 0;  ///< positions of a named block; 0: no prefix cache
  std::vector<PrefixLevel> prefix_levels = {};  ///< below the pool
  Eviction prefix_eviction = Eviction::lru;     ///< what leaves the pool first
  WritePolicy write_policy = WritePolicy::write_through;
  KeptStates states = KeptStates::last;
  double prefix_cost_growth = 0;                ///< KvPool::Prefixes::cost_growth
  bool keep_in_pool = true;                     ///< prefixes that no sequence uses
  bool layerwise_load = false;                  ///< a prompt is read while its prefix is loaded
  std::optional<Duration> prefix_ttl = {};      ///< of these, in the pool
  std::optional<PausedBlocks> tool_calls = {};  ///< what happens to a session's blocks meanwhile
  PauseLimits pause_limits = {};                ///< where they are preserved
  std::optional<Drafting> drafting = {};  ///< of decoding sequences; none: one token an iteration

  /// Largest number of drafts of a sequence, for which blocks are taken during an iteration.
  std::int64_t most_drafts() const { return drafting ? drafting->most_tokens() : 0; }
};

/// Blocks that are moved for a sequence; the sequence is null where a prefix leaves the pool, and
/// where a copy of a state is kept.
struct SequenceMove {
  BlockMove move;
  Sequence* sequence = nullptr;
};

/// A prefix of a waiting prompt that lower levels have.
struct PrefixLoad {
  std::int64_t before = 0;              ///< positions before it, which the pool has
  std::int64_t positions = 0;           ///< that would be computed without it
  std::vector<std::int64_t> from = {};  ///< blocks to load, by level; [0] is 0
};

struct Iteration {
  struct Piece {
    Sequence* sequence = nullptr;
    std::int64_t tokens = 0;    ///< positions that it gains
    std::int64_t executed = 0;  ///< the same with padding
    std::int64_t before = 0;    ///< positions before this piece
  };
  std::vector<Sequence*> decodes = {};
  std::int64_t positions = 0;             ///< of all that decode, the new ones included
  std::int64_t drafts = 0;                ///< of each that decodes, beside its new position
  std::vector<std::int64_t> gains = {};   ///< tokens of each that decodes; empty: one each
  std::vector<Piece> pieces = {};         ///< of prompts
  std::vector<SequenceMove> before = {};  ///< moves that must end before the iteration begins
  std::vector<SequenceMove> beside = {};  ///< moves that begin with it; arrived() reports their end
  /// The same of sequences that work in this iteration, which ends after them: loads layer by
  /// layer.
  std::vector<SequenceMove> within = {};
  bool works() const { return !decodes.empty() || !pieces.empty(); }
  /// Tokens of the sequence at this place of `decodes`.
  std::int64_t gain(std::size_t place) const { return gains.empty() ? 1 : gains[place]; }
};

class Scheduler {
 public:
  Scheduler(const ServerConfig& config, BlockLimits limits);
  /// `loads` decides at each attempt to admit a prompt whether it loads what lower levels have of
  /// it. Without it, it always does.
  void choose_loads(std::function<bool(const PrefixLoad&)> loads) { loads_ = std::move(loads); }

  /// The time is `now`, which never falls. It decides over lifetimes and pauses alone, so that a
  /// server without them need not tell it.
  void advance(SimTime now) { pool_.advance(now, later_); }
  /// At the end of a run: what sessions that pause have pinned is released.
  void end_pauses() {
    while (pool_.end_a_pause()) {
    }
  }
  /// Levels whose loads take too long, [level], which prompts pass over from now on; and the most
  /// blocks that wait to be stored in one.
  void pass_over(std::vector<char> levels) { pool_.pass_over(std::move(levels)); }
  void limit_stores(std::int64_t level, std::int64_t blocks) { pool_.limit_stores(level, blocks); }
  /// Begins to load into the pool what lower levels have of a prompt that is to come, or waits. The
  /// moves are made beside the iterations, and prefetched() reports the end of all of them.
  struct Prefetch {
    std::vector<BlockMove> moves = {};  ///< none: there is nothing to load, or no room for it
    PrefixEntries entries = {};
  };
  Prefetch prefetch(const Request& request);
  void prefetched(const Prefetch& done);
  /// The same into the nearest level below the pool: the copies from those below it, each of which
  /// ends with stored().
  std::vector<PrefixCopies::Store> raise(const Request& request);
  /// Adds a request, or one that another replica has prefilled. The sequence must outlive its stay
  /// here.
  void submit(Sequence& sequence);
  Iteration plan();
  /// Ends the iteration: its positions and tokens count. Sequences that ended have left.
  void finish(const Iteration& iteration);
  /// Ends a move of `beside`.
  void arrived(const SequenceMove& done);
  /// Takes an iteration back that did not come to its end: nothing of it counts.
  static void abandon(const Iteration& iteration);
  /// Everything is lost: returns the sequences that ran or waited, in this order, as new ones whose
  /// prompts have the tokens given so far. No copy may be under way.
  std::vector<Sequence*> lose_all();
  /// Hands a prefilled sequence over to another replica: it no longer runs here, and its blocks
  /// stay as source_blocks until release().
  void hand_over(Sequence& sequence);
  void release(Sequence& sequence);
  /// Takes blocks for these positions of a sequence that another replica reads now, if there are
  /// any, a place among those that run, and nothing that waits for blocks.
  bool reserve(Sequence& sequence, std::int64_t positions);
  /// Blocks that a sequence takes when it grows from so many positions to others.
  std::int64_t blocks_between(std::int64_t from, std::int64_t to) const;
  /// Prompts' blocks that wait to be written through to a level below the pool, and the end of
  /// that. The copy of all of them is one move, beside the iterations.
  std::optional<PrefixCopies::Store> next_store(std::int64_t level) {
    return pool_.next_store(level);
  }
  void stored(const PrefixCopies::Store& store) { pool_.stored(store); }

  std::int64_t running() const { return static_cast<std::int64_t>(running_.size()); }
  std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size()); }
  /// The running sequences, in order of admission.
  std::span<const Sequence* const> sequences() const { return running_; }
  std::int64_t blocks_used() const { return pool_.used(); }
  std::int64_t swapped() const { return swapped_; }
  const KvPool& pool() const { return pool_; }
  /// Number of leading positions of the prompt that are in the prefix cache.
  std::int64_t cached_prefix(const Request& request) const;
  /// Largest number of blocks that the request will hold.
  std::int64_t most_blocks_of(const Request& request) const;
  const BlockLimits& limits() const { return limits_; }

 private:
  /// True where waiting prompts wait for more of them.
  bool holds_back(const Iteration& iteration);
  /// True where the order of the queue puts `a` before `b`, whenever they came.
  bool goes_before(const Sequence& a, const Sequence& b) const;
  std::int64_t promised() const;
  std::int64_t most_for(const Sequence& s) const;
  bool is_promised(const Sequence& s) const;
  std::int64_t blocks_for(const Sequence& s, std::int64_t positions) const;
  LeadingNames prefix_of(const Sequence& s, std::int64_t entries) const;
  std::int64_t usable(const Sequence& s) const;
  KvPool::Found found_for(Sequence& s);

  Iteration next();
  void decode_running(Iteration& out);
  std::int64_t drafts_of_next() const;
  static bool may_decode(const Sequence& s);
  std::int64_t continue_prompts(Iteration& out, std::int64_t budget);
  void admit_prompts(Iteration& out, std::int64_t budget, bool whole);
  void form_batch(Iteration& out);
  bool has_blocks(const Sequence& s, std::int64_t positions) const;
  bool grow(Sequence& s, std::int64_t positions, Iteration& out);
  bool admit(Sequence& s, Iteration& out, std::int64_t& budget, bool whole);
  void admit_arrived();
  bool bring_back(Sequence& s, Iteration& out);
  bool has_room(std::int64_t blocks) const;
  void preempt(Sequence& s, Iteration& out);
  void drop_blocks(Sequence& s);
  void drop_own_blocks(Sequence& s);
  void end_use(Sequence& s);
  void give_back_rejected(Sequence& s);

  // scheduler_prefixes.cpp
  PrefixPins pins_of(const Sequence& s) const { return {prefix_of(s, s.shared), s.window}; }
  void count_cached(Sequence& s) const;
  void pin_prefix(Sequence& s, std::int64_t own, Iteration& out);
  void end_waits(const Sequence* loaded);
  static void load_within(const Sequence& s, Iteration& out);
  void share_computed(Sequence& s, std::int64_t before);
  void share_answer(Sequence& s, std::int64_t before);
  void keep_copies(const Sequence& s, std::int64_t before, std::int64_t shared);
  std::int64_t room_for_copies() const;
  void keep_states(const PrefixEntries& states);
  void keep_loaded_state(const Sequence& s);
  PrefixEntries states_to_keep(const Sequence& s, std::int64_t before) const;
  void slide(Sequence& s, std::int64_t before);

  ServerConfig config_;
  BlockLimits limits_;
  KvPool pool_;
  std::function<bool(const PrefixLoad&)> loads_;
  std::vector<BlockMove> later_;  // copies that precede the next iteration
  std::int64_t watermark_;
  std::int64_t swapped_ = 0;
  std::vector<Sequence*> expected_;  // have reserved blocks, and do not run here yet
  std::int64_t preempted_now_ = 0;   // preemptions in this plan; above 0, nobody is admitted
  std::deque<Sequence*> waiting_;
  std::vector<Sequence*> running_;  // in the order of admission
  std::vector<Sequence*> now_;      // scratch: those that ran when a loop over them began
  bool reads_ = false;              // a running sequence has more of its prompt to plan
  std::int64_t held_back_ = 0;      ///< iterations that prompts have waited for more of them
};

}  // namespace tiersim
