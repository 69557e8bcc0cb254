// SPDX-License-Identifier: MIT
#include "trace/import/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "trace/import/kineto/boundary.h"
#include "trace/import/kineto/decimal.h"
#include "trace/import/kineto/events.h"
#include "trace/import/kineto/merge.h"

namespace headway::trace::import_detail {
namespace {

using namespace kineto;

/// Limit for all keys and values beside the events together; later ones are skipped.
constexpr std::size_t kMostKeptBytes = 16 << 20;

/// One pass over the file.
struct Reading {
  Header header;
  std::vector<Part> parts;
  bool guess_failed = false;
  bool cut = false;
  std::int64_t cut_at = 0;
  std::string cut_where;
};

class Reader {
 public:
  Reader(const OpenSource& open, std::string name, const LoadOptions& options, bool careful,
         bool keep_launch_flows)
      : open_(open),
        name_(std::move(name)),
        options_(options),
        careful_(careful),
        keep_launch_flows_(keep_launch_flows),
        source_(open()),
        window_(source_.get(), "", 0) {}

  Reading read() {
    char first = window_.peek();
    if (first == '\xef') {  // a byte order mark
      window_.skip_bytes(3);
      first = window_.peek();
    }
    if (first == '[') {
      reading_.header.list_form = reading_.header.has_events = true;
      read_events_array();
    } else if (first == '{') {
      window_.skip();
      read_object();
    } else if (first == '\0') {
      fail_input("{}: contains only white space; expected PyTorch profiler JSON.", name_);
    } else {
      fail_input("{}: byte {}: is not JSON: expected {{ or [ at the beginning. Headway opens {}.",
                 name_, window_.offset(), formats_sentence());
    }
    return std::move(reading_);
  }

 private:
  void read_object() {
    while (!reading_.guess_failed && !reading_.cut) {
      char next = window_.peek();
      if (next == ',') {
        window_.skip();
        continue;
      }
      if (next == '}') return;
      std::string key;
      if (next == '\0' || !window_.key(key)) return ends("between the keys of the file's object");
      if (window_.peek() == '\0') return ends("behind the key " + key);
      if (window_.peek() != ':')
        fail_input("{}: byte {}: expected ':' behind the key {}. The file is not well-formed JSON.",
                   name_, window_.offset(), key.substr(0, 80));
      window_.skip();
      if (key == "\"traceEvents\"" && window_.peek() == '[') {
        reading_.header.has_events = true;
        read_events_array();
        continue;
      }
      std::string value;
      window_.peek();
      std::size_t room = kMostKeptBytes - std::min(kMostKeptBytes, kept_bytes_ + key.size());
      if (!window_.value(&value, room)) return ends("in the value of the key " + key);
      kept_bytes_ += key.size() + value.size();
      if (room > 0 && reading_.header.values.size() < 10000)
        reading_.header.values[std::string(unquoted(key))] = std::move(value);
    }
  }

  /// Called when the file ends early or has malformed JSON.
  void ends(const std::string& where) {
    if (window_.peek() != '\0')
      fail_input("{}: byte {}: malformed JSON {}.", name_, window_.offset(), where);
    reading_.cut = true;
    reading_.cut_at = window_.offset();
    reading_.cut_where = where;
  }

  void read_events_array() {
    std::int64_t offset = window_.offset();
    std::string first = window_.take_rest();
    constexpr std::size_t kLook = 256 << 10;
    constexpr std::size_t kStep = 64 << 10;
    for (std::size_t got = kStep; first.size() < kLook && got == kStep;) {
      std::size_t held = first.size();
      first.resize(held + kStep);
      got = source_->read(first.data() + held, kStep);
      first.resize(held + got);
    }
    TimeFormat format = time_format(first);
    Events events = read_events({*source_, std::move(first), offset, name_, format, careful_,
                                 keep_launch_flows_, load_detail::thread_count(options_.threads),
                                 [this](double share) {
                                   if (options_.progress) options_.progress(share * 0.8);
                                 }});
    reading_.guess_failed = events.guess_failed;
    if (events.guess_failed) return;
    std::move(events.parts.begin(), events.parts.end(), std::back_inserter(reading_.parts));
    if (!events.closed) {
      // In list form the closing bracket is optional, because the writer may die at any time.
      bool fine = reading_.header.list_form && events.cut_record < 0 && !source_->cut();
      reading_.cut = !fine;
      reading_.cut_at = events.cut_record >= 0 ? events.cut_record : events.end;
      reading_.cut_where =
          events.cut_record >= 0 ? "in the middle of an event" : "among the events";
      return;
    }
    if (events.whole_tail) {
      window_ = Window(nullptr, std::move(events.tail), events.end);
    } else {
      // The threads have read beyond the array: start again and skip to its end.
      source_ = open_();
      window_ = Window(source_.get(), "", 0);
      window_.skip_bytes(events.end);
    }
  }

  /// The format's times are microseconds. Some tools write nanoseconds. This can be detected when
  /// the times are those of the wall clock: as microseconds they would be thousands of years in the
  /// future.
  static TimeFormat time_format(std::string_view text) {
    constexpr std::int64_t kYear5138 = 100'000'000'000'000'000;
    std::int64_t largest = 0;
    for (std::size_t at = text.find("\"ts\""); at != std::string_view::npos;
         at = text.find("\"ts\"", at + 1)) {
      std::size_t colon = skip_space(text, at + 4);
      if (colon >= text.size() || text[colon] != ':') continue;
      std::size_t begin = skip_space(text, colon + 1);
      if (begin >= text.size()) break;
      constexpr std::size_t kMostDigits = 40;
      std::string_view token = text.substr(begin, kMostDigits);
      token = token.substr(0, token.find_first_of(",}\n "));
      if (token.size() < kMostDigits) largest = std::max(largest, integer_or(token, 0));
    }
    return {largest >= kYear5138 ? 0 : 3};
  }

