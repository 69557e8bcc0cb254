// SPDX-License-Identifier: MIT
#include "cli/live/metrics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "cli/live/budget.h"
#include "cli/live/terminal.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::cli::live {
namespace {

constexpr std::size_t kMostRequest = 8192;
constexpr std::int64_t kPatienceNs = 2'000'000'000;  ///< time limit for one client

/// A label's value, escaped as the format requires.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : to_valid_utf8(text)) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

class Metrics {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    out_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
    name_ = name;
  }
  template <class Value>
  void sample(std::string_view labels, Value value) {
    out_ += labels.empty() ? fmt::format("{} {}\n", name_, value)
                           : fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  template <class Value>
  void one(std::string_view name, std::string_view type, std::string_view help, Value value) {
    begin(name, type, help);
    sample("", value);
  }
  std::string str() && { return std::move(out_); }

 private:
  std::string out_;
  std::string name_;
};

void add_machine(Metrics& out, const MachineUse& use) {
  if (use.processes_cpu_percent)
    out.one("headway_process_cpu_ratio", "gauge", "Processors kept busy by the recorded processes.",
            *use.processes_cpu_percent / 100);
  if (use.resident_bytes)
    out.one("headway_process_resident_bytes", "gauge", "Resident memory of the recorded processes.",
            *use.resident_bytes);
  if (use.machine_cpu_percent)
    out.one("headway_machine_cpu_ratio", "gauge", "Busy share of all processors.",
            *use.machine_cpu_percent / 100);
  if (use.gpus.empty()) return;
  out.begin("headway_gpu_busy_ratio", "gauge", "Share of time in which the GPU ran a kernel.");
  for (const GpuUse& gpu : use.gpus)
    out.sample(fmt::format("gpu=\"{}\"", gpu.device), gpu.busy_percent / 100);
  out.begin("headway_gpu_memory_used_bytes", "gauge", "GPU memory in use.");
  for (const GpuUse& gpu : use.gpus)
    if (gpu.memory_bytes > 0) out.sample(fmt::format("gpu=\"{}\"", gpu.device), gpu.memory_bytes);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

struct HostAndPort {
  std::string host;
  std::string port;
};

HostAndPort parse(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  HostAndPort result{"127.0.0.1", where};
  if (colon != std::string::npos) result = {where.substr(0, colon), where.substr(colon + 1)};
  if (result.host.size() > 2 && result.host.front() == '[' && result.host.back() == ']')
    result.host = result.host.substr(1, result.host.size() - 2);
  const bool number = !result.port.empty() && result.port.size() <= 5 &&
                      result.port.find_first_not_of("0123456789") == std::string::npos;
  if (!number || std::stoi(result.port) > 65535 || result.host.empty())
    fail_usage("--prometheus {}: expected PORT or HOST:PORT, for example 9464.",
               escape_terminal(where));
  return result;
}

std::string address_of(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length);
  std::array<char, 256> host{};
  std::array<char, 16> port{};
  ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, host.data(), host.size(), port.data(),
                port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  const bool six = own.ss_family == AF_INET6;
  return fmt::format("http://{}{}{}:{}/metrics", six ? "[" : "", host.data(), six ? "]" : "",
                     port.data());
}

std::string http(std::string_view status, std::string_view type, std::string_view body,
                 bool with_body) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, type, body.size(), with_body ? body : "");
}

}  // namespace

