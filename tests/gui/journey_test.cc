// SPDX-License-Identifier: MIT
// Whole ways through the window, by mouse and keys alone: what a person does from a slow run to a picture for a colleague,
// with a job of ranks, and with a second run. Nothing here calls what a key or a click would.
#include <doctest/doctest.h>

#include <QDropEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QTimer>
#include <algorithm>
#include <fstream>
#include <sstream>

#include "gui/pages/change_waterfall.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/compare_timelines.h"
#include "gui/pages/finding_list.h"
#include "gui/pages/findings_page.h"
#include "gui/pages/labels.h"
#include "gui/pages/ranks_page.h"
#include "gui/pages/start_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/background_task.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/temporary_folder.h"

namespace headway::gui {
namespace {

/// A person before the window.
class Person {
 public:
  explicit Person(const std::filesystem::path& notes, QSize size = {1280, 800}) : window_(false) {
    window_.timeline().keep_bookmarks_in(notes);
    window_.resize(size);
    window_.show();
    settle();
  }

  MainWindow& window() { return window_; }
  TimelinePage& timeline() { return window_.timeline(); }
  TimelineView& view() { return timeline().view(); }

  void click(QWidget* widget) { click(widget, widget->rect().center()); }
  void click(QWidget* widget, QPoint at) {
    QTest::mouseClick(widget, Qt::LeftButton, {}, at);
    QApplication::processEvents();
  }
  void click(QListWidget* list, const QString& text) {
    const QList<QListWidgetItem*> found = list->findItems(text, Qt::MatchStartsWith);
    REQUIRE(found.size() == 1);
    click(list->viewport(), list->visualItemRect(found.front()).center());
  }
  void turn_to(const QString& page) {
    click(window_.findChild<QListWidget*>(QStringLiteral("pages")), page);
    settle();
  }
  /// What has the keys gets them.
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    REQUIRE(QApplication::focusWidget());
    QTest::keyClick(QApplication::focusWidget(), key, modifiers);
    QApplication::processEvents();
  }
  void type(const QString& text) {
    REQUIRE(QApplication::focusWidget());
    QTest::keyClicks(QApplication::focusWidget(), text);
  }
  /// Types a path into the file dialog that the next action opens.
  void answer_dialog(const std::filesystem::path& path) {
    dialogs_ = 0;
    QTimer* timer = new QTimer(&window_);
    timer->setInterval(20);
    QObject::connect(timer, &QTimer::timeout, timer, [this, timer, path, tries = 0]() mutable {
      QWidget* modal = QApplication::activeModalWidget();
      auto* dialog = qobject_cast<QFileDialog*>(modal);
      if (dialog && tries < 250) {
        // On a busy machine the dialog reads its folder meanwhile, and then forgets what was typed or prefers a name
        // that it selected itself, or a list of names that fit takes the Return: again, with time in between.
        if (tries == 0) ++dialogs_;
        if (tries++ % 10 != 0) return;
        const QString wanted = QString::fromStdString(path.string());
        if (tries > 1) {
          dialog->activateWindow();
          dialog->selectFile(wanted);
        }
        QLineEdit* edit = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, wanted);
        QTest::keyClick(edit, Qt::Key_Return);
        // Where the platform gives the dialog no keys at all, as Return would.
        if (tries > 20 && dialog->isVisible()) QMetaObject::invokeMethod(dialog, "accept");
      } else if (modal) {
        modal->close();  // a box that says no: the test fails, but does not hang
      } else if (tries > 0) {
        timer->deleteLater();
      }
    });
    timer->start();
  }
  int dialogs() const { return dialogs_; }
  /// Opens a menu of the bar and clicks an entry of it.
  void choose(const QString& menu_title, const QString& entry) {
    for (QAction* title : window_.menuBar()->actions()) {
      if (title->text() != menu_title) continue;
      click(window_.menuBar(), window_.menuBar()->actionGeometry(title).center());
      QMenu* menu = title->menu();
      REQUIRE(test::wait_until([&] { return menu->isVisible(); }));
      for (QAction* action : menu->actions()) {
        if (!action->text().startsWith(entry)) continue;
        REQUIRE(action->isEnabled());
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
        QApplication::processEvents();
        return;
      }
    }
    FAIL("no entry " << entry.toStdString());
  }
  void drop(const std::filesystem::path& path) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QString::fromStdString(path.string()))});
    QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window_, &enter);
    REQUIRE(enter.isAccepted());
    QDropEvent event({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window_, &event);
  }
  void wait_for_trace() {
    REQUIRE(test::wait_until([&] { return window_.session() && window_.session()->analysed; }));
    settle();
  }
  void settle() {
    // A dialog that closed may have taken the keys with it.
    window_.activateWindow();
    QApplication::processEvents();
    REQUIRE(test::wait_until([] { return !BackgroundTask::any_running(); }));
    QApplication::processEvents();
  }

 private:
  QApplication& application_ = test::application();
  MainWindow window_;
  int dialogs_ = 0;
};

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

