// NVML loaded at run time, since it comes with the driver and not with the toolkit.
#pragma once
#include <optional>
#include <string>

#include "kernels/runtime/device_info.hpp"

namespace tiersim::kernels {

struct LinkInfo {
  int generation = 0;
  int width = 0;
};

// Clocks of the card at a PCI address of the CUDA runtime ("0000:1b:00.0"); none where
// libnvidia-ml.so.1 is missing or does not know the card. The first call opens the library, for the
// one card of the process.
std::optional<Clocks> nvml_clocks(const char* pci_address);
std::string nvml_driver(const char* pci_address);  // "580.95.05"; empty where not known
std::optional<LinkInfo> nvml_link(const char* pci_address);
struct MostClocks {
  double sm_mhz = 0;
  double memory_mhz = 0;
};
std::optional<MostClocks> nvml_most_clocks(const char* pci_address);

}  // namespace tiersim::kernels
