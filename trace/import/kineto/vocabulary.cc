// SPDX-License-Identifier: MIT
#include "trace/import/kineto/vocabulary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "trace/load/foreign_values.h"

namespace headway::trace::kineto {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

MemoryKind memory_of(std::string_view word) {
  if (word == "Pageable") return MemoryKind::kPageable;
  if (word == "Pinned" || word == "Host") return MemoryKind::kPinned;
  if (word == "Device" || word == "Array") return MemoryKind::kDevice;
  if (word == "Managed" || word == "Unified") return MemoryKind::kManaged;
  return MemoryKind::kUnknown;
}

}  // namespace

Category category_of(std::string_view text) {
  struct Entry {
    std::string_view text;  ///< lower case
    Category category;
  };
  // For many categories the second spelling is that of PyTorch 1.8 to 1.10.
  static constexpr auto kCategories = std::to_array<Entry>({
      {"cpu_op", {Content::kRange, "cpu_op"}},
      {"operator", {Content::kRange, "cpu_op"}},
      {"user_annotation", {Content::kRange, "user_annotation"}},
      {"python_function", {Content::kRange, "python_function"}},
      {"gpu_user_annotation", {Content::kDeviceRange, "gpu_user_annotation"}},
      {"cuda_runtime", {Content::kCall, ""}},
      {"cuda_driver", {Content::kCall, ""}},
      {"runtime", {Content::kCall, ""}},
      {"hip_runtime", {Content::kCall, ""}},
      {"hip_driver", {Content::kCall, ""}},
      {"xpu_runtime", {Content::kCall, ""}},
      {"xpu_driver", {Content::kCall, ""}},
      {"mtia_runtime", {Content::kCall, ""}},
      {"glow_runtime", {Content::kCall, ""}},
      {"privateuse1_runtime", {Content::kCall, ""}},
      {"privateuse1_driver", {Content::kCall, ""}},
      {"kernel", {Content::kKernel, ""}},
      {"concurrent_kernel", {Content::kKernel, ""}},
      {"gpu_memcpy", {Content::kCopy, ""}},
      {"memcpy", {Content::kCopy, ""}},
      {"gpu_memset", {Content::kMemset, ""}},
      {"memset", {Content::kMemset, ""}},
      {"cuda_sync", {Content::kSync, ""}},
      {"overhead", {Content::kOverhead, ""}},
      {"cpu_instant_event", {Content::kMemory, "cpu_instant_event"}},
      {"trace", {Content::kProfiler, "Trace"}},
      {"ac2g", {Content::kLaunchFlow, ""}},
      {"async_cpu_to_gpu", {Content::kLaunchFlow, ""}},
      {"async_gpu", {Content::kLaunchFlow, ""}},
      {"async", {Content::kLaunchFlow, ""}},
      {"fwdbwd", {Content::kAutogradFlow, ""}},
      {"forward_backward", {Content::kAutogradFlow, ""}},
  });
  std::string key = lower(text);
  for (const Entry& entry : kCategories) {
    if (entry.text == key) return entry.category;
  }
  return {Content::kRange, ""};
}

CopyKind copy_kind_of(std::string_view name) {
  CopyKind result;
  if (contains(name, "HtoD") || contains(name, "HostToDevice")) {
    result.kind = DeviceOpKind::kCopyHostToDevice;
  } else if (contains(name, "DtoH") || contains(name, "DeviceToHost")) {
    result.kind = DeviceOpKind::kCopyDeviceToHost;
  } else if (contains(name, "HtoH") || contains(name, "HostToHost")) {
    result.kind = DeviceOpKind::kCopyHostToHost;
  } else if (contains(name, "PtoP") || contains(name, "Peer")) {
    result.kind = DeviceOpKind::kCopyPeer;
  } else if (contains(name, "HtoA")) {
    result.kind = DeviceOpKind::kCopyHostToDevice;
  } else if (contains(name, "AtoH")) {
    result.kind = DeviceOpKind::kCopyDeviceToHost;
  }
  std::size_t open = name.rfind('(');
  std::size_t inside = open == std::string_view::npos ? 0 : open;
  // The name is unchanged from the file; some writers of JSON escape '>'.
  std::string_view between = " -> ";
  if (!contains(name, between)) between = contains(name, "\\u003e") ? " -\\u003e " : " -\\u003E ";
  std::size_t arrow = name.find(between, inside);
  std::size_t close = name.rfind(')');
  if (open != std::string_view::npos && arrow != std::string_view::npos &&
      close != std::string_view::npos && open < arrow && arrow < close) {
    result.source = memory_of(name.substr(open + 1, arrow - open - 1));
    std::size_t after = arrow + between.size();
    if (after <= close) result.destination = memory_of(name.substr(after, close - after));
  }
  return result;
}

