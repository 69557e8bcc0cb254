// SPDX-License-Identifier: MIT
// Training loops in PyTorch: steps, phases, modules, ops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/collector/pytorch/pytorch_run.h"

namespace headway::test {
namespace {

constexpr int kStep = 1;
constexpr int kPhase = 2;
constexpr int kOp = 3;

/// Whether its PyTorch loads a CUPTI of its own, which comes before the one that stands in for it here and, without a
/// driver, calls itself until the stack ends.
bool brings_cupti(const std::string& python) {
  const std::string command =
      python + " -c 'import sys, torch; sys.exit(torch.version.cuda is None)' >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

}  // namespace

TEST_CASE(
    "an unmodified PyTorch loop is recorded, 95 % of its steps explained, its results unchanged") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"train", "fork", "4"});
  Recorded run = record(folder, command, {"--pytorch"});
  Finished alone = run_alone(command);
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == alone.out);
  CHECK(run.finished.err == alone.err);

  // 2 epochs of 24 batches, two batches a step; the validation of each epoch has no step.
  CHECK(ranges_of_kind(run.trace, kStep) == 24);
  CHECK(ranges_of_kind(run.trace, kStep, "r.step BETWEEN 0 AND 23") == 24);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='Optimizer.step#SGD.step' AND r.phase=4") == 24);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='backward' AND r.phase=3") == 48);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='nn.Module: Net' AND r.phase=2") == 48);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='nn.Module: Net' AND r.phase=6") == 4);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='nn.Module: CrossEntropyLoss'") == 48);
  // Modules lie in those around them, by their names in the model.
  CHECK(ranges(run.trace, "nn.Module: features.0") == 52);
  CHECK(number(run.trace,
               "SELECT count(*) FROM NVTX_EVENTS i JOIN StringIds a ON a.id=i.textId AND "
               "a.value='nn.Module: features.2' JOIN NVTX_EVENTS o ON o.globalTid=i.globalTid AND "
               "o.start<=i.start AND o.end>=i.end JOIN StringIds b ON b.id=o.textId AND "
               "b.value IN ('nn.Module: features','nn.Module: Net')") == 2 * 52);
  CHECK(number(run.trace,
               "SELECT count(*) FROM HEADWAY_SETTING WHERE name IN ('torch','pytorch_hook') OR "
               "name='DataLoader' AND value LIKE 'num_workers=4 batch_size=16%'") == 3);
  CHECK(intact(run.trace));

  nlohmann::json report = report_of(run.trace);
  CHECK(report["steps"]["count"] == 24);
  CHECK(report["steps"]["source"] == "declared");
  REQUIRE(report["partition"].size() == 1);
  const nlohmann::json& classes = report["partition"][0]["classes"];
  double open =
      classes["unknown"]["share"].get<double>() + classes["host_other"]["share"].get<double>();
  CHECK(open < 0.05);
  CHECK(classes["compute_other"]["share"] > 0.1);
  CHECK(classes["optimizer"]["share"] > 0);
  CHECK(classes["input_other"]["share"] > 0);
}

TEST_CASE("without a loader, steps go from one optimizer step to the next") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"no_loader"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges_of_kind(run.trace, kStep) == 10);
  CHECK(ranges_of_kind(run.trace, kPhase, "r.phase=3") == 10);
}

TEST_CASE(
    "pauses: CUDA stays unrecorded in stretches of 8 steps where that is asked for, and the trace "
    "names them") {
  HEADWAY_NEEDS_TORCH();
  if (brings_cupti(python_with_torch())) {
    MESSAGE("[skipped] this PyTorch is built for CUDA: CUPTI cannot be stood in for");
    return;
  }
  TemporaryFolder folder;
  const std::string cupti =
      (std::filesystem::path(target("cuda_training")).parent_path() / "cupti").string();
  for (const bool asked : {true, false}) {
    CAPTURE(asked);
    const std::string trace = folder / (asked ? "asked.sqlite" : "not.sqlite");
    std::vector<std::string> arguments = {"--quiet", "--pytorch", "-o", trace};
    if (asked) arguments.emplace_back("--measure-cost");
    arguments.emplace_back("--");
    for (const std::string& word : pytorch_program({"cuda", "60"})) arguments.push_back(word);
    Recorder recorder(arguments);
    recorder.with("LD_LIBRARY_PATH=" + cupti);
    recorder.start();
    REQUIRE(recorder.wait().status == 0);
    CHECK(ranges_of_kind(trace, kStep) == 60);
    CHECK(
        query(trace,
              "SELECT value FROM HEADWAY_SETTING WHERE name = 'unrecorded_steps' ORDER BY rowid") ==
        (asked ? Rows{{"24-31"}, {"24-31 56-63"}} : Rows{}));
    // The step before each stretch may lack its last kernels.
    CHECK(report_of(trace)["steps"]["count"] == (asked ? 60 - 9 - 5 : 60));
  }
}

