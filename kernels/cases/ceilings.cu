#include "kernels/cases/ceilings.hpp"

#include "kernels/cases/ceilings_inputs.cuh"
#include "kernels/device/ceilings.cuh"
#include "kernels/device/ceilings_work.hpp"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {
namespace {

constexpr unsigned kUnroll = 4;

// Blocks and threads of a case: a full card, or few for the emulator.
struct Grid {
  int blocks = 0;
  int threads = 0;
  std::int64_t all() const { return static_cast<std::int64_t>(blocks) * threads; }
  Geometry geometry() const {
    return {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads))};
  }
};
Grid full_grid(Sizes sizes) {
  return sizes == Sizes::toy ? Grid{2, 64} : Grid{4 * 132, kSumThreads};  // an H200's 132 x 2048
}

LaunchUse use_of(const std::string& kernel, const void* function, Grid grid) {
  return {kernel,       function, grid.blocks,
          grid.threads, 0,        16 * std::int64_t{kUnroll} * grid.threads};
}

class CopyCase final : public Case {
 public:
  CopyCase(std::int64_t bytes, Grid grid) : bytes_(bytes), grid_(grid) {}
  CaseInfo info() const override {
    return {"ceiling", "device_copy", "loads", "int32", {{"bytes", bytes_}}, false};
  }
  Work work() const override { return device_copy_work(bytes_); }
  std::vector<LaunchUse> launches() const override {
    return {use_of("device_copy<4>", reinterpret_cast<const void*>(&device_copy<kUnroll>), grid_)};
  }
  std::int64_t set_bytes() const override { return 2 * bytes_; }
  void prepare(int sets, std::uint64_t seed) override {
    for (int set = 0; set < sets; ++set) {
      from_.emplace_back(bytes_, false, seed + static_cast<std::uint64_t>(set));
      to_.emplace_back(static_cast<std::size_t>(bytes_ / 16), "copy");
    }
  }
  void enqueue(Stream& stream, int set) override {
    const auto s = static_cast<std::size_t>(set);
    launch(stream, &device_copy<kUnroll>, grid_.geometry(), from_[s].data(), to_[s].data(),
           from_[s].units());
  }
  Agreement check(int set) override {
    const auto s = static_cast<std::size_t>(set);
    const std::vector<uint4> got = to_[s].download();
    Agreement agreement{0, 0, static_cast<std::int64_t>(got.size())};
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i].x + got[i].y + got[i].z + got[i].w != from_[s].sum(i)) ++agreement.error;
    }
    return agreement;
  }

 private:
  std::int64_t bytes_;
  Grid grid_;
  std::vector<Units> from_;
  std::vector<DeviceArray<uint4>> to_;
};

// Reads of `read_bytes` from a table: all of it (row_bytes 0) or rows by number.
struct ReadPlan {
  std::string kernel, variant;
  std::int64_t row_bytes = 0;
  std::int64_t table_bytes = 0;
  std::int64_t read_bytes = 0;
  bool over_link = false;
  Grid grid;
};
using RowKernel = void (*)(const uint4*, const int*, std::int64_t, unsigned*);

RowKernel row_kernel(std::int64_t row_bytes) {
  switch (row_bytes) {
    case 32:
      return &row_gather<32, kUnroll>;
    case 64:
      return &row_gather<64, kUnroll>;
    case 128:
      return &row_gather<128, kUnroll>;
    case 256:
      return &row_gather<256, kUnroll>;
    case 512:
      return &row_gather<512, kUnroll>;
    case 1024:
      return &row_gather<1024, kUnroll>;
    case 4096:
      return &row_gather<4096, kUnroll>;
    default:
      throw std::invalid_argument("no row_gather of this row");
  }
}

