// SPDX-License-Identifier: MIT
#include "trace/trace.h"

namespace headway::trace {

// Views and index of a copy must refer to its own texts: short texts lie inside the string objects.
Strings::Strings(const Strings& other) {
  for (std::string_view text : other.texts_) add(text);
}

Strings& Strings::operator=(const Strings& other) {
  if (this != &other) *this = Strings(other);
  return *this;
}

StringId Strings::add(std::string_view text) {
  auto found = index_.find(text);
  if (found != index_.end()) return found->second;
  std::string_view stored = storage_.emplace_back(text);
  StringId id = StringId::from(texts_.size());
  texts_.push_back(stored);
  index_.emplace(stored, id);
  return id;
}

std::optional<StringId> Strings::find(std::string_view text) const {
  auto found = index_.find(text);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

bool is_blocking(DeviceCallKind kind) {
  return only_waits(kind) || kind == DeviceCallKind::kCopyBlocking;
}

bool only_waits(DeviceCallKind kind) {
  return kind == DeviceCallKind::kEventSynchronize || kind == DeviceCallKind::kStreamSynchronize ||
         kind == DeviceCallKind::kDeviceSynchronize;
}

const GraphOp* Trace::graph_op(ProcessId process, std::int64_t op) const {
  auto found = graph_op_index.find({process, op});
  return found == graph_op_index.end() ? nullptr : &graph_ops[found->second.value];
}

std::string_view Trace::meta_value(std::string_view key) const {
  auto found = meta.find(key);
  return found == meta.end() ? std::string_view{} : std::string_view(found->second);
}

std::string_view Trace::setting(std::string_view name) const {
  for (const auto& [key, value] : settings) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace headway::trace
