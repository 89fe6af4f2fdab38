#include "sim/record/break_even_record.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

using Json = nlohmann::ordered_json;

template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw std::runtime_error("there is no '" + name + '\'');
  return static_cast<std::size_t>(found - names.begin());
}

BreakEvenRecord read(const Json& json) {
  BreakEvenRecord out;
  out.outcome = static_cast<BreakEvenOutcome>(index_of(kBreakEvenOutcomeNames, json.at("outcome")));
  out.reference = json.at("reference");
  out.why = json.value("why", "");
  out.low = json.at("between").at(0);
  out.high = json.at("between").at(1);
  out.rises = json.at("rises");
  out.plain = json.at("plain");
  out.draws = json.at("draws");
  if (json.contains("shown")) out.shown = json.at("shown").get<std::vector<std::string>>();
  if (json.contains("value")) out.value = json.at("value").get<double>();
  if (json.contains("ci95"))
    out.ci95 = Interval<double>{json.at("ci95").at(0), json.at("ci95").at(1)};
  if (json.contains("channel")) {
    out.channel = json.at("channel");
    out.channel_bytes_per_s = json.at("channel_bytes_per_s").get<double>();
  }
  out.number_class = static_cast<NumberClass>(index_of(kNumberClassNames, json.at("class")));
  return out;
}

}  // namespace

std::string to_json(const BreakEvenRecord& answer) {
  Json out{{"outcome", kBreakEvenOutcomeNames[static_cast<std::size_t>(answer.outcome)]},
           {"reference", answer.reference}};
  if (!answer.why.empty()) out["why"] = answer.why;
  out["between"] = {answer.low, answer.high};
  out["rises"] = answer.rises;
  out["plain"] = answer.plain;
  if (!answer.shown.empty()) out["shown"] = answer.shown;
  if (answer.value) out["value"] = *answer.value;
  if (answer.ci95) out["ci95"] = {answer.ci95->low, answer.ci95->high};
  out["draws"] = answer.draws;
  if (answer.channel_bytes_per_s) {
    out["channel"] = answer.channel;
    out["channel_bytes_per_s"] = *answer.channel_bytes_per_s;
  }
  out["class"] = name(answer.number_class);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Expected<BreakEvenRecord> read_break_even(const std::string& json) {
  try {
    return read(Json::parse(json));
  } catch (const std::exception& error) {
    return Unexpected(std::string("no answer of a break-even question: ") + error.what());
  }
}

std::map<std::string, Metric> break_even_metrics(const BreakEvenRecord& answer) {
  std::map<std::string, Metric> out;
  if (answer.outcome != BreakEvenOutcome::found || !answer.value) return out;
  const auto scaled = [&](double factor, const std::string& unit) {
    Metric metric{.value = factor * *answer.value, .unit = unit};
    metric.number_class = answer.number_class;
    if (answer.ci95) metric.ci95 = {factor * answer.ci95->low, factor * answer.ci95->high};
    return metric;
  };
  if (answer.plain) out["break_even_factor"] = scaled(1, "1");
  if (answer.channel_bytes_per_s)
    out["break_even_bytes_per_s"] = scaled(*answer.channel_bytes_per_s, "B/s");
  return out;
}

}  // namespace tiersim
