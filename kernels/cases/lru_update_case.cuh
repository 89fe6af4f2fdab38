// lru_update at one shape: a table of rows in random order, of which some are chosen.
#pragma once
#include "kernels/cases/sparse_offload_inputs.cuh"
#include "kernels/device/lru_update.cuh"
#include "kernels/reference/sparse_offload.hpp"

namespace tiersim::kernels {

template <int Threads, int Each, Mistake M = Mistake::none>
class LruUpdateCase : public Case {
 public:
  explicit LruUpdateCase(HotShape shape) : shape_(with_lengths(std::move(shape))) {}

  CaseInfo info() const override {
    return {"sparse_offload", "lru_update", "bisection", "i32", shape_.named(), false};
  }
  Work work() const override {
    return lru_update_work(shape_.lengths, shape_.k, shape_.slots, Threads);
  }
  std::vector<LaunchUse> launches() const override {
    return {{.kernel = "lru_update<" + std::to_string(Threads) + "," + std::to_string(Each) + ">",
             .function = reinterpret_cast<const void*>(kKernel),
             .blocks = shape_.batch,
             .threads = Threads,
             .shared_bytes = static_cast<std::int64_t>(lru_shared_bytes(shape_.k, Threads)),
             .bytes_in_flight_per_block = std::int64_t{8} * Each * Threads}};
  }
  std::int64_t set_bytes() const override {
    return std::int64_t{shape_.batch} * (16 * shape_.slots + 16 * shape_.k + 8);
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    Random random(seed);
    for (int i = 0; i < sets; ++i) {
      Host host;
      for (int b = 0; b < shape_.batch; ++b) draw(host, b, random);
      sets_.emplace_back(shape_, std::move(host));
    }
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[index_of(set)];
    const LruArguments arguments{.chosen = s.chosen.data(),
                                 .lengths = s.lengths.data(),
                                 .held = s.held.data(),
                                 .next = s.next.data(),
                                 .slot_of = s.slot_of.data(),
                                 .moves = s.moves.data(),
                                 .misses = s.misses.data(),
                                 .k = shape_.k,
                                 .slots = shape_.slots};
    launch(stream, kKernel,
           {dim3(static_cast<unsigned>(shape_.batch)), dim3(Threads),
            lru_shared_bytes(shape_.k, Threads)},
           arguments);
  }
  Agreement check(int set) override {
    const Set& s = sets_[index_of(set)];
    const Result got{s.next.download(), s.slot_of.download(), s.moves.download(),
                     s.misses.download()};
    Agreement agreement;
    for (const int b : sampled_numbers(8, shape_.batch, seed_)) compare(agreement, s.host, got, b);
    return agreement;
  }

 private:
  static constexpr auto kKernel = &lru_update<Threads, Each, M>;

  struct Host {
    std::vector<int> chosen;              // [batch][k]
    std::vector<reference::HotRow> held;  // [batch][slots]
    std::vector<std::vector<int>> lists;  // of each sequence
  };
  struct Result {
    std::vector<int2> next;
    std::vector<int> slot_of;
    std::vector<int2> moves;
    std::vector<int> misses;
  };
  struct Set {
    Set(const HotShape& shape, Host from)
        : host(std::move(from)),
          chosen(host.chosen, "chosen"),
          lengths(shape.lengths, "lengths"),
          held(pairs(host.held), "held"),
          next(host.held.size(), "next"),
          slot_of(host.chosen.size(), "slot_of"),
          moves(host.chosen.size(), "moves"),
          misses(index_of(shape.batch), "misses") {}
    static std::vector<int2> pairs(const std::vector<reference::HotRow>& rows) {
      std::vector<int2> made;
      for (const reference::HotRow& row : rows) made.push_back(make_int2(row.token, row.slot));
      return made;
    }
    Host host;
    DeviceArray<int> chosen, lengths;
    DeviceArray<int2> held, next;
    DeviceArray<int> slot_of;
    DeviceArray<int2> moves;
    DeviceArray<int> misses;
  };

  // A list, and a table that holds all of its rows but the misses; the other rows are not chosen.
  void draw(Host& host, int sequence, Random& random) const {
    const int count = shape_.count(sequence);
    const int length = shape_.lengths[index_of(sequence)];
    std::vector<int> list = ascending_numbers(count, length, random);
    std::vector<int> found = list;
    shuffle(found, random);
    found.resize(index_of(count - shape_.missed(sequence)));
    const int room = shape_.slots - shape_.free - static_cast<int>(found.size());
    std::vector<int> tokens = found;
    for (const int other :
         ascending_numbers(std::clamp(room, 0, length - count), length - count, random)) {
      tokens.push_back(number_outside(list, other));
    }
    shuffle(tokens, random);
    tokens.insert(tokens.begin(), index_of(shape_.slots) - tokens.size(), -1);
    std::vector<int> slots = distinct_numbers(shape_.slots, shape_.slots, random.next());
    for (std::size_t i = 0; i < tokens.size(); ++i) host.held.push_back({tokens[i], slots[i]});
    host.chosen.insert(host.chosen.end(), list.begin(), list.end());
    host.chosen.resize(index_of(std::int64_t{sequence + 1} * shape_.k), -1);
    host.lists.push_back(std::move(list));
  }
  // Number `index` of the numbers that are not in an ascending list.
  static int number_outside(const std::vector<int>& list, int index) {
    int first = 0;  // list[i] - i numbers outside stand before list[i]
    int last = static_cast<int>(list.size());
    while (first < last) {
      const int middle = (first + last) / 2;
      if (list[index_of(middle)] - middle <= index) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return index + first;
  }

  // Adds the words of a sequence that differ.
  void compare(Agreement& agreement, const Host& host, const Result& got, int sequence) const {
    const auto table = host.held.begin() + std::int64_t{sequence} * shape_.slots;
    const reference::HotStep step =
        reference::use_rows({table, table + shape_.slots}, host.lists[index_of(sequence)]);
    const auto expect = [&agreement](int value, int expected) {
      agreement.error += value == expected ? 0 : 1;
      ++agreement.compared;
    };
    const std::int64_t list = std::int64_t{sequence} * shape_.k;
    std::vector<int> slot_of(index_of(shape_.k), -1);
    std::int64_t at = list;
    for (const auto* moves : {&step.missed, &step.found}) {
      for (const reference::HotMove& move : *moves) {
        const int2 one = got.moves[index_of(at++)];
        expect(one.x, move.token);
        expect(one.y & 0xffff, move.slot);
        expect(one.y >> kMovePositionShift, move.position);
        slot_of[index_of(move.position)] = move.slot;
      }
    }
    for (int j = 0; j < shape_.k; ++j) {
      expect(got.slot_of[index_of(list + j)], slot_of[index_of(j)]);
    }
    for (std::size_t i = 0; i < step.held.size(); ++i) {
      const int2 row = got.next[index_of(std::int64_t{sequence} * shape_.slots) + i];
      expect(row.x, step.held[i].token);
      expect(row.y, step.held[i].slot);
    }
    expect(got.misses[index_of(sequence)], static_cast<int>(step.missed.size()));
  }

  HotShape shape_;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace tiersim::kernels
