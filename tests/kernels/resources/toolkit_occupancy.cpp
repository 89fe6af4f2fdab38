// The toolkit's occupancy calculator in a separate source: its header is C with many names.
#include <cuda_runtime_api.h>
// (after the runtime's types)
#include <cuda_occupancy.h>

int toolkit_blocks_per_multiprocessor(int threads, int registers, int shared_bytes);

int toolkit_blocks_per_multiprocessor(int threads, int registers, int shared_bytes) {
  cudaOccDeviceProp h200{};
  h200.computeMajor = 9;
  h200.maxThreadsPerBlock = 1024;
  h200.maxThreadsPerMultiprocessor = 2048;
  h200.regsPerBlock = 65536;
  h200.regsPerMultiprocessor = 65536;
  h200.warpSize = 32;
  h200.sharedMemPerBlock = size_t{48} * 1024;
  h200.sharedMemPerMultiprocessor = size_t{228} * 1024;
  h200.numSms = 132;
  h200.sharedMemPerBlockOptin = size_t{227} * 1024;
  h200.reservedSharedMemPerBlock = 1024;
  cudaOccFuncAttributes kernel{};
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = registers;
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = size_t{227} * 1024;
  cudaOccDeviceState state{};
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  const cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &h200, &kernel, &state, threads, static_cast<size_t>(shared_bytes));
  return status == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}
