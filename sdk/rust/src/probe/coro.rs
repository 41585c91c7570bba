// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! One coroutine: its birth, its events, its death, as the probe writes them down.

use super::layout::*;
use super::ring::{Thread, UNUSUAL};
use super::site;
use super::sys;
use super::Probe;
use crate::future::Place;
use std::borrow::Cow;
use std::sync::atomic::{compiler_fence, fence, AtomicU32, Ordering::*};

/// The mode of a coroutine that is not traced.
static OFF: AtomicU32 = AtomicU32::new(0);

/// Of the calls for one coroutine, each ends before the next begins: they take it by `&mut`.
pub struct Coro {
    mode: &'static AtomicU32, // the probe's, for a first look; in the child of a fork still that of the parent's
    probe: Option<&'static Probe>, // none: not traced
    station: Option<&'static Station>, // none: nothing was recorded yet
    index: u32,
    spawned: u32, // the number of its spawn site
    reference: u64,
    events: u64,
    entered: Option<Outer>, // while it runs
    place: Place,
    name: Option<Cow<'static, str>>,
}

/// What ran on this thread when a coroutine was resumed.
#[derive(Clone, Copy)]
struct Outer {
    current: u64,
    waits: Waits,
}

/// Where the running coroutine waits, as far as known, and its target if the place is known.
#[derive(Clone, Copy)]
pub struct Waits {
    target: u64,
    site: u32,
    reasons: u32, // of thread.facts, that were there before
}

/// A reference for waking: it names one coroutine, even after it has ended.
#[derive(Clone, Copy)]
pub struct CoroRef {
    pub(super) probe: Option<&'static Probe>,
    pub(super) reference: u64,
}

impl PartialEq for CoroRef {
    fn eq(&self, other: &CoroRef) -> bool {
        self.reference == other.reference
    }
}

impl Thread {
    #[inline(always)]
    fn take_waits(&self) -> Waits {
        Waits { target: self.target.replace(0), site: self.site.replace(0), reasons: self.facts.count() }
    }
}

/// Attaches, if that was not tried yet. Returns whether anything is recorded.
pub fn init() -> bool {
    Probe::get().map_or(false, |probe| probe.mode() != 0)
}

/// Whether anything is recorded.
pub fn is_recording() -> bool {
    Probe::peek().map_or(false, |probe| probe.mode() != 0)
}

/// Does what CTP_RECORD=1 does.
pub fn record() -> bool {
    let probe = Probe::get();
    if let Some(probe) = probe.filter(|probe| probe.has_annex()) {
        if probe.mode() & MODE_RECORD == 0 {
            probe.header().since_ns.store(sys::monotonic(), Relaxed);
        }
        let gaps = probe.header().gaps.load(Relaxed) << 16 & MODE_GAPS;
        probe.header().mode.fetch_or(MODE_RECORD | MODE_KEEP | gaps, Relaxed);
    }
    probe.is_some()
}

/// Whether a coroutine runs on this thread.
#[inline]
pub fn is_coroutine() -> bool {
    Thread::any().current.get() != 0
}

/// Takes the place where it waits, as far as known, and clears it.
#[inline]
pub fn take_waits() -> Waits {
    Thread::any().take_waits()
}

/// Restores that place.
#[inline]
pub fn put_waits(waits: Waits) {
    let thread = Thread::any();
    thread.site.set(waits.site);
    thread.target.set(waits.target);
    thread.facts.cut(waits.reasons);
}

/// It still waits there, unless an inner future has set the place.
pub fn wait_still(waits: Waits) {
    let thread = Thread::any();
    if thread.site.get() == 0 {
        thread.site.set(waits.site);
        thread.target.set(waits.target);
    }
}

/// It waits there, unless an inner future has set the place. Returns the number of the place if it was used.
pub fn wait_at(place: Place) -> u32 {
    let thread = Thread::any();
    if thread.site.get() != 0 {
        return 0;
    }
    thread.site.set(Probe::peek().map_or(0, |probe| place.number(probe)));
    thread.site.get()
}

