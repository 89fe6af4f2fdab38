# TIERSIM_MPI=ON: enables `mpirun -n N tiersim sweep SPEC --mpi`, with Boost.MPI (Debian:
# libboost-mpi-dev).
option(TIERSIM_MPI "Sweeps over the processes of mpirun" OFF)
if(TIERSIM_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
  find_package(Boost 1.74 REQUIRED COMPONENTS mpi serialization)
  target_sources(tiersim_cli PRIVATE "${PROJECT_SOURCE_DIR}/sim/cli/mpi_boost.cpp")
  target_link_libraries(tiersim_cli PRIVATE Boost::mpi MPI::MPI_CXX)
else()
  target_sources(tiersim_cli PRIVATE "${PROJECT_SOURCE_DIR}/sim/cli/mpi_none.cpp")
endif()
