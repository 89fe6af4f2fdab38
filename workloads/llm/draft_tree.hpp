#pragma once
// Drafts as a tree: each node is a token that is proposed after those on its path from the root,
// which is the sequence's newest token (SpecInfer, arXiv 2305.09781; Medusa, arXiv 2401.10774;
// EAGLE-2, arXiv 2406.16858). A chain is the tree in which every node has one child.
//
//   widths     children of every node, by depth; a step keeps of them as many nodes as it has
//              drafts: those with the highest probability of acceptance (as Sequoia, arXiv
//              2402.12374, and the trees of Medusa do beforehand, and EAGLE-2 by its own guess)
//   p(d, r)    probability that the child of rank r at depth d is accepted after its parent was.
//              At most one child is, so that these add up to 1 at most
//   P(node)    the product of p along its path; the mean number of accepted drafts is the sum of P
//              over all nodes that are kept
//   passes     the draft runs once for each depth: the first pass proposes the root's children, and
//              each later one those of the nodes above it that have any
//   mask       a node attends to the sequence, to itself and to the nodes on its path
#include <cstdint>
#include <vector>

#include "sim/config/fields.hpp"
#include "workloads/attention/tree_mask.hpp"
#include "workloads/llm/acceptance.hpp"

namespace tiersim {

struct DraftTreeConfig {
  std::vector<std::int64_t> widths = {};

  /// True where any node has more than one child.
  bool branches() const;
  /// Nodes of the whole tree, and at most `most`.
  std::int64_t nodes(std::int64_t most) const;
};
void describe(Fields& f, DraftTreeConfig& c);

struct DraftNode {
  std::int64_t depth = 1;
  std::int64_t parent = -1;  ///< its index among the nodes; -1: the root
  double accepted = 0;       ///< P
};
/// The `most` likeliest nodes of the tree, the likeliest first, each after its parent. Those of
/// fewer drafts are the first ones of them. Without widths it is a chain. Precondition:
/// `acceptance` has a probability for each node; `length_rate` is the rate of a mean length.
std::vector<DraftNode> likeliest_nodes(const AcceptanceConfig& acceptance, double length_rate,
                                       const std::vector<std::int64_t>& widths, std::int64_t most);

/// How many nodes lie where.
struct TreeShape {
  std::vector<std::int64_t> nodes = {};  ///< by depth, from 1
  std::vector<std::int64_t> inner = {};  ///< those with children, by depth, from 1
  TreeMask mask = {};  ///< of the root and all nodes over each other, as the verification has it

  /// Mask of the draft's pass over the nodes at this depth that have children.
  TreeMask mask_of_pass(std::int64_t depth) const;
};
/// The shape of the first `drafts` nodes.
TreeShape tree_shape(const std::vector<DraftNode>& nodes, std::int64_t drafts);

}  // namespace tiersim
