#pragma once
// Waiting for several things. Each of them is a process, or an awaitable that becomes one.
//
//   co_await all_of(read(a), read(b));                       // until both have ended
//   const std::size_t first = co_await any_of(read(a), engine.delay(5ns));   // 0 or 1
//   const bool in_time = co_await timeout(disk.acquire(), 5ns);
//
// The parts start at once in the order given, like calls. any_of() cancels the losers where they
// wait, and timeout() cancels the process that is late: a queued acquire() leaves the line, a
// granted one is given back. An exception in one part ends the others and is thrown to the waiting
// process.
#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "sim/core/engine.hpp"

namespace tiersim {

namespace detail {

template <class Awaitable>
Process process_of(Awaitable awaitable) {
  co_await awaitable;
}
inline Process as_process(Process process) {
  return process;
}
template <class Awaitable>
requires(!std::same_as<Awaitable, Process>) Process as_process(Awaitable awaitable) {
  return process_of<Awaitable>(std::move(awaitable));
}

/// Runs its parts concurrently until `needed` of them have ended or one has failed. `Parts` is an
/// array or a vector of Process.
template <class Parts>
class [[nodiscard]] Gather : public WaitNode {
 public:
  Gather(Parts parts, std::size_t needed)
      : WaitNode(&Gather::abandoned), parts_(std::move(parts)), needed_(needed) {
    if constexpr (requires { branches_.resize(needed); }) branches_.resize(parts_.size());
  }
  Gather(Gather&&) noexcept = default;

  bool await_ready() const { return needed_ == 0; }
  bool await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    starting_ = true;
    for (std::size_t i = 0; i < parts_.size() && !over(); ++i) {
      branches_[i].gather = this;
      parts_[i].handle().promise().attach(waiter.promise().engine(), branches_[i]);
      parts_[i].handle().resume();
    }
    starting_ = false;
    return !over();
  }
  /// The index of the first part that ended.
  std::size_t await_resume() {
    if (process == nullptr) return 0;
    process->set_running();
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (!branches_[i].ended) process->engine().discard(parts_[i]);
    if (error_) std::rethrow_exception(std::move(error_));
    return first_;
  }

 private:
  struct Branch : Completion {
    Branch() : Completion(&Gather::part_ended) {}
    Gather* gather = nullptr;
    bool ended = false;
  };
  template <class T>
  struct BranchesOf {
    using Type = std::vector<Branch>;
  };
  template <std::size_t n>
  struct BranchesOf<std::array<Process, n>> {
    using Type = std::array<Branch, n>;
  };

  bool over() const { return ended_ >= needed_ || error_ != nullptr; }

  static std::coroutine_handle<> part_ended(Completion& completion) noexcept {
    auto& branch = static_cast<Branch&>(completion);
    Gather& gather = *branch.gather;
    branch.ended = true;
    if (branch.error) gather.error_ = std::move(branch.error);
    if (gather.ended_++ == 0)
      gather.first_ = static_cast<std::size_t>(&branch - gather.branches_.data());
    if (gather.starting_ || !gather.over()) return std::noop_coroutine();
    return gather.process->handle();
  }
  static bool abandoned(WaitNode& node) {
    auto& gather = static_cast<Gather&>(node);
    for (std::size_t i = 0; i < gather.parts_.size(); ++i)
      if (!gather.branches_[i].ended) gather.parts_[i].handle().promise().withdraw();
    return false;
  }

  Parts parts_;
  typename BranchesOf<Parts>::Type branches_;
  std::size_t needed_;
  std::size_t ended_ = 0;
  std::size_t first_ = 0;
  std::exception_ptr error_;
  bool starting_ = false;
};

}  // namespace detail

template <class... Awaitables>
auto all_of(Awaitables... awaitables) {
  using Parts = std::array<Process, sizeof...(Awaitables)>;
  return detail::Gather<Parts>(Parts{detail::as_process(std::move(awaitables))...},
                               sizeof...(Awaitables));
}
inline auto all_of(std::vector<Process> processes) {
  const std::size_t count = processes.size();
  return detail::Gather<std::vector<Process>>(std::move(processes), count);
}

template <class... Awaitables>
auto any_of(Awaitables... awaitables) {
  using Parts = std::array<Process, sizeof...(Awaitables)>;
  return detail::Gather<Parts>(Parts{detail::as_process(std::move(awaitables))...}, 1);
}
inline auto any_of(std::vector<Process> processes) {
  const std::size_t needed = processes.empty() ? 0 : 1;
  return detail::Gather<std::vector<Process>>(std::move(processes), needed);
}

/// co_await timeout(...) gives true where the process ended within the time. If both fall on the
/// same instant, the event that was scheduled first decides.
class [[nodiscard]] Timeout : public WaitNode, Completion {
 public:
  Timeout(Process part, Duration duration)
      : WaitNode(&Timeout::abandoned),
        Completion(&Timeout::part_ended),
        part_(std::move(part)),
        duration_(duration) {}
  Timeout(Timeout&&) = default;

  bool await_ready() const { return false; }
  bool await_suspend(Process::Handle waiter);
  bool await_resume();

 private:
  static std::coroutine_handle<> part_ended(Completion& completion) noexcept;
  static bool abandoned(WaitNode& node);
  void expire();

  Process part_;
  Duration duration_;
  Token timer_;
  bool starting_ = false;
  bool in_time_ = false;
};

template <class Awaitable>
Timeout timeout(Awaitable awaitable, Duration duration) {
  return Timeout(detail::as_process(std::move(awaitable)), duration);
}

}  // namespace tiersim
