// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Futures as coroutines: a poll resumes one, and `Pending` suspends it.

use crate::fact::Reason;
use crate::object::Object;
use crate::probe::{self, Coro, CoroRef};
use crate::waiting::{For, Waiting, Waits};
use std::any::type_name;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// A place in the source, and the type of its future. Rust does not provide the function of a place. The type takes its place,
/// because that of an async function or block contains the path of the function.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub location: &'static Location<'static>,
    pub future: &'static str,
}

/// The methods that this trait adds to every future.
///
/// ```
/// use ctp::TraceFutureExt;
///
/// async fn answer(request: u32) -> u32 {
///     std::future::ready(request).here().await
/// }
///
/// let task = answer(42).traced_named("the first request"); // for any executor
/// # drop(task);
/// ```
pub trait TraceFutureExt: Future + Sized {
    /// Traces this future as a coroutine. It is spawned here, by the coroutine that runs on this thread.
    #[track_caller]
    fn traced(self) -> Traced<Self> {
        Traced::new(self)
    }

    /// The same, with a name: a literal, or a `String`. The first 96 bytes are kept.
    #[track_caller]
    fn traced_named(self, name: impl Into<Cow<'static, str>>) -> Traced<Self> {
        let mut traced = Traced::new(self);
        traced.trace.set_name(name);
        traced
    }

    /// Records this line as the place where the coroutine that awaits this future is suspended.
    #[track_caller]
    fn here(self) -> Here<Self> {
        Here { inner: self, place: Place { location: Location::caller(), future: type_name::<Self>() }, site: 0 }
    }

    /// The same, with what it waits for there.
    #[track_caller]
    fn here_for(self, reason: Reason) -> Waiting<For<Self>> {
        let place = Place { location: Location::caller(), future: type_name::<Self>() };
        Waiting::new(For { inner: self, reason }, Some(place))
    }

    /// The same, for a future that knows what it waits for: see [`Waits`].
    #[track_caller]
    fn here_waits(self) -> Waiting<Self>
    where
        Self: Waits,
    {
        Waiting::new(self, Some(Place { location: Location::caller(), future: type_name::<Self>() }))
    }

    /// Records what this future waits for, but not where: the code that awaits it does that.
    fn waits(self) -> Waiting<Self>
    where
        Self: Waits,
    {
        Waiting::new(self, None)
    }
}

impl<F: Future> TraceFutureExt for F {}

/// A future that is traced as a coroutine: see [`TraceFutureExt::traced`].
///
/// It is spawned when it is made, runs while it is polled, is suspended when a poll returns `Pending`, and ends when it is ready, is
/// dropped, or panics. It is `Send`, `Sync` and `Unpin` if the future in it is.
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct Traced<F> {
    inner: F, // dropped first: its children end before it does
    trace: PollTrace,
}

impl<F> Traced<F> {
    /// Does what [`TraceFutureExt::traced`] does.
    #[track_caller]
    pub fn new(inner: F) -> Self {
        Traced { inner, trace: PollTrace::at(type_name::<F>(), Location::caller()) }
    }

    /// The future, which is no longer traced.
    pub fn into_inner(self) -> F {
        self.inner
    }

    /// The probe of this future.
    pub fn trace_mut(&mut self) -> &mut PollTrace {
        &mut self.trace
    }
}

impl<F: Future> Future for Traced<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: inner is pinned as we are: it is never moved, and Traced has no Drop of its own. trace is not pinned.
        let (inner, trace) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.inner), &mut this.trace)
        };
        trace.poll(inner, cx)
    }
}

/// A future that records where it is awaited: see [`TraceFutureExt::here`].
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct Here<F> {
    inner: F,
    place: Place,
    site: u32, // its number, after the first wait here
}

impl<F> Here<F> {
    /// Sets the text in place of a function in the trace; without it, that is the type of the future.
    pub fn called(mut self, name: &'static str) -> Self {
        self.place.future = name;
        self
    }
}

