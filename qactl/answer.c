/*
 * One row for each error code of the protocol: the exit status and the sentence. What a code means to somebody in front
 * of a terminal is said here; qad's own sentence follows only where this table has none.
 */
#include "answer.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "output.h"
#include "text.h"

struct answer {
	const char *code;
	int status;
	const char *text; /* after the target's name; NULL: what qad says */
	const char *hint; /* after what qad says, or NULL */
};

static const struct answer answers[] = {
	{"bad_request", EX_PROTOCOL, NULL},
	{"unknown_method", EX_PROTOCOL, NULL, "; it is older than this qactl: start it anew after an upgrade"},
	{"version", EX_PROTOCOL, NULL},
	{"no_target", EX_NOUSER, NULL},
	{"no_class", EX_NOUSER, "has no such size class or pool; 'qactl stats --all-classes' shows those that it has"},
	{"gone", EX_NOUSER, "ended while it was asked"},
	{"timeout", EX_TEMPFAIL,
	 "did not answer in time; is it stopped (state T in ps), or starved of processor time?"},
	{"not_allowed", EX_NOPERM,
	 "may be looked at but not trimmed by you; its own user, root and qad's admin group may"},
	{"busy", EX_TEMPFAIL, "was not asked: too many requests of yours wait in qad; try again in a moment"},
	{"failed", EX_PROTOCOL, NULL},
};

int answer_no_target(const char *who)
{
	output_say("no such target: %s", who);
	fputs("'qactl ps' lists the targets that you may see. A program is missing there when\n"
	      "  - it does not run on libqa (grep libqa /proc/PID/maps),\n"
	      "  - its agent is off (QA_AGENT=off in its environment, or it called qa_agent_stop),\n"
	      "  - it belongs to another user (root and qad's admin and read groups see all),\n"
	      "  - it talks to another qad (its user's, or by QAD_SOCKET in its environment or yours),\n"
	      "  - it can not reach qad's socket (in a container, or a sandbox without AF_UNIX).\n",
	      stderr);
	return EX_NOUSER;
}

int answer_fail(const struct qp_reader *reader)
{
	output_say("qad's answer is not understood (%s); are qad and qactl of one release?", reader->bad);
	return EX_PROTOCOL;
}

static void describe_as_qad(struct qp_reader *reader, const char *code, const char *hint, char *text, size_t text_bytes)
{
	char raw[512], shown[sizeof(raw) * 2], shown_code[160];

	qp_read_string_or(reader, "message", raw, sizeof(raw), "");
	text_escape(shown, sizeof(shown), raw);
	text_escape(shown_code, sizeof(shown_code), code);
	snprintf(text, text_bytes, "qad answers: %s (%s)%s", shown, shown_code, hint ? hint : "");
}

static const struct answer *find_answer(const char *code)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (strcmp(answers[i].code, code) == 0)
			return &answers[i];
	return NULL;
}

int answer_describe(const struct qp_message *message, const char *who, char *text, size_t text_bytes)
{
	struct qp_reader reader = qp_reader_of(&message->body);
	const struct answer *answer;
	char code[32];

	qp_read_string_or(&reader, "code", code, sizeof(code), "");
	answer = find_answer(code);
	if (answer && answer->text && who)
		snprintf(text, text_bytes, "%s: %s", who, answer->text);
	else
		describe_as_qad(&reader, code, answer ? answer->hint : NULL, text, text_bytes);
	return answer ? answer->status : EX_PROTOCOL;
}

int answer_check(const struct qp_message *message, const char *who)
{
	struct qp_reader reader;
	char code[32], text[2048];
	int status;

	if (!message->has_error)
		return 0;
	reader = qp_reader_of(&message->body);
	qp_read_string_or(&reader, "code", code, sizeof(code), "");
	if (strcmp(code, "no_target") == 0 && who)
		return answer_no_target(who);
	status = answer_describe(message, who, text, sizeof(text));
	output_say("%s", text);
	return status;
}
