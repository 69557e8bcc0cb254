// SPDX-License-Identifier: MIT
#include "tests/gui/support/application.h"

#include <QElapsedTimer>
#include <QStyleFactory>
#include <cstdlib>
#include <set>

namespace headway::test {

QApplication& application() {
  static QApplication* app = [] {
    setenv("QT_QPA_PLATFORM", "offscreen", 1);
    setenv("XDG_RUNTIME_DIR", "/tmp", 0);
    static int argc = 1;
    static char name[] = "headway_test_gui";
    static char* argv[] = {name, nullptr};
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    return new QApplication(argc, argv);  // Qt does not like to be taken down after main()
  }();
  return *app;
}

bool wait_until(const std::function<bool()>& done) {
  QElapsedTimer timer;
  timer.start();
  // Far more than it takes, as machines that run tests with sanitizers are slow.
  while (!done() && timer.elapsed() < 60'000) {
    QApplication::processEvents(QEventLoop::AllEvents, 20);
    QTest::qWait(2);
  }
  return done();
}

std::unique_ptr<gui::MainWindow> open_window(const std::filesystem::path& trace, QSize size) {
  application();
  auto window = std::make_unique<gui::MainWindow>(false);
  window->resize(size);
  window->show();
  window->open(trace);
  wait_until([&] { return window->session() != nullptr; });
  QApplication::processEvents();
  return window;
}

int count_colors(const QImage& image, int most) {
  std::set<QRgb> colors;
  for (int y = 0; y < image.height() && static_cast<int>(colors.size()) < most; ++y) {
    for (int x = 0; x < image.width(); ++x) colors.insert(image.pixel(x, y));
  }
  return static_cast<int>(colors.size());
}

}  // namespace headway::test
