#include "kernels/emulator/cuda.hpp"

#include <cstring>

namespace tiersim::emulator {
namespace {

enum Operation { shuffle_first = 10, ballot_operation = 20 };

template <Shuffle Kind>
void combine_shuffle(Block&, Thread* const* lanes) {
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes[lane] == nullptr) continue;
    int argument = 0;
    std::memcpy(&argument, lanes[lane]->in.data() + 8, sizeof argument);
    int source = lane;
    if (Kind == Shuffle::index) source = argument & 31;
    if (Kind == Shuffle::exclusive_or) source = lane ^ argument;
    if (Kind == Shuffle::up) source = lane - argument;
    if (Kind == Shuffle::down) source = lane + argument;
    if (source < 0 || source > 31) source = lane;  // returns its own value, as on the card
    if (lanes[source] == nullptr) {
      fail("a shuffle reads lane " + std::to_string(source) + ", which its mask leaves out");
    }
    std::memcpy(lanes[lane]->out.data(), lanes[source]->in.data(), 8);
  }
}

void combine_ballot(Block&, Thread* const* lanes) {
  unsigned votes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes[lane] != nullptr && lanes[lane]->in[0] != 0) votes |= 1U << lane;
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes[lane] != nullptr) std::memcpy(lanes[lane]->out.data(), &votes, sizeof votes);
  }
}

}  // namespace

std::uint64_t shuffle(Shuffle kind, unsigned mask, std::uint64_t bits, int argument, Site site) {
  constexpr Block::Combine kCombine[] = {
      combine_shuffle<Shuffle::index>, combine_shuffle<Shuffle::exclusive_or>,
      combine_shuffle<Shuffle::up>, combine_shuffle<Shuffle::down>};
  Block& here = block();
  Thread& me = here.self();
  std::memcpy(me.in.data(), &bits, sizeof bits);
  std::memcpy(me.in.data() + 8, &argument, sizeof argument);
  const int which = static_cast<int>(kind);
  here.warp_operation(mask, shuffle_first + which, kCombine[which], site);
  std::memcpy(&bits, me.out.data(), sizeof bits);
  return bits;
}

unsigned ballot(unsigned mask, bool predicate, Site site) {
  Block& here = block();
  Thread& me = here.self();
  me.in[0] = predicate ? 1 : 0;
  here.warp_operation(mask, ballot_operation, combine_ballot, site);
  unsigned votes = 0;
  std::memcpy(&votes, me.out.data(), sizeof votes);
  return votes;
}

}  // namespace tiersim::emulator
