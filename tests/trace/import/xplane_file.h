// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headway::test {

/// Bytes of a protobuf message, field by field.
class Proto {
 public:
  Proto& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Proto& text(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  Proto& message(int field, const Proto& value) { return text(field, value.bytes); }
  Proto& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
    return *this;
  }
  std::string bytes;
};

/// A text of a stat that is stored once, as the name of a stat.
struct Ref {
  std::string text;
};
using StatValue = std::variant<std::int64_t, std::string, Ref>;
using StatList = std::vector<std::pair<std::string, StatValue>>;

/// One plane of a profile, written as the profilers write it.
class XPlane {
 public:
  explicit XPlane(std::string name) : name_(std::move(name)) {}

  XPlane& stats(const StatList& list) {
    for (const auto& one : list) own_.push_back(stat(one));
    return *this;
  }
  /// Events that follow lie on this line.
  XPlane& line(std::int64_t id, const std::string& name, std::int64_t timestamp_ns = 1000) {
    lines_.push_back({id, name, timestamp_ns, {}});
    return *this;
  }
  /// Times in ns from the line's timestamp.
  XPlane& event(const std::string& name, std::int64_t start_ns, std::int64_t duration_ns,
                const StatList& list = {}, const std::string& display_name = "") {
    Proto event;
    event.number(1, kind(name, display_name, {}))
        .number(2, start_ns * 1000)
        .number(3, duration_ns * 1000);
    for (const auto& one : list) event.message(4, stat(one));
    return raw_event(event);
  }
  /// Stats of every event of a kind.
  XPlane& kind_stats(const std::string& name, const StatList& list) {
    kind(name, "", list);
    return *this;
  }
  XPlane& raw_event(const Proto& event) {
    lines_.back().events.push_back(event);
    return *this;
  }
  std::int64_t kind(const std::string& name, const std::string& display_name = "",
                    const StatList& list = {}) {
    auto [slot, is_new] = kinds_.try_emplace(name);
    if (is_new) {
      slot->second.id = static_cast<std::int64_t>(kinds_.size());
      slot->second.message.number(1, slot->second.id).text(2, name);
      if (!display_name.empty()) slot->second.message.text(4, display_name);
    }
    for (const auto& one : list) slot->second.message.message(5, stat(one));
    return slot->second.id;
  }

  Proto message() const {
    Proto plane;
    plane.text(2, name_);
    for (const Line& line : lines_) {
      Proto out;
      out.number(1, line.id).text(2, line.name).number(3, line.timestamp);
      for (const Proto& event : line.events) out.message(4, event);
      plane.message(3, out);
    }
    for (const auto& [name, kind] : kinds_)
      plane.message(4, Proto().number(1, kind.id).message(2, kind.message));
    for (const auto& [name, id] : stat_names_)
      plane.message(5, Proto().number(1, id).message(2, Proto().number(1, id).text(2, name)));
    for (const Proto& one : own_) plane.message(6, one);
    return plane;
  }

 private:
  struct Line {
    std::int64_t id;
    std::string name;
    std::int64_t timestamp;
    std::vector<Proto> events;
  };
  struct Kind {
    std::int64_t id = 0;
    Proto message;
  };
  std::int64_t stat_name(const std::string& name) {
    return stat_names_.try_emplace(name, static_cast<std::int64_t>(stat_names_.size()) + 1)
        .first->second;
  }
  Proto stat(const std::pair<std::string, StatValue>& one) {
    Proto out;
    out.number(1, stat_name(one.first));
    if (const auto* number = std::get_if<std::int64_t>(&one.second)) out.number(4, *number);
    if (const auto* text = std::get_if<std::string>(&one.second)) out.text(5, *text);
    if (const auto* ref = std::get_if<Ref>(&one.second)) out.number(7, stat_name(ref->text));
    return out;
  }

  std::string name_;
  std::vector<Line> lines_;
  std::map<std::string, Kind> kinds_;
  std::map<std::string, std::int64_t> stat_names_;
  std::vector<Proto> own_;
};

inline std::string xspace(const std::vector<XPlane>& planes, const std::string& host = "node7") {
  Proto space;
  for (const XPlane& plane : planes) space.message(1, plane.message());
  space.text(4, host);
  return space.bytes;
}

}  // namespace headway::test
