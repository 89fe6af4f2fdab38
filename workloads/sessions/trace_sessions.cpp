#include "workloads/sessions/trace_sessions.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace tiersim {
namespace {

using Names = std::span<const std::uint64_t>;

// The names of a prompt's whole blocks.
Names whole_blocks(const RequestTrace& trace, std::size_t request, std::int64_t block) {
  const TraceRequest& of = trace.requests[request];
  const Names names = trace.prefix(of);
  return names.first(std::min(names.size(), static_cast<std::size_t>(of.input_tokens / block)));
}

class Finder {
 public:
  Finder(const RequestTrace& trace, std::int64_t block) : trace_(trace), block_(block) {}

  TracedSessions find() {
    for (std::size_t r = 0; r < trace_.requests.size(); ++r) add(r);
    share_prompts();
    return std::move(out_);
  }

 private:
  struct Tip {
    std::size_t session = 0;
    std::size_t request = 0;
  };

  void add(std::size_t request) {
    const Names names = whole_blocks(trace_, request, block_);
    std::optional<Tip> continued;
    for (std::size_t n = names.size(); n > 0 && !continued; --n)
      if (const auto at = tips_.find(names[n - 1]); at != tips_.end()) continued = at->second;
    TracedTurn turn{.request = request};
    std::size_t session = out_.sessions.size();
    if (continued) {
      session = continued->session;
      turn.before = continued->request;
    } else {
      out_.sessions.emplace_back();
    }
    out_.sessions[session].turns.push_back(turn);
    // A prompt that grew by less than a block has the tip of the one before.
    if (!names.empty() && (!seen_.contains(names.back()) || tips_.contains(names.back())))
      tips_[names.back()] = {session, request};
    seen_.insert(names.begin(), names.end());
  }

  Names first_names(const TracedSession& session) const {
    return whole_blocks(trace_, session.turns.front().request, block_);
  }

  void share_prompts() {
    std::unordered_map<std::uint64_t, std::int64_t> sharers;  // sessions, by name
    for (const TracedSession& session : out_.sessions)
      for (const std::uint64_t name : first_names(session)) ++sharers[name];
    const auto nearly_all =
        static_cast<std::int64_t>(0.9 * static_cast<double>(out_.sessions.size()));
    std::size_t system = 0;  // blocks
    for (const TracedSession& session : out_.sessions) {
      std::size_t n = 0;
      for (const std::uint64_t name : first_names(session))
        n += sharers[name] >= std::max<std::int64_t>(2, nearly_all) ? 1U : 0U;
      system = std::max(system, n);
    }
    out_.system_prompt = static_cast<std::int64_t>(system) * block_;
    std::map<std::uint64_t, std::vector<std::size_t>> groups;  // sessions, by name
    std::map<std::uint64_t, std::size_t> depths;               // blocks
    for (std::size_t s = 0; s < out_.sessions.size(); ++s) {
      const Names names = first_names(out_.sessions[s]);
      std::size_t depth = 0;
      while (depth < names.size() && sharers[names[depth]] >= 2) ++depth;
      if (depth <= system) continue;
      groups[names[depth - 1]].push_back(s);
      depths[names[depth - 1]] = depth - system;
    }
    number_groups(groups, depths);
  }

  // The group with most sessions first; of equal ones that of the earliest session.
  void number_groups(const std::map<std::uint64_t, std::vector<std::size_t>>& groups,
                     const std::map<std::uint64_t, std::size_t>& depths) {
    std::vector<std::uint64_t> names;
    for (const auto& [name, sessions] : groups) names.push_back(name);
    std::ranges::sort(names, [&](std::uint64_t a, std::uint64_t b) {
      const auto& of_a = groups.at(a);
      const auto& of_b = groups.at(b);
      return of_a.size() != of_b.size() ? of_a.size() > of_b.size() : of_a.front() < of_b.front();
    });
    for (const std::uint64_t name : names) {
      const auto number = std::ssize(out_.group_tokens);
      for (const std::size_t s : groups.at(name)) out_.sessions[s].group = number;
      out_.group_tokens.push_back(static_cast<std::int64_t>(depths.at(name)) * block_);
      out_.group_sessions.push_back(std::ssize(groups.at(name)));
    }
  }

  const RequestTrace& trace_;
  std::int64_t block_;
  TracedSessions out_;
  std::unordered_map<std::uint64_t, Tip> tips_;  // by name of a prompt's last whole block
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

TracedSessions sessions_in(const RequestTrace& trace, std::int64_t block) {
  return Finder(trace, block).find();
}

}  // namespace tiersim
