// SPDX-License-Identifier: MIT
#include "tests/gui/support/golden.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace headway::test {
namespace {

// A third of the size: letters become grey, rows of tables and boxes stay.
constexpr int kScale = 3;
// Of 255; hinting and antialiasing of another font library stay below it at this size.
constexpr int kTolerance = 20;
// Share of cells that may differ by more: a blinking cursor, a rounded width. A row of a table is
// ten times as much.
constexpr double kMostDiffering = 0.0008;

QString text(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

/// Small, and with few enough shades to be stored small.
QImage reduced(const QImage& picture) {
  QImage small = picture.convertToFormat(QImage::Format_RGB888)
                     .scaled(picture.width() / kScale, picture.height() / kScale,
                             Qt::IgnoreAspectRatio, Qt::SmoothTransformation)
                     .convertToFormat(QImage::Format_RGB888);
  for (int y = 0; y < small.height(); ++y) {
    uchar* line = small.scanLine(y);
    for (int x = 0; x < 3 * small.width(); ++x)
      line[x] = static_cast<uchar>(std::lround(line[x] / 8.0) * 255 / 32);
  }
  return small;
}

/// Cells that differ in some channel by more than the tolerance; they become red in `marked`.
int differing(const QImage& a, const QImage& b, QImage& marked) {
  int cells = 0;
  for (int y = 0; y < a.height(); ++y) {
    const uchar* p = a.constScanLine(y);
    const uchar* q = b.constScanLine(y);
    for (int x = 0; x < a.width(); ++x) {
      int most = 0;
      for (int c = 0; c < 3; ++c) most = std::max(most, std::abs(p[3 * x + c] - q[3 * x + c]));
      if (most <= kTolerance) continue;
      ++cells;
      marked.setPixel(x, y, qRgb(255, 0, 0));
    }
  }
  return cells;
}

}  // namespace

GoldenResult compare_golden(const QImage& picture, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path golden = fs::path(HEADWAY_SOURCE_DIR) / "tests/data/golden/gui" / (name + ".png");
  const QImage now = reduced(picture);
  if (std::getenv("HEADWAY_UPDATE_GOLDEN")) {
    fs::create_directories(golden.parent_path());
    return {now.save(text(golden)), golden.string() + ": could not be written"};
  }
  const QImage before = QImage(text(golden)).convertToFormat(QImage::Format_RGB888);
  const std::string remedy =
      "look at both; if the new one is right: scripts/update_golden_pictures.sh";
  if (before.isNull()) return {false, fmt::format("{}: is not there; {}", golden.string(), remedy)};
  if (before.size() != now.size())
    return {false, fmt::format("{}: {}x{} pixels, now {}x{}; {}", golden.string(), before.width(),
                               before.height(), now.width(), now.height(), remedy)};
  QImage marked = now;
  const int cells = differing(before, now, marked);
  const double share = cells / static_cast<double>(now.width() * now.height());
  if (share <= kMostDiffering) return {true, ""};
  const fs::path folder = fs::path(HEADWAY_BINARY_DIR) / "golden-differences";
  fs::create_directories(folder);
  now.save(text(folder / (name + ".png")));
  marked.save(text(folder / (name + "-marked.png")));
  return {false, fmt::format("{}: {:.2f} % of the picture differ; as it is now and with the "
                             "differences in red: {}/{}*.png; {}",
                             golden.string(), 100 * share, folder.string(), name, remedy)};
}

}  // namespace headway::test
