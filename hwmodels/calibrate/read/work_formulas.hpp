#pragma once
// Bytes and FLOPs of a launch as formulas of its sizes: those of the kernels of kernels/, each by
// its name, and those of a family of kernels, for the kernels of a user. check_work.cpp holds the
// rows of a file to them.
//
//  for (const WorkFormula& formula : work_formulas()) ... formula.memory_bytes.front() ...
//
// Names in a formula (sim/expression) are sizes of the shape, `values` above, and
// - element: bytes of the operand type;
// - id_bytes: 2 or 4, of the variants that end in u16 and i32;
// - number1, number2: the numbers in the variant, "64" and "128" of "wide64x128";
// - paged: 1 where the name of the case says so, else 0.
// Formulas of named kernels are those of kernels/device/*_work.hpp at equal lengths of all
// sequences; tests/kernels/resources compares them for every timed case.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tiersim {

struct WorkFormula {
  std::string_view name = {};     ///< of a kernel; of a family: as KernelFamily spells it
  bool family = false;            ///< true: for kernels that a user maps to the family `name`
  std::string_view variant = {};  ///< beginning of the variants that it is for; empty: all
  std::vector<std::pair<std::string_view, std::string_view>> values = {};
  /// Read and written in the GPU's memory; any of these.
  std::vector<std::string_view> memory_bytes = {};
  /// Not empty: any number from memory_bytes.front() to this one.
  std::string_view memory_most = {};
  std::string_view link_read_bytes = "0";
  std::string_view link_write_bytes = "0";
  std::string_view flops = {};  ///< as executed
  /// Sizes that a kernel may pad to whole tiles: FLOPs may count a multiple of 8 to 256 instead.
  std::vector<std::string_view> padded = {};
};

std::span<const WorkFormula> work_formulas();

/// Sizes by which the formula tells bytes and FLOPs, ascending.
std::vector<std::string> sizes_of(const WorkFormula& formula);

/// The formula for a kernel, of its own or of the family that it is mapped to ("" for none); null
/// where none is stated.
const WorkFormula* find_work_formula(std::string_view kernel, std::string_view variant,
                                     std::string_view family);

}  // namespace tiersim
