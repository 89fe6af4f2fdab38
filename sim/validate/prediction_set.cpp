#include "sim/validate/prediction_set.hpp"

#include <algorithm>
#include <set>

#include "sim/base/text.hpp"
#include "sim/step/packet_network.hpp"

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 2> kDirectionNames{"read", "write"};

bool is_date(const std::string& text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

void check_terms(Fields& f, const PredictionSet& c, const std::vector<PredictedTerm>& terms,
                 const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : c.kernels) names.push_back(name);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::string_view near = nearest(terms[i].kernel, names);
    f.check(c.kernels.contains(terms[i].kernel), path + '.' + std::to_string(i) + ".kernel",
            "no kernel is named '" + terms[i].kernel + "'",
            near.empty() ? "the kernels are: " + join(names)
                         : "did you mean '" + std::string(near) + "'?");
  }
}

}  // namespace

std::string_view unit_of(PredictedKind kind) {
  constexpr std::array<std::string_view, 4> kUnits{"", "%", "us", "GB/s"};
  return kUnits[static_cast<std::size_t>(kind)];
}

void describe(Fields& f, PredictedAccess& c) {
  f.doc("Bytes that a kernel moves from or to one tier.");
  f.required("tier", c.tier, "Tier of the system.");
  f.required("direction", c.direction, kDirectionNames, "As the GPU sees it.");
  f.required("bytes", c.bytes, "Bytes asked for, each once.", positive());
  f.optional("run", c.run, "Contiguous bytes of each request; all of them where absent.",
             positive());
}

void describe(Fields& f, PredictedKernel& c) {
  f.doc("A kernel at one shape.");
  f.optional("timed_as", c.timed_as, "Name of the case that will be timed.");
  f.optional("kind", c.kind, kOpKindNames, "compute, or transfer between tiers.");
  f.optional("family", c.family, kKernelFamilyNames, "Whose parameters hold.");
  f.optional("arithmetic", c.arithmetic, kArithmeticNames, "Which peak holds.");
  f.optional("requester", c.requester, kCopierNames, "Who issues requests to remote tiers.");
  f.optional("flops", c.flops, "Operations as executed, padding of tiles counted.");
  f.optional("launches", c.launches, "Launches, one after another, that share the work evenly.",
             in_range(1, 1000));
  f.required("accesses", c.accesses, "Bytes that it moves, by class.");
  f.check(!c.accesses.empty(), "accesses", "is empty", "a kernel moves something");
}

void describe(Fields& f, PredictedTerm& c) {
  f.doc("A kernel, so many times.");
  f.required("kernel", c.kernel, "Name of the kernel.");
  f.optional("times", c.times, "How often it runs, one after another.", positive());
}

void describe(Fields& f, TimedTerm& c) {
  f.doc("A case of a campaign, so many times.");
  f.required("case", c.name, "Name of the case.");
  f.optional("times", c.times, "How often it counts.", positive());
}

void describe(Fields& f, TimedSides& c) {
  f.doc("Cases of a campaign that measure a quantity.");
  f.required("of", c.of, "Cases whose times are added.");
  f.optional("to", c.to, "Cases that they are held against.");
  f.check(!c.of.empty(), "of", "is empty");
}

void describe(Fields& f, StatedRange& c) {
  f.doc("The range that was expected before anything was simulated or measured.");
  f.optional("low", c.low, "Not below.");
  f.optional("high", c.high, "Not above.");
  f.check(c.low || c.high, "", "has neither low nor high", "a prediction can turn out wrong");
  f.check(!c.low || !c.high || *c.low <= *c.high, "low", "is above high");
}

void describe(Fields& f, PredictedQuantity& c) {
  f.doc("One question.");
  f.required("id", c.id, "Path of the question.");
  f.required("question", c.question, "In words.");
  f.required("kind", c.kind, kPredictedKindNames, "The quantity that is computed from the times.");
  f.required("of", c.of, "Kernels whose times are added.");
  f.optional("to", c.to, "Kernels that they are held against.");
  f.optional("timed", c.timed, "Cases of a campaign that measure it.");
  f.required("stated", c.stated, "The range that was expected beforehand.");
  f.optional("note", c.note, "A remark on the meaning of the number.");
  f.check(!c.of.empty(), "of", "is empty");
  f.check(!c.timed || c.timed->to.empty() == c.to.empty(), "timed.to",
          c.to.empty() ? "stands under kind: rate" : "is missing",
          "`timed` has the sides of the quantity");
  f.check((c.kind == PredictedKind::rate) == c.to.empty(), "to",
          c.kind == PredictedKind::rate ? "stands under kind: rate" : "is missing",
          "a rate has only `of`, every other kind has both");
}

void describe(Fields& f, PredictionSet& c) {
  f.doc("Questions about kernels, to be simulated before they are measured.");
  f.required("name", c.name, "Name of the set.");
  f.required("date", c.date, "Day on which it was made: 2026-01-31.");
  f.document("system", c.system, "system", "The system that answers.");
  f.optional("draws", c.draws, "Systems drawn for the intervals.", in_range(40, 100000));
  f.optional("seed", c.seed, "Of the draws.", in_range(0, 1'000'000'000));
  f.required("kernels", c.kernels, "Kernels by name.");
  f.required("quantities", c.quantities, "The questions.");
  for (const std::string& device : at_packet_level(c.system))
    f.check(false, "system." + device + ".level",
            "predictions are closed forms, which packets have not", "flow");
  f.check(is_date(c.date), "date", "'" + c.date + "' is no date", "year-month-day: 2026-01-31");
  std::vector<std::string> tiers;
  for (const auto& [name, tier] : c.system.tiers) tiers.push_back(name);
  for (const auto& [name, kernel] : c.kernels)
    for (std::size_t i = 0; i < kernel.accesses.size(); ++i)
      f.check(c.system.tiers.contains(kernel.accesses[i].tier),
              "kernels." + name + ".accesses." + std::to_string(i) + ".tier",
              "no tier is named '" + kernel.accesses[i].tier + "'",
              "the tiers are: " + join(tiers));
  std::set<std::string> ids;
  for (std::size_t q = 0; q < c.quantities.size(); ++q) {
    const std::string path = "quantities." + std::to_string(q);
    check_terms(f, c, c.quantities[q].of, path + ".of");
    check_terms(f, c, c.quantities[q].to, path + ".to");
    f.check(ids.insert(c.quantities[q].id).second, path + ".id",
            "'" + c.quantities[q].id + "' stands twice");
  }
}

}  // namespace tiersim
