#include "reports/summary/serving_summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "reports/render/table.hpp"
#include "reports/summary/sharing_text.hpp"
#include "reports/summary/summary_parts.hpp"
#include "sim/base/check.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

// A latency of 0 is a value; "-" stands for a missing one.
std::string latency_text(double seconds) {
  return seconds == 0 ? "0 s" : time_text(seconds);
}

// "1 sequence", "2 sequences".
std::string counted(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

class ServingSummary {
 public:
  explicit ServingSummary(const RunRecord& record) : record_(record), serving_(*record.serving) {}

  std::string text() const {
    return fmt::format("{}  (run {})\n\n", printable(record_.name), record_.run_id.substr(0, 12)) +
           setup() + '\n' + latencies() + throughput() + unsettled() + energy() + load() +
           little() + '\n' + memory() + time() + moves() + tiers() + priorities() + channels() +
           trust_line(record_);
  }

 private:
  std::optional<double> find(const std::string& metric) const {
    const auto it = record_.metrics.find(metric);
    if (it == record_.metrics.end()) return std::nullopt;
    return it->second.value;
  }
  double value(const std::string& metric) const { return find(metric).value_or(0); }

  template <class Text>
  std::string interval(const std::string& metric, const Text& text) const {
    const auto it = record_.metrics.find(metric);
    if (it == record_.metrics.end() || !it->second.ci95) return "";
    return fmt::format("[{}, {}]", text(it->second.ci95->low), text(it->second.ci95->high));
  }

  std::string replicas() const {
    const std::string gpus = record_.device.gpus_per_replica == 1
                                 ? "one GPU"
                                 : fmt::format("{} GPUs ({})", record_.device.gpus_per_replica,
                                               sharing_text(record_.device));
    std::string out = serving_.replicas == 1
                          ? "one replica of " + gpus
                          : fmt::format("{} replicas, each of {}", serving_.replicas, gpus);
    const std::string ffn =
        record_.ffn_gpus ? ", and " + counted(*record_.ffn_gpus, "GPU") + " for its MLPs" : "";
    if (serving_.prefill_gpus > 0)
      return fmt::format("{} of {}{} to decode; {} of {} on {} to prefill",
                         counted(serving_.replicas - serving_.prefill_replicas, "replica"), gpus,
                         ffn, counted(serving_.prefill_replicas, "replica"),
                         counted(serving_.prefill_gpus, "GPU"), printable(serving_.prefill_system));
    if (serving_.prefill_replicas > 0)
      out += fmt::format(", {} to prefill and {} to decode", serving_.prefill_replicas,
                         serving_.replicas - serving_.prefill_replicas);
    return out + ffn;
  }

  // The measured window of time.
  std::string window() const {
    const double measured = value("window_s");
    const double all = value("makespan_s");
    if (measured >= all) return fmt::format("{}, the whole run", time_text(measured));
    return fmt::format("{}, from {} to {} of a run of {}", time_text(measured),
                       serving_.window_s.low > 0 ? time_text(serving_.window_s.low) : "0 s",
                       time_text(serving_.window_s.high), time_text(all));
  }

  std::string setup() const {
    const ServingCounts& counts = serving_.counts;
    return fmt::format("model      {} with {}, on {}: {}\n", printable(serving_.model),
                       printable(serving_.method), printable(serving_.system), replicas()) +
           fmt::format("server     {}\n", printable(serving_.policy)) +
           fmt::format("requests   {}, {} of them warm-up: {}\n", counts.requests,
                       counts.requests - counts.counted, printable(serving_.workload)) +
           fmt::format("window     {}\n", window());
  }

  std::string latencies() const {
    struct Row {
      const char* title;
      const char* metric;
    };
    constexpr std::array<Row, 10> kRows{{{"first token (TTFT)", "ttft_s"},
                                         {"in the queue", "queue_time_s"},
                                         {"loading, of this", "load_time_s"},
                                         {"reading the prompt", "prefill_time_s"},
                                         {"not loaded, of this", "recompute_time_s"},
                                         {"output token (TPOT)", "tpot_s"},
                                         {"token to token", "inter_token_latency_s"},
                                         {"end to end", "e2e_latency_s"},
                                         {"session", "session_s"},
                                         {"session, no pauses", "session_busy_s"}}};
    Table table{.title = "Latency",
                .columns = {{"", Align::left},
                            {"mean"},
                            {"95 % of the mean", Align::left},
                            {"p50"},
                            {"p90"},
                            {"p95"},
                            {"p99"}}};
    bool all = true;
    for (const auto& [title, metric] : kRows) {
      const std::string mean = std::string(metric) + ".mean";
      if (!find(mean)) continue;
      std::string ci95 = interval(mean, latency_text);
      // Gaps are counted and not stored, so their mean never has an interval.
      const bool has_none = ci95.empty() && std::string_view(metric) != "inter_token_latency_s";
      all = all && !has_none;
      std::vector<std::string> cells{title, latency_text(value(mean)), ci95.empty() ? "-" : ci95};
      for (const char* quantile : {".p50", ".p90", ".p95", ".p99"})
        cells.push_back(latency_text(value(metric + std::string(quantile))));
      table.add(std::move(cells));
    }
    table.notes.emplace_back(
        "95 %: interval by batch means, for the randomness of this run" +
        std::string(all ? "" : "; - where the run is too short or not steady"));
    if (record_.draws)
      table.notes.back() = fmt::format(
          "95 %: interval of {} draws of the {} numbers that have one, and for the randomness of "
          "this run where it is steady",
          record_.draws->draws, record_.draws->numbers);
    return to_text(table) + '\n';
  }

  std::string share_of_drafts() const {
    const auto share = find("draft_acceptance");
    return share ? fmt::format("; {:.1f} % of the drafts are accepted", 100 * *share) : "";
  }
  std::string gain_of_drafts() const {
    const auto gain = find("speculation_speedup");
    return gain ? fmt::format("; a token takes {} times as long without", number_text(*gain)) : "";
  }

  // Empty where the workload has no sessions.
  std::string sessions() const {
    if (!find("sessions_per_s")) return "";
    std::string out =
        fmt::format("sessions   {} a second end; {}", number_text(value("sessions_per_s")),
                    level("live_sessions", "are under way"));
    if (find("requests_per_session.mean"))
      out += fmt::format(
          "; {} requests each; {:.1f} % left by their users, {:.1f} % at the longest context",
          number_text(value("requests_per_session.mean")), 100 * value("session_abandonment"),
          100 * value("session_context_full"));
    out += '\n';
    if (serving_.unmeasured)
      for (const std::string& metric : *serving_.unmeasured)
        out += "           not measured: " + printable(metric) + '\n';
    if (const auto kept = find("session_slo_attainment"))
      out += fmt::format("           goodput {} sessions/s: {:.1f} % take the server at most {}\n",
                         number_text(value("goodput_sessions_per_s")), 100 * *kept,
                         time_text(serving_.slo_session_s.value_or(0)));
    return out;
  }

  std::string throughput() const {
    const std::string ci95 = interval("throughput_tokens_per_s", number_text);
    std::string out =
        fmt::format("throughput {} tokens/s out{}, {} in; {} requests/s\n",
                    number_text(value("throughput_tokens_per_s")), ci95.empty() ? "" : "  " + ci95,
                    number_text(value("input_tokens_per_s")), number_text(value("requests_per_s")));
    if (const auto tokens = find("acceptance_length"))
      out += fmt::format("drafts     {} tokens an iteration and sequence{}{}\n",
                         number_text(*tokens), share_of_drafts(), gain_of_drafts());
    out += sessions();
    const auto kept = find("slo_attainment");
    if (!kept) return out;
    std::vector<std::string> promises;
    if (serving_.slo_ttft_s) promises.push_back("TTFT " + time_text(*serving_.slo_ttft_s));
    if (serving_.slo_tpot_s) promises.push_back("TPOT " + time_text(*serving_.slo_tpot_s));
    return out + fmt::format("goodput    {} requests/s: {:.1f} % within {}\n",
                             number_text(value("goodput_requests_per_s")), 100 * *kept,
                             join(promises, " and "));
  }

  // Empty where a device states no energy.
  std::string energy() const {
    const auto joules = find("energy_j_per_token");
    if (!joules) return "";
    std::string out = fmt::format(
        "energy     {} J a token out (class {}), {} J of it by the GPUs at {} W each",
        number_text(*joules), name(record_.metrics.at("energy_j_per_token").number_class),
        number_text(value("gpu_energy_j_per_token")), number_text(value("power_w.mean")));
    if (const auto usd = find("cost_usd_per_mtoken"))
      out += fmt::format("; {} USD a million tokens", number_text(*usd));
    return out + '\n';
  }

  // A remark where far more requests arrive than leave: the rates of the window are not the
  // capacity of the server then.
  std::string unsettled() const {
    const double stay = value("e2e_latency_s.mean");
    const double run = value("makespan_s");
    if (stay == 0 || run == 0 || value("window_s") >= run) return "";
    const double arriving = value("little_lambda_w") / stay;
    if (arriving <= 1.25 * value("requests_per_s")) return "";
    const ServingCounts& counts = serving_.counts;
    return fmt::format(
        "unsettled  in the window {} requests/s arrive and {} leave: the window is short, or the "
        "server overloaded\n"
        "           over the whole run {} tokens/s out, {} requests/s\n",
        number_text(arriving), number_text(value("requests_per_s")),
        number_text(static_cast<double>(counts.output_tokens) / run),
        number_text(static_cast<double>(counts.requests) / run));
  }

  // "12.3 wait (most 40)": mean and largest level.
  std::string level(const char* metric, const char* verb) const {
    return fmt::format("{} {} (most {:.0f})", number_text(value(std::string(metric) + ".mean")),
                       verb, value(std::string(metric) + ".max"));
  }

  std::string load() const {
    std::string out = fmt::format("load       {}: {}, {}\n", level("in_flight", "requests"),
                                  level("queue_depth", "wait"), level("running", "run"));
    out += fmt::format("iterations {:.0f}", value("iterations"));
    if (find("batch_size.mean"))
      out +=
          fmt::format("; in a decode iteration {} sequences, {} layers",
                      number_text(value("batch_size.mean")), number_text(value("layers_run.mean")));
    out += fmt::format("; preemptions {:.0f}", value("preemptions"));
    if (find("ffn_gpu_busy"))
      out +=
          fmt::format("\nbusy       GPUs that attend {} of the window, those with the MLPs {}",
                      share_text(value("attention_gpu_busy")), share_text(value("ffn_gpu_busy")));
    if (find("replicas_up.mean"))
      out += fmt::format("; {} replicas up, {:.0f} times a request lost its replica",
                         number_text(value("replicas_up.mean")), value("restarts"));
    if (value("prefix_hit_rate") > 0)
      out += fmt::format("; {} of the input from prefix caches{}",
                         share_text(value("prefix_hit_rate")), where_found());
    return out + '\n';
  }

  // The parts of the prefix caches' share, where there are tiers below the pool.
  std::string where_found() const {
    std::string out;
    for (const auto& [place, said] : {std::pair{"pool", "in the pool"},
                                      {"tier1", "in the first tier below"},
                                      {"tier2", "in the second"},
                                      {"tier3", "further below"}}) {
      const std::string name = fmt::format("prefix_hit_rate.{}", place);
      if (value(name) > 0)
        out += fmt::format("{}{} {}", out.empty() ? " (" : ", ", share_text(value(name)), said);
    }
    return out.empty() ? out : out + ')';
  }

  std::string little() const {
    const double difference = value("little_difference");
    std::string ends;
    if (difference >= 1)
      ends = fmt::format(" ({} times L, from requests at the ends of the window)",
                         number_text(1 + difference));
    else if (std::abs(difference) >= 0.0005)
      ends = fmt::format(" ({:+.1f} %, from requests at the ends of the window)", 100 * difference);
    return fmt::format(
        "Little     L = {} in flight, lambda W = {}{}; over the whole run both are equal\n",
        number_text(value("in_flight.mean")), number_text(value("little_lambda_w")), ends);
  }

  std::string memory() const {
    const KvCapacity& capacity = serving_.capacity;
    std::string out;
    if (!capacity.parts.empty()) {
      Table table{
          .title = serving_.prefill_gpus > 0 ? "Where the memory of one GPU of each kind goes"
                                             : "Where the memory of one GPU goes",
          .columns = {
              {"tier", Align::left}, {"use", Align::left}, {"bytes"}, {"class", Align::left}}};
      for (const KvCapacity::Part& part : capacity.parts)
        table.add({printable(part.tier), printable(part.what), bytes_text(part.bytes),
                   std::string(name(part.number_class))});
      out += to_text(table) + '\n';
    }
    const std::string limited =
        capacity.limited_by.empty() ? "" : "; limited by " + printable(capacity.limited_by);
    const std::string states =
        capacity.state_blocks
            ? fmt::format(", of which a sequence's states take {}", *capacity.state_blocks)
            : "";
    return out +
           fmt::format(
               "KV cache   {} of {}, {} each, on a replica{}{}: {}, {} of full length{}\n"
               "           {:.1f} % in use (most {:.1f} %)\n\n",
               counted(capacity.blocks, "block"), counted(capacity.block_positions, "position"),
               bytes_text(capacity.block_bytes), serving_.prefill_gpus > 0 ? " that answers" : "",
               states, counted(capacity.positions, "position"),
               counted(capacity.max_sequences_full_length, "sequence"), limited,
               100 * value("kv_use.mean"), 100 * value("kv_use.max"));
  }

  std::string time() const {
    const double window = value("window_s");
    const double gpu = value("gpu_busy_share") * window;
    const double host = value("host_wait_share") * window;
    const double copies = value("copy_wait_share") * window;
    return shares_text("Where the time of a replica goes, mean over the window", "part",
                       {{"GPU works", gpu},
                        {"GPU waits for the host", host},
                        {"GPU waits for copies", copies},
                        {"idle", std::max(0.0, window - gpu - host - copies)}});
  }

  std::string moves() const {
    Table table{.title = "KV moves, over the run",
                .columns = {{"purpose", Align::left}, {"times"}, {"bytes"}, {"mean rate"}}};
    const double run = value("makespan_s");
    for (const KvMove& move : serving_.moves)
      if (move.count > 0)
        table.add({printable(move.name), std::to_string(move.count), bytes_text(move.bytes),
                   bytes_text(std::llround(static_cast<double>(move.bytes) / run)) + "/s"});
    return table.rows.empty() ? "" : to_text(table) + '\n';
  }

  std::string tiers() const {
    Table table{
        .title = "KV cache in each tier, all replicas, over the window",
        .columns = {{"tier", Align::left}, {"mean"}, {"most"}, {"capacity"}, {"most / capacity"}}};
    for (const KvTierUse& tier : serving_.tiers)
      table.add({printable(tier.name), bytes_text(std::llround(tier.mean_bytes)),
                 bytes_text(tier.max_bytes), bytes_text(tier.capacity_bytes),
                 tier.capacity_bytes == 0 ? "-"
                                          : share_text(static_cast<double>(tier.max_bytes) /
                                                       static_cast<double>(tier.capacity_bytes))});
    return table.rows.empty() ? "" : to_text(table) + '\n';
  }

  // Empty where all requests have the same priority.
  std::string priorities() const {
    if (!serving_.priorities) return "";
    const bool promised = serving_.slo_ttft_s || serving_.slo_tpot_s;
    Table table{.title = "Latencies by priority (a lower number goes first)",
                .columns = {{"priority"},
                            {"requests"},
                            {"queue, mean"},
                            {"TTFT, mean"},
                            {"p90"},
                            {"p99"},
                            {"TPOT, mean"},
                            {"p99"},
                            {"end to end, mean"},
                            {"p99"}}};
    if (promised) table.columns.push_back({"within limits"});
    for (const ServedPriority& one : *serving_.priorities) {
      std::vector<std::string> row{std::to_string(one.priority),
                                   std::to_string(one.requests),
                                   time_text(one.queue_time_s.mean),
                                   time_text(one.ttft_s.mean),
                                   time_text(one.ttft_s.p90),
                                   time_text(one.ttft_s.p99),
                                   one.tpot_s ? time_text(one.tpot_s->mean) : "-",
                                   one.tpot_s ? time_text(one.tpot_s->p99) : "-",
                                   time_text(one.e2e_latency_s.mean),
                                   time_text(one.e2e_latency_s.p99)};
      if (promised) row.push_back(share_text(one.slo_attainment.value_or(0)));
      table.add(std::move(row));
    }
    return to_text(table) + '\n';
  }

  // Channels in the order of utilisation, without those never used.
  std::string channels() const {
    std::vector<std::pair<std::string, double>> used;
    for (const auto& [channel, share] : record_.channel_utilisation)
      if (share > 0) used.emplace_back(channel, share);
    std::ranges::stable_sort(used, std::greater<>{}, &std::pair<std::string, double>::second);
    Table table{.title = "Use of devices, mean over the run",
                .columns = {{"channel", Align::left}, {"share"}}};
    for (const auto& [channel, share] : used) table.add({printable(channel), share_text(share)});
    return table.rows.empty() ? "" : to_text(table) + '\n';
  }

  const RunRecord& record_;
  const ServingRecord& serving_;
};

}  // namespace

std::string serving_summary_text(const RunRecord& record) {
  TS_EXPECTS(record.serving.has_value());
  return ServingSummary(record).text();
}

}  // namespace tiersim
