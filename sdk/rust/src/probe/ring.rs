// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The state of a thread: the coroutine that runs on it, and the rings that it writes.
//!
//! A ring has one writer. The entry is stored first, then `head` with release: the one release store of an event. A probe
//! call that interrupts another one on its thread, from a signal handler, finds `depth` raised and uses a second ring.

use super::facts::Facts;
use super::layout::*;
use super::sys::{self, Errno};
use super::Probe;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{compiler_fence, AtomicPtr, AtomicU32, Ordering::*};

const LANES: usize = 2;
const TRIES: u32 = 4096; // one in this many events without a ring searches again
const LOOKED_AT: u32 = 32; // rings of others that are checked before a new one is taken
const MANY: u32 = 1024; // rings: from then on, rings of ended processes are searched before a new one is taken
const MOMENT_US: u32 = 50;
const WAIT_US_MAX: u32 = 1 << 24; // no wait is longer, whatever wait_us says

/// No probe's key.
pub const UNUSUAL: u64 = u64::MAX;

/// One ring, as its writer sees it. One of zeros has no ring and no room.
struct Lane {
    ring: Cell<Option<&'static Ring>>,
    entries: Cell<*mut Entry>,
    head: Cell<u64>,
    limit: Cell<u64>, // up to here there is certainly room
    mask: Cell<u64>,
    vain_tail: Cell<u64>, // tail + 1 at the last wait that timed out
    tries: Cell<u32>,
}

/// The state of a thread. Nothing here has a destructor, so that it is valid until the thread ends.
///
/// Fields that a signal handler must see in the order of their stores are atomic: LLVM moves plain stores across compiler_fence.
pub struct Thread {
    probe: AtomicPtr<Probe>, // the probe of all this
    pub tid: Cell<u64>,
    /// The coroutine that runs, or 0.
    pub current: Cell<u64>,
    /// Where it waits, as far as known: see [`crate::Here`].
    pub site: Cell<u32>,
    /// If there is a site, the coroutine that it waits for there: the last traced future in it whose poll returned `Pending`; or 0.
    pub target: Cell<u64>,
    /// What it waits for, as far as known.
    pub facts: Facts,
    depth: AtomicU32, // probe calls under way
    /// The probe's key, in the mode and under the conditions that [`Coro::event`](super::Coro) is for; otherwise UNUSUAL.
    pub usual: Cell<u64>,
    lanes: [Lane; LANES],
}

thread_local! {
    static SELF: Thread = const { Thread::new() };
}

impl Thread {
    const fn new() -> Thread {
        Thread {
            probe: AtomicPtr::new(ptr::null_mut()),
            tid: Cell::new(0),
            current: Cell::new(0),
            site: Cell::new(0),
            target: Cell::new(0),
            facts: Facts::new(),
            depth: AtomicU32::new(0),
            usual: Cell::new(UNUSUAL),
            lanes: [Lane::new(), Lane::new()],
        }
    }

    /// The calling thread, as long as the caller does not switch threads. (A closure would not need that promise, but doubles the
    /// cost of an event, because compilers do not inline it.)
    #[inline(always)]
    pub fn any<'a>() -> &'a Thread {
        // SAFETY: it has no destructor, so it lives as long as the thread; and it is not Sync, so it stays here.
        unsafe { &*SELF.with(|thread| thread as *const Thread) }
    }

    /// The same, reset after a fork: the probe of a child cannot have the address of its parent's.
    #[inline(always)]
    pub fn of<'a>(probe: &Probe) -> &'a Thread {
        let thread = Thread::any();
        if !ptr::eq(thread.probe.load(Relaxed), probe) {
            thread.renew(probe);
        }
        thread
    }

    /// A signal handler in between finds the old state or the new one. At worst a ring is not used for the rest of the thread's life.
    #[cold]
    fn renew(&self, probe: &Probe) {
        self.tid.set(sys::tid());
        self.usual.set(UNUSUAL);
        if !self.probe.load(Relaxed).is_null() {
            self.renew_lanes(probe);
        }
        compiler_fence(SeqCst);
        self.probe.store(probe as *const Probe as *mut Probe, Relaxed);
    }

    /// The child of a fork has its parent's lanes. Meanwhile a handler finds none, and its events are counted as lost.
    fn renew_lanes(&self, probe: &Probe) {
        self.depth.store(LANES as u32, Relaxed);
        compiler_fence(SeqCst);
        self.probe.store(probe as *const Probe as *mut Probe, Relaxed);
        compiler_fence(SeqCst);
        self.depth.store(LANES as u32, Relaxed); // again, because a handler before this line may have done and ended all this
        compiler_fence(SeqCst);
        self.current.set(0);
        self.site.set(0);
        self.target.set(0);
        self.facts.clear();
        for lane in &self.lanes {
            lane.limit.set(lane.head.get());
            lane.ring.set(None);
            lane.vain_tail.set(0);
            lane.tries.set(0);
        }
        compiler_fence(SeqCst);
        self.depth.store(0, Relaxed);
    }

