#include "kernels/emulator/launch.hpp"

#include <string>

#include "kernels/emulator/sanitizer.hpp"

namespace tiersim::emulator {

Machine& machine() {
  thread_local Machine machine;
  return machine;
}

namespace {

void run_blocks(Grid& launch, Machine& card, const std::function<void()>& kernel) {
  for (unsigned z = 0; z < launch.blocks.z; ++z) {
    for (unsigned y = 0; y < launch.blocks.y; ++y) {
      for (unsigned x = 0; x < launch.blocks.x; ++x) {
        const OwnWork scope;
        Block one(launch, uint3{x, y, z});
        one.run(kernel);
        card.memory.end_of_block();
        card.switches += one.switches;
      }
    }
  }
}

}  // namespace

void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes,
              const std::function<void()>& kernel) {
  Machine& card = machine();
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024) {
    fail("a block has 1 to 1024 threads, not " + std::to_string(threads));
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535) {
    fail("a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " +
         std::to_string(grid.z) + " blocks cannot be launched");
  }
  if (shared_bytes > card.shared_bytes_limit) {
    fail("a block asks for " + std::to_string(shared_bytes) +
         " bytes of shared memory, more than " + std::to_string(card.shared_bytes_limit));
  }
  if (!card.stacks || card.stacks->bytes() != card.options.stack_bytes) {
    card.stacks = std::make_unique<StackPool>(card.options.stack_bytes);
  }
  card.stacks->rest(TS_EMULATOR_TSAN != 0 ? threads : 0);
  Grid launch{grid, block, shared_bytes, card.options, card.memory, *card.stacks};
  release(&launch.began);
  try {
    run_blocks(launch, card, kernel);
  } catch (...) {
    acquire(&launch.ended);
    card.memory.end_of_launch();
    throw;
  }
  acquire(&launch.ended);
  card.memory.end_of_launch();
}

}  // namespace tiersim::emulator
