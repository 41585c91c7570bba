// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The probe in difficult programs: forks of forks, descriptors that are closed, limits, and a signal handler that
//! runs at any instruction of a thread's first call. Each test has a process of its own.

use super::*;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_long, c_ulong};
use std::ptr;

#[repr(C)]
struct Limit(c_ulong, c_ulong);

extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
    fn setenv(name: *const c_char, value: *const c_char, replace: c_int) -> c_int;
    fn unsetenv(name: *const c_char) -> c_int;
    fn setrlimit(what: c_int, limit: *const Limit) -> c_int;
    fn mlockall(flags: c_int) -> c_int;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn raise(number: c_int) -> c_int;
    fn ptrace(request: c_long, pid: c_int, at: usize, data: usize) -> c_long;
}

/// The exit status of a forked child that runs this.
fn status_in_child(says: impl FnOnce() -> i32) -> c_int {
    // SAFETY: the child ends here, whatever happens.
    unsafe {
        let pid = fork();
        if pid == 0 {
            _exit(catch_unwind(AssertUnwindSafe(says)).unwrap_or(1));
        }
        status_of(pid)
    }
}

fn status_of(pid: c_int) -> c_int {
    let mut status = -1;
    // SAFETY: it writes status.
    unsafe { waitpid(pid, &mut status, 0) };
    status
}

/// True if it returns true in the child of a fork.
fn in_child(says: impl FnOnce() -> bool) -> bool {
    status_in_child(|| if says() { 0 } else { 1 }) == 0
}

