#!/usr/bin/env python3
"""Compares two results of ft-bench --json, or two of count_instructions.sh, case by case.

compare_bench.py OLD.json NEW.json [--limit 0.9]: prints both with their ratio, above 1 where the new one is better, and fails
if one lies below the limit. Where both have a share of what the machine reached beside them, the shares are compared: they do
not depend on how busy the machine was. Cases that only one of the two has are named, and do not fail."""
import argparse
import json
import sys


def read(name):
    """Results by case, threads and instruction set."""
    with open(name, encoding="utf-8") as file:
        rows = json.load(file)["results"]
    return {(row["name"], row["threads"], row["isa"]): row for row in rows}


def ratio(old, new):
    """How much better the new one is, and whether shares were compared."""
    if old["share"] and new["share"]:
        return new["share"]["median"] / old["share"]["median"], True
    a, b = old["value"]["median"], new["value"]["median"]
    if a == b:
        return 1.0, False  # also where both are 0
    if not new["more_is_better"]:
        a, b = b, a
    return (b / a if a else float("inf")), False


def shown(row, is_share):
    """The median, and from where to where it went."""
    spread = row["share"] if is_share else row["value"]
    if is_share:
        text = "{:.1f}% ({:.1f} to {:.1f})".format(*(100 * spread[key] for key in ("median", "min", "max")))
    else:
        text = "{:.4g}".format(spread["median"])
        if spread["min"] != spread["max"]:
            text += " ({:.4g} to {:.4g})".format(spread["min"], spread["max"])
        text += " " + row["unit"]
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--limit", type=float, default=0.9, help="the least ratio that is good (0.9)")
    options = parser.parse_args()
    old, new = read(options.old), read(options.new)
    common = [key for key in new if key in old]
    if not common:
        sys.exit("compare_bench.py: the two have no case in common")
    worse = []
    for key in common:
        value, is_share = ratio(old[key], new[key])
        mark = ""
        if value < options.limit:
            worse.append(key)
            mark = "  WORSE"
        name = f"{key[0]}, {key[1]} threads, {key[2]}"
        print(f"{name:<62} {shown(old[key], is_share):>30} {shown(new[key], is_share):>30} {value:8.3f}{mark}")
    for text, rows, others in (("only in the old one", old, new), ("only in the new one", new, old)):
        for key in rows:
            if key not in others:
                print(f"{text}: {key[0]}, {key[1]} threads, {key[2]}")
    print(f"{len(common)} cases compared, {len(worse)} below {options.limit}")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
