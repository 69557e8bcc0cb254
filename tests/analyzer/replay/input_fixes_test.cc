// SPDX-License-Identifier: MIT
// Fixes of the input pipeline, against runs that are simulated with the change in place.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "analyzer/replay/replayer.h"
#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/fix_advice.h"
#include "tests/analyzer/text_run.h"
#include "tests/support/trace_builder.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// A step of 20 kernels of 500 µs behind a loader.
TextRun run_with(const std::string& loader, const std::string& meta = "") {
  return TextRun(meta + "loader " + loader + "thread main\n  steps 60\n    input\n" +
                 test::healthy_step());
}

double recorded_us(const TextRun& run) {
  return static_cast<double>(Predictor(run.trace, run.analysis).baseline().recorded.ns) / 1e3;
}

struct Predicted {
  Predicted(const TextRun& run, std::string_view fix)
      : predictor(run.trace, run.analysis), proposal(find_fix(fix)->propose(predictor)) {}
  double step_us() const {
    return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e3;
  }
  Predictor predictor;
  Proposal proposal;
};

constexpr const char* kStages = "\n  read 12ms bytes=1MB\n  decode 24ms\n";

}  // namespace

TEST_CASE("more workers: the step with them is that of a run that has them") {
  for (const char* kind : {"", " processes"}) {
    CAPTURE(kind);
    const TextRun one =
        run_with(fmt::format("1 prefetch=2{}{}", kind, kStages), "meta cpu_count 16\n");
    const Predicted predicted(one, "more-workers");
    REQUIRE(predicted.proposal.applies);
    // 36 ms a batch, 10 ms a step, a fifth more than needed: five.
    CHECK(predicted.proposal.setting.starts_with("--workers 5 "));
    const TextRun five =
        run_with(fmt::format("5 prefetch=6{}{}", kind, kStages), "meta cpu_count 16\n");
    CHECK(recorded_us(one) == doctest::Approx(36'000).epsilon(0.02));
    CHECK(predicted.step_us() == doctest::Approx(recorded_us(five)).epsilon(0.005));
  }
}

TEST_CASE("more workers: a step that accumulates gradients takes several batches") {
  auto with_workers = [](int workers) {
    return TextRun(fmt::format("meta cpu_count 16\nloader {} prefetch={}\n  decode 24ms\n"
                               "thread main\n  steps 20\n",
                               workers, workers + 1) +
                   "    input\n" + test::healthy_step() + "    input\n" + test::healthy_step());
  };
  const TextRun two = with_workers(2);
  const Predicted predicted(two, "more-workers");
  REQUIRE(predicted.proposal.applies);
  // 48 ms for both batches of a step, 20 ms a step.
  CHECK(predicted.proposal.setting.starts_with("--workers 3 "));
  CHECK(recorded_us(two) == doctest::Approx(24'000).epsilon(0.02));
  CHECK(predicted.step_us() == doctest::Approx(recorded_us(with_workers(3))).epsilon(0.005));
}

TEST_CASE("more workers: processors bound them, and a training thread that waits takes none") {
  const TextRun one = run_with(fmt::format("1 prefetch=2{}", kStages), "meta cpu_count 3\n");
  const Predicted predicted(one, "more-workers");
  REQUIRE(predicted.proposal.applies);
  CHECK(predicted.proposal.setting.starts_with("--workers 4 "));
  // A batch takes 36 ms, 34 of them on a processor: three processors need 11.4 ms. The step's 10 ms are the device's; the
  // training thread launches for some 150 us and waits for batches meanwhile.
  CHECK(predicted.step_us() == doctest::Approx(11'380).epsilon(0.01));

  const TextRun four = run_with(fmt::format("4 prefetch=5{}", kStages), "meta cpu_count 3\n");
  const Predicted none(four, "more-workers");
  CHECK_FALSE(none.proposal.applies);
  CHECK(none.proposal.text.starts_with("4 workers "));
}

TEST_CASE(
    "more workers than processors make batches where they wait for storage most of the time") {
  // 100 kB would take 1 ms in one piece: a worker needs 3 of its 36 ms on a processor.
  const std::string stages = "\n  read 34ms bytes=100KB pieces=50\n  decode 2ms\n";
  const TextRun one = run_with("1 prefetch=2" + stages, "meta cpu_count 2\n");
  const Predicted predicted(one, "more-workers");
  REQUIRE(predicted.proposal.applies);
  CHECK(predicted.proposal.setting.starts_with("--workers 5 "));
  const TextRun five = run_with("5 prefetch=6" + stages, "meta cpu_count 2\n");
  CHECK(predicted.step_us() == doctest::Approx(recorded_us(five)).epsilon(0.005));
}

TEST_CASE("more workers: waiting takes no processor, but no more than a few wait for each, or 16") {
  const auto of = [](std::string_view processors, std::string_view workers) {
    const TextRun one = run_with("1 prefetch=2\n  read 900ms bytes=100KB pieces=50\n",
                                 fmt::format("meta cpu_count {}\n", processors));
    const Predicted predicted(one, "more-workers");
    REQUIRE(predicted.proposal.applies);
    CHECK(predicted.proposal.setting.starts_with(fmt::format("--workers {} ", workers)));
  };
  // 108 would hide the reads.
  of("2", "16");
  of("10", "36");  // of nine: one trains
}

TEST_CASE("advice for PyTorch has the numbers of the fix") {
  auto knob = [](std::string_view fix, std::string_view setting) {
    for (const Advice& advice : advice_for(*find_fix(fix), setting))
      if (advice.framework == "PyTorch") return advice.knob;
    return std::string();
  };
  CHECK(knob("more-workers", "--workers 4 --prefetch 5").find("num_workers=4,") !=
        std::string::npos);
  CHECK(knob("larger-buckets", "--bucket-mb 2 --first-bucket-mb 1").find("bucket_cap_mb=2)") !=
        std::string::npos);
  CHECK(knob("fewer-workers", "").find("num_workers=…") != std::string::npos);
}

TEST_CASE("more workers are not proposed where nobody waits, or nobody makes batches") {
  const TextRun fast = run_with("4 prefetch=4\n  decode 20ms\n");
  const Predicted enough(fast, "more-workers");
  CHECK_FALSE(enough.proposal.applies);
  const TextRun without("thread main\n  steps 20\n" + test::healthy_step());
  const Predicted nobody(without, "more-workers");
  CHECK_FALSE(nobody.proposal.applies);
}

TEST_CASE("workers for the training thread: the step is that of a run that has them") {
  // 6 ms of making a batch before 10 ms of computing: one worker hides it.
  const TextRun alone(
      "meta cpu_count 8\nthread main\n  steps 40 name=ProfilerStep#% named\n"
      "    range enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\n      host 6ms\n" +
      test::healthy_step() + "    sync stream\n");
  const Predicted predicted(alone, "use-workers");
  REQUIRE(predicted.proposal.applies);
  CHECK(predicted.proposal.setting == "--workers 1");
  const TextRun without("thread main\n  steps 40 name=ProfilerStep#% named\n" +
                        test::healthy_step() + "    sync stream\n");
  // Taking a batch of two tensors from a worker of PyTorch costs 700 us, or three times as much.
  CHECK(predicted.step_us() == doctest::Approx(recorded_us(without) + 700).epsilon(0.005));
  CHECK(predicted.proposal.otherwise.size() == 1);
}

TEST_CASE("workers for the training thread compute on idle processors only") {
  const TextRun busy(
      "meta cpu_count 8\ncounter machine.cpu 98 unit=%\nthread main\n  steps 40\n"
      "    range batch kind=decode\n      host 6ms\n" +
      test::healthy_step() + "    sync stream\n");
  const TextRun idle(
      "meta cpu_count 8\ncounter machine.cpu 12 unit=%\nthread main\n  steps 40\n"
      "    range batch kind=decode\n      host 6ms\n" +
      test::healthy_step() + "    sync stream\n");
  const Predicted on_busy(busy, "use-workers");
  const Predicted on_idle(idle, "use-workers");
  REQUIRE(on_busy.proposal.applies);
  REQUIRE(on_idle.proposal.applies);
  // 2 % of 8 processors over a step of 16 ms: 2.6 of the 6 ms.
  CHECK(on_busy.step_us() == doctest::Approx(on_idle.step_us() + 3'400).epsilon(0.05));
}

TEST_CASE(
    "workers for the training thread: on full processors the step has the work and the taking of "
    "batches") {
  const TextRun full(
      "meta cpu_count 8\ncounter machine.cpu 100 unit=%\nthread main\n  steps 40 "
      "name=ProfilerStep#% named\n"
      "    range enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\n      host 6ms\n" +
      test::healthy_step() + "    sync stream\n");
  const Predicted predicted(full, "use-workers");
  REQUIRE(predicted.proposal.applies);
  // 1.2 ms and 0.45 ms for each of two tensors, since who is woken waits for a processor.
  CHECK(predicted.step_us() == doctest::Approx(recorded_us(full) + 2'100).epsilon(0.005));
}

TEST_CASE("workers for the training thread: making a batch that takes no processor needs none") {
  // 10 ms of collating and 6 ms of computing, on a machine whose other processor is taken.
  const auto with_workers = [](double processor) {
    test::TraceBuilder builder;
    std::int64_t t = 0;
    for (int i = 0; i < 40; ++i, t += 16'000'000) {
      builder.range(1, "step", t, t + 16'000'000, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "batch", t, t + 10'000'000, {.kind = trace::RangeKind::kBatch, .batch = i});
      builder.range(1, "collate", t, t + 10'000'000,
                    {.kind = trace::RangeKind::kCollate, .batch = i});
      builder.range(1, "conv2d", t + 10'000'000, t + 16'000'000);
      builder.counter("process.cpu", "%", t, processor);
      builder.counter("machine.cpu", "%", t, 90);
    }
    trace::Trace trace = builder.load();
    trace.meta[std::string(trace::meta::kCpuCount)] = "2";
    const Analysis analysis = analyze(trace);
    const Predictor predictor(trace, analysis);
    const Proposal proposal = find_fix("use-workers")->propose(predictor);
    REQUIRE(proposal.applies);
    return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e6;
  };
  // Asleep: the process takes a processor for 6 of 16 ms.
  CHECK(with_workers(37.5) < 8);
  CHECK(with_workers(100) > 12);
}

TEST_CASE("workers whose reads are a small part are certain, whatever the storage serves") {
  // 8 ms of reading and 40 of computing for a batch, beside 10 of a step: of 58 ms at least 48 go.
  const auto certainty_of = [](const std::string& reading, const std::string& computing) {
    const TextRun run(
        "meta cpu_count 32\nthread main\n  steps 40 name=ProfilerStep#% named\n    range batch "
        "kind=batch\n"
        "      range read kind=read bytes=1MB\n        host " +
        reading + "\n      range decode kind=decode\n        host " + computing + "\n" +
        test::healthy_step() + "    sync stream\n");
    return Predicted(run, "use-workers").proposal.certainty;
  };
  CHECK(certainty_of("8ms", "40ms") > 0.98);
  CHECK(certainty_of("40ms", "8ms") < 0.8);
}

TEST_CASE("workers for the training thread are bounded by processors") {
  // 45 ms of making a batch, 10 ms of computing. The training thread waits for two workers, so a third has its processor for most
  // of the step; all three processors compute all the time then.
  const TextRun alone(
      "meta cpu_count 3\nthread main\n  steps 40 name=ProfilerStep#% named\n"
      "    range enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\n      host 45ms\n" +
      test::healthy_step() + "    sync stream\n");
  const Predicted predicted(alone, "use-workers");
  REQUIRE(predicted.proposal.applies);
  CHECK(predicted.proposal.setting == "--workers 3");
  CHECK(predicted.step_us() == doctest::Approx((45'000 + 10'130) / 3).epsilon(0.01));
}

TEST_CASE("workers that wait for storage take no processor, also where reads have no sizes") {
  const auto run = [](const std::string& stage) {
    return TextRun("meta cpu_count 2\nloader 1 prefetch=2\n  " + stage +
                   " 60ms\nthread main\n  steps 40\n    input\n" + test::healthy_step());
  };
  const TextRun reads = run("read");
  const Predicted predicted(reads, "more-workers");
  REQUIRE(predicted.proposal.applies);
  CHECK(predicted.proposal.setting.starts_with("--workers 8 "));
  // 60 ms of decoding take two processors 30 ms; the training thread needs hardly any of them.
  const TextRun decodes = run("decode");
  const Predicted decoding(decodes, "more-workers");
  REQUIRE(decoding.proposal.applies);
  CHECK(decoding.proposal.setting.starts_with("--workers 2 "));
  CHECK(decoding.step_us() == doctest::Approx(30'080).epsilon(0.01));
}

TEST_CASE("workers are not proposed where there are some, or no input is made on the thread") {
  const TextRun some = run_with(fmt::format("2 prefetch=2{}", kStages));
  CHECK_FALSE(Predicted(some, "use-workers").proposal.applies);
  const TextRun without("thread main\n  steps 20\n" + test::healthy_step());
  CHECK_FALSE(Predicted(without, "use-workers").proposal.applies);
}

TEST_CASE("decoding ahead takes the decoding from the workers") {
  const TextRun now = run_with(fmt::format("2 prefetch=2{}", kStages));
  const Predicted predicted(now, "decode-offline");
  REQUIRE(predicted.proposal.applies);
  const TextRun then = run_with("2 prefetch=2\n  read 12ms bytes=1MB\n");
  CHECK(predicted.step_us() == doctest::Approx(recorded_us(then)).epsilon(0.005));
  const Predicted none(then, "decode-offline");
  CHECK_FALSE(none.proposal.applies);
}

TEST_CASE("augmenting on the device takes it from the workers and adds kernels after the copies") {
  // 500 GB/s, of which kernels get 85 %: (1 + 7) MB take 18.8 us, and two kernels begin in
  // what the shortest one takes, 5 us at most.
  const auto run = [](const std::string& loader, const std::string& copy) {
    return TextRun(
        "device cuda \"a GPU\" sms=108 cc=8.0 memory=80GB bandwidth=500GB/s "
        "clock=1410MHz\nloader " +
        loader + "thread main\n  steps 60\n    input\n" + copy + test::healthy_step());
  };
  const TextRun now = run("1 prefetch=2\n  decode 12ms bytes=1MB\n  augment 20ms bytes=4MB\n",
                          "    copy h2d 4MB time=400us memory=pinned batch=this\n");
  const Predicted predicted(now, "augment-on-device");
  REQUIRE(predicted.proposal.applies);
  CHECK(recorded_us(now) == doctest::Approx(32'000).epsilon(0.02));
  // The loader stays the slower one; its batch takes what decoding takes.
  CHECK(predicted.step_us() == doctest::Approx(12'000).epsilon(0.005));

  // Where the loader is fast enough, the copy and the kernels count.
  const TextRun copying = run("8 prefetch=8\n  decode 12ms bytes=1MB\n  augment 20ms bytes=4MB\n",
                              "    copy h2d 4MB time=4ms memory=pinned batch=this\n");
  const Predicted less(copying, "augment-on-device");
  REQUIRE(less.proposal.applies);
  const TextRun then = run("8 prefetch=8\n  decode 12ms bytes=1MB\n",
                           "    copy h2d 1MB time=1029us memory=pinned batch=this\n");
  CHECK(less.step_us() == doctest::Approx(recorded_us(then)).epsilon(0.005));
  CHECK_FALSE(Predicted(then, "augment-on-device").proposal.applies);
}

TEST_CASE("packed files are read at the rate of large reads") {
  // 1 MB in 40 ms is 25 MB/s; at 100 MB/s it would be 10 ms.
  const TextRun now = run_with("1 prefetch=2\n  read 40ms bytes=1MB pieces=20\n  decode 5ms\n");
  const Predicted predicted(now, "pack-files");
  REQUIRE(predicted.proposal.applies);
  const TextRun then = run_with("1 prefetch=2\n  read 10ms bytes=1MB\n  decode 5ms\n");
  CHECK(predicted.step_us() == doctest::Approx(recorded_us(then)).epsilon(0.01));
  const TextRun large = run_with("1 prefetch=2\n  read 40ms bytes=8MB\n  decode 5ms\n");
  CHECK_FALSE(Predicted(large, "pack-files").proposal.applies);
}

TEST_CASE(
    "whether a range that reads a batch holds one request is unknown without calls on files") {
  const TextRun now = run_with("1 prefetch=2\n  read 40ms bytes=8KB\n");
  const Predicted predicted(now, "larger-batch");
  REQUIRE(predicted.proposal.applies);
  const Prediction prediction = predicted.predictor.predict(predicted.proposal.scenario,
                                                            find_fix("larger-batch")->model_error,
                                                            predicted.proposal.otherwise);
  const double step = recorded_us(now) * 1e3;
  // A file for each sample is likelier: twice the samples take twice as long. One request for all would save half.
  CHECK(std::abs(static_cast<double>(prediction.gain.ns)) < 0.02 * step);
  CHECK(prediction.gain_ns.high > 0.4 * step);
}

TEST_CASE("an interval ends where other work takes as long, however far the formula is off") {
  // Nearly all of the step is waiting for the files.
  const TextRun now = run_with("1 prefetch=2\n  read 900ms bytes=100KB pieces=50\n");
  const Predicted predicted(now, "pack-files");
  REQUIRE(predicted.proposal.applies);
  const auto predict = [&](double error) {
    return predicted.predictor.predict(predicted.proposal.scenario, error);
  };
  const double step = recorded_us(now) * 1e3;
  CHECK(static_cast<double>(predict(0.3).gain.ns) > 0.9 * step);
  // Without any read the device's own work is left.
  CHECK(predict(0.3).gain_ns.high < 0.999 * step);
  CHECK(predict(0.9).gain_ns.high == doctest::Approx(predict(0.3).gain_ns.high));
  // Reads that get shorter by less do matter.
  CHECK(predict(0.3).gain_ns.low < 0.8 * step);
  CHECK(predict(0.9).gain_ns.low < 0.2 * step);
}

TEST_CASE("a pool with its recorded number of workers replays as recorded") {
  const TextRun run = run_with(fmt::format("3 prefetch=4{}", kStages));
  const Predictor predictor(run.trace, run.analysis);
  const Predicted more(run, "more-workers");
  REQUIRE(more.proposal.applies);
  Scenario same = more.proposal.scenario;
  same.pools.front().workers = 3;
  CHECK(static_cast<double>(predictor.predict(same).gain.ns) ==
        doctest::Approx(0).scale(predictor.baseline().recorded.ns).epsilon(0.001));
  // Each worker more helps, or changes nothing.
  DurationNs before = predictor.baseline().replayed;
  for (std::size_t workers = 3; workers <= 8; ++workers) {
    same.pools.front().workers = workers;
    const DurationNs step = predictor.predict(same).step;
    CHECK(step <= before + DurationNs{10});
    before = step;
  }
}

}  // namespace headway::analyzer
