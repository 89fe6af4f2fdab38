// topk at one shape; scores are drawn near normal, or given by a test.
#pragma once
#include <bit>
#include <cmath>

#include "kernels/cases/parallel.hpp"
#include "kernels/cases/screening_inputs.cuh"
#include "kernels/device/topk.cuh"
#include "kernels/reference/screening.hpp"

namespace tiersim::kernels {

// Name of a format, with its conversions to and from numbers.
template <class Format>
struct ScoreFormat;
template <>
struct ScoreFormat<Float32> {
  static constexpr const char* kName = "f32";
  static constexpr const char* kType = "Float32";
  static float make(float value) { return value; }
  static double value(float score) { return double{score}; }
};
template <>
struct ScoreFormat<BFloat16> {
  static constexpr const char* kName = "bf16";
  static constexpr const char* kType = "BFloat16";
  static std::uint16_t make(float value) { return std::bit_cast<std::uint16_t>(to_bf16(value)); }
  static double value(std::uint16_t score) {
    return double{std::bit_cast<float>(std::uint32_t{score} << 16U)};
  }
};
template <>
struct ScoreFormat<Float16> {
  static constexpr const char* kName = "f16";
  static constexpr const char* kType = "Float16";
  // Rounds towards zero. For magnitudes in [2^-14, 65504]; smaller ones become 0.
  static std::uint16_t make(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = bits & 0x7fffffffU;
    const std::uint32_t half = size < 0x38800000U ? 0 : (size - 0x38000000U) >> 13U;
    return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | half);
  }
  static double value(std::uint16_t score) {
    const int exponent = score >> 10U & 31;
    const int fraction = score & 1023;
    const double sign = (score & 0x8000U) != 0 ? -1.0 : 1.0;
    if (exponent == 31) return fraction != 0 ? NAN : sign * HUGE_VAL;
    return sign *
           (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
  }
};

template <class Format, class Id, Mistake M = Mistake::none>
class TopkCase : public Case {
 public:
  using Score = typename Format::Score;
  using Scores = std::vector<Score>;

  // given: [batch * heads][capacity]; empty: drawn by prepare().
  explicit TopkCase(ScreeningShape shape, Scores given = {})
      : shape_(with_lengths(std::move(shape))), given_(std::move(given)) {}

  CaseInfo info() const override {
    const std::string variant = std::string(ScoreFormat<Format>::kName) + "-" + id_name<Id>();
    return {"screening", "topk", variant, ScoreFormat<Format>::kName, shape_.named(), false};
  }
  Work work() const override {
    return topk_work<Format>(shape_.lengths, shape_.heads, shape_.k, static_cast<int>(sizeof(Id)));
  }
  std::vector<LaunchUse> launches() const override {
    return {{std::string("topk<") + ScoreFormat<Format>::kType + "," + id_type<Id>() + ">",
             reinterpret_cast<const void*>(kKernel), shape_.rows(), kTopkThreads,
             static_cast<std::int64_t>(shared_bytes()),
             std::int64_t{kTopkThreads} * kTopkLoads * 16}};
  }
  std::int64_t set_bytes() const override {
    return shape_.rows() * (shape_.capacity * static_cast<std::int64_t>(sizeof(Score)) +
                            shape_.k * static_cast<std::int64_t>(sizeof(Id)));
  }

  void prepare(int sets, std::uint64_t seed) override {
    seed_ = seed;
    sets_.clear();
    for (int i = 0; i < sets; ++i) {
      sets_.emplace_back(shape_,
                         given_.empty() ? drawn(seed + static_cast<std::uint64_t>(i)) : given_);
    }
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    const Geometry geometry{dim3(static_cast<unsigned>(shape_.rows())), dim3(kTopkThreads),
                            shared_bytes()};
    launch(stream, kKernel, geometry, s.scores.data(), s.lengths.data(), shape_.heads,
           shape_.capacity, shape_.k, s.ids.data());
  }
  Agreement check(int set) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    const std::vector<Id> ids = s.ids.download();
    const Scores scores = s.scores.download();
    Agreement agreement;
    for (const int row : rows_to_check(shape_, seed_)) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < shape_.length(row); ++i) {
        const std::int64_t at = std::int64_t{row} * shape_.capacity + i;
        values.push_back(ScoreFormat<Format>::value(scores[static_cast<std::size_t>(at)]));
      }
      agreement.error += wrong_ids(ids.data() + std::int64_t{row} * shape_.k,
                                   reference::largest(values, static_cast<std::size_t>(shape_.k)));
      agreement.compared += shape_.k;
    }
    return agreement;
  }

 private:
  static constexpr auto kKernel = &topk<Format, Id, M>;

  struct Set {
    Set(const ScreeningShape& shape, const Scores& values)
        : scores(values, "scores"),
          lengths(shape.lengths, "lengths"),
          ids(static_cast<std::size_t>(shape.rows() * shape.k), "ids") {}
    DeviceArray<Score> scores;
    DeviceArray<int> lengths;
    DeviceArray<Id> ids;
  };

  Scores drawn(std::uint64_t seed) const {
    Scores scores(static_cast<std::size_t>(shape_.rows() * shape_.capacity));
    const auto drawn = std::min(static_cast<std::int64_t>(scores.size()), kRepeatedAfter);
    const auto draw = [&scores, seed](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const float normal = random_normal_at(seed, static_cast<std::uint64_t>(i));
        scores[static_cast<std::size_t>(i)] = ScoreFormat<Format>::make(normal);
      }
    };
    in_parallel(drawn, draw, 1 << 16);
    repeat(scores, drawn);
    return scores;
  }
  std::size_t shared_bytes() const {
    return topk_layout<Format, Id>(shape_.capacity, shape_.k).bytes;
  }

  ScreeningShape shape_;
  Scores given_;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace tiersim::kernels
