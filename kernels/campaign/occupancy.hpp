// How many blocks of a kernel a multiprocessor holds at once, from registers, threads and shared
// memory. Plain C++: no card and no toolkit is asked.
//
// Source: CUDA C++ Programming Guide, tables of compute capabilities; registers are given out by
// the warp in units of 256, shared memory by the block in units of 128 B with 1 KB kept by the
// system. A test holds it against the toolkit's cuda_occupancy.h where that is there.
#pragma once
#include <string>

namespace tiersim::kernels::bench {

// What a multiprocessor has to give.
struct Multiprocessor {
  int threads;             // resident at once
  int blocks;              // resident at once
  int registers;           // of 32 bit
  int shared_bytes;        // of all blocks, the system's part included
  int block_shared_bytes;  // that one block may ask for
};

// Of "80", "90a", "100a", "120"; throws std::invalid_argument for others.
Multiprocessor multiprocessor(const std::string& architecture);

// registers: of a thread. Returns 0 where not even one block fits.
int blocks_per_multiprocessor(const Multiprocessor& sm, int threads, int registers,
                              int shared_bytes);

}  // namespace tiersim::kernels::bench
