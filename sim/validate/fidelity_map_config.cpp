#include "sim/validate/fidelity_map_config.hpp"

#include <fmt/format.h>

#include "hwmodels/collective/direct.hpp"
#include "hwmodels/collective/nccl.hpp"
#include "hwmodels/link/cxl.hpp"
#include "hwmodels/link/hop.hpp"
#include "hwmodels/link/network.hpp"
#include "hwmodels/link/nvlink.hpp"
#include "hwmodels/link/pcie.hpp"
#include "hwmodels/memory/dram.hpp"
#include "hwmodels/packet/network/network_packet.hpp"

namespace tiersim {
namespace {

// Checks that a device that was read without mistakes is of this kind.
template <class Config, class Interface>
const Config* expect_kind(Fields& f, const std::optional<DeviceConfig<Interface>>& device,
                          const char* key, const char* kind) {
  if (!device || !device->spec) return nullptr;
  const Config* config = config_of<Config>(*device->spec);
  f.check(config != nullptr, key, "is of another kind", std::string("model: ") + kind);
  return config;
}

void expect_packets(Fields& f, bool there, const char* key) {
  f.check(there, key, "has no packet_level mapping", "the packet level has nothing else to go by");
}

void check_links(Fields& f, const FidelityMapConfig& c) {
  if (const auto* pcie = expect_kind<PcieConfig>(f, c.pcie, "pcie", "pcie")) {
    expect_packets(f, pcie->packet_level.has_value(), "pcie");
    f.check(!pcie->packet_level || pcie->packet_level->fabric_switch, "pcie",
            "has no packet_level.switch, where many devices would be", "its latency is enough");
  }
  if (const auto* cxl = expect_kind<CxlConfig>(f, c.cxl, "cxl", "cxl")) {
    expect_packets(f, cxl->packet_level.has_value(), "cxl");
    f.check(cxl->port_count() == 1, "cxl.ports", "is not 1", "one link is looked at");
    f.check(!cxl->packet_level || cxl->packet_level->pool_switch, "cxl",
            "has no packet_level.switch, where many hosts would be", "its latency is enough");
  }
  f.check(!c.module || c.cxl, "module", "has no link before it", "cxl");
}

void check_node(Fields& f, const FidelityMapConfig& c) {
  f.check(c.nvlink.has_value() == c.nvswitch.has_value(), c.nvlink ? "nvswitch" : "nvlink",
          "is missing", "a node is both");
  f.check((!c.direct && !c.nccl) || c.nvlink, "nvlink", "is missing", "collectives need a node");
  if (const auto* port = expect_kind<NvlinkConfig>(f, c.nvlink, "nvlink", "nvlink"))
    expect_packets(f, port->packet_level.has_value(), "nvlink");
  if (const auto* hop = expect_kind<HopConfig>(f, c.nvswitch, "nvswitch", "hop"))
    expect_packets(f, hop->packet_level.has_value(), "nvswitch");
  if (const auto* adapter = expect_kind<NetworkConfig>(f, c.network, "network", "network"))
    for (const PacketObstacle& obstacle : packet_obstacles(*adapter))
      f.check(false, fmt::format("network.{}", obstacle.path), std::string(obstacle.message),
              std::string(obstacle.hint));
  f.check(!c.network_nccl || c.network, "network", "is missing", "collectives need adapters");
  expect_kind<NcclConfig>(f, c.network_nccl, "network_nccl", "nccl");
  expect_kind<DirectConfig>(f, c.direct, "direct", "direct");
  expect_kind<NcclConfig>(f, c.nccl, "nccl", "nccl");
}

}  // namespace

void describe(Fields& f, LevelReason& c) {
  f.doc("Why flow and packet differ.");
  f.required("workload", c.workload, "Id of a workload, or what the ids of several begin with.");
  f.required("why", c.why, "The reason, in a sentence.");
}

void describe(Fields& f, FidelityMapConfig& c) {
  f.doc("Hardware on which the levels of fidelity are compared.");
  f.required("title", c.title, "Name of the hardware, for readers.");
  f.optional_document("hbm", c.hbm, "device", "Memory of a GPU, with a packet mapping.");
  f.optional_document("pcie", c.pcie, "device", "Link of a device to its root complex.");
  f.optional_document("cxl", c.cxl, "device", "Link of a host to an expander.");
  f.optional_document("module", c.module, "device", "Memory behind the CXL link.");
  f.optional_document("nvlink", c.nvlink, "device", "Port of each of 8 GPUs.");
  f.optional_document("nvswitch", c.nvswitch, "device", "Switch between them.");
  f.optional_document("direct", c.direct, "device", "All-reduce by one or two shots.");
  f.optional_document("nccl", c.nccl, "device", "All-reduce by NCCL.");
  f.optional_document("network", c.network, "device",
                      "Adapter of each of 8 GPUs in different nodes, on one switch.");
  f.optional_document("network_nccl", c.network_nccl, "device", "All-reduce by NCCL over them.");
  f.optional("reasons", c.reasons, "Why flow and packet differ.");
  f.check(c.hbm || c.pcie || c.cxl || c.nvlink || c.network, "", "has no device",
          "hbm, pcie, cxl, nvlink or network");
  if (const auto* hbm = expect_kind<DramConfig>(f, c.hbm, "hbm", "dram"))
    expect_packets(f, hbm->packet_level.has_value(), "hbm");
  if (const auto* module = expect_kind<DramConfig>(f, c.module, "module", "dram"))
    expect_packets(f, module->packet_level.has_value(), "module");
  check_links(f, c);
  check_node(f, c);
}

}  // namespace tiersim
