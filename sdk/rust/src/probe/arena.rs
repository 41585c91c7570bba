// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The shared memory as a file: finds the one for this process, or creates one, and checks its header.

use super::layout::*;
use super::sys::{self, Fd};
use super::{OBJECTS_MAX, RINGS_KNOWN};
use std::mem::size_of;
use std::sync::atomic::Ordering::*;

const STATION: u64 = size_of::<Station>() as u64;
const SITE: u64 = size_of::<Site>() as u64;
const RING: u64 = size_of::<Ring>() as u64;
const OBJECT: u64 = (size_of::<u64>() + size_of::<Object>()) as u64; // with its key
const ENTRY: u64 = size_of::<Entry>() as u64;
const ALIGN: u64 = 65536; // the largest page size

/// The sizes and offsets of its parts, from the header, checked.
#[derive(Clone, Copy)]
pub struct Shape {
    pub annex: bool,
    pub max_stations: u32,
    pub max_sites: u32,
    pub max_rings: u32,
    pub ring_bits: u32,
    pub sites_at: u64,
    pub rings_at: u64,
    pub objects_at: u64,
    pub max_objects: u32, // 0: there is no table of them
    pub entries_at: u64,
}

impl Shape {
    /// As in version 1: only stations.
    fn plain(max_stations: u32) -> Shape {
        let end = (u64::from(max_stations) + 1) * STATION;
        Shape {
            annex: false,
            max_stations,
            max_sites: 0,
            max_rings: 0,
            ring_bits: 0,
            sites_at: end,
            rings_at: end,
            objects_at: end,
            max_objects: 0,
            entries_at: end,
        }
    }

    /// For a memory that we create. Most of it is a hole.
    pub fn new(max_stations: u32, max_sites: u32, max_rings: u32, max_objects: u32, ring_bits: u32) -> Shape {
        let align = |at: u64| (at + ALIGN - 1) & !(ALIGN - 1);
        let sites_at = align((u64::from(max_stations) + 1) * STATION);
        let rings_at = align(sites_at + u64::from(max_sites) * SITE);
        let objects_at = align(rings_at + u64::from(max_rings) * RING);
        let entries_at = align(objects_at + u64::from(max_objects) * OBJECT);
        Shape {
            annex: true,
            max_stations,
            max_sites,
            max_rings,
            ring_bits,
            sites_at,
            rings_at,
            objects_at,
            max_objects,
            entries_at,
        }
    }

    /// From the header, if its annex is consistent with the size of the file.
    fn read(header: &Header, max_stations: u32, bytes: u64) -> Option<Shape> {
        let max_rings = header.max_rings.load(Relaxed);
        let mut shape = Shape {
            annex: header.annex.load(Relaxed) == ANNEX_MAGIC,
            max_stations,
            max_sites: header.max_sites.load(Relaxed),
            max_rings: max_rings.min(RINGS_KNOWN as u32),
            ring_bits: header.ring_bits.load(Relaxed),
            sites_at: header.sites_at.load(Relaxed),
            rings_at: header.rings_at.load(Relaxed),
            objects_at: header.objects_at.load(Relaxed),
            max_objects: header.max_objects.load(Relaxed),
            entries_at: header.entries_at.load(Relaxed),
        };
        let sane = shape.annex
            && header.bytes.load(Relaxed) <= bytes
            && shape.max_sites >> 24 == 0
            && shape.ring_bits <= 30
            && shape.ring_bytes() % sys::page_bytes() == 0
            && (shape.sites_at | shape.rings_at | shape.entries_at) % ALIGN == 0
            && [shape.sites_at, shape.rings_at, shape.entries_at].iter().all(|at| *at <= bytes);
        let fits = sane
            && (u64::from(max_stations) + 1) * STATION <= shape.sites_at
            && shape.sites_at + u64::from(shape.max_sites) * SITE <= shape.rings_at
            && shape.rings_at + u64::from(shape.max_rings) * RING <= shape.entries_at
            && shape.entries_at + u64::from(shape.max_rings) * shape.ring_bytes() <= bytes;
        if fits && !shape.has_objects(max_rings) {
            shape.max_objects = 0;
        }
        fits.then_some(shape)
    }

    /// Whether the memory has a table of objects that fits between the rings and the entries. A memory without one can be used, too.
    fn has_objects(&self, max_rings: u32) -> bool {
        self.max_objects > SHM_OBJECTS_FEW
            && self.max_objects <= OBJECTS_MAX
            && self.max_objects % 16 == 0
            && self.objects_at % ALIGN == 0
            && self.objects_at <= self.entries_at
            && self.rings_at + u64::from(max_rings) * RING <= self.objects_at
            && u64::from(self.max_objects) * OBJECT <= self.entries_at - self.objects_at
    }

    pub fn ring_bytes(&self) -> u64 {
        ENTRY << self.ring_bits
    }
}

/// A valid file, with its header mapped.
pub struct Arena {
    pub fd: Fd,
    pub is_named: bool, // a file on a disk, which may be full
    pub header: &'static Header,
    pub shape: Shape,
}

impl Arena {
    /// The memory for this process; that of the environment comes first.
    pub fn find(pid: u32) -> Option<Arena> {
        if sys::is_privileged() {
            return None; // the caller of a setuid program must not choose a file that it writes to
        }
        Arena::named().or_else(|| {
            let mode = match sys::env(b"CTP_RECORD\0").map(|value| value.to_bytes()) {
                Some([b'0', ..]) => return None,
                Some([b'1', ..]) => MODE_RECORD | MODE_KEEP,
                _ => 0,
            };
            Arena::shared(pid).or_else(|| Arena::make(Shape::new(65536, 16384, RINGS_KNOWN as u32, OBJECTS_MAX, 20), pid, mode))
        })
    }

