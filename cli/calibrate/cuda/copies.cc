// SPDX-License-Identifier: MIT
#include <vector>

#include "cli/calibrate/cuda/measurements.h"

namespace headway::calibrate {
namespace {

constexpr std::size_t kBytes = 64 << 20;
constexpr int kRepetitions = 10;

std::optional<FigureValue> rates(Session& session, const std::function<void()>& copy) {
  session.time(copy);  // warms up
  std::vector<double> samples;
  for (int i = 0; i < kRepetitions; ++i)
    samples.push_back(static_cast<double>(kBytes) / session.time(copy));
  return figure_of(std::move(samples));
}

}  // namespace

void measure_copies(Session& session, FigureSet& figures) {
  const Driver& driver = session.driver();
  const DeviceMemory device(session.driver(), kBytes);
  auto to_device = [&](const void* from) {
    return rates(session, [&] {
      HEADWAY_CU(driver, cuMemcpyHtoDAsync, device.address(), from, kBytes, session.stream());
    });
  };
  auto from_device = [&](void* to) {
    return rates(session, [&] {
      HEADWAY_CU(driver, cuMemcpyDtoHAsync, to, device.address(), kBytes, session.stream());
    });
  };
  std::vector<char> pageable(kBytes, 'h');
  figures[MachineFigure::kToDevicePageable] = to_device(pageable.data());
  figures[MachineFigure::kFromDevicePageable] = from_device(pageable.data());
  const PinnedMemory pinned(driver, kBytes);
  std::copy(pageable.begin(), pageable.end(), static_cast<char*>(pinned.address()));
  figures[MachineFigure::kToDevicePinned] = to_device(pinned.address());
  figures[MachineFigure::kFromDevicePinned] = from_device(pinned.address());
}

}  // namespace headway::calibrate
