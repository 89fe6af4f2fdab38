// Check of pairs of cases of one kernel whose times contradict each other. The case with the most
// contradictions is refused first, until none is left.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/timing_checks.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::detail {
namespace {

// Margin where the work grows: the share of its clock that a power limit may take.
constexpr double kSlowerWhenLong = 0.50;
// A larger factor is a slip of a unit rather than noise.
constexpr double kNeighbourSlip = 30;

// True for sizes that spread the work over the device and do not change its amount.
bool spreads(const std::string& size) {
  static constexpr std::array<std::string_view, 8> kSpreading{
      "blocks", "splits", "threads", "warps", "stages", "streams", "nodes", "ranks"};
  return std::ranges::find(kSpreading, size) != kSpreading.end();
}

bool decides_pattern(const std::string& size) {
  return std::ranges::find(kPatternSizes, size) != kPatternSizes.end();
}

double rounded(double factor) {
  return factor >= 10 ? std::round(factor) : std::round(factor * 100) / 100;
}

// The cases of one kernel that may be compared.
class Group {
 public:
  Group(const TimingSet& timings, std::vector<std::size_t> members, double errors)
      : timings_(timings), members_(std::move(members)), errors_(errors) {}

  struct Pair {
    std::size_t slow = 0;  // its time is longer than the other allows
    std::size_t fast = 0;
    double ratio = 0;
    double over = 0;  // in the logarithm, beyond noise and model; negative within them
    double beyond_noise = 0;
    bool doubtful = false;  // beyond noise, within the model
  };

  // The excess of `slow` over the time that `fast` allows; empty where they cannot be compared.
  std::optional<Pair> compare(const TimingCase& slow, const TimingCase& fast) const {
    if (!comparable(slow, fast)) return std::nullopt;
    const double ratio = work_ratio(slow, fast);
    const double beyond = excess(slow, fast, ratio, timings_.l2_bytes);
    if (!std::isfinite(beyond)) return std::nullopt;
    const double a = log_noise(slow);
    const double b = log_noise(fast);
    const double noise = errors_ * std::sqrt(a * a + b * b);
    const double model = portable_log(1 + (ratio > 1 ? kSlowerWhenLong : kModelMargin));
    Pair pair;
    pair.ratio = ratio;
    pair.over = beyond - noise - model;
    pair.beyond_noise = beyond - noise;
    const bool apart = slow.low > fast.high * std::max(1.0, ratio);
    if (!apart) pair.over = std::min(pair.over, 0.0);
    pair.doubtful = apart && pair.over <= 0 && beyond > noise;
    return pair;
  }

  std::vector<Pair> contradictions(const std::vector<bool>& out) const {
    std::vector<Pair> found;
    for (const std::size_t i : members_) {
      for (const std::size_t j : members_) {
        if (i == j || out[i] || out[j]) continue;
        auto pair = compare(timings_.cases[i], timings_.cases[j]);
        if (!pair || (pair->over <= 0 && !pair->doubtful)) continue;
        pair->slow = i;
        pair->fast = j;
        found.push_back(*pair);
      }
    }
    return found;
  }

  // The strongest contradiction of `timing`, in place of case `index`, with the remaining cases;
  // empty where there is none.
  std::optional<Pair> worst(const TimingCase& timing, std::size_t index,
                            const std::vector<bool>& out) const {
    std::optional<Pair> found;
    for (const std::size_t j : members_) {
      if (j == index || out[j]) continue;
      for (const bool slow : {true, false}) {
        const TimingCase& other = timings_.cases[j];
        auto pair = slow ? compare(timing, other) : compare(other, timing);
        if (!pair || pair->over <= 0 || (found && pair->over <= found->over)) continue;
        pair->slow = slow ? index : j;
        pair->fast = slow ? j : index;
        found = pair;
      }
    }
    return found;
  }

  // The largest excess beyond noise alone, of a case against the remaining ones but `but`.
  double doubt(std::size_t index, std::size_t but, const std::vector<bool>& out) const {
    double most = 0;
    for (const std::size_t j : members_) {
      if (j == index || j == but || out[j]) continue;
      for (const auto& pair : {compare(timings_.cases[index], timings_.cases[j]),
                               compare(timings_.cases[j], timings_.cases[index])}) {
        if (pair) most = std::max(most, pair->beyond_noise);
      }
    }
    return most;
  }

  const std::vector<std::size_t>& members() const { return members_; }

