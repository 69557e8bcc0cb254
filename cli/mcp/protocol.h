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

/// What a tool takes, by name; the schema that clients see is made from it.
struct Parameter {
  enum class Kind : std::uint8_t { kText, kTexts, kWhole, kFlag };
  std::string name;
  Kind kind = Kind::kText;
  std::string doc;
  bool required = false;
};

/// Arguments of a call: those given, each with its texts. A flag is there when it is true.
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

/// The server side of the Model Context Protocol, apart from where messages come from: JSON-RPC 2.0
/// with `initialize`, `ping`, `tools/list` and `tools/call`. Nothing that it is sent makes it fail:
/// what is wrong is answered with an error of JSON-RPC.
class Server {
 public:
  Server(std::string version, std::vector<Tool> tools);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The answer to one message, one line without its end; empty when there is none to give. In an
  /// array each message is answered.
  std::string answer(std::string_view message);
  /// The answer to a message that is longer than is read.
  static std::string too_long();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Versions of the protocol that are spoken, newest first.
const std::vector<std::string_view>& protocol_versions();

}  // namespace headway::cli::mcp
