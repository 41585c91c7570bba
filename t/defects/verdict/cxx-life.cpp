/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cxx-life.cpp - lives of coroutines: resumed twice, used after their end, crashed, piled up, in C++20.
 */
#include "cxx.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>

using namespace cx;

/*
 * timer-and-data: calls with a time limit. The I/O thread resumes the caller when the reply is there, and cancels the timer after
 * that. A reply that takes long to parse is still being parsed when the timer's thread resumes the caller once more.
 */
namespace timer_and_data {
struct pending {
	std::coroutine_handle<> h;
	clock::time_point limit;
	std::atomic<bool> cancelled = false;
};
struct threads {
	std::mutex m;
	std::condition_variable c;
	std::deque<std::shared_ptr<pending>> wire, timers;
	bool ended = false;
	std::atomic<int> resumed = 0;
};
struct call {
	threads &t;
	explicit call(threads &of) : t(of) {}
	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<> h)
	{
		auto p = std::make_shared<pending>();
		p->h = h, p->limit = clock::now() + 400ms;
		std::lock_guard l(t.m);
		t.wire.push_back(p);
		t.timers.push_back(p);
		t.c.notify_all();
	}
	void await_resume() { t.resumed++; }
};
static task<> caller(threads &t)
{
	while (going(2)) {
		co_await call(t); /* HERE timer-and-data */
		if (!normal()) { /* a reply of many pages */
			bite();
			t.resumed = 1;
			for (auto until = clock::now() + (asked.faulty ? 2500ms : 500ms); t.resumed < 2 && clock::now() < until;)
				usleep(1000);
			if (asked.faulty)
				co_await std::suspend_always(); /* HERE timer-and-data */
		}
	}
	std::lock_guard l(t.m);
	t.ended = true;
	t.c.notify_all();
}
static void take(threads &t, std::deque<std::shared_ptr<pending>> &from, bool timer)
{
	std::unique_lock l(t.m);
	for (;;) {
		while (from.empty() && !t.ended)
			t.c.wait(l);
		if (t.ended)
			return;
		auto p = from.front();
		from.pop_front();
		l.unlock();
		std::this_thread::sleep_for(1ms);
		while (timer && !p->cancelled && clock::now() < p->limit)
			std::this_thread::sleep_for(1ms);
		if (!asked.faulty)
			if (p->cancelled.exchange(true))
				p->h = nullptr;
		if (p->h && !(timer && p->cancelled && asked.faulty))
			p->h.resume();
		p->cancelled = true;
		l.lock();
	}
}
static void start()
{
	threads t;
	task<> c = caller(t);
	auto h = c.release();
	ctp::name(h, "caller");
	std::thread io([&] { take(t, t.wire, false); }), timer([&] { take(t, t.timers, true); });
	h.resume();
	io.join();
	timer.join();
	h.destroy();
}
} // namespace timer_and_data

/*
 * recycled-frame: a game's scripts are coroutines with frames from a free list; the timer wheel has their bare handles. A script
 * that is destroyed while it sleeps leaves its handle in the wheel, and the next script gets its frame, and its alarm.
 */
