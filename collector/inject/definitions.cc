// SPDX-License-Identifier: MIT
#include "collector/inject/definitions.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "collector/inject/definition_index.h"
#include "collector/inject/hash.h"
#include "collector/inject/process.h"
#include "collector/inject/thread.h"
#include "collector/inject/utf8.h"
#include "collector/wire/activity.h"

namespace headway::inject {
namespace {

using wire::DefinitionHeader;
using wire::DefinitionType;
using wire::DefinitionWriter;

constexpr std::uint32_t kPopulateStep = 64 * wire::kKiB;
constexpr std::size_t kMaxPath = 4096;  ///< the system's own limit

/// Guarded by the process lock.
struct Log {
  DefinitionIndex index;
  std::uint64_t end;        ///< bytes of complete entries
  std::uint64_t populated;  ///< bytes with memory behind them
  std::uint32_t domains;    ///< number so far; domain 0 is the default one and is not in the log
  std::uint32_t strings;
  std::uint32_t schemas;
};
constinit Log g_log{};
constinit KeptTexts g_texts{};

void put_wide_bytes(DefinitionWriter& out, const wchar_t* wide, std::uint32_t length) {
  char encoded[4];
  for (std::uint32_t done = 0; done < length; ++wide) {
    std::uint32_t bytes = std::min(encode_utf8(*wide, encoded), length - done);
    out.bytes(encoded, bytes);
    done += bytes;
  }
}

/// Texts may not take the last quarter of the log: a library that is loaded late still needs its
/// domain and its schemas.
std::uint64_t log_limit(const Segment& segment, DefinitionType type) {
  std::uint64_t bytes = segment.layout->definition_bytes;
  return type == DefinitionType::kString ? bytes / 4 * 3 : bytes;
}

bool make_room(const Segment& segment, std::uint64_t bytes) {
  std::uint64_t needed = g_log.end + bytes;
  if (needed > segment.layout->definition_bytes) return false;
  if (needed <= g_log.populated) return true;
  std::uint64_t target =
      std::min<std::uint64_t>((needed + kPopulateStep - 1) / kPopulateStep * kPopulateStep,
                              segment.layout->definition_bytes);
  if (!populate(segment, segment.definitions() + g_log.populated, target - g_log.populated))
    return false;
  g_log.populated = target;
  return true;
}

std::uint64_t next_id(DefinitionType type) {
  switch (type) {
    case DefinitionType::kDomain:
      return g_log.domains + 1 < kMaxDomains ? ++g_log.domains : 0;
    case DefinitionType::kString:
    case DefinitionType::kPath:
      return ++g_log.strings;
    default:  // schemas, enumerations, counters, scopes: one row of numbers for all
      return NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + ++g_log.schemas;
  }
}

/// Appends an entry unless the log has an equal one. Returns its id: `id` when that is not 0, else
/// the id of the equal entry, else a new one.
template <class WriteBody>
std::uint64_t define_locked(const Segment& segment, DefinitionType type, std::uint16_t domain,
                            std::uint64_t id, WriteBody write_body) {
  DefinitionWriter counter;
  write_body(counter);
  std::uint64_t bytes = sizeof(DefinitionHeader) + counter.size();
  if (g_log.end + bytes > log_limit(segment, type) || !make_room(segment, bytes)) return 0;
  std::byte* log = segment.definitions();
  std::byte* at = log + g_log.end;
  DefinitionHeader header{static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(type),
                          domain, id};
  std::memcpy(at, &header, sizeof header);
  DefinitionWriter body(at + sizeof header, bytes - sizeof header);
  write_body(body);
  // Another thread has changed the text between the two reads.
  if (body.size() != counter.size()) return 0;
  std::uint64_t hash = hash_of(at, bytes);
  auto same = [&](const DefinitionIndex::Entry& entry) {
    if (entry.bytes != bytes) return false;
    DefinitionHeader other;
    std::memcpy(&other, log + entry.offset, sizeof other);
    if (id == 0) other.id = 0;
    return std::memcmp(&other, &header, sizeof header) == 0 &&
           std::memcmp(log + entry.offset + sizeof header, at + sizeof header,
                       bytes - sizeof header) == 0;
  };
  if (const DefinitionIndex::Entry* known = g_log.index.find(hash, same)) return known->id;
  if (id == 0) {
    id = next_id(type);
    if (id == 0) return 0;
    header.id = id;
    std::memcpy(at, &header, sizeof header);
  }
  std::uint32_t offset = static_cast<std::uint32_t>(g_log.end);
  g_log.end += bytes;
  g_log.index.add({hash, id, offset, static_cast<std::uint32_t>(bytes)});
  segment.header().definitions_end.store(g_log.end, std::memory_order_release);
  return id;
}

/// Keeps a text outside the log. Returns its id; 0 when there is no room there either.
std::uint32_t keep_locked(Text text) {
  constexpr std::uint32_t kMaxKept = wire::kMaxText + 4;  // over kMaxText: events are marked as cut
  std::size_t length = 0;
  if (text.wide) {
    bool cut = false;
    length = utf8_length(text.wide, kMaxKept, cut);
  } else if (text.narrow) {
    length = ::strnlen(text.narrow, kMaxKept);
  }
  char* at = g_texts.room(length + 1);
  if (!at) return 0;
  if (text.wide) {
    DefinitionWriter out(reinterpret_cast<std::byte*>(at), length);
    put_wide_bytes(out, text.wide, static_cast<std::uint32_t>(length));
  } else if (length > 0) {
    std::memcpy(at, text.narrow, length);
  }
  at[length] = '\0';
  return g_texts.keep(length + 1);
}

template <class WriteBody>
std::uint64_t define(DefinitionType type, std::uint16_t domain, std::uint64_t id,
                     WriteBody write_body, Text text = {}) {
  int saved = errno;
  std::uint64_t result = 0;
  {
    Locked locked(g_process.page->lock);
    if (connect_locked()) {
      result = define_locked(g_process.segment, type, domain, id, write_body);
      if (result == 0 && type == DefinitionType::kString) result = keep_locked(text);
      if (result == 0)
        g_process.segment.header().definitions_lost.fetch_add(1, std::memory_order_relaxed);
    }
  }
  errno = saved;
  return result;
}

std::uint64_t define_text(DefinitionType type, std::uint16_t domain, std::uint64_t id, Text text) {
  return define(
      type, domain, id, [&](DefinitionWriter& out) { put_text(out, text); }, text);
}

}  // namespace

void put_text(DefinitionWriter& out, Text text) {
  if (!text.wide) return out.text(text.narrow ? text.narrow : "");
  bool cut = false;
  std::uint32_t length = utf8_length(text.wide, wire::kMaxDefinitionText, cut);
  out.number(length);
  put_wide_bytes(out, text.wide, length);
  out.pad();
}

std::uint64_t define_body(DefinitionType type, std::uint16_t domain, std::uint64_t id,
                          WriteBody write, void* argument) {
  return define(type, domain, id, [&](DefinitionWriter& out) { write(out, argument); });
}

void define_resource(wire::ResourceKind kind, std::uint64_t id, Text name) {
  define(DefinitionType::kResource, 0, 0, [&](DefinitionWriter& out) {
    out.number(static_cast<std::uint64_t>(kind));
    out.number(id);
    put_text(out, name);
  });
}

std::uint32_t define_domain(Text name) {
  return static_cast<std::uint32_t>(define_text(DefinitionType::kDomain, 0, 0, name));
}

std::uint32_t define_string(std::uint16_t domain, Text text) {
  return static_cast<std::uint32_t>(define_text(DefinitionType::kString, domain, 0, text));
}

const char* kept_text(std::uint32_t string) {
  return g_texts.text(string);
}

void define_category(std::uint16_t domain, std::uint32_t category, Text name) {
  define_text(DefinitionType::kCategory, domain, category, name);
}

void define_thread_name(std::uint64_t tid, Text name) {
  define_text(DefinitionType::kThreadName, 0, tid, name);
}

std::uint32_t define_path_locked(const char* path, std::size_t length, bool folder) {
  // Not on the stack: hooks run in threads with little of it. Guarded by the process lock.
  static constinit std::byte entry[sizeof(DefinitionHeader) + sizeof(std::uint64_t) + kMaxPath + 8];
  const Segment& segment = g_process.segment;
  DefinitionWriter body(entry + sizeof(DefinitionHeader), sizeof entry - sizeof(DefinitionHeader));
  body.text({path, std::min(length, kMaxPath)});
  std::size_t bytes = sizeof(DefinitionHeader) + body.size();
  DefinitionHeader header{static_cast<std::uint32_t>(bytes),
                          static_cast<std::uint16_t>(DefinitionType::kPath), 0, 0};
  std::memcpy(entry, &header, sizeof header);
  std::uint64_t hash = hash_of(entry, bytes);
  auto same = [&](const DefinitionIndex::Entry& known) {
    return known.bytes == bytes &&
           std::memcmp(segment.definitions() + known.offset, entry,
                       offsetof(DefinitionHeader, id)) == 0 &&
           std::memcmp(segment.definitions() + known.offset + sizeof header, entry + sizeof header,
                       bytes - sizeof header) == 0;
  };
  if (const DefinitionIndex::Entry* known = g_log.index.find(hash, same))
    return static_cast<std::uint32_t>(known->id);
  std::uint64_t limit = segment.layout->definition_bytes / 8 * (folder ? 5 : 4);
  if (g_log.end + bytes > limit || !make_room(segment, bytes)) return 0;
  header.id = next_id(DefinitionType::kPath);
  std::memcpy(entry, &header, sizeof header);
  std::memcpy(segment.definitions() + g_log.end, entry, bytes);
  g_log.index.add(
      {hash, header.id, static_cast<std::uint32_t>(g_log.end), static_cast<std::uint32_t>(bytes)});
  g_log.end += bytes;
  segment.header().definitions_end.store(g_log.end, std::memory_order_release);
  return static_cast<std::uint32_t>(header.id);
}

void define_note(wire::NoteKey key, const char* text) {
  define_text(DefinitionType::kNote, 0, static_cast<std::uint64_t>(key), {text, nullptr});
}

void define_callback_name(bool driver, std::uint32_t cbid, const char* name) {
  define_text(DefinitionType::kCallbackName, 0, wire::callback_id(driver, cbid), {name, nullptr});
}

void define_address_name(std::uint64_t address, const char* name) {
  define_text(DefinitionType::kAddressName, 0, address, {name, nullptr});
}

bool copy_definitions(const Segment& from, const Segment& to) {
  g_log.populated = 0;
  std::uint64_t bytes = g_log.end;
  if (!from || bytes == 0) return true;
  g_log.end = 0;
  bool room = make_room(to, bytes);
  g_log.end = bytes;
  if (!room) return false;
  std::memcpy(to.definitions(), from.definitions(), bytes);
  to.header().definitions_end.store(bytes, std::memory_order_release);
  return true;
}

}  // namespace headway::inject
