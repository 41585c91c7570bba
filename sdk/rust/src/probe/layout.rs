// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The shared memory, field by field as in `sdk/c/ctp.h`. That header and ctp-protocol(5) document the meanings; the tests compare
//! every offset and constant here with that header.
//!
//! Nearly everything is an atomic, because the other side is another process that may do anything at the same time.

use std::sync::atomic::{AtomicI32, AtomicU16, AtomicU32, AtomicU64, AtomicU8, Ordering::Relaxed};

/// Declares a struct with the layout of C, and records it for the tests.
macro_rules! shared {
    ($name:ident, $c:literal { $($field:ident: $type:ty,)* }) => {
        #[repr(C)]
        pub struct $name {
            $(pub $field: $type,)*
        }

        #[cfg(test)]
        impl $name {
            fn claims() -> Vec<String> {
                let whole = std::mem::MaybeUninit::<$name>::uninit();
                let base = whole.as_ptr();
                let mut claims = vec![format!("sizeof(struct {}) == {}", $c, std::mem::size_of::<$name>())];
                $(
                    // SAFETY: addresses only; nothing is read.
                    let at = unsafe { std::ptr::addr_of!((*base).$field) } as usize - base as usize;
                    let field = stringify!($field).replace("reference", "ref");
                    claims.push(format!("offsetof(struct {}, {}) == {}", $c, field, at));
                )*
                claims
            }
        }
    };
}

pub const SHM_MAGIC: u64 = 0x434F_524F_5452_4352;
pub const SHM_VERSION: u32 = 1;
pub const SHM_SLOTS: u64 = 8;
pub const SHM_WAKES: u32 = 4;
pub const SHM_REASONS: u32 = 4;
pub const SHM_HOLDERS: u32 = 51;
pub const SHM_OBJECTS_FEW: u32 = 2048;
pub const SHM_OBJECT_KEYS: u32 = 8;
pub const ANNEX_MAGIC: u64 = 0x3158_454e_4e41_5443;

shared!(Header, "ctp_shm_header" {
    magic: AtomicU64,
    version: AtomicU32,
    max_stations: AtomicU32,
    allocated_count: AtomicU32,
    tracer_sleeping: AtomicU32,
    pad: [u8; 40],
    annex: AtomicU64,
    bytes: AtomicU64,
    sites_at: AtomicU64,
    rings_at: AtomicU64,
    entries_at: AtomicU64,
    max_sites: AtomicU32,
    max_rings: AtomicU32,
    ring_bits: AtomicU32,
    clock: AtomicU32,
    owner: AtomicU64,
    mode: AtomicU32,
    epoch: AtomicU32,
    wait_us: AtomicU32,
    gaps: AtomicU32,
    made_raw: AtomicU64,
    made_ns: AtomicU64,
    raw_hz: AtomicU64,
    since_ns: AtomicU64,
    pad_clock: [u8; 16],
    free: AtomicU64,
    sites_used: AtomicU32,
    rings_used: AtomicU32,
    lost_notes: AtomicU64,
    lost_events: AtomicU64,
    refused: AtomicU64,
    pad_free: [u8; 24],
    sock: [AtomicU8; 108],
    pad_sock: [u8; 20],
    objects_at: AtomicU64,
    max_objects: AtomicU32,
    objects_used: AtomicU32,
    lost_objects: AtomicU64,
    reserved: [u8; 616],
});

shared!(Slot, "ctp_shm_slot" {
    timestamp: AtomicU64,
    tid: AtomicU64,
    addr: AtomicU64,
    seq: AtomicU64,
    reserved: [u8; 24],
    what: AtomicU64, // as in an entry; version 1 knows its last byte, is_active
});

shared!(Wake, "ctp_shm_wake" {
    ts: AtomicU64,
    waker: AtomicU64,
    tid: AtomicU32,
    marks: AtomicU32,
    generation: AtomicU64,
});

