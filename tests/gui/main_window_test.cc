// SPDX-License-Identifier: MIT
// The pages of a trace and the ways between them, without a display.
#include "gui/pages/main_window.h"

#include <doctest/doctest.h>

#include <QAbstractItemModel>
#include <QClipboard>
#include <QDropEvent>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <fstream>

#include "common/format.h"
#include "gui/models/details/findings.h"
#include "gui/models/figures/op_table.h"
#include "gui/pages/doubts_banner.h"
#include "gui/pages/findings_page.h"
#include "gui/pages/guide_dialog.h"
#include "gui/pages/help_overlay.h"
#include "gui/pages/labels.h"
#include "gui/pages/main_menus.h"
#include "gui/pages/ops_page.h"
#include "gui/pages/start_page.h"
#include "gui/pages/steps_page.h"
#include "gui/pages/summary_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/background_task.h"
#include "gui/timeline/key_bindings.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

MainWindow& window() {
  // Never destroyed: after main() Qt has already taken down what a window needs.
  static MainWindow& shared = *test::open_window(test::training_file()).release();
  return shared;
}

void click(QWidget* widget) {
  QTest::mouseClick(widget, Qt::LeftButton, {}, widget->rect().center());
}

/// The link with that text at its start.
LinkLabel* link(QWidget& parent, const QString& start) {
  for (LinkLabel* label : parent.findChildren<LinkLabel*>()) {
    if (label->text().startsWith(start)) return label;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a trace opens on the summary with its verdict") {
  MainWindow& w = window();
  REQUIRE(w.session());
  w.show_page(Page::kSummary);
  CHECK(w.page() == Page::kSummary);
  CHECK(w.windowTitle().contains("built.sqlite"));
  CHECK(w.session()->summary.headline.starts_with("Input-bound"));
}

TEST_CASE("three clicks lead from opening to the cause: headline, evidence, event") {
  MainWindow& w = window();
  w.show_page(Page::kSummary);
  LinkLabel* finding = link(*w.findChild<SummaryPage*>(), "Input-bound");
  REQUIRE(finding);
  click(finding);
  CHECK(w.page() == Page::kFindings);
  const analyzer::Evidence& evidence = w.session()->analysis.findings[0].evidence[0];
  QList<LinkLabel*> links = w.findings().findChildren<LinkLabel*>("evidence");
  REQUIRE(!links.isEmpty());
  click(links[0]);
  CHECK(w.page() == Page::kTimeline);
  TimelineView& view = w.timeline().view();
  CHECK(view.selection() == Target::of(evidence.event));
  Interval visible = view.mapping().visible();
  CHECK(visible.begin <= evidence.where.begin);
  CHECK(visible.end >= evidence.where.end);
  // The row is in sight and the details tell of the event.
  QRectF box = *box_of(view.frame(), view.selection());
  CHECK(view.frame().area_rect().contains(box.center().toPoint()));
  std::string name(analyzer::name_of(w.session()->trace, evidence.event));
  CHECK(w.timeline().details().text().startsWith(QString::fromStdString(name)));
  CHECK(w.timeline().evidence().currentItem());
}

TEST_CASE("the findings beside the timeline step from evidence to evidence") {
  MainWindow& w = window();
  w.show_page(Page::kTimeline);
  EvidenceTree& tree = w.timeline().evidence();
  REQUIRE(tree.topLevelItemCount() > 0);
  // Where the panel is narrow its lines are told apart by their begin.
  CHECK(tree.topLevelItem(0)->child(0)->text(0).left(8) !=
        tree.topLevelItem(0)->child(1)->text(0).left(8));
  const FindingLine first = finding_lines(w.session()->analysis).front();
  CHECK(tree.topLevelItem(0)->text(1).toStdString() == format_percent(first.share));
  CHECK(first.gain.find(format_percent(first.share)) != std::string::npos);
  QTreeWidgetItem* item = tree.topLevelItem(0)->child(2);
  QRect rect = tree.visualItemRect(item);
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, rect.center());
  CHECK(w.timeline().view().selection() ==
        Target::of(w.session()->analysis.findings[0].evidence[2].event));
}