TEST_CASE("Python outside of any range is named by function, line and share, waits too") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"environment", folder / "shares"});
  Recorded run = record(folder, command, {"--pytorch"});
  double played = 0;
  double slept = 0;
  std::ifstream(folder / "shares") >> played >> slept;
  Finished alone = run_alone(command);
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == alone.out);
  CHECK(run.finished.err == alone.err);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_SETTING WHERE name LIKE 'pytorch.off.%'") ==
        0);

  const nlohmann::json partition = report_of(run.trace)["partition"][0];
  double named = 0;
  double playing = 0;
  double sleeping = 0;
  for (const nlohmann::json& one : partition["host_functions"]) {
    const double share = one["share"];
    named += share;
    const std::string place = one["place"];
    if (one["function"] == "play" && place.find("pytorch_train.py:") != std::string::npos)
      playing += share;
    if (one["function"] == "environment") sleeping += share;
  }
  const double open = partition["classes"]["host_other"]["share"];
  CHECK(open > 0.5);
  CHECK(named > 0.9 * open);
  // The program's own clock knows both; samples find them, less exactly where processors are short.
  REQUIRE(played > 0.05);
  REQUIRE(slept > 0.05);
  CHECK(playing > played / 2);
  CHECK(sleeping > slept / 2);
}

TEST_CASE(
    "page faults of the training thread are counted, and whether the C library keeps memory") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  for (const bool kept : {false, true}) {
    CAPTURE(kept);
    const std::string trace = folder / (kept ? "kept.sqlite" : "not.sqlite");
    std::vector<std::string> arguments = {"--quiet", "--pytorch", "-o", trace, "--"};
    for (const std::string& word : pytorch_program({"returns_memory", "60"}))
      arguments.push_back(word);
    Recorder recorder(arguments);
    if (kept) recorder.with("MALLOC_TRIM_THRESHOLD_=-1").with("MALLOC_MMAP_MAX_=0");
    recorder.start();
    REQUIRE(recorder.wait().status == 0);
    CHECK(ranges_of_kind(trace, kStep) == 60);
    const Rows told =
        query(trace, "SELECT value FROM HEADWAY_SETTING WHERE name = 'page_faults' ORDER BY rowid");
    REQUIRE(!told.empty());
    int per_step = 0;
    int ns = 0;
    int libc = 0;
    REQUIRE(std::sscanf(told.back()[0].c_str(), "per_step=%d ns=%d libc=%d", &per_step, &ns,
                        &libc) == 3);
    CHECK(libc == (kept ? 0 : 1));
    if (kept) {
      CHECK(per_step < 2'000);
      continue;
    }
    CHECK(per_step > 9'000);  // 40 MB in pages of 4 KB
    CHECK(per_step < 14'000);
    CHECK(ns > 50);
    CHECK(ns < 100'000);
    const nlohmann::json findings = report_of(trace)["findings"];
    CHECK(std::any_of(findings.begin(), findings.end(), [](const nlohmann::json& one) {
      // On a busy machine, whose steps differ: cannot tell.
      return one["rule"] == "page-faults" && one["status"] != "fine";
    }));
  }
}

TEST_CASE("with several optimizers, steps end with the one that was seen last") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"gan"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  // Ten rounds of two steps of the judge and one of the generator. In the first round the generator
  // is not known yet, so each step of the judge counts.
  CHECK(ranges_of_kind(run.trace, kStep) == 12);
  CHECK(number(run.trace,
               "SELECT count(*) FROM (SELECT r.rangeRow FROM HEADWAY_RANGE r JOIN NVTX_EVENTS e ON "
               "e.rowid=r.rangeRow JOIN NVTX_EVENTS o ON o.globalTid=e.globalTid AND "
               "o.start>=e.start AND o.end<=e.end JOIN StringIds s ON s.id=o.textId AND "
               "s.value LIKE 'Optimizer.step%' WHERE r.kind=1 GROUP BY 1 HAVING count(*)=3)") == 9);
}

TEST_CASE("transforms that are modules make no step of a loader worker") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"transforms"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  REQUIRE(ranges(run.trace, "nn.Module: Softmax") == 80);  // so the workers are recorded
  CHECK(ranges_of_kind(run.trace, kStep) == 10);
  CHECK(number(run.trace,
               "SELECT count(DISTINCT e.globalTid) FROM HEADWAY_RANGE r JOIN NVTX_EVENTS e ON "
               "e.rowid=r.rangeRow WHERE r.kind=1") == 1);
  CHECK(report_of(run.trace)["partition"].size() == 1);
}

TEST_CASE("a loop that reads one batch ahead has its last step in each epoch, too") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"reads_ahead"});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(ranges_of_kind(run.trace, kStep) == 20);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='evaluation batch'") == 4);
}

