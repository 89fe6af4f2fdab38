#pragma once
// The processes started by one `mpirun`: mpi_boost.cpp in a build with MPI (TIERSIM_MPI=ON), else
// mpi_none.cpp.
#include <memory>
#include <vector>

namespace tiersim::cli {

class MpiWorld {
 public:
  /// Called once a process. Throws Failure (usage) in a build without MPI.
  static std::unique_ptr<MpiWorld> join();
  virtual ~MpiWorld() = default;

  virtual int rank() const = 0;  ///< from 0
  virtual int size() const = 0;
  /// Waits until all processes reach this call.
  virtual void barrier() = 0;
  /// The values of all processes, by rank, in rank 0; empty elsewhere. Waits for all processes.
  virtual std::vector<int> gather(int value) = 0;
};

}  // namespace tiersim::cli
