// SPDX-License-Identifier: MIT
#include "trace/import/xplane/vocabulary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace headway::trace::xplane {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

/// True for "cudaLaunchKernel", "cuMemcpyAsync", "hipModuleLaunchKernel".
bool names_api_call(std::string_view name) {
  for (std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (name.size() > prefix.size() && name.starts_with(prefix) && is_upper(name[prefix.size()]))
      return !contains(name, " ") && !contains(name, ":");
  }
  return false;
}

/// True for "name:Type". In newer versions the type is also the display name.
bool is_framework_op(std::string_view name, std::string_view display_name) {
  std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == name.size()) return false;
  std::string_view type = name.substr(colon + 1);
  if (!display_name.empty()) return type == display_name;
  if (name[colon - 1] == ':' || !is_upper(type.front()) || contains(name, " ")) return false;
  return std::all_of(type.begin(), type.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

MemoryKind memory_of(std::string_view details, std::string_view key) {
  std::size_t at = details.find(key);
  if (at == std::string_view::npos) return MemoryKind::kUnknown;
  std::string_view word = details.substr(at + key.size());
  word = word.substr(0, word.find(' '));
  if (word == "pageable") return MemoryKind::kPageable;
  if (word == "pinned") return MemoryKind::kPinned;
  if (word == "device" || word == "array") return MemoryKind::kDevice;
  if (word == "managed") return MemoryKind::kManaged;
  return MemoryKind::kUnknown;
}

}  // namespace

HostRole host_role(std::string_view name, std::string_view display_name) {
  struct Known {
    std::string_view name;
    HostRole role;
  };
  static constexpr auto kNames = std::to_array<Known>({
      {"ThreadpoolListener::Record", HostRole::kHandOver},
      {"ThreadpoolListener::StartRegion", HostRole::kRegionBegin},
      {"ThreadpoolListener::StopRegion", HostRole::kRegionEnd},
      {"PrefetchProduce", HostRole::kPrefetchProduce},
      {"PrefetchConsume", HostRole::kPrefetchConsume},
      {"MemoryAllocation", HostRole::kMemory},
      {"MemoryDeallocation", HostRole::kMemory},
  });
  for (const Known& known : kNames) {
    if (known.name == name) return known.role;
  }
  if (name.starts_with('$')) return HostRole::kPython;
  if (name.starts_with("end: ")) return HostRole::kNoise;
  if (name.starts_with("Iterator::")) return HostRole::kIterator;
  if (contains(name, "IteratorGetNext") || contains(name, "OptionalFromIterator"))
    return HostRole::kInputWait;
  if (names_api_call(name)) return HostRole::kApiCall;
  return is_framework_op(name, display_name) ? HostRole::kFrameworkOp : HostRole::kRange;
}

std::string python_name(std::string_view name) {
  name.remove_prefix(1);
  std::size_t space = name.find(' ');
  std::size_t colon = name.substr(0, space).rfind(':');
  if (space == std::string_view::npos || colon == std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, colon)) + "(" +
         std::string(name.substr(colon + 1, space - colon - 1)) +
         "): " + std::string(name.substr(space + 1));
}

RangeKind input_stage(std::string_view name) {
  std::string_view last = name.substr(name.rfind(':') + 1);
  auto has = [&](std::string_view part) { return contains(last, part); };
  if (has("Decode") || has("Parse") || has("Decompress") || has("Unzip")) return RangeKind::kDecode;
  if (has("TFRecord") || has("ReadFile") || has("TextLine") || has("FixedLengthRecord") ||
      has("WholeFile"))
    return RangeKind::kRead;
  if (has("Batch")) return RangeKind::kCollate;
  if (has("Map") || has("Filter")) return RangeKind::kAugment;
  return RangeKind::kOther;
}

bool makes_input(std::string_view thread_name) {
  return thread_name.starts_with("tf_data") && !waits_for_input(thread_name);
}

bool waits_for_input(std::string_view thread_name) {
  return thread_name.starts_with("tf_data") && contains(thread_name, "get_next");
}

std::string_view without_number(std::string_view hlo_op) {
  for (;;) {
    std::size_t dot = hlo_op.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || dot + 1 == hlo_op.size()) return hlo_op;
    std::string_view digits = hlo_op.substr(dot + 1);
    if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
      return hlo_op;
    hlo_op = hlo_op.substr(0, dot);
  }
}

std::string_view collective_kind(std::string_view hlo_op) {
  struct Known {
    std::string_view prefix;
    std::string_view kind;
  };
  // Of two names with the same beginning the longer comes first. The last are TensorFlow's
  // operators.
  static constexpr auto kKinds = std::to_array<Known>({
      {"all-reduce", "allreduce"},
      {"all-gather", "allgather"},
      {"reduce-scatter", "reducescatter"},
      {"ragged-all-to-all", "alltoall"},
      {"all-to-all", "alltoall"},
      {"collective-permute", "sendrecv"},
      {"collective-broadcast", "broadcast"},
      {"CollectiveReduceScatter", "reducescatter"},
      {"CollectiveReduce", "allreduce"},
      {"CollectiveGather", "allgather"},
      {"CollectiveBcast", "broadcast"},
      {"CollectiveAllToAll", "alltoall"},
      {"NcclAllReduce", "allreduce"},
  });
  for (const Known& known : kKinds) {
    if (hlo_op.starts_with(known.prefix)) return known.kind;
  }
  // Other names also begin with "send" and "recv", so the whole name is compared.
  std::string_view base = without_number(hlo_op);
  if (base == "send" || base == "send-done") return "send";
  if (base == "recv" || base == "recv-done") return "recv";
  return {};
}

