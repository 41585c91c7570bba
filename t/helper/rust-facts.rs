// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! Programs for t/pipe/rust-facts.t: small uses of tokio whose traces are known.

use ctp::TraceFutureExt;
use ctp_tokio::sync::{mpsc, oneshot, watch, Mutex, Notify, OwnedMutexGuard, RwLock, Semaphore};
use ctp_tokio::sync::{MappedMutexGuard, MutexGuard};
use ctp_tokio::task::JoinSet;
use ctp_tokio::time::{sleep, sleep_until, timeout, Duration, Instant};
use ctp_tokio::Named;
use std::future::Future;
use std::sync::Arc;

/// A traced task.
fn spawn<F>(name: &'static str, future: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(future.traced_named(name))
}

/// Long enough for the others to reach their waits.
async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

/// Long enough for a report to say something.
async fn long() {
    tokio::time::sleep(Duration::from_millis(1500)).await;
}

/// Two locks in two orders.
async fn deadlock() {
    let accounts = Arc::new(Mutex::new(0).named("accounts"));
    let journal = Arc::new(Mutex::new(0));
    let (a, j) = (accounts.clone(), journal.clone());
    spawn("payer", async move {
        let _accounts = a.lock().await;
        tokio::task::yield_now().await;
        *j.lock().await += 1; // the payer
    });
    spawn("auditor", async move {
        let _journal = journal.lock().await;
        tokio::task::yield_now().await;
        *accounts.lock_owned().await += 1; // the auditor
    });
    long().await;
}

/// A pool that is used up, and a task that waits for two of it.
async fn pool() {
    let pool = Arc::new(Semaphore::new(3).named("db pool"));
    let (one, two) = (pool.clone(), pool.clone());
    let holder = spawn("holder", async move {
        let kept = one.acquire_many(2).await.unwrap();
        let _owned = one.clone().acquire_owned().await.unwrap();
        assert!(one.try_acquire().is_err());
        a_moment().await;
        drop(kept);
    });
    tokio::task::yield_now().await;
    let waiter = spawn("waiter", async move {
        two.acquire_many(2).await.unwrap().forget();
    });
    holder.await.unwrap();
    waiter.await.unwrap();
    assert_eq!(pool.available_permits(), 1);
    let last = spawn("last", async move {
        let _permit = pool.acquire().await.unwrap();
        let waits = pool.acquire();
        assert!(tokio::time::timeout(Duration::from_millis(30), waits).await.is_err());
        pool.add_permits(1);
        assert_eq!(pool.available_permits(), 1);
        pool.close();
        assert!(pool.acquire().await.is_err());
    });
    last.await.unwrap();
}

/// A pool that loses its permits to tasks that end.
async fn leak() {
    let pool = Arc::new(Semaphore::new(8).named("connections")); // more than the number of holders that are kept
    let queries = (0..8).map(|_| {
        let pool = pool.clone();
        spawn("query", async move {
            let permit = pool.acquire().await.unwrap();
            a_moment().await;
            permit.forget();
        })
    });
    for query in queries.collect::<Vec<_>>() {
        query.await.unwrap();
    }
    spawn("starved", async move { drop(pool.acquire().await) });
    long().await;
}

/// Permits that are used up, and more that are added now and then.
async fn tokens() {
    let rate = Arc::new(Semaphore::new(2).named("rate"));
    for i in 0..4 {
        if i >= 2 {
            rate.add_permits(1);
        }
        let rate = rate.clone();
        spawn("request", async move { rate.acquire().await.unwrap().forget() }).await.unwrap();
    }
    spawn("late", async move { drop(rate.acquire().await) });
    long().await;
}

/// A queue that is empty, then full, then closed.
async fn queue() {
    let (tx, mut rx) = mpsc::channel(2).named("jobs");
    let worker = spawn("worker", async move {
        let mut all = Vec::new();
        while let Some(job) = rx.recv().await {
            a_moment().await;
            all.push(job);
        }
        all
    });
    a_moment().await;
    let sender = tx.clone();
    let producer = spawn("producer", async move {
        for job in 0..5 {
            sender.send(job).await.unwrap();
        }
    });
    producer.await.unwrap();
    drop(tx);
    assert_eq!(worker.await.unwrap(), [0, 1, 2, 3, 4]);
    let (tx, rx) = mpsc::unbounded_channel().named("notes");
    tx.send(1).unwrap();
    drop(rx);
    assert!(tx.send(2).is_err());
}

/// Timers, alone and around others.
async fn timers() {
    let sleeper = spawn("sleeper", async {
        sleep(Duration::from_millis(20)).await;
        sleep_until(Instant::now() + Duration::from_millis(20)).await;
    });
    let lock = Arc::new(Mutex::new(0).named("busy"));
    let held = lock.clone().lock_owned().await;
    let impatient = spawn("impatient", async move { timeout(Duration::from_millis(50), lock.lock()).await.is_err() });
    sleeper.await.unwrap();
    assert!(impatient.await.unwrap());
    drop(held);
}

/// A guard that is dropped by another task than the one that locked.
async fn elsewhere() {
    let lock = Arc::new(Mutex::new(0).named("baton"));
    let (tx, rx) = oneshot::channel::<OwnedMutexGuard<i32>>();
    let giver = spawn("giver", async move { tx.send(lock.lock_owned().await).is_ok() });
    let taker = spawn("taker", async move {
        let mut guard = rx.here().await.unwrap();
        *guard += 1;
    });
    assert!(giver.await.unwrap());
    taker.await.unwrap();
}

