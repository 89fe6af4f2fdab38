// Mistakes that tests plant into kernels, to show that the emulator and the checks would catch
// them. A kernel takes one as its last template argument and asks for it in `if constexpr` only:
// Mistake::none costs nothing on the card. Which test catches which is said in the tests.
#pragma once

namespace tiersim::kernels {

enum class Mistake {
  none,
  // screening
  no_barrier_after_scores,  // the histogram starts before all scores are written
  ties_highest_first,       // equal scores are taken from the end
  no_tail_mask,             // tokens beyond the length take part
  lanes_not_paired,         // half of a token's dot product is left out
  copies_waited_late,       // a ring stage is read one group before it has landed
  ring_overwritten,         // a ring stage is filled while it is still read
};

}  // namespace tiersim::kernels
