#include "workloads/numerics/selection_methods.hpp"

#include <fmt/format.h>

namespace tiersim::numerics {
namespace {

constexpr double kElement = 2;  // BF16
constexpr double kSum = 4;      // fp32
constexpr Index kSinks = 4;     // Xiao et al. 2023, section 3.2

double bytes(Index elements, double each) {
  return static_cast<double>(elements) * each;
}

}  // namespace

SelectionMethod oracle_method(Index head_dim) {
  return {.name = "oracle",
          .setting = "",
          .bytes_a_token = bytes(head_dim, kElement),
          .make = [](const HeadCase&) { return make_oracle(); }};
}

SelectionMethod random_method() {
  return {.name = "random", .setting = "", .make = [](const HeadCase& head) {
            return make_random(Rng(head.seed, "numerics.random_rows"));
          }};
}

SelectionMethod streaming_method() {
  return {.name = "streaming_llm",
          .setting = fmt::format("{} sinks", kSinks),
          .make = [](const HeadCase&) { return make_streaming(kSinks); }};
}

SelectionMethod h2o_method() {
  return {.name = "h2o",
          .setting = "half newest",
          .bytes_a_kept_row = 2 * kSum,
          .make = [](const HeadCase& head) { return make_h2o(*head.prompt_attention); }};
}

SelectionMethod quest_method(Index head_dim, Index page) {
  return {.name = "quest",
          .setting = fmt::format("page {}", page),
          .bytes_a_token = bytes(2 * head_dim, kElement) / static_cast<double>(page),
          .make = [page](const HeadCase& head) { return make_quest(head.sample, page); }};
}

SelectionMethod sparq_method(Index components) {
  return {
      .name = "sparq",
      .setting = fmt::format("r {}", components),
      .bytes_a_token = bytes(components, kElement),
      .make = [components](const HeadCase& head) { return make_sparq(head.sample, components); }};
}

SelectionMethod loki_method(Index rank) {
  return {
      .name = "loki",
      .setting = fmt::format("rank {}", rank),
      .bytes_a_token = bytes(rank, kElement),
      .make = [rank](const HeadCase& head) { return make_loki(head.sample, head.basis, rank); }};
}

SelectionMethod maple_method(Index rank, std::size_t place) {
  return {.name = "maple",
          .setting = fmt::format("rank {}", rank),
          .bytes_a_token = bytes(rank, 1),
          .make = [place](const HeadCase& head) {
            return make_by_scores([&screen = head.maple.at(place).screen](Index position) {
              return screen.integer_scores(position);
            });
          }};
}

SelectionMethod maple_float64_method(Index rank, std::size_t place) {
  return {.name = "maple_float64",
          .setting = fmt::format("rank {}", rank),
          .bytes_a_token = bytes(rank, sizeof(double)),
          .make = [place](const HeadCase& head) {
            return make_by_scores([&screen = head.maple.at(place).screen](Index position) {
              return screen.exact_scores(position);
            });
          }};
}

}  // namespace tiersim::numerics
