/*
 * A sandbox as strict seccomp filters are: membarrier(2) is refused. The filter must be there before libqa looks, so
 * the program sets it and starts itself anew; a filter stays over exec. Refusing pidfd_open makes of any kernel one
 * that has no descriptors for threads, as before Linux 6.9.
 */
#include "target.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse(int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof code / sizeof code[0], .filter = code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return -errno;
	return 0;
}

int sandbox_enter(char *program)
{
	char *arguments[] = {program, NULL};
	int error = refuse(SYS_membarrier);
	if (error)
		return error;
	execv("/proc/self/exe", arguments);
	return -errno;
}

int sandbox_become(unsigned uid)
{
	int error = refuse(SYS_pidfd_open);
	if (error)
		return error;
	return setgid(uid) == 0 && setuid(uid) == 0 ? 0 : -errno;
}
