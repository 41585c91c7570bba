// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! The probe for other systems, and for programs that turn it off: every call does nothing.

use crate::future::Place;
use std::borrow::Cow;

pub struct Coro;

#[derive(Clone, Copy, PartialEq)]
pub struct CoroRef;

pub fn init() -> bool {
    false
}

pub fn is_recording() -> bool {
    false
}

pub fn record() -> bool {
    false
}

pub fn is_coroutine() -> bool {
    false
}

pub struct Waits;

pub fn take_waits() -> Waits {
    Waits
}

pub fn put_waits(_waits: Waits) {}

pub fn wait_still(_waits: Waits) {}

pub fn wait_at(place: Place) -> u32 {
    let _ = (place.location, place.future);
    0
}

pub fn wait_no_more(_site: u32) {}

impl Coro {
    pub fn new(_place: Place) -> Coro {
        Coro
    }

    pub fn is_traced(&self) -> bool {
        false
    }

    pub fn is_recorded(&self) -> bool {
        false
    }

    pub fn id(&self) -> u64 {
        0
    }

    pub fn reference(&self) -> CoroRef {
        CoroRef
    }

    pub fn resume(&mut self) {}

    pub fn wait_for(&mut self, _target: CoroRef) {}

    pub fn reason(&mut self, _value: u64, _number: u32) {}

    pub fn suspend(&mut self, _addr: u64, _place: Option<Place>) {}

    pub fn set_name(&mut self, _name: Cow<'static, str>) {}

    pub fn death(&mut self) {}
}

impl CoroRef {
    pub fn wake(self, _object: u64) {}

    pub fn holds(self, _object: u64, _n: i32, _at: Option<Place>) {}
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SaidRef;

pub fn is_recorded() -> bool {
    false
}

pub fn say(_value: u64, _number: u32) {}

pub fn saying(_f: impl FnOnce()) -> SaidRef {
    SaidRef
}

pub fn say_target(_target: CoroRef) {}

pub fn unsay(_said: SaidRef) {}

pub fn put_marks(_marks: u32) -> u32 {
    0
}

pub fn marks() -> u32 {
    0
}

pub fn put_cause(_object: u64) -> u64 {
    0
}

pub fn current() -> CoroRef {
    CoroRef
}

pub fn monotonic_ns() -> u64 {
    0
}

pub fn follower() -> Option<u64> {
    None
}

pub fn object_tell(_object: u64, _number: u32, _available: u64, _name: Option<&'static str>, _made: Option<Place>) {}

pub fn object_name(_object: u64, _name: &'static str) {}

pub fn object_end(_object: u64, _number: u32, _told: u64) {}

pub fn reason_number(_what: u32, _marks: u32, _n: u32) -> u32 {
    0
}
