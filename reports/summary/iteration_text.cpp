#include "reports/summary/iteration_text.hpp"

#include <cmath>

#include <fmt/format.h>

#include "reports/render/table.hpp"
#include "reports/summary/summary_parts.hpp"

namespace tiersim {
namespace {

std::string title_of(const ExplainedIteration& it) {
  std::string title =
      fmt::format("{} of {} iterations{} that {}: {} sequences", "The mean", it.iterations,
                  it.pool.empty() ? "" : " of " + it.pool,
                  it.reads_prompts ? "read prompts" : "decode only", number_text(it.decodes));
  if (it.decodes > 0) title += fmt::format(" at {} positions", number_text(std::round(it.context)));
  if (it.reads_prompts)
    title += fmt::format(", {} tokens of prompts", number_text(it.prompt_tokens));
  return title;
}

void add_row(Table& table, const std::string& name, const std::string& launches, double seconds,
             double all, const std::string& bound) {
  table.add({name, launches, time_text(seconds), share_text(seconds / all), bound});
}

Table table_of(const ExplainedIteration& it) {
  Table table{.title = title_of(it),
              .columns = {{"part", Align::left},
                          {"launches", Align::right},
                          {"time", Align::right},
                          {"share", Align::right},
                          {"bounded by", Align::left}}};
  const double all = it.before + it.copies + it.gpu;
  for (const IterationPart& part : it.parts)
    add_row(table, part.name, part.launches == 0 ? "-" : std::to_string(part.launches),
            part.seconds, all, fmt::format("{} {:.0f} %", part.bound, 100 * part.bound_share));
  if (it.waits > 0) add_row(table, "the GPU waits for the CPU", "-", it.waits, all, "host");
  constexpr double kRounding = 1e-3;  // of means that are rounded to whole sequences and tokens
  if (const double rest = it.rest(); std::abs(rest) > kRounding * all)
    table.notes.push_back(
        fmt::format("the iterations themselves take {} {} than the parts of their mean{}",
                    time_text(std::abs(rest)), rest > 0 ? "more" : "less",
                    rest > 0 ? "" : ", since they differ or their kernels overlap"));
  if (it.before > 0) add_row(table, "the CPU, before the GPU", "-", it.before, all, "host");
  if (it.copies > 0)
    add_row(table, "copies and experts that move, before the GPU", "-", it.copies, all, "copies");
  table.add({"all", "", time_text(all), "", ""});
  return table;
}

}  // namespace

std::string iterations_text(const std::vector<ExplainedIteration>& iterations) {
  std::string out;
  for (const ExplainedIteration& each : iterations) out += to_text(table_of(each)) + '\n';
  return out;
}

}  // namespace tiersim