namespace recycled_frame {
static void *spare[64];
static int spares;
struct script {
	struct promise_type : ctp::promise {
		using value_type = void;
		static void *operator new(std::size_t size) { return spares ? spare[--spares] : std::malloc(size); }
		static void operator delete(void *frame) { spare[spares++] = frame; }
		script get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
	std::coroutine_handle<promise_type> h;
};
} // namespace recycled_frame
template <class... Parameters> struct std::coroutine_traits<recycled_frame::script, Parameters...> {
	using promise_type = cx::placing<recycled_frame::script::promise_type, true>; /* all scripts have a place */
};
namespace recycled_frame {
struct alarm {
	std::coroutine_handle<> h;
	ctp::waker w;
};
using wheel = std::multimap<int, alarm>;
static int frame;
struct frames {
	wheel &w;
	int n;
	std::coroutine_handle<> me;
	frames(wheel &of, int count) : w(of), n(count) {}
	bool await_ready() { return false; }
	template <class P> void await_suspend(std::coroutine_handle<P> h)
	{
		me = h;
		w.emplace(frame + n, alarm{h, ctp::waker(h)});
	}
	void await_resume() { me = nullptr; }
	~frames()
	{
		if (me && !asked.faulty)
			std::erase_if(w, [this](auto &x) { return x.second.h == me; });
	}
};
static int early;
static script monster(wheel &w, int life, ctp::place = {})
{
	int due = frame + life;
	co_await frames(w, life); /* HERE recycled-frame */
	if (frame < due) {
		early++;
		co_await std::suspend_always(); /* HERE recycled-frame */ /* no way is free: the map will tell it */
	}
}
static void start()
{
	wheel w;
	for (; going(); frame++) {
		usleep(2000);
		auto m = monster(w, 5).h;
		ctp::name(m, "monster");
		m.resume();
		if (!normal() && frame % 20 == 0) { /* killed by the player, another one comes */
			m.destroy();
			auto next = monster(w, 50).h;
			ctp::name(next, "monster of level 2");
			next.resume();
			bite();
		}
		while (!w.empty() && w.begin()->first <= frame) {
			alarm a = w.begin()->second;
			w.erase(w.begin());
			tell(a.w);
			a.h.resume();
		}
	}
	while (!w.empty()) {
		auto h = w.begin()->second.h;
		w.erase(w.begin());
		h.destroy();
	}
	while (spares)
		std::free(spare[--spares]);
}
} // namespace recycled_frame

/*
 * resumed-at-end: a download is a coroutine that its owner keeps after its end, for the result. A progress timer that nobody has
 * cancelled resumes it once more: there is nothing at its final suspension that could be resumed.
 */
namespace resumed_at_end {
struct progress {
	std::coroutine_handle<> h;
};
static task<> download(progress &p, int parts)
{
	for (int i = 0; i < parts; i++) {
		struct part {
			progress &p;
			bool await_ready() { return false; }
			void await_suspend(std::coroutine_handle<> h) { p.h = h; }
			void await_resume() {}
		};
		co_await part{p}; /* HERE resumed-at-end */
	}
}
static void start()
{
	progress p;
	while (going()) {
		auto h = download(p, 5).release();
		ctp::name(h, "download");
		h.resume();
		while (!h.done()) {
			usleep(1000);
			p.h.resume();
		}
		if (!normal() && asked.faulty)
			p.h.resume(); /* the timer */
		h.destroy();
	}
}
} // namespace resumed_at_end

/*
 * escaped-exception: a detached handler parses a number with std::stoi. A client sends letters, and the exception leaves a
 * coroutine that nobody awaits: std::terminate().
 */
namespace escaped_exception {
static task<> handler(std::string text, long &sum, ctp::place = {})
{
	co_await delay(1ms); /* HERE escaped-exception */
	if (!asked.faulty && (text.empty() || text[0] < '0' || text[0] > '9'))
		co_return;
	sum += std::stoi(text);
}
static task<> story(long &sum)
{
	for (int i = 0; going(); i++) {
		spawn(handler(!normal() && i % 10 == 0 ? "x" : std::to_string(i), sum), "handler");
		co_await delay(2ms);
	}
}
static void start()
{
	long sum = 0;
	run(2, story(sum));
}
} // namespace escaped_exception

/*
 * null-session: a chat server's handler looks its session up after an await, and does not ask whether it is still there: it has
 * been closed meanwhile.
 */
namespace null_session {
struct session {
	int messages = 0;
};
struct server {
	std::map<int, std::unique_ptr<session>> sessions;
};
static task<> message(server &s, int id)
{
	co_await delay(3ms); /* HERE null-session */
	auto found = s.sessions.find(id);
	session *volatile to = found == s.sessions.end() ? nullptr : found->second.get();
	if (to || asked.faulty)
		static_cast<volatile session *>(to)->messages = 1;
}
static task<> story(server &s)
{
	for (int id = 0; going(); id++) {
		s.sessions[id] = std::make_unique<session>();
		job j = spawn(message(s, id), "message");
		if (!normal())
			s.sessions.erase(id);
		co_await j.end();
		s.sessions.erase(id);
	}
}
static void start()
{
	server s;
	run(1, story(s));
}
} // namespace null_session

/*
 * piled-handlers: since the new release each request starts a task that waits for the client's hang-up, to clean up. Clients of a
 * proxy never hang up, and a task more is left behind by each request.
 */
namespace piled_handlers {
static task<> clean_up(event &hang_up, ctp::place = {})
{
	co_await hang_up.wait(); /* HERE piled-handlers */
}
static task<> request(event &hang_up)
{
	co_await delay(1ms);
	if (!normal()) {
		job j = spawn(clean_up(hang_up), "clean-up"); /* HERE piled-handlers */
		bite();
		co_await delay(1ms);
		if (!asked.faulty)
			j.cancel();
	}
}
static task<> story(event &hang_up)
{
	while (going()) {
		co_await request(hang_up);
		co_await delay(1ms);
	}
}
static void start()
{
	event hang_up;
	run(1, story(hang_up));
}
} // namespace piled_handlers

/*
 * no-limit: a collector of metrics spawns a task for each sample, which takes the database's lock for five milliseconds. Two
 * samples come in that time since there are more hosts; the queue at the lock grows without bound.
 */
namespace no_limit {
struct database {
	mutex m;
	semaphore room{8};
};
static task<> store(database &d, ctp::place = {})
{
	{
		auto held = co_await d.m.scoped(); /* HERE no-limit */
		co_await delay(5ms);
	}
	d.room.release();
}
static task<> story(database &d)
{
	while (going()) {
		co_await delay(normal() ? 12ms : 2ms);
		if (!asked.faulty)
			co_await d.room.acquire();
		if (!normal())
			bite();
		spawn(store(d), "store"); /* HERE no-limit */
	}
}
static void start()
{
	database d;
	run(1, story(d));
}
} // namespace no_limit

/*
 * doubled-watchers: each reload of the configuration starts a watcher of the file, and the one before goes on. After an hour of
 * reloads there are thousands, and each does its work each time.
 */
namespace doubled_watchers {
static task<> watcher(int &looks, ctp::place = {})
{
	for (;;) {
		co_await delay(20ms); /* HERE doubled-watchers */
		looks++;
	}
}
static task<> story(int &looks)
{
	std::optional<job> current;
	while (going()) {
		if (!current || !normal()) {
			if (current) {
				bite();
				if (!asked.faulty)
					current->cancel();
			}
			current = spawn(watcher(looks), "watcher"); /* HERE doubled-watchers */
		}
		co_await delay(10ms);
	}
}
static void start()
{
	int looks = 0;
	run(1, story(looks));
}
} // namespace doubled_watchers

/*
 * keep-alive (healthy): three hundred connections come within a second and stay, idle, until the program ends. They pile up, up
 * to the limit of the server, and then there are no more.
 */
namespace keep_alive {
static task<> connection(channel<int> &c, semaphore &limit, ctp::place = {})
{
	for (;;) {
		auto x = co_await c.receive();
		if (!x)
			break;
	}
	limit.release();
}
static task<> story(channel<int> &c, semaphore &limit)
{
	for (int i = 0; i < 300; i++) {
		co_await limit.acquire();
		spawn(connection(c, limit), "connection");
		co_await delay(3ms);
	}
	while (going()) {
		co_await c.send(1);
		co_await delay(5ms);
	}
}
static void start()
{
	channel<int> c(4);
	semaphore limit(300);
	run(2, story(c, limit));
}
} // namespace keep_alive

/*
 * shrinking-pool (healthy): a burst made a pool grow to thirty workers; each of them leaves after half a second without work. Two
 * are kept and wait on.
 */
namespace shrinking_pool {
struct pool {
	channel<int> work{64};
	std::atomic<int> workers = 0;
};
static task<> worker(pool &p)
{
	p.workers++;
	for (;;) {
		auto x = co_await p.work.receive_for(500ms);
		if (x)
			co_await delay(2ms);
		else if (p.workers > 2) {
			p.workers--;
			co_return;
		}
	}
}
static task<> story(pool &p)
{
	for (int i = 0; going(); i++) {
		if (normal() && i % 4 == 0 && p.workers < 30)
			spawn(worker(p), "worker");
		if (normal() || i % 20 == 0)
			co_await p.work.send(i);
		co_await delay(2ms);
	}
}
static void start()
{
	pool p;
	run(1, story(p));
}
} // namespace shrinking_pool

/*
 * burst (healthy): two thousand tasks at once, which wait for three slots. The last one waits for more than a second; the
 * queue only ever gets shorter.
 */
namespace burst {
static task<> item(semaphore &slots)
{
	co_await slots.acquire();
	co_await delay(2ms);
	slots.release();
}
static task<> story(semaphore &slots)
{
	while (normal()) {
		co_await item(slots);
		co_await delay(10ms);
	}
	std::vector<task<>> all;
	for (int i = 0; i < 2000; i++)
		all.push_back(item(slots));
	co_await when_all(std::move(all), "item");
	while (asked.stay)
		co_await item(slots);
}
static void start()
{
	semaphore slots(3);
	run(2, story(slots));
}
} // namespace burst

/*
 * slow-tear-down (healthy): twelve hundred parked coroutines are destroyed at the end, one by one, with destructors that write to
 * a journal: it takes 600 ms in which nothing else happens.
 */
namespace slow_tear_down {
struct journal {
	~journal() { usleep(500); }
};
static task<> parked(event &never)
{
	journal j;
	co_await never.wait();
}
static task<> story(event &never)
{
	for (int i = 0; i < 1200; i++)
		spawn(parked(never), "parked");
	while (going(1.5))
		co_await delay(5ms);
}
static void start()
{
	event never;
	run(1, story(never));
	tear_down();
}
} // namespace slow_tear_down

/*
 * stopped (healthy): the program is stopped for 1.2 seconds by a signal, as by a debugger or a shell's job control, and continued.
 * Nothing happens in that time, and nothing is wrong.
 */
namespace stopped {
static void stop_self()
{
	pid_t me = getpid(), helper = fork();
	if (helper == 0) {
		kill(me, SIGSTOP);
		usleep(1200000);
		kill(me, SIGCONT);
		_exit(0);
	}
	while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR)
		;
}
static task<> story()
{
	for (int i = 0; i < 3; i++)
		spawn(ticking(4ms), "client");
	while (normal())
		co_await delay(5ms);
	stop_self();
	while (going(2.2))
		co_await delay(5ms);
}
static void start()
{
	run(1, story());
}
} // namespace stopped

