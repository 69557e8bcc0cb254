// SPDX-License-Identifier: MIT
// Pictures and tables that are written to files.
#include "gui/pages/export.h"

#include <doctest/doctest.h>

#include <QCryptographicHash>
#include <QImage>
#include <QMessageBox>
#include <QPainter>
#include <QSvgRenderer>
#include <fstream>
#include <sstream>

#include "analyzer/report/html_style.h"
#include "common/error.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/export_menu.h"
#include "gui/pages/timeline_page.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

QString text(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// Of pixels whose colours differ by more than a little.
double difference(const QImage& a, const QImage& b) {
  REQUIRE(a.size() == b.size());
  int differ = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      QRgb p = a.pixel(x, y);
      QRgb q = b.pixel(x, y);
      differ += std::abs(qRed(p) - qRed(q)) + std::abs(qGreen(p) - qGreen(q)) +
                    std::abs(qBlue(p) - qBlue(q)) >
                90;
    }
  }
  return differ / static_cast<double>(a.width() * a.height());
}

}  // namespace

TEST_CASE("the timeline as SVG is made of vectors and shows what its PNG shows") {
  test::TemporaryFolder folder;
  auto w = test::open_window(test::training_file(), {1280, 800});
  w->show_page(Page::kTimeline);
  TimelineView& view = w->timeline().view();
  view.show_interval(w->session()->analysis.partitions[0].steps[10].interval);
  QApplication::processEvents();
  export_picture(view, folder / "timeline.png");
  export_picture(view, folder / "timeline.svg");
  QImage png(text(folder / "timeline.png"));
  CHECK(png.size() == view.size());
  std::string svg = content(folder / "timeline.svg");
  CHECK(count(svg, "<image") == 0);
  CHECK(count(svg, "<rect") + count(svg, "<path") > 100);
  QSvgRenderer renderer(text(folder / "timeline.svg"));
  REQUIRE(renderer.isValid());
  QImage drawn(png.size(), QImage::Format_RGB32);
  drawn.fill(Qt::white);
  QPainter painter(&drawn);
  renderer.render(&painter);
  painter.end();
  CHECK(difference(png, drawn) < 0.06);
}

TEST_CASE("every page can be written as PNG and as SVG") {
  test::TemporaryFolder folder;
  auto w = test::open_window(test::training_file(), {1280, 800});
  for (const PageInfo& one : pages()) {
    w->show_page(one.page);
    QApplication::processEvents();
    std::filesystem::path svg = folder / (std::string(one.id) + ".SVG");
    std::filesystem::path png = folder / (std::string(one.id) + ".png");
    export_picture(*w->centralWidget(), svg);
    export_picture(*w->centralWidget(), png);
    CAPTURE(one.id);
    CHECK(content(svg).find("<svg") != std::string::npos);
    CHECK(QSvgRenderer(text(svg)).isValid());
    CHECK(QImage(text(png)).size() == w->centralWidget()->size());
  }
}

TEST_CASE(
    "on the timeline the selected time is written, else the selected name, else what is seen") {
  test::TemporaryFolder folder;
  auto w = test::open_window(test::training_file());
  w->show_page(Page::kTimeline);
  const Session& session = *w->session();
  csv_export(*w, folder / "all.csv")();
  const trace::Trace& trace = session.trace;
  CHECK(lines(content(folder / "all.csv")) ==
        1 + trace.ranges.size() + trace.calls.size() + trace.device_ops.size());
  w->timeline().view().select(Target::of(test::event_named(trace, "wait for batch")), true);
  csv_export(*w, folder / "name.csv")();
  CHECK(lines(content(folder / "name.csv")) == 41);
  Interval step = session.analysis.partitions[0].steps[10].interval;
  w->timeline().view().select_range(step);
  csv_export(*w, folder / "range.csv")();
  std::size_t inside = 0;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    Interval when = trace.device_ops.interval({i});
    inside += when.begin < step.end && when.end > step.begin;
  }
  CHECK(count(content(folder / "range.csv"), "device op,") == inside);
}

