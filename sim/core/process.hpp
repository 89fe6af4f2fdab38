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

/// The engine's entry of a spawned process. Entries are reused, but stay where they are.
struct ProcessSlot {
  ProcessSlot* next_free = nullptr;
  ProcessPromise* process = nullptr;
  std::uint64_t id = 0;  ///< 0: free
  WaitNode* joiners = nullptr;
};

/// Identifies a spawned process for the life of its engine, also after its end.
class ProcessRef {
 public:
  ProcessRef() = default;
  explicit ProcessRef(ProcessSlot& slot) : slot_(&slot), id_(slot.id) {}
  ProcessSlot& slot() const { return *slot_; }
  std::uint64_t id() const { return id_; }
  bool alive() const { return slot_ != nullptr && slot_->id == id_; }

  class Join;
  /// Waits for the end of the process, which may be a cancellation; returns at once if it has
  /// ended.
  Join operator co_await() const;

 private:
  ProcessSlot* slot_ = nullptr;  // null: never spawned
  std::uint64_t id_ = 0;         // unique in its engine
};

/// The engine's side of a process.
class ProcessPromise {
 public:
  static void* operator new(std::size_t size) { return FramePool::take(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    FramePool::give_back(memory, size);
  }

  Process get_return_object() { return Process(Process::Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept {
    struct End {
      bool spawned;
      /// A spawned process runs to its end without suspending, and so frees itself.
      bool await_ready() const noexcept { return spawned; }
      std::coroutine_handle<> await_suspend(Process::Handle ended) const noexcept {
        Completion& completion = ended.promise().completion();
        return completion.finished(completion);
      }
      void await_resume() const noexcept {}
    };
    if (is_spawned()) end_spawned();
    return End{is_spawned()};
  }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept;

  Engine& engine() const { return *engine_; }
  Process::Handle handle() { return Process::Handle::from_promise(*this); }

  /// True until the process is spawned or awaited.
  bool fresh() const { return wait_ == kFresh; }
  // For awaiters: the reason of the suspension. The engine itself notes that a process runs again.
  /// An event will resume it, and nothing else refers to it.
  void set_queued() { wait_ = kQueued; }
  /// Or ended, or waiting for something that the engine does not know.
  void set_running() { wait_ = kRunning; }
  /// The node holds what it waits for.
  void set_waiting(WaitNode& node) {
    node.process = this;
    wait_ = reinterpret_cast<std::uintptr_t>(&node);
  }
  /// Makes this process a part of another one; `completion` receives its end.
  void attach(Engine& engine, Completion& completion) {
    engine_ = &engine;
    owner_ = reinterpret_cast<std::uintptr_t>(&completion);
  }
  /// On cancellation: removes the process from what it waits for, before its frame is destroyed.
  void withdraw();

 private:
  friend class Engine;

  void end_spawned() noexcept;
  bool is_spawned() const { return (owner_ & kSpawned) != 0; }
  ProcessSlot& slot() const { return *reinterpret_cast<ProcessSlot*>(owner_ - kSpawned); }
  Completion& completion() const { return *reinterpret_cast<Completion*>(owner_); }

  static constexpr std::uintptr_t kFresh = 0;
  static constexpr std::uintptr_t kRunning = 1;
  static constexpr std::uintptr_t kQueued = 2;
  static constexpr std::uintptr_t kSpawned = 1;

  // In three words, so that the frame of a small process fits into two cache lines.
  Engine* engine_ = nullptr;
  std::uintptr_t owner_ = 0;      // address of a Completion, or of a ProcessSlot plus kSpawned
  std::uintptr_t wait_ = kFresh;  // one of the numbers above, or the address of a WaitNode
};

}  // namespace tiersim
