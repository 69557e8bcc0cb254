// SPDX-License-Identifier: MIT
// JSON-RPC and the Model Context Protocol: versions, tools, and what is no message.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/mcp_tools.h"
#include "cli/mcp/protocol.h"
#include "tests/support/trace_builder.h"

namespace headway::cli::mcp {
namespace {

using nlohmann::json;

std::vector<Tool> echo_tool() {
  Tool tool;
  tool.name = "echo";
  tool.title = "Echo";
  tool.doc = "Says what it got.";
  tool.parameters = {{"text", Parameter::Kind::kText, "A text", true},
                     {"more", Parameter::Kind::kTexts, "Texts", false},
                     {"count", Parameter::Kind::kWhole, "A number", false},
                     {"loud", Parameter::Kind::kFlag, "A flag", false}};
  tool.call = [](const Arguments& arguments) {
    std::string text;
    for (const auto& [name, values] : arguments) {
      text += name + "=";
      for (const std::string& value : values) text += value + ",";
    }
    return ToolResult{text, arguments.contains("loud")};
  };
  return {tool};
}

json ask(Server& server, const std::string& message) {
  const std::string answer = server.answer(message);
  CHECK(answer.find('\n') == std::string::npos);
  return answer.empty() ? json() : json::parse(answer);
}

json call(Server& server, const json& arguments, const std::string& tool = "echo") {
  const json params = {{"name", tool}, {"arguments", arguments}};
  return ask(
      server,
      json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", "tools/call"}, {"params", params}}.dump());
}

int error_of(Server& server, const std::string& message) {
  const json answer = ask(server, message);
  REQUIRE(answer.contains("error"));
  CHECK(answer["jsonrpc"] == "2.0");
  CHECK(answer["error"]["message"].is_string());
  return answer["error"]["code"].get<int>();
}

}  // namespace

TEST_CASE("a known version is spoken, another one is answered with ours") {
  Server server("1.2.3", echo_tool());
  for (std::string_view version : protocol_versions()) {
    const json answer = ask(
        server, R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":")" +
                    std::string(version) + R"(","capabilities":{},"clientInfo":{}}})");
    CHECK(answer["id"] == "a");
    CHECK(answer["result"]["protocolVersion"] == version);
    CHECK(answer["result"]["serverInfo"]["version"] == "1.2.3");
    CHECK(answer["result"]["capabilities"].contains("tools"));
  }
  const json answer = ask(server, R"({"jsonrpc":"2.0","id":1,"method":"initialize",)"
                                  R"("params":{"protocolVersion":"1999-01-01"}})");
  CHECK(answer["result"]["protocolVersion"] == protocol_versions().front());
  CHECK(error_of(server, R"({"jsonrpc":"2.0","id":1,"method":"initialize"})") == -32602);
}

TEST_CASE("tools are listed with their schema and called with their arguments") {
  Server server("1", echo_tool());
  const json list = ask(server, R"({"jsonrpc":"2.0","id":0,"method":"tools/list"})");
  const json tool = list["result"]["tools"].at(0);
  CHECK(tool["name"] == "echo");
  CHECK(tool["inputSchema"]["type"] == "object");
  CHECK(tool["inputSchema"]["required"] == json::array({"text"}));
  CHECK(tool["inputSchema"]["properties"]["more"]["items"]["type"] == "string");
  json result = call(server, {{"text", "a"}, {"more", {"b", "c"}}, {"count", -3}})["result"];
  CHECK(result["content"][0]["text"] == "count=-3,more=b,c,text=a,");
  CHECK(result["isError"] == false);
  CHECK(call(server, {{"text", "a"}, {"loud", true}})["result"]["isError"] == true);
  CHECK(call(server, {{"text", "a"}, {"loud", false}})["result"]["isError"] == false);
}

TEST_CASE("wrong arguments are told from wrong results") {
  Server server("1", echo_tool());
  const std::vector<json> wrong = {json::object(),
                                   json{{"text", 3}},
                                   json{{"text", "a"}, {"more", {1}}},
                                   json{{"text", nullptr}},
                                   json{{"text", "a"}, {"count", 1.5}},
                                   json{{"text", "a"}, {"loud", "yes"}},
                                   json{{"text", "a"}, {"other", 1}},
                                   json(3),
                                   json::array(),
                                   json{{"text", std::string("a\0b", 3)}}};
  for (const json& arguments : wrong)
    CHECK_MESSAGE(call(server, arguments)["error"]["code"] == -32602, arguments.dump());
  CHECK(call(server, {{"text", "a"}}, "rm")["error"]["code"] == -32602);
}