    /// Begins a part that a signal handler must not enter. Returns how many calls are already under way.
    #[inline(always)]
    pub fn enter(&self) -> u32 {
        let depth = self.depth.load(Relaxed);
        self.depth.store(depth + 1, Relaxed);
        compiler_fence(SeqCst);
        depth
    }

    #[inline(always)]
    pub fn leave(&self, depth: u32, usual: u64) {
        self.usual.set(usual);
        compiler_fence(SeqCst);
        self.depth.store(depth, Relaxed);
    }

    /// Like enter, on the fast path, and if there is room.
    #[inline(always)]
    pub fn begin_usual(&self, key: u64, needs_room: bool) -> bool {
        if self.usual.get() != key || self.depth.load(Relaxed) != 0 {
            return false;
        }
        self.depth.store(1, Relaxed);
        compiler_fence(SeqCst); // a handler may have used up the room before this line, but not after it
        let lane = &self.lanes[0];
        let has_room = !needs_room || lane.head.get() != lane.limit.get();
        if !has_room {
            self.depth.store(0, Relaxed);
        }
        has_room
    }

    #[inline(always)]
    pub fn end_usual(&self) {
        compiler_fence(SeqCst);
        self.depth.store(0, Relaxed);
    }

    #[inline(always)]
    pub fn publish_usual(&self, entry: Entry) {
        self.lanes[0].publish(entry);
    }

    /// Writes an entry, or counts a loss. Call it between enter and leave.
    #[inline(always)]
    pub fn push(&self, probe: &Probe, depth: u32, mode: u32, entry: Entry) {
        match self.lanes.get(depth as usize) {
            Some(lane) if lane.head.get() != lane.limit.get() || self.find_room(probe, lane, mode, &entry) => {
                lane.publish(entry)
            }
            Some(_) => (),
            None => self.lanes[LANES - 1].count_lost(probe, &entry),
        }
    }

    /// No known room is left. Finds some, or counts a loss. The next entry after a loss is preceded by one that reports it.
    #[cold]
    fn find_room(&self, probe: &Probe, lane: &Lane, mode: u32, entry: &Entry) -> bool {
        let _errno = Errno::keep();
        let ring = match lane.ring.get().or_else(|| self.claim(probe, lane, entry.ts)) {
            Some(ring) => ring,
            None => {
                lane.count_lost(probe, entry);
                return false;
            }
        };
        let said = (ring.said_events.load(Relaxed), ring.said_notes.load(Relaxed));
        let events = ring.lost_events.load(Relaxed).wrapping_sub(said.0);
        let notes = ring.lost_notes.load(Relaxed).wrapping_sub(said.1);
        let need = if events != 0 || notes != 0 { 2 } else { 1 };
        let mut until_ns = 0;
        let tail = loop {
            // Entries that the collector has read may be overwritten. Pairs with its release store after its copy.
            let tail = ring.tail.load(Acquire);
            if lane.head.get().wrapping_sub(tail).saturating_add(need) <= lane.mask.get() + 1 {
                break tail;
            }
            if mode & MODE_LOSSLESS == 0 || !lane.wait(probe, tail, &mut until_ns) {
                if need == 1 {
                    ring.gap_ts.store(entry.ts, Relaxed);
                }
                lane.count_lost(probe, entry);
                return false;
            }
        };
        lane.limit.set(tail.wrapping_add(lane.mask.get() + 1));
        if need == 2 {
            ring.said_events.store(said.0.wrapping_add(events), Relaxed);
            ring.said_notes.store(said.1.wrapping_add(notes), Relaxed);
            let what = entry_what(ENTRY_GAP, 0, notes);
            lane.publish(Entry { ts: ring.gap_ts.load(Relaxed), value: events, reference: 0, what });
        }
        true
    }

