// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <QApplication>
#include <QEventLoop>
#include <QFontDatabase>
#include <QStyleFactory>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include "analyzer/whatif/fix.h"
#include "common/error.h"
#include "common/text.h"
#include "gui/app/options.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/export.h"
#include "gui/pages/export_menu.h"
#include "gui/pages/main_window.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

constexpr const char* kDisplayHelp =
    "Over SSH, log in with `ssh -X`, or export a picture without a display: `headway-gui TRACE "
    "--screenshot out.png`. `headway report TRACE` needs no display either.";

/// Pictures are rendered without a display; a window needs one.
void choose_platform(const Options& options) {
  bool display = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
  if (is_set("QT_QPA_PLATFORM")) return;  // the user knows best
  if (options.writes_files()) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  } else if (!display) {
    throw Error(ExitCode::kUsage,
                fmt::format("there is no display (DISPLAY and WAYLAND_DISPLAY are not set). {}",
                            kDisplayHelp));
  }
}

/// Rewords Qt's messages and drops those that do not concern the user.
void message_handler(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtFatalMsg) {
    // Qt's own way out is abort() with a core file; the usual cause is a display that is gone.
    fmt::print(stderr, "headway-gui: {}\nheadway-gui: no window could be opened. {}\n",
               escape_terminal(message.toStdString()), kDisplayHelp);
    std::_Exit(static_cast<int>(ExitCode::kUsage));
  }
  bool noise = message.contains(QStringLiteral("XDG_RUNTIME_DIR")) ||
               message.contains(QStringLiteral("runtime directory")) ||
               message.contains(QStringLiteral("propagateSizeHints")) ||
               message.contains(QStringLiteral("could not connect to display")) ||
               type == QtDebugMsg || type == QtInfoMsg;
  if (!noise) fmt::print(stderr, "headway-gui: {}\n", escape_terminal(message.toStdString()));
}

void check_fonts() {
  if (QFontDatabase::families().isEmpty())
    fmt::print(stderr,
               "headway-gui: this machine has no fonts, so all text is missing. Install some: "
               "apt-get install fonts-dejavu-core\n");
}

void show_finding(MainWindow& window, const Options& options) {
  const std::vector<analyzer::Finding>& findings = window.session()->analysis.findings;
  auto found = std::find_if(findings.begin(), findings.end(), [&](const analyzer::Finding& one) {
    return one.rule == options.finding;
  });
  if (found == findings.end())
    fail_usage("--finding '{}': unknown rule; docs/reference/rules.md lists them.",
               options.finding);
  const int index = static_cast<int>(found - findings.begin());
  if (options.predicted) {
    if (!found->predicted)
      fail_usage("--predicted: this trace has no predicted gain for '{}'.", options.finding);
    window.go_to({.page = Page::kTimeline, .finding = index, .predicted = true});
  } else if (*options.page != Page::kTimeline) {
    window.go_to({.page = Page::kFindings, .finding = index});
  } else if (!found->evidence.empty()) {
    window.go_to({.page = Page::kTimeline, .finding = index, .evidence = 0});
  }
}

void show_wanted(MainWindow& window, const Options& options) {
  if (options.page) window.show_page(*options.page);
  if (!options.finding.empty() && window.session()) show_finding(window, options);
  TimelinePage& timeline = window.timeline();
  if (options.range) timeline.view().show_interval(*options.range);
  if (options.range && (options.list == "rows" || options.list == "stacks"))
    timeline.view().select_range(*options.range);
  if (!options.list.empty())
    timeline.run(options.list == "rows"     ? Command::kRangeByRow
                 : options.list == "stacks" ? Command::kCallStacks
                                            : Command::kSearchList);
  if (!options.at.empty() && window.session()) timeline.go_to_place(options.at);
  if (!options.fixes.empty()) {
    std::vector<const analyzer::Fix*> fixes;
    for (const std::string& fix : options.fixes) fixes.push_back(analyzer::find_fix(fix));
    timeline.run(Command::kWhatIf);
    timeline.what_if().tick(std::move(fixes));
  }
  if (options.find.empty()) return;
  // A search result is selected and jumped to; --range is applied after that, so that it wins.
  if (options.range) {
    QObject::connect(
        &timeline.search(), &SearchBar::found, &timeline,
        [&timeline, range = *options.range] { timeline.view().show_interval(range); },
        Qt::SingleShotConnection);
  }
  timeline.search().search_for(QString::fromStdString(options.find));
}

