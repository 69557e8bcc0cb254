// SPDX-License-Identifier: MIT
#pragma once

#include <QApplication>
#include <QImage>
#include <QTest>
#include <functional>
#include <memory>

#include "gui/pages/main_window.h"

namespace headway::test {

/// The program's QApplication on the offscreen platform; made on first use, lives to the end.
QApplication& application();

/// Runs the event loop until `done` or ten seconds are over; true when done.
bool wait_until(const std::function<bool()>& done);

/// A window without settings of its own, shown at `size`, with the trace open.
std::unique_ptr<gui::MainWindow> open_window(const std::filesystem::path& trace,
                                             QSize size = {1280, 800});

/// Number of different colours in a picture, at most `most`.
int count_colors(const QImage& image, int most = 1000);

}  // namespace headway::test
