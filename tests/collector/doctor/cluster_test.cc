// SPDX-License-Identifier: MIT
// Nodes of clusters as /sys and /proc show them: a good one, and what can be wrong with it.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "collector/doctor/adapters.h"
#include "collector/doctor/check.h"
#include "collector/doctor/checks.h"
#include "collector/doctor/nccl_settings.h"
#include "collector/doctor/pci.h"
#include "tests/collector/doctor/made_up_system.h"

namespace headway::doctor {
namespace {

using test::Environment;
using test::MadeUp;

/// A PCI function at this path of addresses, as the kernel shows it.
void add_pci(MadeUp& system, const std::string& root, const std::vector<std::string>& path,
             int node) {
  std::string folder = "/sys/devices/" + root;
  for (const std::string& address : path) {
    folder += "/" + address;
    if (!system.exists("/sys/bus/pci/devices/" + address))
      system.link("/sys/bus/pci/devices/" + address, folder);
  }
  const std::string device = "/sys/bus/pci/devices/" + path.back();
  system.write(device + "/numa_node", std::to_string(node));
  system.write(device + "/local_cpulist", node == 0 ? "0-55" : "56-111");
}

/// The configuration space of a bridge: a capability of another kind, then ACS with this control.
std::string config_with_acs(std::uint16_t control) {
  std::string bytes(4096, '\x01');
  auto put = [&](std::size_t at, std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i)
      bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
  };
  put(0x100, 0x0001 | 1u << 16 | 0x150u << 20, 4);  // error reporting, then at 0x150
  put(0x150, 0x000d | 1u << 16, 4);                 // ACS, the last
  put(0x154, 0x005f, 2);
  put(0x156, control, 2);
  return bytes;
}

struct Place {
  std::string root;
  std::string port;      ///< of the host bridge
  std::string upstream;  ///< of the switch
  std::string gpu_port;
  std::string nic_port;
  std::string gpu;
  std::string nic;
};

/// Of GPU and adapter `i` of eight: a switch for each pair.
Place place(int i) {
  const int bus = 0x10 * (i + 1);
  auto at = [&](int plus, int slot) {
    return fmt::format("0000:{:02x}:{:02x}.0", bus + plus, slot);
  };
  return {fmt::format("pci0000:{:02x}", bus),
          at(0, 1),
          at(1, 0),
          at(2, 0),
          at(2, 1),
          at(3, 0),
          at(4, 0)};
}

void add_port(MadeUp& system, const std::string& adapter, const std::string& link_layer,
              const std::string& state = "4: ACTIVE",
              const std::string& rate = "400 Gb/sec (4X NDR)") {
  const std::string port = "/sys/class/infiniband/" + adapter + "/ports/1";
  system.write(port + "/link_layer", link_layer);
  system.write(port + "/state", state);
  system.write(port + "/rate", rate);
}

void add_gids(MadeUp& system, const std::string& adapter) {
  const std::string port = "/sys/class/infiniband/" + adapter + "/ports/1";
  const std::string local = "fe80:0000:0000:0000:a288:c2ff:fe3b:506a";
  const std::string ipv4 = "0000:0000:0000:0000:0000:ffff:0ac8:010a";
  const std::string none = "0000:0000:0000:0000:0000:0000:0000:0000";
  int i = 0;
  for (const auto& [gid, type] :
       {std::pair(local, "IB/RoCE v1"), std::pair(local, "RoCE v2"), std::pair(ipv4, "IB/RoCE v1"),
        std::pair(ipv4, "RoCE v2"), std::pair(none, "")}) {
    system.write(port + "/gids/" + std::to_string(i), gid);
    if (*type) system.write(port + "/gid_attrs/types/" + std::to_string(i), type);
    ++i;
  }
}

/// Eight GPUs with an adapter beside each, four on each socket.
void build_node(MadeUp& system, const std::string& link_layer = "InfiniBand") {
  for (int i = 0; i < 8; ++i) {
    const Place its = place(i);
    const int node = i / 4;
    add_pci(system, its.root, {its.port, its.upstream, its.gpu_port, its.gpu}, node);
    add_pci(system, its.root, {its.port, its.upstream, its.nic_port, its.nic}, node);
    for (const std::string& bridge : {its.port, its.upstream, its.gpu_port, its.nic_port})
      system.write("/sys/bus/pci/devices/" + bridge + "/config", config_with_acs(0));
    system.write("/proc/driver/nvidia/gpus/" + its.gpu + "/information", "Model: NVIDIA H100");
    const std::string name = fmt::format("mlx5_{}", i);
    const std::string folder = "/sys/devices/" + its.root + "/" + its.port + "/" + its.upstream +
                               "/" + its.nic_port + "/" + its.nic;
    system.link("/sys/class/infiniband/" + name + "/device", folder);
    add_port(system, name, link_layer);
    if (link_layer == "Ethernet") add_gids(system, name);
    system.links.push_back({.active = 18, .inactive = 0});
  }
  system.write("/sys/module/nvidia_peermem/version", "550.54");
  system.write("/proc/self/status", "Name:\theadway\nCpus_allowed_list:\t0-55");
}

const std::vector<Finding (*)(const System&)> kClusterChecks = {
    check_rdma,  check_gpu_adapters, check_ports,  check_gids, check_memlock,      check_acs,
    check_iommu, check_affinity,     check_nvlink, check_nccl, check_topology_file};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("doctor: a good node has nothing to complain of") {
  MadeUp system(Environment{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}});
  build_node(system);
  for (auto check : kClusterChecks) {
    const Finding finding = check(system);
    CAPTURE(finding.text);
    CHECK((finding.status == Status::kOk || finding.status == Status::kNote));
    CHECK(finding.remedy.empty());
  }
  CHECK(check_rdma(system).text == "8 adapters, nvidia_peermem is loaded");
  CHECK(has(check_gpu_adapters(system).text, "GPU 0 mlx5_0 PIX, GPU 1 mlx5_1 PIX"));
  CHECK(check_ports(system).text == "8 at 400 Gb/sec (4X NDR)");
  CHECK(check_acs(system).status == Status::kOk);
  CHECK(check_nvlink(system).text == "18 links of each GPU are active");
  CHECK(check_affinity(system).status == Status::kOk);
}

