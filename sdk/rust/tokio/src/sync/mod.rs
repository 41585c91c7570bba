//! Tokio's `sync`. Its locks, semaphores and channels tell what tasks wait for and hold.

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

/// Drops the guard of a lock, and tells that before: a task may be woken because of it.
fn give_back<G>(object: &Object, hold: &mut Option<Hold>, guard: &mut Option<G>) {
    if let Some(guard) = guard.take() {
        *hold = None;
        object.available(1);
        let _cause = object.cause();
        drop(guard);
    }
}

/// What guards are to whoever has one.
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

const THERE: &str = "only dropping it takes what is in a guard";