shared!(Station, "ctp_shm_station" {
    probe_id: AtomicU64,
    birth_ts: AtomicU64,
    is_dead: AtomicU8,
    pad: [u8; 47],
    slots: [Slot; SHM_SLOTS as usize],
    announce: AtomicU64,
    tenure: AtomicU64,
    first: AtomicU64,
    events: AtomicU64,
    death_ts: AtomicU64,
    parent: AtomicU64,
    spawn_site: AtomicU32,
    pid: AtomicU32,
    nwakes: AtomicU32,
    pad_wakes: [u8; 28],
    name_seq: AtomicU32,
    name_bytes: AtomicU32,
    name: [AtomicU8; 96],
    awaits: AtomicU64,
    await_event: AtomicU64,
    await_generation: AtomicU32,
    await_marks: u32,
    pad_await: [u8; 40],
    wakes: [Wake; SHM_WAKES as usize],
    reasons: [AtomicU64; SHM_REASONS as usize],
    reason_whats: [AtomicU32; SHM_REASONS as usize],
    reason_event: AtomicU64,
    reason_generation: AtomicU32,
    nreasons: AtomicU32,
});

impl Station {
    /// How many coroutines have had it.
    pub fn generation(&self) -> u32 {
        self.tenure.load(Relaxed) as u32
    }

    /// The next one on the stack of free stations, or OWNED.
    pub fn next_free(&self) -> u32 {
        (self.tenure.load(Relaxed) >> 32) as u32
    }
}

shared!(Site, "ctp_shm_site" {
    ready: AtomicU32,
    line: AtomicU32,
    file_bytes: AtomicU16,
    function_bytes: AtomicU16,
    code_bytes: u32,
    text: [AtomicU8; 240],
});

shared!(Object, "ctp_shm_object" {
    begun: AtomicU32,
    done: AtomicU32,
    pid: AtomicU32,
    what: AtomicU32,
    object: AtomicU64,
    made_ts: AtomicU64,
    made: AtomicU32,
    label: AtomicU32,
    all: AtomicU32,
    others: AtomicI32,
    available: AtomicU64,
    available_ts: AtomicU64,
    room: AtomicU64,
    room_ts: AtomicU64,
    closed_ts: AtomicU64,
    held_ts: AtomicU64,
    holders_used: AtomicU32,
    holders_zero: AtomicU32,
    holders: [AtomicU64; SHM_HOLDERS as usize],
});

shared!(Ring, "ctp_shm_ring" {
    head: AtomicU64,
    owner: AtomicU64,
    lost_events: AtomicU64,
    lost_notes: AtomicU64,
    clock: AtomicU64,
    said_events: AtomicU64,
    said_notes: AtomicU64,
    gap_ts: AtomicU64,
    tail: AtomicU64,
    back_from: AtomicU64,
    back_to: AtomicU64,
    over_from: AtomicU64,
    over_to: AtomicU64,
    pad: [u8; 24],
});

// Plain: an entry has one writer, and its reader waits for the head after it.
shared!(Entry, "ctp_shm_entry" {
    ts: u64,
    value: u64,
    reference: u64,
    what: u64,
});

pub const ENTRY_SUSPEND: u64 = 0;
pub const ENTRY_RESUME: u64 = 1;
pub const ENTRY_BIRTH: u64 = 3;
pub const ENTRY_DEATH: u64 = 4;
pub const ENTRY_WAKE: u64 = 5;
pub const ENTRY_NAME: u64 = 6;
pub const ENTRY_THREAD: u64 = 7;
pub const ENTRY_GAP: u64 = 8;
pub const ENTRY_AWAIT: u64 = 9;
pub const ENTRY_REASON: u64 = 10;
pub const ENTRY_OBJECT: u64 = 11;
pub const ENTRY_LABEL: u64 = 12;
pub const ENTRY_HOLDS: u64 = 13;
pub const ENTRY_FOR: u64 = 14;
pub const ENTRY_AT: u64 = 15;

pub const CLOCK_RAW: u32 = 1;

pub const OWNED: u32 = u32::MAX;

pub fn tenure(generation: u32, next_free: u32) -> u64 {
    u64::from(generation) | u64::from(next_free) << 32
}

pub const MODE_RECORD: u32 = 1;
pub const MODE_RINGS: u32 = 2;
pub const MODE_MEMBARRIER: u32 = 4;
pub const MODE_LOSSLESS: u32 = 8;
pub const MODE_BARE: u32 = 16;
pub const MODE_KEEP: u32 = 32;
#[cfg(test)] // the writer here does not skip
pub const MODE_SKIPS: u32 = 64;
pub const MODE_GAPS: u32 = 0xffff_0000;

