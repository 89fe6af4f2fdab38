#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "workloads/numerics/given_heads.hpp"
#include "workloads/numerics/maple_study.hpp"

namespace tiersim::numerics::numerics_npy_test {
namespace {

template <class Unsigned>
std::string bytes_of(Unsigned value, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i, value >>= 8U) out += static_cast<char>(value & 0xffU);
  return out;
}

// A file of version 1.0 with this header.
std::string file_of(const std::string& header, const std::string& data = "") {
  return "\x93NUMPY" + std::string("\x01\x00", 2) + bytes_of(header.size(), 2) + header + data;
}

std::string float32(float value) {
  return bytes_of(std::bit_cast<std::uint32_t>(value), 4);
}

std::string problem_of(const std::string& file) {
  const auto read = read_npy(file);
  return read ? "none" : fmt::format("{}: {}", read.error().offset, read.error().what);
}

TEST(ReadNpy, TakesFloat32InCOrder) {
  const auto read =
      read_npy(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }     \n",
                       float32(1) + float32(-2.5F) + float32(0) + float32(1e-3F)));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(read->values, (std::vector<double>{1, -2.5, 0, static_cast<double>(1e-3F)}));
}

TEST(ReadNpy, TakesFloat64OfVersionTwo) {
  const std::string header = "{\"shape\":(1,),\"descr\":\"<f8\",\"fortran_order\":False}\n";
  const auto read = read_npy("\x93NUMPY" + std::string("\x02\x00", 2) + bytes_of(header.size(), 4) +
                             header + bytes_of(std::bit_cast<std::uint64_t>(0.1), 8));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->shape, std::vector<std::int64_t>{1});
  EXPECT_EQ(read->values, std::vector<double>{0.1});
}

TEST(ReadNpy, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem_of(""), "0: not a .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(problem_of("PK\x03\x04"), "0: not a .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(problem_of("\x93NUMPY\x01"), "7: the file ends in its header");
  EXPECT_EQ(problem_of("\x93NUMPY" + std::string("\x03\x00\x01\x00", 4)),
            "6: version 3.0 of the format, not 1.0 or 2.0");
  EXPECT_EQ(problem_of("\x93NUMPY" + std::string("\x01\x00\xff\x00{}", 6)),
            "8: a header of 255 bytes in a file of 12");
  EXPECT_EQ(problem_of(file_of("[]")), "10: expected '{' in the header");
  EXPECT_EQ(problem_of(file_of("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}")),
            "20: descr is '>f4', not '<f4' or '<f8' (float32, float64)");
  EXPECT_EQ(problem_of(file_of("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}")),
            "20: descr is '<i4', not '<f4' or '<f8' (float32, float64)");
  EXPECT_EQ(problem_of(file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}")),
            "44: fortran_order is True: save a C-ordered copy (numpy.ascontiguousarray)");
  EXPECT_EQ(problem_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shap': (1,)}")),
            "51: key 'shap' is none of descr, fortran_order, shape, or is there twice");
  EXPECT_EQ(problem_of(file_of("{'descr': '<f4', 'descr': '<f4'}")),
            "27: key 'descr' is none of descr, fortran_order, shape, or is there twice");
  EXPECT_EQ(problem_of(file_of("{'descr': '<f4', 'fortran_order': False}")),
            "50: the header lacks shape");
  EXPECT_EQ(problem_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0)}")),
            "64: a dimension is not a whole number of 1 or more");
  EXPECT_EQ(
      problem_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 2)}")),
      "76: the shape has more than 2^40 elements");
  EXPECT_EQ(problem_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "")),
            "64: expected ',' or '}' in the header");
  EXPECT_EQ(problem_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x")),
            "66: expected nothing but spaces after '}' in the header");
}

TEST(ReadNpy, RefusesDataThatDoNotFillTheShape) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}";
  EXPECT_EQ(problem_of(file_of(header, float32(1))),
            "67: 4 bytes of data, where shape (2, 1) of float32 has 8");
  EXPECT_EQ(problem_of(file_of(header, float32(1) + float32(1) + "x")),
            "67: 9 bytes of data, where shape (2, 1) of float32 has 8");
}

