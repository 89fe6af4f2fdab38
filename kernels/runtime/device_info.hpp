// The device of the timings. Clocks are read and never set.
#pragma once
#include <cstdint>
#include <string>

namespace tiersim::kernels {

struct LaunchUse;

struct DeviceInfo {
  bool emulator = true;
  std::string name;                // "emulator" on the emulator
  std::string compute_capability;  // 9.0
  int multiprocessors = 0;         // 0: not known; so are all values below on the emulator
  std::int64_t l2_bytes = 0;       // small on the emulator, so that rotation runs there
  std::int64_t memory_bytes = 0;   // free when read
  double memory_bytes_per_s = 0;   // memory clock x bus width x 2
  std::string driver;
  std::string runtime;
  int pcie_generation = 0;  // in use
  int pcie_width = 0;
  double sm_mhz_max = 0;
  double memory_mhz_max = 0;
};
DeviceInfo device_info();  // CardError where there is no card

// False once a kernel has broken the device's context: this process can run no more.
bool device_usable();

struct Clocks {
  bool known = false;
  double sm_mhz = 0;
  double memory_mhz = 0;
  std::int64_t throttle_reasons = 0;  // bits of NVML's clocks event reasons
  double temperature_c = 0;
  double power_w = 0;
};
// From NVML, which comes with the driver; empty where it is missing, and on the emulator.
Clocks read_clocks();

// Registers and residency of a launch; all zero where unknown (the emulator).
struct Occupancy {
  bool known = false;
  int registers = 0;  // of a thread
  std::int64_t local_bytes = 0;
  std::int64_t static_shared_bytes = 0;
  int blocks_per_multiprocessor = 0;
  int multiprocessors = 0;
};
Occupancy occupancy_of(const LaunchUse& launch);  // CardError where the card refuses the launch

}  // namespace tiersim::kernels