std::string metrics_text(const Figures& figures) {
  Metrics out;
  out.begin("headway_run_info", "gauge", "The followed trace.");
  out.sample(fmt::format("file=\"{}\"", label(figures.file)), 1);
  out.one("headway_recording", "gauge", "1 during the recording, else 0.",
          figures.phase == Phase::kRunning || figures.phase == Phase::kStalled ? 1 : 0);
  if (figures.phase == Phase::kWaiting) return std::move(out).str();
  out.one("headway_run_seconds", "gauge", "Time since the start of the recording.",
          figures.elapsed.seconds());
  out.one("headway_steps_total", "counter", "Finished training steps.", figures.steps_done);
  if (figures.step_now.ns > 0 && figures.steps_now > 0) {
    out.begin("headway_step_cost_seconds", "gauge",
              "Step cost (including time between steps), over the last steps or the run.");
    out.sample("over=\"last\"", figures.step_now.seconds());
    if (figures.steps_run > 0) out.sample("over=\"run\"", figures.step_run.seconds());
    out.begin("headway_step_class_seconds", "gauge",
              "Time of the last steps by class, per step; sums to the step cost.");
    for (const analyzer::TimeClassInfo& one : analyzer::time_classes())
      out.sample(fmt::format("class=\"{}\"", one.id), figures.classes[one.time_class].seconds());
  }
  if (figures.samples_per_s)
    out.one("headway_samples_per_second", "gauge", "Samples of all ranks, over the last steps.",
            *figures.samples_per_s);
  if (!figures.ranks.empty()) {
    out.begin("headway_rank_step_cost_seconds", "gauge", "Step cost of each rank.");
    for (const RankStep& rank : figures.ranks)
      out.sample(fmt::format("rank=\"{}\"", rank.rank), rank.step.seconds());
  }
  out.one("headway_dropped_events_total", "counter", "Events lost by the recording.",
          figures.dropped);
  add_machine(out, figures.machine);
  return std::move(out).str();
}

std::string http_answer(std::string_view request, const std::function<std::string()>& metrics) {
  constexpr std::string_view kPlain = "text/plain; charset=utf-8";
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || !line.substr(second + 1).starts_with("HTTP/1."))
    return http("400 Bad Request", kPlain, "not a request of HTTP/1\n", true);
  const std::string_view method = line.substr(0, first);
  std::string_view path = line.substr(first + 1, second - first - 1);
  path = path.substr(0, path.find('?'));
  const bool head = method == "HEAD";
  if (!head && method != "GET")
    return http("405 Method Not Allowed", kPlain, "only GET and HEAD\n", true);
  if (path != "/metrics") return http("404 Not Found", kPlain, "see /metrics\n", !head);
  return http("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics(), !head);
}

MetricsServer::MetricsServer(const std::string& where, std::function<std::string()> metrics)
    : metrics_(std::move(metrics)) {
  const HostAndPort wanted = parse(where);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(wanted.host.c_str(), wanted.port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  if (code != 0) fail_usage("--prometheus {}: {}.", escape_terminal(where), ::gai_strerror(code));
  int error = 0;
  for (const addrinfo* one = list.get(); one && listening_ < 0; one = one->ai_next) {
    const int socket =
        ::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol);
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (socket >= 0 && ::bind(socket, one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket, 16) == 0) {
      listening_ = socket;
      break;
    }
    error = errno;
    if (socket >= 0) ::close(socket);
  }
  if (listening_ < 0)
    fail_usage("--prometheus {}: cannot listen: {}.", escape_terminal(where),
               system_error_text(error));
  if (::pipe2(stop_, O_CLOEXEC) != 0)
    fail_internal("cannot create a pipe: {}.", system_error_text(errno));
  address_ = address_of(listening_);
  thread_ = std::thread([this] { serve(); });
}

MetricsServer::~MetricsServer() {
  ::close(stop_[1]);
  thread_.join();
  ::close(stop_[0]);
  ::close(listening_);
}

void MetricsServer::serve() {
  for (;;) {
    pollfd items[] = {{listening_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    if (::poll(items, 2, -1) < 0 && errno != EINTR) return;
    if (items[1].revents != 0) return;
    const int connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) continue;
    answer(connection);
    ::close(connection);
  }
}

void MetricsServer::answer(int connection) const {
  std::string request;
  std::array<char, 1024> bytes{};
  const std::int64_t until = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kMostRequest) {
    const std::int64_t left = until - clock_ns(CLOCK_MONOTONIC);
    pollfd items[] = {{connection, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    if (left <= 0 || ::poll(items, 2, static_cast<int>(left / 1'000'000) + 1) <= 0 ||
        items[1].revents != 0)
      return;
    const ssize_t got = ::read(connection, bytes.data(), bytes.size());
    if (got <= 0) return;
    request.append(bytes.data(), static_cast<std::size_t>(got));
  }
  write_all(connection, http_answer(request, metrics_));
  ::shutdown(connection, SHUT_WR);
}

}  // namespace headway::cli::live
