#pragma once
// Processes: C++20 coroutines that live in simulated time.
//
//   Process customer(Engine& engine, Resource& server, Duration service) {
//     co_await server.acquire();
//     co_await engine.delay(service);
//     server.release();
//   }
//   engine.spawn(customer(engine, server, 3ns));    // runs by itself
//   co_await customer(engine, server, 3ns);         // in a process: a call; returns at its end
//   const ProcessRef worker = engine.spawn(...);
//   co_await worker;                                // in a process: waits for its end
//
// A process does nothing before it is spawned or awaited. Pass parameters by value or by reference
// to what outlives the process; a lambda's captures do not. A call starts and returns at once, with
// no event in between, so moving code into a sub-process does not change the order of events.
//
// An exception travels to the caller of a called process; out of a spawned process it leaves
// Engine::run().
#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/core/frame_pool.hpp"

namespace tiersim {

class Engine;
class ProcessPromise;

/// One process waiting for one thing. Lives in the awaiter and so in the frame of that process:
/// waiting allocates nothing.
struct WaitNode {
  /// Called when the process is cancelled: withdraws the node from wherever it is, and gives back
  /// what it was granted. Returns whether the resumption of the process is queued already.
  using Abandon = bool (*)(WaitNode&);

  explicit WaitNode(Abandon function) : abandon(function) {}

  WaitNode* next = nullptr;
  ProcessPromise* process = nullptr;
  Abandon abandon;
};

/// Hears of the end of a process that was not spawned.
struct Completion {
  /// Returns what to resume: the waiting coroutine, or std::noop_coroutine().
  using Finished = std::coroutine_handle<> (*)(Completion&) noexcept;

  explicit Completion(Finished function) : finished(function) {}

  Finished finished;
  std::exception_ptr error;
};

class [[nodiscard]] Process {
 public:
  using promise_type = ProcessPromise;
  using Handle = std::coroutine_handle<ProcessPromise>;

  explicit Process(Handle handle) : handle_(handle) {}
  Process(Process&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Process& operator=(Process&& other) noexcept {
    if (this != &other) {
      if (handle_) destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Process() {
    if (handle_) destroy();
  }

  class Call;
  /// Runs the process as a part of the awaiting one.
  Call operator co_await() const;

  Handle handle() const { return handle_; }
  /// Gives up the frame.
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  /// Never inlined: where clang sees a frame created and destroyed in one function it places it
  /// inside the frame of the caller, and cancellation must keep the memory of each by itself.
  [[gnu::noinline]] void destroy();

  Handle handle_;
};

/// Names a spawned process, also after its end.
class ProcessRef {
 public:
  ProcessRef() = default;
  ProcessRef(std::uint32_t slot, std::uint64_t id) : slot_(slot), id_(id) {}
  std::uint32_t slot() const { return slot_; }
  std::uint64_t id() const { return id_; }

  class Join;
  /// Waits for the end of the process, also by cancellation; does not wait where it has ended.
  Join operator co_await() const;

 private:
  std::uint32_t slot_ = 0;
  std::uint64_t id_ = 0;  // 0: never spawned; no two processes of an engine have the same
};

/// The engine's side of a process.
class ProcessPromise {
 public:
  enum class State : std::uint8_t {
    fresh,    ///< not started
    running,  ///< or ended, or waiting for something that the engine does not know
    queued,   ///< will be resumed by an event, and nothing else knows of it
    waiting,  ///< a WaitNode knows for what
  };

  static void* operator new(std::size_t size) { return FramePool::take(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    FramePool::give_back(memory, size);
  }

  Process get_return_object() { return Process(Process::Handle::from_promise(*this)); }
  auto initial_suspend() noexcept {
    struct Start {
      ProcessPromise& promise;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<>) const noexcept {}
      void await_resume() const noexcept { promise.state_ = State::running; }
    };
    return Start{*this};
  }
  auto final_suspend() noexcept {
    struct End {
      ProcessPromise& promise;
      /// A spawned process runs off its end and so frees itself.
      bool await_ready() const noexcept {
        if (promise.completion_ != nullptr) return false;
        promise.end_spawned();
        return true;
      }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        return promise.completion_->finished(*promise.completion_);
      }
      void await_resume() const noexcept {}
    };
    return End{*this};
  }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept;

  Engine& engine() const { return *engine_; }
  Process::Handle handle() { return Process::Handle::from_promise(*this); }
  State state() const { return state_; }

  // For awaiters: what the process is suspended for.
  void set_queued() { state_ = State::queued; }
  void set_running() { state_ = State::running; }
  void set_waiting(WaitNode& node) {
    node.process = this;
    waits_on_ = &node;
    state_ = State::waiting;
  }
  /// Makes this process a part of another one, to which `completion` tells its end.
  void attach(Engine& engine, Completion& completion) {
    engine_ = &engine;
    completion_ = &completion;
  }
  /// On cancellation: takes the process out of whatever it waits for, before its frame goes.
  void withdraw();

 private:
  friend class Engine;

  void end_spawned() noexcept;

  Engine* engine_ = nullptr;
  Completion* completion_ = nullptr;  // null: spawned
  WaitNode* waits_on_ = nullptr;
  WaitNode* joiners_ = nullptr;
  std::uint32_t slot_ = 0;
  State state_ = State::fresh;
};

}  // namespace tiersim
