#pragma once
// A scheduler whose iterations are worked out by hand, in blocks of 4 positions. A plan is written
// as
//   "0+8 1+3/5 | 2 3 | swap_out 2 of 1": prompt pieces as request+positions (/positions executed
//   where they are padded), the requests that decode, and blocks that move (before; beside).
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "workloads/serving/scheduler.hpp"

namespace tiersim::testing {

class SchedulerBench {
 public:
  explicit SchedulerBench(SchedulerPolicy policy, BlockLimits limits = {.blocks = 100},
                          std::int64_t tokens = 8, std::int64_t sequences = 4) {
    config.scheduler = {.policy = policy, .max_sequences = sequences, .max_batched_tokens = tokens};
    config.kv.watermark = 0;
    limits.block = 4;
    limits_ = std::move(limits);
  }

  Scheduler& scheduler() {
    if (!scheduler_) scheduler_.emplace(config, limits_);
    return *scheduler_;
  }
  Sequence& add(std::int64_t input, std::int64_t output, PrefixBlocks prefix = {},
                std::int64_t priority = 0) {
    Sequence& s = sequences_.emplace_back();
    s.request = {.id = static_cast<std::int64_t>(sequences_.size()) - 1,
                 .input_tokens = input,
                 .output_tokens = output,
                 .prefix = std::move(prefix),
                 .priority = priority};
    scheduler().submit(s);
    return s;
  }

  // Plans without finishing.
  std::string plan() {
    now = scheduler().plan();
    std::string out;
    for (const auto& [s, tokens, executed, before] : now.pieces) {
      out += id(s) + '+' + std::to_string(tokens);
      if (executed != tokens) out += '/' + std::to_string(executed);
      out += ' ';
    }
    out += '|';
    for (const Sequence* s : now.decodes) out += ' ' + id(s);
    const auto list = [&](const std::vector<SequenceMove>& moves) {
      for (const auto& [move, s] : moves)
        out += (out.back() == '|' || out.back() == ';' ? " " : ", ") +
               std::string(kMoveKindNames[static_cast<std::size_t>(move.kind)]) + ' ' +
               std::to_string(move.blocks) + (s == nullptr ? "" : " of " + id(s));
    };
    if (!now.before.empty() || !now.beside.empty()) out += " |";
    list(now.before);
    if (!now.beside.empty()) out += ';';
    list(now.beside);
    return out;
  }
  std::string iterate() {
    std::string out = plan();
    scheduler().finish(now);
    return out;
  }
  // Until nothing is left to do; moves take no time.
  void run_dry() {
    do {
      iterate();
      for (const SequenceMove& move : now.beside) scheduler().arrived(move);
    } while (now.works() || !now.beside.empty());
  }

  ServerConfig config;
  Iteration now;

 private:
  static std::string id(const Sequence* s) { return std::to_string(s->request.id); }

  BlockLimits limits_;
  std::optional<Scheduler> scheduler_;
  std::deque<Sequence> sequences_;
};

}  // namespace tiersim::testing
