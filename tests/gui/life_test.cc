// SPDX-License-Identifier: MIT
// headway-gui from start to exit: it keeps its settings, leaves traces unchanged, and obeys the
// command line.
#include <doctest/doctest.h>

#include <QCryptographicHash>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QSettings>
#include <QSplitter>
#include <fstream>

#include "gui/pages/compare_page.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway {
namespace {

QString text(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

QByteArray hash(const std::filesystem::path& file) {
  QFile data(text(file));
  REQUIRE(data.open(QIODevice::ReadOnly));
  QCryptographicHash sum(QCryptographicHash::Sha256);
  sum.addData(&data);
  return sum.result();
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++files;
  return files;
}

/// Starts headway-gui with an offscreen window.
void start_gui(QProcess& process, const QStringList& arguments, const QString& home) {
  QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
    variables.remove(name);
  variables.insert("QT_QPA_PLATFORM", "offscreen");
  variables.insert("HOME", home);
  variables.insert("ASAN_OPTIONS", "detect_leaks=0");
  process.setProcessEnvironment(variables);
  process.start(QStringLiteral(HEADWAY_BINARY_DIR "/headway-gui"), arguments);
  REQUIRE(process.waitForStarted(30'000));
}

/// While it exists, the settings of headway-gui are in a temporary folder.
class TemporarySettings {
 public:
  TemporarySettings() {
    test::application();
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, text(folder_.path()));
    QCoreApplication::setOrganizationName("headway");
    QCoreApplication::setApplicationName("headway-gui");
  }
  ~TemporarySettings() {
    QCoreApplication::setOrganizationName({});
    QCoreApplication::setApplicationName({});
  }
  std::filesystem::path file() const { return folder_ / "headway/headway-gui.conf"; }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a program killed while it loads leaves the trace unchanged and no other file") {
  test::TemporaryFolder folder;
  test::TemporaryFolder home;
  std::filesystem::path trace = folder / "run.sqlite";
  std::filesystem::copy_file(test::long_file(), trace);
  const QByteArray before = hash(trace);
  const auto written = std::filesystem::last_write_time(trace);
  int killed_while_alive = 0;
  for (int ms : {5, 60, 150, 300, 600, 1200}) {
    QProcess process;
    start_gui(process, {text(trace)}, text(home.path()));
    QTest::qWait(ms);
    killed_while_alive += process.state() == QProcess::Running;
    process.kill();
    REQUIRE(process.waitForFinished(30'000));
    CHECK(hash(trace) == before);
    CHECK(std::filesystem::last_write_time(trace) == written);
    CHECK(files_in(folder.path()) == 1);
  }
  CHECK(killed_while_alive == 6);
}

TEST_CASE("a read-only trace in a read-only folder opens") {
  test::TemporaryFolder folder;
  test::TemporaryFolder home;
  std::filesystem::path trace = folder / "run.sqlite";
  std::filesystem::copy_file(test::training_file(), trace);
  std::filesystem::permissions(trace, std::filesystem::perms::owner_read);
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  QProcess process;
  start_gui(process, {text(trace), "--export-csv", "-", "--page", "ops"}, text(home.path()));
  CHECK(process.waitForFinished(60'000));
  CHECK(process.exitCode() == 0);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("without a writable home folder, the window opens and nothing is printed") {
  QProcess process;
  start_gui(process, {text(test::training_file())}, "/proc/nowhere");
  CHECK(!process.waitForFinished(1500));  // still running, with its window open
  process.terminate();
  process.waitForFinished(30'000);
  CHECK(process.readAllStandardError().isEmpty());
}

TEST_CASE("theme, rail and widths of the side panels are kept between runs") {
  TemporarySettings settings;
  {
    gui::MainWindow w(true);
    w.resize(1300, 800);
    w.show();
    w.set_dark(false);
    w.run(gui::Command::kToggleRail);
    QSplitter* side = w.findChild<QSplitter*>("timeline");
    REQUIRE(side);
    side->setSizes({700, 500});
    w.close();
  }
  CHECK(std::filesystem::exists(settings.file()));
  gui::MainWindow again(true);
  CHECK(again.findChild<QWidget*>("pages")->isHidden());
  QList<int> sizes = again.findChild<QSplitter*>("timeline")->sizes();
  CHECK(sizes[1] > sizes[0] / 2);
  again.run(gui::Command::kToggleRail);
  CHECK(!again.findChild<QWidget*>("pages")->isHidden());
}

TEST_CASE("damaged settings do no harm") {
  TemporarySettings settings;
  const std::string nonsense[] = {
      "\x01\x02 not an ini file [[[ \xff\xfe", std::string(100'000, '['),
      "[General]\ndark=@Variant(\\0\\0\\0\\x7f)\ngeometry=12\nrail=maybe\n"
      "recent=@Variant(\\xff\\xff\\xff\\xff)\n[splitter]\ntimeline=x\ntimeline-side=@ByteArray()\n",
      "[General]\ngeometry=@ByteArray(\\x1\\xd9\\xd0\\xcb\\0\\x3\\0\\0\\x7f\\xff\\xff\\xff)\n"
      "recent=/nowhere/a.sqlite, \"\\x1b[2J<b>.sqlite\"\n"};
  for (const std::string& content : nonsense) {
    std::filesystem::create_directories(settings.file().parent_path());
    std::ofstream(settings.file(), std::ios::binary | std::ios::trunc) << content;
    gui::MainWindow w(true);
    w.show();
    QApplication::processEvents();
    CHECK(w.width() >= 300);
    CHECK(w.width() < 10'000);
    w.open(test::training_file());
    CHECK(test::wait_until([&] { return w.session() != nullptr; }));
    w.close();
  }
}

TEST_CASE("the command line opens two traces and exports tables and pictures") {
  test::TemporaryFolder folder;
  test::TemporaryFolder home;
  auto run = [&](const QStringList& arguments) {
    QProcess process;
    start_gui(process, arguments, text(home.path()));
    REQUIRE(process.waitForFinished(100'000));
    return std::tuple(process.exitCode(), process.readAllStandardOutput(),
                      QString::fromUtf8(process.readAllStandardError()));
  };
  QString a = text(test::training_file());
  QString b = text(test::faster_file());
  // A limit on the size of files stands in for a full disk.
  QProcess limited;
  limited.start(
      "bash", {"-c", "trap '' XFSZ; ulimit -f 8; QT_QPA_PLATFORM=offscreen exec \"$@\"", "-",
               HEADWAY_BINARY_DIR "/headway-gui", a, "--export-csv", text(folder / "events.csv")});
  REQUIRE(limited.waitForFinished(60'000));
  CHECK(limited.exitCode() == 2);
  const QString message = QString::fromUtf8(limited.readAllStandardError());
  CHECK(message.contains("events.csv"));
  CHECK(message.contains("File too large"));
  CHECK(files_in(folder.path()) == 0);
  auto [status, out, err] =
      run({a, "--compare", b, "--screenshot", text(folder / "c.png"), "--export-csv", "-"});
  CHECK(status == 0);
  CHECK(err.isEmpty());
  CHECK(out.startsWith("name,a_ns,b_ns,change_ns"));
  CHECK(test::count_colors(QImage(text(folder / "c.png"))) > 60);
  std::tie(status, out, err) = run({a, "--find", "wait for batch", "--export-csv", "-"});
  CHECK(status == 0);
  CHECK(out.count("wait for batch") == 40);
  std::tie(status, out, err) = run({a, "--export-csv", "-"});
  CHECK(status == 0);
  CHECK(out.startsWith("kind,start_ns,"));
  std::tie(status, out, err) = run({a, "--find", "no such event", "--export-csv", "-"});
  CHECK(status == 2);
  CHECK(err.contains("--find 'no such event'"));
  std::tie(status, out, err) =
      run({a, "--compare", text(folder / "gone.sqlite"), "--screenshot", text(folder / "x.png")});
  CHECK(status == 3);
  CHECK(err.contains("gone.sqlite"));
  std::tie(status, out, err) = run({"--compare", b});
  CHECK(status == 2);
  CHECK(err.contains("headway-gui A --compare B"));
  std::tie(status, out, err) = run({a, "--screenshot", text(folder / "p.svg"), "--page", "ops"});
  CHECK(status == 0);
  CHECK(QFile(text(folder / "p.svg")).size() > 10'000);
}

}  // namespace headway