TEST_CASE("an evaluation whose loader reads ahead with gradients on is time between steps") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"evaluates_ahead"});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(ranges_of_kind(run.trace, kStep) == 50);
  // 10 batches of 5 ms between two times 10 steps.
  const nlohmann::json between = report_of(run.trace)["partition"][0]["between_steps"];
  CHECK(between["evaluation"] > 2'000'000);
}

TEST_CASE(
    "the program's own profiler sees what it sees without the hook, and the trace says when") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"profiled"});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_SETTING WHERE name LIKE 'pytorch.off.%'") ==
        0);
  CHECK(number(run.trace,
               "SELECT count(*) FROM HEADWAY_SETTING WHERE name = 'torch.profiler' AND value = "
               "'29-40 with_stack'") == 1);
  CHECK(ranges_of_kind(run.trace, 0, "s.value='torch.profiler: stop'") == 1);
}

TEST_CASE("advice for samples in memory is to take whole batches, not to keep them in memory") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"in_memory"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  const nlohmann::json report = report_of(run.trace);
  bool said = false;
  for (const nlohmann::json& finding : report["findings"]) {
    for (const nlohmann::json& advice : finding["advice"]) {
      const std::string knob = advice["knob"];
      CHECK(knob.find("TensorDataset") == std::string::npos);
      CHECK(knob.find("pin_memory") == std::string::npos);
      said |= knob.find("BatchSampler") != std::string::npos;
    }
  }
  CHECK(said);
}

TEST_CASE("without a loader, what lies between eval() and train() is evaluation and in no step") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"own_evaluation"});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(ranges_of_kind(run.trace, kStep) == 20);
  // The first one comes before the first step.
  CHECK(ranges_of_kind(run.trace, kPhase, "r.phase=6 AND s.value='evaluation batch'") == 3);
  CHECK(ranges_of_kind(run.trace, kStep, "e.end-e.start>20000000") == 0);
  nlohmann::json between = report_of(run.trace)["partition"][0]["between_steps"];
  CHECK(between["evaluation"] > 2'000'000);
}

TEST_CASE("evaluation, checkpoints and collections belong to no step, wherever they are") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"pauses", folder.path().string()});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(ranges_of_kind(run.trace, kStep) == 20);
  // Five evaluations; what was switched to evaluation and trained is none.
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='evaluation' AND r.phase=6") == 5);
  CHECK(ranges_of_kind(run.trace, 0, "s.value='evaluation' AND r.phase=0") == 2);
  CHECK(ranges(run.trace, "torch.save") == 4);
  CHECK(ranges(run.trace, "garbage collection") >= 2);
  CHECK(
      number(
          run.trace,
          "SELECT count(*) FROM HEADWAY_SETTING WHERE name='checkpoint.bytes' OR name='optimizer' "
          "AND value LIKE 'AdamW tensors=2 elements=4160 device=cpu %'") == 2);
  const nlohmann::json between = report_of(run.trace)["partition"][0]["between_steps"];
  CHECK(between["evaluation"] > 0);
  CHECK(between["checkpoint"] > 0);
  CHECK(between["garbage_collection"] > 0);
  CHECK(intact(run.trace));
}

