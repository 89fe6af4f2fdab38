#include "sim/validate/prediction_run.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/sha256.hpp"
#include "sim/base/version.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/json_text.hpp"
#include "sim/config/resample.hpp"
#include "sim/step/system.hpp"

namespace tiersim {
namespace {

constexpr double kSecondsPerTick = 1e-12;

// The part of `whole` for launch number `at` of `launches`; the first ones take the remainder.
std::int64_t part_of(std::int64_t whole, std::int64_t launches, std::int64_t at) {
  return whole / launches + (at < whole % launches ? 1 : 0);
}

Op op_of(const System& system, const PredictedKernel& kernel, std::int64_t at) {
  Op op;
  op.kind = kernel.kind;
  op.family = kernel.family;
  op.arithmetic = kernel.arithmetic;
  op.requester = kernel.requester;
  op.flops = Flops::from_base(part_of(kernel.flops.in_base(), kernel.launches, at));
  for (const PredictedAccess& access : kernel.accesses) {
    const Bytes bytes = Bytes::from_base(part_of(access.bytes.in_base(), kernel.launches, at));
    if (bytes == Bytes{}) continue;
    op.accesses.push_back({.tier = system.tier(access.tier),
                           .direction = access.direction,
                           .tensor_class = TensorClass::activations,
                           .payload = bytes,
                           .run = std::min(access.run.value_or(bytes), bytes)});
  }
  return op;
}

double seconds_of(const PredictionSet& set, const System& system,
                  const std::vector<PredictedTerm>& terms) {
  double sum = 0;
  for (const PredictedTerm& term : terms)
    sum += term.times * predicted_seconds(system, set.kernels.at(term.kernel));
  return sum;
}

// Bytes that the terms read from tiers behind links.
double remote_bytes(const PredictionSet& set, const System& system,
                    const std::vector<PredictedTerm>& terms) {
  double sum = 0;
  for (const PredictedTerm& term : terms)
    for (const PredictedAccess& access : set.kernels.at(term.kernel).accesses)
      if (access.direction == Direction::read && system.is_remote(system.tier(access.tier)))
        sum += term.times * static_cast<double>(access.bytes.in_base());
  return sum;
}

// The quantity from the times of its two sides [s].
double formed(const PredictionSet& set, const System& system, const PredictedQuantity& quantity,
              double of, double to) {
  switch (quantity.kind) {
    case PredictedKind::ratio:
      return of / to;
    case PredictedKind::share:
      return 100 * of / to;
    case PredictedKind::difference:
      return 1e6 * (of - to);
    case PredictedKind::rate:
      break;
  }
  return 1e-9 * remote_bytes(set, system, quantity.of) / of;
}

double answer(const PredictionSet& set, const System& system, const PredictedQuantity& quantity) {
  return formed(set, system, quantity, seconds_of(set, system, quantity.of),
                seconds_of(set, system, quantity.to));
}

std::optional<double> sum_of(const CaseTimes& times, const std::vector<TimedTerm>& terms) {
  double sum = 0;
  for (const TimedTerm& term : terms) {
    const auto found = times.of_case.find(term.name);
    if (found == times.of_case.end()) return std::nullopt;
    sum += term.times * found->second;
  }
  return sum;
}

// The cases of the quantity that have no time, each once.
std::vector<std::string> untimed_cases(const PredictedQuantity& quantity, const CaseTimes& times) {
  std::vector<std::string> out;
  if (!quantity.timed) return out;
  for (const auto* side : {&quantity.timed->of, &quantity.timed->to})
    for (const TimedTerm& term : *side)
      if (!times.of_case.contains(term.name) && std::ranges::find(out, term.name) == out.end())
        out.push_back(term.name);
  return out;
}

std::optional<double> timed_answer(const PredictionSet& set, const System& system,
                                   const PredictedQuantity& quantity, const CaseTimes& times) {
  if (!quantity.timed) return std::nullopt;
  const auto of = sum_of(times, quantity.timed->of);
  const auto to = sum_of(times, quantity.timed->to);
  if (!of || !to) return std::nullopt;
  return formed(set, system, quantity, *of, *to);
}

StatedStatus status_of(const StatedRange& stated, double low, double high) {
  const bool above_low = !stated.low || low >= *stated.low;
  const bool below_high = !stated.high || high <= *stated.high;
  if (above_low && below_high) return StatedStatus::consistent;
  const bool disjoint = (stated.low && high < *stated.low) || (stated.high && low > *stated.high);
  return disjoint ? StatedStatus::inconsistent : StatedStatus::partly;
}

// Prices and power do not affect times.
bool is_cost(const std::string& path) {
  return std::ranges::any_of(
      std::array<std::string_view, 5>{"price", "power", "energy", "economics", "least_clock"},
      [&](std::string_view part) { return path.find(part) != std::string::npos; });
}

// Results by quantity, then by draw. `set` holds the last draw afterwards.
std::vector<std::vector<double>> drawn_answers(PredictionSet& set, const Document& document,
                                               Diagnostics& diagnostics) {
  std::vector<std::vector<double>> drawn(set.quantities.size());
  Resampler resampler(set, set.draws, set.seed);
  for (std::size_t i = 0; i < resampler.draws(); ++i) {
    if (const std::string broken = resampler.draw(i); !broken.empty()) {
      diagnostics.report({.where = document.locate("draws"),
                          .message = fmt::format("draw {} breaks a rule: {}", i, broken),
                          .hint = "a narrower interval",
                          .path = "draws"});
      return drawn;
    }
    const System system(set.system);
    for (std::size_t q = 0; q < drawn.size(); ++q)
      drawn[q].push_back(answer(set, system, set.quantities[q]));
  }
  return drawn;
}

// `timed_as`: the class of the timings, under which their value stands.
nlohmann::ordered_json json_of(const PredictedAnswer& answer, const std::string& timed_as) {
  const auto rounded = [](double value) {
    return nlohmann::ordered_json::parse(fmt::format("{:.6g}", value));
  };
  nlohmann::ordered_json stated = nlohmann::ordered_json::object();
  if (answer.quantity.stated.low) stated["low"] = *answer.quantity.stated.low;
  if (answer.quantity.stated.high) stated["high"] = *answer.quantity.stated.high;
  nlohmann::ordered_json out = {
      {"id", answer.quantity.id},
      {"question", answer.quantity.question},
      {"unit", unit_of(answer.quantity.kind)},
      {"simulated", rounded(answer.simulated)},
      {"ci95", {rounded(answer.low), rounded(answer.high)}},
      {"stated", std::move(stated)},
      {"status", kStatedStatusNames[static_cast<std::size_t>(answer.status)]},
      {"note", answer.quantity.note}};
  if (!timed_as.empty())
    out[timed_as] = answer.timed ? rounded(*answer.timed) : nlohmann::ordered_json(nullptr);
  return out;
}

std::string yaml_number(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace

double predicted_seconds(const System& system, const PredictedKernel& kernel) {
  double seconds = 0;
  for (std::int64_t at = 0; at < kernel.launches; ++at) {
    const OpPlan plan = system.plan(op_of(system, kernel, at));
    seconds += static_cast<double>(plan.uncontended(system.channels()).count()) * kSecondsPerTick;
  }
  return seconds;
}

PredictedSet answer_questions(const std::filesystem::path& path, const LoadOptions& options,
                              Diagnostics& diagnostics, const CaseTimes& times) {
  const Document document = load_document(path, options, diagnostics);
  auto set = read<PredictionSet>(document, "prediction_set", diagnostics);
  PredictedSet out;
  if (!diagnostics.ok()) return out;
  out.name = set.name;
  out.date = set.date;
  out.system = set.system.name;
  out.draws = set.draws;
  out.timings_class = times.data_class;
  out.run_id = sha256_hex(canonical_text_for_id(set));
  out.number_class = NumberClass::measured;
  for (SourcedNumber& number : list_numbers(set.system)) {
    if (is_cost(number.path)) continue;
    out.number_class = weakest(out.number_class, number.number_class);
    if (number.ci95) out.uncertain.push_back(std::move(number));
  }
  const System system(set.system);
  for (const PredictedQuantity& quantity : set.quantities)
    out.answers.push_back({.quantity = quantity,
                           .simulated = answer(set, system, quantity),
                           .timed = timed_answer(set, system, quantity, times),
                           .untimed = untimed_cases(quantity, times)});
  const auto drawn = drawn_answers(set, document, diagnostics);
  if (!diagnostics.ok()) return out;
  for (std::size_t q = 0; q < drawn.size(); ++q) {
    PredictedAnswer& made = out.answers[q];
    const Interval<double> ci95 = central_95(drawn[q]);
    made.low = std::min(ci95.low, made.simulated);
    made.high = std::max(ci95.high, made.simulated);
    made.status = status_of(made.quantity.stated, made.low, made.high);
  }
  return out;
}

std::string to_yaml(const PredictedSet& predicted) {
  using detail::json_string;
  std::string out =
      "# Written by `tiersim predict`; not edited by hand. No number here was measured.\n"
      "schema: tiersim.predictions_on_record/v1\n";
  out += fmt::format("name: {}\ndate: {}\nsystem: {}\ntiersim_version: {}\nrun_id: {}\n",
                     json_string(predicted.name), json_string(predicted.date),
                     json_string(predicted.system), json_string(kVersion),
                     json_string(predicted.run_id));
  out += fmt::format("class: {}\n", name(predicted.number_class));
  out += fmt::format(
      "# ci95 comes from {} draws of these numbers of the system. It holds their uncertainty, not\n"
      "# that of the models.\nuncertain:\n",
      predicted.draws);
  for (const SourcedNumber& number : predicted.uncertain)
    out += fmt::format("  - {{path: {}, value: {}, ci95: [{}, {}], class: {}, source: {}}}\n",
                       number.path, number.value, number.ci95->low, number.ci95->high,
                       name(number.number_class), json_string(number.source));
  out += "predictions:\n";
  for (const PredictedAnswer& answer : predicted.answers) {
    const PredictedQuantity& q = answer.quantity;
    std::string stated;
    if (q.stated.low) stated += fmt::format("low: {}", yaml_number(*q.stated.low));
    if (q.stated.high)
      stated += fmt::format("{}high: {}", stated.empty() ? "" : ", ", yaml_number(*q.stated.high));
    out += fmt::format(
        "  - id: {}\n    question: {}\n    unit: {}\n    simulated: {}\n    ci95: [{}, {}]\n"
        "    stated: {{{}}}\n    status: {}\n",
        q.id, json_string(q.question), json_string(unit_of(q.kind)), yaml_number(answer.simulated),
        yaml_number(answer.low), yaml_number(answer.high), stated,
        kStatedStatusNames[static_cast<std::size_t>(answer.status)]);
    if (!q.note.empty()) out += fmt::format("    note: {}\n", json_string(q.note));
  }
  return out;
}

std::string to_json(const PredictedSet& predicted) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const PredictedAnswer& answer : predicted.answers)
    all.push_back(json_of(answer, predicted.timings_class));
  const nlohmann::ordered_json document = {{"schema", "tiersim.predictions_on_record/v1"},
                                           {"name", predicted.name},
                                           {"date", predicted.date},
                                           {"system", predicted.system},
                                           {"tiersim_version", kVersion},
                                           {"run_id", predicted.run_id},
                                           {"class", name(predicted.number_class)},
                                           {"predictions", std::move(all)}};
  return document.dump() + '\n';
}

}  // namespace tiersim
