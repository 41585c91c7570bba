// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! What the Rust programs of the corpus share: how a scenario is chosen, when its fault is due and when it ends, an executor with
//! threads and timers, and what coroutines wait for: a monitor, and channels and locks made of it.
//!
//! A fault that has bitten is left alone for 3 s, then a plain thread ends the program. All else ends by itself after 2.5 s. With
//! CORPUS_END=stay nothing ends. All suspensions are at `at(...)`, and all wakers come from `waker(...)`, because of
//! CORPUS_ONE_PLACE and CORPUS_NO_WAKE.
#![allow(dead_code)]

use ctp::{Here, Hold, Kind, Object, Reason, Reasons, TaskRef, TraceFutureExt, Waiting, Waits};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::{poll_fn, Future};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

pub const ALL: usize = usize::MAX;

// --- the story ----------------------------------------------------------------------------------------------------------------

pub struct Scenario(pub &'static str, pub &'static str, pub fn()); // name; "healthy", "defect" or "defect RULE,..."; what it does

struct Settings {
    start: Instant,
    faulty: bool,
    stay: bool,
    one_place: bool,
    no_wake: bool,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

fn settings() -> &'static Settings {
    SETTINGS.get().unwrap()
}

pub fn faulty() -> bool {
    settings().faulty
}

pub fn stay() -> bool {
    settings().stay
}

pub fn after(ms: u64) -> bool {
    settings().start.elapsed() >= Duration::from_millis(ms)
}

/// Whether the program has worked for long enough that the story may begin.
pub fn due() -> bool {
    after(700)
}

/// Whether a program without a fault has done its work.
pub fn over() -> bool {
    !stay() && !faulty() && after(2500)
}

/// The fault has happened. In a twin it has not.
pub fn bitten() {
    static BEFORE: AtomicBool = AtomicBool::new(false);
    if faulty() && !stay() && !BEFORE.swap(true, Ordering::Relaxed) {
        thread::spawn(|| {
            thread::sleep(Duration::from_secs(3));
            std::process::exit(0)
        });
    }
}

pub fn corpus_main(all: &[Scenario]) {
    let arguments: Vec<String> = std::env::args().collect();
    let is_set = |name, value| std::env::var(name).as_deref() == Ok(value);
    let chosen = arguments.get(1).map_or("", |a| a.as_str());
    let is_twin = arguments.get(2).map_or(false, |a| a == "twin");
    if chosen == "list" {
        all.iter().for_each(|s| println!("{} {}", s.0, s.1));
        return;
    }
    let Some(scenario) = all.iter().find(|s| s.0 == chosen) else { std::process::exit(2) };
    let _ = SETTINGS.set(Settings {
        start: Instant::now(),
        faulty: scenario.1.starts_with("defect") && !is_twin,
        stay: is_set("CORPUS_END", "stay"),
        one_place: is_set("CORPUS_ONE_PLACE", "1"),
        no_wake: is_set("CORPUS_NO_WAKE", "1"),
    });
    std::panic::set_hook(Box::new(|_| ())); // a panic is part of the story
    scenario.2();
    while faulty() || stay() {
        thread::park();
    }
}

// --- where and by whom ----------------------------------------------------------------------------------------------------------

type Parked<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

pub enum At<'a, F: Future> {
    Own(Pin<Box<Here<F>>>),
    One(Here<Parked<'a>>, Arc<Mutex<Option<F::Output>>>),
}

/// As `here()`, but that all places are one if the user of the corpus wants that.
#[track_caller]
pub fn at<'a, F: Future + Send + 'a>(future: F) -> At<'a, F>
where
    F::Output: Send,
{
    if settings().one_place {
        at_one_place(future)
    } else {
        At::Own(Box::pin(future.here()))
    }
}

fn at_one_place<'a, F: Future + Send + 'a>(future: F) -> At<'a, F>
where
    F::Output: Send,
{
    let result = Arc::new(Mutex::new(None));
    let to = result.clone();
    let parked: Parked<'a> = Box::pin(async move {
        let output = future.await;
        *to.lock().unwrap() = Some(output);
    });
    At::One(parked.here(), result)
}

