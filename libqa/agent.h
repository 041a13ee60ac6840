/*
 * agent.h - the life of the agent's thread: when libqa is loaded, around fork, and by call (qa_agent_start and _stop in
 * qa.h).
 *
 * What it does is in agent_link.h.
 */
#ifndef LIBQA_AGENT_H
#define LIBQA_AGENT_H

/* From the library's constructor, last: starts the agent unless QA_AGENT is off or the program is set-user-ID. */
void agent_boot(void);

/*
 * Around fork. prepare comes before libqa takes any other lock, the other two after it gave all back: qa_agent_stop
 * waits for the agent's thread, which may be in the middle of a trim, with the lock that prepare takes. The child gets
 * an agent of its own when the parent has one.
 */
void agent_fork_prepare(void);
void agent_fork_parent(void);
void agent_fork_child(void);

#endif
