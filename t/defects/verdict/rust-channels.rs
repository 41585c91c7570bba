// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
//! rust-channels - signals, channels and replies between tasks.

#[path = "rust.rs"]
mod rust;

use ctp::{Kind, Reasons, TraceFutureExt, Waits};
use rust::*;
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

// signal_before_wait: a flusher and a writer. The writer signals after each batch, and the signal is not kept: as long as the
// writer waited for the flusher it always met it; now it writes one more while the flusher is busy with the disk.
fn signal_before_wait() {
    run(1, async {
        let batches = Arc::new(Monitor::new(0)); // written and not yet taken
        let (begun, flushed) = (Arc::new(Monitor::new(0)), Arc::new(Monitor::new(0)));
        let (of, b, f) = (batches.clone(), begun.clone(), flushed.clone());
        spawn("flusher", async move {
            loop {
                if faulty() || of.change(0, 0, |n| *n) == 0 {
                    at(of.signal()).await; // HERE signal_before_wait
                }
                let taken = of.change(0, 0, std::mem::take);
                b.change(0, ALL, |n| *n += 1);
                sleep(2).await;
                f.change(0, ALL, |n| *n += taken);
            }
        });
        give_way().await;
        let (mut written, mut rounds) = (0, 0);
        while !over() {
            batches.change(0, 1, |n| *n += 1);
            written += 1;
            rounds += 1;
            if due() {
                at(begun.until(0, |n, _| (*n >= rounds).then_some(()))).await;
                batches.change(0, 1, |n| *n += 1);
                written += 1;
                rounds += 1;
                bitten();
            }
            at(flushed.until(0, |n, _| (*n >= written).then_some(()))).await;
        }
    })
}

// both_full: a client sends a whole batch before it reads the replies, the server replies before it reads on. The first batch
// that is larger than both channels stops them.
fn both_full() {
    run(2, async {
        let (request, requests) = channel(8);
        let (reply, replies) = channel(8);
        spawn("server", async move {
            while let Some(n) = at(requests.receive()).await {
                let n: u32 = n;
                at(reply.send(n * 2)).await; // HERE both_full
            }
        });
        while !over() {
            let size = if due() && faulty() { 50 } else { 8 };
            if size > 8 {
                bitten();
            }
            for n in 0..size {
                at(request.send(n)).await; // HERE both_full
            }
            for _ in 0..size {
                at(replies.receive()).await;
            }
            sleep(2).await;
        }
    })
}

// sender_kept: an import collects what its readers send until the last sender is gone. Since senders are cloned for the readers,
// the first one lives on beside the loop, and the loop never ends.
fn sender_kept() {
    run(2, async {
        while !over() {
            let (sender, receiver) = channel(4);
            for reader in 0..3 {
                let sender = sender.clone();
                spawn(format!("reader {reader}"), async move {
                    for line in 0..4 {
                        at(sender.send(line)).await;
                        sleep(1).await;
                    }
                });
            }
            let kept = (due() && faulty()).then(|| sender.clone());
            drop(sender);
            if kept.is_some() {
                bitten();
            }
            while let Some(_line) = at(receiver.receive()).await {} // HERE sender_kept
        }
    })
}

// reply_forgotten: a client keeps the senders of its pending replies in a table by number. A reply with a number that is not
// expected is logged and thrown away, and the one who waits for it keeps waiting.
fn reply_forgotten() {
    run(2, async {
        let (ask, asked) = channel::<(u32, Sender<u32>)>(4);
        spawn("server", async move {
            let mut pending = Vec::new();
            while let Some((n, reply)) = at(asked.receive()).await {
                pending.push((n, reply));
                sleep(1).await;
                let answered = if n % 8 == 7 && due() { n + 100 } else { n };
                if let Some(i) = pending.iter().position(|p| p.0 == answered) {
                    at(pending.swap_remove(i).1.send(n)).await;
                } else if faulty() {
                    bitten();
                } else {
                    at(pending.pop().unwrap().1.send(0)).await;
                }
            }
        });
        for n in 0.. {
            let (reply, answer) = channel(1);
            at(ask.send((n, reply))).await;
            at(answer.receive()).await; // HERE reply_forgotten
            if over() {
                break;
            }
        }
    })
}

