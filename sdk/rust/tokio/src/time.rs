// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Tokio's `time`. Sleeps and time-outs record their deadlines.

pub use ::tokio::time::*;

use ctp::{Reason, Reasons, TraceFutureExt, Waiting, Waits};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Like tokio's.
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct Sleep {
    inner: Waiting<Timer>,
}

#[derive(Debug)]
struct Timer {
    inner: ::tokio::time::Sleep,
}

/// Like tokio's.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { inner: Timer { inner: ::tokio::time::sleep(duration) }.here_waits().called("tokio::time::sleep") }
}

/// Like tokio's.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { inner: Timer { inner: ::tokio::time::sleep_until(deadline) }.here_waits().called("tokio::time::sleep_until") }
}

impl Sleep {
    /// Like tokio's.
    pub fn deadline(&self) -> Instant {
        self.inner.get_ref().inner.deadline()
    }

    /// Like tokio's.
    pub fn is_elapsed(&self) -> bool {
        self.inner.get_ref().inner.is_elapsed()
    }

    /// Like tokio's.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.timer().reset(deadline);
    }

    fn timer(self: Pin<&mut Self>) -> Pin<&mut ::tokio::time::Sleep> {
        // SAFETY: each is pinned as we are: none is ever moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner).get_pin_mut().map_unchecked_mut(|timer| &mut timer.inner) }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: as in timer.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll(cx)
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: as in timer.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll(cx)
    }
}

impl Waits for Timer {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        reasons.add(Reason::until(self.inner.deadline().into_std()).cancellable());
    }
}

/// Like tokio's. Waits in it have a time-out, and the deadline is a reason too.
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct Timeout<F> {
    inner: Waiting<Limit<F>>,
}

#[derive(Debug)]
struct Limit<F> {
    inner: ::tokio::time::Timeout<F>,
    deadline: Option<Instant>, // none: too far away to be reached
}

/// Like tokio's.
#[track_caller]
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    let deadline = Instant::now().checked_add(duration);
    Timeout {
        inner: Limit { inner: ::tokio::time::timeout(duration, future), deadline }.here_waits().called("tokio::time::timeout"),
    }
}

/// Like tokio's.
#[track_caller]
pub fn timeout_at<F: Future>(deadline: Instant, future: F) -> Timeout<F> {
    let inner = ::tokio::time::timeout_at(deadline, future);
    Timeout { inner: Limit { inner, deadline: Some(deadline) }.here_waits().called("tokio::time::timeout_at") }
}

impl<F> Timeout<F> {
    /// Like tokio's.
    pub fn get_ref(&self) -> &F {
        self.inner.get_ref().inner.get_ref()
    }

    /// Like tokio's.
    pub fn get_mut(&mut self) -> &mut F {
        self.inner.get_mut().inner.get_mut()
    }

    /// Like tokio's.
    pub fn into_inner(self) -> F {
        self.inner.into_inner().inner.into_inner()
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, error::Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: it is pinned as we are: it is never moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll(cx)
    }
}

impl<F: Future> Future for Limit<F> {
    type Output = Result<F::Output, error::Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: it is pinned as we are: it is never moved.
        let inner = unsafe { self.map_unchecked_mut(|this| &mut this.inner) };
        ctp::within_timeout(|| inner.poll(cx))
    }
}

impl<F: Future> Waits for Limit<F> {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        if let Some(deadline) = self.deadline {
            reasons.add(Reason::until(deadline.into_std()).cancellable());
        }
    }
}
