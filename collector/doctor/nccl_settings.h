// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "collector/doctor/system.h"

namespace headway::doctor {

/// A setting of NCCL and where it comes from: "the environment", "/etc/nccl.conf".
struct NcclSetting {
  std::string value;
  std::string source;
};

/// All NCCL_… settings that NCCL would use in this process, by name. The environment has priority, then the user's file
/// ($NCCL_CONF_FILE, else ~/.nccl.conf), then /etc/nccl.conf.
std::map<std::string, NcclSetting> nccl_settings(const System& system);

/// Whether the value of NCCL_IB_HCA allows the port: "mlx5_0:1,mlx5_1" (beginnings of names, with or without a port),
/// "=mlx5_1" (whole names), "^mlx5_3" and "^=mlx5_3" (all except these).
bool may_use_port(const std::string& ib_hca, const std::string& adapter, const std::string& port);

/// The value of one setting; empty when it is not set.
std::string nccl_setting(const System& system, const std::string& name);

}  // namespace headway::doctor
