// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "common/error.h"
#include "gui/models/opening/session.h"

namespace headway::gui {

/// What is to be opened, and how it is to be analysed.
struct OpenRequest {
  TraceSource source;
  analyzer::AnalysisOptions analysis;
  bool follow = false;  ///< it is being recorded: wait for it, and read it again as it grows
};

/// Opens traces on a thread of its own. One at a time: a new one replaces the one under way.
class TraceLoader : public QObject {
  Q_OBJECT
 public:
  explicit TraceLoader(QObject* parent = nullptr);
  ~TraceLoader() override;

  void start(OpenRequest request);
  /// The file is left as it was; nothing is reported any more, a recording is followed no longer.
  void cancel();
  bool is_loading() const { return current_ != nullptr && !loaded_; }
  /// Lets go of a session on another thread: giving back gigabytes takes a while.
  void dispose(std::shared_ptr<const Session> session);

 signals:
  /// What is being done, and the share of all that is done, 0 to 1.
  void progressed(const QString& what, double share);
  /// The timeline can be drawn; `loaded` follows.
  void looked(std::shared_ptr<const headway::gui::Session> session);
  /// Analysed: all pages can be filled.
  void loaded(std::shared_ptr<const headway::gui::Session> session);
  /// The recording that is followed has grown, or has ended (then `session->recording` is false).
  void grown(std::shared_ptr<const headway::gui::Session> session);
  /// Nothing has come for a while, though the recording says that it goes on.
  void stalled();
  /// `stretch`: a part of the trace that would fit into memory; empty when that was not the cause.
  void failed(const QString& message, headway::ExitCode code, headway::Interval stretch);

 private:
  struct Job;

  void poll();
  void report(Job& job);

  // Cancelled jobs run on until they notice; they are kept until then.
  std::vector<std::unique_ptr<Job>> jobs_;
  Job* current_ = nullptr;
  bool loaded_ = false;  ///< the current job has delivered its trace
  std::thread disposer_;
};

}  // namespace headway::gui
