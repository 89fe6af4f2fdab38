#pragma once
// The sessions of a trace that names the blocks of its prompts.
//
// A request continues a session where its prompt begins with all whole blocks of an earlier prompt,
// the last of which no prompt before that one had; of several, with the longest. Any other request
// begins a session. What a first prompt shares with the first prompts of other sessions, in whole
// blocks, is a system prompt as far as nine tenths of the sessions share it, and beyond that the
// prompt of a group.
//
// Left out: a first prompt without a whole block of its own makes the next one that begins alike
// its continuation; sub-agents are turns of their session, or sessions where they begin with the
// system prompt alone.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/serving/trace_file.hpp"

namespace tiersim {

struct TracedTurn {
  std::size_t request = 0;                 ///< in the trace
  std::optional<std::size_t> before = {};  ///< the request that it continues; none: it is the first
};

struct TracedSession {
  std::vector<TracedTurn> turns = {};  ///< in the order of arrival
  /// Of its group, from 0; none where no other session shares more than the system prompt.
  std::optional<std::int64_t> group = {};
};

struct TracedSessions {
  std::vector<TracedSession> sessions = {};       ///< in the order of their begins
  std::int64_t system_prompt = 0;                 ///< tokens
  std::vector<std::int64_t> group_tokens = {};    ///< by group, after the system prompt
  std::vector<std::int64_t> group_sessions = {};  ///< by group, falling
};

/// `block`: tokens of a named block.
TracedSessions sessions_in(const RequestTrace& trace, std::int64_t block);

}  // namespace tiersim