class ReadCase final : public Case {
 public:
  explicit ReadCase(ReadPlan plan) : plan_(std::move(plan)) {}
  CaseInfo info() const override {
    return {"ceiling",
            plan_.kernel,
            plan_.variant,
            "int32",
            {{"row_bytes", plan_.row_bytes},
             {"table_bytes", plan_.table_bytes},
             {"read_bytes", plan_.read_bytes},
             {"blocks", plan_.grid.blocks}},
            false};
  }
  Work work() const override {
    if (plan_.row_bytes == 0) {
      return read_sum_work(plan_.read_bytes, plan_.grid.all(), plan_.over_link);
    }
    return row_gather_work(plan_.row_bytes, count(), plan_.grid.all(), plan_.over_link);
  }
  std::vector<LaunchUse> launches() const override {
    if (plan_.row_bytes == 0) {
      return {use_of("read_sum<4>", reinterpret_cast<const void*>(&read_sum<kUnroll>), plan_.grid)};
    }
    return {use_of("row_gather<" + std::to_string(plan_.row_bytes) + ", 4>",
                   reinterpret_cast<const void*>(row_kernel(plan_.row_bytes)), plan_.grid)};
  }
  std::int64_t set_bytes() const override { return plan_.table_bytes; }
  void prepare(int sets, std::uint64_t seed) override {
    for (int i = 0; i < sets; ++i) {
      const std::uint64_t set_seed = seed + static_cast<std::uint64_t>(i);
      Set set{Units(plan_.table_bytes, plan_.over_link, set_seed),
              {},
              nullptr,
              DeviceArray<unsigned>(static_cast<std::size_t>(plan_.grid.all()), "sums")};
      if (plan_.row_bytes > 0) {
        set.rows = distinct_numbers(count(), plan_.table_bytes / plan_.row_bytes, set_seed);
        set.device_rows = std::make_unique<DeviceArray<int>>(set.rows, "rows");
      }
      sets_.push_back(std::move(set));
    }
  }
  void enqueue(Stream& stream, int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    if (plan_.row_bytes == 0) {
      launch(stream, &read_sum<kUnroll>, plan_.grid.geometry(), s.table.data(), s.table.units(),
             s.sums.data());
    } else {
      launch(stream, row_kernel(plan_.row_bytes), plan_.grid.geometry(), s.table.data(),
             static_cast<const int*>(s.device_rows->data()), count(), s.sums.data());
    }
  }
  Agreement check(int set) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    std::uint32_t expected = 0;
    if (plan_.row_bytes == 0) {
      for (std::int64_t u = 0; u < s.table.units(); ++u) {
        expected += s.table.sum(static_cast<std::size_t>(u));
      }
    }
    const std::int64_t units = plan_.row_bytes / 16;
    for (const int row : s.rows) {
      for (std::int64_t u = 0; u < units; ++u) {
        expected += s.table.sum(static_cast<std::size_t>(row * units + u));
      }
    }
    std::uint32_t got = 0;
    for (const unsigned sum : s.sums.download()) got += sum;
    return {got == expected ? 0.0 : 1.0, 0, plan_.grid.all()};
  }

 private:
  struct Set {
    Units table;
    std::vector<int> rows;
    std::unique_ptr<DeviceArray<int>> device_rows;
    DeviceArray<unsigned> sums;
  };
  std::int64_t count() const { return plan_.read_bytes / plan_.row_bytes; }

  ReadPlan plan_;
  std::vector<Set> sets_;
};

