// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "collector/inject/kept_texts.h"
#include "collector/inject/nvtx_types.h"
#include "collector/inject/segment.h"
#include "collector/wire/definition.h"

/// Registers names, schemas and paths of the program: each distinct definition is appended once to
/// the log of the segment. Not for the hot path (a lock, a hash, sometimes a page of memory). Call
/// these functions inside an Entry. The result 0 says that there was no room or no recorder.
namespace headway::inject {

/// Text from the program, narrow or wide; both null: "".
struct Text {
  const char* narrow = nullptr;
  const wchar_t* wide = nullptr;
};

/// The index of the domain with this name; within a process the same for each call.
std::uint32_t define_domain(Text name);
/// The id of the text. With KeptTexts::kMark in it, the text is not in the log: kept_text() has it.
std::uint32_t define_string(std::uint16_t domain, Text text);
/// The text of an id with KeptTexts::kMark; null when there is none. Also outside of an Entry.
const char* kept_text(std::uint32_t string);
void define_category(std::uint16_t domain, std::uint32_t category, Text name);
/// The last name of a thread counts.
void define_thread_name(std::uint64_t tid, Text name);
/// Id of a schema that NVTX's payload extension registers (nvtx_definitions.cc): the one that the
/// program gives, or a new one. The functions below do the same.
std::uint64_t define_schema(std::uint16_t domain, const nvtxPayloadSchemaAttr_t& schema);
/// As schemas: enums share their numbers, because payload entries name either as a type.
std::uint64_t define_enum(std::uint16_t domain, const nvtxPayloadEnumAttr_t& description);
std::uint64_t define_counter(std::uint16_t domain, const nvtxCounterAttr_t& counter);
std::uint64_t define_scope(std::uint16_t domain, const nvtxScopeAttr_t& scope);
/// Name of a device or stream; `id` is CUDA's number in this process.
void define_resource(wire::ResourceKind kind, std::uint64_t id, Text name);
/// The id of a path, numbered together with the strings; 0 when there is no room. Paths of files may
/// take half of the log, paths of folders a little more; the rest is for other definitions. The
/// process lock must be held.
std::uint32_t define_path_locked(const char* path, std::size_t length, bool folder);
/// A note of the library about itself; the last text of a key counts.
void define_note(wire::NoteKey key, const char* text);
/// Name of a function of the CUDA API, once per function.
void define_callback_name(bool driver, std::uint32_t cbid, const char* name);
/// The text at an address of the program, so that the recorder never reads its memory.
void define_address_name(std::uint64_t address, const char* name);

/// Registers what `write(out)` writes. `write` is called twice, the first time only to learn the
/// size.
using WriteBody = void (*)(wire::DefinitionWriter& out, void* argument);
std::uint64_t define_body(wire::DefinitionType type, std::uint16_t domain, std::uint64_t id,
                          WriteBody write, void* argument);
template <class Write>
std::uint64_t define_with(wire::DefinitionType type, std::uint16_t domain, std::uint64_t id,
                          Write write) {
  return define_body(
      type, domain, id,
      [](wire::DefinitionWriter& out, void* argument) { (*static_cast<Write*>(argument))(out); },
      &write);
}
void put_text(wire::DefinitionWriter& out, Text text);

/// Copies the log of a parent process into the segment of its forked child, which has inherited the
/// index. False when there is no room: the child's limits may be tighter than its parent's were.
bool copy_definitions(const Segment& from, const Segment& to);

}  // namespace headway::inject
