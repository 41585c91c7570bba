// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Records what coroutines wait for, how much of it is available, and which coroutine holds it.

use super::coro::note;
use super::layout::*;
use super::objects::ObjectState;
use super::ring::Thread;
use super::site;
use super::sys;
use super::{CoroRef, Probe};
use crate::future::Place;
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

const KEPT: usize = 16; // for one thread, with all nested coroutines

/// What the coroutine that runs on this thread waits for, as far as known, after the reasons of the outer coroutines that poll it.
/// It is written when the coroutine is suspended, because a future that waits may be dropped before that.
pub struct Facts {
    reasons: [Said; KEPT],
    count: Cell<u32>, // also of those that are not kept
    serial: Cell<u64>,
    /// The marks of all that is waited for now.
    marks: Cell<u32>,
    /// The object because of which this thread wakes coroutines now; or 0.
    cause: Cell<u64>,
}

struct Said {
    value: Cell<u64>,
    number: Cell<u32>, // 0: it was removed
    serial: Cell<u64>,
}

/// Refers to some of the reasons, so that they can be removed.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaidRef {
    serial: u64, // of the first
    at: u32,
    count: u32,
    target: u64, // 0: none
}

impl Facts {
    pub const fn new() -> Facts {
        #[allow(clippy::declare_interior_mutable_const)] // to be copied
        const NONE: Said = Said { value: Cell::new(0), number: Cell::new(0), serial: Cell::new(0) };
        Facts { reasons: [NONE; KEPT], count: Cell::new(0), serial: Cell::new(0), marks: Cell::new(0), cause: Cell::new(0) }
    }

    pub fn clear(&self) {
        self.count.set(0);
        self.marks.set(0);
        self.cause.set(0);
    }

    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count.get()
    }

    /// Removes all later reasons.
    #[inline(always)]
    pub fn cut(&self, count: u32) {
        if count < self.count.get() {
            self.count.set(count);
        }
    }

    /// The later reasons, and whether all of them were kept.
    pub fn since(&self, before: u32) -> (impl Iterator<Item = (u64, u32)> + '_, bool) {
        let to = (self.count.get() as usize).min(KEPT);
        let said = &self.reasons[(before as usize).min(to)..to];
        let reasons = said.iter().map(|said| (said.value.get(), said.number.get())).filter(|(_, number)| *number != 0);
        (reasons, self.count.get() as usize == to)
    }

    fn say(&self, tid: u64, value: u64, number: u32) {
        let count = self.count.get();
        self.count.set(count + 1);
        // Unique over all threads: a reason may be removed on another thread.
        let serial = if self.serial.get() == 0 { tid << 40 } else { self.serial.get() } + 1;
        self.serial.set(serial);
        if let Some(said) = self.reasons.get(count as usize) {
            said.value.set(value);
            said.number.set(number | self.marks.get() << 8);
            said.serial.set(serial);
        }
    }
}

/// Whether the coroutine that runs on this thread is recorded, so that its reasons are needed.
#[inline]
pub fn is_recorded() -> bool {
    Thread::any().current.get() != 0 && Probe::peek().map_or(false, |probe| probe.mode() != 0 && probe.has_annex())
}

/// Adds a reason of the coroutine that runs on this thread, for the case that its poll returns `Pending`.
pub fn say(value: u64, number: u32) {
    let thread = Thread::any();
    thread.facts.say(thread.tid.get(), value, number);
}

/// Refers to the reasons that `f` adds.
pub fn saying(f: impl FnOnce()) -> SaidRef {
    let thread = Thread::any();
    let at = thread.facts.count();
    let serial = thread.facts.serial.get();
    let target = thread.target.get();
    f();
    let count = thread.facts.count().saturating_sub(at);
    let target = if thread.target.get() == target { 0 } else { thread.target.get() };
    SaidRef { serial: if serial == 0 { thread.tid.get() << 40 } else { serial } + 1, at, count, target }
}

/// The coroutine that runs on this thread waits for that one, if its poll returns `Pending`.
pub fn say_target(target: CoroRef) {
    if target.reference != 0 && target.probe.map_or(false, Probe::is_alive) {
        Thread::any().target.set(target.reference);
    }
}

/// Removes these reasons. Does nothing if they were written already, or belong to another thread.
pub fn unsay(said: SaidRef) {
    let thread = Thread::any();
    if said.target != 0 && thread.target.get() == said.target {
        thread.target.set(0);
    }
    let facts = &thread.facts;
    let to = facts.count.get().min(said.at + said.count).min(KEPT as u32);
    for at in said.at..to {
        let kept = &facts.reasons[at as usize];
        if kept.serial.get() == said.serial + u64::from(at - said.at) {
            kept.number.set(0);
        }
    }
}

