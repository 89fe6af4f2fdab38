#pragma once
// Servers that processes take and give back, first come first served.
//
//   Resource disk(engine, 2);
//   co_await disk.acquire();   // does not suspend where a server is free
//   ...
//   disk.release();
//
//   const Resource::Hold hold = co_await disk.hold();   // released at the end of the scope
#include <cstdint>
#include <utility>

#include "sim/core/engine.hpp"
#include "sim/core/wait_list.hpp"

namespace tiersim {

class Resource : public Waitable {
 public:
  /// `servers` > 0.
  Resource(Engine& engine, std::int64_t servers)
      : Waitable(engine), servers_(servers), free_(servers) {
    TS_EXPECTS(servers > 0, servers);
  }
  ~Resource() { end_users(!waiting_.empty() || holds_ != 0); }

  class Acquire;
  class Hold;
  class AcquireHold;
  Acquire acquire();
  AcquireHold hold();
  /// Takes a server if one is free, and returns true then.
  bool try_acquire() {
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  /// Gives one server back, to the first waiting process; it goes on after the events already due.
  void release() {
    if (!waiting_.empty()) {
      engine().wake(*waiting_.pop().process);
      return;
    }
    TS_EXPECTS(free_ < servers_, free_, servers_);
    ++free_;
  }

  std::int64_t servers() const { return servers_; }
  std::int64_t in_use() const { return servers_ - free_; }

 private:
  std::int64_t servers_;
  std::int64_t free_;
  std::int64_t holds_ = 0;
  WaitList waiting_;  // empty if a server is free
};

class [[nodiscard]] Resource::Acquire : public WaitNode {
 public:
  explicit Acquire(Resource& resource) : WaitNode(&Acquire::abandoned), resource_(resource) {}
  bool await_ready() { return resource_.try_acquire(); }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    resource_.waiting_.push(*this);
  }
  void await_resume() const {}

 protected:
  Resource& resource() const { return resource_; }

 private:
  static bool abandoned(WaitNode& node) {
    Resource& resource = static_cast<Acquire&>(node).resource_;
    if (!WaitList::is_out(node)) {
      resource.waiting_.remove(node);
      return false;
    }
    resource.release();
    return true;
  }

  Resource& resource_;
};

/// A server held for the life of this object.
class [[nodiscard]] Resource::Hold {
 public:
  explicit Hold(Resource& resource) : resource_(&resource) { ++resource.holds_; }
  Hold(Hold&& other) noexcept : resource_(std::exchange(other.resource_, nullptr)) {}
  Hold& operator=(Hold&&) = delete;
  ~Hold() {
    if (resource_ == nullptr) return;
    --resource_->holds_;
    resource_->release();
  }

 private:
  Resource* resource_;
};

class [[nodiscard]] Resource::AcquireHold : public Acquire {
 public:
  using Acquire::Acquire;
  Hold await_resume() {
    Acquire::await_resume();
    return Hold(resource());
  }
};

inline Resource::Acquire Resource::acquire() {
  return Acquire(*this);
}
inline Resource::AcquireHold Resource::hold() {
  return AcquireHold(*this);
}

}  // namespace tiersim
