// hot_step at one shape: tables and lists as for lru_update, rows as for hot_gather.
#pragma once
#include "kernels/cases/sparse_offload_inputs.cuh"
#include "kernels/device/hot_step.cuh"

namespace tiersim::kernels {

template <int Threads, int Each, bool Staged, Mistake M = Mistake::none>
class HotStepCase : public Case {
 public:
  HotStepCase(HotShape shape, int blocks)
      : shape_(with_lengths(std::move(shape))), blocks_(blocks) {}

  CaseInfo info() const override {
    auto named = shape_.named();
    named.emplace_back("row_bytes", LatentRow::kBytes);
    named.emplace_back("blocks", blocks_);
    return {"sparse_offload", "hot_step", Staged ? "staged" : "missed", "bytes", named, false};
  }
  Work work() const override {
    return hot_step_work({.k = shape_.k,
                          .slots = shape_.slots,
                          .row_units = LatentRow::kUnits,
                          .blocks = blocks_,
                          .threads = Threads,
                          .staged = Staged},
                         shape_.all_missed(), shape_.lengths);
  }
  std::vector<LaunchUse> launches() const override {
    return {{.kernel = "hot_step<" + std::to_string(Threads) + "," + std::to_string(Each) + ",41," +
                       (Staged ? "true>" : "false>"),
             .function = reinterpret_cast<const void*>(kKernel),
             .blocks = std::int64_t{blocks_} * shape_.batch,
             .threads = Threads,
             .shared_bytes = static_cast<std::int64_t>(shared_bytes()),
             .bytes_in_flight_per_block = std::int64_t{16} * kHotStepLoads * Threads}};
  }
  std::int64_t set_bytes() const override {
    const std::int64_t table = one_table(table_rows()) ? 0 : table_rows();
    return (table + buffer_rows() + (Staged ? list_rows() : 0)) * LatentRow::kBytes +
           16 * buffer_rows();
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    for (int i = 0; i < sets; ++i) {
      sets_.push_back(std::make_unique<Set>(*this, Random(seed + index_of(i)).next()));
    }
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[index_of(set)];
    const LruArguments lru{.chosen = s.chosen.data(),
                           .lengths = s.lengths.data(),
                           .held = s.held.data(),
                           .next = s.next.data(),
                           .slot_of = s.slot_of.data(),
                           .moves = nullptr,
                           .misses = s.misses.data(),
                           .k = shape_.k,
                           .slots = shape_.slots};
    const HotGatherArguments rows{.moves = nullptr,
                                  .misses = nullptr,
                                  .lengths = s.lengths.data(),
                                  .table = s.table->device(),
                                  .rows = s.rows.data(),
                                  .buffer = s.buffer.data(),
                                  .staging = s.staging.data(),
                                  .k = shape_.k,
                                  .slots = shape_.slots,
                                  .context = shape_.context};
    launch(stream, kKernel,
           {dim3(static_cast<unsigned>(blocks_), static_cast<unsigned>(shape_.batch)),
            dim3(Threads), shared_bytes()},
           lru, rows);
  }
  Agreement check(int set) override {
    const Set& s = *sets_[index_of(set)];
    const Result got{s.next.download(),   s.slot_of.download(), s.misses.download(),
                     s.buffer.download(), s.staging.download(), s.rows.download()};
    Agreement agreement;
    for (const int b : sampled_numbers(8, shape_.batch, seed_)) {
      const reference::HotStep step = s.host.step(shape_, b);
      compare_hot_step(agreement, shape_, step, b, got.next, got.slot_of, got.misses);
      compare_rows(agreement, s, step, b, got);
    }
    return agreement;
  }

 private:
  static constexpr auto kKernel = &hot_step<Threads, Each, LatentRow::kUnits, Staged, M>;

  struct Set {
    Set(const HotStepCase& owner, std::uint64_t seed) : Set(owner, seed, Random(seed)) {}
    Set(const HotStepCase& owner, std::uint64_t seed, Random random)
        : host(owner.shape_, random),
          chosen(host.chosen, "chosen"),
          lengths(owner.shape_.lengths, "lengths"),
          held(host.table(), "held"),
          next(host.held.size(), "next"),
          slot_of(host.chosen.size(), "slot_of"),
          misses(index_of(owner.shape_.batch), "misses"),
          rows(distinct_numbers(owner.table_rows(), owner.table_rows(), seed), "rows"),
          table(next_table(owner.sets_, owner.table_rows(), seed + 1)),
          buffer(index_of(owner.buffer_rows() * LatentRow::kUnits), "buffer"),
          staging(Staged ? index_of(owner.list_rows() * LatentRow::kUnits) : 0, "staging") {
      before.resize(buffer.size());
      fill_rows(before.data(), owner.buffer_rows(), seed + 2);
      buffer.upload(before);
    }
    HotInputs host;
    DeviceArray<int> chosen, lengths;
    DeviceArray<int2> held, next;
    DeviceArray<int> slot_of, misses, rows;
    HostTable table;
    DeviceArray<uint4> buffer, staging;
    std::vector<uint4> before;  // of the buffer
  };
  struct Result {
    std::vector<int2> next;
    std::vector<int> slot_of, misses;
    std::vector<uint4> buffer, staging;
    std::vector<int> rows;
  };

  std::int64_t table_rows() const { return std::int64_t{shape_.batch} * shape_.context; }
  std::int64_t buffer_rows() const { return std::int64_t{shape_.batch} * shape_.slots; }
  std::int64_t list_rows() const { return std::int64_t{shape_.batch} * shape_.k; }
  std::size_t shared_bytes() const { return hot_step_shared_bytes(shape_.k, Threads); }

  // Every row of the sequence's buffer, moved or not, and every staged one.
  void compare_rows(Agreement& agreement, const Set& set, const reference::HotStep& step,
                    int sequence, const Result& got) const {
    const auto expect = [&agreement](const uint4* row, const uint4* expected) {
      const bool same = std::memcmp(row, expected, std::size_t{LatentRow::kBytes}) == 0;
      agreement.error += same ? 0 : 1;
      ++agreement.compared;
    };
    const std::int64_t first = std::int64_t{sequence} * shape_.slots;
    std::vector<const uint4*> expected;
    for (std::int64_t slot = 0; slot < shape_.slots; ++slot) {
      expected.push_back(set.before.data() + (first + slot) * LatentRow::kUnits);
    }
    for (const reference::HotMove& move : step.missed) {
      const auto token = index_of(std::int64_t{sequence} * shape_.context + move.token);
      expected[index_of(move.slot)] =
          set.table->host() + std::int64_t{got.rows[token]} * LatentRow::kUnits;
    }
    for (std::int64_t slot = 0; slot < shape_.slots; ++slot) {
      expect(got.buffer.data() + (first + slot) * LatentRow::kUnits, expected[index_of(slot)]);
    }
    for (const auto* moves : {&step.missed, &step.found}) {
      for (const reference::HotMove& move : *moves) {
        const std::int64_t row = std::int64_t{sequence} * shape_.k + move.position;
        if (Staged)
          expect(got.staging.data() + row * LatentRow::kUnits, expected[index_of(move.slot)]);
      }
    }
  }

  HotShape shape_;
  int blocks_;
  std::uint64_t seed_ = 0;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
