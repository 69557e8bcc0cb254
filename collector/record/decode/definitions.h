// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/record/decode/conventions.h"
#include "collector/record/rows/trace_sink.h"
#include "collector/wire/definition.h"

namespace headway::record {

/// Numbers of domains in NVTX_EVENTS.domainId: by name, the same in all processes of the file; 0 is
/// the default domain.
class DomainNumbers {
 public:
  /// The number of a name; a new name gets the next number.
  std::int64_t of(std::string_view name);

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

/// A payload schema that a process registered.
struct KnownSchema {
  trace::PayloadSchema schema;
  std::optional<Convention> convention;  ///< nullopt: its payloads become JSON
};

/// A counter that a process registered.
struct KnownCounter {
  std::uint64_t type = 0;  ///< of its samples: id of a number type or of a schema
  std::string name;        ///< with the name of its domain
  std::string description;
  std::string unit;
  std::optional<std::int64_t> device;  ///< ordinal of the CUDA device that it belongs to
};

/// The definitions of one process image. They are written to the trace as they arrive, and kept
/// because records refer to them.
class Definitions {
 public:
  Definitions(std::int64_t global_pid, DomainNumbers& domains, TraceSink& sink)
      : global_pid_(global_pid), domains_(domains), sink_(sink) {}

  /// Reads whole entries of the log, in order. False when they are damaged; the rest is then not
  /// read.
  bool read(std::span<const std::byte> log);

  bool has_domain(std::uint16_t domain) const {
    return domain == 0 || domain_numbers_.contains(domain);
  }
  /// The domain's number in the trace.
  std::int64_t domain_number(std::uint16_t domain) const;
  /// Empty for the default domain and for an unknown one.
  std::string_view domain_name(std::uint16_t domain) const {
    auto found = domain_names_.find(domain);
    return found == domain_names_.end() ? std::string_view() : found->second;
  }
  /// Nullopt when nothing was registered under that id.
  std::optional<trace::StringId> string(std::uint32_t id) const;
  /// Null when nothing was registered under that id; else valid as long as this object. The same
  /// holds for the functions below.
  const std::string* string_text(std::uint32_t id) const;
  const KnownSchema* schema(std::uint16_t domain, std::uint64_t id) const;
  const trace::PayloadEnum* enumeration(std::uint16_t domain, std::uint64_t id) const;
  const KnownCounter* counter(std::uint16_t domain, std::uint64_t id) const;
  /// Units of the entries of a counter schema.
  const std::vector<std::string>* units(std::uint16_t domain, std::uint64_t schema) const;
  /// Names that the program gave its CUDA streams, by CUPTI's stream number.
  const std::map<std::uint64_t, std::string>& stream_names() const { return stream_names_; }
  /// Name of a function of the CUDA API (wire::callback_id); null when it is not known.
  const std::string* callback(std::uint64_t id) const { return find(callbacks_, id); }
  /// The text at an address of the process; null when it is not known.
  const std::string* at_address(std::uint64_t address) const { return find(addresses_, address); }

  /// Names that the program gave its threads, and the library's notes. The caller takes them after
  /// each `read`.
  std::vector<std::pair<std::int32_t, std::string>> take_thread_names();
  std::optional<std::string> take_note(wire::NoteKey key);

 private:
  bool add(const wire::DefinitionHeader& header, std::span<const std::byte> body);
  bool add_schema(const wire::DefinitionHeader& header, wire::DefinitionReader& body);
  bool add_enum(const wire::DefinitionHeader& header, wire::DefinitionReader& body);
  bool add_counter(const wire::DefinitionHeader& header, wire::DefinitionReader& body);
  bool add_scope(const wire::DefinitionHeader& header, wire::DefinitionReader& body);
  bool add_resource(wire::DefinitionReader& body);
  void write_schema(std::int64_t domain, const trace::PayloadSchema& schema);

  using Texts = std::unordered_map<std::uint64_t, std::string>;
  static const std::string* find(const Texts& texts, std::uint64_t id) {
    auto found = texts.find(id);
    return found == texts.end() ? nullptr : &found->second;
  }

  struct KnownString {
    trace::StringId id;
    std::string text;
  };
  std::int64_t global_pid_;
  DomainNumbers& domains_;
  TraceSink& sink_;
  std::unordered_map<std::uint16_t, std::int64_t> domain_numbers_;
  std::unordered_map<std::uint16_t, std::string> domain_names_;
  std::unordered_map<std::uint32_t, KnownString> strings_;
  using Key = std::pair<std::uint16_t, std::uint64_t>;  ///< domain, id
  template <class Value>
  static const Value* find(const std::map<Key, Value>& values, const Key& key) {
    auto found = values.find(key);
    return found == values.end() ? nullptr : &found->second;
  }
  std::map<Key, KnownSchema> schemas_;
  std::map<Key, trace::PayloadEnum> enums_;
  std::map<Key, KnownCounter> counters_;
  std::map<Key, std::vector<std::string>> units_;
  std::map<Key, std::int64_t> scope_devices_;  ///< CUDA device of each counter scope that has one
  std::map<std::uint64_t, std::string> stream_names_;
  std::vector<std::pair<std::int32_t, std::string>> thread_names_;
  std::map<wire::NoteKey, std::string> notes_;
  Texts callbacks_;
  Texts addresses_;
};

/// Looks up what the schemas of one domain refer to.
class DomainReferences final : public trace::PayloadReferences {
 public:
  DomainReferences(const Definitions& definitions, std::uint16_t domain)
      : definitions_(definitions), domain_(domain) {}
  const trace::PayloadSchema* schema(std::uint64_t id) const override {
    const KnownSchema* known = definitions_.schema(domain_, id);
    return known ? &known->schema : nullptr;
  }
  const trace::PayloadEnum* enumeration(std::uint64_t id) const override {
    return definitions_.enumeration(domain_, id);
  }
  const std::string* registered_text(std::uint64_t handle) const override {
    // Our handles carry the id in their lower half (inject/handles.h).
    return definitions_.string_text(static_cast<std::uint32_t>(handle));
  }

 private:
  const Definitions& definitions_;
  std::uint16_t domain_;
};

}  // namespace headway::record
