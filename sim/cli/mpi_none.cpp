#include "sim/cli/command_line.hpp"
#include "sim/cli/mpi.hpp"

namespace tiersim::cli {

std::unique_ptr<MpiWorld> MpiWorld::join() {
  throw Failure(ExitCode::usage,
                "tiersim: error: --mpi: this tiersim was built without MPI (cmake "
                "-DTIERSIM_MPI=ON); --shard I/N and `tiersim merge` do the same without it");
}

}  // namespace tiersim::cli
