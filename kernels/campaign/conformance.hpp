// Conformance: does a card do what the emulator does? Each probe runs one primitive of the thin PTX
// layer (kernels/device) on fixed inputs and hands over 32-bit words. The program is compiled
// twice: on the emulator it writes the words it gets, on a card it compares its own with them, bit
// for bit, so that a misreading of the ISA that kernels and emulator share comes out first of all.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/runtime/array.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels::conformance {

using Words = std::vector<std::uint32_t>;

// How far a card may be off; both zero: not a bit. Otherwise words are floats, and either bound
// is enough.
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

// A probe that launches kernel(in, out) once over a copy of the inputs. start: what `out` holds
// before; its size is the number of words compared.
using Kernel = void (*)(const std::uint32_t* in, std::uint32_t* out);
Probe probe(std::string name, Kernel kernel, Geometry geometry, Words in, Words start,
            Slack slack = {});

// The same words everywhere: SplitMix64 from the seed.
Words random_words(std::size_t count, std::uint64_t seed);
// `count` words that a correct probe overwrites.
Words unwritten(std::size_t count);

// Of the primitives of every card, of sm_90, and of sm_90a alone (wgmma).
void add_memory_probes(Probes& probes);
void add_warp_probes(Probes& probes);
void add_matrix_probes(Probes& probes);
void add_hopper_probes(Probes& probes);
void add_wgmma_probes(Probes& probes);

// All probes of the architecture that the program is built for: defined once a program, in
// conformance_sm80.cu or conformance_sm90a.cu.
Probes all_probes();

}  // namespace tiersim::kernels::conformance