QTreeWidgetItem* first_fix(QTreeWidget& list) {
  for (QTreeWidgetItemIterator it(&list); *it; ++it)
    if ((*it)->flags() & Qt::ItemIsUserCheckable) return *it;
  FAIL("no fix to tick");
  return nullptr;
}

}  // namespace

TEST_CASE("from opening over finding, evidence and cause to a ticked fix, a note and a picture") {
  test::TemporaryFolder folder;
  const std::filesystem::path trace = folder / "run.sqlite";
  std::filesystem::copy_file(test::waiting_file(), trace);
  Person person(folder / "own");
  // Open.
  person.answer_dialog(trace);
  QTest::keyClick(&person.window(), Qt::Key_O, Qt::ControlModifier);
  person.wait_for_trace();
  CHECK(person.dialogs() == 1);
  // Finding: the first of the list.
  person.turn_to("Findings");
  FindingsPage& findings = person.window().findings();
  FindingList* list = findings.findChild<FindingList*>();
  person.click(list->viewport(), list->visualRect(list->model()->index(0, 0)).center());
  CHECK(list->current() == 0);
  CHECK(person.window().session()->analysis.findings[0].rule == "host-sync");
  // Evidence: the first line of it.
  const QList<LinkLabel*> evidence = findings.findChildren<LinkLabel*>("evidence");
  REQUIRE(!evidence.isEmpty());
  person.click(evidence.front());
  REQUIRE(person.window().page() == Page::kTimeline);
  const Target first = person.view().selection();
  REQUIRE(first.kind == Target::Kind::kEvent);
  // Cause: the next line beside the timeline is the same again; the event's own line tells what it is.
  EvidenceTree& tree = person.timeline().evidence();
  person.click(tree.viewport(), tree.visualItemRect(tree.topLevelItem(0)->child(1)).center());
  const Target second = person.view().selection();
  CHECK(second != first);
  CHECK(analyzer::name_of(person.window().session()->trace, second.event) ==
        analyzer::name_of(person.window().session()->trace, first.event));
  CHECK(person.timeline().details().text().contains("Duration"));
  // A fix: Shift+X, a click into its box.
  person.view().setFocus();
  person.key(Qt::Key_X, Qt::ShiftModifier);
  person.settle();
  WhatIfPanel& panel = person.timeline().what_if();
  REQUIRE(panel.isVisible());
  QTreeWidgetItem* fix = first_fix(panel.list());
  const QRect row = panel.list().visualItemRect(fix);
  person.click(panel.list().viewport(), {row.left() + 10, row.center().y()});
  person.settle();
  CHECK(fix->checkState(0) == Qt::Checked);
  REQUIRE(panel.answer());
  CHECK(panel.answer()->prediction.gain.ns > 0);
  REQUIRE(person.view().predicted());
  CHECK(person.timeline().prediction_note().isVisible());
  // From the list of fixes, keys with Ctrl work as on the timeline, and Esc goes back to it.
  panel.list().setFocus();
  person.key(Qt::Key_G, Qt::ControlModifier);
  CHECK(person.timeline().go_to().isVisible());
  person.key(Qt::Key_Escape);
  panel.list().setFocus();
  person.key(Qt::Key_Escape);
  CHECK(person.view().hasFocus());
  CHECK(person.view().predicted());
  // A note: a range along the ruler, B, F2, words, Return.
  const int ruler = person.view().frame().overview_height() + 4;
  const int left = person.view().frame().gutter;
  QWidget* port = person.view().viewport();
  QTest::mousePress(port, Qt::LeftButton, {}, {left + 100, ruler});
  QTest::mouseMove(port, {left + 150, ruler});
  QTest::mouseMove(port, {left + 220, ruler});
  QTest::mouseRelease(port, Qt::LeftButton, {}, {left + 220, ruler});
  REQUIRE(!person.view().range().empty());
  person.view().setFocus();
  person.key(Qt::Key_B);
  QTreeWidget& notes = person.timeline().bookmarks().list();
  REQUIRE(notes.topLevelItemCount() == 1);
  person.key(Qt::Key_F2);
  person.type("waits for every kernel");
  person.key(Qt::Key_Return);
  CHECK(notes.topLevelItem(0)->text(3) == "waits for every kernel");
  CHECK(content(folder / "run.headway-notes.json").find("waits for every kernel") !=
        std::string::npos);
  // Export.
  const std::filesystem::path picture = folder / "for a colleague.png";
  person.answer_dialog(picture);
  person.choose("&File", "Export a &picture of this page");
  REQUIRE(test::wait_until([&] { return std::filesystem::exists(picture); }));
  CHECK(test::count_colors(QImage(QString::fromStdString(picture.string()))) > 40);
  // Who opens the trace finds the note.
  Person colleague(folder / "other");
  colleague.drop(trace);
  colleague.wait_for_trace();
  colleague.turn_to("Timeline");
  CHECK(colleague.timeline().bookmarks().bookmarks().all().size() == 1);
}