TEST_CASE(
    "after an epoch, what lies between eval() and train() is evaluation without a loader, too") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"after_epochs"});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(ranges_of_kind(run.trace, kStep) == 30);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='evaluation' AND r.phase=6") == 3);
  CHECK(intact(run.trace));
}

TEST_CASE("parts that stay in evaluation mode are trained all the same") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"frozen"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges_of_kind(run.trace, kStep) == 10);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='nn.Module: Sequential' AND r.phase=2") == 10);
}

TEST_CASE("a program without an optimizer has a step for each backward pass") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"no_optimizer"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges_of_kind(run.trace, kStep) == 12);
}

TEST_CASE("what an optimizer's closure does is no update") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"closure"});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='Optimizer.step#SGD.step' AND r.phase=4") == 10);
  const std::string forward =
      "SELECT 1 FROM HEADWAY_RANGE f JOIN NVTX_EVENTS fe ON fe.rowid=f.rangeRow WHERE f.phase=2";
  CHECK(number(run.trace, "SELECT count(*) FROM (" + forward + ")") >= 11);
  CHECK(ranges_of_kind(run.trace, kPhase,
                       "s.value='Optimizer.step#SGD.step' AND EXISTS (" + forward +
                           " AND fe.start>=e.start AND fe.end<=e.end)") == 0);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='Optimizer.step#LBFGS.step'") == 1);
  CHECK(intact(run.trace));
}

TEST_CASE("a function that is compiled when it is called, and is not, hides no module") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"lazy_compile"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='nn.Module: Linear' AND r.phase=2") == 10);
}

TEST_CASE("ops are recorded when asked for, a backward op with the number of its forward op") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"train", "fork", "0"});
  Recorded run = record(folder, command, {"--pytorch=ops"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  CHECK(ranges_of_kind(run.trace, kOp, "s.value='conv2d'") == 2 * 52);
  CHECK(ranges_of_kind(run.trace, kOp, "s.value='ConvolutionBackward0' AND r.phase=3") == 2 * 48);
  CHECK(
      number(run.trace,
             "SELECT count(*) FROM HEADWAY_RANGE b JOIN NVTX_EVENTS eb ON eb.rowid=b.rangeRow JOIN "
             "StringIds sb ON sb.id=eb.textId AND sb.value='ConvolutionBackward0' JOIN "
             "HEADWAY_RANGE f ON f.sequence=b.sequence AND f.rangeRow<>b.rangeRow JOIN NVTX_EVENTS "
             "ef ON ef.rowid=f.rangeRow AND ef.end<=eb.start JOIN StringIds sf ON sf.id=ef.textId "
             "AND sf.value='conv2d'") == 2 * 48);
  CHECK(ranges_of_kind(run.trace, kStep) == 24);
  // Before PyTorch 2 nothing tells when an optimizer begins and ends, whatever its class.
  const bool leaves_out =
      number(run.trace, "SELECT value GLOB '[2-9].*' FROM HEADWAY_SETTING WHERE name='torch'") == 1;
  const std::int64_t in_optimizers =
      number(run.trace,
             "SELECT count(*) FROM HEADWAY_RANGE r JOIN NVTX_EVENTS e ON e.rowid=r.rangeRow JOIN "
             "NVTX_EVENTS o ON o.globalTid=e.globalTid AND e.start>=o.start AND e.end<=o.end JOIN "
             "StringIds s ON s.id=o.textId AND s.value LIKE 'Optimizer.step#%' WHERE r.kind=3");
  CHECK((in_optimizers == 0) == leaves_out);
}

TEST_CASE("a hook that fails switches itself off, the program goes on, and the summary says so") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"odd_module"});
  std::vector<std::string> arguments = {"--pytorch", "-o", (folder / "run.sqlite").string(), "--"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  Recorder recorder(arguments);
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.status == 0);
  CHECK(finished.out == run_alone(command).out);
  CHECK(finished.err.find("the hook 'modules' switched itself off: RuntimeError: not listed") !=
        std::string::npos);
  CHECK(finished.err.find('\x1b') == std::string::npos);  // the program's text is data
  CHECK(ranges_of_kind(folder / "run.sqlite", kPhase, "r.phase=4") == 10);
}

}  // namespace headway::test
