// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "cli/calibrate/cuda/measurements.h"

namespace headway::calibrate {

void measure_device_triad(Session& session, FigureSet& figures) {
  // Each array is over twice the largest L2 (126 MiB), unless the device is nearly full.
  constexpr std::size_t kWanted = 256 << 20;
  constexpr int kRepetitions = 15;
  const std::size_t bytes =
      std::min(kWanted, session.context().free_bytes() / 8) & ~std::size_t{4095};
  const Driver& driver = session.driver();
  const DeviceMemory a(driver, bytes), b(driver, bytes), c(driver, bytes);
  const std::vector<float> values(bytes / sizeof(float), 1.5F);
  cuda::upload(driver, b.address(), values.data(), bytes);
  cuda::upload(driver, c.address(), values.data(), bytes);
  auto triad = [&] { session.launch_triad(a.address(), b.address(), c.address(), bytes / 16); };
  session.time(triad);  // warms up
  std::vector<double> rates;
  for (int i = 0; i < kRepetitions; ++i)
    rates.push_back(3.0 * static_cast<double>(bytes) / session.time(triad));
  figures[MachineFigure::kDeviceTriad] = figure_of(std::move(rates));
}

}  // namespace headway::calibrate
