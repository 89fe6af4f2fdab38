#pragma once
// Bytes of a record as reports count them: bytes of one GPU by tensor class, with the counts that
// give bytes per request and per token.
//
// A record holds the bytes of one instance of a device, from all GPUs that share it. The bytes of
// one GPU are these over the number of sharers. GPUs of a replica are equal; for a server this is
// the mean. The bytes of all GPUs are those of one GPU times their number. Bytes per request or
// token are the bytes of all GPUs over the requests or tokens of all GPUs, so that tensor
// parallelism, replicas and sharing need no special case.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// Counts over all GPUs: the sequences of the batch for a step, and the requests of the whole run
/// for a server. Requests and tokens are 0 or none where the record does not hold them
/// (read_results() without a setup).
struct RecordCounts {
  std::int64_t gpus = 1;
  std::int64_t ffn_gpus = 0;  ///< further ones, with the devices that kFfnPrefix names
  std::int64_t requests = 1;
  std::optional<double> new_tokens = {};     ///< none where the record holds no times
  std::optional<double> cached_tokens = {};  ///< requests times context; none for a server

  /// GPUs that have the device, each or together.
  std::int64_t gpus_with(std::string_view device) const {
    return device.starts_with(kFfnPrefix) ? ffn_gpus : gpus;
  }
};
RecordCounts counts_of(const RunRecord& record);

/// GPUs that share one instance; 1 where the record does not say.
std::int64_t sharers_of(const RunRecord& record, const std::string& device);

/// Bytes of one GPU in one tier.
struct TierBytes {
  std::string tier = {};
  BytesByClass by_class = {};
  std::int64_t sum = 0;
  std::int64_t kv_cache = 0;  ///< keys and values with everything that the method keeps beside them
  /// Of one instance: the bytes that a step may fill. None where the record does not state it.
  std::optional<std::int64_t> capacity = {};
  std::int64_t sharers = 1;

  std::optional<double> full() const;  ///< share of the capacity
};
/// Tiers that are not empty, the GPU's own first. A server holds weights, activations, the
/// runtime's reserve and blocks of keys and values: all blocks that there is room for in the GPU's
/// own memory, and the largest number held at a time in other tiers. Empty where the record has
/// metrics alone.
std::vector<TierBytes> tier_bytes(const RunRecord& record);

/// Traffic of one GPU at one device, in a step or, for a server, in the whole run.
struct DeviceBytes {
  std::string device = {};
  ReadWrite payload = {};
  ReadWrite moved = {};      ///< in the device's granules; 0 where the record does not say
  std::int64_t wire = 0;     ///< bytes on its channels, with headers and idle slots
  std::string busiest = {};  ///< channel with the highest utilisation; empty where nothing is busy
  double busy = 0;           ///< utilisation of that channel, of the whole instance
  BytesByClass read = {};
  BytesByClass write = {};

  std::int64_t total() const { return payload.read + payload.write; }
};
/// Devices with traffic, by name.
std::vector<DeviceBytes> device_bytes(const RunRecord& record);

/// Names of tensor classes in the order of TensorClass, then any others by name.
std::vector<std::string> in_class_order(std::vector<std::string> names);

}  // namespace tiersim
