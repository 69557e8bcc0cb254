// SPDX-License-Identifier: MIT
// The safetensors format: https://huggingface.co/docs/safetensors.
#include <simdjson.h>

#include <bit>
#include <fstream>
#include <iterator>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/train/parameters.h"

namespace headway::trainer {
namespace {

static_assert(std::endian::native == std::endian::little);  // the format is little-endian

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeader = 100'000'000;  // limit of the format

std::string header_of(const Graph& graph, const ParameterSet& parameters) {
  std::string header = "{\"__metadata__\":{\"format\":\"headway-train\"}";
  std::size_t at = 0;
  for (const auto& [name, values] : parameters) {
    const Shape& shape = graph.value(graph.find(name)).shape;
    std::string extents;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      extents += fmt::format("{}{}", axis == 0 ? "" : ",", shape[axis]);
    const std::size_t end = at + values.size() * sizeof(float);
    header += fmt::format(R"(,"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})", name,
                          extents, at, end);
    at = end;
  }
  header += "}";
  while (header.size() % kLengthBytes != 0) header += ' ';  // tensors begin at multiples of 8
  return header;
}

[[noreturn]] void fail_file(const std::filesystem::path& path, std::string_view why) {
  fail_input(
      "{}: no checkpoint that can be read: {}. `headway-train --checkpoint FILE` writes one.",
      escape_terminal(path.string()), why);
}

std::vector<float> tensor(const std::filesystem::path& path, simdjson::dom::element entry,
                          std::string_view data) {
  std::string_view type;
  simdjson::dom::array place;
  if (entry["dtype"].get(type) || entry["data_offsets"].get(place) || place.size() != 2)
    fail_file(path, "a tensor has no type or place");
  if (type != "F32") fail_file(path, fmt::format("a tensor is {}, not F32", escape_terminal(type)));
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  if (place.at(0).get(begin) || place.at(1).get(end) || begin > end || end > data.size() ||
      (end - begin) % sizeof(float) != 0)
    fail_file(path, "a tensor lies outside of the file");
  std::vector<float> values((end - begin) / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), data.data() + begin, end - begin);
  return values;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const Graph& graph,
                      const ParameterSet& parameters) {
  const std::filesystem::path partial = path.string() + ".partial";
  {
    std::ofstream file(partial, std::ios::binary);
    const std::string header = header_of(graph, parameters);
    const std::uint64_t length = header.size();
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    for (const auto& [name, values] : parameters)
      file.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(float)));
    file.flush();
    if (!file) fail_input("{}: cannot be written.", escape_terminal(partial.string()));
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) fail_input("{}: {}.", escape_terminal(path.string()), error.message());
}

ParameterSet read_checkpoint(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_file(path, "it cannot be opened");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) fail_file(path, "it is too short");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMostHeader || length > bytes.size() - kLengthBytes)
    fail_file(path, "its header is longer than the file");
  const std::string_view data = std::string_view(bytes).substr(kLengthBytes + length);
  simdjson::dom::parser parser;
  simdjson::dom::object header;
  if (parser.parse(simdjson::padded_string(bytes.data() + kLengthBytes, length)).get(header))
    fail_file(path, "its header is not a JSON object");
  ParameterSet set;
  for (const auto& [name, entry] : header)
    if (name != "__metadata__") set[std::string(name)] = tensor(path, entry, data);
  return set;
}

}  // namespace headway::trainer
