#pragma once
// The way of a device from YAML to an object. A spec is the typed configuration of one kind of
// device; it describes its fields and builds the device. A kind registers itself by name (generated
// code calls register_<kind>), and `model: <kind>` in YAML selects it.
#include <memory>
#include <optional>
#include <string>

#include "sim/base/check.hpp"
#include "sim/base/registry.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/device.hpp"
#include "sim/model/packet_device.hpp"

namespace tiersim {

/// The state of the packet-level numbers of a device: its kind has none, or they are absent or
/// present.
enum class PacketNumbers : std::uint8_t { none, absent, present };

template <class Interface>
class DeviceSpec {
 public:
  virtual ~DeviceSpec() = default;
  /// Lists the fields of this kind; see sim/config/fields.hpp.
  virtual void describe(Fields& f) = 0;
  std::unique_ptr<Interface> build() const { return build_units(1); }
  /// Builds one device that stands for `units` > 0 equal devices, over which addresses are
  /// interleaved. Precondition: units is 1, or has_units().
  virtual std::unique_ptr<Interface> build_units(std::int64_t units) const = 0;
  virtual bool has_units() const = 0;
  /// `absent` if its optional `packet_level` mapping is missing.
  virtual PacketNumbers packet_numbers() const = 0;
  /// The packet model of `units` devices. It is empty without packet numbers, or if the packets
  /// need more than these devices (a network).
  virtual std::optional<PacketModel> packet_model(std::int64_t units) const = 0;
};

template <class Interface>
struct DeviceKind {
  std::string help;  ///< one line, for `tiersim list hw`
  std::unique_ptr<DeviceSpec<Interface>> (*make)() = nullptr;
};

namespace detail {
/// Finds the free describe(), which a member function of that name would hide.
template <class Config>
void describe_fields(Fields& f, Config& config) {
  describe(f, config);
}
}  // namespace detail

/// A DeviceSpec from a config struct with describe(Fields&, Config&) and make_device(const
/// Config&). A kind with a packet level of its own also has make_packets(const Config&), and a
/// kind of which several can serve one tier has side_by_side(Config, units).
template <class Interface, class Config>
class ConfiguredDevice final : public DeviceSpec<Interface> {
 public:
  ConfiguredDevice() = default;
  explicit ConfiguredDevice(Config config) : config_(std::move(config)) {}
  static std::unique_ptr<DeviceSpec<Interface>> make() {
    return std::make_unique<ConfiguredDevice>();
  }
  void describe(Fields& f) override { detail::describe_fields(f, config_); }
  std::unique_ptr<Interface> build_units(std::int64_t units) const override {
    return units == 1 ? make_device(config_) : make_device(config_of(units));
  }
  bool has_units() const override { return kHasUnits; }
  PacketNumbers packet_numbers() const override {
    if constexpr (requires { config_.packet_level.has_value(); })
      return config_.packet_level ? PacketNumbers::present : PacketNumbers::absent;
    else
      return PacketNumbers::none;
  }
  std::optional<PacketModel> packet_model(std::int64_t units) const override {
    if constexpr (requires { make_packets(config_); })
      return make_packets(config_of(units));
    else
      return std::nullopt;
  }
  const Config& config() const { return config_; }

 private:
  static constexpr bool kHasUnits = requires(const Config& config) { side_by_side(config, 1); };

  Config config_of(std::int64_t units) const {
    TS_EXPECTS(units == 1 || (kHasUnits && units > 1), units);
    if constexpr (kHasUnits)
      return side_by_side(config_, units);
    else
      return config_;
  }

  Config config_;
};

/// The spec's configuration if it is of this kind; null for another kind.
template <class Config, class Interface>
const Config* config_of(const DeviceSpec<Interface>& spec) {
  const auto* configured = dynamic_cast<const ConfiguredDevice<Interface, Config>*>(&spec);
  return configured ? &configured->config() : nullptr;
}

/// All kinds of devices.
struct DeviceLibrary {
  Registry<DeviceKind<MemoryTier>> memory;
  Registry<DeviceKind<Link>> link;
  Registry<DeviceKind<Requester>> request;
  Registry<DeviceKind<ComputeUnit>> compute;
  Registry<DeviceKind<Collective>> collective;
};

}  // namespace tiersim