impl<F: Future> Future for Here<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: as for Traced; and its Drop does not touch inner.
        let (inner, place, site) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.inner), this.place, &mut this.site)
        };
        if !probe::is_coroutine() {
            return inner.poll(cx);
        }
        let before = probe::take_waits();
        let result = inner.poll(cx);
        if result.is_ready() {
            probe::put_waits(before);
            *site = 0;
        } else {
            // Of several that wait, the last one counts; of nested ones, the innermost.
            *site = probe::wait_at(place);
        }
        result
    }
}

/// A future that is dropped before it is ready, such as the loser of a race, must not count as waited for after that.
impl<F> Drop for Here<F> {
    fn drop(&mut self) {
        if self.site != 0 {
            probe::wait_no_more(self.site);
        }
    }
}

/// The probe of one coroutine, for code that polls futures itself, and for coroutines that are not futures.
///
/// ```
/// use ctp::PollTrace;
/// use std::future::Future;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// struct Task {
///     future: Pin<Box<dyn Future<Output = ()> + Send>>,
///     trace: PollTrace,
/// }
///
/// impl Task {
///     fn run(&mut self, cx: &mut Context<'_>) -> Poll<()> {
///         self.trace.poll(self.future.as_mut(), cx)
///     }
/// }
/// ```
///
/// By hand it is [`on_resume`](PollTrace::on_resume) before a poll, then [`on_pending`](PollTrace::on_pending) or
/// [`on_ready`](PollTrace::on_ready); and code that wakes the task calls [`TaskRef::woken`].
pub struct PollTrace {
    coro: Coro,
    runs: bool,
    waker: Option<(Arc<TaskWaker>, Waker)>, // the second is the first, in the form of a Waker
}

impl PollTrace {
    /// A coroutine is spawned here, by the coroutine that runs on this thread.
    #[track_caller]
    pub fn new() -> Self {
        PollTrace::at("", Location::caller())
    }

    fn at(future: &'static str, location: &'static Location<'static>) -> Self {
        PollTrace { coro: Coro::new(Place { location, future }), runs: false, waker: None }
    }

    /// Names it for people. The first 96 bytes are kept.
    pub fn set_name(&mut self, name: impl Into<Cow<'static, str>>) {
        self.coro.set_name(name.into());
    }

    /// Whether it is traced: something records, and there was room for it.
    pub fn is_enabled(&self) -> bool {
        self.coro.is_traced()
    }

    /// The number that the trace has for it; 0 if it is not traced.
    pub fn id(&self) -> u64 {
        self.coro.id()
    }

    /// A reference by which others record that they woke it.
    pub fn task_ref(&self) -> TaskRef {
        TaskRef(self.coro.reference())
    }

    /// It runs on this thread from now on.
    #[inline]
    pub fn on_resume(&mut self) {
        if !mem::replace(&mut self.runs, true) {
            self.coro.resume();
        }
    }

    /// The next suspension waits for that coroutine: for its end or its next result, or for a lock that it holds. Call it just
    /// before the suspension, on the same thread, and only if it is certain: findings about coroutines that wait for each other
    /// rely on it.
    pub fn waits_for(&mut self, target: TaskRef) {
        self.coro.wait_for(target.0);
    }

    /// The next suspension waits for that. Call it just before the suspension, on the same thread. There may be several; the first
    /// that is fulfilled ends the wait. Four are kept.
    pub fn waits(&mut self, reason: Reason) {
        self.coro.reason(reason.value, reason.number());
    }

    /// It is suspended here. The address in the trace is that of `future`.
    #[inline]
    #[track_caller]
    pub fn on_pending<F>(&mut self, future: Pin<&mut F>) {
        let addr = &*future as *const F as usize as u64;
        self.suspend(addr, Some(Place { location: Location::caller(), future: type_name::<F>() }));
    }

    /// It is suspended here. `addr` is any address by which the program knows the place.
    #[inline]
    #[track_caller]
    pub fn on_pending_addr(&mut self, addr: u64) {
        self.suspend(addr, Some(Place { location: Location::caller(), future: "" }));
    }