TEST_CASE(
    "doctor: a cloud machine without adapters and without what its host shows has notes only") {
  MadeUp system;
  system.write("/proc/driver/nvidia/gpus/0000:00:1e.0/information", "Model: NVIDIA A10G");
  add_pci(system, "pci0000:00", {"0000:00:1e.0"}, -1);
  system.write("/proc/cpuinfo", "flags : fpu hypervisor");
  system.limits[RLIMIT_MEMLOCK] = 64 << 10;
  for (auto check : kClusterChecks) {
    const Finding finding = check(system);
    CAPTURE(finding.text);
    CHECK((finding.status == Status::kOk || finding.status == Status::kNote));
  }
}

TEST_CASE("doctor: distances are those of nvidia-smi topo") {
  MadeUp system;
  auto at = [&](const std::string& root, std::vector<std::string> path, int node) {
    add_pci(system, root, path, node);
    return *pci_device(system, "/sys/bus/pci/devices/" + path.back());
  };
  const PciDevice gpu =
      at("pci0000:10", {"0000:10:01.0", "0000:11:00.0", "0000:12:00.0", "0000:13:00.0"}, 0);
  CHECK(distance(gpu, at("pci0000:10",
                         {"0000:10:01.0", "0000:11:00.0", "0000:12:01.0", "0000:14:00.0"}, 0)) ==
        Distance::kPix);
  CHECK(distance(gpu, at("pci0000:10",
                         {"0000:10:01.0", "0000:11:00.0", "0000:12:02.0", "0000:15:00.0",
                          "0000:16:00.0", "0000:17:00.0"},
                         0)) == Distance::kPxb);
  CHECK(distance(gpu, at("pci0000:10", {"0000:10:02.0", "0000:18:00.0"}, 0)) == Distance::kPhb);
  CHECK(distance(gpu, at("pci0000:20", {"0000:20:01.0", "0000:21:00.0"}, 0)) == Distance::kNode);
  CHECK(distance(gpu, at("pci0000:80", {"0000:80:01.0", "0000:81:00.0"}, 1)) == Distance::kSys);
  CHECK(gpu.numa_node == 0);
  CHECK(gpu.root == "pci0000:10");
  CHECK(!pci_device(system, "/sys/bus/pci/devices/0000:99:00.0"));
}

TEST_CASE(
    "doctor: bridges that redirect requests between devices are named, with what switches it off") {
  MadeUp system;
  build_node(system);
  system.write("/sys/bus/pci/devices/" + place(2).nic_port + "/config", config_with_acs(0x1d));
  const Finding finding = check_acs(system);
  CHECK(finding.status == Status::kWarning);
  CHECK(has(finding.text, "1 of 16 bridges"));
  CHECK(has(finding.text, place(2).nic_port));
  CHECK(has(finding.remedy, "ECAP_ACS+0x6.w=0000"));
  // Source validation alone turns nothing away; with ATS translated requests pass.
  system.write("/sys/bus/pci/devices/" + place(2).nic_port + "/config", config_with_acs(0x01));
  CHECK(check_acs(system).status == Status::kOk);
  system.write("/sys/bus/pci/devices/" + place(2).nic_port + "/config", config_with_acs(0x5d));
  CHECK(check_acs(system).status == Status::kNote);
  // What is above the switch is not between its devices.
  MadeUp above;
  build_node(above);
  above.write("/sys/bus/pci/devices/" + place(2).port + "/config", config_with_acs(0x1d));
  CHECK(check_acs(above).status == Status::kOk);
}

