"""Completions: what 'qactl complete' offers, and that real bash, zsh and fish type it for somebody who presses Tab."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess

import pytest

import fake_qad
from fake_qad import fake  # noqa: F401, a fixture
from harness import BUILD, REPO, clean_environment, wait_until

pytestmark = pytest.mark.plain_only  # shells and text

QACTL = BUILD / "qactl" / "qactl"
SCRIPTS = REPO / "contrib" / "completions"
TARGETS = [
    fake_qad.target(pid=11, command="docview", name="editor"), fake_qad.target(pid=12, command="docview", name="two words"),
    fake_qad.target(pid=13, command="import"), fake_qad.target(pid=14, command="4711", name=""),
    fake_qad.target(pid=15, command="\x1b[2J", name="-x"), fake_qad.target(pid=16, command="a:b", name="it's $HOME"),
    fake_qad.target(pid=17, command="~root"),
]


@pytest.fixture
def offered(qactl):
    """What may come next, as a dict of candidate to description."""

    def ask(*words, **environment):
        result = qactl("complete", "--", *words, **environment)
        assert (result.code, result.err) == (0, "")
        return dict(line.split("\t") for line in result.out.splitlines())
    return ask


@pytest.fixture
def serving(fake):
    return fake(ps=lambda params: {"targets": TARGETS})


def commands_of(qactl):
    """All commands, by the help."""
    listed = qactl("--help").out.split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def options_of(qactl, *words):
    """Name and description of each option, by the help."""
    return {name: text for name, text in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)(?: [A-Z]+)?  +(\S.*)$", qactl(*words, "--help").out, re.MULTILINE)}


def test_commands_and_options_are_those_of_the_help(qactl, offered):
    commands = commands_of(qactl)
    assert {"ps", "stats", "watch", "plot", "record", "replay", "map", "run", "top", "help"} <= set(commands)
    assert list(offered("")) == commands == list(offered("help", ""))
    assert offered("-") == options_of(qactl)
    for command in commands[:-1]:
        options = options_of(qactl, command)
        assert "--help" in options and offered(command, "--") == options, command
    assert offered("nonsense", "") == {} and offered("help", "ps", "") == {}


def test_man_page_knows_every_option_and_command(qactl):
    page = (REPO / "docs" / "qactl.1.scd").read_text()
    for command in commands_of(qactl):
        assert re.search(rf"^\*{command}\*", page, re.MULTILINE), command
        for option in options_of(qactl, command) if command != "help" else ():
            assert f"*{option}*" in page, (command, option)


def test_targets(serving, offered):
    names = {"docview": "2 targets", "editor": "docview (editor), pid 11", "two words": "docview (two words), pid 12",
             "import": "import, pid 13", "a:b": "a:b (it's $HOME), pid 16", "it's $HOME": "a:b (it's $HOME), pid 16"}
    assert offered("stats", "") == {**names, "14": "4711", "15": r"\x1b[2J (-x)", "17": "~root"}
    assert offered("trim", "e") == offered("watch", "-i", "1", "--json", "e") == offered("record", "import", "x") == names
    assert list(offered("stats", "1")) == ["11", "12", "13", "14", "15", "16", "17"]
    assert offered("stats", "--", "") == offered("stats", "")
    assert serving.asked[-1] == ("ps", {"figures": False})  # no target is woken


def test_where_there_is_no_target(serving, offered, socket_path):
    assert offered("ps", "") == offered("stats", "x", "") == offered("watch", "-i", "") == {}
    assert offered("record", "-o", "") == offered("replay", "") == offered("ps", "--socket", "") == {"": "file"}
    assert offered("run", "") == offered("run", "--", "") == {"": "program"}
    assert offered("run", "ls", "-") == {"": "file"} and "--name" in offered("run", "-")
    assert offered("stats", "", QAD_SOCKET="/nowhere") == {}
    assert "import" in offered("-s", socket_path, "stats", "", QAD_SOCKET="/nowhere")


def test_a_silent_qad_is_not_waited_for(fake, offered):
    def silence(params):
        raise fake_qad.Silence
    fake(ps=silence)
    assert offered("stats", "") == {}


class Shell:
    """A shell on a terminal; instead of qactl it runs a program that notes its words."""

    def __init__(self, command, home, environment):
        self.noted = home / "noted"
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(home)
            os.execvpe(command[0], command, environment)
        self.pid = pid
        self.text = b""

    def read(self):
        while select.select([self.terminal], [], [], 0.01)[0]:
            data = os.read(self.terminal, 65_536)
            self.text += data
            # fish asks the terminal what it is, and waits for the answer.
            if b"\x1b[c" in data or b"\x1b[0c" in data:
                os.write(self.terminal, b"\x1b[?1;2c")

    def send(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, text):
        def has_come():
            self.read()
            return text.encode() in self.text
        try:
            wait_until(has_come, what=text)
        except AssertionError:
            raise AssertionError(f"{text!r} did not come: {self.text.decode(errors='replace')}") from None

    def typed(self, keys):
        """The words that the shell gave to qactl after these keys and Enter."""
        self.noted.unlink(missing_ok=True)
        self.send(keys)
        self.send("\r")

        def is_noted():
            self.read()
            return self.noted.exists()
        try:
            wait_until(is_noted, what="the command")
        except AssertionError:
            raise AssertionError(f"after {keys!r}: {self.text.decode(errors='replace')}") from None
        return self.noted.read_bytes().decode().split("\0")[:-1]

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


NOTE = f"""#!/bin/sh
[ "$1" = complete ] && exec {QACTL} "$@"
printf '%s\\0' "$@" >noted.part
mv noted.part noted
"""


@pytest.fixture
def shell(tmp_path, socket_path):
    """Starts one of the shells with its completion, as it is installed."""
    made = []

    def make(name):
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "qactl").write_text(NOTE)
        (tmp_path / "bin" / "qactl").chmod(0o755)
        (tmp_path / "some-recording").touch()
        environment = clean_environment(QAD_SOCKET=socket_path, HOME=tmp_path, TERM="xterm", PS1="READY> ", LC_ALL="C.UTF-8",
                                        XDG_CONFIG_HOME=tmp_path, XDG_DATA_HOME=tmp_path, INPUTRC="/dev/null",
                                        PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
        commands = {
            "bash": (["bash", "--noprofile", "--norc", "-i"],
                     f". /usr/share/bash-completion/bash_completion; . {SCRIPTS}/qactl.bash; echo loa''ded"),
            "bash-alone": (["bash", "--noprofile", "--norc", "-i"], f". {SCRIPTS}/qactl.bash; echo loa''ded"),
            "zsh": (["zsh", "-f", "-i"], f"fpath=({SCRIPTS} $fpath); autoload -U compinit; compinit -u -D; echo loa''ded"),
            "fish": (["fish", "--no-config", "-i"], f"source {SCRIPTS}/qactl.fish; echo loa''ded"),
        }
        command, load = commands[name]
        made.append(Shell(command, tmp_path, environment))
        made[-1].send(load + "\r")
        made[-1].wait_for("loaded")
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.mark.parametrize("name", ["bash", "bash-alone", "zsh", "fish"])
def test_a_shell_types_it(serving, shell, name):
    shell = shell(name)
    assert shell.typed("qactl sta\t") == ["stats"]
    assert shell.typed("qactl stats edi\t") == ["stats", "editor"]
    assert shell.typed("qactl trim --al\ttwo\t") == ["trim", "--all", "two words"]
    assert shell.typed("qactl map it\t") == ["map", "it's $HOME"]
    assert shell.typed("qactl stats 13\t --jso\t") == ["stats", "13", "--json"]
    assert shell.typed("qactl replay some-r\t") == ["replay", "some-recording"]
    assert shell.typed("qactl record -o some-r\t") == ["record", "-o", "some-recording"]
    assert shell.typed("qactl run mkfif\t some-r\t")[:3] == ["run", "mkfifo", "some-recording"]
    if name != "bash-alone":
        assert shell.typed("qactl doctor a:\t") == ["doctor", "a:b"]


@pytest.mark.parametrize("name,program,arguments", [("bash", "bash", ["-n"]), ("zsh", "zsh", ["-n"]), ("fish", "fish", ["-n"])])
def test_no_shell_finds_fault(name, program, arguments):
    script = SCRIPTS / {"zsh": "_qactl"}.get(name, f"qactl.{name}")
    done = subprocess.run([shutil.which(program), *arguments, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_offers_all_with_descriptions(serving, qactl, socket_path, tmp_path):
    def offers(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {SCRIPTS}/qactl.fish; complete -C '{line}'"], capture_output=True,
                              text=True, timeout=60, env=clean_environment(QAD_SOCKET=socket_path, HOME=tmp_path,
                                                                           PATH=f"{QACTL.parent}:{os.environ['PATH']}"))
        assert done.returncode == 0, done
        return dict(line.split("\t") for line in done.stdout.splitlines())

    assert offers("qactl stats --") == options_of(qactl, "stats")
    assert offers("qactl watch ")["editor"] == "docview (editor), pid 11"
