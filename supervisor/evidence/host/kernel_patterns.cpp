#include "supervisor/evidence/host/kernel_patterns.hpp"

namespace trainward::host {
namespace {

using core::Cause;

constexpr int root = core::weight::about_worker;
constexpr int general = core::weight::general;
constexpr int hint = core::weight::slight;

constexpr std::array<BenignPattern, 17> benign{{
    {"AER: Corrected error", ""},
    {"AER: Correctable error", ""},
    {"AER: Multiple Corrected error", ""},
    {"severity=Corrected", ""},
    {"severity=Correctable", ""},
    {"Hardware Error", "corrected error"},
    {"EDAC", " CE "},
    {"speed normal", ""},
    {"temperature/speed normal", ""},
    {"I/O error, dev fd", ""},
    {"I/O error, dev sr", ""},
    {"I/O error, dev loop", ""},
    {"EXT4-fs (", "mounted filesystem"},
    {"GPU reset", "succeeded"},
    {"amdgpu", "soft recovered"},
    {"AER: device recovery successful", ""},
    {"ratelimit", "callbacks suppressed"},
}};

constexpr std::array faults{
    // --- memory of the host; a cgroup elsewhere that is full says nothing about this worker
    Pattern{{"oom-kill:constraint=CONSTRAINT_MEMCG", ",pid="},
            Cause::host_oom,
            root,
            0,
            Pid::behind_last_found},
    Pattern{
        {"oom-kill:constraint=", ",pid="}, Cause::host_oom, root, general, Pid::behind_last_found},
    Pattern{
        {"Memory cgroup out of memory: Killed process "}, Cause::host_oom, root, 0, Pid::behind},
    Pattern{{"Memory cgroup out of memory: Kill process "}, Cause::host_oom, root, 0, Pid::behind},
    Pattern{{"Out of memory", "Killed process "}, Cause::host_oom, root, general, Pid::behind},
    Pattern{{"Out of memory: Kill process "}, Cause::host_oom, root, general, Pid::behind},
    Pattern{{"Out of memory and no killable processes"}, Cause::host_oom, general, general},
    // --- the worker fell
    Pattern{{"Sending SIGBUS to ", " due to hardware memory corruption"},
            Cause::unknown,
            root,
            general,
            Pid::before},
    Pattern{{"Memory failure: ", "Killing ", " due to hardware memory corruption"},
            Cause::unknown,
            root,
            general,
            Pid::before},
    Pattern{{"]: segfault at "}, Cause::crash, symptom, 0, Pid::before},
    Pattern{{"traps: ", "] general protection"}, Cause::crash, symptom, 0, Pid::before},
    Pattern{{"traps: ", "] trap "}, Cause::crash, symptom, 0, Pid::before},
    // --- stood still, but may have gone on since
    Pattern{{"INFO: task ", " blocked for more than "}, Cause::hang, general, general, Pid::before},
    Pattern{{"BUG: soft lockup", "]"}, Cause::hang, general, general, Pid::before},
    Pattern{{"Watchdog detected hard LOCKUP"}, Cause::hang, general, general},
    Pattern{{"rcu", "self-detected stall"}, Cause::hang, general, general},
    // --- the host's processors and memory
    Pattern{{"Machine Check Exception"}, Cause::unknown, general, general},
    Pattern{{"[Hardware Error]", "Uncorrected"}, Cause::unknown, general, general},
    Pattern{{"[Hardware Error]", "event severity: fatal"}, Cause::unknown, general, general},
    Pattern{{"[Hardware Error]", "event severity: recoverable"}, Cause::unknown, general, general},
    Pattern{{"EDAC", " UE "}, Cause::unknown, general, general},
    Pattern{{"Memory failure: "}, Cause::unknown, general, general},
    Pattern{{"BUG: unable to handle"}, Cause::unknown, general, general},
    Pattern{{"kernel BUG at "}, Cause::unknown, general, general},
    Pattern{{"Oops: "}, Cause::unknown, general, general},
    // --- the bus; a port above the board counts as the board
    Pattern{{"AER: ", "Uncorrect", "(Fatal)"}, Cause::device_lost, symptom, 0},
    Pattern{{"severity=Uncorrect", "(Fatal)"}, Cause::device_lost, symptom, 0},
    Pattern{{"AER: device recovery failed"}, Cause::device_lost, symptom, 0},
    Pattern{{"DPC: containment event"}, Cause::device_lost, symptom, 0},
    Pattern{{"pciehp: Slot(", "Link Down"}, Cause::device_lost, symptom, 0},
    Pattern{{"pciehp: Slot(", "Card not present"}, Cause::device_lost, symptom, 0},
    Pattern{{"device is unreachable"}, Cause::device_lost, symptom, 0},
    Pattern{{"device lost"}, Cause::device_lost, symptom, 0},
    // --- boards: another's trouble is not ours
    Pattern{{"tenstorrent ", "evice is unresponsive"}, Cause::device_lost, symptom, 0},
    Pattern{{"tenstorrent ", "NOC is likely hung"}, Cause::device_lost, symptom, 0},
    Pattern{{"tenstorrent ", "all-1s; device gone"}, Cause::device_lost, symptom, 0},
    Pattern{{"tenstorrent ", "Timeout waiting for ARC response"}, Cause::device_lost, symptom, 0},
    Pattern{{"tenstorrent ", "Timeout waiting for space in ARC"}, Cause::device_lost, symptom, 0},
    Pattern{{"tenstorrent ", "Timed out waiting for FW telemetry"}, Cause::device_lost, symptom, 0},
    Pattern{{"tenstorrent ", "Device initialization failed"}, Cause::device_lost, symptom, 0},
    Pattern{{"tenstorrent ", "pin_user_pages_longterm failed: -12"}, Cause::host_oom, symptom, 0},
    Pattern{{"tenstorrent ", "vzalloc failed"}, Cause::host_oom, symptom, 0},
    Pattern{{"NVRM: ", "fallen off the bus"}, Cause::device_lost, symptom, 0},
    Pattern{{"amdgpu", "ring ", " timeout"}, Cause::hang, symptom, 0},
    Pattern{{"amdgpu", "GPU reset begin"}, Cause::device_lost, symptom, 0},
    Pattern{{"amdgpu", "GPU reset", "failed"}, Cause::device_lost, symptom, 0},
    Pattern{{"amdgpu", "GPU Recovery Failed"}, Cause::device_lost, symptom, 0},
    // --- disks and what lies on them
    Pattern{{"I/O error, dev "}, Cause::disk, general, general},
    Pattern{{"Buffer I/O error on dev"}, Cause::disk, general, general},
    Pattern{{"nvme nvme", "I/O ", "timeout"}, Cause::disk, general, general},
    Pattern{{"nvme nvme", "controller is down"}, Cause::disk, general, general},
    Pattern{{"EXT4-fs error (device "}, Cause::disk, general, general},
    Pattern{{"EXT4-fs (", "Remounting filesystem read-only"}, Cause::disk, general, general},
    Pattern{{"Aborting journal on device "}, Cause::disk, general, general},
    Pattern{{"XFS (", "orruption"}, Cause::disk, general, general},
    Pattern{{"XFS (", "I/O error"}, Cause::disk, general, general},
    Pattern{{"XFS (", "hutting down filesystem"}, Cause::disk, general, general},
    Pattern{{"XFS (", "ilesystem has been shut down"}, Cause::disk, general, general},
    Pattern{{"BTRFS error (device "}, Cause::disk, general, general},
    // --- the network
    Pattern{{"nfs: server ", " not responding"}, Cause::network, general, general},
    Pattern{{"NETDEV WATCHDOG: "}, Cause::network, general, general},
    Pattern{{"NIC Link is Down"}, Cause::network, hint, hint},
    // --- heat: slower, not broken, until the kernel ends it
    Pattern{{"temperature above threshold"}, Cause::unknown, hint, hint},
    Pattern{{"critical temperature reached"}, Cause::unknown, general, general},
};

}  // namespace

std::span<const BenignPattern> benign_kernel_patterns() { return benign; }
std::span<const Pattern> kernel_patterns() { return faults; }

}  // namespace trainward::host