impl<F: Future> Future for At<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.get_mut() {
            At::Own(future) => future.as_mut().poll(cx),
            At::One(future, result) => Pin::new(future).poll(cx).map(|_| result.lock().unwrap().take().unwrap()),
        }
    }
}

thread_local!(static UNTRACED: RefCell<Option<Waker>> = const { RefCell::new(None) });

/// The waker to keep, which tells the trace nothing if the user of the corpus wants that.
pub fn waker(cx: &Context<'_>) -> Waker {
    match settings().no_wake {
        true => UNTRACED.with(|w| w.borrow().clone().unwrap()),
        false => cx.waker().clone(),
    }
}

// --- what for -------------------------------------------------------------------------------------------------------------------

/// Something that tasks wait for, as the trace knows it. Any wait for it may be dropped. A program that tells of no wakes tells
/// nothing of this either.
pub struct Thing(Option<Object>);

impl Thing {
    #[track_caller]
    pub fn new(kind: Kind, available: u64) -> Thing {
        match settings().no_wake {
            true => Thing(None),
            false => Thing(Some(Object::new(kind, available))), // a closure would not know who called
        }
    }

    pub fn has(&self, n: usize) {
        self.0.iter().for_each(|o| o.available(n as u64));
    }

    pub fn has_room(&self, n: usize) {
        self.0.iter().for_each(|o| o.room(n as u64));
    }

    pub fn is_closed(&self) {
        self.0.iter().for_each(Object::close);
    }

    pub fn hold(&self) -> Option<Hold> {
        self.0.as_ref().map(|o| o.hold(1))
    }

    /// Wakes because of it.
    pub fn wake(&self, waker: Waker) {
        let _cause = self.0.as_ref().map(Object::cause);
        waker.wake();
    }

    /// The task that is being polled waits for it.
    pub fn waits(&self) {
        self.0.iter().for_each(|o| ctp::waits(Reason::of(o, 1).cancellable()));
    }

    pub fn awaited(&self, reasons: &mut Reasons<'_>) {
        self.0.iter().for_each(|o| reasons.add(Reason::of(o, 1).cancellable()));
    }

    pub fn room_awaited(&self, reasons: &mut Reasons<'_>) {
        self.0.iter().for_each(|o| reasons.add(Reason::of_kind(o, Kind::Room, 1).cancellable()));
    }
}

// --- the executor ---------------------------------------------------------------------------------------------------------------

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

pub struct Task {
    future: Mutex<Option<Boxed>>,
    is_queued: AtomicBool,
}

#[derive(Default)]
struct Executor {
    ready: Mutex<VecDeque<Arc<Task>>>,
    is_ready: Condvar,
    tasks: Mutex<Vec<Weak<Task>>>,
    timers: Mutex<BTreeMap<(Instant, u64), Waker>>,
    is_timed: Condvar,
}

fn executor() -> &'static Executor {
    static EXECUTOR: OnceLock<Executor> = OnceLock::new();
    EXECUTOR.get_or_init(Executor::default)
}

impl Task {
    fn queue(self: Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::SeqCst) {
            executor().ready.lock().unwrap().push_back(self);
            executor().is_ready.notify_one();
        }
    }

    fn poll(self: Arc<Self>) {
        self.is_queued.store(false, Ordering::SeqCst);
        let waker = Waker::from(self.clone());
        UNTRACED.with(|w| *w.borrow_mut() = Some(waker.clone()));
        let mut slot = self.future.lock().unwrap();
        if let Some(future) = slot.as_mut() {
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
            if !matches!(polled, Ok(Poll::Pending)) {
                *slot = None;
            }
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.queue()
    }
}

