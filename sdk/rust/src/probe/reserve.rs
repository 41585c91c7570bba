// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Takes elements of the tables after their memory was allocated: touching a hole on a full file system raises SIGBUS. Elements are
//! taken in order, and readers look only at counted ones: so an element is allocated first, and counted after that.

use super::sys::{self, Errno};
use super::Probe;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

pub const PIECE: u64 = 65536; // bytes that are allocated at once, aligned to that: the largest page size

/// A table of the memory: where it begins, how long an element is, how many there can be.
pub struct Table<'a> {
    pub at: u64,
    pub bytes: usize,
    pub max: u32,
    pub count: &'a AtomicU32,
    pub to: &'a AtomicU64, // up to here its memory is allocated
}

impl Probe {
    /// The index of the next element of a table; none: there is none, or no memory for it.
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

    /// Whether the memory up to `end` is allocated, for an element that begins less than a piece before.
    #[inline]
    fn is_there(&self, to: &AtomicU64, end: u64) -> bool {
        end <= to.load(Acquire) || self.reserve(to, end) // pairs with the store in reserve
    }

    /// Allocates the memory of an element that ends there. False: not possible.
    #[cold]
    pub fn reserve(&self, to: &AtomicU64, end: u64) -> bool {
        let _errno = Errno::keep();
        let base = self.base.load(Acquire); // pairs with the exchange in extend
        let from = (end - 1) / PIECE * PIECE;
        let upto = (from + PIECE).min(self.shape.entries_at);
        // SAFETY: the shape was checked: all of the table is within the mapping, which stays.
        let there = !base.is_null() && unsafe { sys::populate(base.add(from as usize), (upto - from) as usize) };
        if there {
            to.store(upto, Release); // if another thread was further, this is lowered and allocated again
        }
        there
    }
}
