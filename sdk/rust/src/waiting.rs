// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Futures that record what they wait for.

use crate::fact::{waits, Reason};
use crate::future::{Place, TaskRef};
use crate::probe::{self, SaidRef};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that knows what it waits for.
///
/// ```
/// use ctp::{Reason, Reasons, TraceFutureExt, Waits};
/// use std::future::Future;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
/// use std::time::Instant;
///
/// struct Sleep(Instant);
///
/// impl Future for Sleep {
///     type Output = ();
///
///     fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
///         if Instant::now() < self.0 { Poll::Pending } else { Poll::Ready(()) } // and the waker goes to a timer
///     }
/// }
///
/// impl Waits for Sleep {
///     fn reasons(&self, reasons: &mut Reasons<'_>) {
///         reasons.add(Reason::until(self.0));
///     }
/// }
///
/// async fn nap() {
///     Sleep(Instant::now()).here_waits().await
/// }
/// # drop(nap());
/// ```
pub trait Waits: Future {
    /// Adds what it waits for. Called after a poll that returned `Pending`, if anything is recorded.
    fn reasons(&self, reasons: &mut Reasons<'_>);
}

/// Collects what a future waits for, in [`Waits::reasons`]. The first that is fulfilled ends the wait. Four are kept.
pub struct Reasons<'a>(PhantomData<(&'a mut (), *const ())>);

impl Reasons<'_> {
    /// It waits for that.
    pub fn add(&mut self, reason: Reason) {
        waits(reason);
    }

    /// It waits for that coroutine: for its end, or its next result. Call it only if that is certain, as in a handle that joins a
    /// task.
    pub fn waits_for(&mut self, task: TaskRef) {
        probe::say_target(task.0);
    }
}

impl fmt::Debug for Reasons<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reasons")
    }
}

/// A future, and what it waits for: see [`TraceFutureExt::here_for`](crate::TraceFutureExt::here_for).
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct For<F> {
    pub(crate) inner: F,
    pub(crate) reason: Reason,
}

impl<F> For<F> {
    /// The future in it.
    pub fn get_ref(&self) -> &F {
        &self.inner
    }

    /// The same, pinned as this one is.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut F> {
        // SAFETY: as in poll.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }
    }
}

impl<F: Future> Future for For<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: inner is pinned as we are: it is never moved, and For has no Drop.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll(cx)
    }
}

impl<F: Future> Waits for For<F> {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        reasons.add(self.reason);
    }
}

/// A future that records where it is awaited, and what it waits for: see
/// [`TraceFutureExt::here_waits`](crate::TraceFutureExt::here_waits).
#[must_use = "futures do nothing unless they are polled"]
pub struct Waiting<F> {
    inner: F,
    place: Option<Place>,
    said: Option<(SaidRef, u32)>, // and the number of the place
}

impl<F: Waits> Waiting<F> {
    pub(crate) fn new(inner: F, place: Option<Place>) -> Self {
        Waiting { inner, place, said: None }
    }
}

impl<F> Waiting<F> {
    /// Sets the text in place of a function in the trace, if this has a place; without it, that is the type of the future.
    pub fn called(mut self, name: &'static str) -> Self {
        if let Some(place) = &mut self.place {
            place.future = name;
        }
        self
    }

    /// The future in it.
    pub fn get_ref(&self) -> &F {
        &self.inner
    }

    /// The same.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.inner
    }

    /// The same, pinned as this one is.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut F> {
        // SAFETY: as in poll.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }
    }

    /// The future, for which nothing is recorded any more.
    pub fn into_inner(mut self) -> F {
        take_back(&mut self.said);
        let this = ManuallyDrop::new(self);
        // SAFETY: it is not dropped, so this is the only one; and the other fields need no drop.
        unsafe { std::ptr::read(&this.inner) }
    }
}

impl<F: Waits> Future for Waiting<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: inner is pinned as we are: it is never moved, and Drop does not touch it. The rest is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let mut inner = unsafe { Pin::new_unchecked(&mut this.inner) };
        take_back(&mut this.said); // it may be polled twice before its coroutine is suspended
        if !probe::is_recorded() {
            return inner.poll(cx);
        }
        let before = probe::take_waits();
        let result = inner.as_mut().poll(cx);
        if result.is_ready() {
            probe::put_waits(before);
        } else {
            let site = match this.place {
                Some(place) => probe::wait_at(place),
                None => {
                    probe::wait_still(before);
                    0
                }
            };
            let said = probe::saying(|| inner.reasons(&mut Reasons(PhantomData)));
            this.said = Some((said, site));
        }
        result
    }
}

impl<F: fmt::Debug> fmt::Debug for Waiting<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Waiting").field(&self.inner).finish()
    }
}

/// A future that is dropped before it is ready, such as the loser of a race, must not count as waited for after that.
impl<F> Drop for Waiting<F> {
    fn drop(&mut self) {
        take_back(&mut self.said);
    }
}

fn take_back(said: &mut Option<(SaidRef, u32)>) {
    if let Some((said, site)) = said.take() {
        probe::unsay(said);
        if site != 0 {
            probe::wait_no_more(site);
        }
    }
}
