// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Tokio's `task`. Spawned tasks are traced.

pub use ::tokio::task::*;

use ::tokio::runtime::Handle;
use ctp::{TraceFutureExt, Traced};
use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;

/// Whether the program has already wrapped it itself.
fn is_traced<F>() -> bool {
    let any = type_name::<Traced<()>>();
    any.strip_suffix("()>").map_or(false, |traced| type_name::<F>().starts_with(traced))
}

/// Like tokio's. The task is traced, and spawned here.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if is_traced::<F>() {
        ::tokio::spawn(future)
    } else {
        ::tokio::spawn(future.traced())
    }
}

/// Like tokio's. The task is traced, and spawned here.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    if is_traced::<F>() {
        ::tokio::task::spawn_local(future)
    } else {
        ::tokio::task::spawn_local(future.traced())
    }
}

/// Like tokio's, whose other methods it has too. Its tasks are traced.
pub struct JoinSet<T> {
    inner: ::tokio::task::JoinSet<T>,
}

impl<T> JoinSet<T> {
    /// Like tokio's.
    pub fn new() -> Self {
        JoinSet { inner: ::tokio::task::JoinSet::new() }
    }
}

impl<T: 'static> JoinSet<T> {
    /// Like tokio's.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        if is_traced::<F>() {
            self.inner.spawn(task)
        } else {
            self.inner.spawn(task.traced())
        }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        if is_traced::<F>() {
            self.inner.spawn_on(task, handle)
        } else {
            self.inner.spawn_on(task.traced(), handle)
        }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        if is_traced::<F>() {
            self.inner.spawn_local(task)
        } else {
            self.inner.spawn_local(task.traced())
        }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        if is_traced::<F>() {
            self.inner.spawn_local_on(task, local_set)
        } else {
            self.inner.spawn_local_on(task.traced(), local_set)
        }
    }

    /// Like tokio's.
    #[track_caller]
    pub fn join_next(&mut self) -> impl Future<Output = Option<Result<T, JoinError>>> + '_ {
        self.inner.join_next().here().called("tokio::task::JoinSet::join_next")
    }

    /// Like tokio's.
    #[track_caller]
    pub fn join_all(mut self) -> impl Future<Output = Vec<T>> {
        async move {
            let mut all = Vec::with_capacity(self.inner.len());
            while let Some(result) = self.inner.join_next().await {
                match result {
                    Ok(output) => all.push(output),
                    Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                    Err(error) => panic!("{}", error),
                }
            }
            all
        }
        .here()
        .called("tokio::task::JoinSet::join_all")
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        JoinSet::new()
    }
}

impl<T> Deref for JoinSet<T> {
    type Target = ::tokio::task::JoinSet<T>;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl<T> DerefMut for JoinSet<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(iter: I) -> Self {
        let mut set = JoinSet::new();
        for task in iter {
            set.spawn(task);
        }
        set
    }
}
