// lru_update at one shape: a table of rows in random order, of which some are chosen.
#pragma once
#include "kernels/cases/sparse_offload_inputs.cuh"
#include "kernels/device/lru_update.cuh"

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
      sets_.emplace_back(shape_, HotInputs(shape_, random));
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

  struct Result {
    std::vector<int2> next;
    std::vector<int> slot_of;
    std::vector<int2> moves;
    std::vector<int> misses;
  };
  struct Set {
    Set(const HotShape& shape, HotInputs from)
        : host(std::move(from)),
          chosen(host.chosen, "chosen"),
          lengths(shape.lengths, "lengths"),
          held(host.table(), "held"),
          next(host.held.size(), "next"),
          slot_of(host.chosen.size(), "slot_of"),
          moves(host.chosen.size(), "moves"),
          misses(index_of(shape.batch), "misses") {}
    HotInputs host;
    DeviceArray<int> chosen, lengths;
    DeviceArray<int2> held, next;
    DeviceArray<int> slot_of;
    DeviceArray<int2> moves;
    DeviceArray<int> misses;
  };

  // Adds the words of a sequence that differ.
  void compare(Agreement& agreement, const HotInputs& host, const Result& got, int sequence) const {
    const reference::HotStep step = host.step(shape_, sequence);
    compare_hot_step(agreement, shape_, step, sequence, got.next, got.slot_of, got.misses);
    std::int64_t at = std::int64_t{sequence} * shape_.k;
    for (const auto* moves : {&step.missed, &step.found}) {
      for (const reference::HotMove& move : *moves) {
        const int2 one = got.moves[index_of(at++)];
        const bool same = one.x == move.token && (one.y & 0xffff) == move.slot &&
                          one.y >> kMovePositionShift == move.position;
        agreement.error += same ? 0 : 1;
        ++agreement.compared;
      }
    }
  }

  HotShape shape_;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace tiersim::kernels