/// Of two that are waited for, the one that lost is not waited for any more.
async fn race() {
    let (tx, mut rx) = mpsc::channel::<u32>(1).named("lost");
    let (go, mut went) = watch::channel(0).named("won");
    let racer = spawn("racer", async move {
        tokio::select! {
            biased;
            _ = rx.recv() => unreachable!(),
            changed = went.changed() => changed.unwrap(),
        }
        std::future::pending::<()>().await;
    });
    a_moment().await;
    go.send(1).unwrap();
    a_moment().await;
    racer.abort();
    drop(tx);
}

/// A lock with two readers and a writer; a condition.
async fn readers() {
    let lock = Arc::new(RwLock::new(0).named("table"));
    let done = Arc::new(Notify::new().named("done"));
    let pair = Mutex::new((1, 2)).named("pair");
    let (first, second) = (lock.clone().read_owned().await, lock.try_read().unwrap());
    let (written, tell) = (lock.clone(), done.clone());
    let writer = spawn("writer", async move {
        *written.write().await += 1;
        tell.notify_one();
    });
    let late = spawn("late", async move { done.notified().await });
    a_moment().await;
    drop(first);
    drop(second);
    writer.await.unwrap();
    drop(lock.clone().write_owned().await.downgrade());
    let mapped = MutexGuard::map(pair.lock().await, |pair| &mut pair.0);
    assert_eq!(MappedMutexGuard::try_map(mapped, |_| None::<&mut u32>).map_or_else(|same| *same, |_| 0), 1);
    assert!(pair.try_lock().is_ok());
    late.await.unwrap();
    assert_eq!(*lock.read().await, 1);
}

/// A worker that sleeps although there is something in its queue.
async fn asleep() {
    let (tx, mut rx) = mpsc::channel::<u32>(4).named("inbox");
    spawn("worker", async move {
        let mut first = Box::pin(rx.recv());
        let never = std::task::Waker::from(Arc::new(Nobody));
        let lost = first.as_mut().poll(&mut std::task::Context::from_waker(&never)); // a waker without effect
        assert!(lost.is_pending());
        std::future::pending::<()>().await;
    });
    a_moment().await;
    tx.send(1).await.unwrap();
    long().await;
}

async fn lock_once(lock: Arc<Mutex<u32>>) {
    *lock.lock().await += 1;
}

/// Tasks that are traced because they are spawned.
async fn spawned() {
    let lock = Arc::new(Mutex::new(0).named("shared"));
    let held = lock.clone().lock_owned().await;
    let plain = ctp_tokio::spawn(lock_once(lock.clone())); // a plain task
    let named = ctp_tokio::spawn(lock_once(lock.clone()).traced_named("named")); // and one with a name
    let mut set = JoinSet::new();
    set.spawn(lock_once(lock.clone())); // one of a set
    let joiner = spawn("joiner", async move {
        while set.join_next().await.is_some() {} // the joiner
    });
    a_moment().await;
    drop(held);
    for task in [plain, named, joiner] {
        task.await.unwrap();
    }
    assert_eq!(*lock.lock().await, 3);
}

/// Everything at once on several threads, and much of it dropped before it is done.
async fn crowd() {
    let lock = Arc::new(Mutex::new(0).named("crowded lock"));
    let table = Arc::new(RwLock::new(0).named("crowded table"));
    let pool = Arc::new(Semaphore::new(2).named("crowded pool"));
    let (tx, mut rx) = mpsc::channel(2).named("crowded queue");
    let sum = spawn("sum", async move {
        let mut sum = 0;
        while let Some(n) = rx.recv().await {
            sum += n;
        }
        sum
    });
    let tasks: Vec<_> = (0..8u64)
        .map(|n| {
            let (lock, table, pool, tx) = (lock.clone(), table.clone(), pool.clone(), tx.clone());
            spawn("one of many", async move {
                for i in 0..100u64 {
                    let impatience = Duration::from_micros((n * 7 + i) % 50);
                    let _ = timeout(impatience, lock.lock()).await;
                    let mut guard = lock.clone().lock_owned().await;
                    *guard += 1;
                    drop(guard);
                    let permits = timeout(impatience, pool.acquire_many(2)).await;
                    tokio::task::yield_now().await;
                    drop(permits);
                    let permit = pool.clone().acquire_owned().await.unwrap();
                    tx.send(1).await.unwrap();
                    drop(permit);
                    match i % 4 {
                        0 => *table.write().await += 1,
                        _ => assert!(*table.read().await <= 200),
                    }
                    tokio::select! {
                        permit = tx.reserve() => drop(permit),
                        _ = table.write() => (),
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    drop(tx);
    assert_eq!((sum.await.unwrap(), *lock.lock().await, *table.read().await), (800, 800, 200));
    assert_eq!(pool.available_permits(), 2);
    long().await;
}

struct Nobody;

impl std::task::Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

fn main() {
    let which = std::env::args().nth(1).unwrap_or_default();
    let mut builder = match which.as_str() {
        "crowd" => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(), // so that what comes first comes first
    };
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        match which.as_str() {
            "deadlock" => deadlock().await,
            "pool" => pool().await,
            "leak" => leak().await,
            "tokens" => tokens().await,
            "queue" => queue().await,
            "timers" => timers().await,
            "elsewhere" => elsewhere().await,
            "race" => race().await,
            "readers" => readers().await,
            "asleep" => asleep().await,
            "spawned" => spawned().await,
            "crowd" => crowd().await,
            _ => panic!("unknown scene"),
        }
    });
    println!("{} is over", which);
    if std::env::args().any(|arg| arg == "stay") {
        let _ = std::io::stdin().read_line(&mut String::new());
    }
    std::process::exit(0); // before the runtime drops its tasks: the stuck ones must stay
}
