#pragma once
// A small configuration with one field of every kind that a describe() function can state: an
// experiment (kind "experiment") of a model (kind "model") on devices (kind "device").
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim::sample {

enum class DataType : std::uint8_t { fp16, fp8, int8 };
inline constexpr std::array<std::string_view, 3> kDataTypeNames{"fp16", "fp8", "int8"};

struct Model {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  bool tied = false;
};

struct Memory {
  Sourced<Bytes> capacity;
  Sourced<Bandwidth> peak;
  Sourced<double> efficiency{1.0, NumberClass::assumed, "ideal"};
};

struct Link {
  Bandwidth raw;
  std::int64_t lanes = 16;
  Duration latency{};
};

struct Device {
  std::string kind;
  Memory memory;
  Link link;
};

struct Step {
  std::int64_t batch = 1;
  std::int64_t context = 1;
  DataType kv_type = DataType::fp16;
  std::vector<DataType> also = {};
};

struct Window {
  Duration from{};
  Duration to{};
};

struct Experiment {
  std::string name;
  std::string note = "none";
  Model model;
  std::map<std::string, Device> devices;
  Step step;
  std::vector<std::string> path;
  std::vector<Window> windows;
  std::optional<Window> warm_up;
  std::optional<double> scale;
  FlopRate compute = FlopRate::from_base(1'000'000'000'000);
  Flops budget = Flops::from_base(1000);
};

void describe(Fields& f, Model& c);
void describe(Fields& f, Device& c);
void describe(Fields& f, Step& c);
void describe(Fields& f, Window& c);
void describe(Fields& f, Experiment& c);

}  // namespace tiersim::sample
