// SPDX-License-Identifier: MIT
#include "gui/models/details/source_place.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/gui/support/sessions.h"
#include "tests/support/temporary_folder.h"
#include "trace/meta_keys.h"

namespace headway::gui {
namespace {

void check_place(std::string_view name, const std::string& file, int line) {
  CAPTURE(std::string(name));
  const auto place = source_place(name);
  REQUIRE(place);
  CHECK(place->file == file);
  CHECK(place->line == line);
}

void make_file(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "step()\n";
}

}  // namespace

TEST_CASE("names of Python stacks tell file and line") {
  check_place("train.py(42): step", "train.py", 42);
  check_place("torch/nn/modules/module.py(1915): __getattr__", "torch/nn/modules/module.py", 1915);
  check_place("/home/me/my runs (old)/train.py(7): <module>", "/home/me/my runs (old)/train.py", 7);
  check_place("v1.2/a.b.py(3): f.py(9)", "v1.2/a.b.py", 3);
  check_place("train.py:42", "train.py", 42);
  check_place("src/kernel.cu:12: launch", "src/kernel.cu", 12);
}

TEST_CASE("names that tell no place, or something that no editor should open, are none") {
  for (const std::string_view name :
       {"", "step", "aten::mm", "nn.Module: Linear_0", "<built-in method item>", ".py(3): f",
        "train.py", "train.py(): f", "train.py(0): f", "train.py(-3): f", "train.py(12",
        "train.pyc(3): f", "train.py(99999999999): f", "/bin/sh(1): f", "run.sh(3): f",
        "core.python(3): f"}) {
    CAPTURE(std::string(name));
    CHECK(!source_place(name));
  }
  CHECK(!source_place("a\nb.py(3): f"));
  CHECK(!source_place(std::string_view("a\0b.py(3): f", 12)));
  CHECK(!source_place(std::string(1 << 20, 'a') + ".py(3): f"));
}

TEST_CASE("an event's frames are the ranges around it that tell a place, innermost first") {
  test::TraceBuilder builder;
  builder.range(1, "main.py(3): main", 0, 1000);
  builder.range(1, "forward", 100, 900);
  builder.range(1, "layer.py(8): forward", 110, 890);
  builder.range(1, "aten::mm", 200, 400);
  builder.launch(1, 250, 260, 300, 700, {.name = "gemm"});
  auto session = test::session_of(builder);
  const TimelineModel& model = session->timeline;
  const auto frames =
      source_frames(model, Target::of(test::event_named(session->trace, "gemm")), 8);
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].place == SourcePlace{"layer.py", 8});
  CHECK(frames[1].place == SourcePlace{"main.py", 3});
  // The call that launched it lies in the same ranges; a range with a place is the first of its own.
  const trace::CallId call = session->trace.device_ops.call[0];
  CHECK(source_frames(model, Target::of(analyzer::EventRef::of(call)), 8).size() == 2);
  const Target own = Target::of(test::event_named(session->trace, "layer.py(8): forward"));
  CHECK(source_frames(model, own, 1).front().place.line == 8);
  CHECK(source_frames(model, {}, 8).empty());
}

TEST_CASE(
    "relative files are found where the program was started, beside the trace, or on the search "
    "path") {
  test::TemporaryFolder folder;
  trace::Trace trace;
  trace.path = (folder / "traces" / "run.sqlite").string();
  trace.meta[std::string(trace::meta::kWorkingDirectory)] = (folder / "work").string();
  const SourcePlace place{"pkg/train.py", 3};
  const SourceFile none = find_source(place, trace, "");
  CHECK(none.path.empty());
  CHECK(none.problem.find("pkg/train.py is not on this machine") == 0);
  CHECK(none.problem.find((folder / "work").string()) != std::string::npos);
  make_file(folder / "more" / "pkg" / "train.py");
  const std::string search = (folder / "nowhere").string() + "::" + (folder / "more").string();
  CHECK(find_source(place, trace, search).path == folder / "more" / "pkg" / "train.py");
  make_file(folder / "traces" / "pkg" / "train.py");
  CHECK(find_source(place, trace, search).path == folder / "traces" / "pkg" / "train.py");
  make_file(folder / "work" / "pkg" / "train.py");
  CHECK(find_source(place, trace, search).path == folder / "work" / "pkg" / "train.py");
}

TEST_CASE("only regular files are opened") {
  test::TemporaryFolder folder;
  trace::Trace trace;
  trace.path = (folder / "run.sqlite").string();
  std::filesystem::create_directories(folder / "folder.py");
  CHECK(find_source({"folder.py", 1}, trace, "").path.empty());
  CHECK(find_source({(folder / "folder.py").string(), 1}, trace, "").path.empty());
  std::filesystem::create_symlink("/dev/null", folder / "device.py");
  CHECK(find_source({"device.py", 1}, trace, "").path.empty());
  const SourceFile gone = find_source({"/nowhere/train.py", 1}, trace, "");
  CHECK(gone.problem == "/nowhere/train.py is not on this machine.");
}

}  // namespace headway::gui
