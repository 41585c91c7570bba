// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! A lock for readers and writers that records which tasks hold it, and which wait for it.

use super::{give_back, guard, lock, owned, At, TryLockError, THERE};
use ctp::{Hold, Kind, Object, Reason, TraceFutureExt};
use std::future::Future;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

/// Like tokio's.
pub struct RwLock<T: ?Sized> {
    object: Object,
    readers: AtomicUsize,
    inner: ::tokio::sync::RwLock<T>,
}

/// Like tokio's, without `map`.
#[must_use = "the lock is given back when this is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    hold: Option<Hold>,
    inner: Option<::tokio::sync::RwLockReadGuard<'a, T>>,
}

/// Like tokio's, without `map`.
#[must_use = "the lock is given back when this is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    hold: Option<Hold>,
    inner: Option<::tokio::sync::RwLockWriteGuard<'a, T>>,
}

guard!(['a, T: ?Sized] RwLockReadGuard<'a, T> => T, const);
guard!(['a, T: ?Sized] RwLockWriteGuard<'a, T> => T, mut);
lock!(RwLock);
owned!(OwnedRwLockReadGuard: RwLockReadGuard, _lock: RwLock, const, "As tokio's, without `map`.");
owned!(OwnedRwLockWriteGuard: RwLockWriteGuard, lock: RwLock, mut, "As tokio's, without `map`.");

impl<T: ?Sized> RwLock<T> {
    /// Like tokio's. The place of the call is that of the lock.
    #[track_caller]
    pub fn new(value: T) -> Self
    where
        T: Sized,
    {
        RwLock { object: Object::new(Kind::Lock, 1), readers: AtomicUsize::new(0), inner: ::tokio::sync::RwLock::new(value) }
    }

    /// Like tokio's. The place of the call is that of the lock.
    #[track_caller]
    pub fn with_max_readers(value: T, max_reads: u32) -> Self
    where
        T: Sized,
    {
        let inner = ::tokio::sync::RwLock::with_max_readers(value, max_reads);
        RwLock { object: Object::new(Kind::Lock, 1), readers: AtomicUsize::new(0), inner }
    }

    /// Like tokio's. The lock has no place.
    #[cfg(feature = "parking_lot")]
    pub const fn const_new(value: T) -> Self
    where
        T: Sized,
    {
        let inner = ::tokio::sync::RwLock::const_new(value);
        RwLock { object: Object::const_new(Kind::Lock, 1), readers: AtomicUsize::new(0), inner }
    }

    fn read_by<'a>(&'a self, guard: ::tokio::sync::RwLockReadGuard<'a, T>, at: At) -> RwLockReadGuard<'a, T> {
        let hold = Some(self.object.hold_at(1, at));
        self.readers.fetch_add(1, SeqCst);
        self.object.available(0);
        RwLockReadGuard { lock: self, hold, inner: Some(guard) }
    }

    fn written_by<'a>(&'a self, guard: ::tokio::sync::RwLockWriteGuard<'a, T>, at: At) -> RwLockWriteGuard<'a, T> {
        let hold = Some(self.object.hold_at(1, at));
        self.object.available(0);
        RwLockWriteGuard { lock: self, hold, inner: Some(guard) }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> + '_ {
        let reason = Reason::of(&self.object, 1).shared().cancellable();
        let read = self.inner.read().here_for(reason).called("tokio::sync::RwLock::read");
        let at = Location::caller();
        async move { self.read_by(read.await, at) }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> + '_ {
        let reason = Reason::of(&self.object, 1).cancellable();
        let write = self.inner.write().here_for(reason).called("tokio::sync::RwLock::write");
        let at = Location::caller();
        async move { self.written_by(write.await, at) }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>>
    where
        T: 'static,
    {
        let reason = Reason::of(&self.object, 1).shared().cancellable();
        let at = Location::caller();
        async move { OwnedRwLockReadGuard::of(&self, self.read_by(self.inner.read().await, at)) }
            .here_for(reason)
            .called("tokio::sync::RwLock::read_owned")
    }

    /// Like tokio's.
    #[track_caller]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>>
    where
        T: 'static,
    {
        let reason = Reason::of(&self.object, 1).cancellable();
        let at = Location::caller();
        async move { OwnedRwLockWriteGuard::of(&self, self.written_by(self.inner.write().await, at)) }
            .here_for(reason)
            .called("tokio::sync::RwLock::write_owned")
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let at = Location::caller();
        self.inner.try_read().map(|guard| self.read_by(guard, at))
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let at = Location::caller();
        self.inner.try_write().map(|guard| self.written_by(guard, at))
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError>
    where
        T: 'static,
    {
        self.try_read().map(|guard| OwnedRwLockReadGuard::of(&self, guard))
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError>
    where
        T: 'static,
    {
        self.try_write().map(|guard| OwnedRwLockWriteGuard::of(&self, guard))
    }

    /// Like tokio's.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        self.read_by(self.inner.blocking_read(), Location::caller())
    }

    /// Like tokio's.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        self.written_by(self.inner.blocking_write(), Location::caller())
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        let object = &self.lock.object;
        if self.lock.readers.fetch_sub(1, SeqCst) == 1 {
            give_back(object, &mut self.hold, &mut self.inner);
            if self.lock.readers.load(SeqCst) != 0 {
                object.available(0); // a task that came meanwhile recorded that before
            }
        } else {
            self.hold = None;
            let _cause = object.cause();
            self.inner = None;
        }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Like tokio's.
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        let (lock, hold) = (self.lock, self.hold.take());
        lock.readers.fetch_add(1, SeqCst);
        let _cause = lock.object.cause();
        RwLockReadGuard { lock, hold, inner: Some(self.inner.take().expect(THERE).downgrade()) }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        give_back(&self.lock.object, &mut self.hold, &mut self.inner);
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// Like tokio's.
    pub fn downgrade(mut self) -> OwnedRwLockReadGuard<T> {
        let inner = self.inner.take().expect(THERE).downgrade();
        OwnedRwLockReadGuard { inner: Some(inner), _lock: self.lock }
    }
}
