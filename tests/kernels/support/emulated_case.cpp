#include "tests/kernels/support/emulated_case.hpp"

#include <gtest/gtest.h>

#include <array>

#include "kernels/emulator/launch.hpp"
#include "kernels/runtime/stream.cuh"

namespace tiersim::kernels {
namespace {

using emulator::Landing;
using emulator::Options;
using emulator::Order;

constexpr std::array<Options, 6> kSchedules = {{
    {Order::in_order, Landing::late, 1},
    {Order::in_order, Landing::early, 1},
    {Order::shuffled, Landing::mixed, 2},
    {Order::greedy_warp, Landing::late, 3},
    {Order::greedy_warp, Landing::early, 4},
    {Order::greedy_warp, Landing::mixed, 5},
}};

Agreement run(Case& subject, const Options& options) {
  const EmulatorOptions scope(options);
  subject.prepare(1, options.seed);
  emulator::machine().memory.clear();
  Stream stream;
  subject.enqueue(stream, 0);
  stream.synchronize();
  return subject.check(0);
}

void expect_counts(const Work& work) {
  const emulator::Traffic& counted = emulator::machine().memory.traffic();
  EXPECT_EQ(work.read_bytes, counted.read_bytes);
  EXPECT_EQ(work.written_bytes, counted.written_bytes);
  EXPECT_EQ(work.link_read_bytes, counted.link_read_bytes);
  EXPECT_EQ(work.link_written_bytes, counted.link_written_bytes);
  EXPECT_EQ(work.requested_bytes, counted.requested_bytes);
  EXPECT_EQ(work.issued_flops, counted.flops());
  EXPECT_LE(work.flops, work.issued_flops);
}

}  // namespace

EmulatorOptions::EmulatorOptions(const Options& options) : before_(emulator::machine().options) {
  emulator::machine().options = options;
}

EmulatorOptions::~EmulatorOptions() {
  emulator::machine().options = before_;
}

Agreement expect_right_under(const MakeCase& make, const Options& options) {
  SCOPED_TRACE("order " + std::to_string(static_cast<int>(options.order)) + ", landing " +
               std::to_string(static_cast<int>(options.landing)) + ", seed " +
               std::to_string(options.seed));
  const std::unique_ptr<Case> subject = make();
  Agreement agreement;
  try {
    agreement = run(*subject, options);
  } catch (const emulator::KernelFailure& failure) {
    ADD_FAILURE() << failure.what();
    return agreement;
  }
  EXPECT_TRUE(agreement.holds()) << "error " << agreement.error << ", tolerance "
                                 << agreement.tolerance << ", compared " << agreement.compared;
  expect_counts(subject->work());
  return agreement;
}

void expect_right_and_counted(const MakeCase& make) {
  for (const Options& options : kSchedules) expect_right_under(make, options);
}

bool is_caught(const MakeCase& make) {
  for (const Options& options : kSchedules) {
    const std::unique_ptr<Case> subject = make();
    try {
      if (!run(*subject, options).holds()) return true;
    } catch (const emulator::KernelFailure&) {
      return true;
    }
  }
  return false;
}

}  // namespace tiersim::kernels
