// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/experts/op.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

template <class Body>
void for_each_token(const RouteShape& shape, std::int64_t columns, const Body& body) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kFlatGrain / std::max<std::int64_t>(1, columns));
  parallel_for(shape.tokens, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token = begin; token < end; ++token) body(token);
  });
}

void clear(std::int64_t count, float* values) {
  std::fill_n(values, count, 0.0F);
}

}  // namespace

void route_tokens(const RouteShape& shape, const float* favour, const float* probabilities,
                  std::int32_t* places, float* gates) {
  std::vector<std::int64_t> taken(static_cast<std::size_t>(shape.experts));
  std::vector<bool> chosen(static_cast<std::size_t>(shape.experts));
  for (std::int64_t token = 0; token < shape.tokens; ++token) {
    const float* row = probabilities + token * shape.experts;
    std::fill(chosen.begin(), chosen.end(), false);
    for (std::int64_t choice = 0; choice < shape.choices; ++choice) {
      std::int64_t best = -1;
      float most = -1;
      for (std::int64_t e = 0; e < shape.experts; ++e) {
        const float score = row[e] * (favour ? favour[e] : 1.0F);
        if (chosen[static_cast<std::size_t>(e)] || score <= most) continue;
        most = score;
        best = e;
      }
      const std::int64_t at = token * shape.choices + choice;
      chosen[static_cast<std::size_t>(best)] = true;
      std::int64_t& number = taken[static_cast<std::size_t>(best)];
      const bool fits = number < shape.capacity;
      places[at] = fits ? static_cast<std::int32_t>(best * shape.capacity + number) : -1;
      gates[at] = row[best];
      number += fits ? 1 : 0;
    }
  }
}

void route_tokens_backward(const RouteShape& shape, const std::int32_t* places,
                           const float* d_gates, float* d_probabilities) {
  clear(shape.tokens * shape.experts, d_probabilities);
  for (std::int64_t i = 0; i < shape.tokens * shape.choices; ++i)
    if (places[i] >= 0)
      d_probabilities[i / shape.choices * shape.experts + places[i] / shape.capacity] = d_gates[i];
}

void dispatch_tokens(const RouteShape& shape, std::int64_t columns, const std::int32_t* places,
                     const float* x, float* table) {
  clear(shape.places() * columns, table);
  for_each_token(shape, columns, [&](std::int64_t token) {
    for (std::int64_t choice = 0; choice < shape.choices; ++choice)
      if (const std::int64_t place = places[token * shape.choices + choice]; place >= 0)
        std::memcpy(table + place * columns, x + token * columns,
                    static_cast<std::size_t>(columns) * sizeof(float));
  });
}

void dispatch_tokens_backward(const RouteShape& shape, std::int64_t columns,
                              const std::int32_t* places, float scale, const float* d_table,
                              float* dx) {
  for_each_token(shape, columns, [&](std::int64_t token) {
    float* row = dx + token * columns;
    clear(columns, row);
    for (std::int64_t choice = 0; choice < shape.choices; ++choice)
      if (const std::int64_t place = places[token * shape.choices + choice]; place >= 0)
        for (std::int64_t c = 0; c < columns; ++c) row[c] += scale * d_table[place * columns + c];
  });
}

void combine_tokens(const RouteShape& shape, std::int64_t columns, const std::int32_t* places,
                    const float* gates, const float* table, float* y) {
  for_each_token(shape, columns, [&](std::int64_t token) {
    float* row = y + token * columns;
    clear(columns, row);
    for (std::int64_t choice = 0; choice < shape.choices; ++choice) {
      const std::int64_t at = token * shape.choices + choice;
      if (places[at] < 0) continue;
      const float* from = table + places[at] * columns;
      for (std::int64_t c = 0; c < columns; ++c) row[c] += gates[at] * from[c];
    }
  });
}

void combine_tokens_backward(const RouteShape& shape, std::int64_t columns,
                             const std::int32_t* places, const float* gates, const float* table,
                             float scale, const float* dy, float* d_table, float* d_gates) {
  clear(shape.places() * columns, d_table);
  for_each_token(shape, columns, [&](std::int64_t token) {
    const float* row = dy + token * columns;
    for (std::int64_t choice = 0; choice < shape.choices; ++choice) {
      const std::int64_t at = token * shape.choices + choice;
      d_gates[at] = 0;
      if (places[at] < 0) continue;
      const float* from = table + places[at] * columns;
      float* to = d_table + places[at] * columns;
      float sum = 0;
      for (std::int64_t c = 0; c < columns; ++c) {
        to[c] = scale * gates[at] * row[c];
        sum += row[c] * from[c];
      }
      d_gates[at] = sum;
    }
  });
}

}  // namespace headway::kernels
