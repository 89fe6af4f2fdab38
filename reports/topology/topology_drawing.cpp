#include "reports/topology/topology_drawing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/render/svg_canvas.hpp"
#include "sim/base/display.hpp"

namespace tiersim {
namespace {

constexpr double kDrawingWidth = 960;
constexpr double kDrawingMargin = 24;
constexpr double kPartHeight = 26;  // height of a part
constexpr double kRowPitch = 78;    // from one row of parts to the next
constexpr std::int64_t kMostBoxes = 12;

constexpr Stroke kBorder{.colour = "#444444"};
constexpr Stroke kCable{.colour = "#9aa4ad"};
constexpr Stroke kNvlink{.colour = "#009E73", .width = 1.6};

struct RowOfBoxes {
  std::vector<double> centres;
  double top = 0;
};

// Parts of one kind beside each other, the left ones and the last where there are too many.
class Drawing {
 public:
  RowOfBoxes row(double left, double right, double top, std::int64_t count, const char* fill,
                 const std::function<std::string(std::int64_t)>& label) {
    RowOfBoxes out{.centres = {}, .top = top};
    const std::int64_t shown = std::min(count, kMostBoxes);
    const double pitch = (right - left) / static_cast<double>(std::max<std::int64_t>(shown, 1));
    const double width = std::min(pitch - 6, 120.0);
    for (std::int64_t i = 0; i < shown; ++i) {
      const bool gap = count > kMostBoxes && i == shown - 2;
      const std::int64_t index = count > kMostBoxes && i == shown - 1 ? count - 1 : i;
      const double x = left + pitch * (static_cast<double>(i) + 0.5);
      if (gap) {
        canvas.text({x, top + kPartHeight / 2 + 4}, "...",
                    {.size = 14, .anchor = TextAnchor::middle});
        out.centres.push_back(-1);
        continue;
      }
      canvas.rectangle({x - width / 2, top}, width, kPartHeight, fill, kBorder);
      const std::string text = label(index);
      const double size = text_width(text, 10) < width ? 10 : 8;
      canvas.text({x, top + kPartHeight / 2 + 3}, text_width(text, size) < width ? text : "",
                  {.size = size, .anchor = TextAnchor::middle});
      out.centres.push_back(x);
    }
    return out;
  }
  void cables(const RowOfBoxes& upper, const RowOfBoxes& lower, const Stroke& stroke) {
    for (const double a : upper.centres)
      for (const double b : lower.centres)
        if (a >= 0 && b >= 0) canvas.line({a, upper.top + kPartHeight}, {b, lower.top}, stroke);
  }
  // The i-th of the lower row to the one of the upper row that has its part of them.
  void tree(const RowOfBoxes& upper, const RowOfBoxes& lower, const Stroke& stroke) {
    for (std::size_t i = 0; i < lower.centres.size(); ++i) {
      const double a = upper.centres[i * upper.centres.size() / lower.centres.size()];
      const double b = lower.centres[i];
      if (a >= 0 && b >= 0) canvas.line({a, upper.top + kPartHeight}, {b, lower.top}, stroke);
    }
  }
  void note(double x, double y, const std::string& text, bool bold = false) {
    canvas.text({x, y}, text, {.size = bold ? 13.0 : 11.0, .bold = bold, .halo = true});
  }