pub const ANNOUNCE_MAGIC: u32 = 0x2b50_5443;
pub const ANNOUNCE_ORDERED: u32 = 1;
pub const ANNOUNCE_ANNEX: u32 = 2;
pub const ANNOUNCE_BARRIER: u32 = 4;
pub const ANNOUNCE_RAW: u32 = 8;
#[allow(dead_code)] // coroutines of this crate record their end
pub const ANNOUNCE_HAND: u32 = 16;

pub fn announce(flags: u32) -> u64 {
    u64::from(ANNOUNCE_MAGIC) | u64::from(flags) << 32
}

/// What is waited for, and how much of it, as the number of an entry: see `crate::fact`.
pub fn reason_number(what: u32, marks: u32, n: u32) -> u32 {
    what & 0xff | (marks & 0xff) << 8 | n.min(0xffff) << 16
}

pub fn reason_what(number: u32) -> u32 {
    number & 0xff
}

pub fn reason_marks(number: u32) -> u32 {
    number >> 8 & 0xff
}

pub fn entry_what(kind: u64, site: u32, number: u64) -> u64 {
    kind << 56 | u64::from(site & 0xff_ffff) << 32 | number & 0xffff_ffff
}

/// Names one coroutine, although stations are reused; never 0.
pub fn reference(generation: u32, index: u32) -> u64 {
    u64::from(generation) << 32 | (u64::from(index) + 1)
}

pub fn reference_generation(reference: u64) -> u32 {
    (reference >> 32) as u32
}

/// The station's index; for reference 0 an index that no station has.
pub fn reference_index(reference: u64) -> u32 {
    (reference as u32).wrapping_sub(1)
}

pub const OBJECT_RAW: u32 = 0x10000;
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Of an object in the memory.
pub fn object_key(pid: u32, object: u64) -> u64 {
    object ^ u64::from(pid).wrapping_mul(ODD)
}

/// The first of the places where a key can be, in a part of the table with that number of places.
pub fn object_place(key: u64, places: u32) -> u32 {
    (key.wrapping_mul(ODD) >> 32) as u32 % (places / SHM_OBJECT_KEYS) * SHM_OBJECT_KEYS
}

