// Copies over the link by the copy engine.
#include "kernels/cases/ceilings.hpp"
#include "kernels/cases/ceilings_inputs.cuh"
#include "kernels/runtime/copy.cuh"

namespace tiersim::kernels {
namespace {

class EngineCase final : public Case {
 public:
  EngineCase(std::int64_t bytes, bool to_device) : bytes_(bytes), to_device_(to_device) {}
  CaseInfo info() const override {
    return {"ceiling", "copy_engine",       to_device_ ? "h2d" : "d2h",
            "int32",   {{"bytes", bytes_}}, false};
  }
  Work work() const override {
    Work work;
    (to_device_ ? work.link_read_bytes : work.link_written_bytes) = bytes_;
    (to_device_ ? work.written_bytes : work.read_bytes) = bytes_;
    work.requested_bytes = 2 * bytes_;
    return work;
  }
  // The copy engine launches no kernel
  std::vector<LaunchUse> launches() const override { return {}; }
  std::int64_t set_bytes() const override { return bytes_; }
  void prepare(int sets, std::uint64_t seed) override {
    const auto words = static_cast<std::size_t>(bytes_ / 4);
    for (int set = 0; set < sets; ++set) {
      values_.push_back(random_words(words, seed + static_cast<std::uint64_t>(set)));
      host_.emplace_back(words, "host side");
      device_.emplace_back(words, "device side");
      if (to_device_) {
        std::memcpy(host_.back().host(), values_.back().data(), host_.back().bytes());
      } else {
        device_.back().upload(values_.back());
      }
    }
  }
  void enqueue(Stream& stream, int set) override {
    const auto s = static_cast<std::size_t>(set);
    const auto bytes = static_cast<std::size_t>(bytes_);
    if (to_device_) {
      copy(stream, device_[s].data(), host_[s].host(), bytes);
    } else {
      copy(stream, host_[s].host(), device_[s].data(), bytes);
    }
  }
  Agreement check(int set) override {
    const auto s = static_cast<std::size_t>(set);
    Agreement agreement{0, 0, bytes_ / 4};
    const std::vector<std::uint32_t> got =
        to_device_ ? device_[s].download()
                   : std::vector<std::uint32_t>(host_[s].host(), host_[s].host() + host_[s].size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] != values_[s][i]) ++agreement.error;
    }
    return agreement;
  }

 private:
  std::int64_t bytes_;
  bool to_device_;
  std::vector<std::vector<std::uint32_t>> values_;
  std::vector<PinnedArray<std::uint32_t>> host_;
  std::vector<DeviceArray<std::uint32_t>> device_;
};

}  // namespace

void add_ceilings_link_cases(CaseList& cases, Sizes sizes) {
  const std::vector<std::int64_t> timed = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20};
  for (const bool to_device : {true, false}) {
    for (const std::int64_t bytes :
         sizes == Sizes::toy ? std::vector<std::int64_t>{256, 4096} : timed) {
      cases.push_back(
          {std::string("ceiling.copy_engine.") + (to_device ? "h2d." : "d2h.") + size_name(bytes),
           [bytes, to_device] { return std::make_unique<EngineCase>(bytes, to_device); }});
    }
  }
}

}  // namespace tiersim::kernels