TEST_CASE(
    "doctor: of the configuration space others than root see 64 bytes, and damaged ones do no "
    "harm") {
  MadeUp system;
  build_node(system);
  system.write("/sys/bus/pci/devices/" + place(0).gpu_port + "/config", std::string(64, 'x'));
  CHECK(check_acs(system).status == Status::kNote);
  CHECK(has(check_acs(system).text, "root"));
  std::string round = config_with_acs(0x1d);
  round[0x100] = 2;
  round[0x102] = 0;
  round[0x103] = 0x10;  // its own place again
  system.write("/sys/bus/pci/devices/" + place(0).gpu_port + "/config", round);
  CHECK(read_acs(system, place(0).gpu_port).control == 0);
  system.write("/sys/bus/pci/devices/" + place(0).gpu_port + "/config", std::string(300, '\xff'));
  CHECK(read_acs(system, place(0).gpu_port).control == 0);
}

TEST_CASE("doctor: RoCE needs an index that is v2 and of an IPv4 address on every port") {
  MadeUp chosen;
  build_node(chosen, "Ethernet");
  CHECK(check_gids(chosen).status == Status::kOk);
  CHECK(has(check_gids(chosen).text, "at index 3 (8 ports)"));
  for (const auto& [index, part] : {std::pair("0", "is RoCE v1"), std::pair("1", "IPv4"),
                                    std::pair("4", "is not set"), std::pair("9", "is not set")}) {
    MadeUp system(Environment{{"NCCL_IB_GID_INDEX", index}});
    build_node(system, "Ethernet");
    const Finding finding = check_gids(system);
    CAPTURE(index);
    CHECK(finding.status == Status::kWarning);
    CHECK(has(finding.text, part));
    CHECK(has(finding.remedy, "at 3 (8 ports)"));
  }
  MadeUp right(Environment{{"NCCL_IB_GID_INDEX", "3"}});
  build_node(right, "Ethernet");
  CHECK(check_gids(right).status == Status::kOk);
  // An interface without an address.
  MadeUp bare;
  build_node(bare, "Ethernet");
  bare.remove("/sys/class/infiniband/mlx5_5/ports/1/gids");
  CHECK(check_gids(bare).status == Status::kWarning);
  CHECK(has(check_gids(bare).text, "mlx5_5:1"));
}

TEST_CASE("doctor: a limit of locked memory stops RDMA, and nothing else") {
  MadeUp system;
  build_node(system);
  CHECK(check_memlock(system).status == Status::kOk);
  system.limits[RLIMIT_MEMLOCK] = 64 << 10;
  CHECK(check_memlock(system).status == Status::kProblem);
  CHECK(has(check_memlock(system).remedy, "memlock=-1"));
  system.limits[RLIMIT_MEMLOCK] = std::uint64_t{1} << 30;
  CHECK(check_memlock(system).status == Status::kWarning);
}

TEST_CASE("doctor: a port that is down, waits, or is slower than the others") {
  MadeUp system;
  build_node(system);
  add_port(system, "mlx5_3", "InfiniBand", "1: DOWN", "10 Gb/sec (4X SDR)");
  CHECK(check_ports(system).status == Status::kWarning);
  CHECK(check_ports(system).text ==
        "7 at 400 Gb/sec (4X NDR) active; not active: mlx5_3:1 (1: DOWN)");
  // The GPU beside it has to go further now.
  CHECK(check_gpu_adapters(system).status == Status::kWarning);
  CHECK(has(check_gpu_adapters(system).text, "GPU 3 mlx5_0 NODE"));
  add_port(system, "mlx5_3", "InfiniBand", "2: INIT");
  CHECK(has(check_ports(system).remedy, "subnet manager"));
  add_port(system, "mlx5_3", "InfiniBand", "4: ACTIVE", "100 Gb/sec (4X EDR)");
  CHECK(has(check_ports(system).text, "slower than others: mlx5_3:1"));
  for (int i = 0; i < 8; ++i) add_port(system, fmt::format("mlx5_{}", i), "InfiniBand", "1: DOWN");
  CHECK(check_ports(system).status == Status::kProblem);
}

