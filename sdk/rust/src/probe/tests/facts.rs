// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! What coroutines wait for, and which coroutine holds it.

use super::*;
use crate::fact::{MARK_CANCELLABLE, MARK_CLOSED, MARK_GONE, MARK_MADE, MARK_OWNED, MARK_TIMED};
use crate::{waits, within_timeout, Kind, Object, Reason, Reasons, TaskRef, Waits};
use std::time::{Duration, Instant};

/// Never ready, and waits for a time.
struct Never(u64);

impl Future for Never {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Waits for Never {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        reasons.add(Reason::until_ns(self.0));
    }
}

fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    let flag = Waker::from(Arc::new(Flag));
    future.poll(&mut Context::from_waker(&flag))
}

/// Ready as soon as the first future is pending, which is dropped then.
async fn race(mut loser: impl Future<Output = ()> + Unpin) {
    assert!(poll_once(Pin::new(&mut loser)).is_pending());
}

fn facts() -> Vec<(u64, u64, u64, u32)> {
    let entries = entries();
    let facts = entries.iter().filter(|entry| (ENTRY_REASON..=ENTRY_FOR).contains(&(entry.what >> 56)));
    facts.map(|entry| (entry.what >> 56, entry.value, entry.reference, entry.what as u32)).collect()
}

/// The reasons of a task that polls this once, by its entries and by its station.
fn reasons(future: impl Future<Output = ()>) -> Vec<u64> {
    let mut task = Box::pin(future.traced());
    entries();
    assert!(poll_once(task.as_mut()).is_pending());
    let trace = unsafe { task.as_mut().get_unchecked_mut() }.trace_mut();
    let (station, reference) = (station_of(trace), reference_of(trace));
    let told: Vec<_> = facts().into_iter().filter(|fact| fact.2 == reference).map(|fact| fact.1).collect();
    let is_there = station.reason_event.load(Relaxed) == station.first.load(Relaxed) + 1
        && station.reason_generation.load(Relaxed) == reference_generation(reference);
    assert_eq!(is_there, !told.is_empty());
    if is_there {
        assert_eq!(station.nreasons.load(Relaxed) as usize, told.len().min(5));
        let kept = station.reasons.iter().map(|reason| reason.load(Relaxed));
        assert!(kept.zip(&told).all(|(kept, told)| kept == *told));
    }
    told
}

#[test]
fn a_suspension_tells_what_it_waits_for() {
    let _one = collect(FOLLOW);
    assert_eq!(reasons(Never(1).here_waits()), [1]);
    assert_eq!(reasons(Never(1)), [], "nobody asked it");
    assert_eq!(reasons(Never(1).here_for(Reason::until_ns(2))), [2]);
    assert_eq!(reasons(async { Never(1).here_waits().here().await }), [1]);
    assert_eq!(reasons(async { Never(1).waits().await }), [1]);
    let two = async {
        let mut first = Box::pin(Never(1).here_waits());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(first.as_mut()).is_pending());
        Never(2).waits().await;
    };
    assert_eq!(reasons(two), [1, 2], "each once");
    assert_eq!(reasons(async { (race(Never(1).waits()).await, Never(2).waits().await).1 }), [2], "not the loser of a race");
    let kept = Arc::new(Mutex::new(None));
    let moved = async {
        let put = kept.clone();
        async move {
            let mut never = Never(1).waits();
            assert!(poll_once(Pin::new(&mut never)).is_pending());
            *put.lock().unwrap() = Some(never);
        }
        .here()
        .await;
        Never(2).waits().await;
    };
    assert_eq!(reasons(moved), [2], "nothing of what is ready");
    let gone = kept.lock().unwrap().take();
    assert_eq!(reasons(async { (drop(gone), Never(3).waits().await).1 }), [3], "nor is another one's taken back");
}

#[test]
fn each_coroutine_has_its_own_reasons() {
    let _one = collect(FOLLOW);
    let around = async {
        let mut outer = Never(1).waits();
        assert!(poll_once(Pin::new(&mut outer)).is_pending());
        Never(2).waits().traced().await;
    };
    assert_eq!(reasons(around), [1]);
    assert_eq!(Thread::any().facts.count(), 0);
    let mut trace = PollTrace::new();
    trace.on_resume();
    waits(Reason::until_ns(4));
    trace.waits(Reason::fd(7, 1));
    entries();
    trace.on_pending_addr(1);
    assert_eq!(facts(), [(ENTRY_REASON, 4, reference_of(&trace), reason_number(1, 0, 1))]);
    assert_eq!(station_of(&trace).nreasons.load(Relaxed), 2);
    assert_eq!(station_of(&trace).reasons[0].load(Relaxed), 7);
    waits(Reason::until_ns(5));
    assert_eq!(Thread::any().facts.count(), 0, "no coroutine runs");
}