TEST_CASE("search, its list and a range of it by row, by keys and mouse") {
  test::TemporaryFolder folder;
  Person person(folder / "own", {1024, 700});
  person.drop(test::training_file());
  person.wait_for_trace();
  person.turn_to("Timeline");
  person.view().setFocus();
  person.key(Qt::Key_Slash);
  person.type("conv1");
  person.settle();
  person.key(Qt::Key_Return);
  person.view().setFocus();
  person.key(Qt::Key_L);
  person.settle();
  HitsPanel& hits = person.timeline().drawer().hits();
  REQUIRE(hits.isVisible());
  REQUIRE(hits.list().table);
  CHECK(person.window().width() == 1024);  // nothing makes the window wider than a small screen
  CHECK(hits.list().hits == person.timeline().search().search()->hits());
  // A click on a row goes there.
  QTableView& table = hits.table().view();
  const QModelIndex third = table.model()->index(2, 0);
  person.click(table.viewport(), table.visualRect(third).center());
  CHECK(person.view().selection() == hits.list().table->link(hits.table().model().source(2)));
  // A range of durations leaves what takes as long; Esc brings all back.
  DurationHistogramView& histogram = hits.histogram();
  const DurationHistogram& durations = hits.list().histogram;
  const int y = histogram.plot().center().y();
  const int from = histogram.x_of(durations.first()) + 1;
  QTest::mousePress(&histogram, Qt::LeftButton, {}, {from, y});
  QTest::mouseMove(&histogram, {histogram.x_of(durations.first() + 1) + 2, y});
  QTest::mouseRelease(&histogram, Qt::LeftButton, {},
                      {histogram.x_of(durations.first() + 1) + 2, y});
  person.settle();
  REQUIRE(histogram.selection());
  CHECK(hits.list().in_duration < hits.list().hits);
  CHECK(table.model()->rowCount() == static_cast<int>(hits.list().in_duration));
  histogram.setFocus();
  person.key(Qt::Key_Escape);
  person.settle();
  CHECK(hits.list().in_duration == hits.list().hits);
  CHECK(hits.isVisible());
  person.key(Qt::Key_Escape);
  CHECK(!hits.isVisible());
  CHECK(person.view().hasFocus());
  // The same place, row by row.
  person.key(Qt::Key_I);
  RangeRowsPanel& rows = person.timeline().drawer().rows();
  REQUIRE(rows.isVisible());
  CHECK(rows.table().view().model()->rowCount() == 0);
  const int ruler = person.view().frame().overview_height() + 4;
  const int left = person.view().frame().gutter;
  QWidget* port = person.view().viewport();
  QTest::mousePress(port, Qt::LeftButton, {}, {left + 100, ruler});
  QTest::mouseMove(port, {left + 200, ruler});
  QTest::mouseMove(port, {left + 300, ruler});
  QTest::mouseRelease(port, Qt::LeftButton, {}, {left + 300, ruler});
  person.settle();
  CHECK(rows.table().view().model()->rowCount() > 3);
  // Each panel's key turns to it from the others, tables included, and closes it.
  TimelineDrawer& drawer = person.timeline().drawer();
  for (const auto& [key, panel] :
       std::initializer_list<std::pair<Qt::Key, QWidget*>>{{Qt::Key_K, &drawer.stacks()},
                                                           {Qt::Key_I, &drawer.rows()},
                                                           {Qt::Key_K, &drawer.stacks()},
                                                           {Qt::Key_L, &drawer.hits()},
                                                           {Qt::Key_I, &drawer.rows()}}) {
    person.key(key);
    CHECK(drawer.shows(*panel));
    CHECK(drawer.isAncestorOf(QApplication::focusWidget()));
  }
  person.key(Qt::Key_I);
  CHECK(drawer.isHidden());
  CHECK(person.view().hasFocus());
}