TEST_CASE("the op table sorts, filters, groups, and leads to the longest op and back") {
  MainWindow& w = window();
  w.show_page(Page::kOps);
  REQUIRE(test::wait_until([&] { return w.ops().ops().is_ready(); }));
  QTableView& table = w.ops().table();
  QAbstractItemModel* model = table.model();
  auto column = [&](const char* id) { return w.ops().ops().table().model().table()->column(id); };
  int all = model->rowCount();
  REQUIRE(all > 10);
  w.ops().filter().setText("layer1");
  CHECK(model->rowCount() < all);
  CHECK(model->index(0, 0).data().toString().contains("layer1"));
  w.ops().filter().clear();
  table.sortByColumn(0, Qt::AscendingOrder);
  CHECK(model->index(0, 0).data().toString() <= model->index(1, 0).data().toString());
  w.ops().grouping().setCurrentIndex(static_cast<int>(OpGrouping::kKernel));
  REQUIRE(test::wait_until([&] { return w.ops().ops().is_ready(); }));
  CHECK(model->rowCount() < all);
  w.ops().grouping().setCurrentIndex(static_cast<int>(OpGrouping::kOp));
  REQUIRE(test::wait_until([&] { return w.ops().ops().is_ready(); }));
  table.sortByColumn(column("max_ns"), Qt::DescendingOrder);
  OpTable ops = make_op_table(w.session()->trace, w.session()->analysis, OpGrouping::kOp);
  trace::DeviceOpId longest = ops.lines[0].longest;
  for (const OpLine& line : ops.lines) {
    if (line.longest_duration > w.session()->trace.device_ops.interval(longest).length())
      longest = line.longest;
  }
  table.selectRow(0);
  emit table.activated(model->index(0, 0));
  CHECK(w.page() == Page::kTimeline);
  CHECK(w.timeline().view().selection() == Target::of(analyzer::EventRef::of(longest)));
  QTest::keyClick(&w.timeline().view(), Qt::Key_O);
  CHECK(w.page() == Page::kOps);
  REQUIRE(test::wait_until([&] { return w.ops().ops().is_ready(); }));
  CHECK(table.currentIndex().row() == 0);
}

TEST_CASE("a bar of the step chart leads to its step") {
  MainWindow& w = window();
  w.show_page(Page::kSteps);
  REQUIRE(test::wait_until([&] { return w.steps().is_ready(); }));
  StepChartView& chart = w.steps().chart();
  QPoint at = chart.place_of(17);
  CHECK(chart.bar_at(at) == std::optional<std::uint32_t>(17));
  QTest::mouseClick(&chart, Qt::LeftButton, {}, at);
  CHECK(w.page() == Page::kTimeline);
  const StepBar& bar = w.session()->step_charts[0].bars[17];
  CHECK(w.timeline().view().selection() == Target::step(bar.step));
  Interval visible = w.timeline().view().mapping().visible();
  CHECK(visible.begin <= bar.interval.begin);
  CHECK(visible.end >= bar.interval.end);
  // And by keyboard.
  w.show_page(Page::kSteps);
  QTest::keyClick(&chart, Qt::Key_Left);
  QTest::keyClick(&chart, Qt::Key_Return);
  CHECK(w.timeline().view().selection() == Target::step(w.session()->step_charts[0].bars[16].step));
}

TEST_CASE("a class of the waterfall leads to its longest stretch in that step") {
  MainWindow& w = window();
  w.show_page(Page::kSummary);
  QApplication::processEvents();
  WaterfallView* waterfall = w.findChild<WaterfallView*>();
  REQUIRE(waterfall);
  const Waterfall& data = *w.session()->summary.waterfall;
  std::size_t decode = 0;
  while (data.bars[decode].time_class != analyzer::TimeClass::kDecode) ++decode;
  QTest::mouseClick(waterfall, Qt::LeftButton, {},
                    {50, static_cast<int>(decode) * waterfall->row_height() + 5});
  CHECK(w.page() == Page::kTimeline);
  Target selected = w.timeline().view().selection();
  REQUIRE(selected.kind == Target::Kind::kSegment);
  CHECK(w.session()->analysis.partitions[0].segments[selected.index].time_class ==
        analyzer::TimeClass::kDecode);
}