#[test]
fn too_many_reasons_are_no_few() {
    let _one = collect(FOLLOW);
    let many = |n| async move {
        (0..n).for_each(|i| waits(Reason::until_ns(i + 1)));
        Never(99).await;
    };
    assert_eq!(reasons(many(4)), [1, 2, 3, 4]);
    assert_eq!(reasons(many(6)).len(), 6);
    assert_eq!(reasons(many(40)).len(), 16);
    let inner = async {
        (0..15).for_each(|_| waits(Reason::until_ns(1)));
        let mut inner = many(3).traced();
        assert!(poll_once(unsafe { Pin::new_unchecked(&mut inner) }).is_pending());
        let station = station_of(inner.trace_mut());
        assert_eq!(station.nreasons.load(Relaxed), 5);
        Never(1).await;
    };
    assert_eq!(reasons(inner).len(), 15);
}

#[test]
fn marks_and_counts() {
    let _one = collect(FOLLOW);
    let object = Object::new(Kind::Permits, 2);
    let waiting = || Never(0).here_for(Reason::of(&object, 70000).cancellable());
    let mut task = Box::pin(async { within_timeout(|| poll_once(Box::pin(waiting()).as_mut())) }.traced());
    assert!(poll_once(task.as_mut()).is_ready(), "and what was dropped is not told");
    let mut trace = PollTrace::new();
    trace.on_resume();
    let mut never = Box::pin(waiting());
    assert!(within_timeout(|| poll_once(never.as_mut())).is_pending());
    entries();
    trace.on_pending_addr(1);
    let number = reason_number(4, MARK_TIMED | MARK_CANCELLABLE, 0xffff);
    assert_eq!(facts(), [(ENTRY_REASON, object.id(), reference_of(&trace), number)]);
    let now = Instant::now();
    let (before, after) = (sys::monotonic(), Reason::until(now + Duration::from_secs(1)).value);
    assert!(after >= before - 1_000_000_000 && after < before + 1_100_000_000);
    assert!(Reason::until(now - Duration::from_secs(1)).value < before);
}

#[test]
fn objects_tell_their_life() {
    let _one = collect(FOLLOW);
    drop(PollTrace::new()); // so that this thread has a ring
    entries();
    let line = line!() + 1;
    let object = Object::new(Kind::Permits, 2).owned();
    object.set_name("pool");
    object.set_name("another");
    let made = entries();
    let id = object.id();
    assert_eq!(kinds(&made), [ENTRY_OBJECT, ENTRY_OBJECT, ENTRY_LABEL]);
    assert_eq!((made[0].value, made[0].reference, made[0].what as u32), (id, 2, reason_number(4, MARK_MADE, 0)));
    assert_eq!(site_text((made[0].what >> 32) as u32 & 0xff_ffff), (file!().to_string(), line));
    assert_eq!(made[1].what as u32, reason_number(4, MARK_OWNED, 0));
    assert_eq!(site_text((made[2].what >> 32) as u32 & 0xff_ffff), ("pool".to_string(), 0));
    object.available(1);
    object.available(0);
    object.available(0);
    object.available(3);
    object.room(5);
    object.close();
    object.close();
    drop(object);
    let told: Vec<_> = facts().into_iter().map(|fact| (fact.1, fact.2, fact.3)).collect();
    let permits = reason_number(4, 0, 0);
    let (room, closed, gone) = (reason_number(6, 0, 0), reason_number(0, MARK_CLOSED, 0), reason_number(0, MARK_GONE, 0));
    assert_eq!(told, [(id, 0, permits), (id, 3, permits), (id, 5, room), (id, 0, closed), (id, 0, gone)]);
}

#[test]
fn a_late_collector_hears_of_objects() {
    static STATIC: Object = Object::const_new(Kind::Lock, 1);
    let _one = collect(0);
    let object = Object::new(Kind::Item, 0).named("jobs");
    object.room(4);
    object.available(2);
    probe().header().mode.store(FOLLOW, Relaxed);
    drop(PollTrace::new()); // so that this thread has a ring
    entries();
    object.available(0);
    let told: Vec<_> = facts().into_iter().map(|fact| (fact.0, fact.2, fact.3)).collect();
    let (item, room) = (reason_number(5, 0, 0), reason_number(6, 0, 0));
    assert_eq!(told, [(ENTRY_OBJECT, 0, item), (ENTRY_LABEL, 0, 0), (ENTRY_OBJECT, 4, room), (ENTRY_OBJECT, 0, item)]);
    object.available(1);
    assert_eq!(facts().len(), 1, "once");
    probe().header().epoch.fetch_add(1, Relaxed);
    object.available(0);
    assert_eq!(facts().len(), 4, "but each collector");
    STATIC.available(0);
    assert_eq!(facts().len(), 2);
    assert_ne!(STATIC.id(), object.id());
}

