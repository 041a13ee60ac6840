"""Real programs on libqa_malloc.so: each runs without libqa and under `qactl run`, watched and trimmed while it works, and
must give the same. The quick ones are test_compat.py's, script/compat runs all and prints a table."""

import dataclasses
import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading
import time

from figures import assert_sums
from harness import BUILD, REPO, clean_environment, wait_until

QACTL = BUILD / "qactl" / "qactl"
PYTHON = "/usr/bin/python3"
LIMIT_S = 900


@dataclasses.dataclass
class Case:
    name: str
    needs: tuple  # programs that must be there
    run: object  # (Place) -> what must be the same with and without libqa
    is_quick: bool = False


class Watch:
    """Looks at what runs under a name and trims it, again and again, until it is told to stop."""

    def __init__(self, environment, name):
        self.environment, self.name = environment, name
        self.looks = self.trims = self.returned_bytes = 0
        self.error = None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def ask(self, *words):
        done = subprocess.run([QACTL, *words, "--json"], capture_output=True, text=True, timeout=60, env=self.environment)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def look(self):
        for target in self.ask("ps") or []:
            if target["name"] != self.name:
                continue
            figures = self.ask("stats", str(target["pid"]))
            if figures:
                assert_sums(figures)
                self.looks += 1
            trimmed = self.ask("trim", str(target["pid"]))
            if trimmed:
                self.trims += 1
                self.returned_bytes += trimmed["returned_bytes"]

    def watch(self):
        try:
            while not self.stopped.wait(0.05):
                self.look()
        except Exception as error:  # told by the thread that waits
            self.error = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        if self.error:
            raise self.error


class Place:
    """Where a case works: its folder, and how its programs are started: plain, or on libqa."""

    def __init__(self, folder, prefix, environment):
        self.folder, self.prefix, self.environment = folder, prefix, environment

    def run(self, *command, text="", code=0):
        done = subprocess.run([*self.prefix, *map(str, command)], input=text, capture_output=True, text=True, cwd=self.folder,
                              timeout=LIMIT_S, env=self.environment, errors="replace")
        assert done.returncode == code, f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}"
        assert "libqa: " not in done.stderr, done.stderr
        return done.stdout

    def serve(self, *command):
        return subprocess.Popen([*self.prefix, *map(str, command)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment)

    def plain(self, *command):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT_S, cwd=self.folder,
                              env={**self.environment, "LD_PRELOAD": ""})

    def unused_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]


def command(*words, text=""):
    return lambda place: place.run(*words, text=text)


def python_tests(*names):
    """Its own tests; what is the same is which succeed."""
    def run(place):
        return [place.run(PYTHON, "-m", "test", "-q", name).strip().splitlines()[-1].split(":")[-1] for name in names]
    return run


NODE = """const all = []; for (let i = 0; i < 300000; i++) all.push({i, text: 'x'.repeat(i % 50)});
const text = JSON.stringify(all); console.log(all.length, text.length, require('zlib').gzipSync(text).length);"""
PERL = """my %h; for my $r (1..5) { $h{$_} = "x" x ($_ % 100) for 1..200000; delete $h{$_} for grep { $_ % 3 } keys %h; }
my $p = fork // die; exit 3 if !$p; waitpid $p, 0; print scalar(keys %h), " ", $? >> 8, "\\n";"""
JAVA = """import java.util.*; import java.util.concurrent.*;
public class Work { public static void main(String[] arguments) throws Exception {
  ExecutorService pool = Executors.newFixedThreadPool(8); List<Future<Integer>> all = new ArrayList<>();
  for (int i = 0; i < 64; i++) { final int n = i; all.add(pool.submit(() -> { Map<String, Integer> map = new HashMap<>();
    for (int k = 0; k < 20000; k++) map.put("k" + k + n, k);
    java.nio.ByteBuffer.allocateDirect(1 << 20); return map.size(); })); }
  int sum = 0; for (Future<Integer> one : all) sum += one.get(); pool.shutdown(); System.out.println(sum); } }"""
