"""Records: the schema of the journal, statuses, reading and upgrading."""

from collpress.records.journal import Journals, parse_line, read_campaign, read_journal
from collpress.records.schema import Launch, Record
from collpress.records.status import PointStatus, Status, point_status

__all__ = [
    "Journals",
    "Launch",
    "PointStatus",
    "Record",
    "Status",
    "parse_line",
    "point_status",
    "read_campaign",
    "read_journal",
]
