#pragma once
// The processes that `mpirun` started together. mpi_boost.cpp where tiersim was built with MPI
// (TIERSIM_MPI=ON), else mpi_none.cpp.
#include <memory>
#include <vector>

namespace tiersim::cli {

class MpiWorld {
 public:
  /// Once a process. Throws Failure (usage) where tiersim was built without MPI.
  static std::unique_ptr<MpiWorld> join();
  virtual ~MpiWorld() = default;

  virtual int rank() const = 0;  ///< from 0
  virtual int size() const = 0;
  /// Waits until all processes are here.
  virtual void barrier() = 0;
  /// The value of each process, by rank, in rank 0; empty elsewhere. Waits for all of them.
  virtual std::vector<int> gather(int value) = 0;
};

}  // namespace tiersim::cli
