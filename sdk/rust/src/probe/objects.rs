// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The table of objects in the memory: the last state of each, for a collector that attaches later. `struct ctp_shm_object` in
//! `sdk/c/ctp.h` documents the fields.
//!
//! Any thread changes an object at any time. It counts a change in `begun`, makes it, and counts it in `done`. A reader loads `done`
//! first and `begun` last: if they are equal, its copy is complete.

use super::layout::*;
use super::reserve::PIECE;
use super::{Probe, OBJECTS_MAX};
use crate::fact::{Kind, MARK_CLOSED, MARK_MADE, MARK_OWNED};
use std::mem::size_of;
use std::sync::atomic::{compiler_fence, fence, AtomicU64, Ordering::*};

const KEY: u64 = size_of::<AtomicU64>() as u64;
const OBJECT: u64 = size_of::<Object>() as u64;
const TRIES: u32 = 4; // to take a place that others may take
const HOLD_TRIES: u32 = 16;

/// Parts of the table whose memory is allocated, a bit for each [`PIECE`].
pub type Pieces = [AtomicU64; (OBJECTS_MAX as u64 * (KEY + OBJECT) / PIECE / 64 + 1) as usize];

/// A new state of an object.
pub struct ObjectState {
    pub object: u64,
    pub number: u32, // of the entry
    pub available: u64,
    pub ts: u64,
    pub made: u32, // sites, or 0
    pub label: u32,
}

impl Probe {
    /// Stores a state.
    pub fn object_keep(&self, state: &ObjectState) {
        if let Some((_, object)) = self.object_find(state.object, true) {
            let change = object.begin(self);
            if reason_marks(state.number) & MARK_MADE != 0 {
                object.clear(change);
            }
            object.write(self, state);
            object.finish();
        }
    }

    pub fn object_label(&self, object: u64, label: u32) {
        if let Some((_, object)) = self.object_find(object, false) {
            object.begin(self);
            object.label.store(label, Relaxed);
            object.finish();
        }
    }

    /// A coroutine holds more, or less. Returns the number of the change; 0: the object is not in the memory.
    pub fn object_hold(&self, object: u64, reference: u64, n: i32) -> u32 {
        match self.object_find(object, n > 0) {
            Some((_, object)) => {
                let change = object.begin(self);
                object.hold(reference, n);
                object.held_ts.store(self.now(), Relaxed);
                object.finish();
                change
            }
            None => 0,
        }
    }

    /// The object is gone, and its place is free. False: it had none.
    pub fn object_leave(&self, object: u64) -> bool {
        let (index, object) = match self.object_find(object, false) {
            Some(found) => found,
            None => return false,
        };
        let change = object.begin(self);
        object.clear(change);
        object.finish();
        if let Some(key) = self.object_key(index) {
            key.store(0, Release); // the object is cleared; pairs with the acquire in object_find
        }
        true
    }

    fn object_key(&self, index: u32) -> Option<&'static AtomicU64> {
        self.part(self.shape.objects_at, index, self.shape.max_objects)
    }

    pub fn object(&self, index: u32) -> Option<&'static Object> {
        self.part(self.shape.objects_at + u64::from(self.shape.max_objects) * KEY, index, self.shape.max_objects)
    }

    /// The object and its index; with `make`, if need be a new place for it. None: there is none.
    pub fn object_find(&self, object: u64, make: bool) -> Option<(u32, &'static Object)> {
        let key = object_key(self.pid, object);
        let max = self.shape.max_objects;
        for _ in 0..if max != 0 && key != 0 { TRIES } else { 0 } {
            let index = match self.object_search(key, make) {
                Some(index) if self.object_there(u64::from(max) * KEY + u64::from(index) * OBJECT) => index,
                _ => break,
            };
            let (place, found) = (self.object_key(index)?, self.object(index)?);
            // Acquire: as below; it may be another thread's since the search.
            if place.load(Acquire) == key {
                return Some((index, found));
            }
            self.header().objects_used.fetch_max(if index < SHM_OBJECTS_FEW { 1 } else { 2 }, Relaxed);
            // Acquire: the previous object has been cleared. Pairs with the store in object_leave.
            match place.compare_exchange(0, key, AcqRel, Acquire) {
                Err(other) if other != key => (),
                _ => {
                    found.pid.store(self.pid, Relaxed);
                    found.object.store(object, Relaxed);
                    return Some((index, found));
                }
            }
        }
        if make {
            self.header().lost_objects.fetch_add(1, Relaxed);
        }
        None
    }

    /// The index of a key, or with `make` of a free place for it. (If two threads add the same object at the same time, it may have
    /// two places: a reader that finds both must ignore them.)
    fn object_search(&self, key: u64, make: bool) -> Option<u32> {
        let used = self.header().objects_used.load(Relaxed);
        let mut free = None;
        for (part, (from, to)) in [(0, SHM_OBJECTS_FEW), (SHM_OBJECTS_FEW, self.shape.max_objects)].iter().enumerate() {
            let first = from + object_place(key, to - from);
            let is_needed = (part as u32) < used || make && free.is_none();
            if !is_needed || !self.object_there(u64::from(first) * KEY) {
                break;
            }
            for index in first..first + SHM_OBJECT_KEYS {
                match self.object_key(index)?.load(Relaxed) {
                    found if found == key => return Some(index),
                    0 if make && free.is_none() => free = Some(index),
                    _ => (),
                }
            }
        }
        free
    }

    /// Whether the memory of this byte of the table is allocated. Places are used in no particular order, so each piece is allocated
    /// when it is first needed.
    #[inline]
    fn object_there(&self, at: u64) -> bool {
        let (word, bit) = match self.object_pieces.get((at / PIECE / 64) as usize) {
            Some(word) => (word, 1 << (at / PIECE % 64)),
            None => return false,
        };
        if word.load(Acquire) & bit != 0 {
            return true; // pairs with the release below
        }
        let is_there = self.reserve(&AtomicU64::new(0), self.shape.objects_at + at + 1);
        if is_there {
            word.fetch_or(bit, Release);
        }
        is_there
    }
}

