// SPDX-License-Identifier: MIT
// Training loops in Keras, TensorFlow and JAX: steps found are steps done, and nothing else changes.
#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/collector/pytorch/pytorch_run.h"

namespace headway::test {
namespace {

constexpr int kStep = 1;
constexpr int kPhase = 2;
constexpr int kInputWait = 4;

/// The Python that HEADWAY_TEST_PYTHON names, if it finds all of these modules; else empty.
std::string python_with(const std::string& modules) {
  const char* given = std::getenv("HEADWAY_TEST_PYTHON");
  const std::string python = given ? given : "/usr/bin/python3";
  const std::string command = python +
                              " -c 'import importlib.util as u, sys; sys.exit(not "
                              "all(map(u.find_spec, \"" +
                              modules + "\".split())))' >/dev/null 2>&1";
  return std::system(command.c_str()) == 0 ? python : "";
}

struct Program {
  std::string modules;
  std::vector<std::string> arguments;
  std::string backend = "tensorflow";
};

/// Records the program and runs it alone; false where its modules are missing.
bool run_both(const TemporaryFolder& folder, const Program& program, Recorded& run,
              Finished& alone) {
  const std::string python = python_with(program.modules);
  if (python.empty()) {
    MESSAGE("[skipped] HEADWAY_TEST_PYTHON names no Python with: ", program.modules);
    return false;
  }
  std::vector<std::string> command = {"env",
                                      "KERAS_BACKEND=" + program.backend,
                                      "TF_ENABLE_ONEDNN_OPTS=0",
                                      "TF_CPP_MIN_LOG_LEVEL=3",
                                      python,
                                      "-W",
                                      "ignore",
                                      HEADWAY_SOURCE_DIR "/tests/targets/frameworks_train.py"};
  command.insert(command.end(), program.arguments.begin(), program.arguments.end());
  run = record(folder, command, {"--pytorch"});
  alone = run_alone(command);
  CHECK(run.finished.status == alone.status);
  CHECK(run.finished.out == alone.out);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_SETTING WHERE name LIKE 'pytorch.off.%'") ==
        0);
  CHECK(intact(run.trace));
  return true;
}

std::int64_t settings(const Recorded& run, const std::string& where) {
  return number(run.trace, "SELECT count(*) FROM HEADWAY_SETTING WHERE " + where);
}

/// No advice of the report is for another framework.
void check_advice(const nlohmann::json& report, const std::string& other) {
  for (const nlohmann::json& finding : report["findings"])
    for (const nlohmann::json& advice : finding["advice"])
      CHECK(advice["framework"].get<std::string>().find(other) == std::string::npos);
}

double input_share(const nlohmann::json& report) {
  double share = 0;
  for (const char* one : {"io_read", "decode", "input_other"})
    share += report["partition"][0]["classes"][one]["share"].get<double>();
  return share;
}

}  // namespace

TEST_CASE("fit of Keras: a step is a training batch on any backend, and the rest is evaluation") {
  for (const std::string backend : {"tensorflow", "jax", "torch"}) {
    CAPTURE(backend);
    TemporaryFolder folder;
    Recorded run;
    Finished alone;
    if (!run_both(folder, {"keras " + backend, {"keras", folder.path().string()}, backend}, run,
                  alone))
      continue;
    REQUIRE(alone.status == 0);
    CHECK(ranges_of_kind(run.trace, kStep) == 24);
    CHECK(ranges_of_kind(run.trace, kStep, "r.step BETWEEN 0 AND 23") == 24);
    CHECK(ranges_of_kind(run.trace, kPhase,
                         "s.value='evaluation batch' AND r.phase=6 AND e.end-e.start>0") ==
          3 * 2 + 10 + 10);
    CHECK(ranges_of_kind(run.trace, 0, "s.value='keras.Model.save'") == 3);
    CHECK(settings(run, "name='keras' AND value LIKE '%backend=" + backend + "'") == 1);
    CHECK(settings(run, "name='checkpoint.bytes'") > 0);
    const nlohmann::json report = report_of(run.trace);
    CHECK(report["steps"]["count"] == 24);
    CHECK(report["steps"]["source"] == "declared");
    check_advice(report, backend == "torch" ? "JAX" : "PyTorch");
  }
}

TEST_CASE("fit of Keras: the wait for tf.data inside the compiled step is input") {
  TemporaryFolder folder;
  Recorded run;
  Finished alone;
  if (!run_both(folder, {"keras tensorflow", {"keras_slow_input"}}, run, alone)) return;
  REQUIRE(alone.status == 0);
  CHECK(ranges_of_kind(run.trace, kStep) == 60);
  // The first fetch comes after tracing, and no gap follows the last.
  CHECK(ranges_of_kind(run.trace, kInputWait, "s.value='IteratorGetNext' AND r.op>0") > 40);
  const nlohmann::json report = report_of(run.trace);
  CHECK(input_share(report) > 0.3);
  bool input_bound = false;
  for (const nlohmann::json& finding : report["findings"])
    input_bound = input_bound || (finding["rule"] == "input-bound" && finding["status"] == "found");
  CHECK(input_bound);
  check_advice(report, "PyTorch");
}

TEST_CASE("an exception in a callback of Keras is told as without the hook") {
  TemporaryFolder folder;
  Recorded run;
  Finished alone;
  if (!run_both(folder, {"keras tensorflow", {"keras_error"}}, run, alone)) return;
  CHECK(alone.status == 1);
  CHECK(run.finished.err == alone.err);
  CHECK(ranges_of_kind(run.trace, kStep) == 4);
}

