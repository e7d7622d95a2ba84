"""List, describe, prepare, check and cite datasets.

The registry is config/datasets.yaml; a prepared dataset is results/data/ID.bin (little-endian, C order) with its
sidecar ID.json. Data from outside come with pip from the index that it is configured for, or over HTTPS from the
addresses that the registry lists; all are checked by sha256. Without a network, the error says which file to put where.

  list            every dataset of the registry, and whether it is prepared
  info ID         what a dataset is, where it comes from, its licence and how to cite it
  get ID...       prepare datasets: fetch or generate, check, write; --dry-run tells what that would fetch
  verify ID...    check prepared datasets against the registry without changing them
  fingerprint ID...  keep what prepared captures are known by, for those who capture them again
  cite ID...      how to cite datasets, or those of a campaign, whom to thank, and their licences
  register NAME FILES...   make files of your own a dataset, in config/datasets.d

example: collpress dataset get colpex/theta 'synthetic/*'
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from collpress.data.formats import FILE_BYTES, FORMATS
from collpress.data.registry import Entry, find_all, load_registry
from collpress.data.stock import is_prepared, to_fetch
from collpress.errors import CollpressError

_COMMANDS = {
    "list": ("every dataset of the registry, and whether it is prepared", None, ""),
    "info": ("what a dataset is, its licence and how to cite it", 1, " colpex/theta"),
    "get": ("prepare datasets: fetch or generate, check, write", "+", " colpex/theta 'isabel/*' --dry-run"),
    "verify": ("check prepared datasets against the registry", "+", " colpex/theta synthetic/normal"),
    "fingerprint": ("keep what prepared captures are known by", "+", " smollm2-kv/k"),
    "cite": ("how to cite datasets, whom to thank, and their licences", "*", " --campaign quick"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (summary, many, example) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"example:\n  collpress dataset {name}{example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if many is not None:
            command.add_argument("ids", metavar="ID", nargs=many, help="for example colpex/theta, or 'colpex/*'")
        if name == "get":
            _configure_get(command)
        if name == "cite":
            command.add_argument("--campaign", metavar="NAME", help="the datasets that this campaign uses")
        command.add_argument("--json", action="store_true", help="print JSON")
        command.add_argument("--registry", type=Path, default=Path("config/datasets.yaml"), metavar="FILE")
        command.add_argument(
            "--results", type=Path, default=Path("results"), metavar="DIR", help="holds data/ and cache/"
        )
    _configure_register(
        commands.add_parser(
            "register",
            help="make files of your own a dataset",
            description="Make files of your own a dataset: they are read once, and their checksums, shape and dtype "
            "are written into config/datasets.d/GROUP.yaml. The files stay where they are.",
            epilog="examples:\n"
            "  collpress dataset register mine/wind wind.f32 --shape 100,500,500 --units 'm s-1'\n"
            "  collpress dataset register mine/temperature run.nc --variable T\n"
            "  collpress dataset register mine/gradient --per-rank-glob 'dumps/grad-{rank}.npy' --private",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    )


def _configure_register(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="group/name, as campaigns will call it")
    command.add_argument(
        "files",
        metavar="FILES",
        nargs="*",
        type=Path,
        help="one file, or one for each rank with its number in its name",
    )
    command.add_argument("--per-rank-glob", metavar="PATTERN", help="files of ranks; {rank} stands for the number")
    command.add_argument("--format", choices=FORMATS, help="default: by the suffix")
    command.add_argument(
        "--dtype", choices=FILE_BYTES, help="of a raw file; bfloat16 also of .npy and .npz (16-bit words)"
    )
    command.add_argument("--byteorder", choices=("little", "big"), default="little", help="of a raw file")
    command.add_argument("--shape", type=_shape, metavar="N,N,...", help="slowest axis first; of each file, if several")
    command.add_argument(
        "--key", "--variable", action="append", default=[], metavar="NAME",
        help="variable (NetCDF), array (.npz), dataset (HDF5), STASH code (PP); tensors by name or pattern, repeatable",
    )  # fmt: skip
    command.add_argument("--convert", choices=("float32",), help="round float64 to float32")
    command.add_argument(
        "--missing-value", type=float, metavar="X", help="stands for no data in the files; =X where X begins with -"
    )
    command.add_argument(
        "--keep-missing", action="store_true", help="keep missing, NaN and infinite values as they are"
    )
    command.add_argument("--parts", action="store_true", help="one file whose slowest axis counts ranks")
    for word in ("title", "units", "licence", "citation", "note"):
        command.add_argument(f"--{word}", metavar="TEXT")
    command.add_argument("--private", action="store_true", help="name and paths stay out of plans, results and figures")
    command.add_argument("--registry", type=Path, default=Path("config/datasets.yaml"), metavar="FILE")


def _shape(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(n) for n in text.replace("x", ",").split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 1:
        raise argparse.ArgumentTypeError(f'"{text}" is no shape, for example 100,500,500')
    return shape


def _configure_get(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--dry-run", action="store_true", help="tell addresses, sizes, checksums and the disk it takes; fetch nothing"
    )
    command.add_argument(
        "--offline", action="store_true", help="ask no server (also: COLLPRESS_OFFLINE=1); say which file to put where"
    )
    command.add_argument(
        "--from",
        dest="directories",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="look for the files here first, for example an SDRBench directory; nothing there is changed",
    )
    command.add_argument("--platform", metavar="NAME", help="look in the data_roots of this platform, too")


def run(args: argparse.Namespace) -> int:
    """Run one subcommand; every id is looked up before anything is done."""
    registry = load_registry(args.registry)
    if args.command == "list":
        return _list(registry, args)
    if args.command == "register":
        return _register(registry, args)
    wanted = args.ids
    if args.command == "cite" and args.campaign:
        wanted = [*wanted, *_used(args.campaign, registry)]
    if not wanted:
        raise CollpressError("nothing to cite", allowed="ids, or --campaign NAME of one that uses datasets")
    entries = find_all(registry, wanted, args.registry)
    verbs = {"info": _info, "get": _get, "verify": _verify, "fingerprint": _fingerprint, "cite": _cite}
    return verbs[args.command](entries, args)


def _list(registry: dict[str, Entry], args: argparse.Namespace) -> int:
    rows = [_row(entry, args.results) for entry in registry.values()]
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    shapes = {row["id"]: " x ".join(map(str, row["shape"])) for row in rows}
    width, wide = (max(map(len, texts), default=0) for texts in (shapes.keys(), shapes.values()))
    dtype = max((len(row["dtype"]) for row in rows), default=0)
    for group, members in groupby(rows, key=lambda row: row["id"].partition("/")[0]):
        print(f"{group}:")
        for row in members:
            about = f"{row['dtype']:<{dtype}}  {shapes[row['id']]:<{wide}}"
            print(f"  {row['id']:<{width}}  {about}  {_state(row):<16}  {row['title']}")
    missing = to_fetch(registry.values(), args.results)
    prepared = sum(row["prepared"] for row in rows)
    print(f"{len(rows)} datasets, {prepared} prepared; all others: {_megabytes(sum(missing.values()))} to fetch")
    return 0


def _state(row: dict[str, Any]) -> str:
    if row["prepared"]:
        return "prepared"
    if row["source"]["kind"] == "manual":
        return "to be brought"
    if row["source"]["kind"] in ("local", "private"):
        return "to be read"
    return f"fetch {_megabytes(row['bytes_to_fetch'])}" if row["bytes_to_fetch"] else "to be made"


def _info(entries: list[Entry], args: argparse.Namespace) -> int:
    rows = [_row(entry, args.results) for entry in entries]
    if args.json:
        print(json.dumps(rows[0] if len(rows) == 1 else rows, indent=1))
        return 0
    for entry, about in zip(entries, rows, strict=True):
        about["shape"] = " x ".join(map(str, entry.shape)) + " (slowest axis first)"
        about["sha256"] = entry.sha256 or "recorded when it is prepared"
        source = about.pop("source")
        for key, value in [*about.items(), *((f"source {k}", v) for k, v in source.items())]:
            for position, line in enumerate(_lines(value)):
                print(f"{'' if position else key.replace('_', ' '):<22} {line}")
    return 0


def _lines(value: Any) -> list[str]:
    """A value as people read it."""
    if isinstance(value, dict):
        return ["; ".join(f"{key}: {inner}" for key, inner in value.items()) or "-"]
    words = {"None": "-", "True": "yes", "False": "no"}
    return [words.get(str(v), str(v)) for v in (value if isinstance(value, list) else [value])]


def _get(entries: list[Entry], args: argparse.Namespace) -> int:
    """Prepare all of them; the error at the end names each that could not be had."""
    if args.dry_run:
        from collpress.data.outlook import outlook, outlook_text

        told = outlook(entries, args.results)
        print(json.dumps(told, indent=1) if args.json else outlook_text(told))
        return 0
    from collpress.data.access import access
    from collpress.data.prepare import places, prepare  # numpy is not needed to list and describe

    allowed = access(args.offline, [*args.directories, *_roots(args.platform)])
    made, wrong = [], []
    for entry in entries:
        try:
            sidecar = prepare(entry, args.results, allowed)
        except CollpressError as error:
            wrong.append(error)
            continue
        path = places(entry.public_id, args.results)[0]
        made.append({"path": str(path), **sidecar.model_dump(mode="json", by_alias=True)})
        if not args.json:
            print(f"{entry.public_id}: {path}, {sidecar.bytes:,} B, sha256 {sidecar.sha256}", flush=True)
    if args.json:
        print(json.dumps(made, indent=1))
    if len(wrong) == 1 == len(entries):
        raise wrong[0]
    if wrong:
        raise CollpressError("\n".join([f"{len(wrong)} of {len(entries)} datasets could not be had", *map(str, wrong)]))
    return 0


def _roots(platform: str | None) -> list[Path]:
    """The platform's directories of data; one that is not there today is told and left out."""
    if platform is None:
        return []
    from collpress.spec import load_platform

    roots = [Path(root).expanduser() for root in load_platform(platform).data_roots]
    for root in roots:
        if not root.is_dir():
            print(f"{platform}: data_roots: {root} is not there", file=sys.stderr)
    return [root for root in roots if root.is_dir()]