/// All reasons from now on have these marks too. Returns the previous marks, to be restored.
pub fn put_marks(marks: u32) -> u32 {
    Thread::any().facts.marks.replace(marks)
}

pub fn marks() -> u32 {
    Thread::any().facts.marks.get()
}

/// Wakes on this thread are for this object from now on. Returns the previous object, to be restored.
pub fn put_cause(object: u64) -> u64 {
    Thread::any().facts.cause.replace(object)
}

/// The coroutine that runs on this thread.
pub fn current() -> CoroRef {
    let probe = Probe::peek();
    CoroRef { probe, reference: probe.map_or(0, |probe| Thread::of(probe).current.get()) }
}

/// CLOCK_MONOTONIC, in ns.
pub fn monotonic_ns() -> u64 {
    sys::monotonic()
}

/// The probe, if facts are recorded: in the memory, for a collector that attaches later; in the rings, for an attached one.
fn recorded(probe: Option<&'static Probe>) -> Option<&'static Probe> {
    probe.filter(|probe| probe.mode() != 0 && probe.has_annex() && probe.extend())
}

impl Probe {
    fn keeps_objects(&self) -> bool {
        self.mode() & MODE_BARE == 0
    }
}

/// A number that changes when a collector attaches or leaves; none: nothing is recorded. An object is recorded again when it changes: the
/// table of objects may have had no place for it. Attaches, as the first coroutine does.
pub fn follower() -> Option<u64> {
    let probe = recorded(Probe::get())?;
    Some(probe.key(probe.header().epoch.load(Relaxed)))
}

/// Records how much of an object is available, with the marks in `number`.
pub fn object_tell(object: u64, number: u32, available: u64, name: Option<&'static str>, made: Option<Place>) {
    if let Some(probe) = recorded(Probe::peek()) {
        let ts = probe.now();
        let made = made.map_or(0, |place| place.number(probe));
        let label = name.map_or(0, |name| site::label(probe, name));
        if probe.keeps_objects() {
            probe.object_keep(&ObjectState { object, number, available, ts, made, label });
        }
        let what = entry_what(ENTRY_OBJECT, made, u64::from(number));
        note(probe, Entry { ts, value: object, reference: available, what });
        note_label(probe, object, label);
    }
}

pub fn object_name(object: u64, name: &'static str) {
    if let Some(probe) = recorded(Probe::peek()) {
        let label = site::label(probe, name);
        if probe.keeps_objects() {
            probe.object_label(object, label);
        }
        note_label(probe, object, label);
    }
}

fn note_label(probe: &Probe, object: u64, label: u32) {
    if label != 0 {
        note(probe, Entry { ts: probe.now(), value: object, reference: 0, what: entry_what(ENTRY_LABEL, label, 0) });
    }
}

/// The object is gone, as `number` says. It is removed from the table even if nothing is recorded any more: object numbers are never used
/// again, so nothing else would free its place. In the child of a fork, objects of the parent stay as they are.
pub fn object_end(object: u64, number: u32, recorded_for: u64) {
    let probe = match Probe::peek() {
        Some(probe) if probe.key(recorded_for as u32) == recorded_for => probe,
        _ => return,
    };
    let was_kept = probe.object_leave(object);
    if was_kept || recorded_for as u32 == probe.header().epoch.load(Relaxed) {
        let what = entry_what(ENTRY_OBJECT, 0, u64::from(number));
        note(probe, Entry { ts: probe.now(), value: object, reference: 0, what });
    }
}

impl CoroRef {
    /// It holds `n` more of the object, or less. `at`: where it got them. In the child of a fork, coroutines of the parent do not count.
    pub fn holds(self, object: u64, n: i32, at: Option<Place>) {
        match recorded(self.probe) {
            Some(probe) if self.reference != 0 && n != 0 => {
                // First in the memory: its number shows a collector that attaches now whether its copy contains this entry.
                let change = if probe.keeps_objects() { probe.object_hold(object, self.reference, n) } else { 0 };
                let site = at.map_or(0, |at| at.number(probe));
                let entry = |what| Entry { ts: probe.now(), value: object, reference: self.reference, what };
                let holds = entry(entry_what(ENTRY_HOLDS, change, u64::from(n as u32)));
                if site != 0 {
                    // With the same time: that is how the reader knows which entry is meant.
                    note(probe, Entry { what: entry_what(ENTRY_AT, site, 0), ..holds });
                }
                note(probe, holds);
            }
            _ => (),
        }
    }
}
