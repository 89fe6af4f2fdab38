// tiersim show system FILE: the topology of a system as tables and as a drawing.
// tiersim show collectives FILE: what its collectives take, by size.
// tiersim show experts FILE: how evenly its routed tokens load the GPUs, by copies of experts.
#include <algorithm>

#include <fmt/format.h>

#include "hwmodels/collective/pieces.hpp"
#include "hwmodels/topology/topology.hpp"
#include "hwmodels/topology/topology_facts.hpp"
#include "reports/topology/topology_drawing.hpp"
#include "reports/topology/topology_text.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"
#include "sim/cli/command_line.hpp"
#include "sim/cli/expert_table.hpp"
#include "sim/cli/figure_file.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/trace_options.hpp"
#include "sim/config/describe.hpp"
#include "sim/runner/load.hpp"
#include "sim/runner/shipped_file.hpp"
#include "sim/step/system.hpp"

namespace tiersim::cli {
namespace {

constexpr Bytes kMostBytes = Bytes::from_base(std::int64_t{1} << 40U);

struct ShowArguments {
  std::string file;
  std::vector<std::string> set;
  std::string figure;
  std::string format = "text";
  std::string kind = "all_reduce";
  std::string purpose = "tensor";
  std::int64_t ranks = 0;
  std::string from = "1 KiB";
  std::string to = "1 GiB";
  std::int64_t copies = 1;
};

void add_file(Verb verb, ShowArguments& options, const char* help) {
  verb.option("FILE", options.file, help).required();
  verb.option("--set", options.set, "Override a setting (repeatable)").type(kSettingType);
}

Document loaded(const ShowArguments& options) {
  Diagnostics diagnostics;
  Document document =
      load_document(shipped_file(options.file), standard_options(options.set), diagnostics);
  throw_if_any(diagnostics);
  return document;
}

template <class Config>
Config read_as(const Document& document, const char* kind) {
  Diagnostics diagnostics;
  auto config = read<Config>(document, kind, diagnostics);
  throw_if_any(diagnostics);
  return config;
}

TopologyConfig topology_in(const ShowArguments& options) {
  const Document document = loaded(options);
  if (document.root().schemas.back().kind == "topology")
    return read_as<TopologyConfig>(document, "topology");
  auto system = read_as<SystemConfig>(document, "system");
  if (!system.topology)
    misuse("FILE", fmt::format("system '{}' states no topology; one that does is "
                               "systems/h100_rails_128gpu.yaml",
                               system.name));
  TopologyConfig topology = *system.topology;
  if (topology.name.empty()) topology.name = system.name;
  return topology;
}

void print(const std::vector<Table>& tables, const std::string& format) {
  if (format == "json")
    fmt::print("{}", tables_json(tables));
  else
    print_tables(tables, format);
}

ExitCode show_system(const ShowArguments& options) {
  expect_figure(options.figure, {options.file});
  const TopologyConfig config = topology_in(options);
  const TopologyFacts facts = facts_of(Topology(config));
  if (options.figure != "-") print(topology_tables(facts), options.format);
  write_figure(options.figure, topology_svg(config, facts));
  return ExitCode::ok;
}

template <std::size_t N>
std::size_t choice(const char* option, const std::string& given,
                   const std::array<std::string_view, N>& names) {
  const auto it = std::ranges::find(names, given);
  if (it == names.end())
    misuse(option, fmt::format("'{}' is none of {}", given,
                               join(std::vector<std::string>(names.begin(), names.end()))));
  return static_cast<std::size_t>(it - names.begin());
}

Bytes size_of(const char* option, const std::string& text) {
  const auto size = parse_quantity<Bytes>(text);
  if (!size) misuse(option, size.error());
  if (*size <= Bytes{} || *size > kMostBytes)
    misuse(option, fmt::format("'{}' is not above 0 and at most {}", text, display(kMostBytes)));
  return *size;
}

ExitCode show_collectives(const ShowArguments& options) {
  const auto kind =
      static_cast<CollectiveKind>(choice("--kind", options.kind, kCollectiveKindNames));
  const auto purpose = static_cast<Fabric>(choice("--purpose", options.purpose, kFabricNames));
  const Bytes from = size_of("--from", options.from);
  const Bytes to = size_of("--to", options.to);
  if (to < from) misuse("--to", "is below --from");
  const auto config = read_as<SystemConfig>(loaded(options), "system");
  if (config.fabric(purpose) == nullptr)
    misuse("--purpose",
           fmt::format("system '{}' has no network for {}", config.name, options.purpose));
  const std::int64_t ranks = options.ranks == 0 ? config.gpus.count : options.ranks;
  if (ranks > config.gpus.count)
    misuse("--ranks", fmt::format("{} are more than the {} GPUs", ranks, config.gpus.count));
  const System system(config);
  Table table{.id = "collectives",
              .title = fmt::format("{} among {} GPUs of {}", options.kind, ranks, config.name),
              .columns = {{"size", Align::right, "bytes", "", "", "B"},
                          {"time", Align::right, "time_s", "", "", "s"},
                          {"bus bandwidth", Align::right, "bus_bandwidth", "", "", "B/s"},
                          {"algorithm", Align::left}},
              .notes = {"The size and the bus bandwidth are those of nccl-tests."}};
  for (Bytes size = from; size <= to; size = size * 2) {
    Op op;
    op.kind = OpKind::collective;
    op.collective = {kind, purpose, size, ranks, options.copies};
    const Duration time = system.plan(op).uncontended(system.channels());
    const double bus = static_cast<double>(size.in_base()) / std::max(to_seconds(time), 1e-12) *
                       bus_share(kind, ranks);
    const auto algorithm = system.collective_cost(op.collective).algorithm;
    table.add({{Cell::Value(size.in_base()), display(size)},
               Cell::quantity(to_seconds(time), "s"),
               {Cell::Value(bus), display(bus, "B/s")},
               std::string(algorithm)});
  }
  print({table}, options.format);
  return ExitCode::ok;
}

ExitCode show_experts(const ShowArguments& options) {
  const Document document = loaded(options);
  if (const std::string& kind = document.root().schemas.back().kind; kind != "scenario")
    misuse("FILE", fmt::format("is of kind '{}', and experts are shown of a scenario", kind));
  const auto config = read_as<ScenarioConfig>(document, "scenario");
  Diagnostics diagnostics;
  const auto expect = [&](bool ok, const char* key, const std::string& message, const char* hint) {
    if (!ok) diagnostics.report({document.locate(key), std::string(key) + ": " + message, hint});
  };
  expect(config.model.moe.has_value(), "model",
         fmt::format("model '{}' has no experts", config.model.name), "a model with experts");
  expect(config.step.drawn_load() != nullptr, "step.expert_load",
         "gives every GPU an equal share, so there is nothing to show",
         "{law: log_normal, spread: 1.06}");
  expect(config.parallel.experts == ExpertSharing::spread && config.parallel.tensor > 1,
         "parallel.experts", "no GPU has experts of its own", "spread, with tensor above 1");
  throw_if_any(diagnostics);
  print({expert_table(config)}, options.format);
  return ExitCode::ok;
}

void add_show_system(Verb show) {
  auto options = std::make_shared<ShowArguments>();
  Verb verb = show.add("system", "Parts, cables, paths and bisection of a topology, and a drawing");
  add_file(verb, *options, "A system with a topology, or a topology");
  verb.option("--figure", options->figure, "Draw it as SVG, or PDF where rsvg-convert is")
      .type("FILE");
  add_format(verb, options->format);
  verb.on_chosen([options] { return show_system(*options); });
}

void add_show_collectives(Verb show) {
  auto options = std::make_shared<ShowArguments>();
  Verb verb = show.add("collectives",
                       "Times of a collective by size, as nccl-tests prints them on the machine");
  add_file(verb, *options, "A system with several GPUs");
  verb.option("--kind", options->kind, "all_reduce, reduce_scatter, all_gather, all_to_all or send")
      .type("KIND")
      .show_default();
  verb.option("--purpose", options->purpose,
              "Network: tensor, pipeline, experts, transfer or context")
      .type("NAME")
      .show_default();
  verb.option("--ranks", options->ranks, "GPUs; all by default").between(2, 16384);
  verb.option("--from", options->from, "Least size; sizes double from it on")
      .type("BYTES")
      .show_default();
  verb.option("--to", options->to, "Largest size").type("BYTES").show_default();
  verb.option("--copies", options->copies,
              "Of all_to_all: rows that are the same token, as one for each of its experts")
      .between(1, 1024)
      .show_default();
  add_format(verb, options->format);
  verb.on_chosen([options] { return show_collectives(*options); });
}

void add_show_experts(Verb show) {
  auto options = std::make_shared<ShowArguments>();
  Verb verb = show.add(
      "experts", "How evenly routed tokens load the GPUs, by placement and copies of experts");
  add_file(verb, *options, "A scenario with step.expert_load");
  add_format(verb, options->format);
  verb.on_chosen([options] { return show_experts(*options); });
}

}  // namespace

void add_show(Verb program) {
  Verb show = program.add(
      "show",
      "Show how the GPUs of a system are joined, and how evenly a scenario's experts load them");
  show.needs_verb();
  add_show_system(show);
  add_show_collectives(show);
  add_show_experts(show);
}

}  // namespace tiersim::cli