// lost_in_select: a loop that takes a command and looks it up, raced with a tick. A tick that comes in the middle of the lookup
// drops the future that has taken the command already, and with it the command and its reply.
fn lost_in_select() {
    type Command = (u32, Sender<u32>, Arc<Monitor<()>>);
    async fn take_and_look_up(commands: &Receiver<Command>) -> Option<Command> {
        let command = at(commands.receive()).await?;
        if command.0 == 1 {
            command.2.change(0, ALL, |_| ()); // the slow ones tell that they have begun
            sleep(20).await;
        }
        Some(command)
    }
    run(1, async {
        let (command, commands) = channel::<Command>(4);
        let tick = Arc::new(Monitor::new(()));
        let (ticks, begun) = (tick.clone(), Arc::new(Monitor::new(())));
        let begin = begun.clone();
        spawn("ticker", async move {
            loop {
                at(begin.signal()).await;
                tick.change(0, ALL, |_| ());
                bitten();
            }
        });
        spawn("command loop", async move {
            loop {
                let taken = if faulty() {
                    race(take_and_look_up(&commands), ticks.signal()).await
                } else {
                    Ok(take_and_look_up(&commands).await)
                };
                if let Ok(Some((n, reply, _))) = taken {
                    at(reply.send(n)).await;
                }
            }
        });
        while !over() {
            let (reply, answer) = channel(1);
            let (kept, kind) = (reply.clone(), due() as u32);
            at(command.send((kind, reply, begun.clone()))).await;
            at(answer.receive()).await; // HERE lost_in_select
            drop(kept);
            sleep(2).await;
        }
    })
}

// stale_waker: a hand-written future keeps the waker of its first poll only. It is polled once within the task that makes it and
// then moved to another one, and what is woken is the first.
struct Once(Arc<(Mutex<(bool, Option<Waker>)>, Thing)>);

impl Future for Once {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut inside = self.0 .0.lock().unwrap();
        if inside.0 {
            return Poll::Ready(());
        }
        if inside.1.is_none() || !faulty() {
            inside.1 = Some(waker(cx));
        }
        Poll::Pending
    }
}

impl Waits for Once {
    fn reasons(&self, reasons: &mut Reasons<'_>) {
        self.0 .1.awaited(reasons);
    }
}

fn stale_waker() {
    run(1, async {
        while !over() {
            let inside = Arc::new((Mutex::new((false, None::<Waker>)), Thing::new(Kind::Event, 0)));
            let mut once = Once(inside.clone());
            if due() {
                poll_fn(|cx| Poll::Ready(Pin::new(&mut once).poll(cx).is_ready())).await;
                bitten();
            }
            let waiting = spawn("waits for it", async move {
                at(once.waits()).await; // HERE stale_waker
            });
            sleep(3).await;
            let woken = {
                let mut slot = inside.0.lock().unwrap();
                slot.0 = true;
                inside.1.has(1);
                slot.1.take()
            };
            woken.into_iter().for_each(|w| inside.1.wake(w));
            at(waiting.result()).await;
        }
    })
}

// never_registered: a future that gives up without a waker where the lock inside is just taken. Who holds it does not know that
// anybody wants it.
async fn take_shared(shared: &Mutex<u32>, thing: &Thing) -> u32 {
    loop {
        let taken = poll_fn(|_| match shared.try_lock() {
            Ok(n) => Poll::Ready(Some(*n)),
            Err(_) if faulty() => {
                thing.waits();
                Poll::Pending
            }
            Err(_) => Poll::Ready(None),
        });
        let taken = at(taken).await; // HERE never_registered
        match taken {
            Some(n) => return n,
            None => sleep(1).await,
        }
    }
}

fn never_registered() {
    run(2, async {
        let shared = Arc::new((Mutex::new(0), Thing::new(Kind::Lock, 1)));
        while !over() {
            if due() {
                let (theirs, (locked, is_locked)) = (shared.clone(), std::sync::mpsc::channel());
                std::thread::spawn(move || {
                    let _guard = theirs.0.lock().unwrap();
                    theirs.1.has(0);
                    locked.send(()).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(30));
                    theirs.1.has(1);
                });
                is_locked.recv().unwrap();
                bitten();
            }
            take_shared(&shared.0, &shared.1).await;
            sleep(2).await;
        }
    })
}

// not_awaited: the acknowledgement is sent by an async function, and one call of it has no await: the future is made, thrown
// away, and nothing is sent.
fn not_awaited() {
    run(2, async {
        let (acknowledge, acknowledged) = channel(1);
        let (data, arrived) = channel(1);
        spawn("receiver", async move {
            while let Some(n) = at(arrived.receive()).await {
                let n: u32 = n;
                if due() && faulty() {
                    let _ = acknowledge.send(n);
                    bitten();
                } else {
                    at(acknowledge.send(n)).await;
                }
            }
        });
        for n in 0.. {
            at(data.send(n)).await;
            at(acknowledged.receive()).await; // HERE not_awaited
            sleep(1).await;
            if over() {
                break;
            }
        }
    })
}