/// The future that waited there is dropped.
pub fn wait_no_more(site: u32) {
    let thread = Thread::any();
    if thread.site.get() == site {
        thread.site.set(0);
        thread.target.set(0);
    }
}

impl Coro {
    /// It is spawned. If nothing is recorded yet, it gets its station with its first recorded event.
    pub fn new(place: Place) -> Coro {
        let probe = Probe::get();
        let mode = probe.and_then(Probe::mode_word).unwrap_or(&OFF);
        let mut coro = Coro {
            mode,
            probe,
            station: None,
            index: 0,
            spawned: 0,
            reference: 0,
            events: 0,
            entered: None,
            place,
            name: None,
        };
        if let Some(probe) = coro.recorded() {
            coro.birth(probe, false);
        }
        coro
    }

    /// Whether it has a station.
    pub fn is_traced(&self) -> bool {
        self.station.is_some() && self.probe.map_or(false, |probe| probe.is_alive())
    }

    /// Whether it is probably recorded. If nothing is recorded, this check is the whole cost.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.mode.load(Relaxed) != 0
    }

    #[inline]
    fn recorded(&self) -> Option<&'static Probe> {
        self.probe.filter(|_| self.is_recorded())
    }

    pub fn id(&self) -> u64 {
        if self.is_traced() {
            self.station.map_or(0, |station| station.probe_id.load(Relaxed))
        } else {
            0
        }
    }

    pub fn reference(&self) -> CoroRef {
        CoroRef { probe: self.probe, reference: self.reference }
    }

    #[inline(never)]
    fn birth(&mut self, probe: &'static Probe, late: bool) {
        let (index, station) = match if probe.extend() { probe.station_take() } else { None } {
            Some(taken) => taken,
            None => {
                self.probe = None;
                self.mode = &OFF;
                return;
            }
        };
        let annex = probe.has_annex();
        let generation = station.generation().wrapping_add(1).max(1);
        let reference = if annex { reference(generation, index) } else { 0 };
        let mut flags = if probe.is_fenced() { ANNOUNCE_ORDERED } else { ANNOUNCE_BARRIER };
        let ts = probe.now();
        self.index = index;
        self.reference = reference;
        self.station = Some(station);
        if annex {
            flags |= ANNOUNCE_ANNEX | if probe.raw { ANNOUNCE_RAW } else { 0 };
            // Release: a reader that sees it sees that the previous coroutine has ended. Pairs with the reader's acquire load.
            station.tenure.store(tenure(generation, OWNED), Release);
            // A reader that sees any of the new fields sees the new generation. Pairs with the reader's acquire fence.
            fence(Release);
            self.birth_annex(probe, station, late);
        }
        // A number that is unique in the trace.
        station.probe_id.store(if annex { reference - (1 << 32) } else { u64::from(index) + 1 }, Relaxed);
        station.birth_ts.store(if late { 0 } else { ts }, Relaxed);
        // Release: the header is complete. Pairs with the reader's acquire load of announce, and of is_dead.
        station.announce.store(announce(flags), Release);
        if annex {
            station.is_dead.store(0, Release);
            let what = entry_what(ENTRY_BIRTH, self.spawned, self.events);
            note(probe, Entry { ts, value: station.probe_id.load(Relaxed), reference, what });
            self.write_name(probe, station);
        }
    }

    /// Fills the fields of the annex. The parent of a late one is not known.
    fn birth_annex(&mut self, probe: &Probe, station: &Station, late: bool) {
        self.spawned = self.place.number(probe);
        self.events = station.events.load(Relaxed);
        station.first.store(self.events, Relaxed);
        station.parent.store(if late { 0 } else { Thread::of(probe).current.get() }, Relaxed);
        station.spawn_site.store(self.spawned, Relaxed);
        station.pid.store(probe.pid, Relaxed);
        station.name_bytes.store(0, Relaxed);
    }

    /// It runs on this thread from now on.
    #[inline]
    pub fn resume(&mut self) {
        if let Some(probe) = self.recorded() {
            self.resume_in(probe);
        }
    }

    /// Neither this nor suspend_in is inlined: a stackful coroutine may be resumed on another thread, where an address of
    /// thread-local variables that the compiler kept is wrong.
    #[inline(never)]
    fn resume_in(&mut self, probe: &'static Probe) {
        let mode = probe.mode();
        let thread = Thread::any();
        if self.event(probe, mode, thread, 0, entry_what(ENTRY_RESUME, 0, 0)) {
            self.enter(thread);
            probe.tell_usual(mode);
        } else {
            self.resume_slow(probe);
        }
    }

    #[cold]
    #[inline(never)]
    fn resume_slow(&mut self, probe: &'static Probe) {
        if let Some(thread) = self.event_slow(probe, 0, entry_what(ENTRY_RESUME, 0, 0)) {
            self.enter(thread);
        }
    }

    #[inline(always)]
    fn enter(&mut self, thread: &Thread) {
        let current = thread.current.replace(self.reference);
        if current == 0 {
            thread.facts.cut(0); // of one that was suspended on another thread
        }
        self.entered = Some(Outer { current, waits: thread.take_waits() });
    }

    /// The next suspension waits for that coroutine. In the child of a fork, coroutines of the parent do not count.
    pub fn wait_for(&mut self, target: CoroRef) {
        let probe = match self.recorded() {
            Some(probe) if probe.has_annex() && probe.mode() != 0 => probe,
            _ => return,
        };
        if target.reference == 0 || !target.probe.map_or(false, Probe::is_alive) {
            return;
        }
        let thread = Thread::any();
        if thread.current.get() == self.reference {
            thread.target.set(0); // an explicit target replaces it
        }
        if self.station.is_none() {
            self.birth(probe, true);
        }
        if let Some(station) = self.station {
            if probe.mode() & MODE_BARE == 0 {
                compiler_fence(SeqCst); // the reader relies on the order of the slots before and after
                station.awaits.store(target.reference, Relaxed);
                station.await_event.store(self.events, Relaxed);
                station.await_generation.store((self.reference >> 32) as u32, Relaxed);
                compiler_fence(SeqCst);
            }
            let what = entry_what(ENTRY_AWAIT, 0, 0);
            note(probe, Entry { ts: probe.now(), value: target.reference, reference: self.reference, what });
        }
    }

    /// The reasons that were given on this thread since it was resumed, and still hold.
    #[inline(always)]
    fn tell_reasons(&mut self) {
        let (thread, before) = match &self.entered {
            Some(outer) => (Thread::any(), outer.waits.reasons),
            None => return,
        };
        if thread.facts.count() != before && thread.current.get() == self.reference {
            self.tell_reasons_of(thread, before);
        }
    }

    #[cold]
    fn tell_reasons_of(&mut self, thread: &Thread, before: u32) {
        let (reasons, all) = thread.facts.since(before);
        let written = reasons.map(|(value, number)| self.reason(value, number)).count() as u32;
        if !all {
            // There are more than are kept, and the reader must know that.
            (written..=SHM_REASONS).for_each(|_| self.reason(0, crate::fact::Kind::Other as u32));
        }
    }

    /// One of the reasons of the next suspension. The stores to the station are ordered as in wait_for.
    pub fn reason(&mut self, value: u64, number: u32) {
        let probe = match self.recorded() {
            Some(probe) if probe.has_annex() && probe.mode() != 0 => probe,
            _ => return,
        };
        if self.station.is_none() {
            self.birth(probe, true);
        }
        let station = match self.station {
            Some(station) => station,
            None => return,
        };
        if probe.mode() & MODE_BARE == 0 {
            let generation = reference_generation(self.reference);
            let is_first =
                station.reason_event.load(Relaxed) != self.events || station.reason_generation.load(Relaxed) != generation;
            let n = if is_first { 0 } else { station.nreasons.load(Relaxed) };
            compiler_fence(SeqCst);
            if let (Some(to), Some(what)) = (station.reasons.get(n as usize), station.reason_whats.get(n as usize)) {
                to.store(value, Relaxed);
                what.store(number, Relaxed);
            }
            station.reason_event.store(self.events, Relaxed);
            station.reason_generation.store(generation, Relaxed);
            station.nreasons.store(n.min(SHM_REASONS) + 1, Relaxed);
            compiler_fence(SeqCst);
        }
        let what = entry_what(ENTRY_REASON, 0, u64::from(number));
        note(probe, Entry { ts: probe.now(), value, reference: self.reference, what });
    }

    /// It is about to give up its thread: at the place that an inner future has set, or at `place`, or at its spawn site.
    #[inline]
    pub fn suspend(&mut self, addr: u64, place: Option<Place>) {
        if let Some(probe) = self.recorded() {
            match place {
                None => self.suspend_in(probe, addr),
                Some(_) => self.suspend_at(probe, addr, place),
            }
        } else if self.entered.is_some() {
            self.leave(true);
        }
    }

    /// The usual case: it runs on this thread and in no other coroutine, and no future in it has recorded where or for what it waits.
    /// Then it has nothing to restore. All calls are the last of the function, so that no registers are saved.
    #[inline(never)]
    fn suspend_in(&mut self, probe: &'static Probe, addr: u64) {
        let mode = probe.mode();
        let thread = Thread::any();
        let is_usual = self.entered.as_ref().map_or(false, |outer| {
            mode != 0
                && outer.current == 0
                && thread.current.get() == self.reference
                && thread.site.get() == 0
                && thread.facts.count() == outer.waits.reasons
        });
        if !is_usual {
            return self.suspend_at(probe, addr, None);
        }
        self.entered = None;
        thread.current.set(0);
        thread.target.set(0);
        let what = entry_what(ENTRY_SUSPEND, self.spawned, 0);
        if self.event(probe, mode, thread, addr, what) {
            probe.tell_usual(mode);
        } else {
            self.event_slow(probe, addr, what);
        }
    }

    #[inline(never)]
    fn suspend_at(&mut self, probe: &'static Probe, addr: u64, place: Option<Place>) {
        self.tell_reasons();
        let Waits { site: inner, target, .. } = self.leave(true);
        let site = match place {
            _ if inner != 0 => {
                if target != 0 {
                    self.wait_for(CoroRef { probe: self.probe, reference: target });
                }
                inner
            }
            Some(place) => place.number(probe),
            None => self.spawned,
        };
        let mode = probe.mode();
        let what = entry_what(ENTRY_SUSPEND, site, 0);
        if self.event(probe, mode, Thread::any(), addr, what) {
            probe.tell_usual(mode);
        } else {
            self.event_slow(probe, addr, what);
        }
    }

    /// The number of the event is still to be added to `what`. This is the fast path, in which nothing has to be found, created or
    /// fenced: event_slow has ensured that. False: nothing was written. If true, tell_usual is still to be called.
    #[inline(always)]
    fn event(&mut self, probe: &'static Probe, mode: u32, thread: &Thread, addr: u64, what: u64) -> bool {
        let follows = mode & MODE_RINGS != 0;
        let station = match self.station {
            Some(station) if thread.begin_usual(probe.key(mode), follows) => station,
            _ => return false,
        };
        let events = self.events;
        self.events = events.wrapping_add(1);
        let what = what | events & 0xffff_ffff;
        let entry = Entry { ts: sys::counter(), value: addr, reference: self.reference, what };
        if mode & MODE_BARE == 0 {
            station.slot(events).write(events, thread.tid.get(), &entry, false);
        }
        if follows {
            thread.publish_usual(entry);
        }
        thread.end_usual();
        true
    }

    #[cold]
    #[inline(never)]
    fn event_slow(&mut self, probe: &'static Probe, addr: u64, what: u64) -> Option<&'static Thread> {
        let mode = probe.mode();
        if mode == 0 {
            return None; // the collector has just left, or this is the child of a fork
        }
        if self.station.is_none() {
            self.birth(probe, true);
        }
        let station = self.station?;
        let fenced = probe.is_fenced();
        let thread = Thread::of(probe);
        let depth = thread.enter();
        let what = what | self.events & 0xffff_ffff;
        let entry = Entry { ts: probe.now(), value: addr, reference: self.reference, what };
        if mode & MODE_BARE == 0 {
            station.slot(self.events).write(self.events, thread.tid.get(), &entry, fenced);
        }
        if mode & MODE_RINGS != 0 {
            thread.push(probe, depth, mode, entry);
        }
        self.events = self.events.wrapping_add(1);
        let is_usual = probe.raw && !fenced && mode & (MODE_RINGS | MODE_MEMBARRIER) != MODE_RINGS;
        thread.leave(depth, if is_usual { probe.key(mode) } else { UNUSUAL });
        probe.tell(mode);
        Some(thread)
    }

    /// It does not run any more: restores the outer coroutine, and returns where and for which coroutine it waits. If it has not
    /// ended, the outer coroutine waits for it.
    #[inline(always)]
    fn leave(&mut self, alive: bool) -> Waits {
        let nowhere = Waits { target: 0, site: 0, reasons: 0 };
        let outer = match (self.entered.take(), self.probe) {
            (Some(outer), Some(probe)) if probe.is_alive() => outer,
            _ => return nowhere,
        };
        let thread = Thread::any();
        if thread.current.get() != self.reference {
            return nowhere; // it was resumed on another thread
        }
        thread.current.set(outer.current);
        let waits = thread.take_waits();
        thread.facts.cut(outer.waits.reasons);
        if outer.current != 0 {
            let here = Waits { target: self.reference, site: self.spawned, reasons: outer.waits.reasons };
            put_waits(if alive && self.spawned != 0 { here } else { outer.waits });
        }
        waits
    }

    /// Names it for people. The name is kept, because recording may begin later.
    pub fn set_name(&mut self, name: Cow<'static, str>) {
        self.name = Some(name);
        match (self.recorded(), self.station) {
            (Some(probe), Some(station)) if probe.has_annex() => self.write_name(probe, station),
            _ => (),
        }
    }

    fn write_name(&self, probe: &Probe, station: &Station) {
        let name = match &self.name {
            Some(name) => name,
            None => return,
        };
        let name = site::begin(name, station.name.len());
        let seq = (station.name_seq.load(Relaxed) | 1).wrapping_add(1);
        station.name_seq.store(seq.wrapping_sub(1), Relaxed);
        fence(Release); // pairs with the reader's acquire fence before its second load of name_seq
        site::put(&station.name, name);
        station.name_bytes.store(name.len() as u32, Relaxed);
        station.name_seq.store(seq, Release); // pairs with its acquire load, the first of name_seq
        let what = entry_what(ENTRY_NAME, 0, u64::from(seq));
        note(probe, Entry { ts: probe.now(), value: 0, reference: self.reference, what });
    }

    /// It has ended. Further calls do nothing.
    pub fn death(&mut self) {
        self.leave(false);
        if self.spawned != 0 {
            wait_no_more(self.spawned);
        }
        let is_traced = self.is_traced();
        self.mode = &OFF;
        let (probe, station) = match (self.probe.take(), self.station) {
            (Some(probe), Some(station)) if is_traced => (probe, station),
            _ => return,
        };
        if !probe.has_annex() {
            station.is_dead.store(1, Release); // its events came before; pairs with the reader's acquire load
            return;
        }
        let ts = probe.now();
        // Release: a reader that sees one of these sees the generation, even if the coroutine was spawned on another thread, whose
        // fence orders nothing here. Pairs with the reader's acquire fence before its second look at the generation.
        station.events.store(self.events, Release);
        station.death_ts.store(ts, Release);
        // As above. And either a collector that leaves sees the death and frees the station, or we see that it left: pairs with
        // its fence and its membarrier, and with those in station_retire.
        station.is_dead.store(1, Release);
        if probe.is_fenced() {
            fence(SeqCst);
        }
        compiler_fence(SeqCst);
        if probe.mode() & MODE_RINGS != 0 {
            let what = entry_what(ENTRY_DEATH, 0, self.events);
            note(probe, Entry { ts, value: self.events, reference: self.reference, what });
        } else {
            probe.station_free(self.index, station, (self.reference >> 32) as u32);
        }
    }
}

