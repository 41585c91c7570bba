// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! A condition that records which tasks wait for it, and wakes them for it.

use ctp::{For, Kind, Object, Reason, TraceFutureExt, Waiting};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Like tokio's.
pub struct Notify {
    object: Object,
    inner: ::tokio::sync::Notify,
}

/// Like tokio's.
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct Notified<'a> {
    inner: Waiting<For<::tokio::sync::futures::Notified<'a>>>,
}

impl Notify {
    /// Like tokio's. The place of the call is recorded.
    #[track_caller]
    pub fn new() -> Self {
        Notify { object: Object::new(Kind::Event, 0), inner: ::tokio::sync::Notify::new() }
    }

    /// Like tokio's. It has no place.
    #[cfg(feature = "parking_lot")]
    pub const fn const_new() -> Self {
        Notify { object: Object::const_new(Kind::Event, 0), inner: ::tokio::sync::Notify::const_new() }
    }

    /// The object in the trace for this condition.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Like tokio's.
    #[track_caller]
    pub fn notified(&self) -> Notified<'_> {
        let reason = Reason::of(&self.object, 1).cancellable();
        Notified { inner: self.inner.notified().here_for(reason).called("tokio::sync::Notify::notified") }
    }

    /// Like tokio's.
    pub fn notify_one(&self) {
        let _cause = self.object.cause();
        self.inner.notify_one();
    }

    /// Like tokio's.
    pub fn notify_waiters(&self) {
        let _cause = self.object.cause();
        self.inner.notify_waiters();
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<'a> Notified<'a> {
    /// Like tokio's.
    pub fn enable(self: Pin<&mut Self>) -> bool {
        self.waiting().get_pin_mut().get_pin_mut().enable()
    }

    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<For<::tokio::sync::futures::Notified<'a>>>> {
        // SAFETY: it is pinned as we are: it is never moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.waiting().poll(cx)
    }
}