OpenRequest request_of(const Options& options) {
  return {.source = options.source, .analysis = {}, .follow = options.follow};
}

/// Waits for the search to end, without a time limit: loading ends with a trace or an error.
void wait_for_search(MainWindow& window) {
  QEventLoop loop;
  QTimer poll;
  QObject::connect(&poll, &QTimer::timeout, &loop, [&] {
    if (window.timeline().search().search()) loop.quit();
  });
  poll.start(5);
  loop.exec();
}

/// Opens the traces and waits for them. Throws the error if one cannot be opened.
void open_and_wait(MainWindow& window, const Options& options) {
  QEventLoop loop;
  std::optional<Error> failure;
  auto failed = [&](const QString& message, ExitCode code) {
    failure = Error(code, message.toStdString());
    loop.quit();
  };
  QObject::connect(&window, &MainWindow::opened, &loop, &QEventLoop::quit);
  QObject::connect(&window, &MainWindow::open_failed, &loop, failed);
  QObject::connect(&window.compare(), &ComparePage::second_failed, &loop, failed);
  QObject::connect(&window.compare(), &ComparePage::compared, &loop, &QEventLoop::quit);
  window.open(request_of(options));
  if (options.second) window.compare_with(*options.second);
  auto ready = [&] {
    return window.session() && window.session()->analysed &&
           (!options.second || window.compare().pair());
  };
  while (!failure && !ready()) loop.exec();
  if (failure) throw *failure;
}

/// Writes pictures and tables, without a window on a screen.
int write_files(MainWindow& window, const Options& options) {
  window.show();
  if (!options.source.files.empty()) open_and_wait(window, options);
  QApplication::processEvents();
  show_wanted(window, options);
  if (!options.find.empty()) wait_for_search(window);
  while (BackgroundTask::any_running()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  QApplication::processEvents();
  if (options.csv) {
    if (!options.find.empty() && !window.timeline().view().selection())
      fail_usage("--find '{}': no event name contains this text, so there is nothing to write.",
                 options.find);
    csv_export(window, *options.csv)();
  }
  if (options.screenshot) {
    // Qt draws no menus into SVG, so the empty menu bar is left out.
    QWidget& shown = is_svg(*options.screenshot) ? *window.centralWidget() : window;
    export_picture(shown, *options.screenshot);
  }
  return 0;
}

int run(int argc, char** argv) {
  Options options = parse_options(argc, argv);
  choose_platform(options);
  qInstallMessageHandler(message_handler);
  // Gives every desktop the same look, and needs no desktop plugin.
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  QApplication::setOrganizationName(QStringLiteral("headway"));
  QApplication::setApplicationName(QStringLiteral("headway-gui"));
  QApplication::setApplicationVersion(QStringLiteral(HEADWAY_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("headway-gui"));
  QApplication app(argc, argv);
  check_fonts();
  MainWindow window(!options.writes_files());
  window.set_analysis_options(options.analysis);
  if (options.size) window.resize(*options.size);
  if (options.writes_files()) window.set_dark(options.dark.value_or(false));
  if (options.dark) window.set_dark(*options.dark);
  window.set_cache_allowed(!options.no_cache);
  if (options.writes_files()) return write_files(window, options);
  bool first = true;
  auto show_once = [&] {
    if (!std::exchange(first, false)) return;
    try {
      show_wanted(window, options);
    } catch (const Error& error) {  // the window is open and shows the trace anyway
      fmt::print(stderr, "headway-gui: {}\n", escape_terminal(error.what()));
    }
  };
  QObject::connect(&window, &MainWindow::looked, &window, show_once);
  QObject::connect(&window, &MainWindow::opened, &window, show_once);
  window.show();
  if (!options.source.files.empty()) window.open(request_of(options));
  if (options.second) window.compare_with(*options.second);
  return QApplication::exec();
}

}  // namespace
}  // namespace headway::gui

int main(int argc, char** argv) {
  try {
    return headway::gui::run(argc, argv);
  } catch (const headway::gui::Leave& leave) {
    return leave.status;
  } catch (const headway::Error& error) {
    fmt::print(stderr, "headway-gui: {}\n", headway::escape_terminal(error.what()));
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "headway-gui: out of memory.\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "headway-gui: internal error: {}. Please report this.\n", error.what());
  }
  return static_cast<int>(headway::ExitCode::kInternal);
}