impl CoroRef {
    #[cfg(test)]
    pub fn reference(self) -> u64 {
        self.reference
    }

    /// It has just become ready to run, for an object or for 0.
    pub fn wake(self, object: u64) {
        let probe = match self.probe {
            Some(probe) if self.reference != 0 && probe.mode() != 0 => probe,
            _ => return,
        };
        let station = match probe.station(reference_index(self.reference)) {
            Some(station) => station,
            None => return,
        };
        let thread = Thread::of(probe);
        let (tid, waker) = (thread.tid.get(), thread.current.get());
        let ts = probe.now();
        let generation = reference_generation(self.reference);
        if station.generation() == generation && probe.mode() & MODE_BARE == 0 {
            let n = station.nwakes.load(Relaxed);
            let wake = &station.wakes[(n % SHM_WAKES) as usize];
            station.nwakes.store(n.wrapping_add(1), Relaxed);
            // Release: as in death.
            wake.ts.store(ts, Release);
            wake.waker.store(waker, Release);
            wake.tid.store(tid as u32, Release);
            wake.marks.store(0, Release);
            // Release: the above is not of a previous coroutine. Pairs with the reader's acquire load.
            wake.generation.store(generation as u64, Release);
        }
        note(probe, Entry { ts, value: waker, reference: self.reference, what: entry_what(ENTRY_WAKE, 0, 0) });
        if object != 0 {
            // With the same time: that is how the reader knows which wake is meant.
            note(probe, Entry { ts, value: object, reference: self.reference, what: entry_what(ENTRY_FOR, 0, 0) });
        }
    }
}

