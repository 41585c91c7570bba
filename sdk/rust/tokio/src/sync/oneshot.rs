// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Tokio's `oneshot`. The receiver records that it waits for the value.

pub use ::tokio::sync::oneshot::*;

use ctp::{Kind, Object, Reason, Reasons, TraceFutureExt, Waiting, Waits};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Like tokio's.
pub struct Sender<T> {
    object: Arc<Object>,
    inner: Option<::tokio::sync::oneshot::Sender<T>>,
}

/// Like tokio's.
pub struct Receiver<T> {
    inner: Waiting<Value<T>>,
}

struct Value<T> {
    object: Arc<Object>,
    inner: ::tokio::sync::oneshot::Receiver<T>,
}

/// Like tokio's. The place of the call is that of the channel.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let object = Arc::new(Object::new(Kind::Event, 0));
    let (sender, receiver) = ::tokio::sync::oneshot::channel();
    let value = Value { object: object.clone(), inner: receiver };
    (Sender { object, inner: Some(sender) }, Receiver { inner: value.waits() })
}

const THERE: &str = "only sending takes it";

impl<T> Sender<T> {
    /// The object in the trace for this channel.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Like tokio's.
    pub fn send(mut self, value: T) -> Result<(), T> {
        self.object.available(1);
        let _cause = self.object.cause();
        self.inner.take().expect(THERE).send(value)
    }

    /// Like tokio's.
    pub async fn closed(&mut self) {
        self.inner.as_mut().expect(THERE).closed().await
    }

    /// Like tokio's.
    pub fn is_closed(&self) -> bool {
        self.inner.as_ref().expect(THERE).is_closed()
    }

    /// Like tokio's.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.as_mut().expect(THERE).poll_closed(cx)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.inner.take() {
            self.object.close();
            let _cause = self.object.cause();
            drop(sender);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T> Receiver<T> {
    /// Like tokio's.
    pub fn close(&mut self) {
        self.inner.get_mut().inner.close();
    }

    /// Like tokio's.
    pub fn try_recv(&mut self) -> Result<T, error::TryRecvError> {
        self.inner.get_mut().inner.try_recv()
    }

    /// Like tokio's.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, error::RecvError> {
        self.inner.into_inner().inner.blocking_recv()
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, error::RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(cx)
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.get_ref().inner.fmt(f)
    }
}

impl<T> Future for Value<T> {
    type Output = Result<T, error::RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(cx)
    }
}

impl<T> Waits for Value<T> {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        reasons.add(Reason::of(&self.object, 1).cancellable());
    }
}