/// For a child that needs a memory of its own, as if no collector had started it.
fn leave_collector() {
    // SAFETY: strings; and the child of a fork has one thread.
    unsafe {
        unsetenv(b"CTP_SHM_PATH\0".as_ptr().cast());
        setenv(b"CTP_RECORD\0".as_ptr().cast(), b"1\0".as_ptr().cast(), 1);
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// As if the library was unloaded, and loaded again.
fn reload() {
    CURRENT.store(ptr::null_mut(), Relaxed);
    crate::init();
}

#[test]
fn a_child_of_fork_is_another() {
    let _one = collect(RECORD);
    let mut trace = PollTrace::new();
    trace.on_resume();
    let station = station_of(&trace);
    let first = station.first.load(Relaxed) as usize;
    assert!(in_child(|| {
        trace.on_pending_addr(99); // the parent's: nothing happens
        let mine = PollTrace::new();
        let said = !trace.is_enabled() && mine.is_enabled() && station_of(&mine).pid.load(Relaxed) == sys::pid();
        trace.mark_dead();
        said
    }));
    assert_eq!(station.is_dead.load(Relaxed), 0);
    assert_ne!(station.slots[(first + 1) % 8].addr.load(Relaxed), 99);
    assert!(trace.is_enabled());
}

/// One place, and so one site.
fn at_one_place() -> (PollTrace, u32) {
    (PollTrace::new(), line!())
}

#[test]
fn a_child_uses_up_no_sites() {
    let _one = collect(RECORD);
    let (trace, line) = at_one_place();
    let site = station_of(&trace).spawn_site.load(Relaxed);
    assert!(in_child(|| station_of(&at_one_place().0).spawn_site.load(Relaxed) == site));
    assert!(in_child(|| {
        leave_collector();
        let other = station_of(&at_one_place().0).spawn_site.load(Relaxed);
        other == 1 && site_text(other) == (file!().to_string(), line)
    }));
}

#[test]
fn a_child_of_a_child_has_no_descriptor_more() {
    fn after(forks: u32, first: usize) -> bool {
        drop(PollTrace::new());
        if forks == 0 {
            return descriptors() == first;
        }
        in_child(|| after(forks - 1, first))
    }
    let _one = collect(RECORD);
    assert!(in_child(|| after(5, descriptors())));
    assert!(in_child(|| {
        leave_collector();
        drop(PollTrace::new());
        after(5, descriptors())
    }));
}

#[test]
fn nor_has_who_is_loaded_again() {
    let _one = collect(RECORD);
    let is_steady = || {
        let before = descriptors();
        (0..5).for_each(|_| reload());
        descriptors() == before && PollTrace::new().is_enabled()
    };
    assert!(in_child(|| {
        crate::init();
        is_steady()
    }));
    assert!(in_child(|| {
        leave_collector();
        crate::init();
        is_steady()
    }));
}

/// A probe as attach has it before it is filled.
fn blank() -> &'static mut Probe {
    // SAFETY: zeros, of the right size, and not shared.
    unsafe { &mut *sys::map_own(size_of::<Probe>()).unwrap().cast::<Probe>() }
}

#[test]
fn what_is_borrowed_stays_open() {
    let _one = collect(RECORD);
    assert!(in_child(|| {
        leave_collector();
        let second = blank();
        second.fill();
        assert!(crate::init() && probe().memory.is_that_of(&second.memory));
        second.discard(); // its descriptor is borrowed by the current one
        let other = blank();
        other.memory.keep_or_borrow(probe().memory.get().unwrap().duplicate().unwrap());
        other.memory.drop_once() && probe().memory.get().is_some()
    }));
}

#[test]
fn descriptors_may_be_closed() {
    let _one = collect(RECORD);
    assert!(in_child(|| {
        let mut trace = PollTrace::new();
        (3..1024).map(Fd).for_each(Fd::close);
        probe().header().mode.store(FOLLOW, Relaxed);
        let lost = probe().header().lost_notes.load(Relaxed);
        trace.set_name("of whom nobody hears");
        trace.on_resume();
        let me = u64::from(sys::pid()) << 32 | sys::tid();
        trace.is_enabled()
            && probe().header().lost_notes.load(Relaxed) == lost + 1
            && !(0..64).any(|index| probe().ring(index).unwrap().owner.load(Relaxed) == me)
    }));
}

#[test]
fn the_memory_is_opened_again_by_its_path() {
    let is_found = |path: &CStr| {
        let mut trace = PollTrace::new();
        // SAFETY: strings; and the child of a fork has one thread.
        unsafe { setenv(b"CTP_SHM_PATH\0".as_ptr().cast(), path.as_ptr(), 1) };
        (3..1024).map(Fd).for_each(Fd::close);
        probe().header().mode.store(FOLLOW, Relaxed);
        trace.on_resume();
        kinds(&entries()) == [ENTRY_RESUME]
    };
    let path_of = |fd: c_int| CString::new(format!("/proc/{}/fd/{}", sys::pid(), fd)).unwrap();
    let one = collect(RECORD);
    let path = path_of(probe().memory.get().unwrap().0);
    assert!(in_child(|| is_found(&path)));
    drop(one);
    let _one = collect(RECORD);
    let other = Fd::memory(1 << 30).unwrap();
    let path = path_of(other.0);
    assert!(in_child(|| !is_found(&path)));
    other.close();
}

#[test]
fn a_limit_on_files_raises_no_signal() {
    const FSIZE: c_int = 1;
    let _one = collect(RECORD);
    assert!(in_child(|| {
        leave_collector();
        // SAFETY: it reads the limit.
        unsafe { setrlimit(FSIZE, &Limit(1 << 20, 1 << 20)) };
        let mut trace = PollTrace::new();
        trace.on_resume();
        !trace.is_enabled()
    }));
}

#[test]
fn mappings_are_no_burden() {
    const FUTURE: c_int = 2;
    const MEMLOCK: c_int = 8;
    let _one = collect(RECORD);
    assert!(in_child(|| {
        leave_collector();
        // SAFETY: it reads the limit; numbers.
        unsafe {
            if setrlimit(MEMLOCK, &Limit(c_ulong::MAX, c_ulong::MAX)) == 0 {
                mlockall(FUTURE); // needs privileges; without them the rest is tested all the same
            }
        }
        let is_enabled = PollTrace::new().is_enabled();
        let (mut is_ours, mut kib, mut dumped) = (false, 0, 0);
        for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some(range) if range.contains('-') => is_ours = line.contains("/memfd:ctp"),
                Some("Rss:") if is_ours => kib += words.next().unwrap().parse::<u64>().unwrap(),
                Some("VmFlags:") if is_ours && !words.any(|flag| flag == "dd") => dumped += 1,
                _ => (),
            }
        }
        is_enabled && dumped == 0 && (1..4096).contains(&kib) // of 68 MiB
    }));
}

