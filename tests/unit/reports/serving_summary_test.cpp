#include "reports/summary/serving_summary.hpp"

#include <gtest/gtest.h>

#include "reports/serving/timeline_figure.hpp"
#include "reports/summary/run_summary.hpp"

namespace tiersim::serving_summary_test {
namespace {

void set(RunRecord& r, const std::string& name, double value) {
  r.metrics[name] = {value, "s", NumberClass::fitted, {}};
}

void distribution(RunRecord& r, const std::string& name, double mean) {
  set(r, name + ".mean", mean);
  for (const auto& [quantile, factor] :
       {std::pair{".p50", 1.0}, {".p90", 2.0}, {".p95", 2.5}, {".p99", 4.0}})
    set(r, name + quantile, factor * mean);
}

// 100 requests over 100 s, ten of them warm-up.
RunRecord record() {
  RunRecord r;
  r.name = "demo";
  r.run_id = "0123456789abcdef";
  distribution(r, "ttft_s", 0.1);
  distribution(r, "tpot_s", 0.02);
  distribution(r, "inter_token_latency_s", 0.02);
  distribution(r, "e2e_latency_s", 2);
  distribution(r, "queue_time_s", 0);
  r.metrics["ttft_s.mean"].ci95 = {0.09, 0.11};
  r.metrics["throughput_tokens_per_s"] = {100, "tokens/s", NumberClass::fitted, {{95, 105}}};
  for (const auto& [name, value] : {std::pair{"input_tokens_per_s", 1000.0},
                                    {"requests_per_s", 1.0},
                                    {"slo_attainment", 0.9},
                                    {"goodput_requests_per_s", 0.9},
                                    {"window_s", 80.0},
                                    {"makespan_s", 100.0},
                                    {"in_flight.mean", 2.0},
                                    {"in_flight.max", 7.0},
                                    {"queue_depth.mean", 0.5},
                                    {"queue_depth.max", 3.0},
                                    {"running.mean", 1.5},
                                    {"running.max", 4.0},
                                    {"batch_size.mean", 1.5},
                                    {"layers_run.mean", 32.0},
                                    {"kv_use.mean", 0.25},
                                    {"kv_use.max", 0.5},
                                    {"gpu_busy_share", 0.6},
                                    {"host_wait_share", 0.1},
                                    {"prefix_hit_rate", 0.0},
                                    {"preemptions", 3.0},
                                    {"iterations", 5000.0},
                                    {"little_lambda_w", 1.9},
                                    {"little_difference", -0.05}})
    set(r, name, value);
  ServingRecord& serving = r.serving.emplace();
  serving.model = "llama";
  serving.method = "dense";
  serving.system = "h100";
  serving.policy = "chunked batching";
  serving.workload = "1 a second, Poisson";
  serving.counts = {.requests = 100, .counted = 90};
  serving.window_s.low = 10;
  serving.window_s.high = 90;
  serving.capacity = {.parts = {{"hbm", "weights", 13'958'643'712, NumberClass::specification},
                                {"hbm", "runtime reserve", 1'073'741'824, NumberClass::assumed}},
                      .block_positions = 16,
                      .block_bytes = 8'388'608,
                      .blocks = 1000,
                      .positions = 16'000,
                      .max_sequences_full_length = 7,
                      .limited_by = "hbm"};
  serving.moves = {{"swap_out", 8'388'608'000, 3}, {"swap_in", 0, 0}};
  serving.slo_ttft_s = 0.2;
  serving.slo_tpot_s = 0.05;
  serving.timeline = {
      .bin_s = 60,
      .last_bin_s = 40,
      .queue_depth = {0, 1},
      .running = {2, 1},
      .kv_use = {0.5, 0.25},
      .input_tokens_per_s = {1000, 500},
      .output_tokens_per_s = {100, 50},
      .utilisation = {{"gpu", {1, 0.5}}, {"idle.bus", {0, 0}}, {"hbm.bus", {0.5, 0.5}}}};
  r.channel_utilisation = {{"hbm.bus", 0.5}, {"link.up", 0.75}, {"idle.bus", 0}};
  return r;
}

std::string text() {
  return serving_summary_text(record());
}

void expect_holds(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no\n" << part << "\nin\n" << text;
}

TEST(ServingSummary, IsTheSummaryOfARecordOfServing) {
  EXPECT_EQ(summary_text(record()), text());
}

TEST(ServingSummary, SaysWhatWasRunAndOverWhichTime) {
  expect_holds(text(),
               "demo  (run 0123456789ab)\n"
               "\n"
               "model      llama with dense, on h100: one replica of one GPU\n"
               "server     chunked batching\n"
               "requests   100, 10 of them warm-up: 1 a second, Poisson\n"
               "window     80 s, from 10 s to 90 s of a run of 100 s\n");
}

TEST(ServingSummary, PrintsMeansWithIntervalsAndQuantiles) {
  expect_holds(text(),
               "Latency\n"
               "                       mean  95 % of the mean     p50     p90     p95     p99\n"
               "-------------------  ------  ----------------  ------  ------  ------  ------\n"
               "first token (TTFT)   100 ms  [90 ms, 110 ms]   100 ms  200 ms  250 ms  400 ms\n"
               "in the queue            0 s  -                    0 s     0 s     0 s     0 s\n"
               "output token (TPOT)   20 ms  -                  20 ms   40 ms   50 ms   80 ms\n"
               "token to token        20 ms  -                  20 ms   40 ms   50 ms   80 ms\n"
               "end to end              2 s  -                    2 s     4 s     5 s     8 s\n"
               "  95 %: interval by batch means, for the randomness of this run; - where the run "
               "is too short or not steady\n");
}

TEST(ServingSummary, PrintsRatesLoadAndLittlesLaw) {
  expect_holds(
      text(),
      "throughput 100 tokens/s out  [95, 105], 1000 in; 1 requests/s\n"
      "goodput    0.9 requests/s: 90.0 % within TTFT 200 ms and TPOT 50 ms\n"
      "load       2 requests (most 7): 0.5 wait (most 3), 1.5 run (most 4)\n"
      "iterations 5000; in a decode iteration 1.5 sequences, 32 layers; preemptions 3\n"
      "Little     L = 2 in flight, lambda W = 1.9 (-5.0 %, from requests at the ends of the "
      "window); over the whole run both are equal\n");
}

TEST(ServingSummary, OfAWholeRunSaysSo) {
  RunRecord r = record();
  set(r, "window_s", 100);
  set(r, "little_lambda_w", 2);
  set(r, "little_difference", 1e-16);
  const std::string out = serving_summary_text(r);
  expect_holds(out, "window     100 s, the whole run\n");
  expect_holds(out,
               "Little     L = 2 in flight, lambda W = 2; over the whole run both are equal\n");
}

// 50 a second over 4 s of 200 requests that end within 40 s: 5 a second. Each stays for 20 s.
TEST(ServingSummary, SaysThatMoreArriveThanLeave) {
  RunRecord r = record();
  for (const auto& [name, value] : {std::pair{"window_s", 4.0},
                                    {"makespan_s", 40.0},
                                    {"requests_per_s", 0.5},
                                    {"e2e_latency_s.mean", 20.0},
                                    {"in_flight.mean", 100.0},
                                    {"little_lambda_w", 1000.0},
                                    {"little_difference", 9.0}})
    set(r, name, value);
  r.serving->counts = {.requests = 200, .counted = 180, .output_tokens = 20'000};
  const std::string out = serving_summary_text(r);
  expect_holds(out,
               "unsettled  in the window 50 requests/s arrive and 0.5 leave: the window is short, "
               "or the server overloaded\n"
               "           over the whole run 500 tokens/s out, 5 requests/s\n");
  expect_holds(out, "lambda W = 1000 (10 times L, from requests at the ends of the window)");
  EXPECT_EQ(text().find("unsettled"), std::string::npos);
}

TEST(ServingSummary, CountsOneOfAThingAsOne) {
  RunRecord r = record();
  r.serving->capacity.block_positions = 1;
  r.serving->capacity.max_sequences_full_length = 1;
  const std::string out = serving_summary_text(r);
  expect_holds(out, "blocks of 1 position, ");
  expect_holds(out, " 1 sequence of full length");
}

TEST(ServingSummary, PrintsAnIntervalThatBeginsAtZero) {
  RunRecord r = record();
  r.metrics["ttft_s.mean"].ci95 = {0, 0.25};
  expect_holds(serving_summary_text(r), "[0 s, 250 ms]");
}

// A run of requests of one token, without promises.
TEST(ServingSummary, LeavesOutWhatTheRunDoesNotHave) {
  RunRecord r = record();
  for (const char* name : {"tpot_s.mean", "inter_token_latency_s.mean", "slo_attainment",
                           "goodput_requests_per_s", "batch_size.mean", "layers_run.mean"})
    r.metrics.erase(name);
  r.serving->moves.clear();
  const std::string out = serving_summary_text(r);
  for (const char* word :
       {"TPOT", "token to token", "goodput", "in a decode iteration", "KV moves"})
    EXPECT_EQ(out.find(word), std::string::npos) << word << " in\n" << out;
}

TEST(ServingSummary, SaysWhereMemoryGoes) {
  expect_holds(text(),
               "Where the memory of one GPU goes\n"
               "tier  use               bytes  class\n"
               "----  ---------------  ------  -------------\n"
               "hbm   weights          13 GiB  specification\n"
               "hbm   runtime reserve   1 GiB  assumed\n"
               "\n"
               "KV cache   1000 blocks of 16 positions, 8 MiB each, on a replica: 16000 positions, "
               "7 sequences of full length; limited by hbm\n"
               "           25.0 % in use (most 50.0 %)\n");
}

// 60 and 10 % of a window of 80 s.
TEST(ServingSummary, SaysWhereTimeGoes) {
  expect_holds(text(),
               "GPU works               48 s  60.0 %  ##################\n"
               "GPU waits for the host   8 s  10.0 %  ###\n"
               "idle                    24 s  30.0 %  #########\n");
}

// 8388608000 B over 100 s are 80 MiB/s.
TEST(ServingSummary, SaysWhatMovedAndWhichDevicesAreBusy) {
  expect_holds(text(),
               "KV moves, over the run\n"
               "purpose   times      bytes  mean rate\n"
               "--------  -----  ---------  ---------\n"
               "swap_out      3  7.812 GiB   80 MiB/s\n"
               "\n"
               "Use of devices, mean over the run\n"
               "channel   share\n"
               "-------  ------\n"
               "link.up  75.0 %\n"
               "hbm.bus  50.0 %\n");
}

TEST(ServingSummary, SaysHowReplicasShareTheWork) {
  RunRecord r = record();
  r.serving->replicas = 4;
  r.serving->prefill_replicas = 1;
  r.device.gpus_per_replica = 2;
  r.device.tensor = 2;
  r.device.attention = "tensor";
  expect_holds(serving_summary_text(r),
               "on h100: 4 replicas, each of 2 GPUs (tensor 2), 1 to prefill and 3 to decode\n");
}

TEST(ServingSummary, ShowsControlCharactersAsEscapes) {
  RunRecord r = record();
  r.serving->workload = "trace a\x1b[31m.csv";
  const std::string out = serving_summary_text(r);
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  expect_holds(out, "trace a\\x1b[31m.csv");
}

// 100 s on 640 px from x = 72: the first bin ends at 60 s, the window is from 10 to 90 s.
TEST(ServingTimeline, DrawsABinAsAStep) {
  const std::string svg = serving_timeline_svg(record());
  expect_holds(svg, "<title>demo: requests over time</title>");
  expect_holds(svg, "llama on h100; 1 a second, Poisson. Means over 60 s each.");
  EXPECT_NE(svg.find("points=\"72,"), std::string::npos) << svg;
  EXPECT_NE(svg.find(" 456,"), std::string::npos) << svg;
  EXPECT_NE(svg.find(" 712,"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<line x1=\"136\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("<line x1=\"648\""), std::string::npos) << svg;
  for (const char* title : {"requests", "output tokens/s", "input tokens/s", "KV blocks in use, %",
                            "use of devices, %", "waiting", "running", "gpu", "hbm.bus"})
    EXPECT_NE(svg.find(std::string(">") + title + "</text>"), std::string::npos) << title;
  EXPECT_EQ(svg.find("idle.bus"), std::string::npos) << "what nothing used is left out";
}

// Of four bins of 25 s, each 160 px wide, the first two read prompts and the last three put tokens
// out. Bins side by side are one bar.
TEST(ServingTimeline, MarksPrefillAndDecode) {
  RunRecord r = record();
  r.serving->timeline = {.bin_s = 25,
                         .last_bin_s = 25,
                         .queue_depth = {0, 0, 0, 0},
                         .running = {1, 1, 1, 1},
                         .kv_use = {0, 0, 0, 0},
                         .input_tokens_per_s = {1000, 500, 0, 0},
                         .output_tokens_per_s = {0, 10, 10, 10},
                         .utilisation = {}};
  const std::string svg = serving_timeline_svg(r);
  expect_holds(svg, ">prefill</text>");
  expect_holds(svg, ">decode</text>");
  const auto bar = [&](const std::string& colour) {
    const std::size_t fill = svg.find("fill=\"" + colour + '"');
    EXPECT_EQ(svg.find("fill=\"" + colour + '"', fill + 1), std::string::npos) << "one bar";
    const std::size_t begin = svg.rfind("<rect", fill);
    return svg.substr(begin, fill - begin);
  };
  expect_holds(bar("#444444"), "x=\"72\"");
  expect_holds(bar("#444444"), "width=\"320\"");
  expect_holds(bar("#9A9A9A"), "x=\"232\"");
  expect_holds(bar("#9A9A9A"), "width=\"480\"");
}

// 1 and 2 GiB: the axis ends at 2.
TEST(ServingTimeline, ShowsWhatTiersHoldWhereThatIsKnown) {
  RunRecord r = record();
  EXPECT_EQ(serving_timeline_svg(r).find("GiB"), std::string::npos);
  r.serving->timeline.held_bytes = {{"hbm", {1073741824, 2147483648}}, {"pool", {0, 0}}};
  const std::string svg = serving_timeline_svg(r);
  expect_holds(svg, ">keys and values held, GiB</text>");
  expect_holds(svg, ">pool</text>");
}

// Names of four channels and the GPU do not fit beside the title: they are a line of 16 px below
// it.
TEST(ServingTimeline, PutsLongNamesBelowTheTitle) {
  const auto place = [](const std::string& svg, const std::string& text) {
    const std::size_t end = svg.find(">" + text + "</text>");
    const std::size_t y = svg.rfind(" y=\"", end) + 4;
    return std::stod(svg.substr(y));
  };
  RunRecord r = record();
  const std::string beside = serving_timeline_svg(r);
  EXPECT_DOUBLE_EQ(place(beside, "hbm.bus"), place(beside, "use of devices, %"));
  for (const char* name : {"cxl_port.from_gpu", "cxl_port.to_gpu", "copy_engine.from_gpu"})
    r.serving->timeline.utilisation.push_back({name, {0.5, 0.25}});
  const std::string below = serving_timeline_svg(r);
  EXPECT_DOUBLE_EQ(place(below, "hbm.bus"), place(below, "use of devices, %") + 16);
}

TEST(ServingTimeline, AShortRunCountsInMilliseconds) {
  RunRecord r = record();
  r.serving->timeline.bin_s = 0.06;
  r.serving->timeline.last_bin_s = 0.04;
  r.serving->window_s.low = 0;
  r.serving->window_s.high = 0.1;
  expect_holds(serving_timeline_svg(r), ">time, ms</text>");
}

TEST(ServingTimeline, OfAnEmptyTimelineIsADrawing) {
  RunRecord r = record();
  r.serving->timeline = {};
  expect_holds(serving_timeline_svg(r), "</svg>");
}

}  // namespace
}  // namespace tiersim::serving_summary_test
