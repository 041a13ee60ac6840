"""A real terminal for a test: a tmux server of its own, keys sent, screens read."""

import re
import shlex
import subprocess

from harness import BUILD, assert_no_report, clean_environment, wait_until

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(3[0-8]|4[0-8]|9[0-7])[;m]")
ESCAPE = re.compile(r"\x1b\[([\d;]*)m|([\x0e\x0f])")


class Terminal:
    """
    A terminal of width x height in which qactl runs with these words. When it has ended, its exit status and what
    stty says of the terminal before and after it are known.
    """

    def __init__(self, folder, words, width=80, height=24, shell=None, **environment):
        self.folder = folder
        self.socket = folder / "tmux.sock"
        self.errors = folder / "qactl.err"
        environment = {"TERM": "screen-256color", "LC_ALL": "C.UTF-8", "NO_COLOR": None, **environment}
        self.tells_mouse_in_decimals = environment["TERM"].startswith("xterm")
        unset = [f"-u{key}" for key, value in environment.items() if value is None]
        given = [f"{key}={value}" for key, value in environment.items() if value is not None]
        command = shlex.join(["env", *unset, *given, str(BUILD / "qactl" / "qactl"), *map(str, words)])
        script = (f"cd {shlex.quote(str(folder))}; trap : INT; stty -g >before; "
                  f"sh -c 'echo $$ >pid; exec \"$@\"' sh {command} 2>qactl.err; "
                  "echo $? >status; stty -g >after; clear; echo it has ended; exec cat")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height, *(shell or ["bash", "-c", script + " 2>/dev/null"]),
                  env=clean_environment(TMUX=None, PS1=environment.get("PS1")))
        self.command = command

    def tmux(self, *words, env=None):
        done = subprocess.run(["tmux", "-S", str(self.socket), *map(str, words)], capture_output=True, text=True,
                              timeout=60, env=env)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def text(self, text):
        self.tmux("send-keys", "-l", text)

    def mouse(self, button, x, y):
        """As a terminal tells it: 0 the left button, 64 and 65 the wheel."""
        for ending in "M" if button >= 64 else "Mm":  # m: it is released
            if self.tells_mouse_in_decimals:
                self.text(f"\x1b[<{button};{x + 1};{y + 1}{ending}")
            else:
                self.text("\x1b[M" + "".join(chr(32 + n) for n in (button if ending == "M" else 3, x + 1, y + 1)))

    def resize(self, width, height):
        self.tmux("resize-window", "-x", width, "-y", height)

    def lines(self, *options):
        return self.tmux("capture-pane", "-p", *options).split("\n")[:-1]

    def colours(self):
        return COLOUR.findall("\n".join(self.lines("-e")))

    def selected(self):
        """The line that is shown in reverse and is not the titles."""
        found, reverse = [], False
        for line in self.lines("-e"):
            plain, has_reverse, at = "", False, 0
            for escape in [*ESCAPE.finditer(line), None]:
                text = line[at:escape.start() if escape else len(line)]
                plain, has_reverse = plain + text, has_reverse or (reverse and bool(text))
                for number in (escape[1] or "0").split(";") if escape and not escape[2] else ():
                    reverse = number == "7" or (reverse and number not in ("0", "27"))
                at = escape.end() if escape else 0
            if has_reverse and not re.search(r"\b(COMMAND|PID|BLOCK)\b", plain):
                found.append(plain)
        return found[0] if len(found) == 1 else None

    def wait(self, *texts, without=(), timeout=30.0):
        """Waits until each text is on the screen, and none of without; returns its lines."""
        shown = []

        def is_there():
            shown[:] = self.lines()
            whole = "\n".join(shown)
            return all(text in whole for text in texts) and not any(text in whole for text in without)

        try:
            wait_until(is_there, timeout=timeout)
        except AssertionError:
            raise AssertionError(f"not {texts} without {without} on the screen:\n" + "\n".join(shown)) from None
        return shown

    def wait_selected(self, text):
        wait_until(lambda: text in (self.selected() or ""), what=f"{text} to be selected")

    def flag(self, name):
        return self.tmux("display-message", "-p", "#{%s}" % name).strip()

    @property
    def pid(self):
        return int((self.folder / "pid").read_text())

    def status(self):
        """Waits for its end, which must leave the terminal as it was; returns the exit status."""
        wait_until(lambda: "it has ended" in "\n".join(self.lines()), what="its end")
        assert (self.folder / "before").read_text() == (self.folder / "after").read_text()
        assert [self.flag(name) for name in ("alternate_on", "cursor_flag", "mouse_any_flag")] == ["0", "1", "0"]
        return int((self.folder / "status").read_text())

    def end(self):
        subprocess.run(["tmux", "-S", str(self.socket), "kill-server"], capture_output=True, timeout=60, check=False)
        assert_no_report(self.errors, "qactl")
