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

ProcessRef Engine::spawn(Process process) {
  const Process::Handle handle = process.release();
  TS_EXPECTS(handle && handle.promise().state_ == ProcessPromise::State::fresh);
  ProcessPromise& promise = handle.promise();
  if (free_slot_ == kNoSlot) {
    free_slot_ = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back({nullptr, 0, kNoSlot});
  }
  promise.engine_ = this;
  promise.slot_ = free_slot_;
  promise.set_queued();
  Slot& slot = slots_[free_slot_];
  free_slot_ = slot.next_free;
  slot.process = &promise;
  slot.id = next_id_++;
  wake(promise);
  return {promise.slot_, slot.id};
}

bool Engine::alive(ProcessRef process) const {
  if (process.slot() >= slots_.size()) return false;
  const Slot& slot = slots_[process.slot()];
  return slot.process != nullptr && slot.id == process.id();
}

// The list has the latest joiner first, and is woken in the order of joining.
void Engine::add_joiner(ProcessRef process, WaitNode& node) {
  TS_EXPECTS(alive(process));
  ProcessPromise& promise = *slots_[process.slot()].process;
  node.next = promise.joiners_;
  promise.joiners_ = &node;
}

bool Engine::remove_joiner(ProcessRef process, WaitNode& node) {
  if (!alive(process)) return false;
  WaitNode** link = &slots_[process.slot()].process->joiners_;
  while (*link != &node) link = &(*link)->next;
  *link = node.next;
  return true;
}

WaitNode* Engine::retire(ProcessPromise& process) noexcept {
  Slot& slot = slots_[process.slot_];
  slot.process = nullptr;
  slot.next_free = free_slot_;
  free_slot_ = process.slot_;
  return std::exchange(process.joiners_, nullptr);
}

void Engine::wake_joiners(WaitNode* latest) {
  WaitNode* first = nullptr;
  while (latest != nullptr) {
    WaitNode* node = std::exchange(latest, latest->next);
    node->next = std::exchange(first, node);
  }
  for (; first != nullptr; first = first->next) wake(*first->process);
}

void Engine::end_of(ProcessPromise& process) noexcept {
  wake_joiners(retire(process));
}

bool Engine::cancel(ProcessRef process) {
  if (!alive(process)) return false;
  destroy_process(*slots_[process.slot()].process);
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
  for (const Slot& slot : slots_)
    if (slot.process != nullptr) alive_ones.emplace_back(slot.process->slot_, slot.id);
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
  if (completion_ != nullptr) {
    completion_->error = std::current_exception();
  } else {
    engine_->fail(std::current_exception());
  }
}

void ProcessPromise::end_spawned() noexcept {
  engine_->end_of(*this);
}

void ProcessPromise::withdraw() {
  if (state_ == State::fresh) return;
  if (state_ == State::running) {
    // The process runs, or waits for something that would resume it after its end.
    TS_EXPECTS(engine_->ending_);
    return;
  }
  if (state_ == State::queued || waits_on_->abandon(*waits_on_)) engine_->keep_frame(*this);
}

}  // namespace tiersim
