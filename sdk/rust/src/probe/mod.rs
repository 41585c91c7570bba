// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The probe, as `sdk/c/ctp.h` is for C. This file has the attachment of this process to a shared memory, which is made once, is never
//! undone, and does not survive a fork.

mod arena;
mod coro;
mod facts;
mod layout;
mod objects;
mod reserve;
mod ring;
mod site;
mod station;
mod sys;
#[cfg(test)]
mod tests;

pub use self::coro::{init, is_coroutine, is_recording, put_waits, record, take_waits, wait_at, wait_no_more, wait_still};
pub use self::coro::{Coro, CoroRef};
pub use self::facts::*;
pub use self::layout::reason_number;

use self::arena::{Arena, Shape};
use self::layout::*;
use self::reserve::Table;
use self::sys::{Errno, Fd, Kept};
use std::mem::size_of;
use std::ptr;
use std::sync::atomic::{compiler_fence, fence, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

const RINGS_KNOWN: usize = 8192;
const OBJECTS_MAX: u32 = 65536;

/// It has pages of its own, which the kernel zeroes in the child of a fork (MADV_WIPEONFORK). So in the child every inherited handle
/// finds `mode` null, and so does the next birth, which attaches again in new pages. This works for fork, and for a clone without
/// atfork handlers, and costs the hot path one load. The pages are never freed, so their address also identifies the process within
/// one address space: see [`ring::Thread`].
///
/// All zeros are valid. Fields that are not atomics are written before the probe is published, and not after.
#[repr(C)]
pub struct Probe {
    mode: AtomicPtr<AtomicU32>, // in the header, or version 1's, which is v1_mode
    header: AtomicPtr<Header>,
    base: AtomicPtr<u8>, // of all but the entries; null: only the header is mapped yet
    v1_mode: AtomicU32,
    pub pid: u32,
    pub raw: bool,
    fenced: AtomicBool, // membarrier(2) does not reach this process
    vain: bool,         // there is nothing to attach to
    is_named: bool,     // the memory is a file on a disk
    pub shape: Shape,
    memory: Kept,
    socket: Kept,
    socket_epoch: AtomicU32,
    pub ring_from: AtomicU32, // where to search for rings without an owner
    pub unserved: AtomicU32,  // coroutines that got no station
    pub refusals: AtomicU32,  // of those: in a row, because there was no memory
    stations_to: AtomicU64,   // see reserve.rs
    sites_to: AtomicU64,
    rings_to: AtomicU64,
    object_pieces: objects::Pieces,
    /// Of the memory: see site.rs.
    pub serial: u64,
    entries: [AtomicPtr<Entry>; RINGS_KNOWN], // of each ring that was ever mapped here
}

static CURRENT: AtomicPtr<Probe> = AtomicPtr::new(ptr::null_mut()); // null: not tried yet

impl Probe {
    /// The attachment, made at the first call; none: there is nothing to attach to.
    #[inline]
    pub fn get() -> Option<&'static Probe> {
        let probe = Probe::current();
        match probe {
            Some(p) if p.is_alive() => probe,
            Some(p) if p.vain => None,
            _ => attach(probe),
        }
    }

    /// The attachment, if there is one already.
    #[inline]
    pub fn peek() -> Option<&'static Probe> {
        Probe::current().filter(|p| p.is_alive())
    }

    #[inline]
    fn current() -> Option<&'static Probe> {
        // SAFETY: published probes are never freed. Acquire pairs with the exchange in attach: the probe is filled.
        unsafe { CURRENT.load(Acquire).as_ref() }
    }

    /// False in the child of a fork for the probe of its parent.
    #[inline]
    pub fn is_alive(&self) -> bool {
        !self.mode.load(Relaxed).is_null()
    }

    /// What to record now; 0 also in the child of a fork.
    #[inline]
    pub fn mode(&self) -> u32 {
        self.mode_word().map_or(0, |mode| mode.load(Relaxed))
    }

    #[inline]
    pub fn mode_word(&self) -> Option<&'static AtomicU32> {
        // SAFETY: null, or in the header or in this probe, which both stay.
        unsafe { self.mode.load(Relaxed).as_ref() }
    }

    /// Of this probe in that mode. By its address: the child of a fork may have its parent's pid, in a namespace of its own.
    #[inline]
    pub fn key(&self, mode: u32) -> u64 {
        (self as *const Probe as u64) >> 12 << 32 | u64::from(mode)
    }

    #[inline]
    pub fn header(&self) -> &'static Header {
        // SAFETY: a probe that was published has one, and it is never unmapped.
        unsafe { &*self.header.load(Relaxed) }
    }

    #[inline]
    pub fn has_annex(&self) -> bool {
        self.shape.annex
    }

    /// Whether slots and flags need fences, because the collector's membarrier does not reach us.
    #[inline]
    pub fn is_fenced(&self) -> bool {
        self.fenced.load(Relaxed)
    }

    #[inline]
    pub fn now(&self) -> u64 {
        if self.raw {
            sys::counter()
        } else {
            sys::monotonic()
        }
    }

    #[inline]
    pub fn station(&self, index: u32) -> Option<&'static Station> {
        self.part(size_of::<Header>() as u64, index, self.shape.max_stations)
    }

    pub fn stations(&self) -> Table<'_> {
        let (at, bytes) = (size_of::<Header>() as u64, size_of::<Station>());
        Table { at, bytes, max: self.shape.max_stations, count: &self.header().allocated_count, to: &self.stations_to }
    }

    pub fn sites(&self) -> Table<'_> {
        let (at, bytes) = (self.shape.sites_at, size_of::<Site>());
        Table { at, bytes, max: self.shape.max_sites, count: &self.header().sites_used, to: &self.sites_to }
    }

    pub fn rings(&self) -> Table<'_> {
        let (at, bytes) = (self.shape.rings_at, size_of::<Ring>());
        Table { at, bytes, max: self.shape.max_rings, count: &self.header().rings_used, to: &self.rings_to }
    }

    pub fn site(&self, index: u32) -> Option<&'static Site> {
        self.part(self.shape.sites_at, index, self.shape.max_sites)
    }

    pub fn ring(&self, index: u32) -> Option<&'static Ring> {
        self.part(self.shape.rings_at, index, self.shape.max_rings)
    }

    /// Element `index` of an array of `max` that begins there.
    #[inline]
    fn part<T>(&self, at: u64, index: u32, max: u32) -> Option<&'static T> {
        let base = self.base.load(Acquire); // pairs with the exchange in extend
        if base.is_null() || index >= max {
            return None;
        }
        // SAFETY: the shape was checked: all parts are within the mapping, which stays. They are made of atomics.
        Some(unsafe { &*base.add(at as usize).cast::<T>().add(index as usize) })
    }

    /// The entries of a ring of ours. Mapped when first used, because all rings together are many gigabytes.
    pub fn entries(&self, index: u32) -> Option<*mut Entry> {
        let known = self.entries.get(index as usize)?;
        let at = known.load(Relaxed);
        if !at.is_null() {
            return Some(at);
        }
        let bytes = self.shape.ring_bytes();
        let from = self.shape.entries_at + u64::from(index) * bytes;
        let fd = self.memory_fd().filter(|fd| !self.is_named || fd.allocate(from, bytes))?;
        let at = sys::map(fd, from, bytes as usize)?;
        known.store(at.cast(), Relaxed); // only the ring's owner does this
        Some(at.cast())
    }

    /// Whether a thread of this process has had that ring.
    pub fn is_mapped(&self, index: u32) -> bool {
        self.entries.get(index as usize).map_or(false, |at| !at.load(Relaxed).is_null())
    }

    /// The memory's descriptor. If it was closed and the environment still names the file, a new one.
    pub fn memory_fd(&self) -> Option<Fd> {
        self.memory.get().or_else(|| {
            let path = sys::env(b"CTP_SHM_PATH\0").filter(|_| self.header().owner.load(Relaxed) == 0)?;
            self.memory.reopen(path)
        })
    }

    /// Maps what follows the header, if that was not done yet.
    pub fn extend(&self) -> bool {
        if !self.base.load(Acquire).is_null() {
            return true;
        }
        let _errno = Errno::keep();
        let bytes = self.shape.entries_at as usize;
        let base = match self.memory_fd().and_then(|fd| sys::map(fd, 0, bytes)) {
            Some(base) => base,
            None => return false,
        };
        if self.has_annex() && sys::membarrier_register() {
            self.fenced.store(false, Relaxed);
        }
        if self.base.compare_exchange(ptr::null_mut(), base, AcqRel, Acquire).is_err() {
            // SAFETY: another thread was first, and no other has seen this one.
            unsafe { sys::unmap(base, bytes) };
        }
        true
    }

    /// Called after something was published. Either we see the collector's flag here, or it sees what we wrote. Pairs with what it
    /// does between its store of tracer_sleeping and its last look before it blocks: a fence, and for processes without a fence
    /// here a membarrier(2), which is a fence in each of their threads.
    #[inline]
    pub fn tell(&self, mode: u32) {
        if self.has_annex() && mode & MODE_RINGS == 0 {
            return; // there is no collector
        }
        if mode & MODE_MEMBARRIER != 0 && !self.is_fenced() {
            compiler_fence(SeqCst);
        } else {
            fence(SeqCst);
        }
        if self.header().tracer_sleeping.load(Relaxed) == 1 {
            self.rouse();
        }
    }

    /// The same after the fast path of an event, which is for processes that need no fence; the compiler fence is in end_usual.
    #[inline(always)]
    pub fn tell_usual(&self, mode: u32) {
        if mode & MODE_RINGS != 0 && self.header().tracer_sleeping.load(Relaxed) == 1 {
            self.rouse();
        }
    }

    /// Wakes the collector. The program may have closed our descriptor and reused its number: if so, connect again, once each time
    /// that this happens and once for each collector; a new connection wakes the collector by itself. A process without a socket
    /// leaves the flag to one that has a socket.
    #[cold]
    pub fn rouse(&self) {
        let _errno = Errno::keep();
        let epoch = if self.has_annex() { self.header().epoch.load(Relaxed) } else { 0 };
        let known = self.socket_epoch.load(Relaxed);
        if epoch != known {
            if self.socket_epoch.compare_exchange(known, epoch, Relaxed, Relaxed).is_ok() {
                self.socket.drop_once();
                self.connect();
            }
        } else if let Some(fd) = self.socket.get() {
            if self.header().tracer_sleeping.swap(0, Relaxed) == 1 {
                fd.send_byte();
            }
        } else if self.socket.drop_once() {
            self.connect();
        }
    }

    fn connect(&self) {
        let mut path = [0; 108];
        let mut len = 0;
        if self.has_annex() {
            // Acquire: the path is that of this epoch. Pairs with the collector's release when it has written it.
            self.socket_epoch.store(self.header().epoch.load(Acquire), Relaxed);
            let text = self.header().sock.iter().map(|byte| byte.load(Relaxed)).take_while(|byte| *byte != 0);
            for (to, byte) in path.iter_mut().zip(text) {
                *to = byte;
                len += 1;
            }
        }
        if let Some(named) = sys::env(b"CTP_SOCK_PATH\0").filter(|_| len == 0) {
            len = named.to_bytes().len().min(path.len());
            path[..len].copy_from_slice(&named.to_bytes()[..len]);
        }
        if let Some(fd) = Fd::connect(&path[..len]) {
            self.socket.keep(fd);
        }
    }

    /// Finds a memory, and leaves `mode` null if there is none.
    fn fill(&mut self) {
        self.pid = sys::pid();
        let arena = match Arena::find(self.pid) {
            Some(arena) => arena,
            None => return,
        };
        let header = arena.header;
        let own = header.owner.load(Relaxed) == u64::from(self.pid);
        self.shape = arena.shape;
        self.is_named = arena.is_named;
        self.raw = arena.shape.annex && arena::counter_agrees(header, own);
        *self.header.get_mut() = header as *const Header as *mut Header;
        *self.fenced.get_mut() = true;
        *self.v1_mode.get_mut() = MODE_RECORD;
        self.serial = header.made_ns.load(Relaxed);
        self.memory.keep_or_borrow(arena.fd);
        let mode = if arena.shape.annex { &header.mode } else { &self.v1_mode };
        let is_good = mode.load(Relaxed) == 0 || self.extend();
        if !is_good || !arena.shape.annex {
            self.memory.drop_once();
        }
        if is_good {
            self.mode.store(mode as *const AtomicU32 as *mut AtomicU32, Relaxed);
        }
    }

    /// Releases everything; no other thread has seen it. But the thread that was first may have borrowed our descriptor.
    fn discard(&mut self) {
        if !Probe::current().map_or(false, |first| first.memory.is_that_of(&self.memory)) {
            self.memory.drop_once();
        }
        let (base, header) = (*self.base.get_mut(), *self.header.get_mut());
        let bytes = self.shape.entries_at as usize;
        // SAFETY: mapped by extend, by the arena, and by attach.
        unsafe {
            if !base.is_null() {
                sys::unmap(base, bytes);
            }
            if !header.is_null() {
                sys::unmap(header.cast(), size_of::<Header>());
            }
            sys::unmap(self as *mut Probe as *mut u8, size_of::<Probe>());
        }
    }
}

/// No thread waits: of several threads that attach at once the first to finish wins, and a fork finds no lock held.
#[cold]
fn attach(old: Option<&'static Probe>) -> Option<&'static Probe> {
    let _errno = Errno::keep();
    let old = old.map_or(ptr::null_mut(), |p| p as *const Probe as *mut Probe);
    let new = sys::map_own(size_of::<Probe>())?.cast::<Probe>();
    // SAFETY: large enough, zeroed, and not shared yet.
    let probe = unsafe { &mut *new };
    probe.fill();
    probe.vain = !probe.is_alive();
    // Release: the pages are filled. Pairs with the acquire load in current.
    if CURRENT.compare_exchange(old, new, AcqRel, Acquire).is_err() {
        probe.discard();
        return Probe::peek();
    }
    let probe = Probe::peek()?;
    if !probe.has_annex() || probe.mode() & MODE_RINGS != 0 {
        probe.connect();
    }
    Some(probe)
}
