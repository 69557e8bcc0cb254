// SPDX-License-Identifier: MIT
// What Prometheus gets, and what others get who ask for something else.
#include "cli/live/metrics.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "common/error.h"
#include "tests/cli/figures.h"

namespace headway::cli::live {
namespace {

using test::some_figures;

/// The value of the sample that begins so; -1 when there is none.
double value_of(const std::string& text, const std::string& sample) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(sample + " ")) return std::stod(line.substr(sample.size() + 1));
  return -1;
}

std::string status_of(const std::string& request) {
  const std::string answer = http_answer(request, [] { return std::string("figures\n"); });
  return answer.substr(9, 3);
}

}  // namespace

TEST_CASE("the classes of the step sum to its cost") {
  const std::string text = metrics_text(some_figures());
  CHECK(value_of(text, "headway_step_cost_seconds{over=\"last\"}") == doctest::Approx(0.0312));
  CHECK(value_of(text, "headway_step_cost_seconds{over=\"run\"}") == doctest::Approx(0.0308));
  double sum = 0;
  for (const analyzer::TimeClassInfo& one : analyzer::time_classes()) {
    const double value =
        value_of(text, "headway_step_class_seconds{class=\"" + std::string(one.id) + "\"}");
    CHECK(value >= 0);
    sum += value;
  }
  CHECK(sum == doctest::Approx(0.0312));
  CHECK(value_of(text, "headway_steps_total") == 1240);
  CHECK(value_of(text, "headway_samples_per_second") == doctest::Approx(1025.6));
  CHECK(value_of(text, "headway_dropped_events_total") == 0);
  CHECK(value_of(text, "headway_recording") == 1);
  CHECK(value_of(text, "headway_rank_step_cost_seconds{rank=\"2\"}") == doctest::Approx(0.0312));
  CHECK(value_of(text, "headway_gpu_busy_ratio{gpu=\"0\"}") == doctest::Approx(0.83));
}

TEST_CASE("what is not known is left out, and names are escaped") {
  Figures figures;
  figures.file = "a\"b\\c\nd";
  std::string text = metrics_text(figures);
  CHECK(text.find("headway_run_info{file=\"a\\\"b\\\\c\\nd\"} 1\n") != std::string::npos);
  CHECK(text.find("headway_recording 0\n") != std::string::npos);
  figures.phase = Phase::kRunning;
  text = metrics_text(figures);
  CHECK(text.find("step_cost") == std::string::npos);
  CHECK(text.find("headway_steps_total 0\n") != std::string::npos);
}

TEST_CASE("requests other than for the metrics get their error") {
  CHECK(status_of("GET /metrics HTTP/1.1\r\n\r\n") == "200");
  CHECK(status_of("GET /metrics?x=y HTTP/1.0\r\n\r\n") == "200");
  CHECK(status_of("GET / HTTP/1.1\r\n\r\n") == "404");
  CHECK(status_of("GET /metrics/../etc/passwd HTTP/1.1\r\n\r\n") == "404");
  CHECK(status_of("POST /metrics HTTP/1.1\r\n\r\n") == "405");
  for (const char* wrong : {"", " ", "\r\n", "GET", "GET /metrics", "GET /metrics \r\n",
                            "\x16\x03\x01\x02", "GET /metrics SPDY/3\r\n\r\n"})
    CHECK(status_of(wrong) == "400");
  const std::string head =
      http_answer("HEAD /metrics HTTP/1.1\r\n\r\n", [] { return std::string("figures\n"); });
  CHECK(head.ends_with("\r\n\r\n"));
  CHECK(head.find("Content-Length: 8\r\n") != std::string::npos);
}

TEST_CASE("the server answers over a socket, and its place must be one") {
  for (const char* wrong : {"", "x", "70000", ":", "127.0.0.1:", "127.0.0.1:x", ":9464", "-1"})
    CHECK_THROWS_AS(MetricsServer(wrong, [] { return std::string(); }), Error);
  const MetricsServer server("0", [] { return std::string("figures\n"); });
  REQUIRE(server.address().starts_with("http://127.0.0.1:"));
  CHECK_THROWS_AS(MetricsServer(server.address().substr(7, server.address().rfind('/') - 7),
                                [] { return std::string(); }),
                  Error);
  const int port = std::stoi(server.address().substr(server.address().rfind(':') + 1));
  for (int i = 0; i < 3; ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
    const std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    REQUIRE(::write(socket, request.data(), request.size()) ==
            static_cast<ssize_t>(request.size()));
    std::string answer;
    std::array<char, 256> bytes{};
    for (ssize_t got; (got = ::read(socket, bytes.data(), bytes.size())) > 0;)
      answer.append(bytes.data(), static_cast<std::size_t>(got));
    ::close(socket);
    CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(answer.ends_with("\r\n\r\nfigures\n"));
  }
}

}  // namespace headway::cli::live
