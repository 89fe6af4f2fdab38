#pragma once
// What leaves a cache of prompt blocks when another block needs its room. A policy knows the
// entries of one cache by their places in its user's table, and only orders them; the user counts
// the room.
//
//   policy.evict(visit, out)    // until there is room for the visit; the user drops these
//   policy.insert(place, visit)
//   policy.hit(place, visit)    // used again
//   policy.hold(place); ... policy.release(place, visit);    // stays in between: it is being read
//   policy.remove(place)                                     // left the cache for another reason
//
// A block of a prompt is useless without those before it. The user therefore reports the last block
// of a prompt first, and every policy takes the one that was reported first among equals.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/registry.hpp"

namespace tiersim {

/// Number of an entry in the table of the cache; used again once the entry has left.
using Place = std::int32_t;
inline constexpr Place kNowhere = -1;

/// A use of a named block.
struct Visit {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::uint64_t key = 0;       ///< name of the block, the same whenever it comes again
  std::int64_t blocks = 1;     ///< room that it takes
  double cost = 1;             ///< of computing it again, in any unit that all visits share
  std::int64_t next = kNever;  ///< number of its next visit, where the future is known
};

class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;

  /// The entry comes into the cache.
  virtual void insert(Place place, const Visit& visit) = 0;
  virtual void hit(Place place, const Visit& visit) = 0;
  /// An entry that is held is not evicted. It is held once at a time.
  virtual void hold(Place place) = 0;
  /// It may be evicted again. Where the order is by recent use, it is the newest. `visit` is that
  /// of the use that ends, which was counted when it began.
  virtual void release(Place place, const Visit& visit) = 0;
  /// The entry leaves, and nothing is remembered of it.
  virtual void remove(Place place) = 0;
  /// Appends those that leave now, at least one unless all are held; they have left. `incoming` is
  /// the visit that needs the room, null where no block is the reason.
  virtual void evict(const Visit* incoming, std::vector<Place>& out) = 0;
  /// False where the visit should not take the room of any entry of the full cache.
  virtual bool admits(const Visit& /*incoming*/) const { return true; }
};

struct EvictionKind {
  std::string help;  ///< one line
  /// For a cache of so many blocks, above 0.
  std::unique_ptr<EvictionPolicy> (*make)(std::int64_t capacity) = nullptr;
  bool needs_future = false;  ///< a bound for known traces, which no server can follow
};

/// Every policy, by name.
const Registry<EvictionKind>& eviction_library();

/// Those of the library that a server can follow, in the order of their names.
enum class Eviction : std::uint8_t { arc, fifo, gdsf, lfu, lru, s3_fifo, sieve };
inline constexpr std::array<std::string_view, 7> kEvictionNames{"arc", "fifo",    "gdsf", "lfu",
                                                                "lru", "s3_fifo", "sieve"};
inline std::string_view name_of(Eviction eviction) {
  return kEvictionNames[static_cast<std::size_t>(eviction)];
}

/// `name` is one of the library.
std::unique_ptr<EvictionPolicy> make_eviction(std::string_view name, std::int64_t capacity);

}  // namespace tiersim
