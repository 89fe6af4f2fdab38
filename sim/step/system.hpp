#pragma once
// The built hardware: devices, their channels in one list, and the cost of an operation on them. It
// is complete after construction and immutable, so that many readings can share one.
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hwmodels/compute/power_cap.hpp"
#include "hwmodels/topology/topology.hpp"
#include "sim/base/id.hpp"
#include "sim/model/device.hpp"
#include "sim/record/run_record.hpp"
#include "sim/step/packet_network.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim {

using ChannelId = Id<struct ChannelTag>;  ///< index into System::channels()
using DeviceId = Id<struct DeviceTag>;    ///< index into System::device_names(): tiers, then links

struct SystemChannel {
  std::string name;  ///< "pcie.to_gpu"
  Bandwidth capacity;
  std::int64_t sharers = 1;  ///< GPUs that share one instance
  Level level = Level::flow;
  DeviceId device = {};  ///< none: a request engine
};

/// Factors on the path to one tier, for what-if questions. Bandwidth: all capacities on the path,
/// with the request engines and the bytes they keep in flight. Latency: that of every device.
struct PathScaling {
  std::string tier;  ///< empty: no scaling
  double bandwidth = 1;
  double latency = 1;
};

/// The share of its own tiers that a workload may fill.
struct TierShare {
  std::string tier;  ///< empty: every tier
  double share = 1;
};

/// The use of one channel by an operation.
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
  Bytes moved;  ///< bytes in the device's whole granules
};

/// The access of an operation to a device at packet level.
struct PacketDemand {
  DeviceId device;
  PacketAccess access;
  Duration beyond{};  ///< unloaded latency of the devices behind it
};

/// The cost of one operation: the common input of the bound and the engine.
struct OpPlan {
  GpuRole role = GpuRole::main;  ///< of the GPU that runs it, or that sends
  bool exclusive = false;        ///< occupies the compute unit
  Duration setup{};         ///< launch and first-byte latency; overlaps nothing of the operation
  Duration issue{};         ///< part of setup: the host hands the copies to the request engine
  Duration min_duration{};  ///< least time of arithmetic or the request engine, after setup
  std::string_view min_reason;  ///< cause of min_duration: "compute" (arithmetic), "kernel" (more
                                ///< than arithmetic or memory alone), "requests" or "collective"
  std::string_view setup_reason = "latency";  ///< cause of setup: "latency", "collective" or "host"
  std::int64_t ranks = 1;                   ///< GPUs that must all reach it before it starts on any
  std::vector<ChannelCharge> charges = {};  ///< one for each channel, by id
  std::vector<DeviceTraffic> traffic = {};
  /// Accesses to devices at packet level. Their channels are charged only the payload, as a lower
  /// bound of the time; only the engine knows the rest.
  std::vector<PacketDemand> packets = {};
  bool packet_collective = false;  ///< true where its ports and start-up are at packet level
  Flops powered_flops;  ///< arithmetic as its energy counts: fewer than its FLOPs at a lower clock
  double active_share = 0;    ///< of active_power while it runs; 0: the GPU does not work on it
  Bytes payload;              ///< of all accesses together
  Bytes own_bytes;            ///< moved in the GPU's own memory
  Duration remote_latency{};  ///< unloaded latency of the tiers behind links
  Duration own_latency{};     ///< unloaded latency of the GPU's own memory
  bool beyond_timed = false;  ///< fitted kernel, and this size is outside of the timed range
  std::string_view timed_kernel = {};  ///< KernelTime::timed_kernel
  Interval<double> spread{1, 1};       ///< KernelTime::spread

  /// setup + max(min_duration, busy / capacity of every channel): the operation alone on the
  /// system.
  Duration uncontended(const std::vector<SystemChannel>& channels) const;
};

/// The plans of a graph's operations, by OpId. Layers repeat each other, so operations with the
/// same work share one plan.
class OpPlans {
 public:
  class Iterator {
   public:
    using value_type = OpPlan;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const OpPlans& plans, std::size_t op) : plans_(&plans), op_(op) {}
    const OpPlan& operator*() const { return (*plans_)[op_]; }
    Iterator& operator++() {
      ++op_;
      return *this;
    }
    Iterator operator++(int) { return {*plans_, op_++}; }
    bool operator==(const Iterator& other) const { return op_ == other.op_; }

