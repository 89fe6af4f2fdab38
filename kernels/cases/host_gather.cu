#include "kernels/cases/host_gather.hpp"

#include <cstring>

#include "kernels/cases/ceilings_inputs.cuh"
#include "kernels/device/host_gather.cuh"
#include "kernels/device/host_gather_work.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/copy.cuh"
#include "kernels/runtime/launch.cuh"

namespace tiersim::kernels {
namespace {

constexpr unsigned kUnroll = 8;
constexpr int kStages = 32;

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

// One set: the table on the host, the rows to fetch, and their destination.
struct Set {
  Set(const GatherShape& shape, std::uint64_t seed)
      : table(size(shape.table_rows * shape.row_bytes / 16), "table", shape.pages),
        chosen(distinct_numbers(shape.count, shape.table_rows, seed)),
        rows(chosen, "rows"),
        staging(size(shape.count * shape.row_bytes / 16), "staging"),
        gathered(shape.way == GatherWay::cpu ? staging.size() : 0, "gathered") {
    // The words of every row are distinct: random words of a row, shifted by the number of the row.
    const std::vector<std::uint32_t> words = random_words(size(shape.row_bytes / 4), seed);
    auto* all = reinterpret_cast<std::uint32_t*>(table.host());
    const auto fill = [&](std::int64_t first, std::int64_t last) {
      std::uint32_t* next = all + size(first) * words.size();
      for (std::int64_t row = first; row < last; ++row) {
        for (const std::uint32_t word : words)
          *next++ = word + static_cast<std::uint32_t>(row) * 977U;
      }
    };
    in_parallel(shape.table_rows, fill, (1 << 20) / shape.row_bytes);
  }

  PinnedArray<uint4> table;
  std::vector<int> chosen;
  DeviceArray<int> rows;
  DeviceArray<uint4> staging;
  PinnedArray<uint4> gathered;
  std::function<void()> gather_on_host;
  std::vector<const void*> from;  // batch, page: source of each copy
  std::vector<void*> to;
  std::vector<std::size_t> bytes;
};

void copy_batch(Stream& stream, Set& set) {
#if TS_ON_CARD
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  TS_CARD(cudaMemcpyBatchAsync(set.to.data(), set.from.data(), set.bytes.data(), set.to.size(),
                               &attributes, &first, 1, stream.native()));
#else
  for (std::size_t i = 0; i < set.to.size(); ++i)
    copy(stream, set.to[i], set.from[i], set.bytes[i]);
#endif
}

class HostGather final : public Case {
 public:
  explicit HostGather(const GatherShape& shape) : shape_(shape) {}
  CaseInfo info() const override {
    return {"host_gather",
            "gather",
            name_of(shape_.way),
            "bytes",
            {{"row_bytes", shape_.row_bytes},
             {"table_rows", shape_.table_rows},
             {"rows", shape_.count},
             {"blocks", shape_.blocks},
             {"huge_pages", shape_.pages == HostPages::huge ? 1 : 0}},
            false};
  }
  Work work() const override {
    const std::int64_t reads = shape_.way == GatherWay::loads  ? shape_.row_bytes / 16
                               : shape_.way == GatherWay::bulk ? 1
                                                               : 0;
    return host_gather_work(shape_.count, shape_.row_bytes, reads);
  }
  std::vector<LaunchUse> launches() const override {
    if (shape_.way == GatherWay::loads) {
      return {{"gather_loads<8>", reinterpret_cast<const void*>(&gather_loads<kUnroll>),
               shape_.blocks, threads(), 0, std::int64_t{16} * kUnroll * threads()}};
    }
    if (shape_.way == GatherWay::bulk) {
      return {{"gather_bulk<32>", reinterpret_cast<const void*>(&gather_bulk<kStages>),
               shape_.blocks, kWarp, BulkRing<kStages>::shared_bytes(row_bytes()),
               kStages * shape_.row_bytes}};
    }
    return {};
  }
  std::int64_t set_bytes() const override {
    return (shape_.table_rows + shape_.count) * shape_.row_bytes;
  }
  void prepare(int sets, std::uint64_t seed) override {
    for (int i = 0; i < sets; ++i) {
      sets_.push_back(std::make_unique<Set>(shape_, seed + static_cast<std::uint64_t>(i)));
      Set& set = *sets_.back();
      const std::int64_t units = shape_.row_bytes / 16;
      for (std::int64_t row = 0; row < shape_.count; ++row) {
        set.from.push_back(set.table.host() + set.chosen[size(row)] * units);
        set.to.push_back(set.staging.data() + row * units);
        set.bytes.push_back(size(shape_.row_bytes));
      }
      set.gather_on_host = [&set, units] {
        for (std::size_t row = 0; row < set.from.size(); ++row) {
          std::memcpy(set.gathered.host() + static_cast<std::int64_t>(row) * units, set.from[row],
                      set.bytes[row]);
        }
      };
    }
  }
  void enqueue(Stream& stream, int which) override {
    Set& set = *sets_[size(which)];
    const auto units = static_cast<int>(shape_.row_bytes / 16);
    const dim3 blocks(static_cast<unsigned>(shape_.blocks));
    const int* rows = set.rows.data();
    const uint4* table = set.table.device();
    switch (shape_.way) {
      case GatherWay::loads:
        launch(stream, &gather_loads<kUnroll>, {blocks, dim3(static_cast<unsigned>(threads()))},
               table, rows, shape_.count, units, set.staging.data());
        return;
      case GatherWay::bulk:
        launch(stream, &gather_bulk<kStages>,
               {blocks, dim3(kWarp), size(BulkRing<kStages>::shared_bytes(row_bytes()))}, table,
               rows, shape_.count, units, set.staging.data());
        return;
      case GatherWay::batch:
        return copy_batch(stream, set);
      case GatherWay::cpu:
        host_work(stream, set.gather_on_host);
        return copy(stream, set.staging.data(), set.gathered.host(), set.staging.bytes());
      case GatherWay::page:
        for (std::size_t i = 0; i < set.to.size(); ++i) {
          copy(stream, set.to[i], set.from[i], set.bytes[i]);
        }
        return;
    }
  }
  Agreement check(int which) override {
    const Set& set = *sets_[size(which)];
    const std::vector<uint4> got = set.staging.download();
    const std::int64_t units = shape_.row_bytes / 16;
    Agreement agreement{0, 0, shape_.count};
    for (std::int64_t row = 0; row < shape_.count; ++row) {
      if (std::memcmp(got.data() + row * units, set.from[size(row)], size(shape_.row_bytes)) != 0) {
        ++agreement.error;
      }
    }
    return agreement;
  }

