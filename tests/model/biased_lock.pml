/*
 * The biased lock between a heap's owner and drainers (libqa/include/qa_inline.h, libqa/heap.c), on a machine that
 * delays stores as x86 does (TSO): each processor has a store buffer, and reads its own stores from there first.
 *
 *   owner:    busy = 1; if (stop) leave it alone; else use the lists; busy = 0
 *   drainer:  stop = 1; membarrier; wait a bounded time for busy == 0, or give up; take the lists; stop = 0
 *
 * membarrier empties the store buffers of all threads. A fork is a drainer that copies the lists while it has them; a
 * thread's end hands the heap to another owner. Drainers hold trim's lock, so one is enough.
 *
 *   spin -run -safety biased_lock.pml                   errors: 0
 *   spin -DNO_BARRIER -run -safety biased_lock.pml      must find an error: the code without membarrier
 *   spin -DNO_WAIT -run -safety biased_lock.pml         likewise: a drainer that does not look at busy
 *   spin -DNO_HANDOVER -run -safety biased_lock.pml     likewise: a thread's end that does not wait for the drainer
 *
 * tests/e2e/test_model.py runs all four.
 *
 * What is checked: never two inside; the lists' two words (head and count) are never seen or copied half written; at the
 * end nothing is lost or doubled: blocks taken by the drainer and left in the lists are those that the owners put in.
 */

#define OWNER 0
#define DRAINER 1
#define SECOND 2 /* who owns the heap after the first one's end */
#define THREADS 3

#define BUSY 0
#define STOP 1
#define HEAD 2  /* of the list: here the number of blocks that are linked */
#define COUNT 3 /* the word beside it: capacity - room */
#define WORDS 4

#define OPERATIONS 2 /* of each owner */
#define DRAINS 3
#define LOOKS 2
#define BUFFER 4 /* stores that a processor may delay */

byte memory[WORDS];

/* The store buffers, oldest first. */
typedef buffer {
	byte word[BUFFER];
	byte value[BUFFER];
	byte stores
}
buffer buffers[THREADS];

byte inside;         /* threads that may touch the lists */
byte put, taken;     /* blocks: by owners into the lists, by the drainer out of them */
byte owner = OWNER;  /* whose heap it is: handed on under the list's lock */

/* A store waits in the buffer; when it is full the thread waits. */
inline store(self, at, what) {
	atomic {
		buffers[self].stores < BUFFER;
		buffers[self].word[buffers[self].stores] = at;
		buffers[self].value[buffers[self].stores] = what;
		buffers[self].stores++
	}
}

/* A load sees the thread's own latest store, else memory. */
inline load(self, at, result) {
	d_step {
		result = memory[at];
		i = 0;
		do
		:: i < buffers[self].stores ->
			if
			:: buffers[self].word[i] == at -> result = buffers[self].value[i]
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

/* The oldest store reaches memory. */
inline drain_one(self) {
	d_step {
		memory[buffers[self].word[0]] = buffers[self].value[0];
		buffers[self].stores--;
		j = 0;
		do
		:: j < BUFFER - 1 ->
			buffers[self].word[j] = buffers[self].word[j + 1];
			buffers[self].value[j] = buffers[self].value[j + 1];
			j++
		:: else -> break
		od;
		buffers[self].word[BUFFER - 1] = 0;
		buffers[self].value[BUFFER - 1] = 0;
		j = 0
	}
}

/* Locked instructions and locks: this thread's stores are seen. */
inline flush(self) {
	buffers[self].stores == 0
}

/* The processors write their stores whenever they like. */
proctype machine(byte self) {
	byte j;
end:
	do
	:: buffers[self].stores > 0 -> drain_one(self)
	od
}

inline enter_lists() {
	inside++;
	assert(inside == 1)
}

inline leave_lists() {
	inside--
}

/* The owner puts a block in the list: two words, one after the other. */
inline use_lists(self) {
	enter_lists();
	load(self, HEAD, head);
	load(self, COUNT, count);
	assert(head == count);
	store(self, HEAD, head + 1);
	store(self, COUNT, count + 1);
	put++;
	leave_lists()
}

/* busy = 1, and a look at stop. The heap's fast path; leaves it alone when a drainer is there. */
inline operate(self) {
	store(self, BUSY, 1);
	load(self, STOP, value);
	if
	:: value == 0 -> use_lists(self)
	:: else
	fi;
	store(self, BUSY, 0)
}

/* heap_abandon: waits for the drainer, empties the lists, and hands the heap on under a lock. */
inline hand_over(self, next) {
#ifndef NO_HANDOVER
	do
	:: store(self, BUSY, 1);
		load(self, STOP, value);
		if
		:: value == 0 -> break
		:: else -> store(self, BUSY, 0)
		fi
	od;
#endif
	enter_lists();
	load(self, HEAD, head);
	load(self, COUNT, count);
	assert(head == count);
	taken = taken + head;
	store(self, HEAD, 0);
	store(self, COUNT, 0);
	leave_lists();
	store(self, BUSY, 0);
	flush(self);
	owner = next
}

proctype own(byte self; byte next) {
	byte i, head, count, value, operations;
	owner == self;
	do
	:: operations < OPERATIONS -> operate(self); operations++
	:: else -> break
	od;
	operations = 0;
	hand_over(self, next)
}

proctype drain() {
	byte i, head, count, value, drains, looks;
	do
	:: drains < DRAINS ->
		drains++;
		store(DRAINER, STOP, 1);
#ifndef NO_BARRIER
		/* membarrier: each processor, at some moment until it returns, has no store left */
		flush(DRAINER);
		flush(OWNER);
		flush(SECOND);
#endif
		looks = 0;
		do
		:: looks < LOOKS ->
			load(DRAINER, BUSY, value);
			if
#ifdef NO_WAIT
			:: true -> value = 0; break
#else
			:: value == 0 -> break
			:: else -> looks++
#endif
			fi
		:: else -> break
		od;
		if
		:: value == 0 ->
			enter_lists();
			load(DRAINER, HEAD, head);
			load(DRAINER, COUNT, count);
			assert(head == count); /* also what a fork would copy now */
			taken = taken + head;
			store(DRAINER, HEAD, 0);
			store(DRAINER, COUNT, 0);
			leave_lists()
		:: else
		fi;
		value = 0;
		looks = 0;
		store(DRAINER, STOP, 0)
	:: else -> break
	od
}

init {
	atomic {
		run machine(OWNER);
		run machine(DRAINER);
		run machine(SECOND);
		run drain();
		run own(OWNER, SECOND);
		run own(SECOND, THREADS)
	}
	owner == THREADS && _nr_pr == 4;
	buffers[DRAINER].stores == 0;
	assert(memory[HEAD] == 0 && memory[COUNT] == 0);
	assert(taken == put)
}
