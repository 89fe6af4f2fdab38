#include "sim/validate/hardware_curves.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hwmodels/collective/routed.hpp"

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 6> kGroups{"memory", "pcie",   "copy",
                                                  "cxl",    "nvlink", "collective"};

bool is_curve_id(const std::string& id) {
  return !id.empty() && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

void describe_workload(Fields& f, ProbeWorkload& c) {
  f.optional("pattern", c.pattern, kProbePatternNames, "Of addresses; sequential where absent.");
  f.optional("run", c.run, "Contiguous bytes of an access; 4 KiB where absent.",
             in_range(Bytes::from_base(1), Bytes::from_base(1 << 30)));
  f.optional("size", c.size, "Of a collective.",
             in_range(Bytes::from_base(1), Bytes::from_base(std::int64_t{1} << 40)));
  f.optional("rate", c.rate, "Offered payload; as much as is served where absent.",
             in_range(Bandwidth::from_base(1), Bandwidth::from_base(1'000'000'000'000'000)));
  f.optional("read_share", c.read_share, "Of payload; 1 where absent.", in_range(0.0, 1.0));
  f.optional("streams", c.streams, "Of sequential addresses; 16 where absent.",
             in_range(1, 1 << 16));
  f.optional("ranks", c.ranks, "Of a collective; 8 where absent.", in_range(2, 16384));
  f.optional("operation", c.operation, kCollectiveKindNames,
             "Collective; all_reduce where absent. Sizes count as in NCCL's tests.");
  f.optional("copies", c.copies,
             "Of an all-to-all: rows that are the same token, one for each of its experts; 1 where "
             "absent.",
             in_range(1, 1024));
  f.optional("outstanding", c.outstanding, "Accesses at a time; enough to saturate where absent.",
             in_range(1, 1 << 20));
  f.optional("items", c.items,
             "Runs of one copy, whose start counts; enough to hide the start where absent.",
             in_range(1, 1 << 24));
  f.optional("launch", c.launch, "Of a collective by the CPU; a graph holds it where absent.",
             in_range(Duration{}, Duration(kPicosecondsPerSecond)));
  f.optional("cpu_rate", c.cpu_rate, "Reads of CPUs in the memory meanwhile; none where absent.",
             in_range(Bandwidth::from_base(1), Bandwidth::from_base(1'000'000'000'000'000)));
}

bool has(const ProbeWorkload& c, ProbeAxis axis) {
  switch (axis) {
    case ProbeAxis::none:
      return true;
    case ProbeAxis::run:
      return c.run.has_value();
    case ProbeAxis::size:
      return c.size.has_value();
    case ProbeAxis::rate:
      return c.rate.has_value();
    case ProbeAxis::read_share:
      return c.read_share.has_value();
    case ProbeAxis::items:
      return c.items.has_value();
    case ProbeAxis::cpu_rate:
      return c.cpu_rate.has_value();
    case ProbeAxis::ranks:
      return c.ranks.has_value();
  }
  return false;
}

// Requires the devices that the question needs, and refuses keys that it does not use.
void check_hardware(Fields& f, const HardwareCurve& c) {
  const bool collective =
      c.facts.quantity == ProbeQuantity::time || c.facts.quantity == ProbeQuantity::bus_bandwidth;
  f.check(collective == c.collective.has_value(), "collective",
          collective ? "is missing" : "is not asked for",
          "time and bus_bandwidth are of collectives, all else of memory and links");
  f.check(!collective || (!c.memory && !c.requester), "",
          "asks a collective, which has neither memory nor requester", "links: its port first");
  const bool routed = c.collective && c.collective->kind == kRoutedKind;
  f.check(routed == c.topology.has_value(), "topology",
          routed ? "is missing, and the collective is routed" : "is not asked for",
          "topology: {base: topologies/dgx_h100_rails_16.yaml}, for routed collectives");
  f.check(c.memory || !c.links.empty(), "", "has neither memory nor links", "one of them");
  const bool ratio = c.facts.quantity == ProbeQuantity::time_ratio;
  f.check(ratio == c.against.has_value(), "against", ratio ? "is missing" : "is not asked for",
          "time_ratio compares two requesters, all else asks one");
  f.check(!ratio || c.requester, "requester", "is missing", "time_ratio compares two requesters");
  f.check(c.facts.quantity != ProbeQuantity::share_of_peak || (c.memory && c.links.empty()),
          "quantity", "is of a memory alone", "no links");
}

// The memory must have something left beside the CPUs.
void check_cpus(Fields& f, const HardwareCurve& c, std::size_t point) {
  const std::optional<Bandwidth> rate = c.points[point].at.over(c.at).cpu_rate;
  if (!rate) return;
  const std::string key = fmt::format("points.{}", point);
  f.check(c.memory.has_value(), key, "has a cpu_rate, and the curve no memory", "a memory");
  if (!c.memory || !c.memory->spec || !f.is_whole()) return;
  f.check(share_left(*c.memory->spec->build(), {.rate = {.value = *rate}}) > 0, key,
          "has CPUs that take all of the memory's bandwidth", "a lower cpu_rate");
}

// A launch is of collectives alone, and the start of a copy of a requester.
void check_starts(Fields& f, const HardwareCurve& c, std::size_t point) {
  const ProbeWorkload asked = c.points[point].at.over(c.at);
  const std::string key = fmt::format("points.{}", point);
  f.check(!asked.launch || c.collective, key, "has a launch, and the curve no collective",
          "leave it out");
  f.check(!asked.items || (c.requester && c.facts.quantity != ProbeQuantity::latency), key,
          "has items, which are of a requester's copies", "a requester, and no latency");
}

void check_points(Fields& f, const HardwareCurve& c) {
  f.check(!c.points.empty(), "points", "has none", "one at least");
  for (std::size_t i = 0; i < c.points.size(); ++i) {
    f.check(
        has(c.points[i].at, c.facts.axis), fmt::format("points.{}", i),
        fmt::format("does not say its {}", kProbeAxisNames[static_cast<std::size_t>(c.facts.axis)]),
        "the axis of the curve");
    f.check(i == 0 || c.facts.axis == ProbeAxis::none ||
                c.points[i - 1].x(c.facts.axis) < c.points[i].x(c.facts.axis),
            fmt::format("points.{}", i), "does not lie beyond the point before it",
            "in rising order of the axis");
    check_cpus(f, c, i);
    check_starts(f, c, i);
  }
  f.check(c.facts.axis != ProbeAxis::none || c.points.size() == 1, "axis",
          "is none, with several points", "what they differ in");
}

}  // namespace

void describe(Fields& f, ProbeWorkload& c) {
  f.doc("The accesses of a probe.");
  describe_workload(f, c);
}

void describe(Fields& f, ReferencePoint& c) {
  f.doc("One point of a reference curve.");
  describe_workload(f, c.at);
  f.required("reference", c.value, "In the unit of the quantity.", in_range(1e-9, 1e12));
  f.optional("other", c.other, "Of another reference, where two differ.", in_range(1e-9, 1e12));
  for (const Fidelity level : kFidelities) {
    const auto i = static_cast<std::size_t>(level);
    static constexpr std::array<std::string_view, 3> kKeys{"known_analytic", "known_flow",
                                                           "known_packet"};
    f.optional(kKeys[i], c.known[i], "Why this point lies outside of the band at this level.");
  }
}

void describe(Fields& f, HardwareCurve& c) {
  f.doc("A reference curve and the devices that should follow it.");
  f.required("id", c.facts.id, "Name.");
  f.required("title", c.facts.title, "Title, for readers.");
  f.required("group", c.facts.group, "memory, pcie, copy, cxl, nvlink or collective.");
  f.required("quantity", c.facts.quantity, kProbeQuantityNames, "The measured quantity.");
  f.optional("axis", c.facts.axis, kProbeAxisNames, "The quantity in which the points differ.");
  f.required("kind", c.facts.kind, kReferenceKindNames,
             "Of the reference: on hardware, by a cycle-level simulator, or by a formula.");
  f.required("source", c.facts.source, "Where the reference values are from.");
  f.required("band", c.facts.band, "Share of the reference that an answer may be off.",
             in_range(0.0, 1.0));
  f.required("held", c.facts.held, kFidelityNames, "Levels that must be within the band.");
  f.optional("note", c.facts.note, "A remark for readers.");
  f.optional_document("memory", c.memory, "device", "At the end of the links.");
  f.optional_document("links", c.links, "device",
                      "From the requester outward; a rank's port first.");
  f.optional_document("requester", c.requester, "device", "Who asks; nobody limits where absent.");
  f.optional_document("against", c.against, "device",
                      "The requester whose time a time_ratio divides by.");
  f.optional_document("collective", c.collective, "device", "How the ranks work together.");
  f.optional_document("topology", c.topology, "topology", "Of a collective that is routed.");
  f.optional("at", c.at, "Of every point that does not say otherwise.");
  f.required("points", c.points, "In rising order of the axis.");
  f.check(is_curve_id(c.facts.id), "id", "is no name", "letters, digits, - and _");
  f.check(std::ranges::find(kGroups, c.facts.group) != kGroups.end(), "group", "is no group",
          "memory, pcie, copy, cxl, nvlink or collective");
  check_hardware(f, c);
  check_points(f, c);
}

void describe(Fields& f, HardwareCurves& c) {
  f.doc("Reference curves of hardware, and the devices that should follow them.");
  f.required("curves", c.curves, "Each with its source and band.");
  f.check(!c.curves.empty(), "curves", "has none", "one at least");
  for (std::size_t i = 0; i < c.curves.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      f.check(c.curves[i].facts.id != c.curves[k].facts.id, fmt::format("curves.{}.id", i),
              "is that of another one, too", "each its own");
}

}  // namespace tiersim
