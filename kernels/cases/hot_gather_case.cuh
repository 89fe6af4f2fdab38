// hot_gather at one shape: rows of the latent cache from host memory and from the hot buffer.
#pragma once
#include "kernels/cases/sparse_offload_inputs.cuh"
#include "kernels/device/hot_gather.cuh"

namespace tiersim::kernels {

// Staged: all rows of the list are laid side by side.
template <bool Staged, Mistake M = Mistake::none>
class HotGatherCase : public Case {
 public:
  HotGatherCase(HotShape shape, int blocks)
      : shape_(with_lengths(std::move(shape))), blocks_(blocks) {}

  CaseInfo info() const override {
    auto named = shape_.named();
    named.emplace_back("row_bytes", LatentRow::kBytes);
    named.emplace_back("blocks", blocks_);
    return {"sparse_offload", "hot_gather", Staged ? "staged" : "missed", "bytes", named, false};
  }
  Work work() const override {
    return hot_gather_work(
        {.k = shape_.k, .row_units = LatentRow::kUnits, .blocks = blocks_, .staged = Staged},
        shape_.all_missed(), shape_.lengths);
  }
  std::vector<LaunchUse> launches() const override {
    return {{.kernel = std::string("hot_gather<41,") + (Staged ? "true" : "false") + ">",
             .function = reinterpret_cast<const void*>(kKernel),
             .blocks = std::int64_t{blocks_} * shape_.batch,
             .threads = kHotGatherThreads,
             .bytes_in_flight_per_block = std::int64_t{16} * kHotGatherLoads * kHotGatherThreads}};
  }
  std::int64_t set_bytes() const override {
    const std::int64_t table = one_table(table_rows()) ? 0 : table_rows();
    return (table + buffer_rows() + (Staged ? list_rows() : 0)) * LatentRow::kBytes;
  }

  void prepare(int sets, std::uint64_t seed) override {
    sets_.clear();
    for (int i = 0; i < sets; ++i) {
      sets_.push_back(std::make_unique<Set>(*this, Random(seed + index_of(i)).next()));
    }
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = *sets_[index_of(set)];
    const HotGatherArguments arguments{.moves = s.moves.data(),
                                       .misses = s.misses.data(),
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
            dim3(kHotGatherThreads)},
           arguments);
  }
  // Every row of the buffer is compared, moved or not, and every staged one.
  Agreement check(int set) override {
    const Set& s = *sets_[index_of(set)];
    const std::vector<uint4> buffer = s.buffer.download();
    const std::vector<uint4> staging = s.staging.download();
    Agreement agreement;
    const auto expect = [&agreement](const uint4* got, const uint4* expected) {
      const bool same = std::memcmp(got, expected, std::size_t{LatentRow::kBytes}) == 0;
      agreement.error += same ? 0 : 1;
      ++agreement.compared;
    };
    std::vector<uint4> expected = s.before;
    for (std::size_t i = 0; i < s.plan.size(); ++i) {
      const Move& move = s.plan[i];
      uint4* slot = expected.data() + move.buffer_row * LatentRow::kUnits;
      if (move.missed) {
        std::memcpy(slot, s.table->host() + move.table_row * LatentRow::kUnits,
                    std::size_t{LatentRow::kBytes});
      }
      if (Staged) expect(staging.data() + move.staged_row * LatentRow::kUnits, slot);
    }
    for (std::int64_t row = 0; row < buffer_rows(); ++row) {
      expect(buffer.data() + row * LatentRow::kUnits, expected.data() + row * LatentRow::kUnits);
    }
    return agreement;
  }

 private:
  static constexpr auto kKernel = &hot_gather<LatentRow::kUnits, Staged, M>;

  struct Move {
    bool missed = false;
    std::int64_t table_row = 0;
    std::int64_t buffer_row = 0;
    std::int64_t staged_row = 0;
  };
  struct Set {
    Set(const HotGatherCase& owner, std::uint64_t seed)
        : rows(distinct_numbers(owner.table_rows(), owner.table_rows(), seed), "rows"),
          moves(index_of(owner.list_rows()), "moves"),
          misses(owner.shape_.all_missed(), "misses"),
          lengths(owner.shape_.lengths, "lengths"),
          table(next_table(owner.sets_, owner.table_rows(), seed + 1)),
          buffer(index_of(owner.buffer_rows() * LatentRow::kUnits), "buffer"),
          staging(Staged ? index_of(owner.list_rows() * LatentRow::kUnits) : 0, "staging") {
      moves.upload(owner.draw_moves(seed, rows.download(), plan));
      before.resize(buffer.size());
      fill_rows(before.data(), owner.buffer_rows(), seed + 2);
      buffer.upload(before);
    }
    DeviceArray<int> rows;
    DeviceArray<int2> moves;
    DeviceArray<int> misses, lengths;
    HostTable table;
    DeviceArray<uint4> buffer, staging;
    std::vector<uint4> before;  // of the buffer
    std::vector<Move> plan;
  };

  std::int64_t table_rows() const { return std::int64_t{shape_.batch} * shape_.context; }
  std::int64_t buffer_rows() const { return std::int64_t{shape_.batch} * shape_.slots; }
  std::int64_t list_rows() const { return std::int64_t{shape_.batch} * shape_.k; }

  // Rows to fetch and rows found of each sequence, as lru_update lists them.
  std::vector<int2> draw_moves(std::uint64_t seed, const std::vector<int>& rows,
                               std::vector<Move>& plan) const {
    Random random(seed);
    std::vector<int2> moves;
    for (int b = 0; b < shape_.batch; ++b) {
      const int count = shape_.count(b);
      const int missed = shape_.missed(b);
      const std::vector<int> list = ascending_numbers(count, shape_.lengths[index_of(b)], random);
      const std::vector<int> slots = distinct_numbers(count, shape_.slots, random.next());
      std::vector<int> positions = distinct_numbers(count, count, random.next());
      std::sort(positions.begin(), positions.begin() + missed);
      std::sort(positions.begin() + missed, positions.end());
      for (int i = 0; i < count; ++i) {
        const int position = positions[index_of(i)];
        const int token = list[index_of(position)];
        const int slot = slots[index_of(i)];
        moves.push_back(make_int2(token, slot | position << kMovePositionShift));
        plan.push_back({i < missed, rows[index_of(std::int64_t{b} * shape_.context + token)],
                        std::int64_t{b} * shape_.slots + slot,
                        std::int64_t{b} * shape_.k + position});
      }
      moves.resize(index_of(std::int64_t{b + 1} * shape_.k), make_int2(-1, -1));
    }
    return moves;
  }

  HotShape shape_;
  int blocks_;
  std::vector<std::unique_ptr<Set>> sets_;
};

}  // namespace tiersim::kernels
