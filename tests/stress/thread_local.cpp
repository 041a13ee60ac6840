/*
 * thread_local objects of C++: their destructors run at a thread's end, before those of pthread keys, and those made by
 * a later round after them. Each frees what it has, and allocates.
 */
#include "qa.h"

extern "C" void thread_local_touch(void);

namespace
{

struct holder {
	void *block;
	holder() : block(qa_malloc(500)) {}
	~holder()
	{
		void *next = qa_malloc(700);
		qa_free(block);
		qa_free(next);
	}
};

thread_local holder first;
thread_local holder second;

} // namespace

void thread_local_touch(void)
{
	*static_cast<char *>(first.block) = 1;
	*static_cast<char *>(second.block) = 2;
}