TEST_CASE("search goes from hit to hit and tells how many there are") {
  MainWindow& w = window();
  w.show_page(Page::kSummary);
  w.run(Command::kSearch);
  CHECK(w.page() == Page::kTimeline);
  w.timeline().view().select({}, false);
  SearchBar& search = w.timeline().search();
  QLineEdit* edit = search.findChild<QLineEdit*>();
  QTest::keyClicks(edit, "wait for");
  REQUIRE(test::wait_until([&] { return search.search() != nullptr; }));
  CHECK(search.status() == "40 hits");
  QTest::keyClick(edit, Qt::Key_Return);
  CHECK(search.status() == "1 of 40");
  QTest::keyClick(edit, Qt::Key_Return);
  CHECK(search.status() == "2 of 40");
  w.run(Command::kSearchPrevious);
  w.run(Command::kSearchPrevious);
  CHECK(search.status() == "40 of 40");
  CHECK(analyzer::name_of(w.session()->trace, w.timeline().view().selection().event) ==
        "wait for batch");
  edit->clear();
  QTest::keyClicks(edit, "nothing has this name");
  REQUIRE(test::wait_until([&] { return search.search() != nullptr; }));
  CHECK(search.status() == "No hits");
  QTest::keyClick(edit, Qt::Key_Escape);
  CHECK(edit->text().isEmpty());
}

TEST_CASE("Enter before the search is done goes to the first hit once it is") {
  MainWindow& w = window();
  w.show_page(Page::kTimeline);
  w.timeline().view().select({}, false);
  QLineEdit* edit = w.timeline().search().findChild<QLineEdit*>();
  edit->setText("collate");
  QTest::keyClick(edit, Qt::Key_Return);
  REQUIRE(test::wait_until([&] { return bool(w.timeline().view().selection()); }));
  CHECK(w.timeline().search().status().startsWith("1 of "));
  edit->clear();
}

TEST_CASE("details follow their links and can be copied") {
  MainWindow& w = window();
  w.show_page(Page::kTimeline);
  Target kernel = Target::of(test::event_named(w.session()->trace, "multi_tensor_sgd"));
  w.timeline().show_target(kernel);
  LinkLabel* launched = link(w.timeline().details(), "multi_tensor_sgd on trainer");
  REQUIRE(launched);
  QTest::keyClick(launched, Qt::Key_Return);
  CHECK(w.timeline().view().selection().event.kind == analyzer::EventRef::Kind::kCall);
  QTest::keyClick(&w.timeline().view(), Qt::Key_C, Qt::ControlModifier);
  CHECK(QGuiApplication::clipboard()->text().contains("Kind: Launch"));
}

TEST_CASE("a selected time range tells its length and classes") {
  MainWindow& w = window();
  w.show_page(Page::kTimeline);
  w.timeline().view().select_range(w.session()->analysis.partitions[0].steps[10].interval);
  CHECK(w.timeline().details().text().startsWith("Selected time\nLength: "));
  CHECK(w.timeline().details().text().contains("Input: decode: "));
  w.timeline().view().select_range({});
}

TEST_CASE("page keys, help and both themes work") {
  MainWindow& w = window();
  for (const PageInfo& one : pages()) {
    QTest::keySequence(&w, sequences(one.keys).front());
    CHECK(w.page() == one.page);
    CHECK(page_from_id(one.id) == one.page);
  }
  w.show_page(Page::kSummary);
  CHECK(!page_from_id("nowhere"));
  QImage light = w.grab().toImage();
  w.set_dark(true);
  QImage dark = w.grab().toImage();
  CHECK(qGray(light.pixel(5, 400)) > 200);
  CHECK(qGray(dark.pixel(5, 400)) < 60);
  w.set_dark(false);
  w.run(Command::kHelp);
  QImage help = w.grab().toImage();
  CHECK(help != light);
  CHECK(w.findChild<HelpOverlay*>()->isVisible());
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
  CHECK(!w.findChild<HelpOverlay*>()->isVisible());
}

TEST_CASE("every page has something to see, at both usual sizes and themes") {
  for (QSize size : {QSize(1280, 800), QSize(1920, 1080)}) {
    auto w = test::open_window(test::training_file(), size);
    for (bool dark : {false, true}) {
      w->set_dark(dark);
      for (Page page :
           {Page::kSummary, Page::kTimeline, Page::kFindings, Page::kOps, Page::kSteps}) {
        w->show_page(page);
        test::wait_until([] { return !BackgroundTask::any_running(); });
        QApplication::processEvents();
        QImage image = w->grab().toImage();
        CHECK(image.size() == size);
        CHECK(test::count_colors(image) > 60);
        // Not only the bars at the top: each third of the page below them has content.
        if (page == Page::kTimeline || page == Page::kSteps) {
          for (int third = 0; third < 3; ++third) {
            QRect part(third * size.width() / 3, 120, size.width() / 3, size.height() - 200);
            CHECK(test::count_colors(image.copy(part)) > 8);
          }
        }
      }
    }
  }
}

