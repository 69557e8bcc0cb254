// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "cli/live/figures.h"

namespace headway::cli::live {

/// The figures in the text format of Prometheus, version 0.0.4. Unknown figures are left out.
std::string metrics_text(const Figures& figures);

/// The HTTP answer to a request: the metrics for /metrics, an error for anything else.
std::string http_answer(std::string_view request, const std::function<std::string()>& metrics);

/// Serves /metrics over HTTP on a thread of its own, one request after another.
class MetricsServer {
 public:
  /// `where`: "9464", "0.0.0.0:9464" or "[::1]:9464". Without a host the server is reachable from
  /// this machine only; port 0 takes a free port. Throws Error(kUsage) when the address is not
  /// available.
  MetricsServer(const std::string& where, std::function<std::string()> metrics);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// "http://127.0.0.1:9464/metrics"
  const std::string& address() const { return address_; }

 private:
  void serve();
  void answer(int connection) const;

  std::function<std::string()> metrics_;
  std::string address_;
  int listening_ = -1;
  int stop_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace headway::cli::live