namespace {

/// A profile of PyTorch with its Python stack: twelve steps of train.py, in each a convolution that launches a
/// kernel, and a wait for it.
void write_profile(const std::filesystem::path& file) {
  std::ofstream out(file);
  out << R"({"schemaVersion": 1, "traceEvents": [)";
  int id = 0;
  const auto event = [&](const char* category, const char* name, int begin, int length,
                         const std::string& more = "", int thread = 7) {
    out << (id++ ? ",\n" : "\n") << R"({"ph": "X", "cat": ")" << category << R"(", "name": ")"
        << name << R"(", "pid": )" << (thread == 7 ? 7 : 0) << R"(, "tid": )" << thread
        << R"(, "ts": )" << begin << R"(, "dur": )" << length << R"(, "args": {)" << more << "}}";
  };
  for (int step = 0; step < 12; ++step) {
    const int at = 1000 + step * 1000;
    const std::string name = "ProfilerStep#" + std::to_string(step);
    event("user_annotation", name.c_str(), at, 1000);
    event("python_function", "train.py(42): step", at + 10, 900);
    event("cpu_op", "aten::conv2d", at + 100, 300);
    event("cuda_runtime", "cudaLaunchKernel", at + 150, 20,
          R"("correlation": )" + std::to_string(step + 1));
    event("cuda_runtime", "cudaStreamSynchronize", at + 420, 300);
    event("kernel", "gemm", at + 300, 400,
          R"("device": 0, "stream": 7, "correlation": )" + std::to_string(step + 1), 9);
  }
  out << "\n]}\n";
}

}  // namespace

