// SPDX-License-Identifier: MIT
#include "collector/record/summary.h"

#include <doctest/doctest.h>

namespace headway::record {
namespace {

Summary healthy() {
  Summary s;
  s.command = "python3";
  s.file = "run.sqlite";
  s.outcome.exit_code = 0;
  s.duration = {12'300'000'000};
  s.file_bytes = 1'230'000;
  s.events = 450;
  s.threads = 3;
  s.injected = 2;
  s.processes = 5;
  s.busiest_thread_records = 400;
  s.event_cost_ns = 20;
  s.recorder_cpu = {210'000'000};
  return s;
}

}  // namespace

TEST_CASE("the summary of a healthy run is short and ends with what to do next") {
  CHECK(summary_text(healthy()) ==
        "headway: recorded 12.3 s to run.sqlite (1.23 MB)\n"
        "headway: 450 events from 3 threads in 2 of 5 processes\n"
        "headway: nothing was lost\n"
        "headway: recording ranges cost the busiest thread <0.1 % of its time (20 ns per push or "
        "pop); the recorder itself used 210 ms of processor time\n"
        "headway: next: headway report run.sqlite\n");
}

TEST_CASE("what recorded CUDA calls cost the program is not left out") {
  Summary s = healthy();
  s.cuda = true;
  CHECK(summary_text(s).find(
            "a recorded CUDA call takes longer (3 to 10 µs on an H100); the recorder") !=
        std::string::npos);
}

TEST_CASE("losses are explained") {
  Summary s = healthy();
  s.losses = {{trace::Loss::kRingFull, 7},
              {trace::Loss::kNvtxPopWithoutPush, 1},
              {trace::Loss::kProcessNotInjected, 3}};
  std::string text = summary_text(s);
  CHECK(text.find("headway: lost: 7 x ring_full. Events were dropped because") !=
        std::string::npos);
  CHECK(text.find("headway: note: 1 x nvtx_pop_without_push.") != std::string::npos);
  CHECK(text.find("nothing was lost") == std::string::npos);
  CHECK(text.find("process_not_injected") == std::string::npos);
}

TEST_CASE("nothing was lost is said only where it is so") {
  auto says = [](const Summary& s) {
    return summary_text(s).find("nothing was lost") != std::string::npos;
  };
  Summary s = healthy();
  s.losses = {{trace::Loss::kNvtxPopWithoutPush, 1}};
  CHECK(says(s));
  s.losses = {{trace::Loss::kNvtxPayloadCut, 1}};
  CHECK_FALSE(says(s));
  s = healthy();
  s.refusals = {"process 7: it gave up waiting"};
  CHECK_FALSE(says(s));
  s = healthy();
  s.failure = "the disk is full.";
  CHECK_FALSE(says(s));
  s = healthy();
  s.file_bytes.reset();
  CHECK_FALSE(says(s));
}

TEST_CASE("processes without the recorder's environment are named") {
  Summary s = healthy();
  s.without_session = {"7 (a)", "8 (b)", "9 (c)", "10 (d)"};
  const std::string text = summary_text(s);
  CHECK(text.find(": 7 (a), 8 (b), 9 (c) and 1 more\n") != std::string::npos);
  CHECK(text.find("nothing was lost") == std::string::npos);
}

TEST_CASE("a choice by time says how much of the run was kept") {
  Summary s = healthy();
  s.kept = DurationNs{3'000'000'000};
  CHECK(summary_text(s).find("recorded 3.00 s of 12.3 s to run.sqlite") != std::string::npos);
  s.kept = s.duration;
  CHECK(summary_text(s).find("recorded 12.3 s to run.sqlite") != std::string::npos);
}

TEST_CASE("the summary says how the command ended when that was not well") {
  Summary s = healthy();
  s.outcome.exit_code = 3;
  CHECK(summary_text(s).starts_with("headway: python3 ended with exit code 3\n"));
  s.failed_rank = FailedRank{1, 338, 11, {}};
  CHECK(
      summary_text(s).starts_with("headway: python3 ended with exit code 3: rank 1 (process 338) "
                                  "was ended by signal 11 (Segmentation fault)\n"));
  s.failed_rank = FailedRank{1, 338, {}, 1};
  CHECK(summary_text(s).find("rank 1 (process 338) failed first, with exit code 1\n") !=
        std::string::npos);
  s.outcome.exit_code.reset();
  s.outcome.signal = 9;
  CHECK(summary_text(s).starts_with("headway: python3 was ended by signal 9 (Killed)"));
  s.outcome.left_running = true;
  CHECK(summary_text(s).starts_with("headway: python3 is still running"));
}

TEST_CASE("names cannot control the terminal") {
  Summary s = healthy();
  s.command = "evil\x1b]0;title\x07";
  s.outcome.exit_code = 1;
  s.file = "it's $(here)\n";
  s.refusals = {"process 1: \x1b[2J"};
  std::string text = summary_text(s);
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("what kept the trace from being whole is told, also alone") {
  Summary s = healthy();
  CHECK(failure_text(s).empty());
  s.failure = "the disk is full.";
  CHECK(failure_text(s).starts_with("headway: writing stopped early: the disk is full. The file"));
  CHECK(summary_text(s).find(failure_text(s)) != std::string::npos);
  s.file_bytes.reset();
  CHECK(failure_text(s).starts_with("headway: run.sqlite is gone: it was removed"));
  CHECK(summary_text(s).find("next:") == std::string::npos);
}

TEST_CASE("many refusals do not flood the terminal") {
  Summary s = healthy();
  s.refusals.assign(50, "process 1: refused");
  CHECK(summary_text(s).find("not recorded: 47 more processes") != std::string::npos);
}

TEST_CASE("a run without events guesses at the reason only where it is not known") {
  Summary s = healthy();
  s.events = 0;
  CHECK(summary_text(s).find("the program loaded NVTX but ended before") != std::string::npos);
  s.injected = 0;
  CHECK(summary_text(s).find("the program does not use NVTX") != std::string::npos);
  s.refusals = {"process 1: refused"};
  CHECK(summary_text(s).find("headway: no event was recorded. ") != std::string::npos);
}

TEST_CASE("exit statuses are those of a shell") {
  Outcome outcome;
  outcome.exit_code = 7;
  CHECK(outcome.exit_status() == 7);
  outcome.signal = 11;
  CHECK(outcome.exit_status() == 139);
  outcome.left_running = true;
  CHECK(outcome.exit_status() == 130);
}

}  // namespace headway::record
