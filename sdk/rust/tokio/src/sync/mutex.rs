// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! A lock that records which task holds it, and which tasks wait for it.

use super::{give_back, guard, lock, owned, At, TryLockError, THERE};
use ctp::{Hold, Kind, Object, Reason, TraceFutureExt};
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

/// Like tokio's.
pub struct Mutex<T: ?Sized> {
    object: Object,
    inner: ::tokio::sync::Mutex<T>,
}

/// Like tokio's.
#[must_use = "the lock is given back when this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    hold: Option<Hold>,
    inner: Option<::tokio::sync::MutexGuard<'a, T>>,
}

/// Like tokio's.
#[must_use = "the lock is given back when this is dropped"]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    object: &'a Object,
    hold: Option<Hold>,
    inner: Option<::tokio::sync::MappedMutexGuard<'a, T>>,
}

guard!(['a, T: ?Sized] MutexGuard<'a, T> => T, mut);
guard!(['a, T: ?Sized] MappedMutexGuard<'a, T> => T, mut);
lock!(Mutex);
owned!(OwnedMutexGuard: MutexGuard, lock: Mutex, mut, "As tokio's.");

impl<T: ?Sized> Mutex<T> {
    /// Like tokio's. The place of the call is that of the lock.
    #[track_caller]
    pub fn new(value: T) -> Self
    where
        T: Sized,
    {
        Mutex { object: Object::new(Kind::Lock, 1), inner: ::tokio::sync::Mutex::new(value) }
    }

    /// Like tokio's. The lock has no place.
    #[cfg(feature = "parking_lot")]
    pub const fn const_new(value: T) -> Self
    where
        T: Sized,
    {
        Mutex { object: Object::const_new(Kind::Lock, 1), inner: ::tokio::sync::Mutex::const_new(value) }
    }

    fn reason(&self) -> Reason {
        Reason::of(&self.object, 1).cancellable()
    }

    fn got<'a>(&'a self, guard: ::tokio::sync::MutexGuard<'a, T>, at: At) -> MutexGuard<'a, T> {
        let hold = self.object.hold_at(1, at);
        self.object.available(0);
        MutexGuard { lock: self, hold: Some(hold), inner: Some(guard) }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> + '_ {
        let lock = self.inner.lock().here_for(self.reason()).called("tokio::sync::Mutex::lock");
        let at = Location::caller();
        async move { self.got(lock.await, at) }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>>
    where
        T: 'static,
    {
        let (reason, at) = (self.reason(), Location::caller());
        async move { OwnedMutexGuard::of(&self, self.got(self.inner.lock().await, at)) }
            .here_for(reason)
            .called("tokio::sync::Mutex::lock_owned")
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let at = Location::caller();
        self.inner.try_lock().map(|guard| self.got(guard, at))
    }

    /// Like tokio's.
    #[track_caller]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError>
    where
        T: 'static,
    {
        self.try_lock().map(|guard| OwnedMutexGuard::of(&self, guard))
    }

    /// Like tokio's.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        self.got(self.inner.blocking_lock(), Location::caller())
    }

    /// Like tokio's.
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T>
    where
        T: 'static,
    {
        OwnedMutexGuard::of(&self, self.blocking_lock())
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Like tokio's.
    pub fn map<U, F>(mut this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let inner = ::tokio::sync::MutexGuard::map(this.inner.take().expect(THERE), f);
        MappedMutexGuard { object: &this.lock.object, hold: this.hold.take(), inner: Some(inner) }
    }

    /// Like tokio's.
    pub fn try_map<U, F>(mut this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match ::tokio::sync::MutexGuard::try_map(this.inner.take().expect(THERE), f) {
            Ok(inner) => {
                let object = &this.lock.object;
                Ok(MappedMutexGuard { object, hold: this.hold.take(), inner: Some(inner) })
            }
            Err(inner) => {
                this.inner = Some(inner);
                Err(this)
            }
        }
    }

    /// Like tokio's.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.lock
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        give_back(&self.lock.object, &mut self.hold, &mut self.inner);
    }
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// Like tokio's.
    pub fn map<U, F>(mut this: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
    {
        let inner = ::tokio::sync::MappedMutexGuard::map(this.inner.take().expect(THERE), f);
        MappedMutexGuard { object: this.object, hold: this.hold.take(), inner: Some(inner) }
    }

    /// Like tokio's.
    pub fn try_map<U, F>(mut this: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match ::tokio::sync::MappedMutexGuard::try_map(this.inner.take().expect(THERE), f) {
            Ok(inner) => Ok(MappedMutexGuard { object: this.object, hold: this.hold.take(), inner: Some(inner) }),
            Err(inner) => {
                this.inner = Some(inner);
                Err(this)
            }
        }
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    fn drop(&mut self) {
        give_back(self.object, &mut self.hold, &mut self.inner);
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// Like tokio's.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.lock
    }
}
