#include "hwmodels/memory/dram_queueing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

bool same_place(const DramLatencyCurve& a, const DramLatencyCurve& b) {
  return a.run == b.run && a.read_share == b.read_share;
}

LatencyLine line_of(const DramLatencyTable& table, const DramLatencyCurve& curve) {
  LatencyLine line{.run = curve.run, .read_share = curve.read_share, .loads = {}, .added_ps = {}};
  line.loads.reserve(table.loads.size());
  line.added_ps.reserve(table.loads.size());
  for (std::size_t i = 0; i < table.loads.size(); ++i) {
    line.loads.push_back(table.loads[i] * curve.reaches);
    line.added_ps.push_back(static_cast<double>(curve.added[i].count()) * table.scale.value);
  }
  return line;
}

}  // namespace

std::vector<LatencyLine> DramQueueing::lines() const {
  std::vector<LatencyLine> out;
  out.reserve((packets ? packets->curves.size() : 0) + (measured ? measured->curves.size() : 0));
  if (packets)
    for (const DramLatencyCurve& curve : packets->curves) {
      const auto replaces = [&](const DramLatencyCurve& other) { return same_place(other, curve); };
      if (!measured || std::ranges::none_of(measured->curves, replaces))
        out.push_back(line_of(*packets, curve));
    }
  if (measured)
    for (const DramLatencyCurve& curve : measured->curves) out.push_back(line_of(*measured, curve));
  return out;
}

void describe(Fields& f, DramLatencyCurve& c) {
  f.doc("Latency that queueing adds at one run and read share.");
  f.required("run", c.run, "Contiguous bytes of an access; the longest stands for streams.",
             in_range(Bytes::from_base(1), Bytes::from_base(1 << 30)));
  f.required("read_share", c.read_share, "Of the payload.", in_range(0.0, 1.0));
  f.required("reaches", c.reaches, "Share of peak at the last load.", share_limits());
  f.required("added", c.added, "Latency beyond that without load, one for each load.",
             latency_limits());
  for (std::size_t i = 1; i < c.added.size(); ++i)
    f.check(c.added[i - 1] <= c.added[i], fmt::format("added.{}", i), "is below the one before it",
            "latency never falls with the load");
}

void describe(Fields& f, DramLatencyTable& c) {
  f.doc("Loaded-latency curves of a DRAM by run and read share.");
  f.required("scale", c.scale, "Factor of all added latencies, with their class and source.",
             in_range(0.0, 100.0));
  f.required("loads", c.loads, "Shares of what a curve reaches, in rising order up to 1.",
             in_range(1e-6, 1.0));
  f.required("curves", c.curves, "One for each run and read share.");
  f.check(!c.curves.empty(), "curves", "is empty", "one curve at least");
  f.check(!c.loads.empty() && c.loads.back() == 1, "loads", "does not end at 1",
          "the last load is where the curve ends");
  for (std::size_t i = 1; i < c.loads.size(); ++i)
    f.check(c.loads[i - 1] < c.loads[i], fmt::format("loads.{}", i),
            "is not above the load before it", "in rising order");
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    f.check(c.curves[i].added.size() == c.loads.size(), fmt::format("curves.{}.added", i),
            "has another length than the loads", "one latency for each load");
    for (std::size_t j = 0; j < i; ++j)
      f.check(!same_place(c.curves[i], c.curves[j]), fmt::format("curves.{}", i),
              "has the run and read share of an earlier curve", "each pair once");
  }
}

void describe(Fields& f, DramQueueing& c) {
  f.doc("Latency under load. A measured curve takes the place of one by packets.");
  f.optional("packets", c.packets, "By the packet level; `tiersim calibrate memory` writes it.");
  f.optional("measured", c.measured, "As measured on this part or carried over from another.");
  f.check(c.packets || c.measured, "", "has no table", "packets, measured or both");
}

}  // namespace tiersim
