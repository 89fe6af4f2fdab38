#pragma once
// Bytes of a record as reports over points count them: of one GPU, by tensor class, and what they
// are divided by to be of a request or of a token.
//
// A record holds bytes of one instance of a device, from all GPUs that share it. One GPU's are that
// over its sharers (GPUs of a replica are equal; of a server it is the mean). All GPUs' are one
// GPU's times their number, and a request's or token's are all GPUs' over the requests or tokens of
// all GPUs, so that tensor parallelism, replicas and sharing need no case of their own.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// Of all GPUs. Of one step: sequences of the batch. Of a server: requests of the whole run. No
/// requests and no tokens where the record does not say (read_results() without a setup).
struct RecordCounts {
  std::int64_t gpus = 1;
  std::int64_t requests = 1;
  std::optional<double> new_tokens = {};     ///< none where the record holds no times
  std::optional<double> cached_tokens = {};  ///< requests times context; none of a server
};
RecordCounts counts_of(const RunRecord& record);

/// GPUs that share one instance; 1 where the record does not say.
std::int64_t sharers_of(const RunRecord& record, const std::string& device);

/// What one GPU holds in a tier.
struct TierBytes {
  std::string tier = {};
  BytesByClass by_class = {};
  std::int64_t sum = 0;
  std::int64_t kv_cache = 0;  ///< all that a method keeps of keys and values
  /// Of one instance: what a step may fill; nothing where it is not stated.
  std::optional<std::int64_t> capacity = {};
  std::int64_t sharers = 1;

  std::optional<double> full() const;  ///< share of the capacity
};
/// Tiers that hold something, the GPU's own first. Of a server: weights, activations, the runtime's
/// reserve, and the blocks of keys and values, which are those there is room for in the GPU's own
/// memory and the most that were held at a time elsewhere. Empty where the record has metrics
/// alone.
std::vector<TierBytes> tier_bytes(const RunRecord& record);

/// What one GPU asked of a device in a step (of a server: in the whole run).
struct DeviceBytes {
  std::string device = {};
  ReadWrite payload = {};
  ReadWrite moved = {};      ///< in the device's granules; 0 where the record does not say
  std::int64_t wire = 0;     ///< of its channels, headers and lost time included
  std::string busiest = {};  ///< channel with the largest share of time; empty where none has any
  double busy = 0;           ///< that share, of the instance
  BytesByClass read = {};
  BytesByClass write = {};

  std::int64_t total() const { return payload.read + payload.write; }
};
/// Devices that something passed, by name.
std::vector<DeviceBytes> device_bytes(const RunRecord& record);

/// Names of tensor classes in the order of TensorClass, then any others by name.
std::vector<std::string> in_class_order(std::vector<std::string> names);

}  // namespace tiersim
