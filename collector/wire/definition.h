// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

/// Definitions, which a program registers once and refers to by id, are an append-only log in the
/// segment. An entry is a DefinitionHeader and a body of 64-bit numbers and texts (length, bytes,
/// padded to 8).
namespace headway::wire {

enum class DefinitionType : std::uint16_t {
  kDomain = 1,        ///< id: index used in records; text: name
  kString = 2,        ///< id: handle used in records; text
  kCategory = 3,      ///< id: category; text: name
  kSchema = 4,        ///< id: schema id; see below
  kThreadName = 5,    ///< id: tid; text: name
  kNote = 6,          ///< id: NoteKey; text
  kCallbackName = 7,  ///< id: callback_id (activity.h); text: name of the CUDA API function
  kAddressName = 8,   ///< id: address of the name of a kernel or device; text
  kPath = 9,          ///< id: handle, numbered together with kString; text: path of a file
  kEnum = 10,         ///< id: schema id; see below
  kCounter = 11,      ///< id: counter id; see below
  kScope = 12,        ///< id: scope id; number: parent, text: path
  kResource = 13,     ///< number: ResourceKind, number: the resource, text: name
};

/// Body of kSchema: type, flags, static size, alignment, number of entries, text: name; then for
/// each entry: flags, type, array or union detail, offset, text: name, text: description, text: unit
/// (of a counter).
/// Body of kEnum: size in bytes, number of entries, text: name; then for each entry: value, whether
/// it is a flag, text: name.
/// Body of kCounter: schema id or type, scope id, text: name, text: description, text: unit.
struct DefinitionHeader {
  std::uint32_t bytes;   ///< of the whole entry, a multiple of 8
  std::uint16_t type;    ///< DefinitionType; an unknown one is skipped
  std::uint16_t domain;  ///< index of the NVTX domain; 0: the default one
  std::uint64_t id;      ///< by type, see DefinitionType
};
static_assert(sizeof(DefinitionHeader) == 16);

/// Kind of the resource that kResource names; identified by CUDA's number in this process.
enum class ResourceKind : std::uint64_t {
  kCudaDevice = 1,
  kCudaStream = 2,  ///< as in CUPTI's records
};

/// Keys of the library's notes about itself in this process.
enum class NoteKey : std::uint64_t {
  kCuda = 1,  ///< state of CUDA collection, or why it is off
};

/// Longer registered texts are truncated.
inline constexpr std::uint32_t kMaxDefinitionText = 64 * 1024 - 8;
inline constexpr std::uint64_t kMaxSchemaEntries = 1024;

/// Writes a body; without a buffer it only counts the bytes. Never writes beyond `capacity`.
class DefinitionWriter {
 public:
  DefinitionWriter() = default;
  DefinitionWriter(std::byte* buffer, std::size_t capacity)
      : buffer_(buffer), capacity_(capacity) {}

  void number(std::uint64_t value) { bytes(&value, sizeof value); }
  void text(std::string_view text) {
    std::uint64_t length = text.size() < kMaxDefinitionText ? text.size() : kMaxDefinitionText;
    number(length);
    bytes(text.data(), length);
    pad();
  }
  /// For a text written in pieces: number(length), bytes() for each piece, then pad().
  void bytes(const void* data, std::size_t count) {
    if (buffer_ && size_ + count <= capacity_ && count) std::memcpy(buffer_ + size_, data, count);
    size_ += count;
  }
  void pad() {
    static constexpr char kZeros[8] = {};
    bytes(kZeros, (8 - size_ % 8) % 8);
  }
  /// Bytes of the body so far, including those for which there was no room; so a first pass without
  /// a buffer measures the size.
  std::size_t size() const { return size_; }

 private:
  std::byte* buffer_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

/// Reads an untrusted body. After the first missing value every read returns 0 or "", and `ok()` is
/// false.
class DefinitionReader {
 public:
  explicit DefinitionReader(std::span<const std::byte> body) : rest_(body) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (!take(sizeof value)) return 0;
    std::memcpy(&value, taken_, sizeof value);
    return value;
  }
  std::string_view text() {
    std::uint64_t length = number();
    if (length > kMaxDefinitionText || !take((length + 7) / 8 * 8)) {
      ok_ = false;
      return {};
    }
    return {reinterpret_cast<const char*>(taken_), length};
  }
  bool ok() const { return ok_; }

 private:
  bool take(std::size_t bytes) {
    if (bytes > rest_.size()) ok_ = false;
    if (!ok_) return false;
    taken_ = rest_.data();
    rest_ = rest_.subspan(bytes);
    return true;
  }
  std::span<const std::byte> rest_;
  const std::byte* taken_ = nullptr;
  bool ok_ = true;
};

}  // namespace headway::wire
