// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "reference_trainer/data/boxes.h"
#include "reference_trainer/models/resnet.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

/// A detector in the manner of SSD (Liu et al., 2016) behind a residual network: its second and third stage
/// and convolutions at stride 2 after them make the feature maps of ssd_feature_maps(size); on each, a 3x3
/// convolution scores the classes of every anchor and another one moves the anchors.
struct SsdOptions {
  std::int64_t batch = 32;
  int size =
      300;  ///< pixels a side, a size of which the backbone's maps are those of ssd_feature_maps()
  int classes = 20;  ///< without background
  int depth = 20;    ///< of the residual network, as in ResnetOptions
  int width = 16;
  Assign assign = Assign::kLoader;
  std::int64_t boxes = 1;          ///< places for boxes per image, where the device matches them
  bool pick_on_processor = false;  ///< which anchors the loss counts is decided there
  bool training = true;
};

/// `images` are [batch,size,size,3]. With kLoader `labels` are int32 [batch·anchors] and `boxes` the offsets
/// [batch·anchors,4]; else `labels` are the classes of the boxes int32 [batch·boxes], negative: none, and
/// `boxes` [batch·boxes,4] left, top, right, bottom. figures: loss, matched anchors with the right class,
/// matched anchors.
Model build_ssd(const SsdOptions& options);

}  // namespace headway::trainer