#[test]
fn holds_are_of_who_got_them() {
    let _one = collect(FOLLOW);
    let object = Object::new(Kind::Permits, 4);
    assert_eq!(object.hold(1).count(), 1, "by no coroutine");
    let (mut one, mut two) = (PollTrace::new(), PollTrace::new());
    let (first, second) = (reference_of(&one), reference_of(&two));
    entries();
    one.on_resume();
    let mut hold = object.hold(3);
    let some = hold.split(1);
    one.on_pending_addr(1);
    two.on_resume();
    let all = object.hold(1);
    drop(some);
    hold.hand(TaskRef::current());
    hold.merge(all);
    std::thread::scope(|scope| scope.spawn(|| drop(hold)).join().unwrap());
    two.on_pending_addr(1);
    let held: Vec<_> = facts().into_iter().map(|(kind, _, whose, n)| (kind == ENTRY_HOLDS, whose, n as i32)).collect();
    let told = [(first, 3), (second, 1), (first, -1), (first, -2), (second, 2), (second, -1), (second, -2), (second, 3)];
    assert_eq!(held, told.map(|(whose, n)| (true, whose, n)));
}

#[test]
fn wakes_tell_for_what() {
    struct Keep<'a>(&'a Mutex<Option<Waker>>);
    impl Future for Keep<'_> {
        type Output = ();
        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            *self.0.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        }
    }
    let _one = collect(FOLLOW);
    let (object, kept) = (Object::new(Kind::Event, 0), Mutex::new(None));
    let mut inner = Box::pin(Keep(&kept).traced());
    let leaf = reference_of(unsafe { inner.as_mut().get_unchecked_mut() }.trace_mut());
    let mut task = Box::pin(inner.here().traced());
    assert!(poll_once(task.as_mut()).is_pending());
    entries();
    let cause = object.cause();
    kept.lock().unwrap().as_ref().unwrap().wake_by_ref();
    drop(cause);
    kept.lock().unwrap().as_ref().unwrap().wake_by_ref();
    PollTrace::new().task_ref().woken_for(&object);
    let told = entries();
    assert_eq!(kinds(&told), [5, 14, 5, 5, 5, 3, 5, 14, 4], "of two that are woken by one call, the inner one");
    assert_eq!((told[1].value, told[1].reference, told[1].ts), (object.id(), leaf, told[0].ts));
}

fn kept(object: &Object) -> Option<&'static layout::Object> {
    probe().object_find(object.id(), false).map(|(_, kept)| kept)
}

/// How much each of these coroutines holds, by the memory; and how much the others hold.
fn held(object: &Object, coros: &[PollTrace]) -> (Vec<u64>, i32) {
    let kept = kept(object).unwrap();
    assert_eq!(kept.begun.load(Relaxed), kept.done.load(Relaxed));
    let words: Vec<_> = kept.holders.iter().map(|word| word.load(Relaxed)).collect();
    let of = |coro| words.iter().find(|word| **word >> 16 == holder(reference_of(coro))).map_or(0, |word| word & 0xffff);
    (coros.iter().map(of).collect(), kept.others.load(Relaxed))
}

/// What one coroutine holds from now on.
fn hold(coro: &mut PollTrace, object: &Object, n: u32) -> crate::Hold {
    coro.on_resume();
    let hold = object.hold(n);
    coro.on_pending_addr(1);
    hold
}