TEST_CASE("what is no request gets the error that JSON-RPC has for it") {
  Server server("1", echo_tool());
  for (const char* text : {"", "{", "nonsense", "{\"jsonrpc\":\"2.0\"", "\"\\ud800\"", "\xff\xfe"})
    CHECK(error_of(server, text) == -32700);
  CHECK(error_of(server, std::string(100'000, '[')) == -32700);
  for (const char* text :
       {"3", "null", "\"x\"", "[]", "{}", R"({"id":1,"method":"ping"})",
        R"({"jsonrpc":"1.0","id":1,"method":"ping"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"method":3})", R"({"jsonrpc":"2.0","id":{},"method":"ping"})",
        R"({"jsonrpc":"2.0","id":null,"method":"ping"})"})
    CHECK_MESSAGE(error_of(server, text) == -32600, text);
  CHECK(error_of(server, R"({"jsonrpc":"2.0","id":1,"method":"rm -rf"})") == -32601);
  CHECK(error_of(server, R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})") == -32602);
  CHECK(error_of(server, R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]})") ==
        -32602);
  CHECK(json::parse(Server::too_long())["error"]["code"] == -32600);
  // It still works.
  CHECK(ask(server, R"({"jsonrpc":"2.0","id":1,"method":"ping"})")["result"] == json::object());
}

TEST_CASE("notifications and answers get no answer, batches one") {
  Server server("1", echo_tool());
  for (const char* text :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"nobody/knows"})", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}})",
        R"([{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","method":"y"}])"})
    CHECK(server.answer(text).empty());
  const json answers = ask(server, R"([{"jsonrpc":"2.0","id":1,"method":"ping"},)"
                                   R"({"jsonrpc":"2.0","method":"x"},3])");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["id"] == 1);
  CHECK(answers[1]["error"]["code"] == -32600);
}

TEST_CASE("each part of a message cut short or changed is answered, never fatal") {
  Server server("1", echo_tool());
  const std::string good =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":)"
      R"({"text":"a","more":["b"],"count":3,"loud":true}}})";
  for (std::size_t i = 0; i < good.size(); ++i) {
    server.answer(good.substr(0, i));
    for (const char c : {'\0', '"', '{', '}', '[', '9', '\\', '\xff'}) {
      std::string changed = good;
      changed[i] = c;
      server.answer(changed);
    }
  }
  CHECK(call(server, {{"text", "a"}})["result"]["content"][0]["text"] == "text=a,");
}

TEST_CASE("the commands as tools read a trace, and refuse to write") {
  headway::test::TraceBuilder builder;
  for (std::int64_t i = 0; i < 20; ++i) {
    builder.range(1, "step", i * 10'000, i * 10'000 + 9'000);
    builder.launch(1, i * 10'000 + 10, i * 10'000 + 20, i * 10'000 + 30, i * 10'000 + 8'000, {});
  }
  const std::string file = builder.save().string();
  Server server("1", command_tools());
  auto text_of = [](const json& answer) {
    return answer["result"]["content"][0]["text"].get<std::string>();
  };
  CHECK(text_of(call(server, {{"trace", {file}}}, "report")).find("Verdict") != std::string::npos);
  const json report =
      json::parse(text_of(call(server, {{"trace", {file}}, {"json", true}}, "report")));
  CHECK(report.contains("verdict"));
  const json sum =
      call(server, {{"trace", file}, {"sql", "SELECT count(*) AS n FROM NVTX_EVENTS"}}, "stats");
  CHECK(text_of(sum).find("20") != std::string::npos);
  for (const char* sql : {"DELETE FROM NVTX_EVENTS", "ATTACH 'x' AS y", "PRAGMA journal_mode=WAL",
                          "SELECT 1; DROP TABLE NVTX_EVENTS"}) {
    const json refused = call(server, {{"trace", file}, {"sql", sql}}, "stats");
    CHECK(refused["result"]["isError"] == true);
  }
  CHECK(call(server, {{"trace", file}, {"tables", {"nonsense"}}}, "stats")["result"]["isError"] ==
        true);
  CHECK(call(server, {{"trace", {"--help"}}}, "report")["result"]["isError"] == true);
  CHECK(call(server, {{"trace", {"/does/not/exist"}}}, "whatif")["result"]["isError"] == true);
  CHECK(call(server, {{"trace", {file}}}, "whatif")["result"]["isError"] == false);
  CHECK(text_of(call(server, {{"a", file}, {"b", file}}, "diff")).size() > 40);
  CHECK(text_of(call(server, json::object(), "explain")).find("input-bound") != std::string::npos);
  CHECK(text_of(call(server, {{"rule", "input-bound"}}, "explain")).find("Symptom") !=
        std::string::npos);
  CHECK(call(server, {{"rule", "no-such-rule"}}, "explain")["result"]["isError"] == true);
}

}  // namespace headway::cli::mcp
