"""HTTP of qad: where it listens, whom it answers, and what it refuses."""

import socket
import subprocess

import pytest

from harness import BUILD, wait_until
from http_reader import Reader, address_of, get, raw, read_all

QAD = BUILD / "qad" / "qad"


@pytest.fixture
def serve(qad_factory):
    """Starts a qad with HTTP on a free port of 127.0.0.1, unless told otherwise; all must end well."""
    made = []

    def start(*options, at="127.0.0.1:0", **environment):
        made.append(qad_factory().start("--http", at, *options, **environment))
        return made[-1], address_of(made[-1])

    yield start
    for qad in made:
        if qad.process.poll() is None:
            qad.stop()


def run_qad(socket_path, *options):
    return subprocess.run([QAD, "--socket", socket_path, *map(str, options)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)


# Where it listens.


@pytest.mark.parametrize("at", ["127.0.0.1:0", "localhost:0", "[::1]:0"])
def test_it_listens_where_it_was_told(serve, at):
    qad, address = serve(at=at)
    assert address[0] == ("::1" if at.startswith("[") else "127.0.0.1") and address[1] > 0
    assert get(address, "/nothing").status == 404


def test_without_http_nothing_listens(qad):
    sockets = subprocess.run(["ss", "-tlnpH"], capture_output=True, text=True, check=True).stdout
    assert f"pid={qad.pid}," not in sockets


@pytest.mark.parametrize("options, message", [
    (["--http", "0.0.0.0:0"], "--http-allow-remote"),
    (["--http", "[::]:0"], "--http-allow-remote"),
    (["--http", "127.0.0.1"], "ADDRESS:PORT"),
    (["--http", "127.0.0.1:99999"], "ADDRESS:PORT"),
    (["--http", "127.0.0.1:-1"], "ADDRESS:PORT"),
    (["--http", "::1:80"], "ADDRESS:PORT"),
    (["--http", "example.org:80"], "ADDRESS:PORT"),
    (["--http-allow-remote"], "need --http"),
    (["--http-host", "name"], "need --http"),
    (["--http", "127.0.0.1:0", "--http-host", "name:80"], "without a port"),
    (["--http", "127.0.0.1:0", "--http-host", ""], "without a port"),
    (["--http", "127.0.0.1:0", "--http-allow-trim"], "--http-token-file"),
    (["--http", "127.0.0.1:0", "--http-token-file", "x"], "--http-allow-trim"),
])
def test_wrong_options_are_told(socket_path, options, message):
    done = run_qad(socket_path, *options)
    assert (done.returncode, message in done.stderr) == (64, True), done.stderr


def test_a_port_that_is_taken(socket_dir, serve):
    _, address = serve()
    done = run_qad(socket_dir / "other.sock", "--http", f"127.0.0.1:{address[1]}")
    assert done.returncode == 69 and "take another port" in done.stderr
    assert not (socket_dir / "other.sock").exists()


def test_an_address_that_is_not_of_this_host(socket_path):
    done = run_qad(socket_path, "--http", "192.0.2.1:0", "--http-allow-remote")
    assert done.returncode == 73 and "no such address" in done.stderr


def test_a_qad_without_http_says_so(socket_path):
    """As it is built where libmicrohttpd or jansson is missing."""
    program = BUILD / "tests" / "e2e" / "qad-without-http"
    done = subprocess.run([program, "--socket", socket_path, "--http", "127.0.0.1:0"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 69 and "built without HTTP" in done.stderr and "libmicrohttpd" in done.stderr
    assert not socket_path.exists()
    with subprocess.Popen([program, "--socket", socket_path], stderr=subprocess.DEVNULL) as process:
        wait_until(socket_path.exists, what="qad without HTTP to listen")
        process.terminate()
        assert process.wait(60) == 0


# Whom it answers: the Host header.


def status_of_host(address, *hosts, version="1.1"):
    lines = "".join(f"Host: {host}\r\n" for host in hosts)
    with raw(address, f"GET /nothing HTTP/{version}\r\n{lines}Connection: close\r\n\r\n".encode()) as sock:
        return int(read_all(sock).split()[1])


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:9464", "[::1]:1", "[::1]"])
def test_its_own_names_are_answered(serve, host):
    _, address = serve()
    assert status_of_host(address, host) == 404


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "[::1",
                                  "localhost:80:80", "user@localhost", "localhost/", "[::2]", "127.0.0.1 x", "2130706433"])
def test_other_names_are_not(serve, host):
    _, address = serve()
    assert status_of_host(address, host) == 403


def test_names_that_were_given(serve):
    _, address = serve("--http-host", "Metrics.example", "--http-host", "second")
    assert [status_of_host(address, host) for host in ("metrics.example:9464", "SECOND", "third")] == [404, 404, 403]


def test_for_remote_readers_an_address_will_do(serve):
    _, (_, port) = serve("--http-allow-remote", at="0.0.0.0:0")
    address = ("127.0.0.1", port)
    assert [status_of_host(address, host) for host in ("10.1.2.3:9464", "[fe80::1]", "evil.example")] == [404, 404, 403]


def test_one_host_and_no_more(serve):
    _, address = serve()
    assert status_of_host(address, version="1.0") == 400
    assert status_of_host(address) == 400
    assert status_of_host(address, "localhost", "localhost") == 400
    assert status_of_host(address, "localhost", version="1.0") == 404


# What it refuses.


def test_every_answer_is_strict(serve):
    _, address = serve()
    for path in ("/nothing", "/api/v1/nothing"):
        headers = get(address, path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


def test_errors_are_text_and_below_api_json(serve):
    _, address = serve()
    answer = get(address, "/nothing")
    assert (answer.status, answer.headers["content-type"], answer.text) == (404, "text/plain; charset=utf-8", "there is no such path\n")
    answer = get(address, "/api/v1/nothing")
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")


def test_a_body_is_refused(serve):
    _, address = serve()
    assert get(address, "/nothing", "POST", body=b"x").status == 413
    for header in (b"Content-Length: 10000000000", b"Transfer-Encoding: chunked"):
        with raw(address, b"POST /nothing HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n\r\n") as sock:
            assert b" 413 " in read_all(sock)


@pytest.mark.parametrize("data", [b"\r\n\r\n\r\n", b"\0\1\2\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                                  b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)],
                         ids=["lines", "binary", "short", "version", "tls"])
def test_what_is_no_request_ends_the_connection_only(serve, data):
    _, address = serve("--limit", "http_request_ms=200")
    with raw(address, data) as sock:
        sock.shutdown(socket.SHUT_WR)
        read_all(sock)
    assert get(address, "/nothing").status == 404


def test_requests_one_after_the_other_on_one_connection(serve):
    _, address = serve()
    reader = Reader(address)
    assert [reader.ask(f"/{i}").status for i in range(100)] == [404] * 100
    reader.close()
    with raw(address, b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3 + b"GET /a HTTP/1.1\r\nHost: localhost\r\n"
             b"Connection: close\r\n\r\n") as sock:
        assert read_all(sock).count(b"HTTP/1.1 404") == 4


def test_qad_ends_with_readers_there(serve):
    qad, address = serve()
    readers = [raw(address, data) for data in (b"", b"GET / HT", b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")]
    wait_until(lambda: readers[2].recv(1), what="an answer")
    qad.stop()
    for reader in readers:
        read_all(reader)
        reader.close()
