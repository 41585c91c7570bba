// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! What a suspension waits for.

use crate::object::Object;
use crate::probe;
use std::time::Instant;

pub const FOR_TIMER: u32 = 1;
pub const FOR_FD: u32 = 2;

pub const MARK_SHARED: u32 = 1;
pub const MARK_TIMED: u32 = 2;
pub const MARK_CANCELLABLE: u32 = 4;
pub const MARK_RESTS: u32 = 8;
pub const MARK_OWNED: u32 = 16;
pub const MARK_CLOSED: u32 = 32;
pub const MARK_GONE: u32 = 64;
pub const MARK_MADE: u32 = 128;

/// The kind of an [`Object`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A lock: one coroutine holds it, or several share it.
    Lock = 3,
    /// The permits of a semaphore, or the members of a pool.
    Permits,
    /// Items in a queue.
    Item,
    /// Room in a queue.
    Room,
    /// A flag that is set, or a condition that is notified.
    Event,
    /// A barrier, at which others arrive.
    Barrier,
    /// Something else.
    Other,
}

/// What a suspension waits for: a time, a descriptor, or some of an object.
///
/// ```
/// use ctp::{Kind, Object, Reason, TraceFutureExt};
///
/// async fn next(items: &Object) {
///     std::future::ready(()).here_for(Reason::of(items, 1).cancellable()).await
/// }
///
/// let items = Object::new(Kind::Item, 0).named("jobs");
/// # drop(next(&items));
/// ```
///
/// Without [`shared`](Reason::shared), [`timed`](Reason::timed), [`cancellable`](Reason::cancellable) and [`rests`](Reason::rests)
/// it promises that nothing else ends the wait: a report may call a circle of such waits proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    pub(crate) value: u64,
    what: u32,
    marks: u32,
    n: u32,
}

impl Reason {
    /// A time.
    pub fn until(deadline: Instant) -> Reason {
        let (now_ns, now) = (probe::monotonic_ns(), Instant::now());
        let left_ns = deadline.saturating_duration_since(now).as_nanos();
        let over_ns = now.saturating_duration_since(deadline).as_nanos();
        Reason::until_ns((u128::from(now_ns) + left_ns).saturating_sub(over_ns).min(u128::from(u64::MAX)) as u64)
    }

    /// A time, in nanoseconds of `CLOCK_MONOTONIC`.
    pub fn until_ns(deadline_ns: u64) -> Reason {
        Reason { value: deadline_ns, what: FOR_TIMER, marks: 0, n: 1 }
    }

    /// A descriptor is ready for one of these events of poll(2): `POLLIN` is 1, `POLLOUT` is 4.
    pub fn fd(fd: i32, events: u16) -> Reason {
        Reason { value: u64::from(fd as u32), what: FOR_FD, marks: 0, n: u32::from(events) }
    }

    /// `n` of an object, of its kind.
    pub fn of(object: &Object, n: u32) -> Reason {
        Reason::of_kind(object, object.kind(), n)
    }

    /// `n` of an object, of another kind: items or room of a queue.
    pub fn of_kind(object: &Object, kind: Kind, n: u32) -> Reason {
        object.make_known();
        Reason { value: object.id(), what: kind as u32, marks: 0, n }
    }

    /// Others may hold it at the same time, as a lock for reading.
    pub fn shared(self) -> Reason {
        self.marked(MARK_SHARED)
    }

    /// The wait has a time-out.
    pub fn timed(self) -> Reason {
        self.marked(MARK_TIMED)
    }

    /// The wait may end without the object, for example because the future is dropped.
    pub fn cancellable(self) -> Reason {
        self.marked(MARK_CANCELLABLE)
    }

    /// Waiting for ever is in order: a worker without work, a subscriber.
    pub fn rests(self) -> Reason {
        self.marked(MARK_RESTS)
    }

    fn marked(mut self, mark: u32) -> Reason {
        self.marks |= mark;
        self
    }

    pub(crate) fn number(&self) -> u32 {
        probe::reason_number(self.what, self.marks, self.n)
    }
}

/// The traced future that is being polled on this thread waits for that, if its poll returns `Pending`. A future calls this before
/// it returns `Poll::Pending`. A reason from a future that is wrapped by [`here`](crate::TraceFutureExt::here) or a similar method
/// does not count once that future is ready.
///
/// A future that may be dropped while others around it continue should implement [`Waits`](crate::Waits) instead: its reasons are
/// removed when it is dropped.
pub fn waits(reason: Reason) {
    if probe::is_recorded() {
        probe::say(reason.value, reason.number());
    }
}

/// Polls something that has a time-out: every [`Reason`] that is given meanwhile is [`timed`](Reason::timed).
pub fn within_timeout<T>(poll: impl FnOnce() -> T) -> T {
    struct Before(u32);
    impl Drop for Before {
        fn drop(&mut self) {
            probe::put_marks(self.0);
        }
    }
    let _before = Before(probe::put_marks(probe::marks() | MARK_TIMED));
    poll()
}