TEST_CASE("on other pages their table is written as it is sorted and filtered, with raw numbers") {
  test::TemporaryFolder folder;
  auto w = test::open_window(test::training_file());
  w->compare_with(test::faster_file());
  REQUIRE(test::wait_until([&] { return w->compare().pair() != nullptr; }));
  QApplication::processEvents();
  ComparePage& page = w->compare();
  page.choice().setCurrentIndex(page.choice().findData("ops"));
  csv_export(*w, folder / "ops.csv")();
  std::string csv = content(folder / "ops.csv");
  CHECK(csv.starts_with("name,a_ns,b_ns,change_ns,"));
  CHECK(lines(csv) == 1 + static_cast<std::size_t>(page.model().rowCount()));
  page.model().set_filter("removed");
  csv_export(*w, folder / "ops.csv")();
  CHECK(lines(content(folder / "ops.csv")) ==
        1 + static_cast<std::size_t>(page.model().rowCount()));
  CHECK(count(content(folder / "ops.csv"), ",removed\r\n") ==
        static_cast<std::size_t>(page.model().rowCount()));
  w->show_page(Page::kFindings);
  CHECK_THROWS_WITH_AS(csv_export(*w, folder / "no.csv"), doctest::Contains("shows no table"),
                       Error);
}

TEST_CASE("what cannot be written is told with the file and the remedy, and the old file stays") {
  test::TemporaryFolder folder;
  test::application();
  QWidget widget;
  widget.resize(50, 50);
  CHECK_THROWS_WITH_AS(export_picture(widget, folder / "no" / "such.png"),
                       doctest::Contains("No such file"), Error);
  CHECK_THROWS_WITH_AS(export_picture(widget, folder.path()), doctest::Contains("something else"),
                       Error);
  CHECK_THROWS_WITH_AS(export_picture(widget, "/dev/full"), doctest::Contains("something else"),
                       Error);
  std::ofstream(folder / "old.csv") << "what was there";
  CHECK_THROWS_AS(export_text(folder / "old.csv",
                              [](const auto& write) {
                                write("half of it");
                                fail_internal("the disk is gone");
                              }),
                  Error);
  CHECK(content(folder / "old.csv") == "what was there");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++files;
  CHECK(files == 1);  // nothing half written is left
}

TEST_CASE("the menu writes tables in the background and tells what went wrong in a box") {
  test::TemporaryFolder folder;
  auto w = test::open_window(test::training_file());
  w->show_page(Page::kTimeline);
  QString error = "none yet";
  QObject::connect(&w->exports(), &ExportMenu::finished,
                   [&](const QString&, const QString& said) { error = said; });
  w->exports().export_selection(text(folder / "events.csv"));
  REQUIRE(test::wait_until([&] { return error != "none yet"; }));
  CHECK(error.isEmpty());
  CHECK(lines(content(folder / "events.csv")) > 1000);
  w->exports().export_timeline(text(folder / "t.svg"));
  CHECK(error.isEmpty());
  w->exports().export_page(text(folder / "missing") + "/p.png");
  CHECK(error.contains("No such file"));
  auto boxes = w->findChildren<QMessageBox*>();
  REQUIRE(boxes.size() == 1);
  CHECK(boxes[0]->text().contains("p.png"));
  boxes[0]->close();
}

// Here, as Qt has the hash: browsers run the report's script only if its bytes have this one.
TEST_CASE("the report's policy names the hash of its script") {
  const QByteArray script(analyzer::kReportScript.data(),
                          static_cast<qsizetype>(analyzer::kReportScript.size()));
  const QByteArray hash = QCryptographicHash::hash(script, QCryptographicHash::Sha256).toBase64();
  CHECK(hash.toStdString() == analyzer::kReportScriptHash);
}

}  // namespace headway::gui
