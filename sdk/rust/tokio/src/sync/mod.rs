// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Tokio's `sync`. Its locks, semaphores and channels record what tasks wait for and hold.

pub use ::tokio::sync::*;

mod mutex;
mod notify;
mod rwlock;
mod semaphore;

pub mod mpsc;
pub mod oneshot;
pub mod watch;

pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMutexGuard};
pub use notify::Notify;
pub use rwlock::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// Futures that have a name.
pub mod futures {
    pub use super::notify::Notified;
}

use ctp::{Hold, Object};

/// Where a task got what it holds.
type At = &'static std::panic::Location<'static>;

/// Drops the guard of a lock, and records that before, because a task may be woken by it.
fn give_back<G>(object: &Object, hold: &mut Option<Hold>, guard: &mut Option<G>) {
    if let Some(guard) = guard.take() {
        *hold = None;
        object.available(1);
        let _cause = object.cause();
        drop(guard);
    }
}

/// The traits of a guard.
macro_rules! guard {
    ([$($params:tt)*] $guard:ty => $target:ty, $is_mut:tt) => {
        impl<$($params)*> std::ops::Deref for $guard {
            type Target = $target;

            fn deref(&self) -> &$target {
                self.inner.as_ref().expect(crate::sync::THERE)
            }
        }

        guard!(@ $is_mut [$($params)*] $guard => $target);

        impl<$($params)*> std::fmt::Debug for $guard
        where
            $target: std::fmt::Debug,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($params)*> std::fmt::Display for $guard
        where
            $target: std::fmt::Display,
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&**self, f)
            }
        }
    };
    (@ mut [$($params:tt)*] $guard:ty => $target:ty) => {
        impl<$($params)*> std::ops::DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut $target {
                self.inner.as_mut().expect(crate::sync::THERE)
            }
        }
    };
    (@ const [$($params:tt)*] $guard:ty => $target:ty) => {};
}
use guard;

/// The methods of all locks, except those that lock.
macro_rules! lock {
    ($lock:ident) => {
        impl<T: ?Sized> $lock<T> {
            /// The object in the trace for this lock.
            pub fn object(&self) -> &ctp::Object {
                &self.object
            }

            /// Like tokio's.
            pub fn get_mut(&mut self) -> &mut T {
                self.inner.get_mut()
            }

            /// Like tokio's.
            pub fn into_inner(self) -> T
            where
                T: Sized,
            {
                self.inner.into_inner()
            }
        }

        impl<T> From<T> for $lock<T> {
            #[track_caller]
            fn from(value: T) -> Self {
                $lock::new(value)
            }
        }

        impl<T: Default> Default for $lock<T> {
            #[track_caller]
            fn default() -> Self {
                $lock::new(T::default())
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
}
use lock;

/// A guard that keeps its lock alive, made of one that only refers to it.
macro_rules! owned {
    ($owned:ident: $guard:ident, $field:ident: $lock:ident, $is_mut:tt, $doc:literal) => {
        #[doc = $doc]
        #[must_use = "the lock is given back when this is dropped"]
        pub struct $owned<T: ?Sized + 'static> {
            inner: Option<$guard<'static, T>>, // of the lock below: dropped first
            $field: std::sync::Arc<$lock<T>>,
        }

        guard!([T: ?Sized + 'static] $owned<T> => T, $is_mut);

        impl<T: ?Sized> $owned<T> {
            fn of(lock: &std::sync::Arc<$lock<T>>, guard: $guard<'_, T>) -> Self {
                let guard = std::mem::ManuallyDrop::new(guard);
                // SAFETY: the guard is of this lock, which does not move as long as the Arc next to it exists; see the order of the fields.
                let guard = unsafe { std::ptr::read((&*guard as *const $guard<'_, T>).cast::<$guard<'static, T>>()) };
                $owned { inner: Some(guard), $field: lock.clone() }
            }
        }
    };
}
use owned;

const THERE: &str = "only dropping it takes what is in a guard";
