// SPDX-License-Identifier: MIT
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/nvtx_conventions.h"

namespace headway::trainer::nvtx {

/// A name registered once with the attached tool, so that an event carries a handle instead of a
/// text. Equal texts have the same pointer, for the life of the program.
struct InternedName {
  std::string text;                     ///< as profilers show it
  nvtxStringHandle_t handle = nullptr;  ///< null without a tool
};
using Name = const InternedName*;

/// Receives the ranges of one thread instead of an attached tool: a simulated run stamps them with
/// its own clock.
class Listener {
 public:
  virtual ~Listener() = default;
  /// A range begins; calls nest as ranges do.
  virtual void push(Name name, const conventions::RangePayload& payload) = 0;
  /// The innermost range ends.
  virtual void pop() = 0;
  virtual void describe(const conventions::GraphOpPayload& op) = 0;
};

/// Makes `listener` the calling thread's listener for the life of the object; null: the thread has
/// none.
class Listening {
 public:
  explicit Listening(Listener* listener);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Listener* before_;
};

/// The process's NVTX domain "headway". All information from the trainer about itself passes
/// through here, as payloads of common/nvtx_conventions.h, whichever tool is attached, if any.
/// Without a tool `domain` is null, and an event costs one pointer test. Thread safe.
struct Emitter {
  nvtxDomainHandle_t domain = nullptr;
  /// Ids of the schemas, one for each kind of payload; 0 without a tool.
  std::uint64_t range_schema = 0;
  std::uint64_t device_op_schema = 0;
  std::uint64_t device_call_schema = 0;
  std::uint64_t graph_op_schema = 0;
  std::uint64_t device_schema = 0;
  std::uint64_t stream_schema = 0;
  std::uint64_t setting_schema = 0;

  /// Registers domain and schemas on first use.
  static const Emitter& get();
};

/// Registers a text. Thread safe.
Name intern(const std::string& text);

/// Names the calling thread for the operating system (15 characters) and for the tool.
void name_this_thread(const std::string& name);

/// Opens and closes a push/pop range with a payload on the calling thread.
void push(Name name, std::uint64_t schema, const void* payload, std::size_t size);
void pop();

/// The calling thread's listener; null: events go to the tool.
Listener* listener();

/// A push/pop range for the lifetime of the object, on one thread.
class Range {
 public:
  Range(Name name, const conventions::RangePayload& payload) : listener_(listener()) {
    if (listener_) {
      listener_->push(name, payload);
    } else if (Emitter::get().domain) {
      open_ = true;
      push(name, Emitter::get().range_schema, &payload, sizeof payload);
    }
  }
  Range(Name name, const conventions::DeviceOpPayload& payload)
      : Range(name, Emitter::get().device_op_schema, payload) {}
  Range(Name name, const conventions::DeviceCallPayload& payload)
      : Range(name, Emitter::get().device_call_schema, payload) {}
  ~Range() {
    if (listener_) listener_->pop();
    if (open_) pop();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  template <class Payload>
  Range(Name name, std::uint64_t schema, const Payload& payload)
      : open_(Emitter::get().domain != nullptr) {
    if (open_) push(name, schema, &payload, sizeof payload);
  }
  Listener* listener_ = nullptr;
  bool open_ = false;
};

/// Marks that describe the run; sent before the first step.
void describe(const conventions::GraphOpPayload& op);
void describe(const conventions::DevicePayload& device);
void describe(const conventions::StreamPayload& stream);
void describe(const conventions::SettingPayload& setting);

/// Copies text into a fixed array of a payload, cut at a character boundary, always terminated.
template <std::size_t kSize>
void copy_text(char (&to)[kSize], std::string_view text) {
  std::size_t count = text.size() < kSize ? text.size() : kSize - 1;
  while (count < text.size() && count > 0 &&
         (static_cast<unsigned char>(text[count]) & 0xC0) == 0x80)
    --count;
  text.copy(to, count);
  to[count] = '\0';
}

}  // namespace headway::trainer::nvtx