#[test]
fn a_ring_of_our_pid_may_be_anothers() {
    let _one = collect(RECORD);
    assert!(in_child(|| {
        leave_collector();
        let mut trace = PollTrace::new();
        let owner = u64::from(sys::pid()) << 32 | 1; // a thread that this process does not have, and whose ring is not mapped
        probe().ring(0).unwrap().owner.store(owner, Relaxed);
        probe().header().rings_used.store(1, Relaxed);
        probe().header().mode.store(FOLLOW, Relaxed);
        trace.on_resume();
        probe().ring(0).unwrap().owner.load(Relaxed) == owner && probe().ring(1).unwrap().head.load(Relaxed) == 2
    }));
}

#[test]
fn what_a_dead_collector_left_is_done_once() {
    let _one = collect(RECORD);
    assert!(in_child(|| {
        leave_collector();
        let mut trace = PollTrace::new();
        let (station, header) = (station_of(&trace), probe().header());
        header.mode.store(FOLLOW | MODE_KEEP, Relaxed);
        trace.mark_dead();
        let path = format!("/proc/self/fd/{}\0", probe().memory.get().unwrap().0);
        let collector = Fd::open(path.as_ptr().cast(), sys::OPEN_SHARED).unwrap();
        assert!(collector.lock());
        probe().station_recover();
        assert_eq!((header.mode.load(Relaxed), station.is_dead.load(Relaxed)), (FOLLOW | MODE_KEEP, 1));
        collector.unlock();
        probe().unserved.store(0, Relaxed);
        probe().station_recover();
        assert!(collector.lock());
        assert_eq!((header.mode.load(Relaxed), station.is_dead.load(Relaxed)), (RECORD | MODE_KEEP, 2));
        collector.unlock();
        probe().unserved.store(0, Relaxed);
        header.mode.store(FOLLOW, Relaxed);
        probe().station_recover();
        header.mode.load(Relaxed) == 0 && header.gaps.load(Relaxed) == 1
    }));
}

/// So that all stations have been used.
fn use_all() {
    probe().header().allocated_count.store(probe().shape.max_stations, Relaxed);
}

/// Of a new coroutine: whether it is traced, and how many are counted as untraced.
fn spawned() -> (bool, u32) {
    let trace = PollTrace::new();
    let count = probe().header().allocated_count.load(Relaxed) - probe().shape.max_stations;
    (trace.task_ref().0.reference() != 0, count)
}

#[test]
fn untraced_is_who_got_no_station() {
    let _one = collect(RECORD);
    assert!(in_child(|| {
        leave_collector();
        let mut trace = PollTrace::new();
        use_all();
        let header = probe().header();
        header.mode.store(FOLLOW | MODE_KEEP, Relaxed);
        assert_eq!(spawned(), (false, 1), "the collector is gone, and has left no station");
        assert_eq!(header.mode.load(Relaxed), RECORD | MODE_KEEP);
        header.mode.store(FOLLOW | MODE_KEEP, Relaxed);
        trace.mark_dead();
        probe().unserved.store(0, Relaxed);
        spawned() == (true, 1)
    }));
}

#[test]
fn no_wait_is_longer_than_the_longest() {
    assert_eq!((ring::wait_ns(2000), ring::wait_ns(1 << 24)), (2_000_000, 1_000 << 24));
    assert_eq!(ring::wait_ns(u32::MAX), 1_000 << 24);
}

#[test]
fn keys_are_of_one_probe() {
    // Of one process number, as parent and child may have in namespaces of their own.
    assert_ne!(blank().key(FOLLOW), blank().key(FOLLOW));
}

// --- a handler at each instruction ------------------------------------------------------------------------------------------

const USR1: c_int = 10;
const STOP: c_int = 19;
const STEPS_MAX: u32 = 5000;

fn live() {
    let mut trace = PollTrace::new();
    trace.on_resume();
    trace.on_pending_addr(1);
}

extern "C" fn on_signal(_number: c_int) {
    live();
}

