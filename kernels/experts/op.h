// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

/// What a layer of experts does besides products: each token goes to `choices` of the experts, to those that its router
/// finds likeliest (Shazeer et al. 2017; Fedus et al. 2021).
namespace headway::kernels {

struct RouteShape {
  std::int64_t tokens = 0;
  std::int64_t experts = 0;
  std::int64_t choices = 1;   ///< experts of a token
  std::int64_t capacity = 0;  ///< places of an expert; what comes when they are taken is dropped

  std::int64_t places() const { return experts * capacity; }
};

/// probabilities [tokens, experts] -> for each token and choice the place expert·capacity + number, or -1 where the token is
/// dropped, and the expert's probability. Tokens are served in their order. `favour`, by expert, multiplies what experts are
/// chosen by, but not the result; may be null.
void route_tokens(const RouteShape& shape, const float* favour, const float* probabilities,
                  std::int32_t* places, float* gates);
/// The gradient of `gates` as one of the probabilities.
void route_tokens_backward(const RouteShape& shape, const std::int32_t* places,
                           const float* d_gates, float* d_probabilities);

/// x [tokens, columns] -> [places, columns]: every row at its token's places; the other places are zero.
void dispatch_tokens(const RouteShape& shape, std::int64_t columns, const std::int32_t* places,
                     const float* x, float* table);
/// d_table -> dx: the sum over a token's places, times `scale`.
void dispatch_tokens_backward(const RouteShape& shape, std::int64_t columns,
                              const std::int32_t* places, float scale, const float* d_table,
                              float* dx);

/// table [places, columns] -> y [tokens, columns]: the sum over a token's places, each times its gate.
void combine_tokens(const RouteShape& shape, std::int64_t columns, const std::int32_t* places,
                    const float* gates, const float* table, float* y);
/// d_table is times `scale`, d_gates is not.
void combine_tokens_backward(const RouteShape& shape, std::int64_t columns,
                             const std::int32_t* places, const float* gates, const float* table,
                             float scale, const float* dy, float* d_table, float* d_gates);

}  // namespace headway::kernels