/// Runs until the first future is done. What else there is stays as it is.
#[track_caller]
pub fn run(threads: usize, first: impl Future<Output = ()> + Send + 'static) {
    let done = Arc::new((Mutex::new(false), Condvar::new()));
    let told = done.clone();
    let first = first.traced_named("first");
    spawn_boxed(Box::pin(async move {
        first.await;
        *told.0.lock().unwrap() = true;
        told.1.notify_all();
    }));
    for _ in 0..threads {
        thread::spawn(|| loop {
            let mut ready = executor().ready.lock().unwrap();
            while ready.is_empty() {
                ready = executor().is_ready.wait(ready).unwrap();
            }
            let task = ready.pop_front().unwrap();
            drop(ready);
            task.poll();
        });
    }
    thread::spawn(run_timers);
    drop(done.1.wait_while(done.0.lock().unwrap(), |is_done| !*is_done).unwrap());
}

fn run_timers() {
    let mut timers = executor().timers.lock().unwrap();
    loop {
        let now = Instant::now();
        match timers.first_key_value() {
            Some((&(when, _), _)) if when <= now => {
                let waker = timers.pop_first().unwrap().1;
                drop(timers);
                waker.wake();
                timers = executor().timers.lock().unwrap();
            }
            Some((&(when, _), _)) => timers = executor().is_timed.wait_timeout(timers, when - now).unwrap().0,
            None => timers = executor().is_timed.wait(timers).unwrap(),
        }
    }
}

fn spawn_boxed(future: Boxed) -> Arc<Task> {
    let task = Arc::new(Task { future: Mutex::new(Some(future)), is_queued: AtomicBool::new(false) });
    let mut tasks = executor().tasks.lock().unwrap();
    tasks.retain(|t| t.strong_count() > 0);
    tasks.push(Arc::downgrade(&task));
    drop(tasks);
    task.clone().queue();
    task
}

/// Drops all futures that wait, as a runtime does that is dropped. Only for an executor of one thread, from a task of its own.
pub fn drop_the_others() {
    let tasks: Vec<_> = executor().tasks.lock().unwrap().iter().filter_map(|t| t.upgrade()).collect();
    for task in tasks {
        if let Ok(mut slot) = task.future.try_lock() {
            let future = slot.take();
            drop(slot);
            drop(future);
        }
    }
}

pub struct Join<T> {
    result: Arc<Monitor<Option<Option<T>>>>,
    task: Arc<Task>,
    traced: TaskRef,
}

impl<T: Send> Join<T> {
    /// What the task returned, or None if it did not come to its end.
    pub async fn result(&self) -> Option<T> {
        Until { monitor: &self.result, queue: 0, id: None, of: Some(self.traced), wanted: |r: &mut Option<_>, _| r.take() }
            .waits()
            .await
    }

    /// Not to be called by the task itself.
    pub fn abort(&self) {
        let future = self.task.future.lock().unwrap().take();
        drop(future);
    }
}

struct Outcome<T>(Arc<Monitor<Option<Option<T>>>>, Option<T>);

impl<T> Outcome<T> {
    fn set(&mut self, value: T) {
        self.1 = Some(value);
    }
}

impl<T> Drop for Outcome<T> {
    fn drop(&mut self) {
        let result = self.1.take();
        self.0.change(0, ALL, |to| *to = Some(result));
    }
}

#[track_caller]
pub fn spawn<T: Send + 'static>(name: impl Into<String>, future: impl Future<Output = T> + Send + 'static) -> Join<T> {
    let result = Arc::new(Monitor::told(Kind::Event, None, |result: &Option<_>, thing| thing.has(result.is_some() as usize)));
    let mut outcome = Outcome(result.clone(), None);
    let mut future = future.traced_named(name.into());
    let traced = future.trace_mut().task_ref();
    let task = spawn_boxed(Box::pin(async move { outcome.set(future.await) }));
    Join { result, task, traced }
}

// --- what a coroutine waits for ------------------------------------------------------------------------------------------------

struct Sleep(Instant, u64);

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.0 {
            return Poll::Ready(());
        }
        executor().timers.lock().unwrap().insert((self.0, self.1), waker(cx));
        executor().is_timed.notify_one();
        Poll::Pending
    }
}

