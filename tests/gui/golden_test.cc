// SPDX-License-Identifier: MIT
// Pages as they looked when somebody looked at them. HEADWAY_UPDATE_GOLDEN=1 writes the pictures
// anew (scripts/update_golden_pictures.sh); look at them before they are committed.
#include <doctest/doctest.h>

#include <QFontDatabase>
#include <QFontInfo>
#include <QImage>
#include <QPainter>
#include <cstdlib>
#include <filesystem>

#include "gui/pages/compare_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/background_task.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/golden.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

constexpr const char* kFont = "DejaVu Sans";
constexpr const char* kFixedFont = "Noto Sans Mono";
constexpr char kOtherFonts[] =
    "[skipped] the pictures were made with DejaVu Sans and Noto Sans Mono, which Qt does not "
    "choose "
    "here (fontconfig: fc-match monospace)";

/// The fonts that the pictures were made with, as long as it lives.
class GoldenFont {
 public:
  GoldenFont() : before_((test::application(), QApplication::font())) {
    QFont font(QString::fromLatin1(kFont));
    font.setPointSizeF(9);
    QApplication::setFont(font);
  }
  ~GoldenFont() { QApplication::setFont(before_); }
  bool there() const {
    return QFontInfo(QApplication::font()).family() == kFont &&
           QFontInfo(QFontDatabase::systemFont(QFontDatabase::FixedFont)).family() == kFixedFont;
  }

 private:
  QFont before_;
};

/// Device work without steps: what pages say when there is little to say.
std::filesystem::path inference_file() {
  static test::TraceBuilder builder;
  static bool built = [] {
    builder.thread_name(1, "server");
    for (int i = 0; i < 60; ++i) {
      std::int64_t t = 40'000'000 + 3'000'000ll * i + 170'000ll * (i * i % 11);
      builder.range(1, i % 7 == 3 ? "long request" : "request", t, t + 1'900'000);
      for (int k = 0; k < 5; ++k) {
        std::int64_t at = t + 300'000 * k;
        builder.launch(1, at, at + 30'000, at + 60'000, at + 60'000 + 40'000 * (k + 1),
                       {.name = k % 2 ? "gemm_f16" : "layer_norm"});
      }
      builder.counter("process.cpu", "%", t, 40 + i * 7 % 60);
    }
    return true;
  }();
  (void)built;
  return builder.save();
}

void compare_with_golden(MainWindow& window, const std::string& name) {
  test::wait_until([] { return !BackgroundTask::any_running(); });
  QApplication::processEvents();
  test::GoldenResult result = test::compare_golden(window.grab().toImage(), name);
  CHECK_MESSAGE(result.fine, result.message);
}

void compare_pages(const std::filesystem::path& trace, const std::string& name) {
  GoldenFont font;
  if (!font.there()) {
    MESSAGE(kOtherFonts);
    return;
  }
  auto w = test::open_window(trace, {1280, 800});
  for (Page page : {Page::kSummary, Page::kTimeline, Page::kFindings, Page::kOps, Page::kSteps}) {
    w->show_page(page);
    const auto& partitions = w->session()->analysis.partitions;
    if (page == Page::kTimeline && partitions[0].steps.size() > 12)
      w->timeline().view().show_interval(
          {partitions[0].steps[9].interval.begin, partitions[0].steps[11].interval.end});
    compare_with_golden(*w, name + "-" + std::string(info(page).id));
  }
}

}  // namespace

TEST_CASE("golden pictures: an input-bound training run") {
  compare_pages(test::training_file(), "training");
}

TEST_CASE("golden pictures: a run whose loaders are fast enough") {
  compare_pages(test::faster_file(), "faster");
}

TEST_CASE("golden pictures: device work without steps") {
  compare_pages(inference_file(), "inference");
}