TEST_CASE(
    "doctor: a GPU on another socket than its adapter, and a process on another one than its GPU") {
  MadeUp system;
  add_pci(system, "pci0000:80", {"0000:80:01.0", "0000:81:00.0"}, 1);
  system.write("/proc/driver/nvidia/gpus/0000:81:00.0/information", "Model: NVIDIA A100");
  add_pci(system, "pci0000:10", {"0000:10:01.0", "0000:11:00.0"}, 0);
  system.link("/sys/class/infiniband/mlx5_0/device",
              "/sys/devices/pci0000:10/0000:10:01.0/0000:11:00.0");
  add_port(system, "mlx5_0", "InfiniBand");
  CHECK(check_gpu_adapters(system).status == Status::kWarning);
  CHECK(has(check_gpu_adapters(system).text, "GPU 0 mlx5_0 SYS"));
  system.write("/proc/self/status", "Cpus_allowed_list:\t0-55");
  CHECK(check_affinity(system).status == Status::kWarning);
  CHECK(has(check_affinity(system).text, "GPU 0 (node 1, CPUs 56-111)"));
  CHECK(has(check_affinity(system).remedy, "numactl"));
  system.write("/proc/self/status", "Cpus_allowed_list:\t0-111");
  CHECK(check_affinity(system).status == Status::kNote);
  system.write("/proc/self/status", "Cpus_allowed_list:\t60-63");
  CHECK(check_affinity(system).status == Status::kOk);
}

TEST_CASE("doctor: what NCCL_IB_HCA leaves out is not complained of") {
  CHECK(may_use_port("", "mlx5_0", "1"));
  CHECK(may_use_port("mlx5", "mlx5_10", "1"));
  CHECK(may_use_port("mlx5_1", "mlx5_10", "1"));
  CHECK(!may_use_port("=mlx5_1", "mlx5_10", "1"));
  CHECK(!may_use_port("mlx5_1:1,mlx5_2", "mlx5_1", "2"));
  CHECK(may_use_port("mlx5_1:1,mlx5_2", "mlx5_2", "2"));
  CHECK(!may_use_port("^mlx5_1:2", "mlx5_1", "2"));
  CHECK(may_use_port("^mlx5_1:2", "mlx5_1", "1"));
  CHECK(may_use_port("^=mlx5_1", "mlx5_10", "1"));
  for (const char* chosen :
       {"^=mlx5_8", "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7"}) {
    MadeUp system(Environment{{"NCCL_IB_HCA", chosen}});
    build_node(system);
    add_port(system, "mlx5_8", "Ethernet", "1: DOWN", "25 Gb/sec (1X EDR)");
    CHECK(check_ports(system).status == Status::kOk);
    CHECK(check_gpu_adapters(system).status == Status::kOk);
  }
  MadeUp one(Environment{{"NCCL_IB_HCA", "=mlx5_0"}});
  build_node(one);
  CHECK(check_gpu_adapters(one).status == Status::kWarning);
  MadeUp none(Environment{{"NCCL_IB_HCA", "bnxt"}});
  build_node(none);
  CHECK(check_rdma(none).status == Status::kWarning);
  CHECK(check_ports(none).status == Status::kNote);
}

TEST_CASE("doctor: of the visible GPUs each is asked for its CPUs") {
  MadeUp second(Environment{{"CUDA_VISIBLE_DEVICES", "5"}});
  build_node(second);
  CHECK(check_affinity(second).status == Status::kWarning);
  MadeUp unbound;
  build_node(unbound);
  unbound.write("/proc/self/status", "Cpus_allowed_list:\t0-111");
  CHECK(check_affinity(unbound).status == Status::kNote);
  CHECK(has(check_affinity(unbound).text, "2 NUMA nodes"));
}

TEST_CASE("doctor: an IOMMU that translates is told from one that passes through") {
  MadeUp system;
  build_node(system);
  CHECK(check_iommu(system).status == Status::kOk);
  system.write("/sys/class/iommu/dmar0/name", "dmar0");
  CHECK(check_iommu(system).status == Status::kNote);
  for (int i = 0; i < 8; ++i)
    system.write("/sys/bus/pci/devices/" + place(i).gpu + "/iommu_group/type", "identity");
  CHECK(check_iommu(system).status == Status::kOk);
  system.write("/sys/bus/pci/devices/" + place(6).gpu + "/iommu_group/type", "DMA-FQ");
  CHECK(check_iommu(system).status == Status::kWarning);
  CHECK(has(check_iommu(system).text, "1 of 8 GPUs"));
  CHECK(has(check_iommu(system).remedy, "iommu=pt"));
}

