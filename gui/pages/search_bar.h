// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "gui/models/search.h"
#include "gui/models/session.h"

namespace headway::gui {

/// The search box: finds as one types, on a thread of its own, and leads from hit to hit.
class SearchBar : public QWidget {
  Q_OBJECT
 public:
  explicit SearchBar(QWidget* parent = nullptr);
  ~SearchBar() override;

  void set_session(std::shared_ptr<const Session> session);
  /// A later session of the same trace: what is searched for stays.
  void update_session(std::shared_ptr<const Session> session);
  /// The event from which "next" and "previous" count.
  void set_current(const Target& current);
  void activate();
  void go(bool forward);
  /// True when there was something to clear.
  bool clear();
  /// Searches for a text given by the program.
  void search_for(const QString& text);
  const Search* search() const { return search_.get(); }
  QString status() const { return status_->text(); }

 signals:
  void found(const headway::gui::Target& target);
  void left();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void start();
  void stop();
  void finished();
  void show_status();

  std::shared_ptr<const Session> session_;
  std::shared_ptr<const Search> search_;
  analyzer::EventRef current_;
  QLineEdit* edit_;
  QLabel* status_;
  QToolButton* previous_;
  QToolButton* next_;
  std::thread thread_;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::shared_ptr<const Search> result_;  ///< guarded by mutex_
  std::optional<bool> go_when_found_;
};

}  // namespace headway::gui
