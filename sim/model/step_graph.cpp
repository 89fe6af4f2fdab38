#include "sim/model/step_graph.hpp"

namespace tiersim {

OpId StepGraph::add(Op&& op) {
  const OpId id(ops.size());
  op.after.erase(OpId());
  for (const OpId before : op.after) TS_EXPECTS(before < id, before, id);
  for (const Access& access : op.accesses) {
    TS_EXPECTS(access.tier.index() < tier_names.size(), access.tier);
    TS_EXPECTS(access.payload > Bytes{}, access.payload);
    TS_EXPECTS(access.run > Bytes{} && access.run <= access.payload, access.run, access.payload);
  }
  ops.push_back(std::move(op));
  return id;
}

bool same_work(const Op& a, const Op& b) {
  return a.kind == b.kind && a.role == b.role && a.family == b.family &&
         a.arithmetic == b.arithmetic && a.requester == b.requester && a.flops == b.flops &&
         a.padding == b.padding && a.matrix == b.matrix && a.attention == b.attention &&
         a.experts == b.experts && a.linear == b.linear && a.indexed == b.indexed &&
         a.collective == b.collective && a.fused == b.fused && a.sm_share == b.sm_share &&
         a.lookup == b.lookup && a.host_time == b.host_time && a.accesses == b.accesses;
}

std::string describe_op(const Op& op) {
  std::string text;
  if (op.layer >= 0) text = "layer " + std::to_string(op.layer) + ' ';
  return text += name(op.phase);
}

}  // namespace tiersim