 private:
  const TimingSet& timings_;
  std::vector<std::size_t> members_;
  double errors_;
};

TimingCase with_time(TimingCase timing, double factor) {
  timing.seconds *= factor;
  timing.low *= factor;
  timing.high *= factor;
  return timing;
}

TimingCase with_bytes(TimingCase timing, double factor) {
  timing.work.memory_bytes *= factor;
  timing.work.link_read_bytes *= factor;
  timing.work.link_write_bytes *= factor;
  return timing;
}

std::string numbers(const TimingCase& a, const TimingCase& b) {
  const auto amount = [](const TimedWork& w) {
    return w.memory_bytes + w.link_read_bytes + w.link_write_bytes;
  };
  return fmt::format(
      "{:.5g} us for {:.6g} B and {:.6g} FLOP, but '{}' took {:.5g} us for {:.6g} B "
      "and {:.6g} FLOP",
      a.seconds * 1e6, amount(a.work), a.work.flops, b.name, b.seconds * 1e6, amount(b.work),
      b.work.flops);
}

// Reports the mistake of a case, as seen against the remaining ones.
void explain(const TimingSet& timings, const Group& group, std::size_t index,
             const Group::Pair& pair, const std::vector<bool>& out, Findings& findings) {
  const TimingCase& timing = timings.cases[index];
  const bool slow = pair.slow == index;
  const TimingCase& other = timings.cases[slow ? pair.fast : pair.slow];
  const double noiseless =
      excess(timings.cases[pair.slow], timings.cases[pair.fast], pair.ratio, timings.l2_bytes);
  const double factor = portable_exp(std::min(noiseless, 600.0));
  std::string told =
      numbers(timing, other) +
      fmt::format(": {} by a factor of {:g}", slow ? "too long" : "too short", rounded(factor));
  if (factor > kNeighbourSlip) {
    for (const double scale : {1e-3, 1e3, 1e-6, 1e6}) {
      if ((scale < 1) != slow || group.worst(with_time(timing, scale), index, out)) continue;
      findings.refuse(
          index, "unit slip",
          told + fmt::format("; it fits where its time is {} by {:g}: ns, us and ms",
                             slow ? "divided" : "multiplied", slow ? 1 / scale : scale));
      return;
    }
  }
  // Half the bytes look like about twice the time: neighbours and noise blur the factor.
  const double element = element_bytes(timing.dtype);
  const bool elements = slow && element > 1 && factor < 1.3 * element && element < 1.3 * factor &&
                        !group.worst(with_bytes(timing, element), index, out);
  if (elements) told += fmt::format("; it would fit where its bytes are elements of {} B", element);
  const bool bits = !slow && factor > 3 && !group.worst(with_bytes(timing, 0.125), index, out);
  if (bits) told += "; it would fit where its bytes are bits";
  findings.refuse(index, pair.ratio <= 1 ? "non-monotone" : "off the trend", std::move(told));
}

struct Blame {
  int pairs = 0;
  double over = 0;
};

// The case with the most contradictions, or the largest where several have as many. Both cases,
// where two contradict only each other.
std::vector<std::size_t> culprits(const std::vector<Group::Pair>& pairs) {
  std::map<std::size_t, Blame> blame;
  for (const Group::Pair& pair : pairs) {
    if (pair.over <= 0) continue;
    for (const std::size_t index : {pair.slow, pair.fast}) {
      ++blame[index].pairs;
      blame[index].over += pair.over;
    }
  }
  std::vector<std::size_t> worst;
  for (const auto& [index, b] : blame) {
    const Blame& best = worst.empty() ? b : blame.at(worst.front());
    if (b.pairs < best.pairs || (b.pairs == best.pairs && b.over < best.over)) continue;
    if (b.pairs > best.pairs || b.over > best.over) worst.clear();
    worst.push_back(index);
  }
  const bool alone = worst.size() == 2 && blame.at(worst.front()).pairs == 1;
  while (!alone && worst.size() > 1) worst.pop_back();
  return worst;
}

// Refuses a case by its strongest contradiction with the remaining ones. Of two cases that
// contradict only each other, it refuses the one that others doubt as well, or else both.
void accuse(const TimingSet& timings, const Group& group, std::vector<std::size_t> wrong,
            std::vector<bool>& out, Findings& findings) {
  if (wrong.size() == 2) {
    const bool first = group.doubt(wrong[0], wrong[1], out) > 0;
    const bool second = group.doubt(wrong[1], wrong[0], out) > 0;
    if (second && !first) std::swap(wrong[0], wrong[1]);
    if (first != second) wrong.pop_back();
  }
  if (wrong.size() == 2) {
    const TimingCase& a = timings.cases[wrong[0]];
    const TimingCase& b = timings.cases[wrong[1]];
    findings.refuse(wrong[0], "non-monotone", numbers(a, b) + ": one of the two is wrong");
    findings.refuse(wrong[1], "non-monotone", numbers(b, a) + ": one of the two is wrong");
  } else if (const auto pair = group.worst(timings.cases[wrong[0]], wrong[0], out)) {
    explain(timings, group, wrong[0], *pair, out, findings);
  }
  for (const std::size_t index : wrong) out[index] = true;
}

void check_group(const TimingSet& timings, const Group& group, Findings& findings) {
  std::vector<bool> out(timings.cases.size());
  std::vector<std::size_t> refused;
  for (const std::size_t index : group.members()) {
    out[index] = findings.refused(index);
    if (out[index]) refused.push_back(index);
  }
  std::vector<Group::Pair> pairs = group.contradictions(out);
  for (auto wrong = culprits(pairs); !wrong.empty(); wrong = culprits(pairs)) {
    accuse(timings, group, wrong, out, findings);
    std::erase_if(pairs, [&](const Group::Pair& p) { return out[p.slow] || out[p.fast]; });
  }
  for (const Group::Pair& pair : pairs) {
    if (pair.ratio > 1) continue;  // within the margin of the clock
    findings.warn(pair.slow, "non-monotone",
                  numbers(timings.cases[pair.slow], timings.cases[pair.fast]) +
                      ": beyond their noise, within what the model leaves out");
  }
  for (const std::size_t index : refused) {  // a slip of a unit may be the reason
    const auto pair = group.worst(timings.cases[index], index, out);
    if (pair) explain(timings, group, index, *pair, out, findings);
  }
}

}  // namespace

