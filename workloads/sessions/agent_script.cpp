#include "workloads/sessions/agent_script.hpp"

#include <string>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "workloads/serving/lengths.hpp"

namespace tiersim {
namespace {

Rng stream(const SessionLaws& laws, std::int64_t session, std::int64_t agent,
           std::string_view name) {
  return {laws.seed(), fmt::format("serving.sessions.{}.{}.{}", session, agent, name)};
}

std::int64_t requests_of(AgentScript script) {
  std::int64_t requests = 0;
  for (bool more = true; more;) {
    AgentTurn turn = script.next();
    ++requests;
    for (AgentScript& child : turn.children) requests += requests_of(child);
    more = turn.goes_on();
  }
  return requests;
}

}  // namespace

AgentScript::AgentScript(const SessionLaws& laws, std::int64_t session)
    : AgentScript(laws, session, 0,
                  laws.sessions().system_prompt + laws.group_tokens(laws.group_of(session))) {}

AgentScript::AgentScript(const SessionLaws& laws, std::int64_t session, std::int64_t agent,
                         std::int64_t inherited)
    : laws_(&laws),
      session_(session),
      agent_(agent),
      inherited_(inherited),
      context_(inherited),
      shape_(stream(laws, session, agent, "shape")),
      input_(stream(laws, session, agent, "input")),
      output_(stream(laws, session, agent, "output")),
      pauses_(stream(laws, session, agent, "pauses")) {
  const SessionConfig& c = laws.sessions();
  const bool is_main = agent == 0;
  left_ = draw_count(is_main ? c.turns : c.sub_agents->turns, shape_);
  new_tokens_ = draw_length(is_main ? c.first_prompt : c.sub_agents->task, input_);
  output_tokens_ = draw_length(laws.output(), output_);
}

bool AgentScript::fits() const {
  return context_ + new_tokens_ + output_tokens_ <= laws_->sessions().max_context;
}

AgentTurn AgentScript::next() {
  TS_EXPECTS(left_ > 0 && fits(), left_, context_, new_tokens_, output_tokens_);
  AgentTurn turn;
  turn.new_tokens = new_tokens_;
  turn.output_tokens = output_tokens_;
  context_ += new_tokens_ + output_tokens_;
  --left_;
  ++made_;
  const double leaves = shape_.uniform();
  const double kind = shape_.uniform();
  if (left_ == 0)
    turn.end = SessionEnd::done;
  else if (agent_ == 0 && leaves < laws_->abandonment(made_))
    turn.end = SessionEnd::abandoned;
  else
    follow(turn, kind);
  return turn;
}

// Draws what follows the answer, and the next turn. `kind` is uniform in (0, 1).
void AgentScript::follow(AgentTurn& turn, double kind) {
  const SessionConfig& c = laws_->sessions();
  const double agents = agent_ == 0 && c.sub_agents ? c.sub_agents->probability : 0;
  const double tools = agent_ > 0 ? 1 : c.tools ? c.tools->probability : 0;
  // Without a message no user takes part, and the shares of the others add up to 1.
  if (kind < agents || (agent_ == 0 && !c.message && !c.tools)) {
    begin_children(turn);
    turn.pauses_for = SessionPause::tool;
  } else if (kind < agents + tools || !c.message) {
    new_tokens_ = draw_length(c.tools->result, input_);
    turn.pause = draw_pause(c.tools->time, pauses_);
    turn.pauses_for = SessionPause::tool;
  } else {
    new_tokens_ = draw_length(*c.message, input_);
    turn.pause = draw_pause(c.think_time, pauses_);
    turn.pauses_for = SessionPause::user;
  }
  output_tokens_ = draw_length(laws_->output(), output_);
  bool all_fit = fits();
  for (const AgentScript& child : turn.children) all_fit = all_fit && child.fits();
  if (all_fit) return;
  turn.end = SessionEnd::full;
  turn.pauses_for = SessionPause::none;
  turn.children.clear();
}

void AgentScript::begin_children(AgentTurn& turn) {
  const SubAgentsConfig& c = *laws_->sessions().sub_agents;
  const bool forks = c.prefix == SubAgentPrefix::conversation;
  const std::int64_t shared = inherited_;  // the main line inherits what all of its group share
  new_tokens_ = 0;
  for (std::int64_t n = draw_count(c.count, shape_); n > 0; --n) {
    turn.children.push_back(AgentScript(*laws_, session_, ++agents_, forks ? context_ : shared));
    new_tokens_ += draw_length(c.result, input_);
  }
}

std::int64_t count_requests(const SessionLaws& laws, std::int64_t session) {
  return requests_of(AgentScript(laws, session));
}

}  // namespace tiersim
