// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! A semaphore that records which tasks hold its permits, and which wait for some.

use super::{AcquireError, At, TryAcquireError};
use ctp::{Hold, Kind, Object, Reason, Reasons, TraceFutureExt, Waits};
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// Like tokio's.
pub struct Semaphore {
    object: Object,
    inner: ::tokio::sync::Semaphore,
    forgotten: Mutex<Forgotten>,
}

const FORGOTTEN_MAX: u32 = 0xffff;

/// Permits that tasks forgot. The last of these tasks holds them all, so that a report finds a pool that lost its permits in tasks that
/// have ended. But a semaphore to which permits are added is not a pool: there a forgotten permit is a used token without a holder.
struct Forgotten {
    hold: Option<ManuallyDrop<Hold>>, // not given back when the semaphore is dropped
    are_tokens: bool,
}

/// Like tokio's.
#[must_use = "the permits are given back when this is dropped"]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    of: &'a Semaphore,
    hold: Option<Hold>, // none: they are forgotten
}

/// Like tokio's.
#[must_use = "the permits are given back when this is dropped"]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    of: Arc<Semaphore>,
    hold: Option<Hold>,
}

impl Semaphore {
    /// The largest number of permits.
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    /// Like tokio's. The place of the call is that of the semaphore.
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Semaphore {
            object: Object::new(Kind::Permits, permits as u64),
            inner: ::tokio::sync::Semaphore::new(permits),
            forgotten: Forgotten::none(),
        }
    }

    /// Like tokio's. The semaphore has no place.
    #[cfg(feature = "parking_lot")]
    pub const fn const_new(permits: usize) -> Self {
        let object = Object::const_new(Kind::Permits, permits as u64);
        Semaphore { object, inner: ::tokio::sync::Semaphore::const_new(permits), forgotten: Forgotten::none() }
    }

    /// The object in the trace for this semaphore.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Like tokio's.
    pub fn available_permits(&self) -> usize {
        self.inner.available_permits()
    }

    /// Like tokio's. No task holds a permit that was forgotten, from now on.
    pub fn add_permits(&self, n: usize) {
        let mut forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        forgotten.are_tokens = true;
        drop(forgotten.hold.take().map(ManuallyDrop::into_inner));
        drop(forgotten);
        self.put(n);
    }

    fn put(&self, n: usize) {
        if n != 0 {
            self.object.available((self.inner.available_permits() + n) as u64);
            let _cause = self.object.cause();
            self.inner.add_permits(n);
            self.tell_if_none(); // a waiting task may have got them
        }
    }

    fn tell_if_none(&self) {
        if self.inner.available_permits() == 0 {
            self.object.available(0);
        }
    }

    fn got(&self, permits: ::tokio::sync::SemaphorePermit<'_>, n: u32, at: At) -> Option<Hold> {
        permits.forget(); // ours gives them back
        let hold = self.object.hold_at(n, at);
        self.tell_if_none();
        Some(hold)
    }

    /// Like tokio's.
    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + '_ {
        self.acquire_as("tokio::sync::Semaphore::acquire", 1)
    }

    /// Like tokio's.
    #[track_caller]
    pub fn acquire_many(&self, n: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + '_ {
        self.acquire_as("tokio::sync::Semaphore::acquire_many", n)
    }

    #[track_caller]
    fn acquire_as(&self, name: &'static str, n: u32) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + '_ {
        let at = Location::caller();
        async move {
            let hold = self.got(self.acquires(n).await?, n, at);
            Ok(SemaphorePermit { of: self, hold })
        }
        .here()
        .called(name)
    }

    fn acquires(&self, n: u32) -> impl Future<Output = Result<::tokio::sync::SemaphorePermit<'_>, AcquireError>> + '_ {
        Acquire { of: self, n, inner: self.inner.acquire_many(n) }.waits()
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        let at = Location::caller();
        self.inner.try_acquire_many(n).map(|permits| SemaphorePermit { of: self, hold: self.got(permits, n, at) })
    }

    /// Like tokio's.
    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_owned_as("tokio::sync::Semaphore::acquire_owned", 1)
    }

    /// Like tokio's.
    #[track_caller]
    pub fn acquire_many_owned(self: Arc<Self>, n: u32) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_owned_as("tokio::sync::Semaphore::acquire_many_owned", n)
    }

    #[track_caller]
    fn acquire_owned_as(
        self: Arc<Self>,
        name: &'static str,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let at = Location::caller();
        async move {
            let hold = self.got(self.acquires(n).await?, n, at);
            Ok(OwnedSemaphorePermit { of: self, hold })
        }
        .here()
        .called(name)
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, n: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        let hold = self.got(self.inner.try_acquire_many(n)?, n, Location::caller());
        Ok(OwnedSemaphorePermit { of: self, hold })
    }

    /// Like tokio's.
    pub fn close(&self) {
        self.object.close();
        let _cause = self.object.cause();
        self.inner.close();
    }

    /// Like tokio's.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    fn give_back(&self, hold: &mut Option<Hold>) {
        if let Some(hold) = hold.take() {
            let n = hold.count() as usize;
            drop(hold);
            self.put(n);
        }
    }

    fn forget(&self, hold: Option<Hold>) {
        let mut hold = match hold {
            Some(hold) => hold,
            None => return,
        };
        let mut forgotten = self.forgotten.lock().unwrap_or_else(PoisonError::into_inner);
        let before = forgotten.hold.as_ref().map_or(0, |hold| hold.count());
        if forgotten.are_tokens || before.saturating_add(hold.count()) > FORGOTTEN_MAX {
            return;
        }
        self.object.set_owned(); // only their holder gives them back
        if let Some(before) = forgotten.hold.take() {
            hold.merge(ManuallyDrop::into_inner(before));
        }
        forgotten.hold = Some(ManuallyDrop::new(hold));
    }
}

