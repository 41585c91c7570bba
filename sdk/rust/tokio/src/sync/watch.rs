// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Tokio's `watch`. A receiver records that it waits for a change.

pub use ::tokio::sync::watch::*;

use ctp::{Kind, Object, Reason, TraceFutureExt};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// Like tokio's.
pub struct Sender<T> {
    object: Arc<Object>,
    inner: Option<::tokio::sync::watch::Sender<T>>,
}

/// Like tokio's.
pub struct Receiver<T> {
    object: Arc<Object>,
    inner: ::tokio::sync::watch::Receiver<T>,
}

/// Like tokio's. The place of the call is that of the channel.
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let object = Arc::new(Object::new(Kind::Event, 0));
    let (sender, receiver) = ::tokio::sync::watch::channel(init);
    (Sender { object: object.clone(), inner: Some(sender) }, Receiver { object, inner: receiver })
}

impl<T> Sender<T> {
    /// The object in the trace for this channel.
    pub fn object(&self) -> &Object {
        &self.object
    }

    fn inner(&self) -> &::tokio::sync::watch::Sender<T> {
        self.inner.as_ref().expect("only dropping it takes it")
    }

    /// Like tokio's.
    pub fn send(&self, value: T) -> Result<(), error::SendError<T>> {
        let _cause = self.object.cause();
        self.inner().send(value)
    }

    /// Like tokio's.
    pub fn send_modify<F: FnOnce(&mut T)>(&self, modify: F) {
        let _cause = self.object.cause();
        self.inner().send_modify(modify)
    }

    /// Like tokio's.
    pub fn send_if_modified<F: FnOnce(&mut T) -> bool>(&self, modify: F) -> bool {
        let _cause = self.object.cause();
        self.inner().send_if_modified(modify)
    }

    /// Like tokio's.
    pub fn send_replace(&self, value: T) -> T {
        let _cause = self.object.cause();
        self.inner().send_replace(value)
    }

    /// Like tokio's.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner().borrow()
    }

    /// Like tokio's.
    pub fn is_closed(&self) -> bool {
        self.inner().is_closed()
    }

    /// Like tokio's.
    pub async fn closed(&self) {
        self.inner().closed().await
    }

    /// Like tokio's.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { object: self.object.clone(), inner: self.inner().subscribe() }
    }

    /// Like tokio's.
    pub fn receiver_count(&self) -> usize {
        self.inner().receiver_count()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.object.close();
        let _cause = self.object.cause();
        self.inner = None;
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner().fmt(f)
    }
}

impl<T> Receiver<T> {
    /// Like tokio's.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.inner.borrow()
    }

    /// Like tokio's.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        self.inner.borrow_and_update()
    }

    /// Like tokio's.
    pub fn has_changed(&self) -> Result<bool, error::RecvError> {
        self.inner.has_changed()
    }

    /// Like tokio's.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), error::RecvError>> + '_ {
        let reason = Reason::of(&self.object, 1).cancellable();
        self.inner.changed().here_for(reason).called("tokio::sync::watch::Receiver::changed")
    }

    /// Like tokio's.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Receiver { object: self.object.clone(), inner: self.inner.clone() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