impl Waits for Sleep {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        if !settings().no_wake {
            reasons.add(Reason::until(self.0).cancellable());
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        executor().timers.lock().unwrap().remove(&(self.0, self.1));
    }
}

async fn sleep_until_due(ms: u64) {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    Sleep(Instant::now() + Duration::from_millis(ms), NUMBER.fetch_add(1, Ordering::Relaxed)).waits().await
}

#[track_caller]
pub fn sleep(ms: u64) -> At<'static, impl Future<Output = ()> + Send> {
    at(sleep_until_due(ms))
}

async fn give_way_once() {
    let mut has_given_way = false;
    poll_fn(|cx| {
        if has_given_way {
            return Poll::Ready(());
        }
        has_given_way = true;
        waker(cx).wake();
        Poll::Pending
    })
    .await
}

/// Lets all run that are ready.
#[track_caller]
pub fn give_way() -> At<'static, impl Future<Output = ()> + Send> {
    at(give_way_once())
}

/// Whatever is ready first; the other one is dropped.
pub async fn race<A: Future, B: Future>(a: A, b: B) -> Result<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|cx| match a.as_mut().poll(cx) {
        Poll::Ready(result) => Poll::Ready(Ok(result)),
        Poll::Pending => b.as_mut().poll(cx).map(Err),
    })
    .await
}

struct Inside<T> {
    state: T,
    queues: [VecDeque<(u64, Waker)>; 2],
    next: u64,
}

type Tell<T> = Box<dyn Fn(&T, &Thing) + Send + Sync>;

/// A state, and two queues of coroutines that wait for it to be as they want it. The second queue waits for room.
pub struct Monitor<T> {
    inside: Mutex<Inside<T>>,
    thing: Thing,
    tell: Tell<T>,
}

impl<T> Monitor<T> {
    /// A condition: what its state means is known to those alone who wait for it.
    #[track_caller]
    pub fn new(state: T) -> Self {
        Monitor::told(Kind::Event, state, |_, _| ())
    }

    /// A thing with a state that the trace is told after each change, and before somebody is woken because of it.
    #[track_caller]
    pub fn told(kind: Kind, state: T, tell: impl Fn(&T, &Thing) + Send + Sync + 'static) -> Self {
        let thing = Thing::new(kind, 0);
        tell(&state, &thing);
        Monitor { inside: Mutex::new(Inside { state, queues: Default::default(), next: 0 }), thing, tell: Box::new(tell) }
    }

    /// Changes the state and wakes this number of tasks of one queue.
    pub fn change<R>(&self, queue: usize, wakes: usize, how: impl FnOnce(&mut T) -> R) -> R {
        let mut inside = self.inside.lock().unwrap();
        let result = how(&mut inside.state);
        (self.tell)(&inside.state, &self.thing);
        let wakes = wakes.min(inside.queues[queue].len());
        let woken: Vec<_> = inside.queues[queue].drain(..wakes).collect();
        drop(inside);
        woken.into_iter().for_each(|(_, waker)| self.thing.wake(waker));
        result
    }

    /// Waits until the function has a result. It is told the state, and whether it is called because of a wake.
    pub fn until<R, F: FnMut(&mut T, bool) -> Option<R>>(&self, queue: usize, wanted: F) -> Waiting<Until<'_, T, F>> {
        Until { monitor: self, queue, id: None, of: None, wanted }.waits()
    }

    /// Waits for the next wake, whatever the state.
    pub async fn signal(&self) {
        self.until(0, |_, is_woken| is_woken.then_some(())).await
    }
}

pub struct Until<'a, T, F> {
    monitor: &'a Monitor<T>,
    queue: usize,
    id: Option<u64>,
    of: Option<TaskRef>, // the task that will change the state, if there is only one
    wanted: F,
}

impl<T, F> Unpin for Until<'_, T, F> {}

