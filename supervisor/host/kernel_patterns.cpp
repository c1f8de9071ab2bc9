#include "supervisor/host/kernel_patterns.hpp"

namespace trainward::host {
namespace {

constexpr int root = 80;     // ended the worker
constexpr int symptom = 45;  // how it ended, or its board: heavier than the exit signal
constexpr int general = 30;
constexpr int hint = 15;  // less than any exit status

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
            "host_oom",
            root,
            0,
            Pid::behind_last_found},
    Pattern{{"oom-kill:constraint=", ",pid="}, "host_oom", root, general, Pid::behind_last_found},
    Pattern{{"Memory cgroup out of memory: Killed process "}, "host_oom", root, 0, Pid::behind},
    Pattern{{"Memory cgroup out of memory: Kill process "}, "host_oom", root, 0, Pid::behind},
    Pattern{{"Out of memory", "Killed process "}, "host_oom", root, general, Pid::behind},
    Pattern{{"Out of memory: Kill process "}, "host_oom", root, general, Pid::behind},
    Pattern{{"Out of memory and no killable processes"}, "host_oom", general, general},
    // --- the worker fell
    Pattern{{"Sending SIGBUS to ", " due to hardware memory corruption"},
            "unknown",
            root,
            general,
            Pid::before},
    Pattern{{"Memory failure: ", "Killing ", " due to hardware memory corruption"},
            "unknown",
            root,
            general,
            Pid::before},
    Pattern{{"]: segfault at "}, "crash", symptom, 0, Pid::before},
    Pattern{{"traps: ", "] general protection"}, "crash", symptom, 0, Pid::before},
    Pattern{{"traps: ", "] trap "}, "crash", symptom, 0, Pid::before},
    // --- stood still, but may have gone on since
    Pattern{{"INFO: task ", " blocked for more than "}, "hang", general, general, Pid::before},
    Pattern{{"BUG: soft lockup", "]"}, "hang", general, general, Pid::before},
    Pattern{{"Watchdog detected hard LOCKUP"}, "hang", general, general},
    Pattern{{"rcu", "self-detected stall"}, "hang", general, general},
    // --- the host's processors and memory
    Pattern{{"Machine Check Exception"}, "unknown", general, general},
    Pattern{{"[Hardware Error]", "Uncorrected"}, "unknown", general, general},
    Pattern{{"[Hardware Error]", "event severity: fatal"}, "unknown", general, general},
    Pattern{{"[Hardware Error]", "event severity: recoverable"}, "unknown", general, general},
    Pattern{{"EDAC", " UE "}, "unknown", general, general},
    Pattern{{"Memory failure: "}, "unknown", general, general},
    Pattern{{"BUG: unable to handle"}, "unknown", general, general},
    Pattern{{"kernel BUG at "}, "unknown", general, general},
    Pattern{{"Oops: "}, "unknown", general, general},
    // --- the bus; a port above the board counts as the board
    Pattern{{"AER: ", "Uncorrect", "(Fatal)"}, "device_lost", symptom, 0},
    Pattern{{"severity=Uncorrect", "(Fatal)"}, "device_lost", symptom, 0},
    Pattern{{"AER: device recovery failed"}, "device_lost", symptom, 0},
    Pattern{{"DPC: containment event"}, "device_lost", symptom, 0},
    Pattern{{"pciehp: Slot(", "Link Down"}, "device_lost", symptom, 0},
    Pattern{{"pciehp: Slot(", "Card not present"}, "device_lost", symptom, 0},
    Pattern{{"device is unreachable"}, "device_lost", symptom, 0},
    Pattern{{"device lost"}, "device_lost", symptom, 0},
    // --- boards: another's trouble is not ours
    Pattern{{"tenstorrent ", "evice is unresponsive"}, "device_lost", symptom, 0},
    Pattern{{"tenstorrent ", "NOC is likely hung"}, "device_lost", symptom, 0},
    Pattern{{"tenstorrent ", "all-1s; device gone"}, "device_lost", symptom, 0},
    Pattern{{"tenstorrent ", "Timeout waiting for ARC response"}, "device_lost", symptom, 0},
    Pattern{{"tenstorrent ", "Timeout waiting for space in ARC"}, "device_lost", symptom, 0},
    Pattern{{"tenstorrent ", "Timed out waiting for FW telemetry"}, "device_lost", symptom, 0},
    Pattern{{"tenstorrent ", "Device initialization failed"}, "device_lost", symptom, 0},
    Pattern{{"tenstorrent ", "pin_user_pages_longterm failed: -12"}, "host_oom", symptom, 0},
    Pattern{{"tenstorrent ", "vzalloc failed"}, "host_oom", symptom, 0},
    Pattern{{"NVRM: ", "fallen off the bus"}, "device_lost", symptom, 0},
    Pattern{{"amdgpu", "ring ", " timeout"}, "hang", symptom, 0},
    Pattern{{"amdgpu", "GPU reset begin"}, "device_lost", symptom, 0},
    Pattern{{"amdgpu", "GPU reset", "failed"}, "device_lost", symptom, 0},
    Pattern{{"amdgpu", "GPU Recovery Failed"}, "device_lost", symptom, 0},
    // --- disks and what lies on them
    Pattern{{"I/O error, dev "}, "disk", general, general},
    Pattern{{"Buffer I/O error on dev"}, "disk", general, general},
    Pattern{{"nvme nvme", "I/O ", "timeout"}, "disk", general, general},
    Pattern{{"nvme nvme", "controller is down"}, "disk", general, general},
    Pattern{{"EXT4-fs error (device "}, "disk", general, general},
    Pattern{{"EXT4-fs (", "Remounting filesystem read-only"}, "disk", general, general},
    Pattern{{"Aborting journal on device "}, "disk", general, general},
    Pattern{{"XFS (", "orruption"}, "disk", general, general},
    Pattern{{"XFS (", "I/O error"}, "disk", general, general},
    Pattern{{"XFS (", "hutting down filesystem"}, "disk", general, general},
    Pattern{{"XFS (", "ilesystem has been shut down"}, "disk", general, general},
    Pattern{{"BTRFS error (device "}, "disk", general, general},
    // --- the network
    Pattern{{"nfs: server ", " not responding"}, "network", general, general},
    Pattern{{"NETDEV WATCHDOG: "}, "network", general, general},
    Pattern{{"NIC Link is Down"}, "network", hint, hint},
    // --- heat: slower, not broken, until the kernel ends it
    Pattern{{"temperature above threshold"}, "unknown", hint, hint},
    Pattern{{"critical temperature reached"}, "unknown", general, general},
};

}  // namespace

std::span<const BenignPattern> benign_kernel_patterns() { return benign; }
std::span<const Pattern> kernel_patterns() { return faults; }

}  // namespace trainward::host
