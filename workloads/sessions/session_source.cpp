#include "workloads/sessions/session_source.hpp"

#include <unordered_map>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/serving/name_hash.hpp"
#include "workloads/sessions/agent_script.hpp"
#include "workloads/sessions/prompt_names.hpp"

namespace tiersim {
namespace {

// Numbers of texts: of the system prompt, of a group's prompt, and of what an agent reads and
// answers.
enum class Text : std::uint64_t { system_prompt = 1, group, agent };

std::uint64_t text_number(Text kind, std::initializer_list<std::int64_t> of) {
  std::uint64_t number = chained(0, static_cast<std::uint64_t>(kind));
  for (const std::int64_t part : of) number = chained(number, static_cast<std::uint64_t>(part));
  return number;
}

// An agent under way, with the turn that is at the server, or whose sub-agents are.
struct LiveAgent {
  AgentScript script;
  PromptNames prompt;
  std::int64_t session = 0;
  std::shared_ptr<LiveAgent> parent = nullptr;
  AgentTurn turn = {};
  std::int64_t turns = 0;      // made so far
  std::int64_t waits_for = 0;  // sub-agents that have not ended
};
using Live = std::shared_ptr<LiveAgent>;

SimTime later(SimTime time, Duration by) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(time.time_since_epoch().count(), by.count(), &sum))
    throw UnitOverflow();
  return SimTime(Duration(sum));
}

class SessionSource final : public RequestSource {
 public:
  SessionSource(const WorkloadConfig& config, std::uint64_t seed,
                std::unique_ptr<RequestSource> starts)
      : laws_(*config.sessions, *config.output, seed),
        block_(config.prefix_block),
        starts_(std::move(starts)) {}

  std::optional<Request> next() override {
    const auto start = starts_->next();
    if (!start) return std::nullopt;
    return begin(start->arrival);
  }

  void after_completion(const Request& ended, SimTime now, std::vector<Request>& out) override {
    const auto at = at_server_.find(ended.id);
    TS_EXPECTS(at != at_server_.end(), ended.id);
    const Live agent = std::move(at->second);
    at_server_.erase(at);
    if (!agent->turn.goes_on()) return end_of(agent, ended, now, out);
    if (agent->turn.children.empty()) {
      out.push_back(release(agent, later(now, agent->turn.pause)));
      return;
    }
    agent->waits_for = std::ssize(agent->turn.children);
    const bool forks = laws_.sessions().sub_agents->prefix == SubAgentPrefix::conversation;
    for (AgentScript& script : agent->turn.children) {
      const Live child = std::make_shared<LiveAgent>(
          LiveAgent{.script = std::move(script),
                    .prompt = forks ? agent->prompt : shared_prompt(agent->session),
                    .session = agent->session,
                    .parent = agent});
      out.push_back(release(child, now));
    }
    agent->turn.children.clear();
  }

 private:
  Request begin(SimTime arrival) {
    const std::int64_t session = sessions_++;
    return release(std::make_shared<LiveAgent>(LiveAgent{.script = AgentScript(laws_, session),
                                                         .prompt = shared_prompt(session),
                                                         .session = session}),
                   arrival);
  }

  // What the prompts of a session share with other sessions.
  PromptNames shared_prompt(std::int64_t session) const {
    PromptNames out(block_);
    const std::int64_t group = laws_.group_of(session);
    out.append(text_number(Text::system_prompt, {}), laws_.sessions().system_prompt);
    out.append(text_number(Text::group, {group}), laws_.group_tokens(group));
    return out;
  }

  // The agent's next request.
  Request release(const Live& agent, SimTime arrival) {
    agent->turn = agent->script.next();
    const std::int64_t turn = agent->turns++;
    const auto text = [&](std::int64_t answer) {
      return text_number(Text::agent, {agent->session, agent->script.agent(), turn, answer});
    };
    PromptNames& prompt = agent->prompt;
    prompt.append(text(0), agent->turn.new_tokens);
    Request out{.id = made_++,
                .arrival = arrival,
                .input_tokens = prompt.tokens(),
                .output_tokens = agent->turn.output_tokens};
    prompt.append(text(1), agent->turn.output_tokens);
    out.prefix = prompt.names();
    out.named_tokens = prompt.tokens();
    out.session = {.session = agent->session,
                   .agent = static_cast<std::int32_t>(agent->script.agent()),
                   .turn = static_cast<std::int32_t>(turn),
                   .end = agent->script.agent() == 0 ? agent->turn.end : SessionEnd::none,
                   .pause = agent->turn.pauses_for};
    out.priority = laws_.priority_of(agent->session);
    at_server_.emplace(out.id, agent);
    return out;
  }

  // After an agent's last answer: its parent goes on once all its sub-agents have ended.
  void end_of(const Live& agent, const Request& ended, SimTime now, std::vector<Request>& out) {
    if (agent->parent) {
      if (--agent->parent->waits_for == 0) out.push_back(release(agent->parent, now));
      return;
    }
    std::vector<Request> starts;
    starts_->after_completion(ended, now, starts);
    for (const Request& start : starts) out.push_back(begin(start.arrival));
  }

  SessionLaws laws_;
  std::int64_t block_;
  std::unique_ptr<RequestSource> starts_;
  std::int64_t sessions_ = 0;                         // begun
  std::int64_t made_ = 0;                             // requests
  std::unordered_map<std::int64_t, Live> at_server_;  // by number of the request; for lookup only
};

}  // namespace

std::unique_ptr<RequestSource> make_session_source(const WorkloadConfig& config, std::uint64_t seed,
                                                   std::unique_ptr<RequestSource> starts) {
  TS_EXPECTS(config.sessions && config.output);
  return std::make_unique<SessionSource>(config, seed, std::move(starts));
}

std::int64_t session_requests(const WorkloadConfig& config, std::uint64_t seed) {
  TS_EXPECTS(config.sessions && config.output);
  const SessionLaws laws(*config.sessions, *config.output, seed);
  std::int64_t requests = 0;
  for (std::int64_t s = 0; s < config.sessions->count; ++s) requests += count_requests(laws, s);
  return requests;
}

}  // namespace tiersim
