// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! System calls of the probe. Calls about descriptors go to the kernel directly: libc's functions are cancellation points, and
//! coroutine libraries replace them by functions that suspend.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_long, c_ulong, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

#[cfg(target_arch = "x86_64")]
pub mod nr {
    pub const READ: i64 = 0;
    pub const CLOSE: i64 = 3;
    pub const FSTAT: i64 = 5;
    pub const NANOSLEEP: i64 = 35;
    pub const GETPID: i64 = 39;
    pub const SOCKET: i64 = 41;
    pub const CONNECT: i64 = 42;
    pub const SENDTO: i64 = 44;
    pub const KILL: i64 = 62;
    pub const FCNTL: i64 = 72;
    pub const FTRUNCATE: i64 = 77;
    pub const GETTID: i64 = 186;
    pub const TGKILL: i64 = 234;
    pub const OPENAT: i64 = 257;
    pub const READLINKAT: i64 = 267;
    pub const FALLOCATE: i64 = 285;
    pub const MEMFD_CREATE: i64 = 319;
    pub const MEMBARRIER: i64 = 324;
}

#[cfg(target_arch = "aarch64")]
pub mod nr {
    pub const FCNTL: i64 = 25;
    pub const FTRUNCATE: i64 = 46;
    pub const FALLOCATE: i64 = 47;
    pub const OPENAT: i64 = 56;
    pub const CLOSE: i64 = 57;
    pub const READ: i64 = 63;
    pub const READLINKAT: i64 = 78;
    pub const FSTAT: i64 = 80;
    pub const NANOSLEEP: i64 = 101;
    pub const KILL: i64 = 129;
    pub const TGKILL: i64 = 131;
    pub const GETPID: i64 = 172;
    pub const GETTID: i64 = 178;
    pub const SOCKET: i64 = 198;
    pub const CONNECT: i64 = 203;
    pub const SENDTO: i64 = 206;
    pub const MEMFD_CREATE: i64 = 279;
    pub const MEMBARRIER: i64 = 283;
}

extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn mmap(at: *mut c_void, bytes: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    fn mprotect(at: *mut c_void, bytes: usize, prot: c_int) -> c_int;
    fn munlock(at: *const c_void, bytes: usize) -> c_int;
    fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    fn getrlimit(what: c_int, limit: *mut Rlimit) -> c_int;
    fn clock_gettime(clock: c_int, at: *mut Timespec) -> c_int;
    fn getenv(name: *const c_char) -> *const c_char;
    fn getauxval(kind: c_ulong) -> c_ulong;
    fn __errno_location() -> *mut c_int;
}

#[repr(C)]
struct Timespec {
    sec: i64,
    nsec: i64,
}

#[repr(C)]
struct Rlimit {
    now: u64,
    most: u64,
}

/// Restores errno when it is dropped, because a probe call may interrupt code that uses errno.
pub struct Errno(c_int);

impl Errno {
    pub fn keep() -> Errno {
        // SAFETY: libc's own variable of this thread.
        Errno(unsafe { *__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *__errno_location() = self.0 }
    }
}

/// A system call; negative: it failed.
///
/// # Safety
/// The arguments are what this one expects.
pub unsafe fn call(number: i64, args: [usize; 4]) -> i64 {
    syscall(number, args[0], args[1], args[2], args[3], 0usize, 0usize)
}

pub fn pid() -> u32 {
    // SAFETY: no arguments.
    unsafe { call(nr::GETPID, [0; 4]) as u32 }
}

pub fn tid() -> u64 {
    // SAFETY: no arguments.
    unsafe { call(nr::GETTID, [0; 4]) as u64 }
}

pub fn sleep_us(us: u32) {
    let time = Timespec { sec: 0, nsec: i64::from(us) * 1000 };
    // SAFETY: it reads time, and writes nothing.
    unsafe { call(nr::NANOSLEEP, [&time as *const Timespec as usize, 0, 0, 0]) };
}

/// CLOCK_MONOTONIC, in nanoseconds.
pub fn monotonic() -> u64 {
    let mut time = Timespec { sec: 0, nsec: 0 };
    // SAFETY: it writes time.
    unsafe { clock_gettime(1, &mut time) };
    time.sec as u64 * 1_000_000_000 + time.nsec as u64
}

/// The processor's counter, without a barrier: it may be read a few instructions early.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn counter() -> u64 {
    // SAFETY: every x86-64 has it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn counter() -> u64 {
    let raw;
    // SAFETY: Linux lets everybody read it.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) raw, options(nomem, nostack, preserves_flags)) };
    raw
}

