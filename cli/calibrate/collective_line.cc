// SPDX-License-Identifier: MIT
#include "cli/calibrate/collective_line.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "common/statistics.h"

namespace headway::calibrate {
namespace {

/// Huber's threshold: deviations up to this count by their square.
constexpr double kUsualDeviation = 0.1;
/// The weights of nine points have settled after ten rounds.
constexpr int kRounds = 30;

struct Point {
  double bytes;
  double ns;
  double weight = 1;
};

struct Line {
  double latency = 0;
  double per_byte = 0;
  double deviation(const Point& point) const {
    return std::fabs(latency + per_byte * point.bytes - point.ns) / point.ns;
  }
};

/// Weighted least squares of deviations as shares of the time.
Line fit(const std::vector<Point>& points) {
  double w = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (const Point& point : points) {
    const double weight = point.weight / (point.ns * point.ns);
    w += weight;
    x += weight * point.bytes;
    y += weight * point.ns;
    xx += weight * point.bytes * point.bytes;
    xy += weight * point.bytes * point.ns;
  }
  const double determinant = w * xx - x * x;
  Line line{(y * xx - x * xy) / determinant, (w * xy - x * y) / determinant};
  if (line.latency < 0) line = {0, xy / xx};
  if (line.per_byte < 0) line = {y / w, 0};
  return line;
}

}  // namespace

MeasuredCollective fit_line(const std::vector<SizeTimes>& sizes) {
  std::vector<Point> points;
  MeasuredCollective result;
  for (const SizeTimes& size : sizes) {
    const double ns = size.ns.empty() ? 0 : median(size.ns);
    if (size.bytes <= 0 || ns <= 0) continue;
    points.push_back({static_cast<double>(size.bytes), ns});
    result.samples += static_cast<std::int64_t>(size.ns.size());
  }
  const auto [least, most] = std::ranges::minmax_element(points, {}, &Point::bytes);
  if (points.empty() || least->bytes == most->bytes)
    fail_internal("a fit needs times of two or more message sizes");
  Line line;
  for (int round = 0; round < kRounds; ++round) {
    line = fit(points);
    for (Point& point : points) {
      const double off = line.deviation(point);
      point.weight = off <= kUsualDeviation ? 1 : kUsualDeviation / off;
    }
  }
  std::vector<double> deviations;
  for (const Point& point : points) deviations.push_back(line.deviation(point));
  result.latency_ns = line.latency;
  // Limits the bandwidth where the fitted time per byte is too small to measure.
  result.bytes_per_s = 1e9 / std::max(line.per_byte, 1e-6);
  result.deviation = median(deviations);
  result.least_bytes = static_cast<std::int64_t>(least->bytes);
  result.most_bytes = static_cast<std::int64_t>(most->bytes);
  return result;
}

}  // namespace headway::calibrate
