// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Places in the source, and their numbers in the shared memory.

use super::Probe;
use crate::future::Place;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering::*};

const NUMBER_BITS: u32 = 24; // of a site; the rest of a word is a part of the place's hash
const LOOKED_AT: usize = 8;
const PLACES_MAX: usize = 2048;

/// Numbers of sites by place and memory. Not in the probe, which a fork zeroes: a child that shares its parent's memory would add the
/// same sites again, and use them up.
static PLACES: [AtomicU64; PLACES_MAX] = {
    #[allow(clippy::declare_interior_mutable_const)] // to be copied
    const FREE: AtomicU64 = AtomicU64::new(0);
    [FREE; PLACES_MAX]
};

impl Place {
    /// Its number; 0: there are too many, or nothing is recorded.
    ///
    /// If two threads add the same place at once, it has two numbers, which is harmless.
    #[inline]
    pub fn number(&self, probe: &Probe) -> u32 {
        number(probe, hash(self.location as *const _ as u64, self.future.as_ptr() as u64, probe.serial), || self.site())
    }

    fn site(&self) -> (&'static str, u32, &'static str) {
        let mut function = self.future;
        // Of an async function or block; the first is how compilers before 1.66 have it.
        if let Some(older) = function.strip_prefix("core::future::from_generator::GenFuture<") {
            function = older.strip_suffix('>').unwrap_or(older);
        }
        while let Some(shorter) = function.strip_suffix("::{{closure}}") {
            function = shorter;
        }
        (self.location.file(), self.location.line(), function)
    }
}

/// The number of the site that is there for a name, which it has in place of a function.
pub fn label(probe: &Probe, name: &'static str) -> u32 {
    number(probe, hash(name.as_ptr() as u64, name.len() as u64, probe.serial), || ("", 0, name))
}

#[inline]
fn number(probe: &Probe, hash: u64, site: impl Fn() -> (&'static str, u32, &'static str)) -> u32 {
    let word = PLACES[index(hash, 0)].load(Relaxed);
    if tag(word) == tag(hash) {
        number_of(word)
    } else {
        find(probe, hash, site())
    }
}

#[cold]
fn find(probe: &Probe, hash: u64, site: (&'static str, u32, &'static str)) -> u32 {
    if !probe.has_annex() || probe.mode() == 0 {
        return 0;
    }
    for i in 0..LOOKED_AT {
        let place = &PLACES[index(hash, i)];
        let word = place.load(Relaxed);
        if word == 0 {
            let number = add(probe, site);
            // Relaxed: the number is only passed on; a reader of the site checks its ready flag.
            return match place.compare_exchange(0, tag(hash) | u64::from(number), Relaxed, Relaxed) {
                Err(other) if tag(other) == tag(hash) => number_of(other),
                _ => number,
            };
        }
        if tag(word) == tag(hash) {
            return number_of(word);
        }
    }
    0
}

/// By the addresses of texts that exist as long as the program. Its first bits are the best; the first is set, so that no tag is 0.
#[inline]
fn hash(first: u64, second: u64, memory: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    (first ^ second.rotate_left(32) ^ memory).wrapping_mul(ODD) | 1 << 63
}

/// If a site is too long, the file loses its beginning and the function its end.
fn add(probe: &Probe, (file, line, function): (&'static str, u32, &'static str)) -> u32 {
    let index = if probe.extend() { probe.take_next(&probe.sites()) } else { None };
    let (index, site) = match index.and_then(|index| Some((index, probe.site(index)?))) {
        Some(found) => found,
        None => return 0,
    };
    let room = site.text.len();
    let function = begin(function, if file.is_empty() { room } else { room / 2 });
    let file = end(file, room - function.len());
    put(&site.text, file);
    put(&site.text[file.len()..], function);
    site.line.store(line, Relaxed);
    site.file_bytes.store(file.len() as u16, Relaxed);
    site.function_bytes.store(function.len() as u16, Relaxed);
    site.ready.store(1, Release); // pairs with the collector's acquire load
    index + 1
}

/// As much of the beginning as fits, in whole characters.
pub fn begin(text: &str, room: usize) -> &str {
    let fits = (0..=text.len().min(room)).rev().find(|&at| text.is_char_boundary(at));
    &text[..fits.unwrap_or(0)]
}

/// As much of the end as fits.
fn end(text: &str, room: usize) -> &str {
    let fits = (text.len().saturating_sub(room)..=text.len()).find(|&at| text.is_char_boundary(at));
    &text[fits.unwrap_or(0)..]
}

fn index(hash: u64, i: usize) -> usize {
    ((hash >> 40) as usize + i) % PLACES_MAX
}

fn tag(word: u64) -> u64 {
    word >> NUMBER_BITS << NUMBER_BITS
}

fn number_of(word: u64) -> u32 {
    word as u32 & ((1 << NUMBER_BITS) - 1)
}

/// Copies what fits.
pub fn put(to: &[AtomicU8], text: &str) {
    for (to, byte) in to.iter().zip(text.bytes()) {
        to.store(byte, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_whole() {
        assert_eq!((begin("abc", 2), begin("abc", 9), begin("aäb", 2), begin("ä", 1)), ("ab", "abc", "a", ""));
        assert_eq!((end("abc", 2), end("abc", 9), end("aäb", 2), end("ä", 1)), ("bc", "abc", "b", ""));
    }
}
