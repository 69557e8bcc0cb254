// SPDX-License-Identifier: MIT
// The fixes of the gradients' exchange: when they apply, and what they say. Four ranks whose all-reduces have a
// latency of 40 µs and 100 GB/s.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>

#include "analyzer/whatif/best_order.h"
#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/predict_findings.h"
#include "analyzer/whatif/time_of_bytes.h"
#include "analyzer/whatif/transfers.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

std::string job(const std::string& collectives, const std::string& head = "") {
  return "plants: nothing\nexpect: nothing\njitter 0%\nranks 4\n" + head +
         "thread main\n  steps 12\n"
         "    repeat 5\n      launch bwd 1ms blocks=800 bytes=8MB phase=backward\n"
         "    record ready\n    await ready stream=comm\n" +
         collectives +
         "    record reduced stream=comm\n    await reduced\n"
         "    launch sgd 300us bytes=100MB phase=update\n    launch tiny 2us phase=update\n"
         "    sync stream\n";
}

const std::string kSmall = "    repeat 20\n      collective allreduce 64KB 40640ns\n";
const std::string kLarge =
    "    collective allreduce 100MB 1040us\n    collective allreduce 64KB 40640ns\n";
const std::string kNodes = "setting ranks_per_node 2\n";

struct Asked {
  Asked(const std::string& text, std::string_view fix, std::string_view dtype = "",
        MachineFacts machine = {})
      : trace(test::planted_trace(text)) {
    if (!dtype.empty())
      for (trace::Collective& one : trace.collectives) one.dtype = trace.strings.add(dtype);
    analysis = analyze(trace);
    predictor.emplace(trace, analysis, std::move(machine));
    REQUIRE(predictor->missing().empty());
    proposal = find_fix(fix)->propose(*predictor);
  }
  double gain_us() const {
    REQUIRE(proposal.applies);
    return static_cast<double>(predictor->predict(proposal.scenario).gain.ns) / 1e3;
  }

  trace::Trace trace;
  Analysis analysis;
  std::optional<Predictor> predictor;
  Proposal proposal;
};

