// maple_screen at one shape.
#pragma once
#include "kernels/cases/screening_inputs.cuh"
#include "kernels/device/maple_screen.cuh"
#include "kernels/reference/screening.hpp"

namespace tiersim::kernels {

template <int R, class Id, Mistake M = Mistake::none>
class MapleScreenCase : public Case {
 public:
  explicit MapleScreenCase(ScreeningShape shape) : shape_(with_lengths(std::move(shape))) {}

  CaseInfo info() const override {
    auto named = shape_.named();
    named.emplace_back("rank", R);
    return {"screening", "maple_screen", "r" + std::to_string(R) + "-" + id_name<Id>(),
            "int8",      named,          false};
  }
  Work work() const override {
    return maple_screen_work<R>(shape_.lengths, shape_.heads, shape_.k,
                                static_cast<int>(sizeof(Id)));
  }
  std::vector<LaunchUse> launches() const override {
    return {{"maple_screen<" + std::to_string(R) + "," + id_type<Id>() + ">",
             reinterpret_cast<const void*>(kKernel), shape_.rows(), kScreenThreads, shared_bytes(),
             std::int64_t{kScreenThreads} * kScreenLoads<R> * 16}};
  }
  std::int64_t set_bytes() const override {
    return shape_.rows() * (std::int64_t{shape_.capacity + 1} * R +
                            shape_.k * static_cast<std::int64_t>(sizeof(Id)));
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    Stream stream;
    for (int i = 0; i < sets; ++i) {
      Set& set = sets_.emplace_back(shape_);
      fill_int8_array(stream, set.keys, seed_of(i, true), shape_.divisor);
      fill_int8_array(stream, set.queries, seed_of(i, false), shape_.divisor);
    }
    stream.synchronize();
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    const Geometry geometry{dim3(static_cast<unsigned>(shape_.rows())), dim3(kScreenThreads),
                            static_cast<std::size_t>(shared_bytes())};
    launch(stream, kKernel, geometry, s.keys.data(), s.queries.data(), s.lengths.data(),
           shape_.heads, shape_.capacity, shape_.k, s.ids.data());
  }
  Agreement check(int set) override {
    const std::vector<Id> ids = sets_[static_cast<std::size_t>(set)].ids.download();
    Agreement agreement;
    for (const int row : rows_to_check(shape_, seed_)) {
      const auto keys = numbers(seed_of(set, true), std::int64_t{row} * shape_.capacity * R,
                                std::int64_t{shape_.length(row)} * R);
      const auto query = numbers(seed_of(set, false), std::int64_t{row} * R, R);
      const auto expected = reference::largest(reference::low_rank_scores(keys, query),
                                               static_cast<std::size_t>(shape_.k));
      agreement.error += wrong_ids(ids.data() + std::int64_t{row} * shape_.k, expected);
      agreement.compared += shape_.k;
    }
    return agreement;
  }

 private:
  static constexpr auto kKernel = &maple_screen<R, Id, M>;

  struct Set {
    explicit Set(const ScreeningShape& shape)
        : keys(static_cast<std::size_t>(shape.rows() * shape.capacity * R), "low-rank keys"),
          queries(static_cast<std::size_t>(shape.rows() * R), "queries"),
          lengths(shape.lengths, "lengths"),
          ids(static_cast<std::size_t>(shape.rows() * shape.k), "ids") {}
    DeviceArray<std::int8_t> keys, queries;
    DeviceArray<int> lengths;
    DeviceArray<Id> ids;
  };

  std::uint64_t seed_of(int set, bool keys) const {
    return Random(seed_ * 1000 + 2 * static_cast<std::uint64_t>(set) + (keys ? 1U : 0U)).next();
  }
  std::vector<std::int8_t> numbers(std::uint64_t seed, std::int64_t first,
                                   std::int64_t count) const {
    std::vector<std::int8_t> made(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = static_cast<std::int8_t>(
          random_int8_at(seed, static_cast<std::uint64_t>(first) + i, shape_.divisor));
    }
    return made;
  }
  std::int64_t shared_bytes() const {
    return static_cast<std::int64_t>(maple_screen_layout<Id>(shape_.capacity, shape_.k).bytes);
  }

  ScreeningShape shape_;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace tiersim::kernels
