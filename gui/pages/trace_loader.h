// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>
#include <vector>

#include "common/error.h"
#include "gui/models/session.h"

namespace headway::gui {

/// Opens traces on a thread of its own. One at a time: a new one replaces the one under way.
class TraceLoader : public QObject {
  Q_OBJECT
 public:
  explicit TraceLoader(QObject* parent = nullptr);
  ~TraceLoader() override;

  void start(const std::filesystem::path& path, const analyzer::AnalysisOptions& options);
  /// The file is left as it was; nothing is reported any more.
  void cancel();
  bool is_loading() const { return current_ != nullptr; }

 signals:
  void progressed(const QString& what, double share);
  void loaded(std::shared_ptr<const headway::gui::Session> session);
  void failed(const QString& message, headway::ExitCode code);

 private:
  struct Job;

  void poll();

  // Cancelled jobs run on until they notice; they are kept until then.
  std::vector<std::unique_ptr<Job>> jobs_;
  Job* current_ = nullptr;
};

}  // namespace headway::gui
