// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Names for the objects that tasks wait for.

use crate::sync::{mpsc, oneshot, watch, Mutex, Notify, RwLock, Semaphore};

/// Names a lock, a semaphore or both ends of a new channel for people.
///
/// ```
/// use ctp_tokio::sync::{mpsc, Semaphore};
/// use ctp_tokio::Named;
///
/// let pool = Semaphore::new(4).named("db pool");
/// let (tx, rx) = mpsc::channel::<u32>(8).named("jobs");
/// # drop((pool, tx, rx));
/// ```
pub trait Named: Sized {
    /// The same, with a name. The first name counts.
    fn named(self, name: &'static str) -> Self;
}

macro_rules! named {
    ($(<$($t:ident)?> $type:ty, $part:tt;)*) => {
        $(impl$(<$t>)? Named for $type {
            fn named(self, name: &'static str) -> Self {
                named!(@ self, name, $part);
                self
            }
        })*
    };
    (@ $self:ident, $name:ident, self) => { set_name!($self, $name) };
    (@ $self:ident, $name:ident, $part:tt) => { set_name!($self.$part, $name) };
}

#[cfg(not(feature = "off"))]
macro_rules! set_name {
    ($object:expr, $name:ident) => {
        $object.object().set_name($name)
    };
}

#[cfg(feature = "off")]
macro_rules! set_name {
    ($object:expr, $name:ident) => {
        let _ = (&$object, $name);
    };
}

named! {
    <T> Mutex<T>, self;
    <T> RwLock<T>, self;
    <> Semaphore, self;
    <> Notify, self;
    <T> (mpsc::Sender<T>, mpsc::Receiver<T>), 0;
    <T> (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>), 0;
    <T> (oneshot::Sender<T>, oneshot::Receiver<T>), 0;
    <T> (watch::Sender<T>, watch::Receiver<T>), 0;
}
