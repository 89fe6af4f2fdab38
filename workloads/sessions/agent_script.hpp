#pragma once
// The turns of one agent: the main line of a session, or a sub-agent. They are drawn one by one and
// know no time, so that a workload is the same on every server.
//
//   AgentScript script(laws, session);
//   for (bool more = true; more;) {
//     const AgentTurn turn = script.next();   // its new tokens, its answer, and what follows
//     more = turn.goes_on();
//   }
#include <cstdint>
#include <vector>

#include "sim/base/rng.hpp"
#include "workloads/serving/request.hpp"
#include "workloads/sessions/session_laws.hpp"

namespace tiersim {

class AgentScript;

struct AgentTurn {
  std::int64_t new_tokens = 1;  ///< beside the tokens of earlier turns and their answers
  std::int64_t output_tokens = 1;
  /// `none` where another turn follows, after `pause` or after the end of all of `children`.
  SessionEnd end = SessionEnd::none;
  Duration pause{};
  SessionPause pauses_for = SessionPause::none;
  std::vector<AgentScript> children;  // no initialiser, since it is complete only below

  bool goes_on() const { return end == SessionEnd::none; }
};

class AgentScript {
 public:
  /// The main line of a session. `laws` must outlive the script.
  AgentScript(const SessionLaws& laws, std::int64_t session);

  /// Number of the agent within its session; 0 is the main line.
  std::int64_t agent() const { return agent_; }
  /// Tokens before its own first ones: those that it shares, or inherits.
  std::int64_t inherited() const { return inherited_; }
  /// True where the next turn has room.
  bool fits() const;
  /// Precondition: the last turn was none, or went on.
  AgentTurn next();

 private:
  AgentScript(const SessionLaws& laws, std::int64_t session, std::int64_t agent,
              std::int64_t inherited);
  void follow(AgentTurn& turn, double kind);
  void begin_children(AgentTurn& turn);

  const SessionLaws* laws_;
  std::int64_t session_;
  std::int64_t agent_;
  std::int64_t inherited_;
  std::int64_t context_;         // tokens so far
  std::int64_t left_ = 1;        // turns
  std::int64_t made_ = 0;        // turns
  std::int64_t agents_ = 0;      // sub-agents so far
  std::int64_t new_tokens_ = 1;  // of the next turn
  std::int64_t output_tokens_ = 1;
  // Streams of their own, so that one law moves no draw of another.
  Rng shape_;
  Rng input_;
  Rng output_;
  Rng pauses_;
};

/// Number of requests of a session.
std::int64_t count_requests(const SessionLaws& laws, std::int64_t session);

}  // namespace tiersim
