#!/usr/bin/env python3
"""Compares two results of ft-bench --json, or two of count_instructions.sh, case by case.

compare_bench.py OLD.json NEW.json [--limit 0.9]: prints both with their ratio, above 1 where the new one is better, and fails
if one lies below the limit. Where both have a share of what the machine reached beside them, the shares are compared: they do
not depend on how busy the machine was. Cases that only one of the two has are named, and do not fail."""
import argparse
import json
import sys


def read(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)["results"]


def by_case(files):
    """Each file's results by what they are called. Sets of instructions matter where a file has several."""
    has_sets = any(len({row["isa"] for row in rows}) > 1 for rows in files)
    return [{f"{row['name']}, {row['threads']} threads" + (f", {row['isa']}" if has_sets else ""): row for row in rows}
            for rows in files]


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
        median, least, most = (f"{x:,.0f}" if x >= 1000 else f"{x:.4g}" for x in map(spread.get, ("median", "min", "max")))
        text = median if least == most else f"{median} ({least} to {most})"
        text += " " + row["unit"]
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--limit", type=float, default=0.9, help="the least ratio that is good (0.9)")
    options = parser.parse_args()
    old, new = by_case([read(options.old), read(options.new)])
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
        print(f"{key:<62} {shown(old[key], is_share):>30} {shown(new[key], is_share):>30} {value:8.3f}{mark}")
    for text, rows, others in (("only in the old one", old, new), ("only in the new one", new, old)):
        for key in rows:
            if key not in others:
                print(f"{text}: {key}")
    print(f"{len(common)} cases compared, {len(worse)} below {options.limit}")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