/// A coroutine in 48 bits. No memory has more stations than these have room for.
pub fn holder(reference: u64) -> u64 {
    (reference & 0x3f_ffff) << 26 | reference >> 32 & 0x3ff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact;

    /// Prints the layout, which t/pipe/rust.t lets a C compiler compare with ctp.h.
    #[test]
    fn says_what_it_claims() {
        let structs = [
            Header::claims(),
            Slot::claims(),
            Wake::claims(),
            Station::claims(),
            Site::claims(),
            Object::claims(),
            Ring::claims(),
            Entry::claims(),
        ];
        let constants = constants().into_iter().map(|(name, value)| format!("{} == {}", name, value));
        let claims: Vec<_> = structs.iter().flatten().cloned().chain(constants).collect();
        if let Ok(path) = std::env::var("CTP_LAYOUT") {
            std::fs::write(path, claims.join("\n") + "\n").unwrap();
        }
    }

    fn constants() -> Vec<(&'static str, u64)> {
        let wide = [
            ("CTP_SHM_MAGIC", SHM_MAGIC),
            ("CTP_SHM_SLOTS", SHM_SLOTS),
            ("CTP_SHM_WAKES", SHM_WAKES as u64),
            ("CTP_SHM_REASONS", SHM_REASONS as u64),
            ("CTP_SHM_HOLDERS", SHM_HOLDERS as u64),
            ("CTP_SHM_OBJECTS_FEW", SHM_OBJECTS_FEW as u64),
            ("CTP_SHM_OBJECT_KEYS", SHM_OBJECT_KEYS as u64),
            ("CTP_OBJECT_RAW", OBJECT_RAW as u64),
            ("CTP_OBJECT_KEY(7, 0x435450000000abcdull)", object_key(7, 0x4354_5000_0000_abcd)),
            ("CTP_OBJECT_PLACE(0x8354500012345678ull, 63488)", object_place(0x8354_5000_1234_5678, 63488) as u64),
            ("CTP_HOLDER(0xffedcba9876543ull)", holder(0xff_edcb_a987_6543)),
            ("CTP_OWNED", OWNED as u64),
            ("CTP_TENURE(5, 7)", tenure(5, 7)),
            ("CTP_ANNEX_MAGIC", ANNEX_MAGIC),
            ("CTP_ENTRY_SUSPEND", ENTRY_SUSPEND),
            ("CTP_ENTRY_RESUME", ENTRY_RESUME),
            ("CTP_ENTRY_BIRTH", ENTRY_BIRTH),
            ("CTP_ENTRY_DEATH", ENTRY_DEATH),
            ("CTP_ENTRY_WAKE", ENTRY_WAKE),
            ("CTP_ENTRY_NAME", ENTRY_NAME),
            ("CTP_ENTRY_THREAD", ENTRY_THREAD),
            ("CTP_ENTRY_GAP", ENTRY_GAP),
            ("CTP_ENTRY_AWAIT", ENTRY_AWAIT),
            ("CTP_ENTRY_REASON", ENTRY_REASON),
            ("CTP_ENTRY_OBJECT", ENTRY_OBJECT),
            ("CTP_ENTRY_LABEL", ENTRY_LABEL),
            ("CTP_ENTRY_HOLDS", ENTRY_HOLDS),
            ("CTP_ENTRY_FOR", ENTRY_FOR),
            ("CTP_ENTRY_AT", ENTRY_AT),
            ("CTP_ENTRY(3, 0x123456, 0x789abcdef)", entry_what(3, 0x12_3456, 0x7_89ab_cdef)),
            ("CTP_REF(7, 41)", reference(7, 41)),
            ("CTP_ANNOUNCE(5)", announce(5)),
        ];
        let narrow = [
            ("CTP_SHM_VERSION", SHM_VERSION),
            ("CTP_CLOCK_RAW", CLOCK_RAW),
            ("CTP_MODE_RECORD", MODE_RECORD),
            ("CTP_MODE_RINGS", MODE_RINGS),
            ("CTP_MODE_MEMBARRIER", MODE_MEMBARRIER),
            ("CTP_MODE_LOSSLESS", MODE_LOSSLESS),
            ("CTP_MODE_BARE", MODE_BARE),
            ("CTP_MODE_KEEP", MODE_KEEP),
            ("CTP_MODE_SKIPS", MODE_SKIPS),
            ("CTP_ANNOUNCE_MAGIC", ANNOUNCE_MAGIC),
            ("CTP_ANNOUNCE_ORDERED", ANNOUNCE_ORDERED),
            ("CTP_ANNOUNCE_ANNEX", ANNOUNCE_ANNEX),
            ("CTP_ANNOUNCE_BARRIER", ANNOUNCE_BARRIER),
            ("CTP_ANNOUNCE_RAW", ANNOUNCE_RAW),
            ("CTP_ANNOUNCE_HAND", ANNOUNCE_HAND),
        ];
        let facts = [
            ("CTP_FOR_TIMER", fact::FOR_TIMER),
            ("CTP_FOR_FD", fact::FOR_FD),
            ("CTP_FOR_LOCK", fact::Kind::Lock as u32),
            ("CTP_FOR_PERMITS", fact::Kind::Permits as u32),
            ("CTP_FOR_ITEM", fact::Kind::Item as u32),
            ("CTP_FOR_ROOM", fact::Kind::Room as u32),
            ("CTP_FOR_EVENT", fact::Kind::Event as u32),
            ("CTP_FOR_BARRIER", fact::Kind::Barrier as u32),
            ("CTP_FOR_OTHER", fact::Kind::Other as u32),
            ("CTP_MARK_SHARED", fact::MARK_SHARED),
            ("CTP_MARK_TIMED", fact::MARK_TIMED),
            ("CTP_MARK_CANCELLABLE", fact::MARK_CANCELLABLE),
            ("CTP_MARK_RESTS", fact::MARK_RESTS),
            ("CTP_MARK_OWNED", fact::MARK_OWNED),
            ("CTP_MARK_CLOSED", fact::MARK_CLOSED),
            ("CTP_MARK_GONE", fact::MARK_GONE),
            ("CTP_MARK_MADE", fact::MARK_MADE),
            ("CTP_REASON(4, 6, 70000)", reason_number(4, 6, 70000)),
            ("CTP_REASON_WHAT(0x12345678)", reason_what(0x1234_5678)),
            ("CTP_REASON_MARKS(0x12345678)", reason_marks(0x1234_5678)),
        ];
        let narrow = narrow.iter().chain(&facts).map(|(name, value)| (*name, u64::from(*value)));
        wide.iter().copied().chain(narrow).collect()
    }
}
