#pragma once
// One request to a server of a language model, as its client sees it.
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

/// Names of the blocks that a prompt starts with. Two prompts that share the first n names share
/// the first n blocks of tokens, and so their keys and values. A name stands for the block and all
/// before it.
using PrefixBlocks = std::vector<std::uint64_t>;

/// How a session ends with a request.
enum class SessionEnd : std::uint8_t {
  none,       ///< it goes on, or there is no session
  done,       ///< by its last answer
  abandoned,  ///< the user leaves, though another turn was to follow
  full,       ///< another turn would exceed the longest context
};

/// The kind of pause between the answer to a request and the next request of its session.
enum class SessionPause : std::uint8_t {
  none,  ///< there is no next request of this agent
  user,  ///< a user reads and writes
  tool,  ///< a tool runs, or sub-agents do, which the server is told by the answer
};

/// The place of a request in its session.
struct SessionPlace {
  std::int64_t session = -1;  ///< from 0, in the order of their begins; -1: the request has none
  std::int32_t agent = 0;     ///< 0: the session's main line; others are sub-agents
  std::int32_t turn = 0;      ///< of the agent, from 0
  SessionEnd end = SessionEnd::none;
  SessionPause pause = SessionPause::none;  ///< after the answer

  /// True for the first request of a session.
  bool begins() const { return session >= 0 && agent == 0 && turn == 0; }
};

struct Request {
  /// Number from 0 in the order of the source. That is the order of arrival, except where a request
  /// waits for the end of another one: a user who thinks longer may send an older number later.
  std::int64_t id = 0;
  SimTime arrival{};
  /// Tokens of the prompt, or of the encoder's input in models with an encoder.
  std::int64_t input_tokens = 1;
  std::int64_t output_tokens = 1;  ///< length of the answer, the first token included
  PrefixBlocks prefix = {};        ///< WorkloadConfig::prefix_block tokens each; may be empty
  /// Tokens that `prefix` names whole blocks of: more than the prompt has where the answer's text
  /// is part of a later prompt, so that a cache keeps its blocks too. 0: those of the prompt.
  std::int64_t named_tokens = 0;
  SessionPlace session = {};
  std::int64_t priority = 0;  ///< a lower number goes first, where the server orders by it

  std::int64_t shareable_tokens() const { return named_tokens > 0 ? named_tokens : input_tokens; }
};

/// Thrown by a source that cannot give its next request: its file changed during the run.
struct SourceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The requests of a run.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// The next request whose arrival is known now, in order of arrival. Empty where the others wait
  /// for a completion, or where there are none. It may be called ahead of or behind the arrival.
  virtual std::optional<Request> next() = 0;
  /// Called when a request has ended at `now`. Appends the requests that wait for this alone, with
  /// arrivals of `now` or later: those that its client sends next. None for open sources.
  virtual void after_completion(const Request& ended, SimTime now, std::vector<Request>& out) = 0;
};

}  // namespace tiersim