std::string why_not(const std::string& text, std::string_view fix, std::string_view dtype = "") {
  const Asked asked(text, fix, dtype);
  CHECK(!asked.proposal.applies);
  return asked.proposal.text;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("small messages fill buckets: a megabyte first, then all that is left") {
  const Asked asked(job(kSmall + "    collective allreduce 10MB 140us\n"), "larger-buckets");
  CAPTURE(asked.proposal.text);
  CHECK(contains(asked.proposal.text, "21 all-reduces per step become 2"));
  CHECK(contains(asked.proposal.text, "latency 40.0 µs, 100.0 GB/s"));
  // 20 · 40.64 + 140 µs become 40 + 10.88 and 40 + 101.92 µs; 19 pauses between messages go as well.
  CHECK(asked.gain_us() > 760);
  CHECK(asked.gain_us() < 760 + 19 * 3);
  CHECK(asked.proposal.setting == "--bucket-mb 25 --first-bucket-mb 1");
}

TEST_CASE("buckets are no larger than what is left to send after the backward pass allows") {
  // 64 messages of 40 us + 4 GB/s, as gradients come: a bucket of 25 MiB would wait for the last of them.
  std::string backward;
  for (int i = 0; i < 8; ++i)
    backward +=
        "    launch bwd 1ms blocks=800 bytes=8MB phase=backward\n    record ready\n"
        "    await ready stream=comm\n    repeat 8\n      collective allreduce 256KB 104us\n";
  const Asked asked(job(backward + "    collective allreduce 64KB 56us\n"), "larger-buckets");
  CAPTURE(asked.proposal.text);
  CHECK(asked.gain_us() > 0);
  CHECK(contains(asked.proposal.setting, "--first-bucket-mb 1"));
  CHECK(!contains(asked.proposal.setting, "--bucket-mb 25"));
}

TEST_CASE("in PyTorch, which has one size for all, no other first bucket is proposed") {
  // As above, but of 1 ms + 4 GB/s: 64 messages as gradients come.
  const auto proposed = [](const std::string& kernel) {
    std::string backward;
    for (int i = 0; i < 8; ++i)
      backward +=
          "    launch \"" + kernel +
          "\" 1ms blocks=800 bytes=8MB phase=backward\n    record ready\n"
          "    await ready stream=comm\n    repeat 8\n      collective allreduce 256KB 1064us\n";
    const Asked asked(job(backward + "    collective allreduce 64KB 1016us\n"), "larger-buckets");
    REQUIRE(asked.proposal.applies);
    return asked.proposal.setting;
  };
  CHECK(proposed("bwd") == "--bucket-mb 5 --first-bucket-mb 2");
  CHECK(proposed("at::native::bwd") == "--bucket-mb 5 --first-bucket-mb 5");
}

TEST_CASE("a first bucket that the program set smaller stays, where it starts earlier") {
  // The second message of 30 MB comes a millisecond after the first of 300 kB, and the last bytes go
  // long after the backward pass.
  std::string backward;
  for (const char* message : {"300KB 115us", "30MB 7540us", "4MB 1040us", "4MB 1040us"})
    backward +=
        std::string("    launch bwd 1ms blocks=800 bytes=8MB phase=backward\n    record ready\n") +
        "    await ready stream=comm\n    collective allreduce " + message + "\n";
  const Asked usual(job(backward), "larger-buckets");
  const Asked kept(job(backward, "setting first_bucket_mb 0.25\n"), "larger-buckets");
  CAPTURE(usual.proposal.setting);
  // Where one of 1 MiB would cut the second message is not known.
  CHECK(contains(usual.proposal.setting, "--first-bucket-mb 25"));
  CHECK(contains(kept.proposal.setting, "--first-bucket-mb 0.25"));
  CHECK(kept.gain_us() > usual.gain_us());
}

TEST_CASE("messages of 25 MiB fill larger buckets where their fixed costs are high") {
  std::string backward;
  for (int i = 0; i < 4; ++i)
    backward +=
        "    launch bwd 1ms blocks=800 bytes=8MB phase=backward\n    record ready\n"
        "    await ready stream=comm\n    collective allreduce 28MB 4280us\n";
  const Asked asked(job(backward + "    collective allreduce 1MB 4010us\n"), "larger-buckets");
  CAPTURE(asked.proposal.text);
  REQUIRE(asked.proposal.applies);
  CHECK(contains(asked.proposal.setting, "--bucket-mb 100"));
  // Three of the five fixed costs of 4 ms go, and the first message begins 3 ms later.
  CHECK(asked.gain_us() == doctest::Approx(9000).epsilon(0.05));
}

TEST_CASE("a large message goes in parts, each when its gradients are there") {
  // Five kernels of 1 ms compute the gradients; 100 MB take 1.04 ms after them.
  const Asked asked(job(kLarge), "smaller-buckets");
  CAPTURE(asked.proposal.text);
  CHECK(contains(asked.proposal.text, "2 messages per step become"));
  CHECK(contains(asked.proposal.text, "as evenly as kernels run"));
  CHECK(asked.proposal.setting == "--bucket-mb 25");
  // What is left after the last kernel is a fifth of it: 40 + 200 µs.
  CHECK(asked.gain_us() == doctest::Approx(800).epsilon(0.05));
  CHECK(contains(why_not(job(kSmall + kSmall), "smaller-buckets"), "larger than 5 MiB"));
  CHECK(contains(why_not(job("    collective reduce 100MB 6200us\n"), "smaller-buckets"),
                 "parameter server"));
}

TEST_CASE("kernels whose names count the buckets are no rounds of a compressed sum") {
  // headway-train on a processor: each bucket's kernel has a name.
  const std::string buckets =
      "    launch \"pack bucket 0\" 20us bytes=128KB stream=comm\n    collective allreduce 64KB "
      "40640ns\n    repeat 5\n      launch bwd 1ms blocks=800 bytes=8MB phase=backward\n"
      "    record others\n    await others stream=comm\n"
      "    launch \"pack bucket 1\" 20us bytes=200MB stream=comm\n    collective allreduce 100MB "
      "1040us\n";
  const Asked asked(job(buckets), "smaller-buckets");
  CAPTURE(asked.proposal.text);
  REQUIRE(asked.proposal.applies);
  CHECK(asked.gain_us() == doctest::Approx(800).epsilon(0.05));
}

TEST_CASE("a ring of processors has no slices that make small pieces slow") {
  // 1 MB of each of three ranks goes to the fourth and back. A ring passes on pieces of 256 kB.
  const std::string sums =
      job("    collective reduce 1MB 6100us\n    collective reduce 2MB 12100us\n"
          "    collective reduce 4MB 24100us\n");
  Asked gpu(sums, "all-reduce-instead-of-parameter-server");
  REQUIRE(gpu.proposal.applies);
  for (trace::Device& device : gpu.trace.devices) device.type = trace::DeviceType::kHost;
  const Proposal host = find_fix("all-reduce-instead-of-parameter-server")->propose(*gpu.predictor);
  REQUIRE(host.applies);
  CAPTURE(gpu.proposal.text);
  CAPTURE(host.text);
  const double us = static_cast<double>(gpu.predictor->predict(host.scenario).gain.ns) / 1e3;
  // A byte of one rank takes 2 ns there and back, and three quarters of it in a ring: 10.5 ms for 7 MB.
  CHECK(us == doctest::Approx(42'300 - 10'500).epsilon(0.05));
  CHECK(gpu.gain_us() < us - 7'000);
}

TEST_CASE("what bytes take beyond the largest recorded message may be half") {
  // 21 messages of at most 65 kB make one of a megabyte and one of the rest.
  const std::string sums = kSmall + "    collective allreduce 32KB 40320ns\n";
  const Asked asked(job(sums + sums), "larger-buckets");
  REQUIRE(asked.proposal.applies);
  REQUIRE(asked.proposal.otherwise.size() == 1);
  const double more =
      static_cast<double>(asked.predictor->predict(asked.proposal.otherwise.front()).gain.ns) /
          1e3 -
      asked.gain_us();
  // 2.6 MB at 100 GB/s take 26 µs, and 1.2 or 1.5 of it are those of the recorded size.
  CHECK(more == doctest::Approx((26.2 - 2 * 0.65) / 2).epsilon(0.05));
  // One of 10 MB has been recorded: nothing is beyond it.
  const Asked within(job(kSmall + "    collective allreduce 10MB 140us\n"), "larger-buckets");
  CHECK(within.proposal.otherwise.size() <= 1);
}

TEST_CASE(
    "buckets do not apply where nothing tells latency from bandwidth, nor where messages are "
    "large") {
  CHECK(contains(why_not(job(kSmall), "larger-buckets"), "one size"));
  CHECK(contains(
      why_not(job("    collective allreduce 120MB 1240us\n    collective allreduce 240MB 2440us\n"),
              "larger-buckets"),
      "100 MiB"));
  CHECK(contains(why_not(job("    collective broadcast 30MB 340us\n"), "larger-buckets"),
                 "known size"));
}

TEST_CASE(
    "compressed gradients are gathered: where nothing else is exchanged, gathers fill buckets") {
  const std::string gathers =
      "    repeat 20\n      collective allgather 64KB 40640ns\n    collective allgather 10MB "
      "140us\n";
  const Asked asked(job(gathers), "larger-buckets");
  CAPTURE(asked.proposal.text);
  CHECK(contains(asked.proposal.text, "21 all-gathers per step become 2"));
  CHECK(asked.gain_us() > 700);
  CHECK(contains(why_not(job(gathers + "    collective allreduce 30MB 340us\n"), "larger-buckets"),
                 "one size"));
}

/// What is known of links between such GPUs: of 2 ranks, whose ring of 4 has three times the hops and moves half
/// as much more.
MachineFacts calibrated_links(double latency_ns, double bytes_per_s, std::string backend = "nccl",
                              std::string kind = "allreduce") {
  MachineCalibration calibration;
  calibration.measured = "2026-11-22T09:10:00Z";
  calibration.devices = {{"NVIDIA A100-SXM4-80GB", "", 0, {}, {}}};
  calibration.devices[0].collectives = {
      {std::move(backend), std::move(kind), 2, latency_ns, bytes_per_s, 0, 1 << 10, 1 << 30, 90}};
  return MachineFacts(calibration);
}

TEST_CASE("a calibration tells latency from bandwidth where the recorded messages do not") {
  // The truth of the test above: 40 µs and 100 GB/s for four ranks.
  const double latency_of_two = 40'000.0 / 3;
  const Asked asked(job(kSmall), "larger-buckets", "", calibrated_links(latency_of_two, 150e9));
  CAPTURE(asked.proposal.text);
  CHECK(contains(asked.proposal.text, "20 all-reduces per step become 2"));
  CHECK(contains(asked.proposal.text,
                 "latency 40.0 µs, 100.0 GB/s, measured 2026-11-22 on NVIDIA A100-SXM4-80GB (nccl, "
                 "2 ranks, by hops and shares for 4) and scaled to the 960 recorded all-reduces"));
  // Two messages of 1.088 and 0.192 MB take 40 + 10.88 and 40 + 1.92 µs.
  const double gain = 20 * 40.64 - 80 - 12.8;
  CHECK(asked.gain_us() > gain);
  CHECK(asked.gain_us() < gain + 19 * 3);
}

TEST_CASE("a machine that was busier than the calibration keeps its recorded pace") {
  // Half the latency and twice the rate: everything took twice as long when it was recorded.
  const Asked asked(job(kSmall), "larger-buckets", "", calibrated_links(20'000.0 / 3, 300e9));
  CHECK(contains(asked.proposal.text, "latency 40.0 µs, 100.0 GB/s, measured"));
}

TEST_CASE(
    "recorded collectives of several sizes win over a calibration, and another backend's is none") {
  const Asked several(job(kSmall + "    collective allreduce 10MB 140us\n"), "larger-buckets", "",
                      calibrated_links(1, 1e9));
  CHECK(contains(several.proposal.text, "latency 40.0 µs, 100.0 GB/s, fitted to 1008 all-reduces"));
  const Asked other(job(kSmall), "larger-buckets", "", calibrated_links(1, 1e9, "mpi"));
  CHECK(!other.proposal.applies);
}

TEST_CASE(
    "without a parameter server all gradients go by rings, small ones at the hop that sums at the "
    "root show") {
  // 200 µs whatever the size, there and back, and 6 times the bytes at 100 GB/s.
  const std::string sums =
      "    collective reduce 100MB 6200us\n    collective reduce 1MB 260us\n"
      "    collective reduce 16KB 201us\n";
  const std::string apart = "setting ranks_per_node 1\n";
  const Asked asked(job(sums + "    collective reduce 4B 200us\n", apart),
                    "all-reduce-instead-of-parameter-server");
  CAPTURE(asked.proposal.text);
  CHECK(contains(asked.proposal.text, "144 sums at one of 4 ranks become rings"));
  // 6 hops of 100 µs each, and what a message takes over the root's link, 3/4 of it, twice as long in small pieces.
  const double after = 3 * 600 + 0.75 * (2'000 * 1.02 + 2 * 20 + 2 * 0.3);
  CHECK(asked.gain_us() == doctest::Approx(6'661 - after).epsilon(0.02));
  // Of one size nothing tells the hop: 14 µs.
  const Asked alike(job("    collective reduce 100MB 6200us\n", apart),
                    "all-reduce-instead-of-parameter-server");
  CHECK(alike.gain_us() ==
        doctest::Approx(6'200 - (6 * 14 + 0.75 * 1.02 * 6'200 / 3)).epsilon(0.02));
}

TEST_CASE("collectives end a graph, and captured ones may save their launches as well") {
  const Asked asked(job(kSmall), "cuda-graph");
  CHECK(contains(asked.proposal.text, "between device waits and collectives"));
  REQUIRE(!asked.proposal.otherwise.empty());
  const Scenario& captured = asked.proposal.otherwise.front();
  CHECK(captured.edits.size() > asked.proposal.scenario.edits.size() + 20);
}

TEST_CASE("half gradients halve what bytes take, and add two kernels a message") {
  const Asked asked(job(kLarge), "compress-gradients");
  // Bytes: 500 µs less; 25 million values of 14 + 6 bytes at 85 % of 2 TB/s: 294 µs more, and the starts of four kernels.
  CHECK(asked.gain_us() < 500 - 294);
  CHECK(asked.gain_us() > 500 - 294 - 4 * 3);
  CHECK(contains(why_not(job(kLarge), "compress-gradients", "ncclFloat16"), "single precision"));
  CHECK(contains(why_not(job(kLarge), "compress-gradients", "BFloat16"), "single precision"));
  CHECK(Asked(job(kLarge), "compress-gradients", "Float").proposal.applies);
  CHECK(contains(
      why_not(job(kLarge, "device cuda \"Some Accelerator\" sms=100\n"), "compress-gradients"),
      "memory"));
}

TEST_CASE(
    "sizes that hardly differ beside what transfers scatter tell latency from bandwidth badly") {
  // The larger ones take longer by 1 µs in the mean, and each by up to 20 µs more or less.
  const Asked badly(
      job("    collective allreduce 5MB 240us\n    collective allreduce 5200KB 221us\n"
          "    collective allreduce 5MB 200us\n    collective allreduce 5200KB 221us\n"
          "    collective allreduce 5MB 220us\n    collective allreduce 5200KB 221us\n"),
      "compress-gradients");
  CAPTURE(badly.proposal.text);
  CHECK(badly.proposal.otherwise.size() == 2);
  CHECK(Asked(job(kLarge), "compress-gradients").proposal.otherwise.empty());
}

TEST_CASE("what takes long for a few bytes does not wait for them") {
  const Asked tiny(job("    repeat 20\n      collective allreduce 1KB 100us\n"),
                   "compress-gradients");
  // 512 bytes fewer, over a link of 1 Gb/s at least, and two kernels more: nothing is gained.
  CHECK(tiny.gain_us() < 0);
  CHECK(time_of_bytes(1024, {0, 1}, 50'000, false).most == doctest::Approx(8192));
  CHECK(time_of_bytes(1024, {0, 1}, 50'000, false).least == 0);
  CHECK(time_of_bytes(1e9, {1, 1}, 1e9, false).least == doctest::Approx(1e9 - 400'000));
  CHECK(time_of_bytes(1024, {0, 1}, 50'000, true).most == 50'000);
}

TEST_CASE("a sum inside the nodes first needs to know the nodes and their link") {
  const Asked asked(job(kLarge, kNodes), "hierarchical-allreduce");
  CHECK(contains(asked.proposal.text, "2 nodes of 2 ranks"));
  CHECK(contains(asked.proposal.text, "NVLink 3"));
  // Of the ring's 40 µs, 8.4 are its start and 3 · 3.4 its hops inside the nodes, so each of the 3
  // others takes 7.1. Across, there are 2, for the two ranks of a node at once, of whose network the
  // ring reached 3/4: 8.4 + 2 · 7.1 + 1000 · 3/4 · (1/2)/(3/4) = 523 µs; inside, twice 11.8 + 50 MB
  // at 210 GB/s = 250 µs; two pauses of 1 µs. The small one takes 23 + 2 · 12 µs.
  CHECK(std::abs(asked.gain_us() - (1040 - 523 - 500 - 2 + 40.6 - 47 - 2)) < 2);
  // A calibration wins over the table; this one says the same: 0.5 of a message at 210 GB/s is all of it at 420.
  const Asked measured(job(kLarge, kNodes), "hierarchical-allreduce", "",
                       calibrated_links(11'800, 420e9, "nccl", "reducescatter"));
  CHECK(contains(measured.proposal.text, "inside a node 420.0 GB/s, measured 2026-11-22"));
  CHECK(measured.gain_us() == doctest::Approx(asked.gain_us()).epsilon(1e-3));
  auto reason = [](const std::string& head) {
    return why_not(job(kLarge, head), "hierarchical-allreduce");
  };
  CHECK(contains(reason(""), "LOCAL_WORLD_SIZE"));
  CHECK(contains(reason("setting ranks_per_node 4\n"), "on one node"));
  CHECK(contains(reason("setting ranks_per_node 1\n"), "one rank"));
  CHECK(contains(reason("setting ranks_per_node 3\n"), "do not fill"));
  CHECK(contains(reason(kNodes + "device cuda \"Some Accelerator\" sms=100\n"), "link between"));
  CHECK(Asked(job(kLarge, "meta env.LOCAL_WORLD_SIZE 2\n"), "hierarchical-allreduce")
            .proposal.applies);
}

TEST_CASE("a ring's one connection reaches all of a network that is emulated on a processor") {
  Asked gpu(job(kLarge, kNodes + "setting node_gb_per_s 300\n"), "hierarchical-allreduce");
  const double of_gpu = gpu.gain_us();
  for (trace::Device& device : gpu.trace.devices) device.type = trace::DeviceType::kHost;
  gpu.proposal = find_fix("hierarchical-allreduce")->propose(*gpu.predictor);
  // Two ranks share it then: 1000 µs · 2 · (1/2) · (1/2)/(3/4), instead of 3/4 of that.
  CHECK(of_gpu - gpu.gain_us() == doctest::Approx(667 * 0.25).epsilon(0.02));
}

TEST_CASE("where links inside the nodes bound a flat ring, the network may be much faster") {
  // Of a ring of 4 that moves 100 MB in 1 ms, 150 MB pass each link: 150 GB/s. Links inside that give as much explain all of it.
  const Asked asked(job(kLarge, kNodes), "hierarchical-allreduce", "",
                    calibrated_links(11'800, 300e9, "nccl", "reducescatter"));
  const Asked network(job(kLarge, kNodes), "hierarchical-allreduce", "",
                      calibrated_links(11'800, 420e9, "nccl", "reducescatter"));
  CHECK(asked.proposal.otherwise.size() == network.proposal.otherwise.size() + 2);
  // Twice 50 MB inside at 150 instead of 210 GB/s: 190 µs more; and half of the 500 µs across.
  CHECK(network.gain_us() - asked.gain_us() == doctest::Approx(2 * 95 - 250).epsilon(0.05));
}

TEST_CASE("a finding on one rank of a job carries what the fix gains, from the job's transfers") {
  auto report = test::analyze_planted(
      job(kSmall + kSmall + kSmall + "    collective allreduce 10MB 140us\n"));
  predict_findings(report->trace, report->analysis);
  const Finding& small = test::finding(*report, "comm-too-small");
  REQUIRE(small.status == Status::kFound);
  REQUIRE(small.predicted);
  CHECK(small.predicted->fix == "larger-buckets");
  // 60 messages of 40 µs become one of 1 MiB and one with all that is left.
  const double gained = 59 * 40.0 / static_cast<double>(report->analysis.job->step.ns) * 1e3;
  CHECK(small.predicted->share == doctest::Approx(gained).epsilon(0.06));
}

TEST_CASE("a fix may answer several rules") {
  const Fix& fix = *find_fix("compress-gradients");
  CHECK(answers(fix, "comm-exposed"));
  CHECK(answers(fix, "comm-slow-link"));
  CHECK(!answers(fix, "comm-too-small"));
  CHECK(!answers(fix, "comm"));
}

TEST_CASE("transfers lie on a line whose ends are never negative") {
  auto of = [](double bytes, double ns) {
    Transfer one;
    one.bytes = bytes;
    one.ns = ns;
    return one;
  };
  const std::vector<Transfer> exact{of(1000, 50), of(2000, 60), of(3000, 70)};
  CHECK(fit_transfers(exact).fixed == doctest::Approx(40));
  CHECK(fit_transfers(exact).per_byte == doctest::Approx(0.01));
  const std::vector<Transfer> one_size{of(1000, 50), of(1000, 70)};
  CHECK(!differ_in_size(one_size));
  CHECK(fit_transfers(one_size).fixed == doctest::Approx(0));
  CHECK(fit_transfers(one_size).of(1000) == doctest::Approx(60));
  const std::vector<Transfer> falling{of(1000, 80), of(2000, 60)};
  CHECK(fit_transfers(falling).per_byte == 0);
  CHECK(fit_transfers(falling).fixed == doctest::Approx(70));
  // Of two lines the one that messages of the size take.
  const TransferLine two{900, 0.2, 50, 0.5};
  CHECK(two.at(1000).fixed == 50);
  CHECK(two.at(1000).per_byte == 0.5);
  CHECK(two.at(1000).of(1000) == two.of(1000));
  CHECK(two.at(10'000).fixed == 900);
  CHECK(two.at(10'000).of(10'000) == two.of(10'000));
}

TEST_CASE("half the bytes and fewer messages are not both taken off the same messages") {
  const Asked asked(job(kSmall + "    collective allreduce 10MB 140us\n"), "larger-buckets");
  const Proposal halved = find_fix("compress-gradients")->propose(*asked.predictor);
  REQUIRE(asked.proposal.applies);
  REQUIRE(halved.applies);
  const auto order = best_order(
      *asked.predictor,
      {{find_fix("larger-buckets"), &asked.proposal}, {find_fix("compress-gradients"), &halved}},
      0.001);
  REQUIRE(order.size() == 1);
  CHECK(order.front().fix->id == "larger-buckets");
}

}  // namespace headway::analyzer