bool comparable(const TimingCase& i, const TimingCase& j) {
  if ((i.bytes_in_flight > 0) != (j.bytes_in_flight > 0)) return false;
  if (i.shape.size() != j.shape.size()) return false;
  bool smaller = false;
  bool larger = false;
  for (const auto& [name, size] : i.shape) {
    const auto other = j.shape.find(name);
    if (other == j.shape.end()) return false;
    if ((spreads(name) || decides_pattern(name)) && size != other->second) return false;
    smaller = smaller || size < other->second;
    larger = larger || size > other->second;
  }
  return !(smaller && larger);
}

double work_ratio(const TimingCase& i, const TimingCase& j) {
  double ratio = 0;
  const auto over = [&](double a, double b) {
    if (a > 0) ratio = b > 0 ? std::max(ratio, a / b) : std::numeric_limits<double>::infinity();
  };
  for (double TimedWork::*const bytes :
       {&TimedWork::memory_bytes, &TimedWork::link_read_bytes, &TimedWork::link_write_bytes}) {
    const double a = i.work.*bytes;
    const double b = j.work.*bytes;
    over(a, b);
    if (i.bytes_in_flight > 0) over(a / i.bytes_in_flight, b / j.bytes_in_flight);
  }
  over(i.work.flops * i.tail, j.work.flops * j.tail);
  return ratio;
}

double excess(const TimingCase& i, const TimingCase& j, double ratio, double l2_bytes) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  if (!(ratio > 0) || !std::isfinite(ratio)) return kNothing;
  if (ratio > 1 && i.temperature == Temperature::warm) {
    const double smaller = std::min(i.work.memory_bytes, j.work.memory_bytes);
    const double larger = std::max(i.work.memory_bytes, j.work.memory_bytes);
    const bool inside = l2_bytes > 0 && larger <= l2_bytes / 2;
    const bool outside = l2_bytes > 0 && smaller >= 4 * l2_bytes;
    if (larger > 0 && !inside && !outside) return kNothing;
  }
  return portable_log(i.seconds / (j.seconds * std::max(1.0, ratio)));
}

void check_neighbours(const TimingSet& timings, Findings& findings) {
  using Key = std::tuple<std::string, std::string, std::string, Temperature, bool>;
  std::map<Key, std::vector<std::size_t>> groups;
  std::size_t comparisons = 0;
  for (std::size_t i = 0; i < timings.cases.size(); ++i) {
    const TimingCase& timing = timings.cases[i];
    if (!(timing.seconds > 0)) continue;
    auto& group =
        groups[{timing.kernel, timing.variant, timing.dtype, timing.temperature, timing.baseline}];
    comparisons += 2 * group.size();
    group.push_back(i);
  }
  const double errors = standard_errors(comparisons);
  for (auto& [key, members] : groups) {
    if (members.size() > 1) check_group(timings, Group(timings, members, errors), findings);
  }
}

}  // namespace tiersim::detail