// One thread follows one pointer: a cycle through every line of a table of `steps` lines.
class ChaseCase final : public Case {
 public:
  ChaseCase(int steps, bool over_link) : steps_(steps), over_link_(over_link) {}
  CaseInfo info() const override {
    return {"ceiling", "pointer_chase",     over_link_ ? "host" : "device",
            "int32",   {{"steps", steps_}}, false};
  }
  Work work() const override { return pointer_chase_work(steps_, over_link_); }
  std::vector<LaunchUse> launches() const override {
    return {{"pointer_chase<32>", reinterpret_cast<const void*>(&pointer_chase<kChaseStride>), 1, 1,
             0, 4}};
  }
  std::int64_t set_bytes() const override { return std::int64_t{4} * kChaseStride * steps_; }
  void prepare(int sets, std::uint64_t seed) override {
    for (int set = 0; set < sets; ++set) {
      const std::vector<int> order =
          distinct_numbers(steps_, steps_, seed + static_cast<std::uint64_t>(set));
      std::vector<unsigned> next(static_cast<std::size_t>(steps_) * kChaseStride, 0);
      // The walk starts at line 0 and returns to it, so the order is rotated until 0 is first.
      std::size_t zero = 0;
      while (order[zero] != 0) ++zero;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const int to = order[(zero + i + 1) % order.size()];
        next[static_cast<std::size_t>(order[(zero + i) % order.size()]) * kChaseStride] =
            static_cast<unsigned>(to);
      }
      if (over_link_) {
        pinned_.emplace_back(next.size(), "chain");
        std::memcpy(pinned_.back().host(), next.data(), pinned_.back().bytes());
      } else {
        device_.emplace_back(next, "chain");
      }
      last_.emplace_back(std::size_t{1}, "last");
    }
  }
  void enqueue(Stream& stream, int set) override {
    const auto s = static_cast<std::size_t>(set);
    const unsigned* next = over_link_ ? pinned_[s].device() : device_[s].data();
    launch(stream, &pointer_chase<kChaseStride>, {dim3(1), dim3(1)}, next, steps_, last_[s].data());
  }
  Agreement check(int set) override {
    const unsigned last = last_[static_cast<std::size_t>(set)].download().front();
    return {last == 0 ? 0.0 : 1.0, 0, 1};  // a whole cycle ends at its start
  }

 private:
  int steps_;
  bool over_link_;
  std::vector<PinnedArray<unsigned>> pinned_;
  std::vector<DeviceArray<unsigned>> device_;
  std::vector<DeviceArray<unsigned>> last_;
};

void add_read(CaseList& cases, const ReadPlan& plan, bool warm_too) {
  std::string name = "ceiling." + plan.kernel + "." + plan.variant + ".";
  if (plan.row_bytes > 0) name += "row" + size_name(plan.row_bytes) + ".";
  name += size_name(plan.read_bytes) + ".blocks" + std::to_string(plan.grid.blocks);
  cases.push_back({name, [plan] { return std::make_unique<ReadCase>(plan); }, warm_too});
}

}  // namespace

void add_ceilings_memory_cases(CaseList& cases, Sizes sizes) {
  const bool toy = sizes == Sizes::toy;
  const Grid grid = full_grid(sizes);
  // Toy: 48 B stand for a MB
  const auto mb = [toy](std::int64_t n) { return toy ? n * 48 : n << 20; };
  for (const std::int64_t n :
       toy ? std::vector<std::int64_t>{32, 256} : std::vector<std::int64_t>{1, 32, 256, 2048}) {
    cases.push_back({"ceiling.device_copy.loads." + size_name(mb(n)),
                     [bytes = mb(n), grid] { return std::make_unique<CopyCase>(bytes, grid); }});
    add_read(cases, {"read_sum", "device", 0, mb(n), mb(n), false, grid}, n == 1 || n == 32);
  }
  for (const std::int64_t row : {32, 64, 128, 256, 512, 1024, 4096}) {
    const std::int64_t read = toy ? 3 * row : mb(128);
    add_read(cases, {"row_gather", "device", row, 8 * read, read, false, grid}, false);
  }
  for (const int blocks : toy ? std::vector<int>{2} : std::vector<int>{8, 32, 132}) {
    const Grid few = {blocks, grid.threads};
    for (const std::int64_t row : {256, 4096}) {
      const std::int64_t read = toy ? 3 * row : mb(64);
      add_read(cases, {"host_load", "link", row, 4 * read, read, true, few}, false);
    }
    add_read(cases, {"host_load", "link", 0, mb(64), mb(64), true, few}, false);
  }
  const int steps = toy ? 16 : 2048;
  for (const bool over_link : {false, true}) {
    cases.push_back({std::string("ceiling.pointer_chase.") + (over_link ? "host." : "device.") +
                         std::to_string(steps),
                     [steps, over_link] { return std::make_unique<ChaseCase>(steps, over_link); },
                     !over_link});
  }
}

void add_ceilings_cases(CaseList& cases, Sizes sizes) {
  add_ceilings_memory_cases(cases, sizes);
  add_ceilings_link_cases(cases, sizes);
  add_ceilings_gemm_cases(cases, sizes);
}

}  // namespace tiersim::kernels