/// In the child of a fork: two stops around what makes this thread known. Its events and the handler's must be in its rings then,
/// or counted as lost, if there was something to clear.
fn first_call(may_lose: bool) -> i32 {
    const TRACEME: c_long = 0;
    crate::init();
    let probe = probe();
    let before = lost();
    // SAFETY: nothing that could be misused.
    unsafe {
        signal(USR1, on_signal);
        if ptrace(TRACEME, 0, 0, 0) != 0 {
            return 2;
        }
        raise(STOP);
        Thread::of(probe);
        raise(STOP);
    }
    live();
    let entries = entries();
    free_the_dead();
    let (kept, lost) = (kinds(&entries).len() as u64, lost() - before);
    let are_whole = entries.iter().all(|entry| entry.reference != 0 || entry.what >> 56 == ENTRY_THREAD);
    let is_right = are_whole && kept + lost == 8 && (lost == 0 || may_lose);
    if is_right {
        0
    } else {
        3
    }
}

/// In all.
fn lost() -> u64 {
    let header = (&probe().header().lost_events, &probe().header().lost_notes);
    let rings = (0..64).map(|index| probe().ring(index).unwrap());
    let pairs = rings.map(|ring| (&ring.lost_events, &ring.lost_notes)).chain(Some(header));
    pairs.map(|(events, notes)| events.load(Relaxed) + notes.load(Relaxed)).sum()
}

/// In the child of a fork: two stops around the birth of a coroutine. There is no station, unless the handler frees one.
fn last_birth() -> i32 {
    const TRACEME: c_long = 0;
    static mut HELD: Option<PollTrace> = None;
    extern "C" fn free_one(_number: c_int) {
        // SAFETY: nobody else has it by now.
        unsafe { *ptr::addr_of_mut!(HELD) = None };
    }
    leave_collector();
    // SAFETY: nothing that could be misused.
    unsafe {
        *ptr::addr_of_mut!(HELD) = Some(PollTrace::new());
        use_all();
        signal(USR1, free_one);
        if ptrace(TRACEME, 0, 0, 0) != 0 {
            return 2;
        }
        raise(STOP);
    }
    let (is_traced, untraced) = spawned();
    // SAFETY: as before.
    unsafe { raise(STOP) };
    if u32::from(is_traced) + untraced == 1 {
        0
    } else {
        3
    }
}

/// Runs it, with a signal at its n-th step. Its status; None: it ended before.
fn stepped(n: u32, run: &dyn Fn() -> i32) -> Option<c_int> {
    const CONT: c_long = 7;
    const KILL: c_long = 8;
    const SINGLESTEP: c_long = 9;
    let is_stopped = |status: c_int| status & 0xff == 0x7f;
    // SAFETY: the child is ours, and traced.
    unsafe {
        let pid = fork();
        if pid == 0 {
            _exit(catch_unwind(AssertUnwindSafe(run)).unwrap_or(1));
        }
        let mut status = status_of(pid);
        for _ in 0..n {
            if is_stopped(status) {
                ptrace(SINGLESTEP, pid, 0, 0);
                status = status_of(pid);
            }
            if status >> 8 == STOP {
                ptrace(KILL, pid, 0, 0);
                status_of(pid);
                return None;
            }
        }
        let mut number = USR1;
        while is_stopped(status) {
            ptrace(CONT, pid, 0, number as usize);
            status = status_of(pid);
            number = if status >> 8 == STOP { 0 } else { status >> 8 };
        }
        Some(status)
    }
}

/// At each seventh step, or at each one with the variable EVERY.
fn at_each_step(run: &dyn Fn() -> i32) {
    if stepped(0, run) == Some(2 << 8) {
        return; // ptrace(2) is not allowed here
    }
    let stride = if std::env::var_os("EVERY").is_some() { 1 } else { 7 };
    let ends: Vec<_> = (1..STEPS_MAX).step_by(stride).map_while(|n| stepped(n, run)).collect();
    assert!(ends.len() * stride > 50);
    assert_eq!(ends.iter().position(|status| *status != 0), None, "of {} runs, one for {stride} steps", ends.len());
}

#[test]
fn a_signal_at_each_step_of_a_threads_first_call() {
    let _one = collect(FOLLOW);
    std::thread::spawn(live).join().unwrap(); // so that its place has a number, and not another one in each child
    at_each_step(&|| first_call(false));
}

#[test]
fn a_signal_at_each_step_of_a_childs_first_call() {
    let _one = collect(FOLLOW);
    live();
    entries();
    at_each_step(&|| first_call(true));
}

#[test]
fn a_signal_at_each_step_of_a_birth_without_a_station() {
    let _one = collect(RECORD);
    at_each_step(&last_birth);
}
