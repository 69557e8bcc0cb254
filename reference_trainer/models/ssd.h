// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "reference_trainer/data/boxes.h"
#include "reference_trainer/models/resnet.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

/// A detector similar to SSD (Liu et al., 2016) behind a residual network. The network's second and
/// third stage, and convolutions at stride 2 after them, make the feature maps of
/// ssd_feature_maps(size). On each map, one 3x3 convolution scores the classes of every anchor, and
/// another one moves the anchors.
struct SsdOptions {
  std::int64_t batch = 32;
  int size = 300;    ///< pixels a side; the backbone's maps must match ssd_feature_maps()
  int classes = 20;  ///< not counting background
  int depth = 20;    ///< of the residual network, as in ResnetOptions
  int width = 16;
  Matching matching = Matching::kOverlap;  ///< kSimota: not with Assign::kLoader
  Assign assign = Assign::kLoader;
  std::int64_t boxes = 1;          ///< room for boxes per image, where the device matches them
  bool pick_on_processor = false;  ///< the processor picks the anchors that the loss counts
  bool training = true;
};

/// `images` are [batch,size,size,3]. With kLoader, `labels` are int32 [batch·anchors], and `boxes`
/// are the offsets [batch·anchors,4]. Otherwise `labels` are the classes of the boxes, int32
/// [batch·boxes], negative for none, and `boxes` are [batch·boxes,4]: left, top, right, bottom.
/// figures: loss, matched anchors with the right class, matched anchors.
Model build_ssd(const SsdOptions& options);

}  // namespace headway::trainer
