// Conformance of a card with the emulator. Each probe runs one primitive of the thin PTX layer
// (kernels/device) on fixed inputs and returns 32-bit words. The program is compiled twice: on the
// emulator it writes its words, and on a card it compares its words with them, bit for bit. This
// exposes a misreading of the ISA that kernels and emulator share.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels::conformance {

using Words = std::vector<std::uint32_t>;

// Tolerance of a card. Both zero: equal bit for bit. Otherwise words are floats, and one of the two
// bounds must hold.
struct Slack {
  std::uint32_t ulp = 0;
  float absolute = 0;
};

struct Probe {
  std::string name;  // [a-z0-9_.]
  std::function<Words()> run;
  Slack slack = {};
};
using Probes = std::vector<Probe>;

// A probe that launches kernel(in, out) once over a copy of the inputs. start: the initial content
// of `out`; its size is the number of words compared.
using Kernel = void (*)(const std::uint32_t* in, std::uint32_t* out);
Probe probe(std::string name, Kernel kernel, Geometry geometry, Words in, Words start,
            Slack slack = {});

// The same words on every machine: SplitMix64 from the seed.
Words random_words(std::size_t count, std::uint64_t seed);
// `count` words that a correct probe overwrites.
Words unwritten(std::size_t count);

// Primitives of every card, of sm_90, and of sm_90a alone (wgmma).
void add_memory_probes(Probes& probes);
void add_warp_probes(Probes& probes);
void add_matrix_probes(Probes& probes);
void add_hopper_probes(Probes& probes);
void add_wgmma_probes(Probes& probes);

// All probes of the target architecture. Each program defines it once, in conformance_sm80.cu or
// conformance_sm90a.cu.
Probes all_probes();

}  // namespace tiersim::kernels::conformance
