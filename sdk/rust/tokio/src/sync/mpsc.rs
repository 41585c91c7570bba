// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Tokio's `mpsc`. Receivers record that they wait for an item, senders that they wait for room.

pub use ::tokio::sync::mpsc::*;

use ctp::{Kind, Object, Reason, Reasons, TraceFutureExt, Waits};
use error::{SendError, TryRecvError, TrySendError};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::task::{Context, Poll};

/// The state of both ends.
///
/// Counts are recorded before a task is woken because of them: that of items before an item is sent, that of room before an item is
/// taken. If the result differs, the count is recorded again after that.
struct Channel {
    object: Object,
    items: AtomicUsize,
    room: Option<AtomicIsize>, // none: without a limit. Negative: it was taken before it was counted
    senders: AtomicUsize,
}

impl Channel {
    #[track_caller]
    fn new(room: Option<usize>) -> Arc<Channel> {
        let object = Object::new(Kind::Item, 0);
        if let Some(room) = room {
            object.room(room as u64);
        }
        let room = room.map(|room| AtomicIsize::new(room as isize));
        Arc::new(Channel { object, items: AtomicUsize::new(0), room, senders: AtomicUsize::new(1) })
    }

    /// Puts something there by `push`.
    fn push<E>(&self, push: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.object.available(self.items.fetch_add(1, SeqCst) as u64 + 1);
        let cause = self.object.cause();
        let result = push();
        drop(cause);
        if result.is_err() {
            self.object.available(self.items.fetch_sub(1, SeqCst) as u64 - 1);
        }
        result
    }

    /// Takes something by `pop`, which returns whether it did.
    fn pop<T>(&self, pop: impl FnOnce() -> T, did: impl FnOnce(&T) -> bool) -> T {
        let items = self.items.load(SeqCst);
        if items != 0 && self.room_now() == Some(0) {
            self.object.room(1);
        }
        let cause = self.object.cause();
        let result = pop();
        drop(cause);
        if did(&result) {
            self.object.available(self.items.fetch_sub(1, SeqCst) as u64 - 1);
            self.give_room(1);
        } else {
            self.give_room(0);
        }
        result
    }

    fn room_now(&self) -> Option<u64> {
        self.room.as_ref().map(|room| room.load(SeqCst).max(0) as u64)
    }

    /// Adds to the room, or subtracts.
    fn give_room(&self, n: isize) {
        if let Some(room) = &self.room {
            self.object.room((room.fetch_add(n, SeqCst) + n).max(0) as u64);
        }
    }

    /// Releases unused room, by dropping `permit`.
    fn leave_room<P>(&self, permit: P) {
        self.object.room(1);
        let cause = self.object.cause();
        drop(permit);
        drop(cause);
        self.give_room(1);
    }

    fn close<E>(&self, end: E) {
        self.object.close();
        let _cause = self.object.cause();
        drop(end);
    }

    fn reason(&self, kind: Kind) -> Reason {
        Reason::of_kind(&self.object, kind, 1).cancellable()
    }
}

const THERE: &str = "only dropping it takes it";

