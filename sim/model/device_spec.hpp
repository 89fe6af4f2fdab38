#pragma once
// How a device gets from YAML to an object: a spec is the typed configuration of one kind of
// device; it describes its fields and builds the device. A kind registers itself by name (generated
// code calls register_<kind>), and `model: <kind>` in YAML chooses it.
#include <memory>
#include <optional>
#include <string>

#include "sim/base/registry.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/device.hpp"
#include "sim/model/packet_device.hpp"

namespace tiersim {

/// Whether a kind of device has numbers for the packet level.
enum class PacketNumbers : std::uint8_t { none, absent, present };

template <class Interface>
class DeviceSpec {
 public:
  virtual ~DeviceSpec() = default;
  /// Lists the fields of this kind; see sim/config/fields.hpp.
  virtual void describe(Fields& f) = 0;
  virtual std::unique_ptr<Interface> build() const = 0;
  /// `absent`: its optional `packet_level` mapping is not there.
  virtual PacketNumbers packet_numbers() const = 0;
  /// None without packet numbers, and where a device's packets need more than its own (a network).
  virtual std::optional<PacketModel> packet_model() const = 0;
};

template <class Interface>
struct DeviceKind {
  std::string help;  ///< one line, for `tiersim list hw`
  std::unique_ptr<DeviceSpec<Interface>> (*make)() = nullptr;
};

namespace detail {
/// Finds the free describe(), which a member of that name would hide.
template <class Config>
void describe_fields(Fields& f, Config& config) {
  describe(f, config);
}
}  // namespace detail

/// A DeviceSpec from a config struct with describe(Fields&, Config&) and make_device(const
/// Config&); of a kind that is at packet level by itself also make_packets(const Config&).
template <class Interface, class Config>
class ConfiguredDevice final : public DeviceSpec<Interface> {
 public:
  ConfiguredDevice() = default;
  explicit ConfiguredDevice(Config config) : config_(std::move(config)) {}
  static std::unique_ptr<DeviceSpec<Interface>> make() {
    return std::make_unique<ConfiguredDevice>();
  }
  void describe(Fields& f) override { detail::describe_fields(f, config_); }
  std::unique_ptr<Interface> build() const override { return make_device(config_); }
  PacketNumbers packet_numbers() const override {
    if constexpr (requires { config_.packet_level.has_value(); })
      return config_.packet_level ? PacketNumbers::present : PacketNumbers::absent;
    else
      return PacketNumbers::none;
  }
  std::optional<PacketModel> packet_model() const override {
    if constexpr (requires { make_packets(config_); })
      return make_packets(config_);
    else
      return std::nullopt;
  }
  const Config& config() const { return config_; }

 private:
  Config config_;
};

/// The configuration of a spec that is of this kind; null where it is of another one.
template <class Config, class Interface>
const Config* config_of(const DeviceSpec<Interface>& spec) {
  const auto* configured = dynamic_cast<const ConfiguredDevice<Interface, Config>*>(&spec);
  return configured ? &configured->config() : nullptr;
}

/// Every kind of device there is.
struct DeviceLibrary {
  Registry<DeviceKind<MemoryTier>> memory;
  Registry<DeviceKind<Link>> link;
  Registry<DeviceKind<Requester>> request;
  Registry<DeviceKind<ComputeUnit>> compute;
  Registry<DeviceKind<Collective>> collective;
};

}  // namespace tiersim
