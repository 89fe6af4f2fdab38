#include "kernels/runtime/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace tiersim::kernels {
namespace {

// From nvml.h (NVML API reference): status 0 is success, a device is an opaque pointer.
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;

class Nvml {
 public:
  explicit Nvml(const char* pci_address) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    begun_ = call<>("nvmlInit_v2");
    usable_ = begun_ &&
              call<const char*, void**>("nvmlDeviceGetHandleByPciBusId_v2", pci_address, &device_);
  }
  ~Nvml() {
    if (begun_) call<>("nvmlShutdown");
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool usable() const { return usable_; }
  unsigned number(const char* function) const {
    unsigned value = 0;
    return call<void*, unsigned*>(function, device_, &value) ? value : 0;
  }
  unsigned number(const char* function, unsigned which) const {
    unsigned value = 0;
    return call<void*, unsigned, unsigned*>(function, device_, which, &value) ? value : 0;
  }
  std::string driver() const {
    std::array<char, 96> text = {};
    const auto size = static_cast<unsigned>(text.size());
    return call<char*, unsigned>("nvmlSystemGetDriverVersion", text.data(), size) ? text.data()
                                                                                  : "";
  }
  unsigned long long wide(const char* function) const {
    unsigned long long value = 0;
    return call<void*, unsigned long long*>(function, device_, &value) ? value : 0;
  }

 private:
  template <class... Parameters>
  bool call(const char* function, Parameters... arguments) const {
    using Function = int (*)(Parameters...);
    const auto found = reinterpret_cast<Function>(dlsym(library_, function));
    return found != nullptr && found(arguments...) == 0;
  }

  void* library_ = nullptr;
  void* device_ = nullptr;
  bool begun_ = false;
  bool usable_ = false;
};

// Opened once, since that takes tens of milliseconds and clocks are read twice a case.
const Nvml& opened(const char* pci_address) {
  static const Nvml nvml(pci_address);
  return nvml;
}

}  // namespace

std::optional<Clocks> nvml_clocks(const char* pci_address) {
  const Nvml& nvml = opened(pci_address);
  if (!nvml.usable()) return std::nullopt;
  Clocks clocks;
  clocks.known = true;
  clocks.sm_mhz = nvml.number("nvmlDeviceGetClockInfo", kClockSm);
  clocks.memory_mhz = nvml.number("nvmlDeviceGetClockInfo", kClockMemory);
  clocks.throttle_reasons =
      static_cast<std::int64_t>(nvml.wide("nvmlDeviceGetCurrentClocksThrottleReasons"));
  clocks.temperature_c = nvml.number("nvmlDeviceGetTemperature", kTemperatureGpu);
  clocks.power_w = nvml.number("nvmlDeviceGetPowerUsage") * 1e-3;
  return clocks;
}

std::string nvml_driver(const char* pci_address) {
  const Nvml& nvml = opened(pci_address);
  return nvml.usable() ? nvml.driver() : "";
}

std::optional<LinkInfo> nvml_link(const char* pci_address) {
  const Nvml& nvml = opened(pci_address);
  if (!nvml.usable()) return std::nullopt;
  return LinkInfo{static_cast<int>(nvml.number("nvmlDeviceGetMaxPcieLinkGeneration")),
                  static_cast<int>(nvml.number("nvmlDeviceGetMaxPcieLinkWidth"))};
}

std::optional<MostClocks> nvml_most_clocks(const char* pci_address) {
  const Nvml& nvml = opened(pci_address);
  if (!nvml.usable()) return std::nullopt;
  return MostClocks{static_cast<double>(nvml.number("nvmlDeviceGetMaxClockInfo", kClockSm)),
                    static_cast<double>(nvml.number("nvmlDeviceGetMaxClockInfo", kClockMemory))};
}

}  // namespace tiersim::kernels
