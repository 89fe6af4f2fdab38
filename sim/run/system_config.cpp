#include "sim/run/system_config.hpp"

#include <algorithm>

#include "hwmodels/device_library.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

template <class Interface>
void describe_device(Fields& f, DeviceConfig<Interface>& c,
                     const Registry<DeviceKind<Interface>>& library) {
  std::vector<Alternative> kinds;
  for (const auto& [kind, entry] : library.entries()) kinds.push_back({kind, entry.help});
  f.select("model", c.kind, kinds, [&](const std::string& kind, Fields& fields) {
    if (!c.spec || c.kind != kind) c.spec = library.find(kind)->make();
    c.kind = kind;
    c.spec->describe(fields);
  });
}

}  // namespace

void describe(Fields& f, DeviceConfig<MemoryTier>& c) {
  describe_device(f, c, make_device_library().memory);
}
void describe(Fields& f, DeviceConfig<Link>& c) {
  describe_device(f, c, make_device_library().link);
}
void describe(Fields& f, DeviceConfig<RequestEngine>& c) {
  describe_device(f, c, make_device_library().request);
}
void describe(Fields& f, DeviceConfig<ComputeUnit>& c) {
  describe_device(f, c, make_device_library().compute);
}

void describe(Fields& f, TierConfig& c) {
  f.doc("A memory tier and the way to it.");
  f.document("memory", c.memory, "device", "The memory itself.");
  f.optional("path", c.path, "Links from the GPU outward; none for the GPU's own memory.");
}

void describe(Fields& f, SystemConfig& c) {
  f.doc("One GPU with its memory tiers and the links between them.");
  f.required("name", c.name, "Name of the system.");
  f.document("gpu", c.gpu, "device", "The GPU's compute.");
  f.document("sm", c.sm, "device", "How kernels reach remote tiers.");
  f.document("copy_engine", c.copy_engine, "device", "How DMA reaches remote tiers.");
  f.optional_document("links", c.links, "device", "Links by name.");
  f.required("tiers", c.tiers, "Memory tiers by name.");
  std::vector<std::string> known;
  for (const auto& [name, link] : c.links) {
    known.push_back(name);
    const bool taken = c.tiers.contains(name) || std::ranges::count(kRequesterNames, name) != 0;
    f.check(!taken, "links." + name, "has the name of another device",
            "records tell devices by name");
  }
  for (const auto& [name, tier] : c.tiers) {
    f.check(std::ranges::count(kRequesterNames, name) == 0, "tiers." + name,
            "has the name of another device", "records tell devices by name");
    for (const std::string& link : tier.path)
      f.check(std::ranges::count(tier.path, link) == 1, "tiers." + name + ".path",
              "has link '" + link + "' twice", "a second crossing is a link of its own");
  }
  for (const auto& [name, tier] : c.tiers)
    for (const std::string& link : tier.path)
      f.check(c.links.contains(link), "tiers." + name + ".path", "no link is named '" + link + "'",
              "the links are: " + join(known));
}

}  // namespace tiersim
