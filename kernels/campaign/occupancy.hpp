// Occupancy: the number of blocks of a kernel that are resident on a multiprocessor, from
// registers, threads and shared memory. Plain C++ that needs neither a card nor the toolkit.
//
// Source: CUDA C++ Programming Guide, tables of compute capabilities. Registers are allocated to
// warps in units of 256, and shared memory to blocks in units of 128 B, of which the system takes 1
// KB. A test compares the result with the toolkit's cuda_occupancy.h where that is installed.
#pragma once
#include <string>

namespace tiersim::kernels::bench {

// Resources of a multiprocessor.
struct Multiprocessor {
  int threads;             // resident at once
  int blocks;              // resident at once
  int registers;           // of 32 bit
  int shared_bytes;        // of all blocks, the system's part included
  int block_shared_bytes;  // most of one block
};

// For "80", "90a", "100a" or "120"; throws std::invalid_argument for others.
Multiprocessor multiprocessor(const std::string& architecture);

// registers: of one thread. Returns 0 where not even one block fits.
int blocks_per_multiprocessor(const Multiprocessor& sm, int threads, int registers,
                              int shared_bytes);

}  // namespace tiersim::kernels::bench
