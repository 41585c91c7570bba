// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! A small M:N executor for the examples: threads that poll ready futures, until none is ready and none can become ready.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Task {
    job: Mutex<Option<Job>>,
    is_queued: AtomicBool,
    pool: Arc<Pool>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Arc<Task>>,
    polling: usize,
}

/// Where futures are spawned.
#[derive(Default)]
pub struct Pool {
    state: Mutex<State>,
    change: Condvar,
}

impl Pool {
    pub fn spawn(self: &Arc<Self>, job: impl Future<Output = ()> + Send + 'static) {
        Arc::new(Task { job: Mutex::new(Some(Box::pin(job))), is_queued: AtomicBool::new(false), pool: self.clone() }).wake();
    }

    /// Runs on this many threads, and returns when no task is ready and none is being polled that could make one ready.
    pub fn run(self: &Arc<Self>, threads: usize) {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let pool = self.clone();
                std::thread::spawn(move || pool.work())
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    fn work(&self) {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(task) = state.ready.pop_front() {
                state.polling += 1;
                drop(state);
                task.poll();
                state = self.state.lock().unwrap();
                state.polling -= 1;
                if state.polling == 0 {
                    self.change.notify_all();
                }
            } else if state.polling == 0 {
                return;
            } else {
                state = self.change.wait(state).unwrap();
            }
        }
    }
}

impl Task {
    fn poll(self: Arc<Self>) {
        self.is_queued.store(false, Ordering::SeqCst);
        let waker = Waker::from(self.clone());
        let mut job = self.job.lock().unwrap();
        if let Some(future) = job.as_mut() {
            if let Poll::Ready(()) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                *job = None;
            }
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::SeqCst) {
            let pool = self.pool.clone();
            pool.state.lock().unwrap().ready.push_back(self);
            pool.change.notify_one();
        }
    }
}