impl Object {
    /// Begins a change; returns its number. Either a collector that attaches sees this, or we see its mode: pairs with its fence and
    /// its membarrier after it has stored the mode. So load the mode after this.
    fn begin(&self, probe: &Probe) -> u32 {
        let number = self.begun.fetch_add(1, Relaxed).wrapping_add(1);
        // A reader that sees a part of the change sees that it has begun. Pairs with its acquire fence before it loads begun.
        fence(Release);
        if probe.is_fenced() {
            fence(SeqCst);
        }
        compiler_fence(SeqCst);
        number
    }

    /// Pairs with the reader's acquire load of done: if it sees the number, it sees the change.
    fn finish(&self) {
        self.done.fetch_add(1, Release);
    }

    /// Forgets the object. This also completes a change that was never finished.
    fn clear(&self, change: u32) {
        for word in [&self.what, &self.made, &self.label] {
            word.store(0, Relaxed);
        }
        for ts in [&self.made_ts, &self.available_ts, &self.room_ts, &self.closed_ts, &self.held_ts] {
            ts.store(0, Relaxed);
        }
        self.others.store(0, Relaxed);
        for holder in &self.holders[..self.used()] {
            holder.store(0, Relaxed);
        }
        self.holders_used.store(0, Relaxed);
        self.done.store(change.wrapping_sub(1), Relaxed);
    }

    fn write(&self, probe: &Probe, state: &ObjectState) {
        let (what, marks, known) = (reason_what(state.number), reason_marks(state.number), self.what.load(Relaxed));
        if marks & MARK_MADE != 0 {
            self.made_ts.store(state.ts, Relaxed);
            self.all.store(state.available.min(u64::from(u32::MAX)) as u32, Relaxed);
        }
        let kind = if reason_what(known) != 0 { 0 } else { what };
        let raw = if probe.raw { OBJECT_RAW } else { 0 };
        self.what.store(known | kind | reason_number(0, marks & MARK_OWNED, 0) | raw, Relaxed);
        if what == Kind::Room as u32 {
            put_stock(&self.room, &self.room_ts, state);
        } else if what != 0 {
            put_stock(&self.available, &self.available_ts, state);
        }
        if marks & MARK_CLOSED != 0 && self.closed_ts.load(Relaxed) == 0 {
            self.closed_ts.store(state.ts, Relaxed);
        }
        for (word, site) in [(&self.made, state.made), (&self.label, state.label)] {
            if site != 0 {
                word.store(site, Relaxed);
            }
        }
    }

    /// If the coroutine has no place, or does not hold that much, the rest is counted in others.
    fn hold(&self, reference: u64, n: i32) {
        let mut rest = i64::from(n);
        for _ in 0..HOLD_TRIES {
            let (at, word) = match self.holder_at(holder(reference), n) {
                Some(found) => found,
                None => break,
            };
            let sum = (word & 0xffff) as i64 + i64::from(n);
            let kept = sum.clamp(0, 0xffff);
            let next = if kept != 0 { holder(reference) << 16 | kept as u64 } else { 0 };
            if at.compare_exchange(word, next, Relaxed, Relaxed).is_ok() {
                rest = sum - kept;
                break;
            }
        }
        if rest != 0 {
            self.others.fetch_add(rest as i32, Relaxed);
        }
    }

    /// How many places of holders have been used since the object was new.
    ///
    /// Relaxed: a coroutine gives back what it took before, so the thread that counts this runs after the one that stored its place, by
    /// the order of the program itself.
    fn used(&self) -> usize {
        self.holders_used.load(Relaxed).min(SHM_HOLDERS) as usize
    }

    /// The place after those in use, which is in use from now on. Another thread may take it first.
    fn holder_next(&self, used: usize) -> Option<(&AtomicU64, u64)> {
        let at = self.holders.get(used)?;
        self.holders_used.fetch_max(used as u32 + 1, Relaxed);
        Some((at, 0))
    }

    /// The word of a holder, or a free one if it is to hold something; and its value.
    fn holder_at(&self, holder: u64, n: i32) -> Option<(&AtomicU64, u64)> {
        let used = self.used();
        let words = self.holders[..used].iter().map(|at| (at, at.load(Relaxed)));
        let mut free = None;
        for (at, word) in words {
            if word >> 16 == holder {
                return Some((at, word));
            }
            if word == 0 && n > 0 && free.is_none() {
                free = Some((at, word));
            }
        }
        free.or_else(|| if n > 0 { self.holder_next(used) } else { None })
    }
}

/// Stores how much is available, and since when it is 0, or not 0.
fn put_stock(available: &AtomicU64, since: &AtomicU64, state: &ObjectState) {
    let before = available.load(Relaxed);
    available.store(state.available, Relaxed);
    if since.load(Relaxed) == 0 || (before == 0) != (state.available == 0) {
        since.store(state.ts, Relaxed);
    }
}