Overhead::Kind overhead_kind_of(std::string_view name) {
  std::string text = lower(name);
  if (contains(text, "buffer full") || contains(text, "queue full"))
    return Overhead::Kind::kQueueFull;
  if (contains(text, "module") || contains(text, "lazy") || contains(text, "compil") ||
      contains(text, "jit"))
    return Overhead::Kind::kModuleLoad;
  if (contains(text, "flush") || contains(text, "instrument") || contains(text, "activity") ||
      contains(text, "buffer"))
    return Overhead::Kind::kProfiler;
  if (contains(text, "resource")) return Overhead::Kind::kAllocation;
  return Overhead::Kind::kOther;
}

namespace {
constexpr std::string_view kAnnotationsOfGpu = "annotations of GPU ";
constexpr std::string_view kOfStream = ", stream ";
}  // namespace

std::string annotations_row(std::string_view device, std::string_view stream) {
  std::string name(kAnnotationsOfGpu);
  return name.append(device).append(kOfStream).append(stream);
}

std::optional<std::pair<std::int32_t, std::int32_t>> parse_annotations_row(std::string_view name) {
  if (!name.starts_with(kAnnotationsOfGpu)) return std::nullopt;
  name.remove_prefix(kAnnotationsOfGpu.size());
  std::pair<std::int32_t, std::int32_t> row;
  auto device = std::from_chars(name.data(), name.data() + name.size(), row.first);
  if (device.ec != std::errc{}) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(device.ptr - name.data()));
  if (!name.starts_with(kOfStream)) return std::nullopt;
  name.remove_prefix(kOfStream.size());
  auto stream = std::from_chars(name.data(), name.data() + name.size(), row.second);
  if (stream.ec != std::errc{} || stream.ptr != name.data() + name.size()) return std::nullopt;
  return row;
}

bool describe_annotation(std::string_view name, RangeInfo& info) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (name.starts_with(kStep)) {
    info.kind = RangeKind::kStep;
    name.remove_prefix(kStep.size());
    std::int64_t step = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), step).ec == std::errc{})
      info.step = load_detail::id_of(step);
    return true;
  }
  if (name.starts_with("Optimizer.step#")) {
    info.kind = RangeKind::kPhase;
    info.phase = Phase::kUpdate;
    return true;
  }
  if (name.starts_with("enumerate(DataLoader)#")) {
    info.kind = RangeKind::kInputWait;
    info.phase = Phase::kInput;
    return true;
  }
  return false;
}

std::string collective_kind_of(std::string_view recorded) {
  std::string text;
  for (char c : lower(recorded)) {
    if (c != '_' && c != '-' && c != ' ') text += c;
  }
  struct Entry {
    std::string_view part;
    std::string_view kind;
  };
  // The first entry that occurs in the text decides.
  static constexpr auto kKinds = std::to_array<Entry>({
      {"wait", ""},
      {"startcoalesc", ""},
      {"endcoalesc", ""},
      {"init", ""},
      {"reducescatter", "reducescatter"},
      {"allreduce", "allreduce"},
      {"allgather", "allgather"},
      {"alltoall", "alltoall"},
      {"broadcast", "broadcast"},
      {"reduce", "reduce"},
      {"barrier", "barrier"},
      {"send", "send"},
      {"recv", "recv"},
  });
  for (const Entry& entry : kKinds) {
    if (contains(text, entry.part)) return std::string(entry.kind);
  }
  return lower(recorded);
}

std::int64_t bytes_of_dtype(std::string_view dtype) {
  struct Entry {
    std::string_view name;
    std::int64_t bytes;
  };
  static constexpr auto kTypes = std::to_array<Entry>({
      {"byte", 1},
      {"char", 1},
      {"bool", 1},
      {"short", 2},
      {"half", 2},
      {"bfloat16", 2},
      {"int", 4},
      {"float", 4},
      {"long", 8},
      {"double", 8},
      {"complexfloat", 8},
      {"complexdouble", 16},
      {"complexhalf", 4},
      {"uint8", 1},
      {"int8", 1},
      {"float16", 2},
      {"float32", 4},
      {"float64", 8},
      {"int32", 4},
      {"int64", 8},
      // NCCL's own.
      {"u8", 1},
      {"i8", 1},
      {"f16", 2},
      {"bf16", 2},
      {"u32", 4},
      {"i32", 4},
      {"f32", 4},
      {"u64", 8},
      {"i64", 8},
      {"f64", 8},
  });
  std::string key = lower(dtype);
  if (key.starts_with("float8")) return 1;
  for (const Entry& entry : kTypes) {
    if (entry.name == key) return entry.bytes;
  }
  return 0;
}

std::int64_t collective_bytes(std::string_view kind, std::int64_t in_elements,
                              std::int64_t out_elements, std::int64_t element_bytes) {
  std::int64_t elements = std::max(in_elements, out_elements);
  if (kind == "allgather") elements = out_elements;
  if (kind == "reducescatter" || kind == "allreduce") elements = in_elements;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  if (elements < 0 || elements > kMost || element_bytes <= 0) return conventions::kAbsent;
  return elements * element_bytes;
}

}  // namespace headway::trace::kineto