PYTHON_WORK = """import concurrent.futures, json, multiprocessing, zlib
def work(n):
    data = {str(i): list(range(i % 50)) for i in range(n * 2000)}
    return zlib.crc32(json.dumps(data).encode())
if __name__ == '__main__':
    with concurrent.futures.ThreadPoolExecutor(4) as threads: print(list(threads.map(work, range(1, 9))))
    with multiprocessing.Pool(2) as processes: print(processes.map(work, range(1, 9)))"""
SQL = """create table t(id integer primary key, a text, b real);
insert into t select value, 'row' || value, value * 0.5 from generate_series(1, {rows});
create index i on t(a); select count(*), sum(b) from t; select count(*) from t where a like 'row99%';
delete from t where id % 3 = 0; vacuum; pragma integrity_check; select count(*), max(a) from t;"""


def java(place):
    (place.folder / "Work.java").write_text(JAVA)
    return place.run("java", "Work.java")


def sqlite(rows):
    return lambda place: place.run("sqlite3", "work.db", text=SQL.format(rows=rows))


def git(files, rounds):
    """Makes a repository, commits, repacks and clones; names of commits depend on nothing but the content."""
    def run(place):
        fixed = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000", "GIT_CONFIG_GLOBAL": "/dev/null",
                 **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
        place.environment = {**place.environment, **fixed}
        place.run("git", "init", "-q", "one")
        for round_ in range(rounds):
            for i in range(files):
                (place.folder / "one" / f"file{i}").write_text("".join(f"{i} {line} {round_}\n" for line in range(i % 300)))
            place.run("git", "-C", "one", "add", ".")
            place.run("git", "-C", "one", "commit", "-q", "-m", f"round {round_}")
        place.run("git", "-C", "one", "gc", "-q", "--aggressive")
        place.run("git", "clone", "-q", "--no-local", "one", "two")
        return place.run("git", "-C", "two", "log", "--format=%H") + place.run("git", "-C", "two", "fsck", "--full")
    return run


def gcc_one(place):
    place.run("gcc", "-O2", "-D_GNU_SOURCE", "-DQA_VERSION_TEXT=\"0\"", "-I", REPO / "libqa" / "include", "-I", REPO / "libqa",
              "-S", "-o", "cache.s", REPO / "libqa" / "cache.c")
    return (place.folder / "cache.s").read_text()


def gcc_project(place):
    place.run("meson", "setup", "-Dtests=false", "built", REPO)
    place.run("ninja", "-j2", "-C", "built", "libqa/libqa.so.0.1.0", "qad/qad", "qactl/qactl")
    return [place.plain("objdump", "-d", "--no-show-raw-insn", "built/" + name).stdout.splitlines()[4:] for name in ("qad/qad", "qactl/qactl")]


def redis(place):
    port = place.unused_port()

    def cli(*words):
        return place.plain("redis-cli", "-p", port, *words).stdout.strip()

    server = place.serve("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", place.folder)
    try:
        wait_until(lambda: cli("ping") == "PONG", what="redis to answer")
        loaded = place.plain("redis-benchmark", "-p", port, "-n", 100000, "-r", 50000, "-d", 200, "-q", "-t", "set,get,lpush,hset,zadd")
        assert loaded.returncode == 0, loaded.stderr
        cli("eval", "for i = 1, 50000 do redis.call('set', 'k' .. i, string.rep(i, i % 40)) end", 0)
        answers = [cli("dbsize") != "0", cli("get", "k39"), cli("strlen", "k45039"), cli("flushall"), cli("dbsize")]
        cli("shutdown", "nosave")
        return answers + [server.wait(60)]
    finally:
        server.kill()
        server.wait()