  const OpenSource& open_;
  std::string name_;
  const LoadOptions& options_;
  bool careful_;
  bool keep_launch_flows_;
  std::unique_ptr<Source> source_;
  Window window_;
  std::size_t kept_bytes_ = 0;
  Reading reading_;
};

std::int64_t total(const std::vector<Part>& parts, Loss loss) {
  std::int64_t sum = 0;
  for (const Part& part : parts) sum += part.losses[static_cast<std::size_t>(loss)];
  return sum;
}

/// Throws for files without events, or with more bad records than good ones.
void check(const Reading& reading, const std::string& name) {
  if (!reading.header.has_events) {
    if (reading.cut)
      fail_input(
          "{}: the file ends at byte {} {}, before any event. The copy or the profiler was "
          "interrupted: copy the file again or record again.",
          name, reading.cut_at, reading.cut_where);
    std::string keys;
    for (const auto& [key, value] : reading.header.values) {
      if (keys.size() > 200) break;
      keys += (keys.empty() ? "" : ", ") + key.substr(0, 40);
    }
    fail_input(
        "{}: is JSON but not a recording: the key \"traceEvents\" is missing (keys: {}). Expected "
        "the file written by prof.export_chrome_trace() or tensorboard_trace_handler().",
        name, keys.empty() ? "none" : keys);
  }
  std::int64_t records = 0;
  for (const Part& part : reading.parts) records += part.records;
  std::int64_t bad = total(reading.parts, Loss::kMalformedRecord);
  if (bad > records) {
    auto first = std::find_if(reading.parts.begin(), reading.parts.end(),
                              [](const Part& part) { return part.malformed_at >= 0; });
    // A file with the form of a recording but without events is another file of the same tool.
    constexpr std::string_view kNone =
        " A memory timeline (export_memory_timeline) has no kernels: record with torch.profiler "
        "and prof.export_chrome_trace(\"trace.json\").";
    fail_input(
        "{}: {} of {} event records are malformed, the first at byte {}: {}. Expected PyTorch "
        "profiler events; copy the file again or record again.{}",
        name, bad, bad + records, first->malformed_at, first->malformed_why,
        records == 0 ? kNone : std::string_view());
  }
  if (reading.cut && records == 0)
    fail_input(
        "{}: the file ends at byte {} {}, before the first whole event. The copy or the profiler "
        "was interrupted: copy the file again or record again.",
        name, reading.cut_at, reading.cut_where);
}

void add_texts_to_losses(Trace& trace, const Reading& reading) {
  for (LossCount& loss : trace.losses) {
    if (loss.name == declaration_of(Loss::kFileCut).name)
      loss.text +=
          fmt::format(" It ends at byte {} of the text, {}.", reading.cut_at, reading.cut_where);
    if (loss.name != declaration_of(Loss::kMalformedRecord).name) continue;
    for (const Part& part : reading.parts) {
      if (part.malformed_at < 0) continue;
      loss.text +=
          fmt::format(" The first is at byte {}: {}.", part.malformed_at, part.malformed_why);
      break;
    }
  }
}

}  // namespace

Trace load_kineto(const OpenSource& open, const std::filesystem::path& path,
                  const LoadOptions& options) {
  std::string name = path.string();
  Reading reading = Reader(open, name, options, false, false).read();
  bool careful = reading.guess_failed;
  if (careful) reading = Reader(open, name, options, true, false).read();
  check(reading, name);

  Trace trace;
  trace.path = name;
  load_detail::Assembly assembly(trace, load_detail::thread_count(options.threads));
  auto merged = std::make_unique<Merged>(assembly);
  auto needs_flows = [](const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      for (CallId call : part.ops.call) {
        if (call.value == 0) return true;
      }
    }
    return false;
  };
  // Launches are joined by correlation id; only the oldest traces need the flows instead.
  if (needs_flows(reading.parts)) reading = Reader(open, name, options, careful, true).read();

  std::vector<std::pair<std::int64_t, std::string>> faults;
  for (Part& part : reading.parts) faults.emplace_back(part.malformed_at, part.malformed_why);
  merge_parts(*merged, reading.parts);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    reading.parts[i].malformed_at = faults[i].first;
    reading.parts[i].malformed_why = faults[i].second;
  }
  if (options.progress) options.progress(0.9);
  apply_header(*merged, reading.header);
  trace.complete = !reading.cut;
  if (reading.cut) load_detail::count(assembly.losses, Loss::kFileCut);

  load_detail::sort_events(trace.ranges, assembly.threads);
  load_detail::sort_events(trace.calls, assembly.threads);
  load_detail::sort_device_ops(trace, assembly.threads);
  std::stable_sort(
      trace.overheads.begin(), trace.overheads.end(),
      [](const Overhead& a, const Overhead& b) { return a.interval.begin < b.interval.begin; });
  take_carried(*merged);
  load_detail::nest(trace);
  join_syncs(*merged);
  join_launch_flows(*merged);
  load_detail::link(assembly);
  join_autograd_flows(*merged);
  join_python(*merged);
  join_collectives(*merged);
  add_texts_to_losses(trace, reading);
  if (options.progress) options.progress(1);
  return trace;
}

}  // namespace headway::trace::import_detail