/// The methods of both kinds of senders and receivers.
macro_rules! ends {
    ($Sender:ident, $WeakSender:ident, $Receiver:ident) => {
        /// Like tokio's.
        pub struct $Sender<T> {
            channel: Arc<Channel>,
            inner: Option<::tokio::sync::mpsc::$Sender<T>>,
        }

        /// Like tokio's.
        pub struct $WeakSender<T> {
            channel: Arc<Channel>,
            inner: ::tokio::sync::mpsc::$WeakSender<T>,
        }

        /// Like tokio's.
        pub struct $Receiver<T> {
            channel: Arc<Channel>,
            inner: Option<::tokio::sync::mpsc::$Receiver<T>>,
        }

        impl<T> $Sender<T> {
            /// The object in the trace for this channel.
            pub fn object(&self) -> &Object {
                &self.channel.object
            }

            fn of(channel: &Arc<Channel>, inner: ::tokio::sync::mpsc::$Sender<T>) -> Self {
                channel.senders.fetch_add(1, SeqCst);
                $Sender { channel: channel.clone(), inner: Some(inner) }
            }

            fn inner(&self) -> &::tokio::sync::mpsc::$Sender<T> {
                self.inner.as_ref().expect(THERE)
            }

            /// Like tokio's.
            pub async fn closed(&self) {
                self.inner().closed().await
            }

            /// Like tokio's.
            pub fn is_closed(&self) -> bool {
                self.inner().is_closed()
            }

            /// Like tokio's.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.inner().same_channel(other.inner())
            }

            /// Like tokio's.
            pub fn downgrade(&self) -> $WeakSender<T> {
                $WeakSender { channel: self.channel.clone(), inner: self.inner().downgrade() }
            }
        }

        impl<T> Clone for $Sender<T> {
            fn clone(&self) -> Self {
                $Sender::of(&self.channel, self.inner().clone())
            }
        }

        impl<T> Drop for $Sender<T> {
            fn drop(&mut self) {
                if self.channel.senders.fetch_sub(1, SeqCst) == 1 {
                    self.channel.close(self.inner.take());
                }
            }
        }

        impl<T> fmt::Debug for $Sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner().fmt(f)
            }
        }

        impl<T> $WeakSender<T> {
            /// Like tokio's.
            pub fn upgrade(&self) -> Option<$Sender<T>> {
                self.inner.upgrade().map(|inner| $Sender::of(&self.channel, inner))
            }
        }

        impl<T> Clone for $WeakSender<T> {
            fn clone(&self) -> Self {
                $WeakSender { channel: self.channel.clone(), inner: self.inner.clone() }
            }
        }

        impl<T> fmt::Debug for $WeakSender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl<T> $Receiver<T> {
            /// The object in the trace for this channel.
            pub fn object(&self) -> &Object {
                &self.channel.object
            }

            fn inner(&mut self) -> &mut ::tokio::sync::mpsc::$Receiver<T> {
                self.inner.as_mut().expect(THERE)
            }

            /// Like tokio's.
            #[track_caller]
            pub fn recv(&mut self) -> impl Future<Output = Option<T>> + '_ {
                let recv = Recv { channel: &self.channel, inner: self.inner.as_mut().expect(THERE) };
                async move { recv.waits().await }.here().called(concat!("tokio::sync::mpsc::", stringify!($Receiver), "::recv"))
            }

            /// Like tokio's.
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
                let channel = self.channel.clone();
                let result = channel.pop(|| self.inner().poll_recv(cx), |result| matches!(result, Poll::Ready(Some(_))));
                if result.is_pending() {
                    ctp::waits(channel.reason(Kind::Item));
                }
                result
            }

            /// Like tokio's.
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                let channel = self.channel.clone();
                channel.pop(|| self.inner().try_recv(), Result::is_ok)
            }

            /// Like tokio's.
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                let channel = self.channel.clone();
                channel.pop(|| self.inner().blocking_recv(), Option::is_some)
            }

            /// Like tokio's.
            pub fn close(&mut self) {
                self.channel.object.close();
                let _cause = self.channel.object.cause();
                self.inner.as_mut().expect(THERE).close();
            }
        }

        impl<T> Drop for $Receiver<T> {
            fn drop(&mut self) {
                self.channel.close(self.inner.take());
            }
        }

        impl<T> fmt::Debug for $Receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.inner.as_ref().expect(THERE).fmt(f)
            }
        }

        impl<T> Future for Recv<'_, ::tokio::sync::mpsc::$Receiver<T>> {
            type Output = Option<T>;

            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
                let channel = self.channel;
                channel.pop(|| self.inner.poll_recv(cx), |result| matches!(result, Poll::Ready(Some(_))))
            }
        }

        impl<T> Waits for Recv<'_, ::tokio::sync::mpsc::$Receiver<T>> {
            fn reasons(&self, reasons: &mut Reasons<'_>) {
                reasons.add(self.channel.reason(Kind::Item));
            }
        }
    };
}

struct Recv<'a, R> {
    channel: &'a Channel,
    inner: &'a mut R,
}

ends!(Sender, WeakSender, Receiver);
ends!(UnboundedSender, WeakUnboundedSender, UnboundedReceiver);

/// Like tokio's. The place of the call is that of the channel.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = ::tokio::sync::mpsc::channel(buffer);
    let channel = Channel::new(Some(buffer));
    (Sender { channel: channel.clone(), inner: Some(sender) }, Receiver { channel, inner: Some(receiver) })
}

/// Like tokio's. The place of the call is that of the channel.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = ::tokio::sync::mpsc::unbounded_channel();
    let channel = Channel::new(None);
    (UnboundedSender { channel: channel.clone(), inner: Some(sender) }, UnboundedReceiver { channel, inner: Some(receiver) })
}

impl<T> UnboundedSender<T> {
    /// Like tokio's.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.channel.push(|| self.inner().send(message))
    }
}

