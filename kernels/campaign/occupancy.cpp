#include "kernels/campaign/occupancy.hpp"

#include <algorithm>
#include <stdexcept>

namespace tiersim::kernels::bench {
namespace {

constexpr int kRegisterUnit = 256;  // of a warp
constexpr int kSharedUnit = 128;
constexpr int kSystemShared = 1024;  // of each block

int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

Multiprocessor multiprocessor(const std::string& architecture) {
  if (architecture == "80") return {2048, 32, 65536, 164 * 1024, 163 * 1024};
  if (architecture == "90a" || architecture == "100a") {
    return {2048, 32, 65536, 228 * 1024, 227 * 1024};
  }
  if (architecture == "120") return {1536, 24, 65536, 100 * 1024, 99 * 1024};
  throw std::invalid_argument("no multiprocessor known for sm_" + architecture);
}

int blocks_per_multiprocessor(const Multiprocessor& sm, int threads, int registers,
                              int shared_bytes) {
  if (threads < 1 || threads > 1024 || shared_bytes > sm.block_shared_bytes) return 0;
  const int warps = (threads + 31) / 32;
  const int by_threads = sm.threads / (warps * 32);
  // Each of the four quarters of a multiprocessor has a quarter of the registers for its warps.
  const int warp_registers = round_up(std::max(registers, 1) * 32, kRegisterUnit);
  const int warps_that_fit = sm.registers / 4 / warp_registers * 4;
  const int by_registers = warps_that_fit / warps;
  const int block_shared = round_up(shared_bytes + kSystemShared, kSharedUnit);
  const int by_shared = sm.shared_bytes / block_shared;
  return std::min({sm.blocks, by_threads, by_registers, by_shared});
}

}  // namespace tiersim::kernels::bench
