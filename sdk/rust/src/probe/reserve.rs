//! Elements of the tables, taken when their memory is there, and not before: to touch a hole of a full file system is a SIGBUS. What
//! is counted in the header is taken in order, and nobody looks at what is not counted yet: so an element is asked for first, and
//! counted then.

use super::sys::{self, Errno};
use super::Probe;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

pub const PIECE: u64 = 65536; // bytes that are asked for at once, from a multiple of that: the largest page there is

/// A table of the memory: where it begins, how long an element is, how many there can be.
pub struct Table<'a> {
    pub at: u64,
    pub bytes: usize,
    pub max: u32,
    pub count: &'a AtomicU32,
    pub to: &'a AtomicU64, // as far as its memory is there for certain
}

impl Probe {
    /// The next element of a table; none: there is none, or no memory for it.
    pub fn take_next(&self, table: &Table<'_>) -> Option<u32> {
        let mut index = table.count.load(Relaxed);
        while index < table.max && self.is_there(table.to, table.at + (u64::from(index) + 1) * table.bytes as u64) {
            match table.count.compare_exchange_weak(index, index + 1, Relaxed, Relaxed) {
                Ok(_) => return Some(index),
                Err(now) => index = now,
            }
        }
        None
    }

    /// Whether the memory up to `end` is, of an element that begins less than a piece before.
    #[inline]
    fn is_there(&self, to: &AtomicU64, end: u64) -> bool {
        end <= to.load(Acquire) || self.reserve(to, end) // pairs with the store in reserve
    }

    /// Asks for the memory of an element that ends there. True: it is there from now on.
    #[cold]
    pub fn reserve(&self, to: &AtomicU64, end: u64) -> bool {
        let _errno = Errno::keep();
        let base = self.base.load(Acquire); // pairs with the exchange in extend
        let from = (end - 1) / PIECE * PIECE;
        let upto = (from + PIECE).min(self.shape.entries_at);
        // SAFETY: the shape was checked: all of the table is within the mapping, which stays.
        let there = !base.is_null() && unsafe { sys::populate(base.add(from as usize), (upto - from) as usize) };
        if there {
            to.store(upto, Release); // another thread may have come further: then that is asked for once more
        }
        there
    }
}