   private:
    const OpPlans* plans_ = nullptr;
    std::size_t op_ = 0;
  };

  void reserve(std::size_t ops) { which_.reserve(ops); }
  /// Adds the plan of the next operation.
  void add(OpPlan plan) {
    which_.push_back(distinct_.size());
    distinct_.push_back(std::move(plan));
    counts_.push_back(1);
  }
  /// The next operation has the plan of an earlier one.
  void add_again(std::size_t op) {
    which_.push_back(which_[op]);
    ++counts_[which_[op]];
  }

  std::size_t size() const { return which_.size(); }
  const OpPlan& operator[](std::size_t op) const { return distinct_[which_[op]]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  /// Each plan once; the index of an operation's plan among them; the number of operations of each.
  const std::vector<OpPlan>& distinct() const { return distinct_; }
  std::size_t which(std::size_t op) const { return which_[op]; }
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  std::vector<OpPlan> distinct_;
  std::vector<std::size_t> which_;
  std::vector<std::int64_t> counts_;
};

class System {
 public:
  /// `gpus`: only this number of the configured GPUs, neighbours on one host. `gpu`: compute() of a
  /// system with the same GPU, which is then not built again.
  explicit System(const SystemConfig& config, PathScaling scaling = {}, const TierShare& limit = {},
                  std::optional<std::int64_t> gpus = {},
                  std::shared_ptr<const ComputeUnit> gpu = nullptr);

  /// Adds the GPUs that have the MLPs. The names of their tiers, devices and channels begin with
  /// kFfnPrefix, and their ids follow those of this system. Operations with GpuRole::ffn run there.
  void join(std::shared_ptr<const System> ffn);
  /// Those GPUs; null where there are none.
  const System* ffn() const { return ffn_.get(); }
  /// True for a tier of those GPUs.
  bool is_of_ffn(TierId tier) const { return tier.index() >= tiers_.size(); }
  /// Number of this system's own tiers and links, without those of FFN GPUs.
  std::size_t own_devices() const { return placed_.size(); }

  /// Makes every kernel and collective begin earlier by this time, or by its own launch if that is
  /// shorter.
  void set_dependent_launch(Duration earlier) { dependent_launch_ = earlier; }

  /// Number of GPUs, which are all equal: plan() holds for each of them.
  std::int64_t gpus() const { return gpus_; }
  /// GPUs that share one instance of a device.
  std::int64_t sharers(DeviceId device) const { return sharers_[device.index()]; }

  const std::vector<SystemChannel>& channels() const { return channels_; }
  const std::vector<std::string>& device_names() const { return device_names_; }
  /// Names of the tiers; a TierId of a graph for this system is an index into them.
  const std::vector<std::string>& tier_names() const { return tier_names_; }
  TierId tier(std::string_view name) const;
  DeviceId device(TierId tier) const;
  /// True where links lie between the GPU and the tier.
  bool is_remote(TierId tier) const { return tier_at(tier).remote; }
  /// Capacity of one instance.
  Bytes installed(TierId tier) const { return tier_at(tier).memory->capacity(); }
  /// The part of one instance's capacity that the workload may fill.
  Bytes capacity(TierId tier) const { return tier_at(tier).capacity; }

  /// True for the channel of the SMs, which gathers hold and kernels compute on.
  bool counts_sms(ChannelId channel) const;

  const std::shared_ptr<const ComputeUnit>& compute() const { return gpu_; }
  const ComputeSheet& compute_sheet() const { return gpu_->sheet(); }
  Bandwidth own_memory_peak() const { return own_peak_; }
  /// The provenance of the times of a kernel family.
  /// `ran`: the timed kernels of the family's operations (OpPlan::timed_kernel).
  KernelBasis kernel_basis(KernelFamily family, const TimedNames& ran) const {
    return gpu_->basis(family, &ran);
  }
  /// The GPUs of a role, which must exist.
  const System& of_role(GpuRole role) const { return role == GpuRole::ffn ? *ffn_ : *this; }
  /// The family whose numbers hold for a kernel.
  KernelFamily family_of(const Op& op) const {
    return of_role(op.role).gpu_->family_for(op.family);
  }

  /// The packet model of the device; null if it is not at packet level.
  const PacketModel* packet_model(DeviceId device) const;
  /// The network for this purpose at packet level; null if it is at another level or does not
  /// exist.
  const PacketNetwork* packet_network(Fabric purpose) const;
  /// The collective operations over the network for this purpose, which must exist.
  const Collective& collective(Fabric purpose) const;
  /// The cost at one rank's port, over the network of the work's purpose, which must exist.
  CollectiveCost collective_cost(const CollectiveWork& work) const;

  OpPlan plan(const Op& op) const;
  /// The cost of a send over Fabric::transfer or Fabric::ffn at its receiver: the port and the
  /// memory there.
  OpPlan plan_receipt(const Op& op) const;
  /// The plan of every operation, by OpId.
  OpPlans plan(const StepGraph& graph) const;

