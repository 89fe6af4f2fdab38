#pragma once
// The result of one run with its provenance: the only input of reports. The JSON form is an
// interface (schema tiersim.record/v1); `results` has the same bytes for the same configuration on
// any machine.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/record/serving_record.hpp"

namespace tiersim {

inline constexpr std::string_view kRecordSchema = "tiersim.record/v1";

struct Metric {
  double value = 0;
  std::string unit;
  NumberClass number_class = NumberClass::assumed;
  std::optional<Interval<double>> ci95 = {};  ///< if a number behind the metric has one
};

/// One sourced number of the configuration.
struct NumberRecord {
  std::string path;
  std::string value;
  NumberClass number_class = NumberClass::assumed;
  std::string source;
  bool in_times = true;  ///< true where the times depend on it: the step uses it, and it is no cost
  std::optional<Interval<std::string>> ci95 = {};
};

/// The draws from which intervals were made.
struct DrawsRecord {
  std::int64_t draws = 0;
  std::int64_t seed = 0;
  std::int64_t numbers = 0;  ///< numbers with intervals that the run uses
};

struct ReadWrite {
  std::int64_t read = 0;
  std::int64_t write = 0;
};

using BytesByClass = std::map<std::string, std::int64_t>;  ///< by tensor class, zeros left out

struct ReadWriteByClass {
  BytesByClass read = {};
  BytesByClass write = {};

  bool operator==(const ReadWriteByClass&) const = default;
};

struct TimeShare {
  std::string name;
  double seconds = 0;
};

/// The kernels of one family, on GPU 0.
struct KernelTimeRecord {
  std::string family;
  double seconds = 0;  ///< of all its operations in a step, in the engine's run
  /// The weakest class among its own numbers and those of the devices that it waits for.
  NumberClass number_class = NumberClass::assumed;
  std::string basis;   ///< fitted, transferred or specification
  std::string source;  ///< the calibration and kernel, or the reason for none
  std::optional<Interval<double>> ci95 = {};  ///< if a number behind the time has one
  double beyond_timed = 0;  ///< the part of `seconds` at sizes outside of the timed range
};

/// One part of the weights, named by WeightPart.
struct WeightRecord {
  std::string part;
  std::int64_t weights = 0;        ///< on one GPU
  std::int64_t model_weights = 0;  ///< in the whole model
  std::int64_t bytes = 0;          ///< on one GPU
};

/// One GPU's part of a replica, for the GPU with the largest part.
struct DeviceRecord {
  // how a replica's GPUs share the model: gpus_per_replica is tensor x context x
  // pipeline
  std::int64_t gpus_per_replica = 1;
  std::int64_t tensor = 1;
  std::int64_t latent_slices = 1;
  std::optional<std::int64_t> context = {};  ///< ranks that cut a prompt; none where it is whole
  std::int64_t pipeline = 1;
  std::string attention = {};  ///< "tensor", or "data": every GPU has sequences of its own
  std::optional<std::int64_t> attention_tensor = {};  ///< GPUs that share sequences, of "data"
  // one GPU
  std::string tier = {};         ///< its own memory
  std::int64_t layers = 0;       ///< layers of the decoder
  std::int64_t sequences = 0;    ///< sequences whose attention it computes
  std::int64_t query_heads = 0;  ///< query heads of each of these sequences on this GPU
  std::int64_t kv_elements_per_token_layer = 0;  ///< keys and values cached for the model itself
  std::vector<WeightRecord> weights = {};  ///< in the order of WeightPart, without empty parts
};

/// Begins the names of devices of GPUs that have the MLPs of a step whose attention is on others.
inline constexpr std::string_view kFfnPrefix = "ffn.";

struct RunRecord {
  // provenance
  std::string tiersim_version;
  std::string run_id;  ///< SHA-256 of the canonical configuration
  std::vector<NumberRecord> numbers;
  std::optional<DrawsRecord> draws;  ///< none if no number that the run uses has an interval
  // config: canonical JSON of the whole effective configuration
  std::string config;
  std::string name;
  std::int64_t gpus = 1;  ///< in all replicas
  /// Further ones, which have the MLPs for all of these; none where each GPU has its own.
  std::optional<std::int64_t> ffn_gpus = {};
  std::int64_t batch = 1;  ///< of one replica
  std::int64_t context = 1;
  std::map<std::string, std::int64_t> sharers;  ///< GPUs that share one instance, by device
  // results: metrics are for one GPU, except throughput; bytes are for one instance of a device,
  // from all GPUs that share it
  DeviceRecord device;
  std::map<std::string, Metric> metrics;
  std::map<std::string, std::int64_t> footprint_bytes;     ///< by tier
  std::map<std::string, BytesByClass> footprint_by_class;  ///< by tier
  std::map<std::string, std::int64_t> capacity_bytes;  ///< by tier, as far as the step may fill it
  std::map<std::string, ReadWrite> traffic_bytes;      ///< payload by device
  std::map<std::string, ReadWrite> moved_bytes;        ///< in the device's granules
  std::map<std::string, ReadWriteByClass> traffic_by_class;  ///< payload by device
  std::map<std::string, std::int64_t> channel_bytes;         ///< wire or bus bytes by channel
  std::map<std::string, double> channel_utilisation;         ///< share of capacity over the step
  std::vector<TimeShare> bound_shares;  ///< waiting times on the critical path, largest first
  std::vector<TimeShare> phases;        ///< time in each phase, in the engine's run
  std::vector<TimeShare> time_split;    ///< a partition of the step (time_split.hpp)
  std::vector<KernelTimeRecord> kernel_times;  ///< in the order of KernelFamily
  std::string bounded_by;
  std::vector<std::string> costs_unstated;  ///< "hbm: price": numbers missing from energy and cost
  std::optional<ServingRecord> serving;     ///< for requests over time; none for one step
};

/// Pretty-printed JSON, ending in a newline. A metric with a whole value is written as an integer.
std::string to_json(const RunRecord& record);
/// Only the `results` object, in the same form.
std::string pretty_results(const RunRecord& record);

/// One value of `results` that two records do not share.
struct Difference {
  std::string name;    ///< "metrics.step_time_s.value", "time_split.weights.seconds"
  std::string before;  ///< JSON, empty if missing
  std::string now;     ///< likewise
};
/// Differences between the results of two records, given as JSON texts, in the order of the first.
/// Numbers are compared by value: 1 equals 1.0.
std::vector<Difference> differences(const std::string& before, const std::string& now);

}  // namespace tiersim
