// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headway::cli::mcp {

/// One parameter of a tool; the schema that clients see is made from these.
struct Parameter {
  enum class Kind : std::uint8_t { kText, kTexts, kWhole, kFlag };
  std::string name;
  Kind kind = Kind::kText;
  std::string doc;
  bool required = false;
};

/// The given arguments of a call, each with its texts. A flag is present when it is true.
using Arguments = std::map<std::string, std::vector<std::string>>;

struct ToolResult {
  std::string text;
  bool failed = false;
};

struct Tool {
  std::string name;
  std::string title;
  std::string doc;
  std::vector<Parameter> parameters;
  std::function<ToolResult(const Arguments&)> call;
};

/// The server side of the Model Context Protocol, independent of the transport: JSON-RPC 2.0 with
/// `initialize`, `ping`, `tools/list` and `tools/call`. Invalid input never makes it fail: the
/// answer is then a JSON-RPC error.
class Server {
 public:
  Server(std::string version, std::vector<Tool> tools);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Answers one message, given as one line without its end. Empty when the message needs no
  /// answer. An array is answered message by message.
  std::string answer(std::string_view message);
  /// The answer to a message that exceeds the size limit.
  static std::string too_long();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Supported versions of the protocol, newest first.
const std::vector<std::string_view>& protocol_versions();

}  // namespace headway::cli::mcp