 private:
  struct Placed {  // a device and the start of its channels in channels_
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
    std::vector<const Link*> devices;      // of `links`
    std::size_t near_links;                // the first ones; only far traffic crosses the others
    std::unique_ptr<Requester> requester;  // null: nothing limits the copies of a hand-over
    PortPath port;
    Duration launch;  // 0 where a graph holds the collectives
    std::optional<PacketNetwork> packets;
  };
  struct Engine {
    std::unique_ptr<Requester> engine;
    std::size_t first_channel = 0;
  };

  /// Appends the channels, scaled, with the device properties of `like`; returns the first one's
  /// index.
  std::size_t add_channels(const std::string& device, std::span<const Channel> channels,
                           const SystemChannel& like, double scale);
  void build_tiers(const SystemConfig& config, const TierShare& limit);
  void build_power(const SystemConfig& config);
  void build_fabrics(const SystemConfig& config, const std::map<std::string, Placed>& links);
  const Tier& tier_at(TierId tier) const {
    return tier.index() < tiers_.size() ? tiers_[tier.index()]
                                        : ffn_->tiers_[tier.index() - tiers_.size()];
  }
  /// An operation of a system with FFN GPUs: theirs, or a send between both kinds.
  OpPlan plan_joined(const Op& op) const;
  OpPlan plan_exchange(const Op& op) const;
  /// The operation with the accesses to one kind's tiers alone, by that kind's ids.
  Op at_role(const Op& op, GpuRole role) const;
  /// Gives a plan of the FFN GPUs the ids that their devices and channels have here.
  void shift(OpPlan& plan) const;
  OpPlan plan_collective(const Op& op) const;
  OpPlan plan_kernel(const Op& op) const;
  /// Adds the time that the requester takes for the copies of a hand-over, one after another.
  void issue_copies(const Op& op, const Requester& requester, OpPlan& plan) const;
  /// Charges the SMs on which a kernel computes, or which a gather takes from it.
  void charge_sms(Duration all_of_them, double share, OpPlan& plan) const;
  /// Lowers the clock of the kernel until its power keeps the limit, and sets `powered_flops` and
  /// `active_share`.
  void keep_power(const Op& op, Duration memory, KernelTime& time, OpPlan& plan) const;
  static void lengthen_on_fewer_sms(const Op& op, Duration memory, KernelTime& time);
  /// Reduces the charges on channels of devices at packet level to the payload.
  void leave_to_packets(OpPlan& plan) const;
  void add_access(const Access& access, RequesterKind requester, OpPlan& plan) const;
  void charge(const AccessCost& cost, std::size_t first_channel, OpPlan& plan) const;
  /// True for a channel of the GPU's own memory.
  bool is_own(ChannelId channel) const;
  /// Least time of the plan's accesses outside of the GPU's own memory.
  Duration other_time(const OpPlan& plan) const;
  /// Limits the accesses to the GPU's own memory to `time`, alone on the system.
  void take_of_own_memory(Duration time, OpPlan& plan) const;

  std::shared_ptr<const System> ffn_;  // null: no other GPUs have the MLPs
  std::size_t own_channel_count_ = 0;
  std::int64_t gpus_ = 1;
  std::unique_ptr<const Topology> topology_;
  PathScaling scaling_;
  std::vector<std::int64_t> sharers_;                      // by DeviceId
  std::vector<std::optional<PacketModel>> packet_models_;  // likewise
  std::vector<SystemChannel> channels_;
  std::vector<ChannelId> own_channels_;
  Bandwidth own_peak_{};  // the largest of their capacities
  std::vector<std::string> device_names_;
  std::vector<std::string> tier_names_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<std::string, const Link*> link_by_name_;
  std::vector<Tier> tiers_;
  std::vector<Placed> placed_;      // by DeviceId
  std::vector<Engine> requesters_;  // by Requester
  std::array<std::optional<FabricPath>, kFabricNames.size()> fabrics_;
  Duration host_step_{};
  std::optional<PowerCap> power_cap_;
  Duration dependent_launch_{};     // by how much kernels begin earlier
  double flop_energy_ = 0;          // J/FLOP
  std::vector<double> own_energy_;  ///< J/B of the GPU's own memories by DeviceId; else 0
  std::shared_ptr<const ComputeUnit> gpu_;
  /// Index of gpu.sms, if a request engine holds SMs. Its capacity is that of the GPU's own memory:
  /// one byte stands for the work of all SMs in the time of one byte of memory traffic.
  std::optional<std::size_t> sms_;
};

}  // namespace tiersim