impl<T, R, F: FnMut(&mut T, bool) -> Option<R>> Future for Until<'_, T, F> {
    type Output = R;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let this = self.get_mut();
        let mut guard = this.monitor.inside.lock().unwrap();
        let inside = &mut *guard;
        let queue = &mut inside.queues[this.queue];
        let place = this.id.and_then(|id| queue.iter().position(|w| w.0 == id));
        if let Some(result) = (this.wanted)(&mut inside.state, this.id.is_some() && place.is_none()) {
            (this.monitor.tell)(&inside.state, &this.monitor.thing);
            place.and_then(|place| queue.remove(place));
            this.id = None;
            return Poll::Ready(result);
        }
        match place {
            Some(place) => queue[place].1 = waker(cx),
            None => {
                inside.next += 1;
                this.id = Some(inside.next);
                queue.push_back((inside.next, waker(cx)));
            }
        }
        Poll::Pending
    }
}

impl<T, R, F: FnMut(&mut T, bool) -> Option<R>> Waits for Until<'_, T, F> {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        match self.queue {
            0 => self.monitor.thing.awaited(reasons),
            _ => self.monitor.thing.room_awaited(reasons),
        }
        self.of.into_iter().for_each(|task| reasons.waits_for(task));
    }
}

impl<T, F> Drop for Until<'_, T, F> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let mut inside = self.monitor.inside.lock().unwrap();
        let place = inside.queues[self.queue].iter().position(|w| w.0 == id);
        place.and_then(|place| inside.queues[self.queue].remove(place));
        drop(inside);
        if place.is_none() {
            self.monitor.change(self.queue, 1, |_| ()); // its wake is for the next
        }
    }
}

/// What is set once, and stays so.
#[track_caller]
pub fn flag() -> Arc<Monitor<bool>> {
    Arc::new(Monitor::told(Kind::Event, false, |is_set, thing| thing.has(*is_set as usize)))
}

pub struct Semaphore(Monitor<usize>);

pub struct Permit(Arc<Semaphore>, Option<Hold>);

impl Semaphore {
    #[track_caller]
    pub fn new(permits: usize) -> Arc<Self> {
        Arc::new(Semaphore(Monitor::told(Kind::Permits, permits, |n, thing| thing.has(*n))))
    }

    pub async fn acquire(self: &Arc<Self>) -> Permit {
        self.0.until(0, |n, _| (*n > 0).then(|| *n -= 1)).await;
        Permit(self.clone(), self.0.thing.hold())
    }

    pub fn is_taken(&self) -> bool {
        self.0.change(0, 0, |n| *n == 0)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        drop(self.1.take());
        self.0 .0.change(0, 1, |n| *n += 1);
    }
}

pub struct Channel<T> {
    inside: Monitor<(VecDeque<T>, usize)>, // and how many senders there are
    capacity: usize,
}

/// The channel is closed when the last of these is gone.
pub struct Sender<T>(Arc<Channel<T>>);

pub struct Receiver<T>(Arc<Channel<T>>);

#[track_caller]
pub fn channel<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let tell = move |c: &(VecDeque<T>, usize), thing: &Thing| {
        thing.has(c.0.len());
        thing.has_room(capacity - c.0.len());
        if c.1 == 0 {
            thing.is_closed();
        }
    };
    let both = Arc::new(Channel { inside: Monitor::told(Kind::Item, (VecDeque::new(), 1), tell), capacity });
    (Sender(both.clone()), Receiver(both))
}

impl<T: Send> Sender<T> {
    pub async fn send(&self, item: T) {
        let mut item = Some(item);
        let capacity = self.0.capacity;
        self.0.inside.until(1, |c, _| (c.0.len() < capacity).then(|| c.0.push_back(item.take().unwrap()))).await;
        self.0.inside.change(0, 1, |_| ());
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.inside.change(0, 0, |c| c.1 += 1);
        Sender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.inside.change(0, ALL, |c| c.1 -= 1);
    }
}

impl<T: Send> Receiver<T> {
    /// None if the channel is empty and closed.
    pub async fn receive(&self) -> Option<T> {
        let item = self.0.inside.until(0, |c, _| c.0.pop_front().map(Some).or((c.1 == 0).then_some(None))).await;
        self.0.inside.change(1, 1, |_| ());
        item
    }
}
