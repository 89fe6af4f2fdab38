#include "hwmodels/device_library.hpp"

namespace tiersim {

// Generated from the KINDS lists of the CMakeLists.txt files.
void register_all_memory(Registry<DeviceKind<MemoryTier>>& registry);
void register_all_link(Registry<DeviceKind<Link>>& registry);
void register_all_request(Registry<DeviceKind<Requester>>& registry);
void register_all_compute(Registry<DeviceKind<ComputeUnit>>& registry);
void register_all_collective(Registry<DeviceKind<Collective>>& registry);

DeviceLibrary make_device_library() {
  DeviceLibrary library;
  register_all_memory(library.memory);
  register_all_link(library.link);
  register_all_request(library.request);
  register_all_compute(library.compute);
  register_all_collective(library.collective);
  return library;
}

}  // namespace tiersim
