#include "hwmodels/collective/timed_collective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "hwmodels/collective/pieces.hpp"
#include "hwmodels/forms/collective_form.hpp"
#include "hwmodels/limits.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

using enum CollectiveKind;

constexpr double kRounding = 1e-4;  // of a written parameter, beyond its range
// Most of a port that payload fills beside the headers of its packets: 128 of 144 B on NVLink, and
// less for what no packet fills.
constexpr double kPayload = 0.85;
// In the order of their names, which records keep. A send is timed as an exchange between two
// ranks.
constexpr std::array kTimedKinds{all_gather, all_reduce, all_to_all, reduce_scatter};

Duration duration_of(double seconds) {
  const double ps = std::ceil(seconds * static_cast<double>(kPicosecondsPerSecond));
  if (ps >= 9.2e18) throw UnitOverflow();
  return Duration(static_cast<std::int64_t>(ps));
}

std::vector<double> in_order(const std::map<std::string, double>& sizes) {
  std::vector<double> out;
  for (const FormSize& size : collective_form().sizes())
    out.push_back(sizes.at(std::string(size.name)));
  return out;
}

template <class Named>
void check_names(Fields& f, const std::string& key, const std::map<std::string, double>& given,
                 std::span<const Named> wanted) {
  std::vector<std::string> names;
  for (const Named& each : wanted) {
    names.emplace_back(each.name);
    f.check(given.contains(names.back()), key, fmt::format("lacks '{}'", each.name));
  }
  for (const auto& [name, value] : given)
    f.check(std::ranges::find(names, name) != names.end(), fmt::format("{}.{}", key, name),
            "is not of this form", "one of: " + join(names));
}

// One operation with its numbers.
class TimedOperation {
 public:
  explicit TimedOperation(const TimedOperationConfig& c)
      : sheet_{.port = static_cast<double>(c.part.port.in_base())},
        least_(in_order(c.least)),
        most_(in_order(c.most)),
        misfit_(c.misfit.value) {
    const auto variants = collective_form().variants();
    fitted_.form = &collective_form();
    fitted_.variant =
        static_cast<std::size_t>(std::ranges::find(variants, c.variant) - variants.begin());
    for (const FormParameter& p : collective_form().parameters())
      fitted_.parameters.push_back(c.parameters.at(std::string(p.name)));
    fitted_.surface = c.surface;
  }

  struct Time {
    Duration all{};
    Duration start{};  ///< the part of one byte
    bool beyond = false;
  };
  Time time(CollectiveCase c) const {
    c.bytes = std::max(c.bytes, least_[1]);
    const std::vector<double> sizes = c.sizes();
    FittedForm fitted = fitted_;
    const bool beyond = c.bytes > most_[1] || c.ranks < least_[0] || c.ranks > most_[0];
    if (beyond) fitted.surface.clear();
    const double factor = misfit_ * (beyond ? misfit_ : 1);
    c.bytes = 1;
    const double start = fitted.form->physics(c.sizes(), sheet_, fitted.parameters, fitted.variant);
    return {.all = duration_of(factor * form_time(fitted, sizes, sheet_)),
            .start = duration_of(factor * start),
            .beyond = beyond};
  }

 private:
  FittedForm fitted_;
  GpuSheet sheet_;
  std::vector<double> least_, most_;
  double misfit_;
};

class TimedCollective final : public Collective {
 public:
  explicit TimedCollective(const TimedCollectiveConfig& c) {
    for (const CollectiveKind kind : kTimedKinds)
      operations_[static_cast<std::size_t>(kind)].emplace(
          c.operations.by_name.at(std::string(name(kind))));
  }

