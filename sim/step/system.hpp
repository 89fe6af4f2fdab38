#pragma once
// The built hardware: devices, their channels in one list, and what an operation costs on them.
// Whole after construction and immutable, so that any number of readings can share one.
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/model/device.hpp"
#include "sim/step/packet_network.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim {

using ChannelId = Id<struct ChannelTag>;  ///< position in System::channels()
using DeviceId = Id<struct DeviceTag>;    ///< position in System::device_names(): tiers, then links

struct SystemChannel {
  std::string name;  ///< "pcie.to_gpu"
  Bandwidth capacity;
  std::int64_t sharers = 1;  ///< GPUs that share one instance of it
  Level level = Level::flow;
  DeviceId device = {};  ///< none: a request engine
};

/// Factors on the way to one tier, for questions of what it would take. Bandwidth: every capacity
/// on the way, the request engines and what they keep in flight included. Latency: every device's.
struct PathScaling {
  std::string tier;  ///< none where empty
  double bandwidth = 1;
  double latency = 1;
};

/// How much of its own tiers a workload may fill.
struct TierShare {
  std::string tier;  ///< all of every tier where empty
  double share = 1;
};

/// Share of one channel that an operation takes.
struct ChannelCharge {
  ChannelId channel;
  Bytes busy;
};

/// Payload that an operation moves through one device.
struct DeviceTraffic {
  DeviceId device;
  Direction direction = Direction::read;
  TensorClass tensor_class = TensorClass::weights;
  Bytes payload;
  Bytes moved;  ///< in the device's whole granules
};

/// What an operation asks of a device at packet level.
struct PacketDemand {
  DeviceId device;
  PacketAccess access;
  Duration beyond{};  ///< unloaded latency of what lies behind the device
};

/// What one operation costs: the common input of the bound and the engine.
struct OpPlan {
  bool exclusive = false;   ///< occupies the compute unit
  Duration setup{};         ///< launch and first-byte latency; overlaps nothing of the operation
  Duration min_duration{};  ///< what arithmetic or the request engine needs at least, after setup
  std::string_view min_reason;  ///< what min_duration is: "compute" (arithmetic), "kernel" (more
                                ///< than arithmetic or memory alone), "requests" or "collective"
  std::string_view setup_reason = "latency";  ///< what setup is: "latency", "collective" or "host"
  std::int64_t ranks = 1;  ///< GPUs that must all have come to it before it starts on any
  std::vector<ChannelCharge> charges = {};  ///< one for each channel, by id
  std::vector<DeviceTraffic> traffic = {};
  /// Of devices at packet level. Their channels are charged no more than the payload, which takes
  /// them at least so long: what else it takes only the engine can say.
  std::vector<PacketDemand> packets = {};
  bool packet_collective = false;  ///< its ports are at packet level, and its start-up with them
  Bytes payload;                   ///< all accesses together
  Bytes own_bytes;                 ///< moved in the GPU's own memory
  Duration remote_latency{};       ///< unloaded, of the tiers behind links
  Duration own_latency{};          ///< unloaded, of the GPU's own memory
  bool beyond_timed = false;  ///< its kernel is fitted, and this size is outside of what was timed

  /// setup + max(min_duration, busy / capacity of every channel): the operation alone on the
  /// system.
  Duration uncontended(const std::vector<SystemChannel>& channels) const;
};

class System {
 public:
  /// `gpus`: only so many of those of the configuration, neighbours on one host.
  explicit System(const SystemConfig& config, PathScaling scaling = {}, const TierShare& limit = {},
                  std::optional<std::int64_t> gpus = {});

  /// GPUs, all equal: what plan() says holds for each of them.
  std::int64_t gpus() const { return gpus_; }
  /// GPUs that share one instance of a device.
  std::int64_t sharers(DeviceId device) const { return sharers_[device.index()]; }

  const std::vector<SystemChannel>& channels() const { return channels_; }
  const std::vector<std::string>& device_names() const { return device_names_; }
  /// Names of the tiers; a TierId of a graph for this system is a position here.
  const std::vector<std::string>& tier_names() const { return tier_names_; }
  TierId tier(std::string_view name) const;
  DeviceId device(TierId tier) const { return DeviceId(tier.index()); }
  /// Whether links lie between the GPU and the tier.
  bool is_remote(TierId tier) const { return tiers_[tier.index()].remote; }
  /// Of one instance.
  Bytes installed(TierId tier) const { return tiers_[tier.index()].memory->capacity(); }
  /// Of one instance, as far as the workload may fill it.
  Bytes capacity(TierId tier) const { return tiers_[tier.index()].capacity; }

