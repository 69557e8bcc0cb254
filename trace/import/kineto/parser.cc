// SPDX-License-Identifier: MIT
#include "trace/import/kineto/parser.h"

#include <simdjson.h>

#include <cstring>

namespace headway::trace::kineto {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(simdjson::SIMDJSON_PADDING <= kPadding);

/// Compares a key in the text with a literal; the closing quote is part of the comparison. Reads at
/// most the literal's length, which the padding allows.
template <std::size_t N>
bool is(const char* key, const char (&literal)[N]) {
  static_assert(N <= kPadding);
  return std::memcmp(key, literal, N - 1) == 0 && key[N - 1] == '"';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

/// The text of a value: for scalars the token (simdjson has not checked it, so NaN is possible),
/// for arrays and objects everything up to their end.
simdjson::error_code text_of(ondemand::value value, std::string_view& out) {
  std::string_view token = value.raw_json_token();
  if (token.empty()) return simdjson::TAPE_ERROR;
  if (token.front() == '[') {
    ondemand::array array;
    if (auto error = value.get_array().get(array)) return error;
    if (auto error = array.raw_json().get(token)) return error;
  } else if (token.front() == '{') {
    ondemand::object object;
    if (auto error = value.get_object().get(object)) return error;
    if (auto error = object.raw_json().get(token)) return error;
  }
  out = trimmed(token);
  return simdjson::SUCCESS;
}

/// The member for a key of "args"; null: not wanted. Switches on the first letter, because most
/// keys are not wanted.
std::string_view* arg_slot(Args& args, const char* key) {
  switch (key[0]) {
    case 'b':
      if (is(key, "block")) return &args.block;
      if (is(key, "bytes")) return &args.bytes;
      break;
    case 'B':
      break;
    case 'c':
      if (is(key, "correlation")) return &args.correlation;
      break;
    case 'C':
      if (is(key, "Collective name")) return &args.collective;
      break;
    case 'd':
      if (is(key, "device")) return &args.device;
      if (is(key, "dtype")) return &args.dtype;
      break;
    case 'D':
      if (is(key, "Device Id")) return &args.device_id;
      if (is(key, "Device Type")) return &args.device_type;
      if (is(key, "Dst Rank")) return &args.peer_destination;
      break;
    case 'g':
      if (is(key, "grid")) return &args.grid;
      break;
    case 'G':
      if (is(key, "Group size")) return &args.group_size;
      break;
    case 'I':
      if (is(key, "Input Dims") || is(key, "Input dims") || is(key, "Input Shapes"))
        return &args.input_shapes;
      if (is(key, "Input type") || is(key, "Input Types")) return &args.input_types;
      if (is(key, "In msg nelems")) return &args.in_elements;
      break;
    case 'l':
      if (is(key, "labels")) return &args.labels;
      break;
    case 'n':
      if (is(key, "name")) return &args.name;
      break;
    case 'O':
      if (is(key, "Out msg nelems")) return &args.out_elements;
      break;
    case 'P':
      if (is(key, "Python id")) return &args.python_id;
      if (is(key, "Python parent id")) return &args.python_parent;
      if (is(key, "Process Group Name")) return &args.group_name;
      break;
    case 'R':
      if (is(key, "Root Rank") || is(key, "Root rank")) return &args.peer_root;
      break;
    case 's':
      if (is(key, "stream")) return &args.stream;
      break;
    case 'S':
      if (is(key, "Sequence number")) return &args.sequence;
      if (is(key, "Seq")) return &args.collective_sequence;
      if (is(key, "Src Rank")) return &args.peer_source;
      break;
    case 'T':
      if (is(key, "Total Allocated")) return &args.allocated;
      if (is(key, "Total Reserved")) return &args.reserved;
      break;
    case 'w':
      if (is(key, "wait_on_cuda_event_record_corr_id")) return &args.wait_record;
      break;
    default:
      break;
  }
  return nullptr;
}

std::string_view* field_slot(Record& record, const char* key) {
  switch (key[0]) {
    case 'c':
      return is(key, "cat") ? &record.category : nullptr;
    case 'd':
      return is(key, "dur") ? &record.duration : nullptr;
    case 'i':
      return is(key, "id") ? &record.id : nullptr;
    case 'n':
      return is(key, "name") ? &record.name : nullptr;
    case 'p':
      if (is(key, "ph")) return &record.phase;
      return is(key, "pid") ? &record.pid : nullptr;
    case 't':
      if (is(key, "ts")) return &record.time;
      return is(key, "tid") ? &record.tid : nullptr;
    default:
      return nullptr;
  }
}

/// Reads the args of a counter: each is a value, under any name.
simdjson::error_code read_series(ondemand::object object, Record& record) {
  for (auto entry : object) {
    ondemand::field field;
    if (auto error = std::move(entry).get(field)) return error;
    const char* key = field.key().raw();
    const char* end = key;
    while (*end != '"') end += *end == '\\' ? 2 : 1;
    std::string_view token;
    if (auto error = text_of(field.value(), token)) return error;
    record.series.emplace_back(std::string_view(key, static_cast<std::size_t>(end - key)), token);
  }
  return simdjson::SUCCESS;
}

simdjson::error_code read_args(ondemand::object object, Args& args) {
  for (auto entry : object) {
    ondemand::field field;
    if (auto error = std::move(entry).get(field)) return error;
    if (std::string_view* slot = arg_slot(args, field.key().raw())) {
      if (auto error = text_of(field.value(), *slot)) return error;
    }
  }
  return simdjson::SUCCESS;
}

/// `args_of_counter`: read "args" as a counter's.
simdjson::error_code read_record(ondemand::object object, Record& record, bool args_of_counter) {
  for (auto entry : object) {
    ondemand::field field;
    if (auto error = std::move(entry).get(field)) return error;
    const char* key = field.key().raw();
    if (std::string_view* slot = field_slot(record, key)) {
      if (auto error = text_of(field.value(), *slot)) return error;
    } else if (is(key, "args")) {
      ondemand::value value = field.value();
      if (value.raw_json_token().front() != '{') continue;  // null, or not written by Kineto
      ondemand::object inner;
      if (auto error = value.get_object().get(inner)) return error;
      auto error = args_of_counter || record.phase == "\"C\"" ? read_series(inner, record)
                                                              : read_args(inner, record.args);
      if (error) return error;
    }
  }
  return simdjson::SUCCESS;
}

}  // namespace

struct Parser::Impl {
  ondemand::parser parser;
  ondemand::parser strings;  ///< separate, because the other parser may be in use
  std::string padded;
  std::string_view failure;
};

Parser::Parser() : impl_(std::make_unique<Impl>()) {}
Parser::~Parser() = default;

std::string_view Parser::failure() const {
  return impl_->failure;
}

Parser::Result Parser::read_array(std::string_view text, Filing& filing) {
  Result result{Outcome::kFailed};
  auto fail = [&](simdjson::error_code error) {
    impl_->failure = simdjson::error_message(error);
    return result;
  };
  ondemand::document document;
  if (auto error =
          impl_->parser.iterate(text.data(), text.size(), text.size() + kPadding).get(document))
    return fail(error);
  ondemand::array array;
  if (auto error = document.get_array().get(array)) return fail(error);
  for (auto element : array) {
    ondemand::object object;
    if (auto error = element.get_object().get(object)) return fail(error);
    Record record;
    if (auto error = read_record(object, record, false)) return fail(error);
    if (record.phase == "\"C\"" && record.series.empty()) {
      // The args came before the phase: read them again as those of a counter.
      if (auto error = object.reset().error()) return fail(error);
      Record again;
      if (auto error = read_record(object, again, true)) return fail(error);
      record = std::move(again);
    }
    if (filing.add(record)) {
      ++result.filed;
    } else {
      ++result.unusable;
    }
  }
  const char* here = nullptr;
  if (document.current_location().get(here) == simdjson::SUCCESS) {
    result.outcome = Outcome::kEndedEarly;
    result.rest = static_cast<std::size_t>(here - text.data());
  } else {
    result.outcome = Outcome::kWhole;
  }
  return result;
}

std::string Parser::unescape(std::string_view raw) {
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  std::string& padded = impl_->padded;
  padded.assign("\"").append(raw).append("\"");
  std::size_t size = padded.size();
  padded.append(kPadding, '\0');
  ondemand::document document;
  std::string_view text;
  if (impl_->strings.iterate(padded.data(), size, padded.size()).get(document) ||
      document.get_string().get(text))
    return std::string(raw);
  return std::string(text);
}

}  // namespace headway::trace::kineto