/// Writes an entry that is not a transition, for an attached collector.
pub(super) fn note(probe: &Probe, entry: Entry) {
    let mode = probe.mode();
    if mode & MODE_RINGS != 0 {
        let thread = Thread::of(probe);
        let depth = thread.enter();
        thread.push(probe, depth, mode, entry);
        thread.leave(depth, thread.usual.get());
        probe.tell(mode);
    }
}

impl Station {
    /// For event number k.
    #[inline(always)]
    fn slot(&self, k: u64) -> &Slot {
        &self.slots[(k % SHM_SLOTS) as usize]
    }
}

impl Slot {
    /// Event k of a station: seq is odd while it is written, and 2 * (k / 8 + 1) when it is complete.
    ///
    /// If the collector's membarrier(2) reaches us, only the compiler keeps this order. The collector calls membarrier before it
    /// reads the payload, and then sees everything before the even seq here; and again after that, and then sees the odd seq of
    /// anything it saw.
    #[inline(always)]
    fn write(&self, k: u64, tid: u64, entry: &Entry, fenced: bool) {
        let seq = (k / (SHM_SLOTS / 2)) | 1;
        self.seq.store(seq, Relaxed);
        if fenced {
            // A reader that sees any of the payload below sees the odd seq above. Pairs with the reader's acquire fence between its
            // copy of the payload and its second load of seq.
            fence(Release);
        }
        compiler_fence(SeqCst);
        self.timestamp.store(entry.ts, Relaxed);
        self.tid.store(tid, Relaxed);
        self.addr.store(entry.value, Relaxed);
        self.what.store(entry.what, Relaxed);
        compiler_fence(SeqCst);
        // A reader that sees this seq sees the payload above. Pairs with its acquire load, the first of seq.
        self.seq.store(seq + 1, if fenced { Release } else { Relaxed });
    }
}
