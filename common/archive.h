// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/error.h"

/// Converts values to bytes and back. A type lists its fields once, in `template <class A> void
/// archive(A& a, T& value)`, which serves both directions. The bytes contain no version and use the
/// machine's own byte order: whoever stores them must store both beside them.
namespace headway {

/// Types that are copied byte by byte; every other type lists its fields.
template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Collects bytes in memory. `take` moves them out; call it once.
class ByteWriter {
 public:
  template <class... Fields>
  void operator()(Fields&... fields) {
    (put(fields), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <Plain T>
  void put(T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::string& text) {
    std::uint64_t size = text.size();
    put(size);
    bytes_ += text;
  }
  template <class T>
  void put(std::vector<T>& values) {
    std::uint64_t size = values.size();
    put(size);
    for (T& value : values) put(value);
  }
  template <class T>
  void put(T& value) {
    archive(*this, value);
  }

  std::string bytes_;
};

/// Reads values back. Throws Error(kInternal) when the bytes end too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view next(std::uint64_t size) {
    if (size > rest_.size())
      fail_internal("archived bytes end too early: {} more are missing", size);
    std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  void get(bool& value) { value = next(1)[0] != 0; }  // only 0 and 1 are valid bools
  template <Plain T>
  void get(T& value) {
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
  }
  void get(std::string& text) {
    std::uint64_t size = 0;
    get(size);
    text = next(size);
  }
  template <class T>
  void get(std::vector<T>& values) {
    std::uint64_t size = 0;
    get(size);
    values.clear();
    for (std::uint64_t i = 0; i < size; ++i) get(values.emplace_back());
  }
  template <class T>
  void get(T& value) {
    archive(*this, value);
  }

  std::string_view rest_;
};

}  // namespace headway