  SvgCanvas canvas;
};

std::int64_t parts(const TopologyFacts& facts, std::string_view kind) {
  for (const auto& part : facts.parts)
    if (part.name == kind) return part.count;
  return 0;
}

// "16 x 200 GB/s each way" of the cables between two kinds.
std::string cable_text(const TopologyFacts& facts, std::string_view from, std::string_view to) {
  std::string text;
  for (const auto& c : facts.cables)
    if (c.from == from && c.to == to) {
      if (!text.empty()) text += ", ";
      text += fmt::format("{} x {} each way", c.count, display(c.each));
    }
  return text;
}

std::function<std::string(std::int64_t)> numbered(const char* name) {
  return [name](std::int64_t i) { return fmt::format("{} {}", name, i); };
}

// The switches of the network, from the top; returns the lowest row of them.
RowOfBoxes draw_network(Drawing& d, const TopologyConfig& c, const TopologyFacts& facts,
                        double& y) {
  const double left = kDrawingMargin;
  const double right = kDrawingWidth - kDrawingMargin;
  RowOfBoxes above;
  const auto add = [&](const char* kind, const char* fill, const char* upper) {
    const std::int64_t count = parts(facts, kind);
    if (count == 0) return;
    // Switches that share every flow are one.
    const bool merged = c.network->routing == PathChoice::adaptive && kind != std::string("leaf");
    const std::int64_t real = kind == std::string("core") ? c.network->cores : c.network->spines;
    const auto label = [&](std::int64_t i) {
      return merged ? fmt::format("{} {}s as one", real, kind) : fmt::format("{} {}", kind, i);
    };
    const RowOfBoxes row = d.row(left, right, y, count, fill, label);
    if (!above.centres.empty()) {
      d.cables(above, row, kCable);
      d.note(left, y - 10, cable_text(facts, kind, upper));
    }
    above = row;
    y += kRowPitch;
  };
  add("core", "#f6d9c4", "");
  add("spine", "#f3e3b3", "core");
  add("leaf", "#cfe3f3", "spine");
  if (c.network->kind == "dragonfly" || c.network->kind == "torus") {
    const RowOfBoxes row =
        d.row(left, right, y, parts(facts, "router"), "#cfe3f3", numbered("router"));
    for (std::size_t i = 0; i + 1 < row.centres.size(); ++i)
      if (row.centres[i] >= 0 && row.centres[i + 1] >= 0)
        d.canvas.line({row.centres[i], y + kPartHeight / 2},
                      {row.centres[i + 1], y + kPartHeight / 2}, kCable);
    d.note(left, y - 8, "between routers: " + cable_text(facts, "router", "router"));
    above = row;
    y += kRowPitch;
  }
  return above;
}

constexpr double kNodeLeft = kDrawingMargin + 12;
constexpr double kNodeRight = kDrawingWidth - kDrawingMargin - 12;

// A cable from the lower edge of one part to the upper edge of another.
void join(Drawing& d, const RowOfBoxes& upper, std::size_t above, const RowOfBoxes& lower,
          std::size_t below) {
  if (above >= upper.centres.size() || upper.centres[above] < 0 || lower.centres[below] < 0) return;
  d.canvas.line({upper.centres[above], upper.top + kPartHeight}, {lower.centres[below], lower.top},
                kCable);
}

RowOfBoxes draw_adapters(Drawing& d, const TopologyConfig& c, const TopologyFacts& facts,
                         const RowOfBoxes& network, double y) {
  const RowOfBoxes row =
      d.row(kNodeLeft, kNodeRight, y, c.adapters->per_node, "#e8d7ee", numbered("adapter"));
  if (network.centres.empty()) return row;
  const bool rails = (c.network->kind == "rail_only" || c.network->rails) &&
                     network.centres.size() >= row.centres.size();
  for (std::size_t i = 0; i < row.centres.size(); ++i) join(d, network, rails ? i : 0, row, i);
  const bool routers = c.network->kind == "dragonfly";
  d.note(kDrawingMargin, y - 46, cable_text(facts, "adapter", routers ? "router" : "leaf"));
  return row;
}

// NVLink switches below the GPUs, or the links of a mesh.
void draw_domains(Drawing& d, const TopologyConfig& c, const TopologyFacts& facts,
                  const RowOfBoxes& gpus, double y) {
  const bool mesh = c.nvlink->shape == DomainShape::mesh;
  const std::int64_t domains = std::max<std::int64_t>(1, c.gpus_per_node / c.nvlink->gpus);
  const std::string label = mesh ? fmt::format("every two of {} GPUs by a link", c.nvlink->gpus)
                                 : fmt::format("NVLink switches of {} GPUs", c.nvlink->gpus);
  const double pitch = (kNodeRight - kNodeLeft) / static_cast<double>(domains);
  for (std::int64_t i = 0; i < std::min(domains, kMostBoxes); ++i) {
    const double x = kNodeLeft + pitch * static_cast<double>(i);
    d.canvas.rectangle({x + 3, y}, pitch - 6, kPartHeight, mesh ? "none" : "#a6d8c1", kBorder);
    d.canvas.text({x + pitch / 2, y + kPartHeight / 2 + 4},
                  text_width(label, 11) < pitch ? label : "NVLink",
                  {.size = 11, .anchor = TextAnchor::middle});
  }
  for (const double x : gpus.centres)
    if (x >= 0) d.canvas.line({x, gpus.top + kPartHeight}, {x, y}, kNvlink);
  d.note(kNodeLeft, y - 10, "NVLink: " + cable_text(facts, "gpu", mesh ? "gpu" : "nvswitch"));
}

std::string text_of_cpus(const TopologyConfig& c) {
  const auto counted = [](std::int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text = counted(c.pcie->cpus, "CPU") + " above the PCIe switches";
  if (c.pools)
    text += fmt::format(", joined to {} by a CXL switch of {}",
                        counted(c.pools->per_switch, "memory pool"),
                        counted(c.pools->nodes_per_switch, "node"));
  return text;
}

void draw_node(Drawing& d, const TopologyConfig& c, const TopologyFacts& facts,
               const RowOfBoxes& network, double& y) {
  const double top = y;
  y += 34;
  RowOfBoxes above;
  if (c.adapters) {
    above = draw_adapters(d, c, facts, network, y);
    y += kRowPitch;
  }
  if (c.pcie) {
    const RowOfBoxes switches =
        d.row(kNodeLeft, kNodeRight, y, c.pcie->switches, "#dddddd", numbered("PCIe switch"));
    for (std::size_t i = 0; i < above.centres.size(); ++i) {
      const double x = switches.centres[i * switches.centres.size() / above.centres.size()];
      d.canvas.line({above.centres[i], above.top + kPartHeight}, {x, y}, kCable);
    }
    above = switches;
    y += kRowPitch;
  }
  const RowOfBoxes gpus =
      d.row(kNodeLeft, kNodeRight, y, c.gpus_per_node, "#bfe5d3", numbered("GPU"));
  if (!above.centres.empty()) {
    d.tree(above, gpus, kCable);
    d.note(kNodeLeft, y - 10, "PCIe: " + cable_text(facts, "gpu", "pcie_switch"));
  } else if (c.network && c.network->kind == "torus") {
    for (std::size_t i = 0; i < gpus.centres.size(); ++i) join(d, network, i, gpus, i);
  }
  y += kRowPitch;
  if (c.nvlink) {
    draw_domains(d, c, facts, gpus, y);
    y += kPartHeight + 14;
  }
  if (c.pcie) {
    d.note(kNodeLeft, y + 12, text_of_cpus(c));
    y += 22;
  }
  d.canvas.rectangle({kDrawingMargin, top}, kDrawingWidth - 2 * kDrawingMargin, y - top + 8, "none",
                     {.colour = "#444444", .width = 1.2, .dash = "5 4"});
  d.note(kNodeLeft, top + 18, fmt::format("node 0 of {}", c.nodes), true);
  y += 30;
}

}  // namespace

std::string topology_svg(const TopologyConfig& c, const TopologyFacts& facts) {
  Drawing d;
  double y = 30;
  const std::string title =
      fmt::format("{}: {} GPUs in {} node{}", c.name.empty() ? "topology" : c.name, facts.gpus,
                  facts.nodes, facts.nodes == 1 ? "" : "s");
  d.canvas.text({kDrawingMargin, y}, title, {.size = 16, .bold = true});
  y += 36;
  RowOfBoxes network;
  if (c.network) network = draw_network(d, c, facts, y);
  draw_node(d, c, facts, network, y);
  d.note(kDrawingMargin, y,
         fmt::format("Bisection {}, {:.0f} % of what the ports of one half could send.",
                     display(facts.bisection), 100 * facts.bisection_share));
  return d.canvas.page(kDrawingWidth, y + 20, title);
}

}  // namespace tiersim
