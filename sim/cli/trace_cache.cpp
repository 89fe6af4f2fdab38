// tiersim trace cache FILE: what caches of several sizes find of the prompts of a trace, or of a
// serving file's workload, by what leaves them first.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "reports/serving/cache_tables.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/point_sources.hpp"
#include "sim/cli/trace_options.hpp"
#include "sim/record/table_json.hpp"
#include "sim/runner/load.hpp"
#include "workloads/serving/trace_caches.hpp"
#include "workloads/serving/trace_order.hpp"
#include "workloads/sessions/nominal_server.hpp"
#include "workloads/trace/lru_curve.hpp"

namespace tiersim::cli {
namespace {

struct CacheArguments {
  TraceInput input;
  std::vector<std::string> set;
  AnswerOptions answer;
  std::optional<std::int64_t> requests;
  std::optional<std::int64_t> block;
  std::vector<std::string> policies;
  std::vector<std::string> capacities;
  CacheTablesOptions tables;
  std::string token_bytes;
  std::string format = "text";
};

std::vector<std::string> policies_of(const CacheArguments& options) {
  std::vector<std::string> known = eviction_library().names();
  if (options.policies.empty()) return known;
  std::set<std::string> seen;
  for (const std::string& name : options.policies) {
    if (std::ranges::find(known, name) == known.end())
      misuse("--policies", fmt::format("'{}' is none of {}", name, join(known)));
    if (!seen.insert(name).second) misuse("--policies", fmt::format("'{}' stands twice", name));
  }
  return options.policies;
}

bool is_serving_file(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return extension == ".yaml" || extension == ".yml";
}

// Gives the prompts, in the order of arrival, to takers of the kind that `make` makes, and returns
// the one that got all of them.
template <class Make>
auto taker_of(const CacheArguments& arguments, std::int64_t& block, Make make) {
  const std::string& path = arguments.input.file;
  if (!is_serving_file(path)) {
    TraceSummary told;
    auto seen = in_arrival_order(path, arguments.input.format(), make, &told);
    if (!seen) throw_problems(path, seen.error());
    if (!told.timed)
      throw_problems(path, {{.message = "does not say when its sessions begin, and so not which "
                                        "prompts come between two of a session",
                             .hint = "name a serving file in its place, whose workload has "
                                     "`trace: FILE` and `arrivals` of sessions",
                             .where = Location{.file = path, .line = 1, .column = 1}}});
    block = block_of(arguments.block, told.block);
    return *std::move(seen);
  }
  const ServingFile file = load_serving(path, arguments.set);
  const ServingConfig& config = file.config;
  block = config.workload.prefix_block;
  auto source = make_request_source(config.workload, static_cast<std::uint64_t>(config.seed));
  if (!source)
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: {}", path, source.error())));
  auto taker = make();
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  try {
    replay(**source, arguments.answer.time(), arguments.requests.value_or(kAll),
           [&](const Request& request) {
             // It also names the blocks of its answer, which its prompt does not look up.
             const auto whole = std::min(std::ssize(request.prefix), request.input_tokens / block);
             taker.add(Int128(request.arrival.time_since_epoch().count()), request.input_tokens,
                       request.output_tokens,
                       std::span(request.prefix).first(static_cast<std::size_t>(whole)));
           });
  } catch (const SourceFailure& failure) {
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: {}", path, failure.what())));
  } catch (const UnitOverflow& overflow) {
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: its requests are beyond what can be "
                                        "counted: {}",
                                        path, overflow.what())));
  }
  return taker;
}

struct Reuse {
  LruCurve curve;
  void add(Int128 /*time*/, std::int64_t /*input*/, std::int64_t /*output*/,
           std::span<const std::uint64_t> names) {
    curve.look_up(names);
  }
};

// Halves of what a cache must hold to lose nothing, from a 64th on.
std::vector<std::int64_t> capacities_by_default(const CacheArguments& arguments,
                                                std::int64_t& block) {
  const std::int64_t all = taker_of(arguments, block, [] { return Reuse(); }).curve.distinct();
  std::vector<std::int64_t> out;
  for (std::int64_t parts = 64; parts >= 1; parts /= 2)
    if (all / parts > 0 && (out.empty() || out.back() != all / parts)) out.push_back(all / parts);
  return out;
}

void check_options(const CacheArguments& arguments) {
  const bool serving = is_serving_file(arguments.input.file);
  const auto only = [&](bool given, const char* option, bool of_serving) {
    if (given && of_serving != serving)
      misuse(option, of_serving ? "is for a serving file, and this is a trace"
                                : "is for a trace, and this is a serving file");
  };
  only(!arguments.set.empty(), "--set", true);
  only(arguments.requests.has_value(), "--requests", true);
  only(arguments.answer.time().of(2) > Duration{}, "--first-token and --token-time", true);
  only(!arguments.input.columns.empty(), "--columns", false);
  only(arguments.block.has_value(), "--block", false);
  if (!serving) arguments.input.expect_readable();
}

ExitCode cache(const CacheArguments& arguments) {
  CachesOfTrace caches{.policies = policies_of(arguments),
                       .capacities = capacities_of(arguments.capacities)};
  CacheTablesOptions tables = arguments.tables;
  if (!arguments.token_bytes.empty()) tables.token_bytes = token_bytes_of(arguments.token_bytes);
  check_options(arguments);
  if (caches.capacities.empty()) caches.capacities = capacities_by_default(arguments, tables.block);
  const FoundInCaches found =
      taker_of(arguments, tables.block, [&] { return TraceCaches(caches); }).found();
  if (found.lookups == 0)
    throw Failure(ExitCode::bad_config,
                  printable(fmt::format("{}:1:1: error: its prompts name no blocks that a cache "
                                        "could find (Mooncake's form names them)",
                                        arguments.input.file)));
  const Table table = cache_table(found, caches, tables);
  if (arguments.format == "json")
    fmt::print("{}", to_json(table));
  else
    print_tables({table}, arguments.format);
  return ExitCode::ok;
}

}  // namespace

void add_trace_cache(Verb trace) {
  auto options = std::make_shared<CacheArguments>();
  Verb verb = trace.add("cache",
                        "What caches of several sizes find of a trace's prompts, by what leaves "
                        "them first, and how far each policy is from the best possible");
  options->input.add_to(verb);
  verb.option("--set", options->set,
              "Override a setting of a serving file, whose workload may stand for a trace "
              "(repeatable)")
      .type(kSettingType);
  verb.option("--requests", options->requests, "The first so many requests of a serving file")
      .between(1, 1'000'000'000'000);
  options->answer.add_to(verb);
  verb.option("--policies", options->policies,
              fmt::format("Of {}; all by default. belady knows the future: no cache finds more",
                          join(eviction_library().names())))
      .type("NAME,...")
      .comma_separated();
  verb.option("--blocks", options->capacities,
              "Capacities of the cache in blocks; by default a 64th, a 32nd, ... of all blocks")
      .type("N,N,...")
      .comma_separated();
  verb.option("--block", options->block,
              "Tokens of a named block of a trace; by default what it states, or 512")
      .between(1, 1'000'000);
  verb.option("--token-bytes", options->token_bytes,
              "Keys and values of a token, as `tiersim list models` has them, for capacities in "
              "bytes")
      .type("BYTES");
  add_format(verb, options->format);
  verb.on_chosen([options] { return cache(*options); });
}

}  // namespace tiersim::cli