TEST(ReadNpy, RefusesWhatIsNotFinite) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  EXPECT_EQ(
      problem_of(file_of(header, float32(1) + float32(std::numeric_limits<float>::quiet_NaN()))),
      "69: element 1 is not a number");
  EXPECT_EQ(
      problem_of(file_of(header, float32(-std::numeric_limits<float>::infinity()) + float32(1))),
      "65: element 0 is infinite");
}

NpyArray filled(std::vector<std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  NpyArray out{.shape = std::move(shape), .values = {}};
  for (std::size_t i = 0; i < count; ++i) out.values.push_back(static_cast<double>(i + 1));
  return out;
}

std::vector<std::string> problems_of(const GivenArrays& arrays) {
  std::vector<std::string> out;
  const auto heads = heads_from(arrays);
  if (heads) return {"none"};
  for (const ArrayProblem& problem : heads.error())
    out.push_back("QKVX"[static_cast<int>(problem.array)] + (": " + problem.what));
  return out;
}

TEST(HeadsFrom, TakesEachHeadsRowsInOrder) {
  const auto layer = heads_from({.q = filled({2, 64, 16}),
                                 .k = filled({2, 64, 16}),
                                 .v = filled({2, 64, 3}),
                                 .x = filled({64, 5})});
  ASSERT_TRUE(layer);
  ASSERT_EQ(layer->heads.size(), 2U);
  EXPECT_EQ(layer->heads[0].k(1, 2), 16 + 3);
  EXPECT_EQ(layer->heads[1].k(1, 2), 64 * 16 + 16 + 3);
  EXPECT_EQ(layer->heads[1].v(0, 1), 64 * 3 + 2);
  EXPECT_EQ(layer->heads[0].decode_from, 32);  // half of the tokens, where that is below 48
  EXPECT_EQ(layer->calibration[1].k.rows(), 32);
  EXPECT_EQ(layer->calibration_x(31, 4), 32 * 5);
}

TEST(HeadsFrom, MeasuresTheQueriesThatThereAre) {
  const auto layer = heads_from(
      {.q = filled({10, 16}), .k = filled({64, 16}), .v = filled({64, 16}), .x = std::nullopt});
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer->heads[0].first_query(), 54);
  EXPECT_EQ(layer->heads[0].decode_from, 54);
}

TEST(HeadsFrom, ListsEveryMistake) {
  EXPECT_EQ(problems_of({.q = filled({64}),
                         .k = filled({1, 1, 64, 16}),
                         .v = filled({64, 16}),
                         .x = filled({1, 64, 16})}),
            (std::vector<std::string>{
                "Q: shape (64) is not [heads, rows, columns] or [rows, columns]",
                "K: shape (1, 1, 64, 16) is not [heads, rows, columns] or [rows, columns]",
                "X: shape (1, 64, 16) is not [rows, columns]"}));
  EXPECT_EQ(
      problems_of({.q = filled({4, 90, 16}),
                   .k = filled({2, 60, 8}),
                   .v = filled({1, 61, 8}),
                   .x = filled({59, 32})}),
      (std::vector<std::string>{
          "Q: 4 heads, where K has 2 (repeat the keys of a group)", "V: 1 heads, where K has 2",
          "Q: rows of 16 elements, where K has 8", "K: rows of 8 elements, fewer than 16",
          "K: 60 tokens, fewer than 64", "V: 61 tokens, where K has 60",
          "Q: 90 queries, more than the 60 tokens of K", "X: 59 tokens, where K has 60",
          "Q: 90 queries of 60 tokens: MAPLE's distillation needs all of them (or leave X "
          "out)"}));
  NpyArray zero = filled({64, 16});
  std::ranges::fill(zero.values, 0);
  EXPECT_EQ(problems_of({.q = filled({64, 16}), .k = zero, .v = zero, .x = std::nullopt}),
            (std::vector<std::string>{"K: every element of head 0 is 0",
                                      "V: every element of head 0 is 0"}));
}

NpyArray drawn(std::vector<std::int64_t> shape) {
  NpyArray out = filled(std::move(shape));
  Rng rng(out.values.size(), "given");
  for (double& value : out.values) value = rng.uniform() - 0.5;
  return out;
}

NpyArray times(NpyArray array, double factor) {
  for (double& value : array.values) value *= factor;
  return array;
}

GivenArrays drawn_arrays() {
  return {.q = drawn({2, 64, 16}),
          .k = drawn({2, 64, 16}),
          .v = drawn({2, 64, 3}),
          .x = drawn({64, 32})};
}

