#include "reports/summary/sharing_text.hpp"

#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace tiersim {

std::string sharing_text(const DeviceRecord& device) {
  std::vector<std::string> parts;
  if (device.tensor > 1) parts.push_back(fmt::format("tensor {}", device.tensor));
  if (device.latent_slices > 1)
    parts.push_back(fmt::format("{} latent slices", device.latent_slices));
  if (device.context) parts.push_back(fmt::format("context {}", *device.context));
  if (device.tensor > 1 && device.attention != "tensor")
    parts.push_back(
        device.attention + " attention" +
        (device.attention_tensor ? fmt::format(" in groups of {}", *device.attention_tensor) : ""));
  if (device.pipeline > 1) parts.push_back(fmt::format("pipeline {}", device.pipeline));
  return parts.empty() ? "-" : join(parts);
}

}  // namespace tiersim