    /// A ring for this lane: one whose thread has ended, if there is one among a few, or a new one. Its first entry names its owner.
    fn claim(&self, probe: &Probe, lane: &Lane, ts: u64) -> Option<&'static Ring> {
        let tries = lane.tries.get();
        lane.tries.set(tries.wrapping_add(1));
        if tries % TRIES != 0 {
            return None;
        }
        let index = self.claim_index(probe)?;
        let ring = probe.ring(index)?;
        match probe.entries(index) {
            Some(entries) => lane.entries.set(entries),
            None => {
                ring.owner.store(0, Release); // for what the owner before us stored
                return None;
            }
        }
        lane.ring.set(Some(ring));
        lane.mask.set((1 << probe.shape.ring_bits) - 1);
        lane.head.set(ring.head.load(Relaxed));
        for word in [&ring.back_from, &ring.back_to, &ring.over_from, &ring.over_to] {
            word.store(0, Relaxed); // the previous owner may have died before it published them
        }
        ring.clock.store(if probe.raw { u64::from(CLOCK_RAW) } else { 0 }, Relaxed);
        let what = entry_what(ENTRY_THREAD, 0, 0);
        lane.publish(Entry { ts, value: self.owner(probe), reference: 0, what });
        Some(ring)
    }

    fn claim_index(&self, probe: &Probe) -> Option<u32> {
        let max = probe.shape.max_rings;
        let used = probe.header().rings_used.load(Relaxed).min(max);
        let exhausted = used == max;
        let others = exhausted || used >= MANY;
        let few = if exhausted { used } else { used.min(LOOKED_AT) };
        let from = probe.ring_from.fetch_add(few, Relaxed);
        let old = (0..few).map(|i| from.wrapping_add(i) % used).find(|&i| self.take(probe, i, others));
        old.or_else(|| loop {
            let index = probe.take_next(&probe.rings())?;
            if self.take(probe, index, false) {
                return Some(index);
            }
        })
    }

    /// Takes a ring that has no owner, or whose thread has ended. With `others`, also rings of processes that have ended. A ring that
    /// already belongs to this thread may be that of another probe, or of a call that this one interrupts.
    fn take(&self, probe: &Probe, index: u32, others: bool) -> bool {
        let ring = match probe.ring(index) {
            Some(ring) => ring,
            None => return false,
        };
        let me = self.owner(probe);
        let owner = ring.owner.load(Relaxed);
        if (owner >> 32) as u32 == probe.pid && !probe.is_mapped(index) {
            return false; // it has our own ids, from another namespace or from before an exec: not certain
        }
        let is_free = owner == 0 || (owner != me && is_gone(probe, owner, others));
        if !is_free || !is_read(probe, ring) || ring.owner.compare_exchange(owner, me, AcqRel, Relaxed).is_err() {
            return false;
        }
        // Until the exchange another thread may have taken the ring, filled it, and given it back.
        let is_ours = is_read(probe, ring);
        if !is_ours {
            ring.owner.store(0, Release); // for what the owner before us stored
        }
        is_ours
    }

    fn owner(&self, probe: &Probe) -> u64 {
        u64::from(probe.pid) << 32 | self.tid.get()
    }
}

/// How long to wait if that is what the header says.
pub fn wait_ns(wait_us: u32) -> u64 {
    u64::from(wait_us.min(WAIT_US_MAX)) * 1000
}

/// Whether the collector has read enough of a ring for it to have another owner: half of it, and all that is before a skip.
fn is_read(probe: &Probe, ring: &Ring) -> bool {
    let (head, tail) = (ring.head.load(Acquire), ring.tail.load(Relaxed));
    let is_skip_ahead = |to: u64| to > tail && to <= head;
    head.wrapping_sub(tail) <= 1 << probe.shape.ring_bits >> 1
        && !is_skip_ahead(ring.back_to.load(Relaxed))
        && !is_skip_ahead(ring.over_to.load(Relaxed))
}

fn is_gone(probe: &Probe, owner: u64, others: bool) -> bool {
    let pid = (owner >> 32) as u32;
    if pid == probe.pid {
        sys::is_thread_gone(pid, owner as u32)
    } else {
        others && sys::is_process_gone(pid)
    }
}

impl Lane {
    const fn new() -> Lane {
        Lane {
            ring: Cell::new(None),
            entries: Cell::new(ptr::null_mut()),
            head: Cell::new(0),
            limit: Cell::new(0),
            mask: Cell::new(0),
            vain_tail: Cell::new(0),
            tries: Cell::new(0),
        }
    }

    #[inline(always)]
    fn publish(&self, entry: Entry) {
        let head = self.head.get();
        // SAFETY: a lane with room has a ring, whose entries stay mapped and are as many as the mask says; and no other thread reads
        // or writes this one until the head is published.
        unsafe { self.entries.get().add((head & self.mask.get()) as usize).write(entry) };
        self.head.set(head.wrapping_add(1));
        if let Some(ring) = self.ring.get() {
            // A reader that sees this head sees the entry, and everything before it. Pairs with the collector's
            // acquire load.
            ring.head.store(head.wrapping_add(1), Release);
        }
    }

    /// By read-modify-write, because a handler may do the same.
    fn count_lost(&self, probe: &Probe, entry: &Entry) {
        let is_event = entry.what >> 56 <= ENTRY_RESUME;
        let counter = match self.ring.get() {
            Some(ring) if is_event => &ring.lost_events,
            Some(ring) => &ring.lost_notes,
            None if is_event => &probe.header().lost_events,
            None => &probe.header().lost_notes,
        };
        counter.fetch_add(1, Relaxed);
    }

    /// With --lossless: waits a moment. False: it waited long enough, the collector has left, or the last wait was useless.
    fn wait(&self, probe: &Probe, tail: u64, until_ns: &mut u64) -> bool {
        const WANTED: u32 = MODE_RINGS | MODE_LOSSLESS;
        if probe.mode() & WANTED != WANTED || self.vain_tail.get() == tail.wrapping_add(1) {
            return false;
        }
        let now_ns = sys::monotonic();
        if *until_ns == 0 {
            *until_ns = now_ns + wait_ns(probe.header().wait_us.load(Relaxed));
        }
        if now_ns >= *until_ns {
            self.vain_tail.set(tail.wrapping_add(1));
            return false;
        }
        if probe.header().tracer_sleeping.load(Relaxed) == 1 {
            probe.rouse();
        }
        sys::sleep_us(MOMENT_US);
        true
    }
}
