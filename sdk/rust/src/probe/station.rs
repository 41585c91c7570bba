// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Stations: one for each coroutine, reused after it has ended.

use super::layout::*;
use super::sys::Errno;
use super::{sys, Probe};
use std::sync::atomic::{fence, Ordering::*};

const IS_FREE: u8 = 2; // a value of is_dead
const FRESH: u32 = 1024; // new stations that are taken although others are free
const AGAIN: u32 = 64; // one in this many coroutines without memory requests it again
const TRIES: u32 = 1024; // one in this many coroutines without a station checks whether the collector still exists

impl Probe {
    /// A station, and its index; none: there are too many coroutines.
    pub fn station_take(&self) -> Option<(u32, &'static Station)> {
        let allocated = &self.header().allocated_count;
        let used = allocated.load(Relaxed);
        // New stations first, up to a number, so that a collector that attaches later finds coroutines that have ended.
        let fresh = used < FRESH.min(self.shape.max_stations / 2);
        let mut index = if fresh { None } else { self.station_pop() };
        if index.is_none() {
            index = if used < self.shape.max_stations { self.station_new() } else { self.station_last() };
        }
        index.and_then(|index| Some((index, self.station(index)?)))
    }

    /// All stations were used.
    fn station_last(&self) -> Option<u32> {
        if self.has_annex() {
            self.station_recover();
        }
        let left = self.station_pop(); // it may also have been freed meanwhile
        let allocated = &self.header().allocated_count;
        // The count continues beyond max_stations to show how many got none, but it must not wrap around to 0.
        if left.is_none() && allocated.load(Relaxed) >> 31 == 0 {
            allocated.fetch_add(1, Relaxed);
        }
        left
    }

    /// A station that was never used. After a failure, memory is requested again from time to time: there may be room again.
    fn station_new(&self) -> Option<u32> {
        let refusals = self.refusals.load(Relaxed);
        let new = if refusals % AGAIN == 0 { self.take_next(&self.stations()) } else { None };
        if new.is_some() {
            if refusals != 0 {
                self.refusals.store(0, Relaxed);
            }
            return new;
        }
        let left = self.station_pop();
        if left.is_none() && self.header().allocated_count.load(Relaxed) >= self.shape.max_stations {
            self.header().allocated_count.fetch_add(1, Relaxed); // other threads took the last ones meanwhile
        } else if left.is_none() {
            self.refusals.fetch_add(1, Relaxed);
            if self.has_annex() {
                self.header().refused.fetch_add(1, Relaxed);
            }
        }
        left
    }

    /// Frees the station of the coroutine of this generation, which has ended. Of several threads that try, one succeeds; and none
    /// does if another coroutine has the station by now.
    pub fn station_free(&self, index: u32, station: &Station, generation: u32) {
        let freed = tenure(generation, 0);
        if station.tenure.compare_exchange(tenure(generation, OWNED), freed, Relaxed, Relaxed).is_err() {
            return;
        }
        station.is_dead.store(IS_FREE, Relaxed);
        let free = &self.header().free;
        let mut top = free.load(Relaxed);
        loop {
            // Release: as at birth, for a reader that sees the generation only here. Pairs with its acquire load.
            station.tenure.store(tenure(generation, top as u32), Release);
            // Release: the data of the old coroutine and the link are stored. Pairs with the acquire in station_pop.
            match free.compare_exchange_weak(top, stack_word(top, index + 1), Release, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// The tag in the high half makes the exchange fail if another thread has taken the station since its link was read.
    fn station_pop(&self) -> Option<u32> {
        if !self.has_annex() {
            return None;
        }
        let free = &self.header().free;
        let mut top = free.load(Acquire); // pairs with the release of the push
        loop {
            let index = (top as u32).checked_sub(1)?;
            let below = self.station(index)?.next_free();
            match free.compare_exchange_weak(top, stack_word(top, below), Acquire, Acquire) {
                Ok(_) => return Some(index),
                Err(now) => top = now,
            }
        }
    }

    /// There is no station left, and the collector that should free some may be dead. If we get its lock on the memory, it is, and we
    /// do what it left undone.
    #[cold]
    pub fn station_recover(&self) {
        let mode = self.header().mode.load(Relaxed);
        let next = if mode & MODE_KEEP != 0 { MODE_RECORD | MODE_KEEP | mode & MODE_GAPS } else { 0 };
        if mode & MODE_RINGS == 0 || self.unserved.fetch_add(1, Relaxed) % TRIES != 0 {
            return;
        }
        let _errno = Errno::keep();
        if let Some(fd) = self.memory_fd().filter(|fd| fd.lock()) {
            self.station_retire(mode, next);
            fd.unlock();
        }
    }

    /// Does what a killed collector left undone: leaving, and freeing the stations of coroutines that have ended.
    fn station_retire(&self, mode: u32, next: u32) {
        let header = self.header();
        if next == 0 {
            header.gaps.fetch_add(1, Relaxed);
        }
        if mode & MODE_BARE != 0 {
            header.since_ns.store(sys::monotonic(), Relaxed);
        }
        if header.mode.compare_exchange(mode, next, Relaxed, Relaxed).is_err() {
            return;
        }
        // Either we see the death of a coroutine, or it sees the mode. Pairs with the fence after is_dead in death, which may be only a
        // compiler fence: then membarrier(2) makes it a real one.
        fence(SeqCst);
        sys::membarrier();
        for index in 0..self.shape.max_stations {
            if let Some(station) = self.station(index) {
                // Acquire: the 1 below is not of a coroutine before this one. Pairs with the release store of tenure.
                let generation = station.tenure.load(Acquire) as u32;
                if generation != 0 && station.is_dead.load(Acquire) == 1 {
                    self.station_free(index, station, generation);
                }
            }
        }
    }
}

fn stack_word(top: u64, link: u32) -> u64 {
    ((top >> 32) + 1) << 32 | u64::from(link)
}