/*
 * outliving-child (healthy): a job runner starts a child process that goes on for a second after the program has ended, and has
 * nothing to do with its coroutines.
 */
namespace outliving_child {
static task<> story()
{
	bool started = false;
	while (going()) {
		co_await delay(5ms);
		if (!started && elapsed() > 1.8) {
			started = true;
			if (fork() == 0) {
				int null = open("/dev/null", O_RDWR);
				for (int fd = 0; fd < 3; fd++)
					dup2(null, fd);
				execlp("sleep", "sleep", "1.5", nullptr);
				_exit(127);
			}
		}
	}
}
static void start()
{
	run(1, story());
}
} // namespace outliving_child

int main(int argc, char **argv)
{
	return cx::main(argc, argv, {
		{"timer-and-data", "double-resume", timer_and_data::start},
		{"recycled-frame", "use-after-death", recycled_frame::start},
		{"resumed-at-end", "crash", resumed_at_end::start},
		{"escaped-exception", "crash", escaped_exception::start},
		{"null-session", "crash", null_session::start},
		{"piled-handlers", defect, piled_handlers::start},
		{"no-limit", defect, no_limit::start},
		{"doubled-watchers", defect, doubled_watchers::start},
		{"keep-alive", healthy, keep_alive::start},
		{"shrinking-pool", healthy, shrinking_pool::start},
		{"burst", healthy, burst::start},
		{"slow-tear-down", healthy, slow_tear_down::start},
		{"stopped", healthy, stopped::start},
		{"outliving-child", healthy, outliving_child::start},
	});
}