TEST_CASE("doctor: without nvidia_peermem, DMA-BUF does it where kernel and driver have it") {
  MadeUp system;
  build_node(system);
  system.remove("/sys/module/nvidia_peermem");
  CHECK(check_rdma(system).status == Status::kWarning);
  system.write("/proc/sys/kernel/osrelease", "6.8.0-45-generic");
  system.write("/proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54");
  CHECK(check_rdma(system).status == Status::kOk);
  system.write("/proc/sys/kernel/osrelease", "5.4.0");
  CHECK(check_rdma(system).status == Status::kWarning);
  MadeUp never(Environment{{"NCCL_NET_GDR_LEVEL", "LOC"}});
  build_node(never);
  CHECK(check_rdma(never).status == Status::kWarning);
}

TEST_CASE("doctor: a GPU with fewer links than the others, and NVSwitches without their manager") {
  MadeUp system;
  build_node(system);
  system.links[4] = {.active = 16, .inactive = 2};
  CHECK(check_nvlink(system).status == Status::kWarning);
  CHECK(has(check_nvlink(system).text, "GPU 4 16"));
  for (System::NvLinks& one : system.links) one = {.active = 0, .inactive = 18};
  CHECK(check_nvlink(system).status == Status::kNote);
  system.write("/dev/nvidia-nvswitch0", "");
  CHECK(check_nvlink(system).status == Status::kProblem);
  system.write("/proc/812/comm", "nv-fabricmanage");
  CHECK(check_nvlink(system).status == Status::kNote);
  system.links.clear();
  CHECK(check_nvlink(system).status == Status::kNote);
}

TEST_CASE("doctor: NCCL's files count like its variables, and a topology file must be there") {
  MadeUp system(Environment{{"HOME", "/home/x"}, {"NCCL_DEBUG", "WARN"}});
  build_node(system);
  system.write("/etc/nccl.conf",
               "# site\nNCCL_IB_HCA = mlx5\nNCCL_DEBUG=TRACE\nNCCL_P2P_DISABLE=1");
  system.write("/home/x/.nccl.conf", "NCCL_P2P_DISABLE=0");
  CHECK(check_nccl(system).status == Status::kOk);
  CHECK(has(check_nccl(system).text, "NCCL_DEBUG=WARN, NCCL_IB_HCA=mlx5, NCCL_P2P_DISABLE=0"));
  system.remove("/home/x/.nccl.conf");
  CHECK(check_nccl(system).status == Status::kWarning);
  CHECK(has(check_nccl(system).text, "NCCL_P2P_DISABLE=1 in /etc/nccl.conf"));
  CHECK(check_topology_file(system).status == Status::kNote);
  system.write("/proc/cpuinfo", "flags\t: fpu hypervisor");
  CHECK(check_topology_file(system).status == Status::kWarning);
  system.write("/var/run/nvidia-topologyd/virtualTopology.xml", "<system/>");
  CHECK(check_topology_file(system).status == Status::kOk);
  MadeUp missing(Environment{{"NCCL_TOPO_FILE", "/opt/topo.xml"}});
  CHECK(check_topology_file(missing).status == Status::kProblem);
}

TEST_CASE("doctor: what is wrong with a node always says what to do") {
  MadeUp system(Environment{{"NCCL_IB_GID_INDEX", "0"}, {"CUDA_VISIBLE_DEVICES", "7"}});
  build_node(system, "Ethernet");
  system.limits[RLIMIT_MEMLOCK] = 65536;
  system.write("/sys/bus/pci/devices/" + place(1).gpu_port + "/config", config_with_acs(0x1d));
  add_port(system, "mlx5_1", "Ethernet", "1: DOWN");
  system.remove("/sys/module/nvidia_peermem");
  int asking = 0;
  for (const Checked& result : run_checks(system)) {
    CAPTURE(result.check->id);
    const bool asks =
        result.finding.status == Status::kWarning || result.finding.status == Status::kProblem;
    CHECK(asks == !result.finding.remedy.empty());
    asking += asks;
  }
  CHECK(asking >= 6);
}

TEST_CASE("doctor: lists of CPUs") {
  CHECK(parse_cpu_list("0-2,8") == std::vector<int>{0, 1, 2, 8});
  CHECK(parse_cpu_list("").empty());
  CHECK(parse_cpu_list("x,3-1").empty());
  CHECK(parse_cpu_list("0-999999999").size() == 65536);
}

}  // namespace
}  // namespace headway::doctor
