// SPDX-License-Identifier: MIT
// A long recording is replayed by some of its steps: they must be like all of them.
#include "analyzer/whatif/sample.h"

#include <doctest/doctest.h>

#include "analyzer/job/analyze_job.h"
#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::test {
namespace {

double mean_cycle_ns(const analyzer::Steps& steps) {
  double sum = 0;
  for (const std::uint32_t i : steps.steady)
    sum += static_cast<double>(steps.all[i].cycle().length().ns);
  return sum / static_cast<double>(steps.steady.size());
}

/// A fix as the report has it, by an analysis of one rank and a sample: as by the whole recording.
void check_sampled(const Predicted& whole, const char* fix) {
  const auto job = analyzer::analyze_ranks_in(whole.trace);
  REQUIRE(job);
  const auto sample = analyzer::take_sample(whole.trace, job->analysis, 0);
  REQUIRE(sample);
  REQUIRE(sample->trace.event_count() < whole.trace.event_count());
  const analyzer::Predictor of_sample(sample->trace, sample->analysis, {}, sample->run);
  const analyzer::Proposal there = analyzer::Proposer(of_sample).of(*analyzer::find_fix(fix));
  CAPTURE(there.text);
  REQUIRE(there.applies);
  CHECK(static_cast<double>(of_sample.predict(there.scenario).step.ns) ==
        doctest::Approx(whole.step_ns(fix)).epsilon(0.05));
}

}  // namespace

TEST_CASE("steps of a sample hold as many restarts of the loader as those of the recording") {
  const Predicted whole(with(kImages, {{"samples", "256"},
                                       {"workers", "4"},
                                       {"fused_optimizer", "off"},
                                       {"worker_reuse", "off"},
                                       {"worker_start_ms", "20"}}),
                        1200);
  const auto sample = analyzer::take_sample(whole.trace, whole.analysis, 0);
  REQUIRE(sample);
  const analyzer::Predictor of_sample(sample->trace, sample->analysis, {}, sample->run);
  const analyzer::Predictor of_whole(whole.trace, whole.analysis);
  CHECK(mean_cycle_ns(sample->analysis.steps) ==
        doctest::Approx(mean_cycle_ns(whole.analysis.steps)).epsilon(0.02));
  for (const char* id : {"persistent-workers", "multi-tensor-optimizer"}) {
    CAPTURE(id);
    const analyzer::Proposal proposed = analyzer::Proposer(of_sample).of(*analyzer::find_fix(id));
    const analyzer::Proposal there = analyzer::Proposer(of_whole).of(*analyzer::find_fix(id));
    CHECK(proposed.applies);
    CHECK(there.applies);
    CHECK(static_cast<double>(of_sample.predict(proposed.scenario).step.ns) ==
          doctest::Approx(static_cast<double>(of_whole.predict(there.scenario).step.ns))
              .epsilon(0.05));
  }
}

TEST_CASE(
    "a sample has the same steps of all stages of a pipeline, whose hosts are not all as far") {
  const Predicted whole({{"device", "sim"},
                         {"model", "transformer"},
                         {"layers", "12"},
                         {"sequence", "16"},
                         {"precision", "bf16"},
                         {"optimizer", "adam"},
                         {"fused_optimizer", "off"},
                         {"run_ahead", "4"},
                         {"launch_us", "1.57"},
                         {"world", "325364965"},
                         {"jitter", "0.027"},
                         {"data", "generated"},
                         {"dropout", "0"},
                         {"graph_compiler", "off"},
                         {"bucket_mb", "5"},
                         {"eval", "off"},
                         {"ranks", "8"},
                         {"ranks_per_node", "2"},
                         {"pipeline", "1f1b"},
                         {"micro_batches", "8"}},
                        48);
  check_sampled(whole, "fewer-micro-batches");
}

TEST_CASE("a sample has the steps that made room for its batches, however few steps it has") {
  // Of 16 ranks three steps are 100,000 events; batches are made eight steps ahead, by workers that start anew every eight.
  const Predicted whole({{"device", "sim"},
                         {"eval", "off"},
                         {"gpu", "a100-40gb"},
                         {"world", "158455916"},
                         {"depth", "44"},
                         {"width", "8"},
                         {"batch", "2"},
                         {"data", "generated-pictures"},
                         {"image_size", "32"},
                         {"source", "files"},
                         {"workers", "2"},
                         {"prefetch", "8"},
                         {"worker_reuse", "off"},
                         {"pinned", "off"},
                         {"optimizer", "adam"},
                         {"fused_optimizer", "parameter"},
                         {"graph_compiler", "off"},
                         {"loss_read", "step"},
                         {"allocator", "raw"},
                         {"ranks", "16"},
                         {"samples", "256"}},
                        60);
  check_sampled(whole, "caching-allocator");
}

}  // namespace headway::test
