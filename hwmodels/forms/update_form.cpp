#include "hwmodels/forms/update_form.hpp"

#include "hwmodels/forms/blend.hpp"
#include "hwmodels/forms/warm_memory.hpp"

namespace tiersim {
namespace {

enum class UpdateParameter : std::size_t {
  t0,         // shortest time [s]
  c0,         // time of a state beside its bytes [s]
  c1,         // the part of it for each token [s]
  resident,   // states side by side on an SM
  waves,      // w
  memory,     // share of the memory's rate
  l2_speed,   // rate of L2 over that of memory
  l2_share,   // share of L2 that holds the states
  l2_corner,  // how sharply they fall out of it
  sharpness,  // p
};
constexpr std::array<FormParameter, 10> kUpdateParameters{FormParameter{"t0", 3e-6, 5e-7, 3e-5},
                                                          {"c0", 5e-7, 1e-9, 2e-5},
                                                          {"c1", 5e-7, 1e-9, 2e-5},
                                                          {"resident", 4, 0.25, 64},
                                                          {"waves", 2, 0.8, 8},
                                                          {"memory", 0.8, 0.1, 1.2},
                                                          {"l2_speed", 2, 0.3, 40},
                                                          {"l2_share", 0.8, 0.05, 3},
                                                          {"l2_corner", 2, 0.5, 12},
                                                          {"sharpness", 2, 1, 8}};
constexpr std::array<std::string_view, 1> kUpdateVariants{"states"};

class UpdateForm final : public KernelForm {
 public:
  std::string_view name() const override { return "linear_update"; }
  std::span<const FormSize> sizes() const override { return kLinearSizes; }
  std::span<const FormParameter> parameters() const override { return kUpdateParameters; }
  std::span<const std::string_view> variants() const override { return kUpdateVariants; }
  bool in_range(KernelSizes) const override { return true; }

  double physics(KernelSizes sizes, const GpuSheet& gpu, std::span<const double> parameters,
                 std::size_t) const override {
    const auto at = [&](UpdateParameter p) { return parameters[static_cast<std::size_t>(p)]; };
    const LinearCase c = LinearCase::of(sizes);
    const double side_by_side = gpu.sms * at(UpdateParameter::resident);
    const double work = (at(UpdateParameter::c0) + at(UpdateParameter::c1) * c.tokens) *
                        blend(1, c.states() / side_by_side, at(UpdateParameter::waves));
    const double memory = warm_memory_time(
        {.kept = c.held() + c.activations(), .moved = (1 + c.tokens) * c.held() + c.activations()},
        {.memory = at(UpdateParameter::memory),
         .l2_speed = at(UpdateParameter::l2_speed),
         .l2_share = at(UpdateParameter::l2_share),
         .l2_corner = at(UpdateParameter::l2_corner)},
        gpu);
    return at(UpdateParameter::t0) + blend(work, memory, at(UpdateParameter::sharpness));
  }

  SurfaceRow surface(KernelSizes sizes, const GpuSheet& gpu) const override {
    static const std::vector<double> by_states{-7, -4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8};
    static const std::vector<double> by_tokens{0, 1, 2, 3};
    const LinearCase c = LinearCase::of(sizes);
    return tensor(hat_weights(log2_of(c.states() / gpu.sms), by_states),
                  hat_weights(log2_of(c.tokens), by_tokens), 4);
  }
  int surface_columns() const override { return 12 * 4; }
};

}  // namespace

const KernelForm& update_form() {
  static const UpdateForm form;
  return form;
}

}  // namespace tiersim
