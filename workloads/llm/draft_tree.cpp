#include "workloads/llm/draft_tree.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// The probability that a child of this rank, from 0, is accepted at this depth, from 1.
double probability(const AcceptanceConfig& c, double length_rate, std::int64_t depth,
                   std::int64_t rank) {
  const auto at = [depth](const auto& list) -> const auto& {
    return list[static_cast<std::size_t>(std::min(depth, static_cast<std::int64_t>(list.size())) -
                                         1)];
  };
  if (!c.by_depth.empty()) {
    const auto& ranks = at(c.by_depth).ranks;
    TS_EXPECTS(rank < std::ssize(ranks), rank, depth);
    return ranks[static_cast<std::size_t>(rank)].value;
  }
  TS_EXPECTS(rank == 0, rank);
  if (c.rate) return c.rate->value;
  return c.mean_length ? length_rate : at(c.by_position).value;
}

// A node that may be kept next; the likeliest first, and of equal ones the one that was found
// first, which is never below another one of them.
struct Candidate {
  DraftNode node;
  std::int64_t found = 0;

  bool operator<(const Candidate& other) const {
    return std::tuple(node.accepted, -node.depth, -found) <
           std::tuple(other.node.accepted, -other.node.depth, -other.found);
  }
};

}  // namespace

void describe(Fields& f, DraftTreeConfig& c) {
  f.doc("Drafts as a tree of tokens, in which a node may have several children.");
  f.required("widths", c.widths,
             "Children of every node, by depth: [4, 2] are 4 first tokens with 2 second ones each. "
             "A step keeps the likeliest nodes, as many as it has drafts.",
             in_range(1, 64));
  f.check(!c.widths.empty(), "widths", "has no depth", "[1] is one draft");
}

bool DraftTreeConfig::branches() const {
  return std::ranges::any_of(widths, [](std::int64_t width) { return width > 1; });
}

std::int64_t DraftTreeConfig::nodes(std::int64_t most) const {
  std::int64_t sum = 0;
  std::int64_t at_depth = 1;
  for (const std::int64_t width : widths) {
    at_depth = std::min(at_depth * std::clamp<std::int64_t>(width, 0, most), most);
    sum = std::min(sum + at_depth, most);
  }
  return sum;
}

std::vector<DraftNode> likeliest_nodes(const AcceptanceConfig& acceptance, double length_rate,
                                       const std::vector<std::int64_t>& widths, std::int64_t most) {
  std::vector<DraftNode> out;
  std::priority_queue<Candidate> open;
  std::int64_t found = 0;
  const auto add_children = [&](const DraftNode& of, std::int64_t index) {
    const std::int64_t depth = of.depth + 1;
    if (!widths.empty() && depth > std::ssize(widths)) return;
    const std::int64_t width = widths.empty() ? 1 : widths[static_cast<std::size_t>(depth - 1)];
    for (std::int64_t rank = 0; rank < width; ++rank)
      open.push({{.depth = depth,
                  .parent = index,
                  .accepted = of.accepted * probability(acceptance, length_rate, depth, rank)},
                 found++});
  };
  add_children({.depth = 0, .accepted = 1}, -1);
  while (std::ssize(out) < most && !open.empty()) {
    out.push_back(open.top().node);
    open.pop();
    add_children(DraftNode(out.back()), std::ssize(out) - 1);
  }
  return out;
}

TreeShape tree_shape(const std::vector<DraftNode>& nodes, std::int64_t drafts) {
  TS_EXPECTS(drafts <= std::ssize(nodes), drafts);
  TreeShape out{.mask = {.rows = 1, .kept = 1}};  // the root sees itself
  std::vector<char> has_children(static_cast<std::size_t>(drafts), 0);
  const auto at = [](std::vector<std::int64_t>& by_depth, std::int64_t depth) -> std::int64_t& {
    by_depth.resize(std::max(by_depth.size(), static_cast<std::size_t>(depth)));
    return by_depth[static_cast<std::size_t>(depth - 1)];
  };
  for (std::int64_t i = 0; i < drafts; ++i) {
    const DraftNode& node = nodes[static_cast<std::size_t>(i)];
    ++at(out.nodes, node.depth);
    ++out.mask.rows;
    out.mask.kept += node.depth + 1;  // the root, its path and itself
    if (node.parent < 0) continue;
    if (char& of_parent = has_children[static_cast<std::size_t>(node.parent)]; of_parent == 0) {
      of_parent = 1;
      ++at(out.inner, node.depth - 1);
    }
  }
  return out;
}

TreeMask TreeShape::mask_of_pass(std::int64_t depth) const {
  TreeMask out;
  for (std::int64_t d = 1; d <= depth; ++d) out.rows += inner[static_cast<std::size_t>(d - 1)];
  out.kept = inner[static_cast<std::size_t>(depth - 1)] * depth;
  return out;
}

}  // namespace tiersim