impl<T> Sender<T> {
    /// Like tokio's.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + '_ {
        let reserve = self.reserve_as("tokio::sync::mpsc::Sender::send");
        async move {
            match reserve.await {
                Ok(permit) => {
                    permit.send(value);
                    Ok(())
                }
                Err(_) => Err(SendError(value)),
            }
        }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: std::time::Duration,
    ) -> impl Future<Output = Result<(), error::SendTimeoutError<T>>> + '_ {
        let reserve = crate::time::timeout(timeout, self.reserve_as("tokio::sync::mpsc::Sender::send_timeout"));
        async move {
            match reserve.await {
                Err(_) => Err(error::SendTimeoutError::Timeout(value)),
                Ok(Err(_)) => Err(error::SendTimeoutError::Closed(value)),
                Ok(Ok(permit)) => {
                    permit.send(value);
                    Ok(())
                }
            }
        }
    }

    /// Like tokio's.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.try_reserve() {
            Ok(permit) => {
                permit.send(message);
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(message)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
        }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        self.channel.push(|| self.inner().blocking_send(value))?;
        self.channel.give_room(-1);
        Ok(())
    }

    /// Like tokio's.
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> + '_ {
        self.reserve_as("tokio::sync::mpsc::Sender::reserve")
    }

    #[track_caller]
    fn reserve_as(&self, name: &'static str) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> + '_ {
        let reserve = self.inner().reserve().here_for(self.channel.reason(Kind::Room)).called(name);
        async move { reserve.await.map(|permit| self.got(permit)) }
    }

    fn got<'a>(&'a self, permit: ::tokio::sync::mpsc::Permit<'a, T>) -> Permit<'a, T> {
        self.channel.give_room(-1);
        Permit { channel: &self.channel, inner: Some(permit) }
    }

    /// Like tokio's.
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.inner().try_reserve().map(|permit| self.got(permit))
    }

    /// Like tokio's.
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        let reason = self.channel.reason(Kind::Room);
        async move {
            let mut sender = self;
            let permit = sender.inner.take().expect(THERE).reserve_owned().await?;
            sender.channel.give_room(-1);
            Ok(OwnedPermit { sender, inner: Some(permit) })
        }
        .here_for(reason)
        .called("tokio::sync::mpsc::Sender::reserve_owned")
    }

    /// Like tokio's.
    pub fn try_reserve_owned(mut self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.inner.take().expect(THERE).try_reserve_owned() {
            Ok(permit) => {
                self.channel.give_room(-1);
                Ok(OwnedPermit { sender: self, inner: Some(permit) })
            }
            Err(TrySendError::Full(inner)) => {
                self.inner = Some(inner);
                Err(TrySendError::Full(self))
            }
            Err(TrySendError::Closed(inner)) => {
                self.inner = Some(inner);
                Err(TrySendError::Closed(self))
            }
        }
    }

    /// Like tokio's.
    pub fn capacity(&self) -> usize {
        self.inner().capacity()
    }

    /// Like tokio's.
    pub fn max_capacity(&self) -> usize {
        self.inner().max_capacity()
    }
}

/// Like tokio's.
#[must_use = "the room is given back when this is dropped"]
pub struct Permit<'a, T> {
    channel: &'a Channel,
    inner: Option<::tokio::sync::mpsc::Permit<'a, T>>,
}

impl<T> Permit<'_, T> {
    /// Like tokio's.
    pub fn send(mut self, value: T) {
        let permit = self.inner.take().expect(THERE);
        let _: Result<(), ()> = self.channel.push(|| {
            permit.send(value);
            Ok(())
        });
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        if let Some(permit) = self.inner.take() {
            self.channel.leave_room(permit);
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Like tokio's.
#[must_use = "the room is given back when this is dropped"]
pub struct OwnedPermit<T> {
    inner: Option<::tokio::sync::mpsc::OwnedPermit<T>>,
    sender: Sender<T>, // whose inner sender is in the permit meanwhile
}

impl<T> OwnedPermit<T> {
    /// Like tokio's.
    pub fn send(mut self, value: T) -> Sender<T> {
        let (permit, channel) = (self.inner.take().expect(THERE), self.sender.channel.clone());
        let mut inner = None;
        let _: Result<(), ()> = channel.push(|| {
            inner = Some(permit.send(value));
            Ok(())
        });
        Sender::of(&channel, inner.expect(THERE))
    }

    /// Like tokio's.
    pub fn release(mut self) -> Sender<T> {
        let (permit, channel) = (self.inner.take().expect(THERE), self.sender.channel.clone());
        channel.object.room(1);
        let cause = channel.object.cause();
        let inner = permit.release();
        drop(cause);
        channel.give_room(1);
        Sender::of(&channel, inner)
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(permit) = self.inner.take() {
            let channel = &self.sender.channel;
            channel.object.room(1);
            let cause = channel.object.cause();
            self.sender.inner = Some(permit.release());
            drop(cause);
            channel.give_room(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
