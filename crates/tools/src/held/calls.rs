//! Which system calls a held program is refused: seccomp.
//! Owns: the list. Must not: rely on Landlock, which knows nothing of modes, owners, times and other processes.

use super::Error;
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;

/// Refused whatever the arguments are.
#[rustfmt::skip] // a line per call would hide what they have in common
const REFUSED: &[c_long] = &[
    // The network, and talking to other processes.
    libc::SYS_socket, libc::SYS_socketpair, libc::SYS_bind, libc::SYS_connect, libc::SYS_listen, libc::SYS_accept,
    libc::SYS_accept4, libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg, libc::SYS_recvmsg,
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_msgget, libc::SYS_msgsnd, libc::SYS_semget,
    libc::SYS_mq_open, libc::SYS_mq_unlink,
    // Another process or thread: none of the programs needs one.
    libc::SYS_clone, libc::SYS_clone3, libc::SYS_unshare, libc::SYS_setns,
    // Other processes.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_process_madvise,
    libc::SYS_process_mrelease, libc::SYS_kcmp, libc::SYS_pidfd_open, libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal, libc::SYS_tkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_setpriority, libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr,
    libc::SYS_ioprio_set, libc::SYS_migrate_pages, libc::SYS_move_pages, libc::SYS_setpgid, libc::SYS_setsid,
    // Programs that have no path.
    libc::SYS_execveat, libc::SYS_memfd_create, libc::SYS_memfd_secret,
    // What Landlock holds on some kernels only, or on none.
    libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_fchmod, libc::SYS_fchmodat, SYS_FCHMODAT2,
    libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_utimensat, libc::SYS_setxattr, libc::SYS_lsetxattr,
    libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr,
    libc::SYS_mkdirat, libc::SYS_mknodat, libc::SYS_unlinkat, libc::SYS_linkat, libc::SYS_symlinkat,
    libc::SYS_renameat2,
    libc::SYS_name_to_handle_at, libc::SYS_open_by_handle_at, libc::SYS_fanotify_init, libc::SYS_fanotify_mark,
    // The machine.
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_open_tree,
    libc::SYS_move_mount, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick,
    libc::SYS_mount_setattr, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_reboot, libc::SYS_kexec_load,
    libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_acct, libc::SYS_quotactl,
    libc::SYS_quotactl_fd, libc::SYS_sethostname, libc::SYS_setdomainname, libc::SYS_settimeofday,
    libc::SYS_clock_settime, libc::SYS_adjtimex, libc::SYS_clock_adjtime, libc::SYS_syslog, libc::SYS_vhangup,
    libc::SYS_personality,
    // Large parts of the kernel that a reader of files has no use for.
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,
    libc::SYS_io_setup, libc::SYS_io_submit,
];

/// Newer than what `libc` names everywhere; the same number on every architecture.
const SYS_FCHMODAT2: c_long = 452;

/// The older calls that only this architecture has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip] // as above
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_fork, libc::SYS_vfork, libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime,
    libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_mknod, libc::SYS_unlink,
    libc::SYS_link, libc::SYS_symlink, libc::SYS_rename, libc::SYS_renameat, libc::SYS_creat, libc::SYS_iopl,
    libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// On x86-64 every call has a second number, with this bit, for programs with short pointers; the architecture is the
/// same to a filter.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERS: Option<c_long> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const SECOND_NUMBERS: Option<c_long> = None;
/// The calls that those programs have under other numbers.
const SECOND_ONLY: std::ops::RangeInclusive<c_long> = 512..=547;

/// Refuses the calls from here on.
pub(super) fn apply() -> Result<(), Error> {
    let program: BpfProgram = filter()?.try_into().map_err(seccompiler::Error::Backend)?;
    seccompiler::apply_filter(&program)?;
    Ok(())
}

/// Whether there is a filter for this architecture.
pub(crate) fn is_known() -> bool {
    filter().is_ok_and(|filter| BpfProgram::try_from(filter).is_ok())
}

fn filter() -> Result<SeccompFilter, seccompiler::Error> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> = BTreeMap::new();
    for &call in REFUSED.iter().chain(REFUSED_HERE) {
        rules.insert(call, Vec::new());
    }
    // A program may end itself (that is how it aborts) and set its own limits, and nobody else's.
    let own = u64::from(rustix::process::getpid().as_raw_pid().unsigned_abs());
    for (call, itself) in [(libc::SYS_kill, own), (libc::SYS_tgkill, own), (libc::SYS_prlimit64, 0)] {
        rules.insert(call, vec![other_than(itself)?]);
    }
    if let Some(bit) = SECOND_NUMBERS {
        let first: Vec<_> = rules.keys().copied().collect();
        rules.extend(first.into_iter().chain(SECOND_ONLY).map(|call| (call | bit, Vec::new())));
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refusal = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refusal, arch)?)
}

/// Holds where the first argument, a process, is another one.
fn other_than(process: u64) -> Result<SeccompRule, seccompiler::Error> {
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, process)?;
    Ok(SeccompRule::new(vec![condition])?)
}
