#include "hwmodels/calibrate/read/read_campaign.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hwmodels/calibrate/read/iso_date.hpp"
#include "hwmodels/calibrate/read/timing_repeats.hpp"
#include "hwmodels/calibrate/read/timing_text.hpp"

namespace tiersim {
namespace {

constexpr const char* kSchema = "tiersim.kernel_timings/v1";

struct Entry {
  TimingCase timing;
  TimingRepeat repeat;
};

struct Campaign {
  TimingSet set;
  std::int64_t multiprocessors = 0;
  bool card = false;
  std::size_t over_budget = 0;  // cases that took fewer rounds than planned
  std::string first_over_budget = {};
};

NumberClass class_named(const std::string& text) {
  if (text == "measured") return NumberClass::measured;
  return text == "specification" ? NumberClass::specification : NumberClass::assumed;
}

void read_peaks(JsonFields& context, TimingSet& set) {
  for (JsonFields& peak : context.list("peaks")) {
    TimingPeak out;
    out.name = peak.text("name");
    if (!is_peak_name(out.name)) {
      peak.fail("name", fmt::format("no peak is called '{}'", out.name),
                "memory, l2, link_read, link_write or flops.<type>");
    }
    out.value = peak.number("value", 1);
    out.hard = peak.flag("hard");
    const std::string unit = peak.choice("unit", {"B/s", "FLOP/s"});
    if (unit != (out.name.starts_with("flops.") ? "FLOP/s" : "B/s")) {
      peak.fail("unit", fmt::format("'{}' is no unit of the peak '{}'", unit, out.name));
    }
    out.number_class = class_named(peak.choice("class", {"specification", "measured", "assumed"}));
    out.source = peak.text("source");
    peak.finish();
    set.peaks.push_back(std::move(out));
  }
}

void read_device(JsonFields device, Campaign& campaign) {
  campaign.card = device.choice("kind", {"cuda", "emulator"}) == "cuda";
  campaign.set.device = device.text("name");
  campaign.multiprocessors = device.whole("multiprocessors", 0);
  campaign.set.l2_bytes = static_cast<double>(device.whole("l2_bytes", 1));
  device.skip({"compute_capability", "memory_bytes", "driver", "runtime", "pcie_generation",
               "pcie_width", "sm_mhz_max", "memory_mhz_max"});
  device.finish();
}

void read_context(JsonFields context, Campaign& campaign) {
  campaign.set.date = context.text("date");
  if (context.has("date") && !parse_iso_date(campaign.set.date)) {
    context.fail("date", fmt::format("'{}' is no date", campaign.set.date),
                 std::string(kIsoDateForm));
  }
  campaign.set.data_class = context.choice("class", {"measured", "none"});
  JsonFields build = context.object("build");
  campaign.set.build_id = build.text("id");
  const std::string nvcc = build.text("nvcc");
  build.skip({"commit", "compiler"});
  build.finish();
  read_device(context.object("device"), campaign);
  read_peaks(context, campaign.set);
  context.skip(
      {"host_name", "executable", "num_cpus", "library_build_type", "stage", "sizes", "seed"});
  context.finish();
  if (campaign.set.data_class == "measured" && (!campaign.card || nvcc.empty())) {
    context.fail("class", "this says 'measured', but no card and compiler stand behind it",
                 "a dry run on the emulator is of class 'none'");
  }
}

TimedWork read_work(JsonFields work, TimingCase& timing) {
  TimedWork out;
  const auto bytes = [&](const char* key) { return static_cast<double>(work.whole(key, 0)); };
  out.memory_bytes = bytes("read_bytes") + bytes("written_bytes");
  out.link_read_bytes = bytes("link_read_bytes");
  out.link_write_bytes = bytes("link_written_bytes");
  out.requested_bytes = bytes("requested_bytes");
  out.flops = std::max(bytes("flops"), bytes("issued_flops"));
  timing.places = {{"memory_bytes", work.place("read_bytes")},
                   {"link_read_bytes", work.place("link_read_bytes")},
                   {"link_write_bytes", work.place("link_written_bytes")},
                   {"flops", work.place("issued_flops")}};
  work.finish();
  return out;
}

void read_launches(JsonFields& entry, std::int64_t multiprocessors, TimingCase& timing) {
  std::int64_t most = -1;
  for (JsonFields& launch : entry.list("launches")) {
    const std::int64_t blocks = launch.whole("blocks", 1);
    const std::int64_t each = launch.whole("bytes_in_flight_per_block", 0);
    const bool known = launch.flag("known");
    const std::int64_t at_once = launch.whole("blocks_per_multiprocessor", 0) * multiprocessors;
    const double waves = launch.number("waves", 0);
    launch.skip({"kernel", "threads", "shared_bytes", "registers", "local_bytes",
                 "static_shared_bytes", "tail"});
    launch.finish();
    if (each <= most) continue;
    most = each;
    const bool usable = known && at_once > 0 && waves > 0;
    timing.tail = usable ? std::ceil(waves) / waves : 1;
    timing.bytes_in_flight = usable ? static_cast<double>(std::min(blocks, at_once) * each) : 0;
  }
}

TimingRepeat read_interval(JsonFields& entry) {
  JsonFields node = entry.object("dependent_node");
  TimingRepeat repeat;
  repeat.median = node.number("median_ns", -1e18) * 1e-9;
  repeat.low = node.number("low_ns", -1e18) * 1e-9;
  repeat.high = node.number("high_ns", -1e18) * 1e-9;
  node.skip({"covers", "percentiles_ns"});
  node.finish();
  if (entry.number("real_time", 0) * 1e-9 != repeat.median) {
    entry.fail("real_time", "this is not the median of 'dependent_node'");
  }
  if (!(repeat.median > 0)) entry.fail("real_time", "a time must be above 0");
  entry.choice("time_unit", {"ns"});
  return repeat;
}

// Refuses the time of a kernel whose result is wrong.
void read_agreement(JsonFields& entry, const TimingCase& timing, TimingSet& set) {
  JsonFields agreement = entry.object("agreement");
  const double error = agreement.number("error", 0);
  const double tolerance = agreement.number("tolerance", 0);
  const std::int64_t compared = agreement.whole("compared", 0);
  agreement.finish();
  const auto refuse = [&](std::string reason) {
    set.refused.push_back({timing.where, timing.name, "wrong result", std::move(reason)});
  };
  if (compared == 0) refuse("timed without having been compared with float64");
  if (error > tolerance) {
    refuse(fmt::format("its error against float64 is {:.3g}, above the tolerance {:.3g}", error,
                       tolerance));
  }
}

void read_name(JsonFields& entry, const std::string& case_name, const std::string& temperature) {
  const std::string name = entry.text("name");
  const std::int64_t process = entry.whole("repetition_index", 0);
  const std::string run = case_name + '/' + temperature;
  const std::string run_name = entry.text("run_name");
  if (temperature.empty()) return;  // already reported
  if (run_name != run) entry.fail("run_name", fmt::format("this is not '{}'", run));
  if (name != fmt::format("{}/process:{}", run, process)) {
    entry.fail("name",
               fmt::format("'{}' is not '{}/process:{}', as its members say", name, run, process));
  }
}

Entry read_entry(JsonFields& entry, Campaign& campaign) {
  Entry out;
  TimingCase& timing = out.timing;
  const std::string case_name = entry.text("case");
  const std::string temperature = entry.choice("temperature", {"cold", "warm"});
  timing.where = entry.place();
  timing.name = case_name + '/' + temperature;
  timing.temperature = temperature == "warm" ? Temperature::warm : Temperature::cold;
  read_name(entry, case_name, temperature);
  timing.kernel = entry.text("kernel");
  timing.variant = entry.text("variant");
  timing.dtype = entry.text("dtype");
  timing.shape = entry.sizes("shape");
  timing.baseline = entry.flag("baseline");
  timing.work = read_work(entry.object("work"), timing);
  read_launches(entry, campaign.multiprocessors, timing);
  out.repeat = read_interval(entry);
  read_agreement(entry, timing, campaign.set);
  if (entry.flag("over_budget")) {
    if (campaign.over_budget++ == 0) campaign.first_over_budget = timing.where + ": " + timing.name;
  }
  entry.choice("run_type", {"iteration"});
  entry.skip({"repetitions", "threads", "iterations", "cpu_time", "family", "graph",
              "rotation_sets", "rotation_bytes", "flushed", "seed", "points", "launch",
              "clocks_before", "clocks_after", "held_out"});
  entry.finish();
  return out;
}

bool same_case(const TimingCase& a, const TimingCase& b) {
  const auto work = [](const TimedWork& w) {
    return std::array{w.memory_bytes, w.link_read_bytes, w.link_write_bytes, w.requested_bytes,
                      w.flops};
  };
  return a.kernel == b.kernel && a.variant == b.variant && a.dtype == b.dtype &&
         a.shape == b.shape && a.baseline == b.baseline && work(a.work) == work(b.work);
}

void read_entries(JsonFields& document, Campaign& campaign) {
  std::vector<TimingCase> cases;  // in the order of the file
  std::map<std::string, std::vector<TimingRepeat>> repeats;
  std::map<std::string, std::size_t> place;
  std::map<std::string, bool> names;
  for (JsonFields& fields : document.list("benchmarks")) {
    Entry entry = read_entry(fields, campaign);
    const std::string& run = entry.timing.name;
    if (fields.has("name") && !names.emplace(fields.text("name"), true).second) {
      fields.fail("name", fmt::format("'{}' stands twice", fields.text("name")));
    }
    const auto [found, first] = place.emplace(run, cases.size());
    if (!first && !same_case(cases[found->second], entry.timing)) {
      fields.fail("", fmt::format("this process of '{}' has another kernel, shape or work than the "
                                  "one at {}",
                                  run, cases[found->second].where));
    }
    repeats[run].push_back(entry.repeat);
    if (first) cases.push_back(std::move(entry.timing));
  }
  for (TimingCase& timing : cases) {
    const bool refused = std::ranges::any_of(
        campaign.set.refused, [&](const TimingRefusal& r) { return r.name == timing.name; });
    if (refused) continue;
    auto refusal = merge_repeats(repeats.at(timing.name), timing);
    if (refusal) campaign.set.refused.push_back(std::move(*refusal));
    if (refusal) continue;
    campaign.set.cases.push_back(std::move(timing));
  }
}

}  // namespace

TimingSet read_campaign(JsonFields& document, Diagnostics& diagnostics) {
  Campaign campaign;
  campaign.set.format = "campaign";
  const std::string schema = document.text("schema");
  if (schema != kSchema) {
    document.fail("schema", fmt::format("'{}' holds no timings of kernels", schema),
                  fmt::format("wanted: {}", kSchema));
    return {};
  }
  read_context(document.object("context"), campaign);
  read_entries(document, campaign);
  if (campaign.over_budget > 0) {
    campaign.set.notes.push_back(
        fmt::format("{}: took fewer rounds than planned; timings of which that is so: {}",
                    campaign.first_over_budget, campaign.over_budget));
  }
  for (JsonFields& refused : document.list("refused")) {
    const std::string name = refused.text("name");
    campaign.set.notes.push_back(fmt::format("{}: {}: the campaign has no result: {}",
                                             refused.place(), name, refused.text("reason")));
    refused.finish();
  }
  document.finish();
  if (!diagnostics.ok()) return {};
  return std::move(campaign.set);
}

}  // namespace tiersim
