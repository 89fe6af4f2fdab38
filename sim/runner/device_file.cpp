#include "sim/runner/device_file.hpp"

#include "hwmodels/device_library.hpp"

namespace tiersim {
namespace {

template <class Interface>
void describe_one(Fields& f, const std::string& kind, bool same,
                  std::unique_ptr<DeviceSpec<Interface>>& spec,
                  const Registry<DeviceKind<Interface>>& library) {
  const auto* entry = library.find(kind);
  if (entry == nullptr) return;
  if (!same || !spec) spec = entry->make();
  spec->describe(f);
}

}  // namespace

void describe(Fields& f, DeviceFile& c) {
  const DeviceLibrary library = make_device_library();
  std::vector<Alternative> kinds;
  const auto add = [&](const auto& registry) {
    for (const auto& [kind, entry] : registry.entries()) kinds.push_back({kind, entry.help});
  };
  add(library.memory);
  add(library.link);
  add(library.request);
  add(library.compute);
  add(library.collective);
  f.select("model", c.kind, kinds, [&](const std::string& kind, Fields& fields) {
    const bool same = kind == c.kind;
    describe_one(fields, kind, same, c.memory, library.memory);
    describe_one(fields, kind, same, c.link, library.link);
    describe_one(fields, kind, same, c.request, library.request);
    describe_one(fields, kind, same, c.compute, library.compute);
    if (library.compute.find(kind) != nullptr) describe_power(fields, c.power);
    describe_one(fields, kind, same, c.collective, library.collective);
    c.kind = kind;
  });
  describe_costs(f, c.costs);
}

std::string DeviceFile::category() const {
  if (memory) return "memory";
  if (link) return "link";
  if (request) return "request";
  return compute ? "compute" : "collective";
}

}  // namespace tiersim