def _verify(entries: list[Entry], args: argparse.Namespace) -> int:
    """Check all of them; the error at the end names each that is not right."""
    from collpress.data.prepare import verify

    rows: list[dict[str, Any]] = []
    for entry in entries:
        try:
            checksum = verify(entry, args.results).checksum
            rows.append({"id": entry.id, "right": True, "checksum": checksum, "reason": None})
        except CollpressError as error:
            rows.append({"id": entry.id, "right": False, "checksum": None, "reason": str(error)})
    if args.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in (row for row in rows if row["right"]):
            recorded = " (as recorded when it was first prepared)" if row["checksum"] == "recorded" else ""
            print(f"{row['id']}: ok{recorded}")
    wrong = [f"{row['id']}: {row['reason']}" for row in rows if not row["right"]]
    if wrong:
        raise CollpressError("\n".join([f"{len(wrong)} of {len(entries)} datasets are not right", *wrong]))
    return 0


def _fingerprint(entries: list[Entry], args: argparse.Namespace) -> int:
    from collpress.data.fingerprint import write
    from collpress.data.prepare import stored_values

    for entry in entries:
        if entry.capture is None:
            raise CollpressError("only captures have a fingerprint, others a sha256", where=entry.id)
        if not is_prepared(entry, args.results):
            raise CollpressError("not prepared", where=entry.id, fix=f"collpress dataset get {entry.id}")
        print(f"{entry.id}: {write(entry.id, stored_values(entry, args.results))}")
    return 0


