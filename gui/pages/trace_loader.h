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

/// The source to open, and how to analyse it.
struct OpenRequest {
  TraceSource source;
  analyzer::AnalysisOptions analysis;
  bool follow = false;  ///< it is being recorded: wait for it and read it again as it grows
};

/// Opens traces on another thread. One at a time: a new request replaces the present one.
class TraceLoader : public QObject {
  Q_OBJECT
 public:
  explicit TraceLoader(QObject* parent = nullptr);
  ~TraceLoader() override;

  void start(OpenRequest request);
  /// Stops loading or following; no signal is emitted afterwards. The file is not changed.
  void cancel();
  bool is_loading() const { return current_ != nullptr && !loaded_; }
  /// Destroys a session on another thread, because freeing gigabytes takes a while.
  void dispose(std::shared_ptr<const Session> session);

 signals:
  /// The current activity, and the share of the whole that is done, 0 to 1.
  void progressed(const QString& what, double share);
  /// The timeline can be drawn; `loaded` follows.
  void looked(std::shared_ptr<const headway::gui::Session> session);
  /// The analysis is done: all pages can be filled.
  void loaded(std::shared_ptr<const headway::gui::Session> session);
  /// The followed recording has grown, or has ended (then `session->recording` is false).
  void grown(std::shared_ptr<const headway::gui::Session> session);
  /// No new data for a while, although the recording has not ended.
  void stalled();
  /// `stretch`: a part of the trace that would fit into memory; empty for other errors.
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
