// SPDX-License-Identifier: MIT
#include "cli/commands/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/commands/screen_style.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr std::chrono::milliseconds kRedrawn{200};
constexpr std::size_t kMostColumns = 60;

}  // namespace

Progress::Progress(std::string doing) : doing_(std::move(doing)) {
  if (on_terminal(STDERR_FILENO)) thread_ = std::thread([this] { draw_until_done(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  wait_.notify_one();
  thread_.join();
}

void Progress::now(std::string doing) {
  std::lock_guard lock(mutex_);
  doing_ = std::move(doing);
  share_ = -1;
}

std::function<void(double)> Progress::share() {
  return [this](double share) {
    std::lock_guard lock(mutex_);
    share_ = share;
  };
}

void Progress::draw_until_done() {
  std::unique_lock lock(mutex_);
  if (wait_.wait_for(lock, kPatience, [this] { return done_; })) return;
  do {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    std::string line = fmt::format("headway: {}", shorten(escape_terminal(doing_), kMostColumns));
    if (share_ >= 0) line += fmt::format(", {:.0f} %", share_ * 100);
    line += fmt::format(", {} s", std::chrono::duration_cast<std::chrono::seconds>(passed).count());
    tell("\r\033[K" + line);
  } while (!wait_.wait_for(lock, kRedrawn, [this] { return done_; }));
  tell("\r\033[K");
}

}  // namespace headway::cli