impl Forgotten {
    const fn none() -> Mutex<Forgotten> {
        Mutex::new(Forgotten { hold: None, are_tokens: false })
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

struct Acquire<'a, F> {
    of: &'a Semaphore,
    n: u32,
    inner: F,
}

impl<F: Future> Future for Acquire<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: inner is pinned as we are: it is never moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll(cx)
    }
}

impl<F: Future> Waits for Acquire<'_, F> {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        self.of.tell_if_none(); // a waiting task takes what is available
        reasons.add(Reason::of(&self.of.object, self.n).cancellable());
    }
}

macro_rules! permit {
    ([$($life:lifetime)?] $permit:ty, $same:expr) => {
        impl$(<$life>)? $permit {
            /// Like tokio's. The task still holds them, unless the program adds permits to this semaphore.
            pub fn forget(mut self) {
                self.of.forget(self.hold.take());
            }

            /// Like tokio's.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                let same: fn(&Self, &Self) -> bool = $same;
                assert!(same(self, &other), "merging permits from different semaphore instances");
                match (&mut self.hold, other.hold.take()) {
                    (Some(hold), Some(other)) => hold.merge(other),
                    (hold, other) => *hold = other.or(hold.take()),
                }
            }

            /// Like tokio's.
            pub fn num_permits(&self) -> usize {
                self.hold.as_ref().map_or(0, |hold| hold.count() as usize)
            }

            /// Like tokio's.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                if n > self.num_permits() {
                    return None;
                }
                let hold = self.hold.as_mut().map(|hold| hold.split(n as u32));
                Some(Self { of: Clone::clone(&self.of), hold })
            }
        }

        impl$(<$life>)? Drop for $permit {
            fn drop(&mut self) {
                self.of.give_back(&mut self.hold);
            }
        }
    };
}

permit!(['a] SemaphorePermit<'a>, |a, b| std::ptr::eq(a.of, b.of));
permit!([] OwnedSemaphorePermit, |a, b| Arc::ptr_eq(&a.of, &b.of));

impl OwnedSemaphorePermit {
    /// Like tokio's.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.of
    }
}