def _cite(entries: list[Entry], args: argparse.Namespace) -> int:
    from collpress.data.citing import bibliography, citations

    told = [entry for entry in entries if not entry.private]
    if len(told) < len(entries):
        print(f"left out: {len(entries) - len(told)} private datasets", file=sys.stderr)
    found = citations(told)
    print(json.dumps(found, indent=1, ensure_ascii=False) if args.json else bibliography(found))
    return 0


def _used(campaign: str, registry: dict[str, Entry]) -> list[str]:
    from collpress.plan.needs import datasets_needed
    from collpress.spec import load_campaign

    return datasets_needed(load_campaign(campaign), registry, {name: e.public_id for name, e in registry.items()})


def _register(registry: dict[str, Entry], args: argparse.Namespace) -> int:
    from collpress.data import numbered
    from collpress.data.register import WORDS, Wish, register

    if bool(args.files) == bool(args.per_rank_glob):
        raise CollpressError("which files?", allowed="FILES, or --per-rank-glob PATTERN")
    paths = numbered.matching(args.per_rank_glob) if args.per_rank_glob else args.files
    if len(paths) > 1 and not args.per_rank_glob:
        paths = numbered.by_name(paths)
    words = {word: getattr(args, word) for word in WORDS}
    about = {word: text for word, text in words.items() if text is not None} | (
        {"private": True} if args.private else {}
    )
    wish = Wish(
        form=args.format,
        dtype=args.dtype,
        byte_order=args.byteorder,
        shape=args.shape,
        key=tuple(args.key),
        convert=args.convert,
        missing=args.missing_value,
        keep_missing=args.keep_missing,
        parts=args.parts,
        about=about,
    )
    entry, home = register(args.name, paths, wish, args.registry, registry)
    shape = " x ".join(map(str, entry.shape))
    called = f"; told as {entry.public_id}" if entry.private else ""
    print(f"{entry.id}: {entry.dtype}, {shape}, ranks send {entry.ranks}, {entry.bytes:,} B; in {home}{called}")
    return 0


def _row(entry: Entry, results: Path) -> dict[str, Any]:
    """All that is known of a dataset without reading its values; sizes in bytes."""
    plain = (
        "id",
        "title",
        "note",
        "synthetic",
        "dtype",
        "native_dtype",
        "shape",
        "ranks",
        "elements",
        "bytes",
        "units",
        "missing",
        "range",
    )
    row = {key: getattr(entry, key) for key in (*plain, "sha256", "licence", "citation", "acknowledgement")}
    return row | {
        "shape": list(entry.shape),
        "prepared": is_prepared(entry, results),
        "bytes_to_fetch": sum(to_fetch([entry], results).values()),
        "source": entry.source,
    }


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.1f} MB"
