#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>

#include "sim/sweep/store.hpp"
#include "tests/fuzz/readers/readers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tiersim::fuzz {
namespace {

namespace fs = std::filesystem;

// A whole sweep of few points, as a program leaves it, which edits can damage and mend again.
class Store {
 public:
  Store() {
    write();
    std::ifstream in(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }

  const fs::path& path() const { return path_; }

  /// Each four bytes of `edits` are a place, three bytes long, and its new byte.
  void edit(std::string_view edits) {
    std::string bytes = bytes_;
    constexpr std::size_t kEdit = 4;
    for (; edits.size() >= kEdit; edits.remove_prefix(kEdit)) {
      std::size_t at = 0;
      for (std::size_t i = 0; i + 1 < kEdit; ++i)
        at = at << 8U | static_cast<unsigned char>(edits[i]);
      bytes[at % bytes.size()] = edits[kEdit - 1];
    }
    for (const char* more : {"-wal", "-shm", "-journal"}) fs::remove(path_.string() + more);
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  void write() const {
    {
      SweepStore store(path_, SweepStore::Access::write);
      StoredSweep sweep{.name = "s",
                        .file = "s.yaml",
                        .digest = "d1",
                        .spec = "{}",
                        .version = "1",
                        .extent = "times/metrics",
                        .columns = {{.name = "context", .key = "step.context", .numeric = true}},
                        .points = 3};
      sweep.sweep = store.add(sweep, {{Point{"a.yaml", {}}, R"({"name":"a"})"}});
      for (std::int64_t position = 0; position < *sweep.points; ++position)
        write_point(store, sweep, position);
      store.end_writing();
    }
    compact(path_);
  }

  static void write_point(SweepStore& store, const StoredSweep& sweep, std::int64_t position) {
    const std::string context = std::to_string(1024 << position);
    const bool fits = position < 2;
    const StoredPoint point{
        .point = {.position = position,
                  .scenario = "a.yaml",
                  .set = {"step.context=" + context},
                  .labels = {context}},
        .outcome = {
            .id = std::string(63, 'a') + std::to_string(position),
            .status = fits ? PointStatus::ok : PointStatus::infeasible,
            .problem = fits ? "" : "too large",
            .results = fits ? R"({"metrics":{"bound_s":{"value":2.5,"unit":"s","class":"fitted"}}})"
                            : ""}};
    store.write(sweep, {&point, 1});
  }

  testing::TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "s.db";
  std::string bytes_;
};

// True unless the store refuses.
template <class Use>
bool works(const fs::path& path, const Use& use) {
  try {
    use();
    return true;
  } catch (const StoreError& refused) {
    promise(std::string_view(refused.what()).find(path.string()) == 0, "refused without its file");
    return false;
  }
}

}  // namespace

void read_store(std::string_view edits) {
  static Store store;
  store.edit(edits);
  const fs::path& path = store.path();
  (void)SweepStore::is_store(path);
  std::optional<SweepStore> opened;
  if (!works(path, [&] { opened.emplace(path, SweepStore::Access::read); })) return;
  SweepStore& s = *opened;
  const bool whole = works(path, [&] { s.expect_whole(); });
  const bool read = works(path, [&] {
    for (const StoredSweep& sweep : s.sweeps())
      s.for_each(sweep, [](const StoredPoint&) { return true; });
  });
  promise(read || !whole, "a store that is whole does not read");
  (void)works(path, [&] {
    for (const StoredSweep& sweep : s.sweeps()) {
      (void)s.inputs(sweep.sweep);
      (void)s.counts(sweep.sweep);
      s.ids(sweep, [](const std::string&) {});
      s.done(sweep.sweep, true,
             [&](std::int64_t at) { (void)s.result(sweep, s.id_of(sweep, at)); });
      (void)s.first(sweep, PointStatus::infeasible);
    }
  });
}

}  // namespace tiersim::fuzz