def nginx(place):
    port = place.unused_port()
    (place.folder / "page.html").write_text("<p>line</p>\n" * 5000)
    user = "user root;" if os.geteuid() == 0 else ""  # the folder is closed to others
    (place.folder / "nginx.conf").write_text(
        f"{user} daemon off; worker_processes 2; pid {place.folder}/nginx.pid; error_log {place.folder}/error.log; events {{ worker_connections 512; }}\n"
        f"http {{ access_log off; gzip on; gzip_types *; gzip_min_length 1; "
        + "".join(f"{kind}_temp_path {place.folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        + f"server {{ listen 127.0.0.1:{port}; root {place.folder}; }} }}\n")
    server = place.serve("nginx", "-c", place.folder / "nginx.conf", "-p", place.folder)
    url = f"http://127.0.0.1:{port}/page.html"
    try:
        wait_until(lambda: place.plain("curl", "-sf", url).returncode == 0, what="nginx to answer")
        loaded = place.plain("ab", "-q", "-n", 20000, "-c", 20, "-H", "Accept-Encoding: gzip", url)
        assert "Failed requests:        0\n" in loaded.stdout, loaded.stdout + loaded.stderr
        page = place.plain("curl", "-sf", "--compressed", url).stdout
        server.terminate()
        return page, server.wait(60)
    finally:
        server.kill()
        server.wait()


CASES = [
    Case("ls", ("ls",), command("ls", "-lR", "/etc/ssl"), True),
    Case("bash, pipelines", ("bash",), command(
        "bash", "-c", "seq 20000 | sort -R | sort -n | awk '{s += $1} END {print s}'; for i in {1..50}; do echo $(($(echo $i | cat) + 1)); done"), True),
    Case("perl", ("perl",), command("perl", "-e", PERL), True),
    Case("python3, threads and processes", (PYTHON,), command(PYTHON, "-c", PYTHON_WORK), True),
    Case("sqlite3, 50,000 rows", ("sqlite3",), sqlite(50000), True),
    Case("git", ("git",), git(60, 3), True),
    Case("gcc, a file of libqa", ("gcc",), gcc_one, True),
    Case("node", ("node",), command("node", "-e", NODE)),
    Case("java", ("java",), java),
    Case("sqlite3, 1,000,000 rows", ("sqlite3",), sqlite(1000000)),
    Case("git, larger", ("git",), git(600, 6)),
    Case("gcc, the project", ("gcc", "meson", "ninja"), gcc_project),
    Case("redis-server under redis-benchmark", ("redis-server", "redis-benchmark", "redis-cli"), redis),
    Case("nginx under ab", ("nginx", "ab", "curl"), nginx),
    Case("python3's test_json, test_dict", (PYTHON, "/usr/lib/python3.11/test/test_dict.py"), python_tests("test_json", "test_dict")),
    Case("python3's test_threading, test_fork1", (PYTHON, "/usr/lib/python3.11/test/test_dict.py"),
         python_tests("test_threading", "test_fork1")),
    Case("python3's test_multiprocessing_fork", (PYTHON, "/usr/lib/python3.11/test/test_dict.py"),
         python_tests("test_multiprocessing_fork")),
]


def missing(case):
    return [name for name in case.needs if not shutil.which(name) and not pathlib.Path(name).exists()]


def check(case, folder, socket_path):
    """Runs a case both ways; qad listens at socket_path. Returns the Watch and both durations."""
    results, seconds = [], []
    environment = clean_environment(QAD_SOCKET=socket_path, LC_ALL="C.UTF-8")
    name = f"compat-{os.getpid()}"
    for prefix in ([], [QACTL, "run", "--no-start", "--name", name]):
        place_folder = folder / ("on-libqa" if prefix else "plain")
        place_folder.mkdir()
        started = time.monotonic()
        with Watch(environment, name) as watch:
            results.append(case.run(Place(place_folder, prefix, environment)))
        seconds.append(time.monotonic() - started)
    assert results[0] == results[1], f"{case.name} gives something else on libqa"
    return watch, seconds
