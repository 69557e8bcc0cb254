// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::kernels {

/// A channels-last array is `rows` x `channels`; per-channel loops need a fixed number of lanes
/// that stay in registers over many rows. A panel is a piece of such an array: `rows` rows of
/// `width` <= kLanes contiguous floats, `stride` floats apart. Lane i belongs to channel (channel +
/// i) % channels. Where `channels` divides kLanes, several rows form one full-width row.
inline constexpr int kLanes = 32;

struct Panel {
  std::int64_t offset;  ///< of the first float
  std::int64_t rows;
  std::int64_t stride;
  int width;
  int channel;
};

/// Calls f(panel) for panels that tile rows [begin, end) exactly once.
template <class F>
void for_each_panel(std::int64_t begin, std::int64_t end, int channels, const F& f) {
  if (kLanes % channels == 0) {
    const std::int64_t joined = kLanes / channels;
    const std::int64_t full = (end - begin) / joined;
    if (full > 0) f(Panel{begin * channels, full, kLanes, kLanes, 0});
    const std::int64_t rest = begin + full * joined;
    if (rest < end) f(Panel{rest * channels, end - rest, channels, channels, 0});
    return;
  }
  for (int channel = 0; channel < channels; channel += kLanes) {
    f(Panel{begin * channels + channel, end - begin, channels, std::min(kLanes, channels - channel),
            channel});
  }
}

/// Fills lanes[i] with values[channel of lane i].
inline void spread(const Panel& panel, int channels, const float* values, float* lanes) {
  for (int i = 0; i < panel.width; ++i) lanes[i] = values[(panel.channel + i) % channels];
}

}  // namespace headway::kernels
