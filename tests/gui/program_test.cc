// SPDX-License-Identifier: MIT
// headway-gui as a user starts it: exit codes, messages, pictures.
#include <doctest/doctest.h>

#include <QImage>
#include <QProcess>
#include <fstream>

#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway {
namespace {

struct Outcome {
  int status = -1;
  QString out;
  QString err;
};

/// Runs headway-gui without a display.
Outcome run_gui(const QStringList& arguments, const QStringList& environment = {}) {
  QProcess process;
  QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) variables.remove(name);
  // Of the libraries under it the program frees nothing at its end.
  variables.insert("ASAN_OPTIONS", "detect_leaks=0");
  for (const QString& entry : environment)
    variables.insert(entry.section('=', 0, 0), entry.section('=', 1));
  process.setProcessEnvironment(variables);
  process.start(QStringLiteral(HEADWAY_BINARY_DIR "/headway-gui"), arguments);
  REQUIRE(process.waitForFinished(100'000));
  REQUIRE(process.exitStatus() == QProcess::NormalExit);
  return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
          QString::fromUtf8(process.readAllStandardError())};
}

QString text(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

}  // namespace

TEST_CASE("a picture is made without a display, of the page, size and theme that was asked for") {
  test::TemporaryFolder folder;
  for (const char* page : {"summary", "timeline", "findings", "ops", "steps"}) {
    std::filesystem::path file = folder / (std::string(page) + ".png");
    Outcome outcome = run_gui({text(test::training_file()), "--screenshot", text(file), "--page",
                               page, "--size", "1000x600", "--theme", "dark"});
    CAPTURE(outcome.err.toStdString());
    CHECK(outcome.status == 0);
    CHECK(outcome.err.isEmpty());
    QImage image(text(file));
    CHECK(image.size() == QSize(1000, 600));
    CHECK(test::count_colors(image) > 40);
    CHECK(qGray(image.pixel(3, 300)) < 60);
  }
}

TEST_CASE("the same trace gives the same picture") {
  test::TemporaryFolder folder;
  for (const char* name : {"a.png", "b.png"}) {
    CHECK(run_gui({text(test::training_file()), "--screenshot", text(folder / name), "--range",
                   "200ms..400ms"})
              .status == 0);
  }
  CHECK(QImage(text(folder / "a.png")) == QImage(text(folder / "b.png")));
}

TEST_CASE("--find selects the first event of that name in the picture") {
  test::TemporaryFolder folder;
  QStringList base = {text(test::training_file()), "--page", "timeline", "--screenshot"};
  CHECK(run_gui(base + QStringList{text(folder / "plain.png")}).status == 0);
  CHECK(run_gui(base + QStringList{text(folder / "found.png"), "--find", "collate"}).status == 0);
  CHECK(QImage(text(folder / "plain.png")) != QImage(text(folder / "found.png")));
  CHECK(run_gui(base + QStringList{text(folder / "none.png"), "--find", "no such"}).status == 0);
}

TEST_CASE("without a display a window says how to get one") {
  Outcome outcome = run_gui({text(test::training_file())});
  CHECK(outcome.status == 2);
  CHECK(outcome.err.contains("ssh -X"));
  CHECK(outcome.err.contains("--screenshot"));
}

TEST_CASE("a display that is gone is told the same way, not by an abort") {
  Outcome outcome = run_gui({text(test::training_file())}, {"DISPLAY=:4711"});
  CHECK(outcome.status == 2);
  CHECK(outcome.err.contains("ssh -X"));
}

TEST_CASE("wrong options are usage errors that name what was expected") {
  struct Case {
    QStringList arguments;
    const char* expected;
  };
  for (const Case& one : {Case{{"--pge", "ops"}, "--pge"},
                          {{"--follow", "a.sqlite", "b.sqlite"}, "--follow"},
                          {{"--follow", "--load-range", "1s..2s", "a.sqlite"}, "--follow"},
                          {{"--load-range", "later"}, "1.2s..1.5s"},
                          {{"--memory", "8"}, "as in 8GB"},
                          {{"--memory", "0GB"}, "as in 8GB"},
                          {{"--page", "nowhere", "--screenshot", "x.png"}, "summary, timeline"},
                          {{"--size", "12"}, "1280x800"},
                          {{"--size", "99999x99999"}, "1280x800"},
                          {{"--theme", "blue"}, "dark or light"},
                          {{"--range", "5..1"}, "1.2s..1.5s"},
                          {{"--range", "1..2", "--page", "ops"}, "--page timeline"},
                          {{"--screenshot"}, "--screenshot"}}) {
    Outcome outcome = run_gui(one.arguments);
    CAPTURE(outcome.err.toStdString());
    CHECK(outcome.status == 2);
    CHECK(outcome.err.contains(one.expected));
  }
  CHECK(run_gui({"--help"}).status == 0);
  CHECK(run_gui({"--help"}).out.contains("--screenshot"));
  CHECK(run_gui({"--version"}).out.startsWith("headway-gui "));
}

TEST_CASE("files that are no traces are bad input, and pictures that cannot be written are told") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "notes.txt") << "hello";
  std::ofstream(folder / "empty.sqlite");
  std::filesystem::path half = folder / "half.sqlite";
  std::filesystem::copy_file(test::training_file(), half);
  std::filesystem::resize_file(half, std::filesystem::file_size(half) / 2);
  QString picture = text(folder / "out.png");
  for (const char* name : {"missing.sqlite", "notes.txt", "empty.sqlite", "half.sqlite"}) {
    Outcome outcome = run_gui({text(folder / name), "--screenshot", picture});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.contains(name));
    CHECK(!QImage(picture).width());
  }
  CHECK(run_gui({text(folder.path()), "--screenshot", picture}).status == 3);
  Outcome outcome = run_gui(
      {text(test::training_file()), "--screenshot", text(folder / "no") + "/such/folder.png"});
  CHECK(outcome.status == 2);
  CHECK(outcome.err.contains("folder.png"));
  CHECK(outcome.err.contains("No such file or directory"));
}

TEST_CASE("without a trace the picture is the welcome page") {
  test::TemporaryFolder folder;
  CHECK(run_gui({"--screenshot", text(folder / "welcome.png")}).status == 0);
  CHECK(test::count_colors(QImage(text(folder / "welcome.png"))) > 10);
}

}  // namespace headway