 private:
  int row_bytes() const { return static_cast<int>(shape_.row_bytes); }
  int threads() const { return TS_ON_CARD ? kGatherThreads : kWarp; }

  GatherShape shape_;
  std::vector<std::unique_ptr<Set>> sets_;
};

void add(CaseList& cases, const GatherShape& shape) {
  std::string name = "host_gather.gather." + name_of(shape.way) + ".row" +
                     size_name(shape.row_bytes) + "." + size_name(shape.row_bytes * shape.count);
  if (shape.table_rows != 4 * shape.count) {
    name += ".of" + size_name(shape.row_bytes * shape.table_rows);
  }
  if (shape.pages == HostPages::huge) name += ".huge_pages";
  if (shape.blocks > 0) name += ".blocks" + std::to_string(shape.blocks);
  // A batch of copies is one call, which no graph can capture.
  cases.push_back(
      {name, [shape] { return make_host_gather(shape); }, false, shape.way != GatherWay::batch});
}

}  // namespace

std::string name_of(GatherWay way) {
  switch (way) {
    case GatherWay::loads:
      return "loads";
    case GatherWay::bulk:
      return "bulk";
    case GatherWay::batch:
      return "batch";
    case GatherWay::cpu:
      return "cpu";
    case GatherWay::page:
      break;
  }
  return "page";
}

std::unique_ptr<Case> make_host_gather(const GatherShape& shape) {
  return std::make_unique<HostGather>(shape);
}

// A quarter of the rows of a table, as in MAPLE (rows of 128 bf16), or pages of 64 KB.
void add_host_gather_cases(CaseList& cases, Sizes sizes) {
  const bool toy = sizes == Sizes::toy;
  const auto rows_of = [&](std::int64_t row_bytes, std::int64_t megabytes) {
    return toy ? 37 : (megabytes << 20) / row_bytes;
  };
  for (const std::int64_t row :
       toy ? std::vector<std::int64_t>{32, 256} : std::vector<std::int64_t>{256, 512, 4096}) {
    for (const std::int64_t megabytes :
         toy ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{4, 64, 512}) {
      const std::int64_t count = rows_of(row, megabytes);
      for (const GatherWay way : {GatherWay::loads, GatherWay::bulk}) {
        if (megabytes == 512 && row != 256) continue;  // making 2 GB takes longer than timing it
        const bool large = megabytes == 512;
        for (const int blocks : toy     ? std::vector<int>{3}
                                : large ? std::vector<int>{64}
                                        : std::vector<int>{16, 64}) {
          add(cases, {way, row, 4 * count, count, blocks});
        }
      }
      if (toy || megabytes == 64) add(cases, {GatherWay::cpu, row, 4 * count, count, 0});
      if (toy || megabytes == 4) add(cases, {GatherWay::batch, row, 4 * count, count, 0});
    }
  }
  // Rows of larger tables, whose addresses may be too many for what translates them
  const std::int64_t count = toy ? 37 : rows_of(256, 64);
  for (const std::int64_t share :
       toy ? std::vector<std::int64_t>{8} : std::vector<std::int64_t>{8, 16, 32, 64}) {
    for (const HostPages pages : {HostPages::driver, HostPages::huge}) {
      if (!toy && pages == HostPages::huge && share != 32) continue;
      add(cases, {GatherWay::loads, 256, share * count, count, toy ? 3 : 64, pages});
    }
  }
  const std::int64_t page = toy ? 512 : 64 << 10;
  const std::int64_t pages = toy ? 5 : 1024;
  add(cases, {GatherWay::page, page, 4 * pages, pages, 0});
}

}  // namespace tiersim::kernels
