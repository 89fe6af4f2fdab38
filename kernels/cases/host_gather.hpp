// Rows of a key-value cache in pinned host memory, fetched in five ways into staging:
//   loads  16 B loads of a kernel          bulk     bulk copies of a kernel, one for each row
//   batch  copies of the driver, one for each row, in one call; the host knows the rows
//   cpu    gathered by the host into pinned staging, then one copy
//   page   whole pages by the copy engine, for methods that choose pages instead of rows
#pragma once
#include "kernels/cases/case.hpp"
#include "kernels/runtime/array.cuh"

namespace tiersim::kernels {

void add_host_gather_cases(CaseList& cases, Sizes sizes);

enum class GatherWay { loads, bulk, batch, cpu, page };
struct GatherShape {
  GatherWay way = GatherWay::loads;
  std::int64_t row_bytes = 256;  // page: bytes of a page
  std::int64_t table_rows = 0;
  std::int64_t count = 0;  // number of distinct rows, at most table_rows
  int blocks = 0;          // of the kernels
  HostPages pages = HostPages::driver;
};
std::unique_ptr<Case> make_host_gather(const GatherShape& shape);
std::string name_of(GatherWay way);

}  // namespace tiersim::kernels