TEST_CASE("from a kernel to the line of Python that launched it, in the editor") {
  test::TemporaryFolder folder;
  write_profile(folder / "profile.json");
  // An editor that writes down how it was called: one argument a line.
  const std::filesystem::path editor = folder / "editor";
  std::ofstream(editor) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"" << (folder / "called").string()
                        << ".part\" && mv \"" << (folder / "called").string() << ".part\" \""
                        << (folder / "called").string() << "\"\n";
  std::filesystem::permissions(editor, std::filesystem::perms::owner_all);
  qputenv("HEADWAY_EDITOR",
          QByteArray::fromStdString("'" + editor.string() + "' --at {line} {file}"));
  Person person(folder / "own");
  person.drop(folder / "profile.json");
  person.wait_for_trace();
  person.turn_to("Timeline");
  person.view().setFocus();
  person.key(Qt::Key_Slash);
  person.type("gemm");
  person.settle();
  person.key(Qt::Key_Return);
  person.settle();
  REQUIRE(person.view().selection());
  const auto source = [&] {
    const QList<LinkLabel*> links = person.timeline().details().findChildren<LinkLabel*>("source");
    REQUIRE(links.size() == 1);
    return links.front();
  };
  const auto said = [&] {
    return person.timeline().details().findChild<WrapLabel*>("source note")->text();
  };
  CHECK(source()->text() == "train.py(42): step");
  // The file is not here: that is said beside the line, and nothing is started.
  person.click(source());
  CHECK(said().startsWith("train.py is not on this machine: "));
  CHECK(said().contains(QString::fromStdString(folder.path().string())));
  std::ofstream(folder / "train.py") << "pass\n";
  person.click(source());
  CHECK(said().endsWith("in editor."));
  REQUIRE(test::wait_until([&] { return std::filesystem::exists(folder / "called"); }));
  CHECK(content(folder / "called") == "--at\n42\n" + (folder / "train.py").string() + "\n");
  // By its key, too; an editor that is gone is said.
  std::filesystem::remove(folder / "called");
  person.view().setFocus();
  person.key(Qt::Key_O, Qt::ShiftModifier);
  REQUIRE(test::wait_until([&] { return std::filesystem::exists(folder / "called"); }));
  std::filesystem::remove(editor);
  person.key(Qt::Key_O, Qt::ShiftModifier);
  CHECK(said().contains("is not installed"));
  // A finding's evidence has it, too.
  person.turn_to("Findings");
  FindingsPage& findings = person.window().findings();
  const QList<LinkLabel*> lines = findings.findChildren<LinkLabel*>("source");
  REQUIRE(lines.size() == 1);
  CHECK(lines.front()->text().startsWith("train.py(42) · "));
  person.click(lines.front());
  CHECK(findings.findChild<WrapLabel*>("source note")->text().contains("is not installed"));
  qunsetenv("HEADWAY_EDITOR");
}

