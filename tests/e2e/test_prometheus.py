"""A real Prometheus scrapes a real qad with real targets, and is asked; rules and dashboard are checked against what there is."""

import json
import re
import socket
import subprocess
import urllib.parse

import pytest
import yaml

from harness import BUILD, REPO, end_process, wait_until
from http_reader import get

pytestmark = pytest.mark.plain_only  # what is tested here is not qad's memory

RULES = REPO / "contrib" / "prometheus"
DASHBOARD = REPO / "contrib" / "grafana" / "qad.json"
CONFIG = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: ['{rules}/qad.rules.yml', '{rules}/qad.alerts.yml']
scrape_configs:
  - job_name: qad
    params: {{classes: ['1']}}
    static_configs: [{{targets: ['{qad}'], labels: {{host: here}}}}]
"""


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Prometheus:
    def __init__(self, folder, qad):
        self.folder = folder
        self.address = ("127.0.0.1", free_port())
        (folder / "prometheus.yml").write_text(CONFIG.format(rules=RULES, qad="%s:%d" % qad.http))
        self.log = open(folder / "prometheus.log", "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             "--web.listen-address=%s:%d" % self.address], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_until(self.is_ready, what="Prometheus to be ready")

    def is_ready(self):
        assert self.process.poll() is None, (self.folder / "prometheus.log").read_text()
        try:
            return get(self.address, "/-/ready").status == 200
        except OSError:
            return False

    def ask(self, path, **query):
        answer = get(self.address, path + "?" + urllib.parse.urlencode(query)).json
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression):
        """The samples of an instant query, as (labels, value)."""
        result = self.ask("/api/v1/query", query=expression)["result"]
        return [({key: text for key, text in sample["metric"].items()}, float(sample["value"][1])) for sample in result]

    def number(self, expression):
        result = self.query(expression)
        return result[0][1] if len(result) == 1 else None

    def end(self):
        end_process(self.process)
        self.log.close()


@pytest.fixture
def prometheus(tmp_path):
    made = []

    def start(qad):
        made.append(Prometheus(tmp_path, qad))
        return made[-1]

    yield start
    for one in made:
        one.end()


def expressions():
    """Every expression of the dashboard, with its variables as Grafana would fill them in."""
    dashboard = json.loads(DASHBOARD.read_text())
    found = [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", [])]
    found += [(annotation["name"], annotation["expr"]) for annotation in dashboard["annotations"]["list"]]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            inner = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            found.append((variable["name"], f"count by ({inner[2]}) ({inner[1]})"))
    fill = {"$__rate_interval": "1m", "$instance": ".*", "$command": ".*", "$pid": ".*"}
    for name, text in fill.items():
        found = [(title, expression.replace(name, text)) for title, expression in found]
    assert not [expression for _, expression in found if "$" in expression]
    return found


def expressions_of_fleet():
    """Those of docs/FLEET.md: the cells of its table, and the one that is indented."""
    text = (REPO / "docs" / "FLEET.md").read_text()
    table = re.findall(r"^\| [^|`]+ \| `(.+)` \|$", text, re.MULTILINE)
    joined = re.search(r"^      qa_process_cached_bytes\n(?:        .+\n)+", text, re.MULTILINE)[0]
    assert len(table) == 5
    return [*table, joined]


def test_it_scrapes_a_real_qad(served, target, prometheus, qactl):
    qad = served("--history")
    one, other = target(QA_NAME="one"), target(QA_NAME='ot"her')
    one.ask("alloc 0 100000 48 8")
    other.ask("alloc 0 10 1000 8")
    real = prometheus(qad)
    wait_until(lambda: real.number("count(qa_process_used_bytes)") == 2, what="both targets in Prometheus")
    figures = qactl("stats", one.pid, "--json").json
    for key in ("held_bytes", "used_bytes", "cached_bytes", "thread_bytes", "partial_bytes", "empty_bytes", "slack_bytes"):
        assert real.number(f'qa_process_{key}{{pid="{one.pid}"}}') == figures[key], key
    assert real.number('qa_process_used_bytes{name="ot\\"her", command="target"}') == 10 * 1_024
    assert real.query("qa_process_held_bytes != qa_process_used_bytes + qa_process_cached_bytes") == []
    assert real.number(f'sum(qa_class_held_bytes{{pid="{one.pid}"}})') == figures["held_bytes"]
    assert real.ask("/api/v1/targets")["activeTargets"][0]["health"] == "up"
    metadata = real.ask("/api/v1/metadata", metric="qa_process_held_bytes")["qa_process_held_bytes"][0]
    assert (metadata["type"], metadata["unit"]) == ("gauge", "bytes")  # it asked for OpenMetrics

    # Everything that the dashboard asks for is understood, and there is something behind it.
    for title, expression in expressions():
        if title != "Trims":  # there was none yet
            wait_until(lambda: real.query(expression), what=f"{title}: {expression}")
    assert real.query(dict(expressions())["Trims"]) == []

    for expression in expressions_of_fleet():
        real.query(expression)

    one.ask("free 0")
    assert qactl("trim", one.pid).code == 0
    wait_until(lambda: real.number(f'qa_process_trims_total{{pid="{one.pid}"}}') == 1, what="the trim")
    wait_until(lambda: real.number(f'qa_process:cached:ratio{{pid="{other.pid}"}}') is not None, what="the recording rule")
    other.quit()
    wait_until(lambda: real.number("count(qa_process_used_bytes)") == 1, what="the ended one to be gone")
    qad.stop()
    wait_until(lambda: real.number('up{job="qad"}') == 0, what="qad to be down")
    assert real.query("qa_process_used_bytes") == []
    wait_until(lambda: real.query('ALERTS{alertname="QadDown", alertstate="pending"}'), what="the alert")


def test_dashboard_and_rules_use_what_is_there(served):
    known = set(re.findall(r"^# TYPE (\S+)", get(served().http, "/metrics?classes=1").text, re.MULTILINE))
    texts = [expression for _, expression in expressions()]
    for path in (RULES / "qad.rules.yml", RULES / "qad.alerts.yml"):
        lines = path.read_text().splitlines()
        texts += [line for line in lines if not line.strip().startswith(("#", "- name:", "- record:", "- alert:", "summary:"))]
        known |= {line.split(":", 1)[1].strip() for line in lines if line.strip().startswith("- record:")}
    used = {name for text in texts for name in re.findall(r"\b((?:qa_process|qa_class|qad)_[a-z0-9_]+|\w+:\w+:\w+)\b", text)}
    assert len(used) > 30 and used <= known, used - known
    assert "qa_process_no_such_bytes" not in known


def test_a_dashboard_that_grafana_can_import():
    dashboard = json.loads(DASHBOARD.read_text())
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids) and dashboard["uid"] and dashboard["schemaVersion"] >= 36
    spots = set()
    for panel in dashboard["panels"]:
        box = panel["gridPos"]
        cells = {(x, y) for x in range(box["x"], box["x"] + box["w"]) for y in range(box["y"], box["y"] + box["h"])}
        assert not cells & spots and box["x"] + box["w"] <= 24, panel["title"]
        spots |= cells
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel.get("targets", []))


def test_the_options_of_the_daemon_set_are_understood(socket_dir):
    documents = list(yaml.safe_load_all((REPO / "contrib" / "kubernetes" / "qad.yaml").read_text()))
    pod = next(one for one in documents if one["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    program, *options = pod["containers"][0]["args"]
    assert program == "qad" and pod["hostPID"] and pod["volumes"][0]["hostPath"]["path"] == "/run/qad"
    options = [option.replace("/run/qad", str(socket_dir)).replace(":9464", ":0") for option in options]
    with open(socket_dir / "log", "w") as log:
        process = subprocess.Popen([BUILD / "qad" / "qad", *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        wait_until(lambda: "listening on" in (socket_dir / "log").read_text(), what="qad to listen")
        port = int(re.search(r"HTTP at http://0.0.0.0:(\d+)/", (socket_dir / "log").read_text())[1])
        assert get(("127.0.0.1", port), Host="10.0.0.7:9464").status == 200  # as the kubelet asks, and Prometheus
    finally:
        end_process(process)


@pytest.mark.parametrize("command", [["check", "rules", "qad.rules.yml", "qad.alerts.yml"], ["test", "rules", "qad.tests.yml"],
                                     ["check", "config", "prometheus.yml"]])
def test_the_rules(command):
    done = subprocess.run(["promtool", *command], cwd=RULES, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