// idle_workers: eight workers on one queue, busy for 0.9 s, and then there is nothing to do. The program ends while they wait.
fn idle_workers() {
    run(2, async {
        let (job, jobs) = channel(16);
        let jobs = Arc::new(jobs);
        for i in 0..8 {
            let jobs = jobs.clone();
            spawn(format!("worker {i}"), async move {
                while let Some(ms) = at(jobs.receive()).await {
                    sleep(ms).await;
                }
            });
        }
        while !after(900) {
            at(job.send(2)).await;
        }
        while !over() {
            sleep(200).await;
        }
    })
}

// slow_consumer: the queue is full for more than a second because the consumer compacts its files. Producers wait all that time,
// and go on after it.
fn slow_consumer() {
    run(2, async {
        let (item, items) = channel(4);
        for i in 0..3 {
            let item = item.clone();
            spawn(format!("producer {i}"), async move {
                while !over() {
                    at(item.send(i)).await;
                }
            });
        }
        drop(item);
        let mut has_compacted = false;
        while at(items.receive()).await.is_some() {
            sleep(if due() && !has_compacted { 1200 } else { 1 }).await;
            has_compacted = due();
        }
    })
}

// quiet_topics: subscribers of topics on which nothing is published in this run but a greeting; two others are lively.
fn quiet_topics() {
    run(2, async {
        let mut topics = Vec::new();
        for i in 0..12 {
            let (publish, topic) = channel(4);
            topics.push(publish);
            spawn(format!("subscriber {i}"), async move { while at(topic.receive()).await.is_some() {} });
        }
        for topic in &topics {
            at(topic.send(0)).await;
        }
        while !over() {
            at(topics[3].send(1)).await;
            at(topics[4].send(1)).await;
            sleep(3).await;
        }
    })
}

// request_time_outs: a server that does not answer each tenth request. The client gives up after 40 ms and asks anew; the wait
// that lost the race is dropped where it was.
fn request_time_outs() {
    run(2, async {
        let (ask, asked) = channel::<(u32, Sender<u32>)>(4);
        spawn("server", async move {
            let mut forgotten = Vec::new();
            while let Some((n, reply)) = at(asked.receive()).await {
                if n % 10 == 9 {
                    forgotten.push(reply);
                    continue;
                }
                at(reply.send(n)).await;
            }
        });
        for n in 0.. {
            let (reply, answer) = channel(1);
            at(ask.send((n, reply))).await;
            let _ = race(at(answer.receive()), sleep(40)).await;
            sleep(1).await;
            if over() {
                break;
            }
        }
    })
}

// shutdown_signal: each task races its work with a signal to end that comes once, at the end. For the whole run that wait is in
// vain in all of them, and polled anew with each step.
fn shutdown_signal() {
    run(2, async {
        let end = flag();
        let mut tasks = Vec::new();
        for i in 0..6 {
            let end = end.clone();
            tasks.push(spawn(format!("service {i}"), async move {
                while race(sleep(5), at(end.until(0, |is_over, _| is_over.then_some(())))).await.is_ok() {}
            }));
        }
        while !over() {
            sleep(50).await;
        }
        end.change(0, ALL, |is_over| *is_over = true);
        for task in &tasks {
            at(task.result()).await;
        }
    })
}

fn main() {
    corpus_main(&[
        Scenario("signal_before_wait", "defect", signal_before_wait),
        Scenario("both_full", "defect", both_full),
        Scenario("sender_kept", "defect", sender_kept),
        Scenario("reply_forgotten", "defect", reply_forgotten),
        Scenario("lost_in_select", "defect", lost_in_select),
        Scenario("stale_waker", "defect", stale_waker),
        Scenario("never_registered", "defect", never_registered),
        Scenario("not_awaited", "defect", not_awaited),
        Scenario("idle_workers", "healthy", idle_workers),
        Scenario("slow_consumer", "healthy", slow_consumer),
        Scenario("quiet_topics", "healthy", quiet_topics),
        Scenario("request_time_outs", "healthy", request_time_outs),
        Scenario("shutdown_signal", "healthy", shutdown_signal),
    ])
}