    #[inline]
    fn suspend(&mut self, addr: u64, place: Option<Place>) {
        self.runs = false;
        self.coro.suspend(addr, place);
    }

    /// It has completed, and ends.
    pub fn on_ready(&mut self) {
        self.mark_dead();
    }

    /// It ends. Further calls do nothing; dropping the probe does the same.
    pub fn mark_dead(&mut self) {
        self.runs = false;
        self.coro.death();
    }

    /// Polls a future as this coroutine, with a waker that records what wakes it.
    #[inline]
    pub fn poll<F: Future + ?Sized>(&mut self, future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let result = if self.coro.is_recorded() { self.poll_recorded(future, cx) } else { future.poll(cx) };
        if result.is_ready() {
            self.mark_dead();
        }
        result
    }

    #[inline(never)] // so that no registers are saved if nothing is recorded
    fn poll_recorded<F: Future + ?Sized>(&mut self, future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.on_resume();
        let waker = TaskWaker::renew(&mut self.waker, TaskRef(self.coro.reference()), cx.waker());
        let running = Running(&mut self.coro);
        let result = future.poll(&mut Context::from_waker(waker));
        mem::forget(running);
        if result.is_pending() {
            // The address of the code, not of the future: so futures with the same code have the same address.
            self.suspend(<F as Future>::poll as *const () as u64, None);
        }
        result
    }
}

impl fmt::Debug for PollTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollTrace").field("id", &self.id()).finish()
    }
}

impl Default for PollTrace {
    #[track_caller]
    fn default() -> Self {
        PollTrace::new()
    }
}

impl Drop for PollTrace {
    fn drop(&mut self) {
        self.mark_dead();
    }
}

/// A coroutine that is being polled. Dropped only by a panic, which is its end.
struct Running<'a>(&'a mut Coro);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.death();
    }
}

/// Names one coroutine, even after it has ended.
#[derive(Clone, Copy)]
pub struct TaskRef(pub(crate) CoroRef);

impl fmt::Debug for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskRef")
    }
}

impl TaskRef {
    /// The caller has just made it ready to run, or is about to. The trace shows the coroutine that runs on this thread as its
    /// waker.
    pub fn woken(self) {
        self.0.wake(0);
    }

    /// The same, because of an object: it has something for the coroutine, or was closed.
    pub fn woken_for(self, object: &Object) {
        self.0.wake(object.id());
    }

    /// The coroutine that runs on this thread. If none is recorded there, it names no coroutine.
    pub fn current() -> TaskRef {
        TaskRef(probe::current())
    }
}

impl TaskRef {
    /// Recorded before it can be resumed. The object of the wake does not apply to futures around it.
    fn wakes(self, wake: impl FnOnce()) {
        let cause = probe::put_cause(0);
        self.0.wake(cause);
        wake();
        probe::put_cause(cause);
    }
}

struct TaskWaker {
    inner: Waker,
    task: TaskRef,
}

impl TaskWaker {
    /// Our waker around theirs. It is made once, unless the future is moved to another task, or recording begins later.
    #[inline]
    fn renew<'a>(kept: &'a mut Option<(Arc<TaskWaker>, Waker)>, task: TaskRef, inner: &Waker) -> &'a Waker {
        let is_good = matches!(kept, Some((ours, _)) if ours.task.0 == task.0 && ours.inner.will_wake(inner));
        if !is_good {
            *kept = None;
        }
        &kept.get_or_insert_with(|| TaskWaker::make(task, inner)).1
    }

    #[cold]
    fn make(task: TaskRef, inner: &Waker) -> (Arc<TaskWaker>, Waker) {
        let waker = Arc::new(TaskWaker { inner: inner.clone(), task });
        (waker.clone(), waker.into())
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.task.wakes(|| match Arc::try_unwrap(self) {
            Ok(waker) => waker.inner.wake(),
            Err(waker) => waker.inner.wake_by_ref(),
        });
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.task.wakes(|| self.inner.wake_by_ref());
    }
}