#[test]
fn the_memory_keeps_objects() {
    let _one = collect(RECORD);
    let before = probe().now();
    let line = line!() + 1;
    let object = Object::new(Kind::Permits, 9).owned().named("kept");
    let word = kept(&object).expect("it is there");
    let raw = if probe().raw { OBJECT_RAW } else { 0 };
    assert_eq!((word.pid.load(Relaxed), word.object.load(Relaxed)), (probe().pid, object.id()));
    assert_eq!(word.what.load(Relaxed), reason_number(4, MARK_OWNED, 0) | raw);
    assert!(word.made_ts.load(Relaxed) >= before && word.made_ts.load(Relaxed) <= probe().now());
    assert_eq!((word.all.load(Relaxed), word.available.load(Relaxed), word.room_ts.load(Relaxed)), (9, 9, 0));
    assert_eq!(site_text(word.made.load(Relaxed)), (file!().to_string(), line));
    assert_eq!(site_text(word.label.load(Relaxed)), ("kept".to_string(), 0));
    let since = word.available_ts.load(Relaxed);
    object.available(0);
    assert!(word.available.load(Relaxed) == 0 && word.available_ts.load(Relaxed) > since);
    object.room(7);
    assert!(word.room.load(Relaxed) == 7 && word.room_ts.load(Relaxed) > since);
    assert_eq!((word.what.load(Relaxed), word.closed_ts.load(Relaxed)), (reason_number(4, MARK_OWNED, 0) | raw, 0));
    object.close();
    assert!(word.closed_ts.load(Relaxed) > since);
    let id = object.id();
    drop(object);
    assert!(probe().object_find(id, false).is_none());
    assert!(Probe::peek().map_or(0, |probe| probe.header().objects_used.load(Relaxed)) >= 1);
}

#[test]
fn the_memory_keeps_holders() {
    let _one = collect(RECORD);
    let mut coros: Vec<_> = (0..53).map(|_| PollTrace::new()).collect();
    let object = Object::new(Kind::Permits, 200);
    let mut holds: Vec<_> = coros.iter_mut().map(|coro| hold(coro, &object, 2)).collect();
    let mut each = vec![2; 51];
    each.extend([0, 0]);
    assert_eq!(held(&object, &coros), (each.clone(), 4));
    let more = hold(&mut coros[1], &object, 3);
    each[1] = 5;
    assert_eq!(held(&object, &coros), (each.clone(), 4));
    probe().header().epoch.fetch_add(1, Relaxed); // a collector attaches, and it is recorded again
    object.available(0);
    assert_eq!(held(&object, &coros), (each.clone(), 4));
    drop(more);
    holds.pop();
    drop(holds.remove(0));
    (each[0], each[1]) = (0, 2);
    assert_eq!(held(&object, &coros), (each, 2));
    drop(holds);
    assert_eq!(held(&object, &coros), (vec![0; 53], 0));
    let all = coros.iter_mut().map(|coro| hold(coro, &object, 1)).collect::<Vec<_>>().into_iter();
    let all = all.reduce(|before, mut last| {
        last.merge(before);
        last
    });
    let mut last = vec![0; 52];
    last.push(53);
    assert_eq!(held(&object, &coros), (last, 0), "merged, they are those of one holder");
    drop(all);
}

#[test]
fn entries_of_holds_have_the_number_of_the_change() {
    let _one = collect(FOLLOW);
    let object = Object::new(Kind::Lock, 1);
    let mut coro = PollTrace::new();
    entries();
    drop(hold(&mut coro, &object, 1));
    let sites: Vec<_> = entries()
        .into_iter()
        .filter(|entry| entry.what >> 56 == ENTRY_HOLDS)
        .map(|entry| entry.what >> 32 & 0xff_ffff)
        .collect();
    let done = u64::from(kept(&object).unwrap().done.load(Relaxed));
    assert_eq!(sites, [done - 1, done]);
    probe().header().mode.store(FOLLOW | MODE_BARE, Relaxed);
    let _hold = hold(&mut coro, &object, 1);
    assert_eq!(u64::from(kept(&object).unwrap().done.load(Relaxed)), done, "a bare memory has none");
}

#[test]
fn places_of_objects_are_used_again() {
    let _one = collect(RECORD);
    let lost = || probe().header().lost_objects.load(Relaxed);
    let before = lost();
    let all: Vec<_> = (0..6000).map(|_| Object::new(Kind::Lock, 1)).collect();
    let there = all.iter().filter(|object| kept(object).is_some()).count();
    assert!(there > 3000 && there <= 4096, "{} of 4096 places", there);
    assert!(lost() - before >= (6000 - there) as u64, "and the others are counted");
    probe().header().mode.store(0, Relaxed);
    drop(all); // also if no coroutine is left
    probe().header().mode.store(RECORD, Relaxed);
    let before = lost();
    for _ in 0..10000 {
        assert!(kept(&Object::new(Kind::Lock, 1)).is_some());
    }
    assert_eq!(lost(), before);
}

#[test]
fn threads_that_hold_one_object_leave_nothing() {
    let _one = collect(RECORD);
    let object = Object::new(Kind::Permits, 100);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut coro = PollTrace::new();
                (0..2000).for_each(|i| drop(hold(&mut coro, &object, i % 5 + 1)));
            });
        }
    });
    assert_eq!(held(&object, &[]), (vec![], 0));
    assert!(kept(&object).unwrap().holders.iter().all(|word| word.load(Relaxed) == 0));
}