TEST_CASE("fit of Keras with several batches a call: a step is a call, and the trace says so") {
  for (const std::string backend : {"tensorflow", "jax"}) {
    CAPTURE(backend);
    TemporaryFolder folder;
    Recorded run;
    Finished alone;
    if (!run_both(folder, {"keras " + backend, {"keras_several", "4"}, backend}, run, alone))
      continue;
    REQUIRE(alone.status == 0);
    // 2 epochs of 4, 4 and 2 batches.
    CHECK(ranges_of_kind(run.trace, kStep) == 6);
    CHECK(ranges_of_kind(run.trace, kPhase, "s.value='keras.Model.train_step'") == 6);
    CHECK(settings(run, "name='keras.steps_per_execution' AND value='4'") == 1);
  }
}

TEST_CASE("own loops over train_on_batch: a step is a call, and evaluate() has none") {
  for (const std::string source : {"arrays", "tf_data"}) {
    CAPTURE(source);
    TemporaryFolder folder;
    Recorded run;
    Finished alone;
    if (!run_both(folder, {"keras tensorflow", {"keras_on_batch", source}}, run, alone)) return;
    REQUIRE(alone.status == 0);
    CHECK(ranges_of_kind(run.trace, kStep) == 20);
    CHECK(ranges_of_kind(run.trace, kPhase, "s.value='keras.Model.train_on_batch'") == 20);
    CHECK(ranges_of_kind(run.trace, kPhase, "s.value='keras.Model.test_step' AND r.phase=6") == 20);
    CHECK(report_of(run.trace)["steps"]["count"] == 20);
  }
}

TEST_CASE("own loops of TensorFlow, compiled or not: a step is an update") {
  for (const std::string how : {"graph", "eager"}) {
    CAPTURE(how);
    TemporaryFolder folder;
    Recorded run;
    Finished alone;
    if (!run_both(folder, {"keras tensorflow", {"keras_loop", how}}, run, alone)) return;
    REQUIRE(alone.status == 0);
    CHECK(run.finished.err == alone.err);
    CHECK(ranges_of_kind(run.trace, kStep) == 30);
    CHECK(ranges_of_kind(run.trace, kInputWait, "s.value='IteratorGetNext'") == 66);
    if (how == "graph")
      CHECK(ranges_of_kind(run.trace, kPhase, "r.phase=6") == 30);
    else
      CHECK(ranges_of_kind(run.trace, kPhase, "r.phase=4") == 30);
    CHECK(settings(run, "name='tensorflow'") == 1);
    check_advice(report_of(run.trace), "PyTorch");
  }
}

TEST_CASE(
    "own loops of JAX: a step is an update, compiled whole, in part, by hand, ahead of time") {
  for (const std::string how : {"whole", "apart", "plain", "ahead"}) {
    CAPTURE(how);
    TemporaryFolder folder;
    Recorded run;
    Finished alone;
    const std::string modules = how == "plain" ? "jax" : "jax optax";
    if (!run_both(folder, {modules, {"jax", how}}, run, alone)) continue;
    REQUIRE(alone.status == 0);
    CHECK(run.finished.err == alone.err);
    CHECK(ranges_of_kind(run.trace, kStep) == 30);
    CHECK(settings(run, "name='jax'") == 1);
    const nlohmann::json report = report_of(run.trace);
    CHECK(report["steps"]["count"] == 30);
    check_advice(report, "PyTorch");
  }
}

TEST_CASE("JAX without a loader: compiled calls that steps do without are evaluation") {
  TemporaryFolder folder;
  Recorded run;
  Finished alone;
  if (!run_both(folder, {"jax", {"jax_evaluates"}}, run, alone)) return;
  REQUIRE(alone.status == 0);
  CHECK(ranges_of_kind(run.trace, kStep) == 30);
  const auto calls_within = [&](const std::string& function, const std::string& where) {
    return number(run.trace,
                  "SELECT count(DISTINCT i.rowid) FROM NVTX_EVENTS i JOIN StringIds a ON "
                  "a.id=i.textId AND a.value='jit(" +
                      function +
                      ")' JOIN NVTX_EVENTS o ON o.globalTid=i.globalTid AND o.start<=i.start AND "
                      "o.end>=i.end JOIN HEADWAY_RANGE r ON r.rangeRow=o.rowid WHERE " +
                      where);
  };
  CHECK(calls_within("validated", "r.phase=6") == 60);
  CHECK(calls_within("validated", "r.kind=1") == 0);
  CHECK(calls_within("prepared", "r.kind=1") == 30);
  CHECK(calls_within("step", "r.kind=1") == 30);
}

TEST_CASE("JAX computes while the program fetches: only a fetch that outlasts it is a wait") {
  for (const std::string how : {"slow", "fast"}) {
    CAPTURE(how);
    TemporaryFolder folder;
    Recorded run;
    Finished alone;
    if (!run_both(folder, {"jax optax tensorflow", {"jax_input", how}}, run, alone)) return;
    REQUIRE(alone.status == 0);
    CHECK(ranges_of_kind(run.trace, kStep) == 60);
    const std::int64_t waits = ranges_of_kind(run.trace, kInputWait, "s.value='IteratorGetNext'");
    const std::int64_t hidden = ranges_of_kind(run.trace, kPhase, "s.value='IteratorGetNext'");
    CHECK(waits + hidden == 61);
    if (how == "slow")
      CHECK(waits > 45);
    else
      CHECK(hidden > 45);
  }
}

}  // namespace headway::test