TEST(HeadsFrom, NamesTheFirstElementThatIsTooLarge) {
  GivenArrays arrays = drawn_arrays();
  arrays.q.values.at(64 * 16 + 3 * 16 + 5) = 1e300;
  arrays.k.values.at(7) = -1e160;
  arrays.k.values.at(9) = 2e30;
  arrays.v.values.at(3) = 1e31;
  arrays.x->values.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(problems_of(arrays),
            (std::vector<std::string>{"Q: element (1, 3, 5) is 1e+300, not within +-1e+30",
                                      "K: element (0, 0, 7) is -1e+160, not within +-1e+30 (and 1 "
                                      "more)",
                                      "V: element (0, 1, 0) is 1e+31, not within +-1e+30",
                                      "X: element (63, 31) is nan, not within +-1e+30"}));
}

TEST(HeadsFrom, RefusesWhatVanishes) {
  GivenArrays arrays = drawn_arrays();
  arrays.v = filled({2, 64, 1});
  for (double& value : arrays.v.values) value = value == 70 ? -2e-31 : value > 64 ? 1e-31 : 1;
  std::fill(arrays.k.values.begin() + 64 * 16, arrays.k.values.end(), 3);
  EXPECT_EQ(problems_of(arrays),
            (std::vector<std::string>{
                "V: the largest element of head 1 is 2e-31 in magnitude, below 1e-30",
                "K: every key of head 1 is the same: there is nothing to choose"}));
  arrays = drawn_arrays();
  std::fill_n(arrays.q.values.begin(), 32 * 16, 0);
  std::fill_n(arrays.x->values.begin(), 32 * 32, 0);
  EXPECT_EQ(
      problems_of(arrays),
      (std::vector<std::string>{
          "Q: every element of head 0 in the first 32 rows, which MAPLE is distilled on, is 0",
          "X: every element in the first 32 rows, which MAPLE is distilled on, is 0"}));
  arrays.x = std::nullopt;
  EXPECT_EQ(problems_of(arrays), std::vector<std::string>{"none"});
}

// Checks that every exact statement holds and every figure is finite.
void expect_sound(const GivenArrays& arrays, const std::string& what) {
  const auto study = given_heads_study(arrays, 1);
  ASSERT_TRUE(study) << what << ": " << study.error().front().what;
  for (const Statement& statement : study->statements)
    EXPECT_TRUE(statement.holds || !statement.exact) << what << ": " << statement.id;
  for (const Table& table : study->tables)
    for (const auto& row : table.rows)
      for (const Cell& cell : row)
        if (const double* value = std::get_if<double>(&cell.value())) {
          EXPECT_TRUE(std::isfinite(*value)) << what << ": " << table.id;
        }
  for (const Curve& curve : study->curves)
    for (const Line& line : curve.lines)
      for (const double y : line.y) EXPECT_TRUE(std::isfinite(y)) << what << ": " << curve.id;
}

// The largest below 1/2: at the limits, each by itself and against the others.
TEST(GivenHeads, StandElementsAtTheLimits) {
  const GivenArrays one = drawn_arrays();
  for (const double q : {1e-29, 1.0, 1e30})
    for (const double k : {1e-29, 1.0, 1e30})
      for (const double vx : {1e-29, 1.0, 1e30})
        expect_sound({.q = times(one.q, q),
                      .k = times(one.k, k),
                      .v = times(one.v, vx),
                      .x = times(*one.x, vx)},
                     fmt::format("Q {} K {} V, X {}", q, k, vx));
}

// Padding gives a query, a hidden state and a value of zeros, and constant channels.
TEST(GivenHeads, StandRowsAndColumnsOfZeros) {
  GivenArrays arrays = drawn_arrays();
  std::fill_n(arrays.q.values.begin() + 60 * 16, 16, 0);
  std::fill_n(arrays.v.values.begin() + 60 * 3, 3, 0);
  std::fill_n(arrays.x->values.begin() + 60 * 32, 32, 0);
  for (std::size_t i = 0; i < arrays.x->values.size(); ++i)
    if (i % 32 > 1) arrays.x->values[i] = 0;
  expect_sound(arrays, "zeros");
}

}  // namespace
}  // namespace tiersim::numerics::numerics_npy_test
