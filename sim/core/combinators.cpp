#include "sim/core/combinators.hpp"

namespace tiersim {

bool Timeout::await_suspend(Process::Handle waiter) {
  Engine& engine = waiter.promise().engine();
  waiter.promise().set_waiting(*this);
  part_.handle().promise().attach(engine, *this);
  starting_ = true;
  part_.handle().resume();
  starting_ = false;
  if (in_time_) return false;
  timer_ = engine.call_after_cancellable(duration_, [this] { expire(); });
  return true;
}

bool Timeout::await_resume() {
  process->set_running();
  if (error) std::rethrow_exception(std::move(error));
  return in_time_;
}

std::coroutine_handle<> Timeout::part_ended(Completion& completion) noexcept {
  auto& timeout = static_cast<Timeout&>(completion);
  timeout.in_time_ = true;
  if (timeout.starting_) return std::noop_coroutine();
  timeout.process->engine().cancel(timeout.timer_);
  return timeout.process->handle();
}

void Timeout::expire() {
  process->engine().discard(part_);
  process->handle().resume();
}

bool Timeout::abandoned(WaitNode& node) {
  auto& timeout = static_cast<Timeout&>(node);
  timeout.process->engine().cancel(timeout.timer_);
  timeout.part_.handle().promise().withdraw();
  return false;
}

}  // namespace tiersim