TEST_CASE("the call stacks under a step: K, a thread's boxes by mouse and keys, back with Esc") {
  test::TemporaryFolder folder;
  write_profile(folder / "profile.json");
  Person person(folder / "own", {1024, 700});
  person.drop(folder / "profile.json");
  person.wait_for_trace();
  person.turn_to("Timeline");
  person.view().setFocus();
  CallStacksPanel& stacks = person.timeline().drawer().stacks();
  person.key(Qt::Key_K);
  person.settle();
  REQUIRE(stacks.isVisible());
  CHECK(person.window().width() == 1024);
  CHECK(stacks.view().boxes().empty());  // nothing is selected
  // The steps along the ruler: a click on one of them.
  const Frame& frame = person.view().frame();
  const Target step = Target::step(1);
  const double x = frame.mapping.x_of(person.window().session()->timeline.interval_of(step).begin);
  int y = frame.overview_height();
  while (y < frame.header_height() &&
         person.view().hit({frame.gutter + static_cast<int>(x) + 20, y}).target != step)
    ++y;
  person.click(person.view().viewport(), {frame.gutter + static_cast<int>(x) + 20, y});
  REQUIRE(person.view().selection() == step);
  person.settle();
  REQUIRE(!stacks.view().boxes().empty());
  CHECK(stacks.threads().count() >= 1);
  CHECK(stacks.note().contains("Most own time: "));
  CHECK(stacks.note().contains("train.py(42): step 300 µs"));
  const auto box = [&](const QString& name) {
    for (const FlameBox& one : stacks.view().boxes())
      if (QString::fromStdString(stacks.view().graph()->nodes[one.node].name) == name) return one;
    FAIL("no box " << name.toStdString());
    return FlameBox{};
  };
  CHECK(box("ProfilerStep#").width > box("train.py(42): step").width);
  CHECK(box("train.py(42): step").width > box("aten::conv2d").width);
  // A click leads to the longest event; the stacks stay those of the step.
  const std::size_t before = stacks.view().boxes().size();
  person.click(&stacks.view(), stacks.view().rect_of(box("aten::conv2d")).center());
  const trace::Trace& trace = person.window().session()->trace;
  CHECK(analyzer::name_of(trace, person.view().selection().event) == "aten::conv2d");
  CHECK(stacks.view().boxes().size() == before);
  // By keys: down to the call, Return, and Esc gives the keys back to the timeline.
  stacks.view().setFocus();
  person.key(Qt::Key_Down);
  person.key(Qt::Key_Return);
  CHECK(analyzer::name_of(trace, person.view().selection().event) == "cudaLaunchKernel");
  person.key(Qt::Key_Return, Qt::ControlModifier);
  CHECK(stacks.view().focus() == stacks.view().current());
  while (stacks.view().focus() != 0) person.key(Qt::Key_Escape);
  CHECK(stacks.isVisible());
  person.key(Qt::Key_Escape);
  CHECK(!stacks.isVisible());
  CHECK(person.view().hasFocus());
  // What is selected then is what K shows next.
  person.key(Qt::Key_K);
  person.settle();
  CHECK(stacks.view().graph()->nodes[0].total == DurationNs{20'000});
}

#ifdef HEADWAY_HAS_TRAINER
TEST_CASE("a job of ranks: dropped as a folder, the late rank named, its step on the timeline") {
  test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "job");
  const QString files = QString::fromStdString((folder / "job" / "rank%r.sqlite").string());
  QProcess make;
  make.start(QStringLiteral(HEADWAY_BINARY_DIR "/headway-train"),
             {"--device", "sim", "--model", "resnet", "--preset", "straggler", "--steps", "16",
              "--ranks", "4", "--trace", files});
  REQUIRE(make.waitForFinished(100'000));
  REQUIRE(make.exitCode() == 0);
  Person person(folder / "own");
  person.drop(folder / "job");
  person.wait_for_trace();
  CHECK(person.window().session()->trace.processes.size() == 4);
  // Its finding, wherever it stands in the list, names the rank.
  person.turn_to("Findings");
  const auto& findings = person.window().session()->analysis.findings;
  const auto straggler = std::ranges::find(findings, "straggler", &analyzer::Finding::rule);
  REQUIRE(straggler != findings.end());
  CHECK(straggler->status == analyzer::Status::kFound);
  CHECK(straggler->claim.find("Rank 2") != std::string::npos);
  FindingList* list = person.window().findings().findChild<FindingList*>();
  const auto place = static_cast<int>(straggler - findings.begin());
  const QModelIndex line = list->model()->index(place, 0);
  list->scrollTo(line);
  person.click(list->viewport(), list->visualRect(line).center());
  CHECK(list->current() == place);
  person.turn_to("Ranks");
  RanksPage& ranks = *person.window().findChild<RanksPage*>();
  REQUIRE(test::wait_until([&] { return ranks.is_ready(); }));
  QApplication::processEvents();
  person.click(&ranks.map(), ranks.map().rect_of(2, 3).center());
  CHECK(person.window().page() == Page::kTimeline);
  CHECK(person.view().mapping().visible().length() <
        person.window().session()->timeline.bounds.length());
}

#endif

TEST_CASE("two runs: Compare asks for the second, leads with what changed and to the timelines") {
  test::TemporaryFolder folder;
  Person person(folder / "own");
  person.drop(test::training_file());
  person.wait_for_trace();
  person.turn_to("Compare");
  ComparePage& compare = person.window().compare();
  QPushButton* second = nullptr;
  for (QPushButton* button : compare.findChildren<QPushButton*>())
    if (button->isVisible() && button->text().contains("second trace")) second = button;
  REQUIRE(second);
  person.answer_dialog(test::faster_file());
  person.click(second);
  REQUIRE(test::wait_until([&] { return compare.pair() != nullptr; }));
  person.settle();
  CHECK(person.dialogs() == 1);
  CHECK(compare.verdict().size() > 10);
  REQUIRE(compare.waterfall().isVisible());
  const QImage picture = compare.waterfall().grab().toImage();
  CHECK(test::count_colors(picture) > 5);
  // A class of the waterfall is a way to its place on both timelines.
  person.click(&compare.waterfall(),
               {20, compare.waterfall().row_height() + compare.waterfall().row_height() / 2});
  CHECK(compare.timelines().view(Side::kA).selection());
}

}  // namespace headway::gui
