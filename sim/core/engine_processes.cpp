// The life of processes: spawn, end, cancellation.
#include <algorithm>
#include <coroutine>
#include <exception>
#include <utility>
#include <vector>

#include "sim/core/engine.hpp"
#include "sim/core/kept_frames.hpp"

namespace tiersim {

void Process::destroy() {
  handle_.destroy();
}

// The list has the latest joiner first, and is woken in the order of joining.
void Engine::add_joiner(ProcessRef process, WaitNode& node) {
  TS_EXPECTS(process.alive());
  node.next = std::exchange(process.slot().joiners, &node);
}

bool Engine::remove_joiner(ProcessRef process, WaitNode& node) {
  if (!process.alive()) return false;
  WaitNode** link = &process.slot().joiners;
  while (*link != &node) link = &(*link)->next;
  *link = node.next;
  return true;
}

void Engine::wake_joiners(WaitNode* latest) {
  WaitNode* first = nullptr;
  while (latest != nullptr) {
    WaitNode* node = std::exchange(latest, latest->next);
    node->next = std::exchange(first, node);
  }
  for (; first != nullptr; first = first->next) wake(*first->process);
}

bool Engine::cancel(ProcessRef process) {
  if (!alive(process)) return false;
  destroy_process(*process.slot().process);
  return true;
}

void Engine::destroy_process(ProcessPromise& process) {
  process.withdraw();
  WaitNode* joiners = retire(process);
  destroy_frame(process);
  wake_joiners(joiners);
}

void Engine::destroy_frame(ProcessPromise& process) {
  const FramePool::KeeperScope scope(*kept_frames_);
  process.handle().destroy();
}

void Engine::keep_frame(ProcessPromise& process) {
  kept_frames_->expect(process.handle().address());
  ++unusual_;
}

void Engine::end_processes() {
  TS_EXPECTS(!running_);
  ending_ = true;
  // The newest first: processes spawned later may use objects in earlier frames.
  std::vector<ProcessRef> alive_ones;
  slots_.for_each([&](ProcessSlot& slot) {
    if (slot.id != 0) alive_ones.emplace_back(slot);
  });
  std::sort(alive_ones.begin(), alive_ones.end(),
            [](ProcessRef a, ProcessRef b) { return a.id() > b.id(); });
  for (const ProcessRef process : alive_ones) cancel(process);
  ending_ = false;
}

void Engine::end_processes_before_model() {
  if (!ending_) end_processes();
}

void Engine::fail(std::exception_ptr error) noexcept {
  if (failure_) return;  // the first one is reported
  failure_ = std::move(error);
  call_at(
      now(), [this] { std::rethrow_exception(std::exchange(failure_, nullptr)); }, Lane::urgent);
}

void ProcessPromise::unhandled_exception() noexcept {
  if (is_spawned()) {
    engine_->fail(std::current_exception());
  } else {
    completion().error = std::current_exception();
  }
}

void ProcessPromise::withdraw() {
  if (wait_ == kFresh) return;
  if (wait_ == kRunning) {
    // The process runs, or waits for something that would resume it after its end.
    TS_EXPECTS(engine_->ending_);
    return;
  }
  if (wait_ != kQueued) {
    auto& node = *reinterpret_cast<WaitNode*>(wait_);
    if (!node.abandon(node)) return;
  }
  engine_->keep_frame(*this);
}

}  // namespace tiersim