TEST_CASE("golden pictures: two runs compared") {
  GoldenFont font;
  if (!font.there()) {
    MESSAGE(kOtherFonts);
    return;
  }
  auto w = test::open_window(test::training_file(), {1280, 800});
  w->compare_with(test::faster_file());
  REQUIRE(test::wait_until([&] { return w->compare().pair() != nullptr; }));
  compare_with_golden(*w, "training-compare");
}

TEST_CASE("golden pictures: a step as it would be with a fix, beside the recorded one") {
  GoldenFont font;
  if (!font.there()) {
    MESSAGE(kOtherFonts);
    return;
  }
  auto w = test::open_window(test::waiting_file(), {1280, 800});
  w->show_page(Page::kTimeline);
  w->timeline().run(Command::kPredictedStep);
  compare_with_golden(*w, "waiting-predicted");
  w->set_dark(true);
  compare_with_golden(*w, "waiting-predicted-dark");
  w->set_dark(false);
}

TEST_CASE("golden pictures: hits of a search, a range row by row and its call stacks") {
  GoldenFont font;
  if (!font.there()) {
    MESSAGE(kOtherFonts);
    return;
  }
  auto w = test::open_window(test::training_file(), {1280, 800});
  w->show_page(Page::kTimeline);
  TimelinePage& page = w->timeline();
  page.search().search_for("conv");
  page.run(Command::kSearchList);
  compare_with_golden(*w, "training-hits");
  page.search().clear();
  page.view().select_range(w->session()->analysis.partitions[0].steps[9].interval);
  page.run(Command::kRangeByRow);
  compare_with_golden(*w, "training-range");
  page.run(Command::kCallStacks);
  compare_with_golden(*w, "training-stacks");
}

TEST_CASE("golden pictures notice another colour and a row that is missing") {
  GoldenFont font;
  if (!font.there() || std::getenv("HEADWAY_UPDATE_GOLDEN")) {
    MESSAGE("[skipped] there is nothing to compare with");
    return;
  }
  auto w = test::open_window(test::training_file(), {1280, 800});
  w->show_page(Page::kTimeline);
  const auto& steps = w->session()->analysis.partitions[0].steps;
  w->timeline().view().show_interval({steps[9].interval.begin, steps[11].interval.end});
  QApplication::processEvents();
  QImage picture = w->grab().toImage().convertToFormat(QImage::Format_RGB32);
  REQUIRE(test::compare_golden(picture, "training-timeline").fine);
  // The next class's colour instead of that of "Input: decode".
  QImage recoloured = picture;
  const QRgb decode = Theme::light().color(analyzer::TimeClass::kDecode).rgb();
  const QRgb other = Theme::light().color(analyzer::TimeClass::kInputOther).rgb();
  int changed = 0;
  for (int y = 0; y < recoloured.height(); ++y) {
    for (int x = 0; x < recoloured.width(); ++x) {
      if (recoloured.pixel(x, y) != decode) continue;
      recoloured.setPixel(x, y, other);
      ++changed;
    }
  }
  CHECK(changed > 100);
  CHECK(!test::compare_golden(recoloured, "training-timeline").fine);
  // One row of the timeline folded away.
  TimelineView& view = w->timeline().view();
  for (const RowLayout::Shown& shown : view.layout().shown()) {
    if (!view.frame().model->row(shown.row).can_fold()) continue;
    QPoint name(40, view.frame().screen_y(shown.y) + 6);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, name);
    break;
  }
  QApplication::processEvents();
  CHECK(!test::compare_golden(w->grab().toImage(), "training-timeline").fine);
  // One row of the op table missing: those below it move up.
  w->show_page(Page::kOps);
  test::wait_until([] { return !BackgroundTask::any_running(); });
  QApplication::processEvents();
  QImage ops = w->grab().toImage();
  REQUIRE(test::compare_golden(ops, "training-ops").fine);
  QPainter painter(&ops);
  painter.drawImage(0, 300, ops, 0, 322, ops.width(), 200);
  painter.end();
  CHECK(!test::compare_golden(ops, "training-ops").fine);
}

}  // namespace headway::gui
