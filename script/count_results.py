#!/usr/bin/python3
"""Sums what script/test ran, from a file of steps, and ends with the line "N passed, N failed".

A step is a line of "name<TAB>exit code<TAB>JUnit file or empty<TAB>seconds<TAB>processor seconds"; the code of one that could not
run says so in words. Without a file a step is one test. With one, its cases count; a step that failed though no case did (a
crash, an error before the first test), that wrote no file or ran no case counts as one that failed: what did not run has
not passed. Exit 1 when anything failed or nothing ran.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count_cases(path):
    """(passed, failed names) of a JUnit file. A case that was skipped did not run: it is neither."""
    passed, failed = 0, []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname', '')} {case.get('name', '')}".strip())
        elif case.find("skipped") is None:
            passed += 1
    return passed, failed


def count_step(name, code, path):
    """(passed, failed names); a code that is no number tells why the step did not run."""
    if not code.lstrip("-").isdigit():
        return 0, [f"{name} ({code})"]
    code = int(code)
    if not path:
        return (1, []) if code == 0 else (0, [f"{name} (exit {code})"])
    try:
        passed, failed = count_cases(path)
    except (OSError, ElementTree.ParseError) as error:
        return 0, [f"{name}: no results ({error})"]
    failed = [f"{name}: {case}" for case in failed]
    if code != 0 and not failed:
        failed = [f"{name}: ended with exit {code}, though no case failed"]
    if passed == 0 and not failed:
        failed = [f"{name}: ran no test"]
    return passed, failed


def main(steps_path):
    passed, failed = 0, []
    with open(steps_path) as steps:
        for line in steps:
            name, code, path, wall_s, cpu_s = line.rstrip("\n").split("\t")
            step_passed, step_failed = count_step(name, code, path)
            print(f"{name:24} {step_passed:5} passed {len(step_failed):5} failed {wall_s:>8} s {cpu_s:>8} s of a processor")
            passed += step_passed
            failed += step_failed
    for what in failed:
        print(f"FAILED {what}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: count_results.py STEPS")
    sys.exit(main(sys.argv[1]))