/// Its frequency, if the processor provides it.
pub fn counter_hz() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let hz;
        // SAFETY: as above.
        unsafe { std::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags)) };
        hz
    }
    #[cfg(not(target_arch = "aarch64"))]
    0
}

/// Whether the kernel trusts that counter as a clock.
pub fn counter_is_clock() -> bool {
    let name: &[u8] = if cfg!(target_arch = "x86_64") { b"tsc\n" } else { b"arch_sys_counter\n" };
    let path = b"/sys/devices/system/clocksource/clocksource0/current_clocksource\0";
    let mut text = [0u8; 32];
    let fd = match Fd::open(path.as_ptr().cast(), O_CLOEXEC) {
        Some(fd) => fd,
        None => return false,
    };
    // SAFETY: it writes text, at most.
    let n = unsafe { call(nr::READ, [fd.0 as usize, text.as_mut_ptr() as usize, text.len(), 0]) };
    fd.close();
    n >= 0 && &text[..n as usize] == name
}

/// A variable of the environment, from libc: after a fork, the lock of the standard library may be held by a thread that no longer exists.
pub fn env(name: &'static [u8]) -> Option<&'static CStr> {
    let name = CStr::from_bytes_with_nul(name).ok()?;
    // SAFETY: libc's string, valid until the environment changes; it is used at once.
    unsafe {
        let value = getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

/// Whether this program has more privileges than its caller.
pub fn is_privileged() -> bool {
    const AT_SECURE: c_ulong = 23;
    // SAFETY: reads what the kernel left.
    unsafe { getauxval(AT_SECURE) != 0 }
}

pub fn page_bytes() -> u64 {
    const AT_PAGESZ: c_ulong = 6;
    // SAFETY: as above.
    unsafe { getauxval(AT_PAGESZ) }
}

const READ_WRITE: c_int = 3;

/// Maps a part of a file, shared. It is not readable at first, so that mlockall with MCL_FUTURE does not fill all the holes. It is left
/// out of core dumps because of its size.
pub fn map(fd: Fd, at: u64, bytes: usize) -> Option<*mut u8> {
    const SHARED: c_int = 1;
    const DONTDUMP: c_int = 16;
    // SAFETY: new memory, at an address of the kernel's choice.
    unsafe {
        let memory = mmap(ptr::null_mut(), bytes, 0, SHARED, fd.0, at as i64);
        if memory as isize == -1 {
            return None;
        }
        munlock(memory, bytes);
        madvise(memory, bytes, DONTDUMP);
        if mprotect(memory, bytes, READ_WRITE) != 0 {
            munmap(memory, bytes);
            return None;
        }
        Some(memory.cast())
    }
}

/// Allocates holes of a mapping. False: not possible, and touching one would raise SIGBUS. (Not possible before Linux 5.14: then they
/// are assumed to exist.)
///
/// # Safety
/// Mapped by the above.
pub unsafe fn populate(at: *mut u8, bytes: usize) -> bool {
    const POPULATE_WRITE: c_int = 23;
    const INVALID: c_int = 22;
    madvise(at.cast(), bytes, POPULATE_WRITE) == 0 || *__errno_location() == INVALID
}

/// Private memory of zeros, which is zeroed again in the child of a fork.
pub fn map_own(bytes: usize) -> Option<*mut u8> {
    const PRIVATE_ANONYMOUS: c_int = 2 | 32;
    const WIPEONFORK: c_int = 18;
    // SAFETY: new memory, at an address of the kernel's choice.
    unsafe {
        let memory = mmap(ptr::null_mut(), bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        if memory as isize == -1 {
            return None;
        }
        if madvise(memory, bytes, WIPEONFORK) != 0 {
            munmap(memory, bytes); // Linux before 4.14
            return None;
        }
        Some(memory.cast())
    }
}

/// # Safety
/// Mapped by one of the above, with this size, and not used any more.
pub unsafe fn unmap(at: *mut u8, bytes: usize) {
    munmap(at.cast(), bytes);
}

/// Registers for the membarrier(2) of other processes.
pub fn membarrier_register() -> bool {
    const REGISTER_GLOBAL_EXPEDITED: usize = 1 << 2;
    // SAFETY: it changes nothing that the program could see.
    unsafe { call(nr::MEMBARRIER, [REGISTER_GLOBAL_EXPEDITED, 0, 0, 0]) == 0 }
}

/// A fence in each thread of the processes that have registered.
pub fn membarrier() {
    const GLOBAL_EXPEDITED: usize = 1 << 1;
    // SAFETY: as above.
    unsafe { call(nr::MEMBARRIER, [GLOBAL_EXPEDITED, 0, 0, 0]) };
}

const NO_SUCH_PROCESS: c_int = 3;

/// Whether the thread has certainly ended.
pub fn is_thread_gone(pid: u32, tid: u32) -> bool {
    // SAFETY: signal 0 is none.
    unsafe { call(nr::TGKILL, [pid as usize, tid as usize, 0, 0]) < 0 && *__errno_location() == NO_SUCH_PROCESS }
}

/// The same for a process.
pub fn is_process_gone(pid: u32) -> bool {
    // SAFETY: signal 0 is none.
    unsafe { call(nr::KILL, [pid as usize, 0, 0, 0]) < 0 && *__errno_location() == NO_SUCH_PROCESS }
}

const O_RDWR: usize = 2;
const O_NOCTTY: usize = 0o400;
const O_NONBLOCK: usize = 0o4000;
const O_CLOEXEC: usize = 0o2000000;

/// Flags for opening the memory, safe for any file at the path.
pub const OPEN_SHARED: usize = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// A descriptor that is not closed when it is dropped, because most of ours stay open.
#[derive(Clone, Copy, PartialEq)]
pub struct Fd(pub c_int);

/// The parts of fstat(2) that are used here.
pub struct Stat {
    pub dev: u64,
    pub ino: u64,
    pub is_regular: bool,
    pub is_named: bool, // in a file system
    pub bytes: u64,
}

impl Fd {
    /// Our descriptors have numbers in this range, if possible, so that the program's own numbers do not change.
    pub const FIRST: c_int = 960;
    pub const LAST: c_int = 1023;

    fn of(result: i64) -> Option<Fd> {
        (result >= 0).then_some(Fd(result as c_int))
    }

    /// The path is terminated by a zero, as in C.
    pub fn open(path: *const c_char, flags: usize) -> Option<Fd> {
        const AT_FDCWD: usize = -100isize as usize;
        // SAFETY: path is a string.
        Fd::of(unsafe { call(nr::OPENAT, [AT_FDCWD, path as usize, flags, 0]) })
    }

    /// A sealed file of this size without a name in the file system; a link to it reads "/memfd:ctp (deleted)".
    pub fn memory(bytes: u64) -> Option<Fd> {
        const CLOEXEC_ALLOW_SEALING: usize = 3;
        const ADD_SEALS: usize = 1033;
        const SEAL_SHRINK_GROW: usize = 7;
        const LIMIT_FSIZE: c_int = 1;
        let mut limit = Rlimit { now: 0, most: 0 };
        // SAFETY: it fills limit; else numbers, and a string that lives for ever.
        unsafe {
            if getrlimit(LIMIT_FSIZE, &mut limit) != 0 || limit.now < bytes {
                return None; // ftruncate would raise SIGXFSZ
            }
            let name = b"ctp\0".as_ptr() as usize;
            let fd = Fd::of(call(nr::MEMFD_CREATE, [name, CLOEXEC_ALLOW_SEALING, 0, 0]))?;
            let number = fd.0 as usize;
            if call(nr::FTRUNCATE, [number, bytes as usize, 0, 0]) != 0
                || call(nr::FCNTL, [number, ADD_SEALS, SEAL_SHRINK_GROW, 0]) != 0
            {
                fd.close();
                return None;
            }
            Some(fd)
        }
    }

    /// Allocates a part of it in the file system. Without that, writing there may raise SIGBUS.
    pub fn allocate(self, at: u64, bytes: u64) -> bool {
        // SAFETY: numbers only.
        unsafe { call(nr::FALLOCATE, [self.0 as usize, 0, at as usize, bytes as usize]) == 0 }
    }

    /// A socket that is connected to that path, or none. Neither call can block: a non-blocking connect to a full backlog fails.
    pub fn connect(path: &[u8]) -> Option<Fd> {
        const UNIX: u16 = 1;
        const STREAM: usize = 1;
        #[repr(C)]
        struct Address {
            family: u16,
            path: [u8; 108],
        }
        let mut address = Address { family: UNIX, path: [0; 108] };
        if path.is_empty() || path.len() >= address.path.len() {
            return None;
        }
        address.path[..path.len()].copy_from_slice(path);
        // SAFETY: it reads address.
        unsafe {
            let fd = Fd::of(call(nr::SOCKET, [UNIX as usize, STREAM | O_CLOEXEC | O_NONBLOCK, 0, 0]))?;
            let at = &address as *const Address as usize;
            if call(nr::CONNECT, [fd.0 as usize, at, std::mem::size_of::<Address>(), 0]) != 0 {
                fd.close();
                return None;
            }
            Some(fd)
        }
    }

    /// A copy with a number in our range.
    pub fn duplicate(self) -> Option<Fd> {
        const DUPFD_CLOEXEC: usize = 1030;
        // SAFETY: numbers only.
        Fd::of(unsafe { call(nr::FCNTL, [self.0 as usize, DUPFD_CLOEXEC, Fd::FIRST as usize, 0]) })
    }

    /// The target of its link in /proc.
    pub fn link(self, text: &mut [u8]) -> usize {
        let mut path = *b"/proc/self/fd/0000\0";
        let mut rest = self.0;
        for digit in path[14..18].iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        const AT_FDCWD: usize = -100isize as usize;
        let from = if path[14] == b'0' {
            path.copy_within(15..19, 14);
            &path[..18]
        } else {
            &path[..]
        };
        // SAFETY: it reads a string and writes text, at most.
        let n = unsafe { call(nr::READLINKAT, [AT_FDCWD, from.as_ptr() as usize, text.as_mut_ptr() as usize, text.len()]) };
        n.max(0) as usize
    }

    pub fn stat(self) -> Option<Stat> {
        // The number of links and the mode: on x86-64 the first has 64 bits and comes before the second, elsewhere 32 and after.
        const SHORT: bool = cfg!(not(target_arch = "x86_64"));
        let mut stat = [0u64; 32]; // the kernel's struct stat has 144 bytes, or 128
                                   // SAFETY: it fills stat.
        let result = unsafe { call(nr::FSTAT, [self.0 as usize, stat.as_mut_ptr() as usize, 0, 0]) };
        (result == 0).then(|| Stat {
            dev: stat[0],
            ino: stat[1],
            is_regular: stat[if SHORT { 2 } else { 3 }] & 0o170000 == 0o100000,
            is_named: if SHORT { stat[2] >> 32 != 0 } else { stat[2] != 0 },
            bytes: stat[6],
        })
    }

    /// Takes the lock of the open file, if no other process holds it.
    pub fn lock(self) -> bool {
        const WRITE_LOCK: i16 = 1;
        self.set_lock(WRITE_LOCK)
    }

    pub fn unlock(self) {
        const UNLOCK: i16 = 2;
        self.set_lock(UNLOCK);
    }

    fn set_lock(self, kind: i16) -> bool {
        const OFD_SETLK: usize = 37;
        #[repr(C)]
        struct Flock {
            kind: i16,
            whence: i16,
            start: i64,
            len: i64,
            pid: i32,
        }
        let lock = Flock { kind, whence: 0, start: 0, len: 0, pid: 0 };
        // SAFETY: it reads lock.
        unsafe { call(nr::FCNTL, [self.0 as usize, OFD_SETLK, &lock as *const Flock as usize, 0]) == 0 }
    }

    /// Sends one byte to the collector, without blocking and without a signal.
    pub fn send_byte(self) {
        const NOSIGNAL_DONTWAIT: usize = 0x4040;
        // SAFETY: it reads one byte.
        unsafe { call(nr::SENDTO, [self.0 as usize, b"1".as_ptr() as usize, 1, NOSIGNAL_DONTWAIT]) };
    }

    pub fn close(self) {
        // SAFETY: a number that is ours.
        unsafe { call(nr::CLOSE, [self.0 as usize, 0, 0, 0]) };
    }
}

/// A descriptor that stays open unless the program closes it and reuses its number.
pub struct Kept {
    word: AtomicU64, // low half: number + 1, high half: inode number; 0: none
    dev: AtomicU64,
    is_borrowed: AtomicBool, // it belongs to another copy of the probe
}

impl Kept {
    /// Moves it into our range, and notes its file.
    pub fn keep(&self, low: Fd) {
        let fd = match low.duplicate() {
            Some(fd) => {
                low.close();
                fd
            }
            None => low,
        };
        match fd.stat() {
            Some(stat) => self.set(fd, &stat, false),
            None => fd.close(),
        }
    }

    /// The same, but reuses a descriptor of this file that another copy of the probe, or the parent, already has.
    pub fn keep_or_borrow(&self, low: Fd) {
        let lent = low.stat().and_then(|stat| {
            let others = (Fd::FIRST..=Fd::LAST).map(Fd).filter(|fd| *fd != low);
            others.filter_map(|fd| Some((fd, fd.stat()?))).find(|(_, it)| it.ino == stat.ino && it.dev == stat.dev)
        });
        match lent {
            Some((fd, stat)) => {
                low.close();
                self.set(fd, &stat, true);
            }
            None => self.keep(low),
        }
    }

    fn set(&self, fd: Fd, stat: &Stat, is_borrowed: bool) {
        self.is_borrowed.store(is_borrowed, Relaxed);
        self.dev.store(stat.dev, Relaxed);
        self.word.store(stat.ino << 32 | (fd.0 as u64 + 1), Release); // pairs with the load in get
    }

    /// The program has closed it: opens it again by its path, if that still leads there.
    pub fn reopen(&self, path: &CStr) -> Option<Fd> {
        let word = self.word.load(Acquire);
        let low = if word != 0 { Fd::open(path.as_ptr(), OPEN_SHARED)? } else { return None };
        if low.stat().map_or(true, |stat| !self.is_file(word, &stat)) {
            low.close();
            return None;
        }
        self.keep_or_borrow(low);
        self.get()
    }

    /// The descriptor, if it still is the file that was noted.
    pub fn get(&self) -> Option<Fd> {
        let word = self.word.load(Acquire);
        let fd = Fd((word as u32).wrapping_sub(1) as c_int);
        let stat = if word != 0 { fd.stat()? } else { return None };
        self.is_file(word, &stat).then_some(fd)
    }

    fn is_file(&self, word: u64, stat: &Stat) -> bool {
        stat.ino << 32 == word >> 32 << 32 && stat.dev == self.dev.load(Relaxed)
    }

    /// Whether both are the same file.
    pub fn is_that_of(&self, other: &Kept) -> bool {
        self.word.load(Relaxed) == other.word.load(Relaxed) && self.dev.load(Relaxed) == other.dev.load(Relaxed)
    }

    /// Forgets it, and closes it if it is still ours. True for only one caller.
    pub fn drop_once(&self) -> bool {
        let word = self.word.load(Relaxed);
        let fd = self.get();
        if word == 0 || self.word.compare_exchange(word, 0, Relaxed, Relaxed).is_err() {
            return false;
        }
        if let Some(fd) = fd.filter(|_| !self.is_borrowed.load(Relaxed)) {
            fd.close();
        }
        true
    }
}
