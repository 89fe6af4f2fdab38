#include "sim/study/accuracy_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workloads/numerics/recall_at_budget.hpp"

namespace tiersim {
namespace {

using Json = nlohmann::json;
using numerics::RecallQuestion;

constexpr std::uint64_t kAccuracySeed = 1;  // the default of `tiersim numerics maple`

// The rows that a point's method attends to: all of them, a question for the study, or the reason
// why the study has no answer.
struct Asked {
  bool all_rows = false;
  std::optional<RecallQuestion> question = {};
  std::string why_not = {};
};

double number(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0.0;
}

Asked asked_of_method(const Json& method, double head_dim, double context) {
  const std::string name = method.value("name", "");
  constexpr std::array kAllRows{"dense", "tiered", "layer_prefetch"};
  if (std::ranges::find(kAllRows, name) != kAllRows.end()) return {.all_rows = true};
  const Json fetch = method.value("fetch", Json::object());
  if (number(fetch, "guess_miss") > 0) return {.why_not = "its guessed queries are not in it"};
  RecallQuestion question{.method = name, .share = number(method, "budget")};
  if (name == "maple") {
    question.rank_share = number(method, "rank_ratio");
    if (method.value("key_type", "") != "int8") return {.why_not = "it has int8 keys only"};
  } else if (name == "sparq" || name == "loki") {
    question.rank_share = head_dim > 0 ? number(method, "rank") / head_dim : 0;
  } else if (name == "quest") {
    question.page = static_cast<std::int64_t>(number(method, "page"));
  } else if (name == "h2o") {
    if (number(method, "heavy") != number(method, "recent"))
      return {.why_not = "half of its rows are the newest"};
    question.share = number(method, "heavy") + number(method, "recent");
  } else if (name == "streaming_llm") {
    if (number(method, "sinks") != 4) return {.why_not = "it has 4 sinks"};
    if (!(context > 0)) return {.why_not = "no context is stated"};
    question.share = std::min(1.0, (number(method, "sinks") + number(method, "window")) / context);
  } else {
    return {.why_not = fmt::format("it has no method '{}'", name)};
  }
  return {.question = question};
}

Asked asked_of(const RunRecord* record) {
  if (record == nullptr) return {.why_not = "did not run"};
  if (record->config.empty()) return {.why_not = "the record has no configuration"};
  const Json config = Json::parse(record->config, nullptr, false);
  if (!config.is_object() || !config.contains("method"))
    return {.why_not = "its configuration has no method"};
  const Json model = config.value("model", Json::object());
  const Json step = config.value("step", Json::object());
  return asked_of_method(config["method"], number(model, "head_dim"), number(step, "context"));
}

Metric recall_metric(double value) {
  return {.value = value, .unit = "1", .number_class = NumberClass::assumed};
}

std::string conditions() {
  const numerics::RecallHeads heads = numerics::recall_heads();
  return fmt::format(
      "of as many rows with the highest exact scores, the share chosen, at the same share of rows; "
      "computed as `tiersim numerics maple` does on {} synthetic heads of {} components, {} "
      "tokens, "
      "seed {}, at the same share of screened components, without fine-tuning: class assumed, no "
      "accuracy of a trained model; methods that attend to every row have 1 by definition; rows "
      "chosen for a group of heads, kept pages and cached rows do not enter",
      heads.heads, heads.head_dim, heads.tokens, kAccuracySeed);
}

}  // namespace

std::vector<Recalled> recalled(const std::vector<const RunRecord*>& records) {
  std::vector<Asked> asked;
  std::map<RecallQuestion, std::optional<numerics::RecallAnswer>> answers;
  for (const RunRecord* record : records) {
    asked.push_back(asked_of(record));
    if (asked.back().question) answers.emplace(*asked.back().question, std::nullopt);
  }
  std::vector<RecallQuestion> questions;
  for (const auto& [question, answer] : answers) questions.push_back(question);
  const auto found = numerics::recall_at_budget(questions, kAccuracySeed);
  for (std::size_t i = 0; i < questions.size(); ++i) answers[questions[i]] = found[i];
  std::vector<Recalled> out;
  for (const Asked& one : asked) {
    Recalled& to = out.emplace_back();
    if (one.all_rows) {
      to.value = recall_metric(1);
      to.basis = "every row, exact";
      to.value->number_class = NumberClass::specification;
    } else if (!one.question) {
      to.why_not = one.why_not;
    } else if (const auto& answer = answers[*one.question]; !answer) {
      to.why_not = "its heads have no such setting";
    } else {
      to.value = recall_metric(answer->recall);
      to.basis = fmt::format("{}, {}; sd {:.2g}", one.question->method, answer->setting,
                             answer->deviation);
    }
  }
  return out;
}

Accuracy accuracy_of(const PointTable& table) {
  Accuracy out{.recall = {.name = std::string(kRecallMetric),
                          .unit = "1",
                          .sense = Sense::maximize,
                          .note = conditions()},
               .basis = {.title = "recall is of", .cells = {}}};
  std::vector<const RunRecord*> records;
  for (const ReportPoint& point : table.points) records.push_back(point.record.get());
  std::map<std::string, std::size_t> none;  // reason -> points
  for (Recalled& one : recalled(records)) {
    out.recall.values.push_back(one.value);
    out.basis.cells.push_back(one.value ? one.basis : "none: " + one.why_not);
    if (!one.value) ++none[one.why_not];
  }
  for (const auto& [why, points] : none)
    out.recall.note += fmt::format("; {} point{} no value in this study: {}", points,
                                   points == 1 ? " has" : "s have", why);
  return out;
}

}  // namespace tiersim