  /// Whether the channel is of the SMs, which gathers hold and kernels compute on.
  bool counts_sms(ChannelId channel) const { return sms_ && channel.index() == *sms_; }

  /// What the times of a kernel family rest on.
  KernelBasis kernel_basis(KernelFamily family) const { return gpu_->basis(family); }

  /// The device at packet level; null where it is at another one.
  const PacketModel* packet_model(DeviceId device) const;
  /// The network of that purpose at packet level; null where it is at another one, or there is
  /// none.
  const PacketNetwork* packet_network(Fabric purpose) const;
  /// How the GPUs work together over it. Precondition: there is such a network.
  const Collective& collective(Fabric purpose) const;

  OpPlan plan(const Op& op) const;
  /// What a collective over Fabric::transfer takes at its other end: its port, and its memory.
  OpPlan plan_receipt(const Op& op) const;
  /// The plan of every operation, by OpId.
  std::vector<OpPlan> plan(const StepGraph& graph) const;

 private:
  struct Placed {  // a device and where its channels start in channels_
    const Device* device = nullptr;
    DeviceId id;
    std::size_t first_channel = 0;
    bool scaled = false;
  };
  struct Tier {
    std::unique_ptr<MemoryTier> memory;
    std::vector<Placed> devices;     // the memory itself, then the links of its path
    std::vector<const Link*> links;  // these links
    Bytes capacity;
    bool remote = false;
  };
  struct FabricPath {
    std::unique_ptr<Collective> collective;
    std::vector<Placed> links;
    std::vector<const Link*> devices;  // of `links`
    PortPath port;
    std::optional<PacketNetwork> packets;
  };
  struct Engine {
    std::unique_ptr<Requester> engine;
    std::size_t first_channel = 0;
  };

  /// Appends the channels, scaled, with what `like` says of their device; the first's position.
  std::size_t add_channels(const std::string& device, std::span<const Channel> channels,
                           const SystemChannel& like, double scale);
  void build_tiers(const SystemConfig& config, const TierShare& limit);
  void build_fabrics(const SystemConfig& config, const std::map<std::string, Placed>& links);
  OpPlan plan_collective(const Op& op) const;
  OpPlan plan_kernel(const Op& op) const;
  /// SMs that a kernel computes on, and a gather keeps from it.
  void charge_sms(Duration all_of_them, double share, OpPlan& plan) const;
  /// Where devices are at packet level, takes from their channels what exceeds the payload.
  void leave_to_packets(OpPlan& plan) const;
  void add_access(const Access& access, RequesterKind requester, OpPlan& plan) const;
  void charge(const AccessCost& cost, std::size_t first_channel, OpPlan& plan) const;
  /// Whether the channel is of the GPU's own memory.
  bool is_own(ChannelId channel) const;
  /// Least time of the plan's accesses beyond the GPU's own memory.
  Duration other_time(const OpPlan& plan) const;
  /// Makes the accesses to the GPU's own memory take no longer than `time`, alone on the system.
  void take_of_own_memory(Duration time, OpPlan& plan) const;

  std::int64_t gpus_ = 1;
  PathScaling scaling_;
  std::vector<std::int64_t> sharers_;                      // by DeviceId
  std::vector<std::optional<PacketModel>> packet_models_;  // likewise
  std::vector<SystemChannel> channels_;
  std::vector<ChannelId> own_channels_;
  Bandwidth own_peak_{};  // largest capacity of them
  std::vector<std::string> device_names_;
  std::vector<std::string> tier_names_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<std::string, const Link*> link_by_name_;
  std::vector<Tier> tiers_;
  std::vector<Placed> placed_;      // by DeviceId
  std::vector<Engine> requesters_;  // by Requester
  std::array<std::optional<FabricPath>, kFabricNames.size()> fabrics_;
  Duration host_step_{};
  std::unique_ptr<ComputeUnit> gpu_;
  /// Position of gpu.sms, where a request engine holds SMs. Its capacity is that of the GPU's own
  /// memory: a byte is what all SMs do while one passes.
  std::optional<std::size_t> sms_;
};

}  // namespace tiersim
