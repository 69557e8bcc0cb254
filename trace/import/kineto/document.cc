// SPDX-License-Identifier: MIT
#include "trace/import/kineto/document.h"

#include "trace/import/kineto/boundary.h"

namespace headway::trace::kineto {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;

}  // namespace

bool Window::refill() {
  if (!source_) return false;
  if (at_ > kReadBytes) {
    text_.erase(0, at_);
    offset_ += static_cast<std::int64_t>(at_);
    at_ = 0;
  }
  std::size_t held = text_.size();
  text_.resize(held + kReadBytes);
  std::size_t got = source_->read(text_.data() + held, kReadBytes);
  text_.resize(held + got);
  return got > 0;
}

char Window::peek() {
  for (;;) {
    at_ = skip_space(text_, at_);
    if (at_ < text_.size()) return text_[at_];
    if (!refill()) return '\0';
  }
}

bool Window::value(std::string* kept, std::size_t most) {
  // Follows quotes and brackets across refills, without keeping a long value in memory.
  std::string text;
  bool overlong = false;
  auto keep = [&](char c) {
    if (!kept || overlong) return;
    if (text.size() >= most) {
      overlong = true;
      text.clear();
      return;
    }
    text += c;
  };
  std::size_t depth = 0;
  bool in_string = false;
  bool escaped = false;
  bool any = false;
  for (;;) {
    if (at_ >= text_.size() && !refill()) {
      if (kept) *kept = std::move(text);
      return any && depth == 0 && !in_string;
    }
    char c = text_[at_];
    if (in_string) {
      in_string = escaped || c != '"';
      escaped = !escaped && c == '\\';
      keep(c);
      ++at_;
      if (!in_string && depth == 0) break;
      continue;
    }
    bool closes = c == '}' || c == ']';
    if (depth == 0 && (closes || c == ',' || c == ':')) break;
    if (depth == 0 && any && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) break;
    any = true;
    keep(c);
    ++at_;
    in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (closes && --depth == 0) break;
  }
  if (kept) *kept = std::move(text);
  return any;
}

bool Window::key(std::string& text) {
  return peek() == '"' && value(&text, kReadBytes) && text.size() >= 2;
}

std::string Window::take_rest() {
  std::string rest = text_.substr(std::min(at_, text_.size()));
  offset_ += static_cast<std::int64_t>(text_.size());
  text_.clear();
  at_ = 0;
  return rest;
}

void Window::skip_bytes(std::int64_t count) {
  while (count > 0) {
    if (at_ >= text_.size() && !refill()) return;
    auto step = std::min<std::int64_t>(count, static_cast<std::int64_t>(text_.size() - at_));
    at_ += static_cast<std::size_t>(step);
    count -= step;
  }
}

}  // namespace headway::trace::kineto
