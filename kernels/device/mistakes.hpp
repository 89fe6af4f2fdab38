// Mistakes that tests plant into kernels, to show that the emulator and the checks catch them. A
// kernel takes one as its last template argument and tests it in `if constexpr` only, so that
// Mistake::none costs nothing on the card. Each test names the mistake that it catches.
#pragma once

namespace tiersim::kernels {

enum class Mistake {
  none,
  // screening
  equals_not_counted,       // all keys equal to the threshold are taken
  no_barrier_after_scores,  // the histogram starts before all scores are written
  no_tail_mask,             // tokens beyond the length take part
  lanes_not_paired,         // half of a token's dot product is left out
  copies_waited_late,       // a ring stage is read one group before it has landed
  ring_overwritten,         // a ring stage is filled while it is still read
  // latent decode with tensor copies
  announces_too_little,             // expect_tx is announced for one box less than is copied
  no_barrier_before_probabilities,  // the other warpgroup's probabilities are read too early
  // dense and latent decode
  no_barrier_before_join,    // warps are joined before all have left their part
  no_barrier_before_tile,    // a tile is read before all copies of others are seen
  no_barrier_before_refill,  // a lane fills a stage that other lanes of its warp may still read
  // early exit
  highest_index_wins,  // of equal logits
  no_ring_barrier,     // a ring stage is read before the copies of other threads have landed
  no_vote_barrier,     // the votes of other warps are folded before they are written
  flags_forgotten,     // a row that exited in an earlier layer comes back
  wrong_row_half,      // rows 8..15 of a matrix fragment are taken from rows 0..7
  newest_forgotten,    // a new token does not attend to itself
  // sparse offload
  newest_evicted,             // the victims are the most recently used rows
  no_barrier_before_victims,  // misses take slots before all victims are listed
  chosen_not_pinned,          // a row of the step's own list may be a victim
  wrong_source,               // a missed row is taken from the buffer
  no_relu,                    // negative products take part
  wrong_scale_group,          // the first 128 numbers' scale is used for the whole row
};

}  // namespace tiersim::kernels
