#include "supervisor/host/syscall_name.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace trainward::host {
namespace {

struct Named {
  std::int64_t number;
  std::string_view name;
};

// Those that older architectures have and newer ones do not are asked for one by one.
constexpr std::array names{
    Named{SYS_read, "read"},
    Named{SYS_write, "write"},
    Named{SYS_readv, "readv"},
    Named{SYS_writev, "writev"},
    Named{SYS_pread64, "pread64"},
    Named{SYS_pwrite64, "pwrite64"},
    Named{SYS_preadv, "preadv"},
    Named{SYS_pwritev, "pwritev"},
    Named{SYS_openat, "openat"},
    Named{SYS_close, "close"},
    Named{SYS_fstat, "fstat"},
    Named{SYS_statx, "statx"},
    Named{SYS_ppoll, "ppoll"},
    Named{SYS_pselect6, "pselect6"},
    Named{SYS_epoll_pwait, "epoll_pwait"},
    Named{SYS_ioctl, "ioctl"},
    Named{SYS_futex, "futex"},
    Named{SYS_nanosleep, "nanosleep"},
    Named{SYS_clock_nanosleep, "clock_nanosleep"},
    Named{SYS_rt_sigsuspend, "rt_sigsuspend"},
    Named{SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    Named{SYS_wait4, "wait4"},
    Named{SYS_waitid, "waitid"},
    Named{SYS_exit, "exit"},
    Named{SYS_exit_group, "exit_group"},
    Named{SYS_accept4, "accept4"},
    Named{SYS_connect, "connect"},
    Named{SYS_recvfrom, "recvfrom"},
    Named{SYS_recvmsg, "recvmsg"},
    Named{SYS_recvmmsg, "recvmmsg"},
    Named{SYS_sendto, "sendto"},
    Named{SYS_sendmsg, "sendmsg"},
    Named{SYS_sendmmsg, "sendmmsg"},
    Named{SYS_fsync, "fsync"},
    Named{SYS_fdatasync, "fdatasync"},
    Named{SYS_sync, "sync"},
    Named{SYS_syncfs, "syncfs"},
    Named{SYS_sync_file_range, "sync_file_range"},
    Named{SYS_msync, "msync"},
    Named{SYS_mmap, "mmap"},
    Named{SYS_munmap, "munmap"},
    Named{SYS_mremap, "mremap"},
    Named{SYS_madvise, "madvise"},
    Named{SYS_mprotect, "mprotect"},
    Named{SYS_mlock, "mlock"},
    Named{SYS_fallocate, "fallocate"},
    Named{SYS_ftruncate, "ftruncate"},
    Named{SYS_renameat2, "renameat2"},
    Named{SYS_unlinkat, "unlinkat"},
    Named{SYS_mkdirat, "mkdirat"},
    Named{SYS_getdents64, "getdents64"},
    Named{SYS_flock, "flock"},
    Named{SYS_fcntl, "fcntl"},
    Named{SYS_io_getevents, "io_getevents"},
    Named{SYS_io_uring_enter, "io_uring_enter"},
    Named{SYS_sched_yield, "sched_yield"},
    Named{SYS_ptrace, "ptrace"},
    Named{SYS_execve, "execve"},
    Named{SYS_mount, "mount"},
    Named{SYS_umount2, "umount2"},
    Named{SYS_restart_syscall, "restart_syscall"},
    Named{SYS_msgrcv, "msgrcv"},
    Named{SYS_semop, "semop"},
    Named{SYS_semtimedop, "semtimedop"},
    Named{SYS_splice, "splice"},
    Named{SYS_sendfile, "sendfile"},
    Named{SYS_copy_file_range, "copy_file_range"},
#ifdef SYS_open
    Named{SYS_open, "open"},
#endif
#ifdef SYS_stat
    Named{SYS_stat, "stat"},
#endif
#ifdef SYS_lstat
    Named{SYS_lstat, "lstat"},
#endif
#ifdef SYS_newfstatat
    Named{SYS_newfstatat, "newfstatat"},
#endif
#ifdef SYS_poll
    Named{SYS_poll, "poll"},
#endif
#ifdef SYS_select
    Named{SYS_select, "select"},
#endif
#ifdef SYS_epoll_wait
    Named{SYS_epoll_wait, "epoll_wait"},
#endif
#ifdef SYS_epoll_pwait2
    Named{SYS_epoll_pwait2, "epoll_pwait2"},
#endif
#ifdef SYS_futex_waitv
    Named{SYS_futex_waitv, "futex_waitv"},
#endif
#ifdef SYS_pause
    Named{SYS_pause, "pause"},
#endif
#ifdef SYS_accept
    Named{SYS_accept, "accept"},
#endif
#ifdef SYS_rename
    Named{SYS_rename, "rename"},
#endif
#ifdef SYS_renameat
    Named{SYS_renameat, "renameat"},
#endif
#ifdef SYS_unlink
    Named{SYS_unlink, "unlink"},
#endif
#ifdef SYS_mkdir
    Named{SYS_mkdir, "mkdir"},
#endif
#ifdef SYS_rmdir
    Named{SYS_rmdir, "rmdir"},
#endif
#ifdef SYS_clone
    Named{SYS_clone, "clone"},
#endif
#ifdef SYS_vfork
    Named{SYS_vfork, "vfork"},
#endif
#ifdef SYS_getrandom
    Named{SYS_getrandom, "getrandom"},
#endif
};

}  // namespace

std::string syscall_name(std::int64_t number) {
  const auto* const found = std::ranges::find(names, number, &Named::number);
  return found == names.end() ? fmt::format("system call {}", number) : std::string(found->name);
}

}  // namespace trainward::host