TEST_CASE("widgets that can be used have names for screen readers and can be reached by Tab") {
  MainWindow& w = window();
  for (const PageInfo& one : pages()) {
    CAPTURE(one.id);
    w.show_page(one.page);
    test::wait_until([] { return !BackgroundTask::any_running(); });
    QApplication::processEvents();
    for (QWidget* widget : w.findChildren<QWidget*>()) {
      if (!widget->isVisible() || !(widget->focusPolicy() & Qt::TabFocus)) continue;
      // Parts of a widget that is named, like the button inside a search box, are not on their own.
      if (widget->objectName().startsWith("qt_")) continue;
      bool labelled = qobject_cast<QLabel*>(widget) || qobject_cast<QAbstractButton*>(widget) ||
                      qobject_cast<QScrollArea*>(widget) ||
                      qobject_cast<QScrollArea*>(widget->parent());
      CAPTURE(widget->metaObject()->className());
      CHECK((labelled || !widget->accessibleName().isEmpty()));
    }
  }
}

TEST_CASE("a file that cannot be opened is told in words with ways out") {
  test::application();
  test::TemporaryFolder folder;
  std::filesystem::path text = folder / "notes.txt";
  std::ofstream(text) << "not a trace";
  MainWindow w(false);
  w.show();
  QString message;
  ExitCode code = ExitCode::kOk;
  QObject::connect(&w, &MainWindow::open_failed, [&](const QString& m, ExitCode c) {
    message = m;
    code = c;
  });
  w.open(text);
  REQUIRE(test::wait_until([&] { return !message.isEmpty(); }));
  CHECK(code == ExitCode::kBadInput);
  CHECK(w.start().error().contains("notes.txt"));
  // Put in order, the same file opens on a second try.
  std::filesystem::copy_file(test::training_file(), text,
                             std::filesystem::copy_options::overwrite_existing);
  for (QPushButton* button : w.start().findChildren<QPushButton*>()) {
    if (button->text().contains("again")) click(button);
  }
  CHECK(test::wait_until([&] { return w.session() != nullptr; }));
}

TEST_CASE("loading can be cancelled, replaced and survives the end of the window") {
  test::application();
  {
    MainWindow w(false);
    w.show();
    w.open(test::training_file());
    for (QPushButton* button : w.start().findChildren<QPushButton*>()) {
      if (button->text().contains("ancel")) button->click();
    }
    QTest::qWait(50);
    CHECK(!w.session());
    for (int i = 0; i < 5; ++i) w.open(test::training_file());
    CHECK(test::wait_until([&] { return w.session() != nullptr; }));
  }
  MainWindow w(false);
  w.open(test::training_file());  // and destroyed while it loads
}

TEST_CASE("a dropped file opens, anything else is left alone") {
  test::application();
  MainWindow w(false);
  w.show();
  auto drop = [&](const QList<QUrl>& urls) {
    QMimeData data;
    data.setUrls(urls);
    QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&w, &enter);
    QDropEvent event({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    if (enter.isAccepted()) QApplication::sendEvent(&w, &event);
    return enter.isAccepted();
  };
  QUrl remote("https://example.com/trace.sqlite");
  QUrl file = QUrl::fromLocalFile(QString::fromStdString(test::training_file().string()));
  CHECK(!drop({remote}));
  CHECK(!drop({file, remote}));
  CHECK(drop({file}));
  CHECK(test::wait_until([&] { return w.session() != nullptr; }));
}

TEST_CASE("doubts stand above every page, hostile names as plain text") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 20);
  builder.process_killed(9, 20'000);
  auto w = test::open_window(builder.save());
  REQUIRE(w->session());
  DoubtsBanner* banner = w->findChild<DoubtsBanner*>();
  CHECK(banner->isVisible());
  CHECK(banner->text().contains("Lost data: The run was cut"));
  for (Page page : {Page::kSummary, Page::kTimeline, Page::kFindings, Page::kOps, Page::kSteps}) {
    w->show_page(page);
    QApplication::processEvents();
    w->grab();
  }
  for (QLabel* label : w->findChildren<QLabel*>()) CHECK(label->textFormat() == Qt::PlainText);
}

TEST_CASE("a trace without events opens and says that there is nothing to judge") {
  test::TraceBuilder builder;
  auto w = test::open_window(builder.save());
  REQUIRE(w->session());
  CHECK(w->findChild<DoubtsBanner*>()->text().contains("no events"));
  for (Page page : {Page::kSummary, Page::kTimeline, Page::kFindings, Page::kOps, Page::kSteps}) {
    w->show_page(page);
    QApplication::processEvents();
    CHECK(test::count_colors(w->grab().toImage()) > 20);
  }
}

