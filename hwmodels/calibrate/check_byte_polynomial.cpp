// Bytes of sizes, where they are no plain product: a sum of products of sizes, each at most once
// (rows of keys, and what each sequence adds). Where all cases of a kernel but one obey such a sum
// exactly, with at least three more cases than it has terms, that one is wrong.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <Eigen/QR>

#include "hwmodels/calibrate/timing_checks.hpp"

namespace tiersim::detail {
namespace {

// Bytes are whole, so that a wrong one is off by more; a least-squares solution of whole numbers
// below 1e12, each equation divided by its bytes, is good to 1e-9 here.
constexpr double kExact = 1e-7;
constexpr std::size_t kProof = 3;      // cases beyond the terms
constexpr std::size_t kMostSizes = 4;  // that vary: 16 terms

struct Group {
  std::vector<std::size_t> cases;
  std::vector<std::string> sizes;  // that vary
};

// The products of every subset of the sizes that vary.
Eigen::VectorXd terms(const TimingCase& timing, const std::vector<std::string>& sizes) {
  const auto count = static_cast<Eigen::Index>(1) << sizes.size();
  Eigen::VectorXd out(count);
  for (Eigen::Index subset = 0; subset < count; ++subset) {
    out[subset] = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if ((subset >> i & 1) != 0) out[subset] *= static_cast<double>(timing.shape.at(sizes[i]));
    }
  }
  return out;
}

// The bytes that the others give case `index`; nothing where they obey no such sum, or are too few.
std::optional<double> bytes_by_others(const TimingSet& timings, const Group& group,
                                      std::size_t index) {
  const auto columns = static_cast<Eigen::Index>(1) << group.sizes.size();
  const auto rows = static_cast<Eigen::Index>(group.cases.size() - 1);
  Eigen::MatrixXd left(rows, columns);
  Eigen::Index row = 0;
  Eigen::VectorXd scale = Eigen::VectorXd::Zero(columns);
  for (const std::size_t other : group.cases) {
    if (other == index) continue;
    const TimingCase& timing = timings.cases[other];
    left.row(row) = terms(timing, group.sizes) / timing.work.memory_bytes;
    scale = scale.cwiseMax(left.row(row).transpose().cwiseAbs());
    ++row;
  }
  const Eigen::VectorXd right = Eigen::VectorXd::Ones(rows);
  const Eigen::MatrixXd scaled = left * scale.cwiseInverse().asDiagonal();
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(scaled);
  if (rows < solver.rank() + static_cast<Eigen::Index>(kProof)) return std::nullopt;
  const Eigen::VectorXd weights = solver.solve(right);
  if ((scaled * weights - right).cwiseAbs().maxCoeff() > kExact) return std::nullopt;
  // Where the case itself adds a term that no other shows, nothing says its weight.
  const Eigen::VectorXd own =
      terms(timings.cases[index], group.sizes).cwiseProduct(scale.cwiseInverse());
  Eigen::MatrixXd all(rows + 1, columns);
  all << scaled, own.transpose() / own.cwiseAbs().maxCoeff();
  if (Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(all).rank() > solver.rank()) return std::nullopt;
  return own.dot(weights);
}

Group with_varying_sizes(const TimingSet& timings, std::vector<std::size_t> cases) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const std::size_t index : cases) {
    for (const auto& [name, size] : timings.cases[index].shape) values[name].insert(size);
  }
  Group group;
  group.cases = std::move(cases);
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1) group.sizes.push_back(name);
  }
  return group;
}

void check_group(const TimingSet& timings, const Group& group, Findings& findings) {
  if (group.sizes.empty() || group.sizes.size() > kMostSizes) return;
  std::optional<std::size_t> wrong;
  double expected = 0;
  for (const std::size_t index : group.cases) {
    const auto bytes = bytes_by_others(timings, group, index);
    if (!bytes) continue;
    const double stated = timings.cases[index].work.memory_bytes;
    if (std::abs(*bytes - stated) <= kExact * stated) return;  // all obey it
    if (wrong) return;                                         // either may be the wrong one
    wrong = index;
    expected = *bytes;
  }
  if (!wrong || expected <= 0) return;
  const TimingCase& timing = timings.cases[*wrong];
  const std::string told = fmt::format(
      "{} other sizes obey one formula exactly, which gives {:.0f} B here; it says {:.0f} B",
      group.cases.size() - 1, expected, timing.work.memory_bytes);
  const auto slip = byte_slip(timing.work.memory_bytes / expected, element_bytes(timing.dtype));
  if (slip) findings.refuse(*wrong, slip->rule, told + ", " + slip->what);
  if (!slip) findings.warn(*wrong, "bytes against sizes", told);
}

}  // namespace

void check_byte_polynomials(const TimingSet& timings, Findings& findings) {
  using Key = std::tuple<std::string, std::string, std::string, std::vector<std::string>>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < timings.cases.size(); ++i) {
    const TimingCase& timing = timings.cases[i];
    const auto said = [&](const char* rule) { return findings.refused_for(i, rule); };
    const bool known = said("elements for bytes") || said("bits for bytes") ||
                       said("KB against KiB") || said("duplicate");
    if (known || timing.work.memory_bytes <= 0) continue;
    std::vector<std::string> names;
    for (const auto& [name, size] : timing.shape) names.push_back(name);
    groups[{timing.kernel, timing.variant, timing.dtype, names}].push_back(i);
  }
  for (auto& [key, cases] : groups) {
    check_group(timings, with_varying_sizes(timings, std::move(cases)), findings);
  }
}

}  // namespace tiersim::detail
