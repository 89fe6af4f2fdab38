#include "kernels/runtime/device_info.hpp"

#include <array>

#include "kernels/cases/case.hpp"
#include "kernels/runtime/nvml.hpp"
#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {

#if TS_ON_CARD
namespace {

std::string version(int number) {  // 13000: 13.0
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  TS_CARD(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

std::string pci_address() {
  std::array<char, 32> address = {};
  TS_CARD(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), 0));
  return address.data();
}

}  // namespace

DeviceInfo device_info() {
  cudaDeviceProp properties{};
  TS_CARD(cudaGetDeviceProperties(&properties, 0));
  DeviceInfo info;
  info.emulator = false;
  info.name = properties.name;
  info.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.multiprocessors = properties.multiProcessorCount;
  info.l2_bytes = properties.l2CacheSize;
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  TS_CARD(cudaMemGetInfo(&free_bytes, &all_bytes));
  info.memory_bytes = static_cast<std::int64_t>(free_bytes);
  info.memory_bytes_per_s = 2.0 * 1e3 * attribute(cudaDevAttrMemoryClockRate) *
                            attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
  int number = 0;
  TS_CARD(cudaDriverGetVersion(&number));
  info.driver = "CUDA " + version(number);
  TS_CARD(cudaRuntimeGetVersion(&number));
  info.runtime = version(number);
  const std::string address = pci_address();
  const std::string driver = nvml_driver(address.c_str());
  if (!driver.empty()) info.driver = driver + ", " + info.driver;
  if (const auto link = nvml_link(address.c_str())) {
    info.pcie_generation = link->generation;
    info.pcie_width = link->width;
  }
  if (const auto most = nvml_most_clocks(address.c_str())) {
    info.sm_mhz_max = most->sm_mhz;
    info.memory_mhz_max = most->memory_mhz;
  }
  return info;
}

bool device_usable() {
  return cudaDeviceSynchronize() == cudaSuccess;
}

Clocks read_clocks() {
  return nvml_clocks(pci_address().c_str()).value_or(Clocks{});
}

Occupancy occupancy_of(const LaunchUse& launch) {
  Occupancy use;
  if (launch.function == nullptr) return use;  // a kernel of a library
  cudaFuncAttributes attributes{};
  TS_CARD(cudaFuncGetAttributes(&attributes, launch.function));
  const int shared_bytes = static_cast<int>(launch.shared_bytes);
  if (shared_bytes > 48 * 1024) {
    TS_CARD(cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 shared_bytes));
  }
  use.known = true;
  use.registers = attributes.numRegs;
  use.local_bytes = static_cast<std::int64_t>(attributes.localSizeBytes);
  use.static_shared_bytes = static_cast<std::int64_t>(attributes.sharedSizeBytes);
  TS_CARD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &use.blocks_per_multiprocessor, launch.function, launch.threads,
      static_cast<std::size_t>(launch.shared_bytes)));
  use.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  return use;
}
#else
DeviceInfo device_info() {
  DeviceInfo info;
  info.name = "emulator";
  info.l2_bytes = 4 * 1024;  // toy cases then rotate over a few sets
  info.memory_bytes = 64 * 1024 * 1024;
  return info;
}

bool device_usable() {
  return true;
}

Clocks read_clocks() {
  return {};
}

Occupancy occupancy_of(const LaunchUse&) {
  return {};
}
#endif

}  // namespace tiersim::kernels
