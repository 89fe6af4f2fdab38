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
// A process does nothing before it is spawned or awaited. Parameters are passed by value, or by
// reference to objects that outlive the process; the captures of a lambda do not outlive it. A call
// starts and returns at once, with no event in between, so moving code into a sub-process does not
// change the order of events.
//
// An exception propagates to the caller of a called process; from a spawned process it leaves
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

/// One process waiting for one thing. It lives in the awaiter and so in the frame of that process:
/// waiting allocates nothing.
struct WaitNode {
  /// Called when the process is cancelled: withdraws the node from its list, and gives back what
  /// the process was granted. Returns true where the resumption of the process is already queued.
  using Abandon = bool (*)(WaitNode&);

  explicit WaitNode(Abandon function) : abandon(function) {}

  WaitNode* next = nullptr;
  ProcessPromise* process = nullptr;
  Abandon abandon;
};

/// Receives the end of a process that was not spawned.
struct Completion {
  /// Returns the coroutine to resume: the waiting one, or std::noop_coroutine().
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
  /// Releases ownership of the frame.
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  /// Never inlined: if clang sees a frame created and destroyed in one function, it places the
  /// frame inside that of the caller, but cancellation must keep the memory of each frame
  /// separately.
  [[gnu::noinline]] void destroy();

  Handle handle_;
};

/// Identifies a spawned process, also after its end.
class ProcessRef {
 public:
  ProcessRef() = default;
  ProcessRef(std::uint32_t slot, std::uint64_t id) : slot_(slot), id_(id) {}
  std::uint32_t slot() const { return slot_; }
  std::uint64_t id() const { return id_; }

  class Join;
  /// Waits for the end of the process, which may be a cancellation; returns at once if it has
  /// ended.
  Join operator co_await() const;

 private:
  std::uint32_t slot_ = 0;
  std::uint64_t id_ = 0;  // 0: never spawned; unique in its engine
};

/// The engine's side of a process.
class ProcessPromise {
 public:
  enum class State : std::uint8_t {
    fresh,    ///< not started
    running,  ///< or ended, or waiting for something that the engine does not know
    queued,   ///< an event will resume it, and nothing else refers to it
    waiting,  ///< a WaitNode holds what it waits for
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
      /// A spawned process runs to its end without suspending, and so frees itself.
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

  // For awaiters: the reason of the suspension.
  void set_queued() { state_ = State::queued; }
  void set_running() { state_ = State::running; }
  void set_waiting(WaitNode& node) {
    node.process = this;
    waits_on_ = &node;
    state_ = State::waiting;
  }
  /// Makes this process a part of another one; `completion` receives its end.
  void attach(Engine& engine, Completion& completion) {
    engine_ = &engine;
    completion_ = &completion;
  }
  /// On cancellation: removes the process from what it waits for, before its frame is destroyed.
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