TEST_CASE("every command of the menus can be given with and without a trace") {
  test::application();
  for (bool with_trace : {false, true}) {
    std::unique_ptr<MainWindow> w;
    if (with_trace) {
      w = test::open_window(test::training_file());
    } else {
      w = std::make_unique<MainWindow>(false);
      w->show();
    }
    for (const Shortcut& one : shortcuts()) {
      // Opening asks for a file in a dialogue, quitting closes the window.
      if (one.command == Command::kOpen || one.command == Command::kQuit) continue;
      w->run(one.command);
    }
    QApplication::processEvents();
    CHECK(w->isVisible());
  }
}

TEST_CASE("menus fit a small screen, and what needs a trace is disabled without one") {
  test::application();
  MainWindow empty(false);
  empty.show();
  auto entry = [](MainWindow& w, const QString& text) -> QAction* {
    for (QAction* action : w.findChildren<QAction*>()) {
      if (action->text().remove('&').section('\t', 0, 0) == text) return action;
    }
    return nullptr;
  };
  for (const char* text : {"Findings", "Zoom out", "Compare with a second trace …"}) {
    CAPTURE(text);
    REQUIRE(entry(empty, text));
    CHECK(!entry(empty, text)->isEnabled());
    CHECK(entry(window(), text)->isEnabled());
  }
  for (const char* text : {"Open a trace", "User guide", "Keyboard shortcuts", "About Headway"}) {
    CAPTURE(text);
    REQUIRE(entry(empty, text));
    CHECK(entry(empty, text)->isEnabled());
  }
  for (QMenu* menu : window().findChildren<QMenu*>()) {
    CAPTURE(menu->title().toStdString());
    CHECK(menu->sizeHint().width() < 700);
    CHECK(menu->sizeHint().height() < 680);
  }
  CHECK(window().minimumSizeHint().width() <= 1024);
  CHECK(window().minimumSizeHint().height() <= 700);
}

TEST_CASE("the help has room for all of its words, also on a small screen") {
  window();  // with it the application, which has the font
  const QFont font = QApplication::font();
  for (const QSize room : {QSize(1024, 670), QSize(1280, 780), QSize(1920, 1050)}) {
    CAPTURE(room.width());
    const HelpLayout layout = lay_out(font, room);
    CHECK(layout.height <= room.height() - 46);
    CHECK(static_cast<int>(layout.columns.size()) * layout.column_width <= room.width());
    std::size_t lines = 0;
    for (const auto& column : layout.columns) {
      for (const HelpBlock& block : column) {
        CHECK(block.keys + 10 + block.words <= layout.column_width);
        lines += block.lines.size();
      }
    }
    CHECK(lines > shortcuts().size() + mouse_actions().size());
  }
}

TEST_CASE("the help shows the guide and says what the program is") {
  MainWindow& w = window();
  w.menus().show_guide();
  GuideDialog* guide = w.findChild<GuideDialog*>();
  REQUIRE(guide);
  CHECK(guide->isVisible());
  CHECK(guide->text().contains("Mouse and keys"));
  guide->show_page("three-clicks.md");
  CHECK(guide->text().contains("First click"));
  guide->show_page("no such page.md");
  CHECK(guide->text().contains("First click"));
  guide->close();
  w.menus().show_about();
  QMessageBox* about = w.findChild<QMessageBox*>(QStringLiteral("about"));
  REQUIRE(about);
  CHECK(about->informativeText().contains("MIT"));
  about->close();
}

TEST_CASE("after the shortcuts were shown keys go on where they went before") {
  MainWindow& w = window();
  w.show_page(Page::kTimeline);
  w.activateWindow();
  w.timeline().view().setFocus();
  w.run(Command::kHelp);
  HelpOverlay* help = w.findChild<HelpOverlay*>();
  REQUIRE(help);
  CHECK(help->isVisible());
  // A second "?" begins with Shift, which alone closes nothing.
  QTest::keyPress(help, Qt::Key_Shift, Qt::ShiftModifier);
  CHECK(help->isVisible());
  QTest::keyClick(help, Qt::Key_Question, Qt::ShiftModifier);
  CHECK(!help->isVisible());
  w.run(Command::kHelp);
  QTest::keyClick(help, Qt::Key_Escape);
  CHECK(!help->isVisible());
  CHECK(w.focusWidget() == &w.timeline().view());
}

}  // namespace headway::gui
