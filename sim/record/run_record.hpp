#pragma once
// The result of one run and where it comes from: the only thing that reports read. The JSON form is
// an interface (schema tiersim.record/v1); `results` is the same bytes for the same config on any
// machine.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/base/number_class.hpp"
#include "sim/record/serving_record.hpp"

namespace tiersim {

struct Metric {
  double value = 0;
  std::string unit;
  NumberClass number_class = NumberClass::assumed;
  std::optional<Interval<double>> ci95 = {};  ///< where a number behind it carries one
};

/// One sourced number of the configuration.
struct NumberRecord {
  std::string path;
  std::string value;
  NumberClass number_class = NumberClass::assumed;
  std::string source;
  bool in_times = true;  ///< whether the times rest on it: of what the step used, and no cost
  std::optional<Interval<std::string>> ci95 = {};
};

/// What intervals were made from.
struct DrawsRecord {
  std::int64_t draws = 0;
  std::int64_t seed = 0;
  std::int64_t numbers = 0;  ///< with intervals that the run uses
};

struct ReadWrite {
  std::int64_t read = 0;
  std::int64_t write = 0;
};

using BytesByClass = std::map<std::string, std::int64_t>;  ///< by tensor class, zeros left out

struct TimeShare {
  std::string name;
  double seconds = 0;
};

/// The kernels of one family, on GPU 0.
struct KernelTimeRecord {
  std::string family;
  double seconds = 0;  ///< of all its operations in a step, as run
  /// The weakest behind it: of its own numbers, and of the devices that it waits for.
  NumberClass number_class = NumberClass::assumed;
  std::string basis;                          ///< fitted, transferred or specification
  std::string source;                         ///< the calibration and kernel, or why none
  std::optional<Interval<double>> ci95 = {};  ///< where a number behind it carries one
  double beyond_timed = 0;  ///< s of `seconds` at sizes outside of those that were timed
};

/// One part of the weights, by the names of WeightPart.
struct WeightRecord {
  std::string part;
  std::int64_t weights = 0;        ///< on one GPU
  std::int64_t model_weights = 0;  ///< of the whole model
  std::int64_t bytes = 0;          ///< on one GPU
};

/// What one GPU has of a replica: of those, the one that has most.
struct DeviceRecord {
  // how a replica's GPUs share the model: gpus_per_replica is tensor x pipeline
  std::int64_t gpus_per_replica = 1;
  std::int64_t tensor = 1;
  std::int64_t latent_slices = 1;
  std::int64_t pipeline = 1;
  std::string attention = {};  ///< "tensor", or "data": every GPU has sequences of its own
  // one GPU
  std::string tier = {};                         ///< its own memory
  std::int64_t layers = 0;                       ///< of the decoder
  std::int64_t sequences = 0;                    ///< whose attention it does
  std::int64_t query_heads = 0;                  ///< that it has of each of them
  std::int64_t kv_elements_per_token_layer = 0;  ///< keys and values that the model itself caches
  std::vector<WeightRecord> weights = {};        ///< in the order of WeightPart, without what is 0
};

struct RunRecord {
  // provenance
  std::string tiersim_version;
  std::string run_id;  ///< SHA-256 of the canonical configuration
  std::vector<NumberRecord> numbers;
  std::optional<DrawsRecord> draws;  ///< none where no number that it uses has an interval
  // config: canonical JSON of the whole effective configuration
  std::string config;
  std::string name;
  std::int64_t gpus = 1;   ///< of all replicas
  std::int64_t batch = 1;  ///< of one replica
  std::int64_t context = 1;
  std::map<std::string, std::int64_t> sharers;  ///< GPUs that share one instance, by device
  // results: metrics of one GPU, but throughput; bytes of one instance of a device, from all GPUs
  // that share it
  DeviceRecord device;
  std::map<std::string, Metric> metrics;
  std::map<std::string, std::int64_t> footprint_bytes;     ///< by tier
  std::map<std::string, BytesByClass> footprint_by_class;  ///< by tier
  std::map<std::string, std::int64_t> capacity_bytes;      ///< by tier: what the step may fill
  std::map<std::string, ReadWrite> traffic_bytes;          ///< payload by device
  std::map<std::string, ReadWrite> moved_bytes;            ///< in the device's granules
  std::map<std::string, std::pair<BytesByClass, BytesByClass>> traffic_by_class;  ///< read, write
  std::map<std::string, std::int64_t> channel_bytes;  ///< wire or bus bytes by channel
  std::map<std::string, double> channel_utilisation;  ///< share of capacity over the step
  std::vector<TimeShare> bound_shares;  ///< what the critical path waits for, largest first
  std::vector<TimeShare> phases;        ///< time with an operation of that phase running, as run
  std::vector<TimeShare> time_split;    ///< a partition of the step, as run (time_split.hpp)
  std::vector<KernelTimeRecord> kernel_times;  ///< in the order of KernelFamily
  std::string bounded_by;
  std::vector<std::string> costs_unstated;  ///< "hbm: price": what energy and cost leave out
  std::optional<ServingRecord> serving;     ///< of requests over time; none of one step
};

/// Pretty-printed JSON, ending in a newline. A metric that is a whole number is written as one.
std::string to_json(const RunRecord& record);
/// The `results` object alone, likewise.
std::string pretty_results(const RunRecord& record);

/// What a record's JSON text says of where it comes from.
struct RecordOrigin {
  std::string tiersim_version;  ///< "unknown" where it is not stated
  std::string run_id;           ///< likewise
};
/// Whether the text is a record with a `config` and `results`, for `tiersim rerun`; the error says
/// what is wrong.
Expected<RecordOrigin> origin_of_record(const std::string& json);

/// One value of `results` that two records do not share.
struct Difference {
  std::string name;    ///< "metrics.step_time_s.value", "time_split.weights.seconds"
  std::string before;  ///< JSON, empty where it has none
  std::string now;     ///< likewise
};
/// Where the results of two records, as JSON texts, differ: in the order of the first. Numbers
/// count, not how they are written: 1 and 1.0 are the same.
std::vector<Difference> differences(const std::string& before, const std::string& now);

}  // namespace tiersim