bool is_done_half(std::string_view hlo_op) {
  return without_number(hlo_op).ends_with("-done");
}

std::string_view last_part(std::string_view path) {
  while (path.ends_with(':') || path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

Phase phase_of_path(std::string_view path) {
  if (contains(path, "transpose(jvp") || contains(path, "transpose(vmap(jvp"))
    return Phase::kBackward;
  if (contains(path, "jvp(")) return Phase::kForward;
  if (contains(path, "gradient_tape/")) return Phase::kBackward;  // Keras and tf.GradientTape
  return Phase::kNone;
}

std::int64_t result_bytes(std::string_view hlo_text) {
  struct Type {
    std::string_view name;
    std::int64_t bytes;
  };
  static constexpr auto kTypes = std::to_array<Type>({{"pred", 1},
                                                      {"s8", 1},
                                                      {"u8", 1},
                                                      {"f8", 1},
                                                      {"s16", 2},
                                                      {"u16", 2},
                                                      {"f16", 2},
                                                      {"bf16", 2},
                                                      {"s32", 4},
                                                      {"u32", 4},
                                                      {"f32", 4},
                                                      {"s64", 8},
                                                      {"u64", 8},
                                                      {"f64", 8},
                                                      {"c64", 8},
                                                      {"c128", 16}});
  std::size_t equals = hlo_text.find(" = ");
  if (equals == std::string_view::npos) return conventions::kAbsent;
  std::string_view rest = hlo_text.substr(equals + 3);
  // The result is one type, or several in parentheses; the op's own name follows.
  if (rest.starts_with('(')) {
    rest = rest.substr(1, rest.find(") ") - 1);
  } else {
    rest = rest.substr(0, rest.find(' '));
  }
  std::int64_t total = 0;
  for (std::size_t open = rest.find('['); open != std::string_view::npos;
       open = rest.find('[', open + 1)) {
    std::size_t begin = open;
    while (begin > 0 && std::isalnum(static_cast<unsigned char>(rest[begin - 1]))) --begin;
    std::string_view name = rest.substr(begin, open - begin);
    auto type =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& t) { return t.name == name; });
    if (type == kTypes.end()) continue;
    std::int64_t bytes = type->bytes;
    for (std::size_t i = open + 1; i < rest.size() && rest[i] != ']';) {
      std::int64_t extent = 0;
      auto [end, error] = std::from_chars(rest.data() + i, rest.data() + rest.size(), extent);
      if (error != std::errc{} || __builtin_mul_overflow(bytes, extent, &bytes))
        return conventions::kAbsent;
      i = static_cast<std::size_t>(end - rest.data());
      if (i < rest.size() && rest[i] == ',') ++i;
    }
    if (__builtin_add_overflow(total, bytes, &total)) return conventions::kAbsent;
  }
  return total > 0 ? total : conventions::kAbsent;
}

std::int64_t detail(std::string_view details, std::string_view key, std::int64_t fallback) {
  std::size_t at = details.find(key);
  if (at == std::string_view::npos || (at > 0 && details[at - 1] != ' ')) return fallback;
  std::int64_t value = 0;
  const char* begin = details.data() + at + key.size();
  auto [end, error] = std::from_chars(begin, details.data() + details.size(), value);
  return error == std::errc{} && end != begin ? value : fallback;
}

std::uint32_t extent(std::string_view details, std::string_view key) {
  std::size_t at = details.find(key);
  if (at == std::string_view::npos) return 0;
  std::string_view rest = details.substr(at + key.size());
  rest = rest.substr(0, rest.find(' '));
  std::uint64_t product = rest.empty() ? 0 : 1;
  for (std::size_t i = 0; i < rest.size();) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(rest.data() + i, rest.data() + rest.size(), value);
    if (error != std::errc{} || value == 0 || product > UINT32_MAX / value) return 0;
    product *= value;
    i = static_cast<std::size_t>(end - rest.data()) + 1;
  }
  return static_cast<std::uint32_t>(product);
}

Copy copy_of(std::string_view name, std::string_view details) {
  Copy copy;
  copy.bytes = std::max<std::int64_t>(0, detail(details, "size:", 0));
  copy.destination_device = detail(details, "dest:", -1);
  copy.source = memory_of(details, "kind_src:");
  copy.destination = memory_of(details, "kind_dst:");
  auto has = [&](std::string_view a, std::string_view b, std::string_view c) {
    return contains(name, a) || contains(name, b) || contains(name, c);
  };
  if (has("H2D", "HtoD", "HostToDevice")) {
    copy.kind = DeviceOpKind::kCopyHostToDevice;
  } else if (has("D2H", "DtoH", "DeviceToHost")) {
    copy.kind = DeviceOpKind::kCopyDeviceToHost;
  } else if (has("H2H", "HtoH", "HostToHost")) {
    copy.kind = DeviceOpKind::kCopyHostToHost;
  } else if (has("P2P", "PtoP", "Peer")) {
    copy.kind = DeviceOpKind::kCopyPeer;
  }
  return copy;
}

}  // namespace headway::trace::xplane