    /// The memory that a collector has named in the environment.
    fn named() -> Option<Arena> {
        let path = sys::env(b"CTP_SHM_PATH\0")?;
        let stations = sys::env(b"CTP_MAX_STATIONS\0")?.to_str().ok()?.parse().ok().filter(|&n: &u64| n > 0)?;
        let fd = Fd::open(path.as_ptr(), sys::OPEN_SHARED)?;
        Arena::take(fd, stations)
    }

    /// The memory that another copy of the probe created in this process.
    fn shared(pid: u32) -> Option<Arena> {
        const LINK: &[u8] = b"/memfd:ctp (deleted)";
        (Fd::FIRST..=Fd::LAST).map(Fd).find_map(|fd| {
            let mut text = [0; LINK.len() + 1];
            let len = fd.link(&mut text);
            let arena = if &text[..len] == LINK { Arena::take(fd.duplicate()?, u64::MAX)? } else { return None };
            match arena.header.owner.load(Relaxed) {
                owner if arena.shape.annex && owner == u64::from(pid) => return Some(arena),
                owner if arena.shape.annex && owner != 0 => fd.close(), // inherited by a fork, and useless here
                _ => (),
            }
            arena.release();
            None
        })
    }

    /// A new one, for a collector that may attach; with owner 0, as if a collector had created it.
    pub fn make(shape: Shape, owner: u32, mode: u32) -> Option<Arena> {
        let bytes = shape.entries_at + u64::from(shape.max_rings) * shape.ring_bytes();
        let fd = Fd::memory(bytes)?;
        let header = match map_header(fd) {
            Some(header) => header,
            None => {
                fd.close();
                return None;
            }
        };
        header.version.store(SHM_VERSION, Relaxed);
        header.max_stations.store(shape.max_stations, Relaxed);
        header.annex.store(ANNEX_MAGIC, Relaxed);
        header.bytes.store(bytes, Relaxed);
        header.sites_at.store(shape.sites_at, Relaxed);
        header.rings_at.store(shape.rings_at, Relaxed);
        header.entries_at.store(shape.entries_at, Relaxed);
        header.objects_at.store(shape.objects_at, Relaxed);
        header.max_objects.store(shape.max_objects, Relaxed);
        header.max_sites.store(shape.max_sites, Relaxed);
        header.max_rings.store(shape.max_rings, Relaxed);
        header.ring_bits.store(shape.ring_bits, Relaxed);
        header.clock.store(if sys::counter_is_clock() { CLOCK_RAW } else { 0 }, Relaxed);
        header.owner.store(u64::from(owner), Relaxed);
        header.mode.store(mode, Relaxed);
        header.made_ns.store(sys::monotonic(), Relaxed);
        header.made_raw.store(sys::counter(), Relaxed);
        header.raw_hz.store(sys::counter_hz(), Relaxed);
        header.magic.store(SHM_MAGIC, Release); // pairs with the load in take, and with a collector's: all of it is there
        Some(Arena { fd, is_named: false, header, shape })
    }

    /// Uses the file if it is valid, with at most this many stations; otherwise closes it.
    fn take(fd: Fd, stations: u64) -> Option<Arena> {
        let stat = fd.stat();
        let bytes = stat.as_ref().filter(|stat| stat.is_regular).map_or(0, |stat| stat.bytes);
        let header = match if bytes >= 2 * STATION { map_header(fd) } else { None } {
            Some(header) => header,
            None => {
                fd.close();
                return None;
            }
        };
        let known = header.magic.load(Acquire) == SHM_MAGIC && header.version.load(Relaxed) == SHM_VERSION;
        let theirs = u64::from(header.max_stations.load(Relaxed));
        let stations = stations.min(theirs).min(bytes / STATION - 1) as u32; // a page after the end of the file raises SIGBUS
        let shape = Shape::read(header, stations, bytes).unwrap_or_else(|| Shape::plain(stations));
        let is_named = stat.map_or(false, |stat| stat.is_named);
        let arena = Arena { fd, is_named, header, shape };
        if known && stations > 0 {
            return Some(arena);
        }
        arena.release();
        None
    }

    /// Releases it; the header is not used after that.
    pub fn release(self) {
        self.fd.close();
        // SAFETY: the arena has the only reference to its header.
        unsafe { sys::unmap(self.header as *const Header as *mut u8, size_of::<Header>()) };
    }
}

fn map_header(fd: Fd) -> Option<&'static Header> {
    let at = sys::map(fd, 0, size_of::<Header>())?;
    // SAFETY: large enough, aligned to a page, made of atomics, and mapped until release.
    Some(unsafe { &*at.cast() })
}

/// Whether our counter is that of the memory's creator: in an emulator it is not.
pub fn counter_agrees(header: &Header, own: bool) -> bool {
    if header.clock.load(Relaxed) != CLOCK_RAW || sys::counter() == 0 {
        return false;
    }
    let hz = header.raw_hz.load(Relaxed);
    if own || hz == 0 {
        return own;
    }
    let raw_s = sys::counter().wrapping_sub(header.made_raw.load(Relaxed)) as f64 / hz as f64;
    let clock_s = sys::monotonic().wrapping_sub(header.made_ns.load(Relaxed)) as f64 / 1e9;
    (raw_s - clock_s).abs() < 0.01 + clock_s * 0.001
}
