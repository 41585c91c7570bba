//! The probe for systems that it is not made for, and for programs that want none: every call does nothing.

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

    pub fn suspend(&mut self, _addr: u64, _place: Option<Place>) {}

    pub fn set_name(&mut self, _name: Cow<'static, str>) {}

    pub fn death(&mut self) {}
}

impl CoroRef {
    pub fn wake(self) {}
}