  CollectiveCost cost(const CollectiveWork& work, const PortPath& port) const override {
    if (work.ranks == 1 || work.size == Bytes{}) return {};
    const bool send = work.kind == CollectiveKind::send;
    const auto of = static_cast<std::size_t>(send ? all_to_all : work.kind);
    const auto size = static_cast<double>(work.size.in_base());
    const auto time = operations_[of]->time({.ranks = send ? 2 : static_cast<double>(work.ranks),
                                             .bytes = send ? 2 * size : size,
                                             .passes = work.kind == all_reduce ? 2.0 : 1.0});
    const Duration start = std::min(time.start, time.all / 2);
    const Duration body = time.all - start;
    const Bytes piece = piece_of(work);
    std::int64_t count = pieces_sent(work);
    if (work.kind == all_reduce && piece * count / scale_down(port.bandwidth, kPayload) > body)
      count = std::min(count, work.ranks + 1);
    return {.latency = start,
            .out = piece * count,
            .in = piece * count,
            .run = piece,
            .min_duration = body,
            .algorithm = time.beyond ? "beyond timings" : "timed"};
  }

 private:
  std::array<std::optional<TimedOperation>, kCollectiveKindNames.size()> operations_;
};

}  // namespace

void describe(Fields& f, TimedPortConfig& c) {
  f.doc("Data sheet of the GPU that was timed, to which the parameters are relative.");
  f.required("name", c.name, "Name of the GPU: h200.");
  f.required("port", c.port, "Rate of its port to the other GPUs, one way.", bandwidth_limits());
}

void describe(Fields& f, TimedOperationConfig& c) {
  f.doc("A collective by the form of hwmodels/forms, with numbers that were fitted to timings.");
  f.required("form", c.form, "Name of the form: collective.");
  f.required("variant", c.variant, "Variant of the form's equation.");
  f.required("kernel", c.kernel, "The kernel that was timed, by its labels in the timings.");
  f.required("from", c.calibration, "The calibration it comes from: <part>/<library>-<version>.");
  f.required("part", c.part, "Data sheet of the timed GPU.");
  f.required("parameters", c.parameters, "Each parameter of the form; times in s.");
  f.optional("surface", c.surface,
             "Coefficients of the form's surface: logarithms of measured over modelled time.",
             in_range(-5.0, 5.0));
  f.required("least", c.least, "Least of each size that was timed.");
  f.required("most", c.most, "Largest of each size that was timed.");
  f.optional("misfit", c.misfit, "Factor on its time: the scatter of timings around the fit.",
             in_range(0.01, 100.0));
  const KernelForm& form = collective_form();
  f.check(c.form == form.name(), "form", "is no form of collectives", "collective");
  const auto variants = form.variants();
  f.check(std::ranges::find(variants, c.variant) != variants.end(), "variant", "is no variant",
          "flags, one shot, or one of them with ', large from N KiB'");
  check_names(f, "parameters", c.parameters, form.parameters());
  for (const FormParameter& p : form.parameters()) {
    const auto given = c.parameters.find(std::string(p.name));
    if (given == c.parameters.end()) continue;
    f.check(given->second >= p.low * (1 - kRounding) && given->second <= p.high * (1 + kRounding),
            fmt::format("parameters.{}", p.name),
            fmt::format("is not from {:g} to {:g}", p.low, p.high));
  }
  check_names(f, "least", c.least, form.sizes());
  check_names(f, "most", c.most, form.sizes());
  const auto columns = static_cast<std::size_t>(form.surface_columns());
  f.check(c.surface.empty() || c.surface.size() == columns, "surface",
          fmt::format("has {} coefficients instead of {}", c.surface.size(), columns));
}

void describe(Fields& f, TimedOperations& c) {
  f.doc(
      "Timed operations. The files of an engine lie over those of NCCL (base), which has them "
      "all.");
  for (const CollectiveKind kind : kTimedKinds)
    f.required(name(kind), c.by_name[std::string(name(kind))],
               "Its form, with the numbers of its timings.");
}

void describe(Fields& f, TimedCollectiveConfig& c) {
  f.doc("Collectives with times that were fitted to timings of a library or an engine.");
  f.required("timed_collectives", c.operations,
             "By operation: all_reduce, reduce_scatter, all_gather and all_to_all.");
}

std::unique_ptr<Collective> make_device(const TimedCollectiveConfig& config) {
  return std::make_unique<TimedCollective>(config);
}

void register_timed_collective(Registry<DeviceKind<Collective>>& registry) {
  registry.add("timed_collective", {"collectives fitted to timings of a library (flow)",
                                    &ConfiguredDevice<Collective, TimedCollectiveConfig>::make});
}

}  // namespace tiersim
