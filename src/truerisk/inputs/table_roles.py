"""Which column of a table is the target, which the groups, and which are features."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.roles import listed

USUAL_TARGETS = ("target", "label", "class", "y")


@dataclass(frozen=True, kw_only=True)
class TableRoles:
    """What the caller says of the columns; a `target` of None is to be found by its usual names.

    Examples
    --------
    >>> TableRoles(drop=("id",)).found_in(["id", "age", "Class"])
    SettledRoles(target='Class', group=None, features=('age',))
    """

    target: str | None = None
    group: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def found_in(self, columns: Sequence[str]) -> "SettledRoles":
        """Settle which of `columns` is which; names that are not there are refused."""
        self._check_given(columns)
        target = self.target if self.target is not None else self._usual_target(columns)
        unused = {target, self.group, *self.drop}
        features = tuple(name for name in columns if name not in unused)
        used = (target, *features, *([self.group] if self.group is not None else []))
        for name in used:
            if list(columns).count(name) > 1:
                raise InputError(
                    f"The column {shown(name)} must appear once in the header; it appears "
                    f"{list(columns).count(name)} times. Rename all but one of them, or use --drop."
                )
        if not features:
            raise InputError(
                f"At least one column must be left as a feature; the columns are {listed(columns)}."
            )
        return SettledRoles(target=target, group=self.group, features=features)

    def _check_given(self, columns: Sequence[str]) -> None:
        roles = {
            "target": () if self.target is None else (self.target,),
            "group": () if self.group is None else (self.group,),
            "drop": self.drop,
            "text": self.text,
            "categorical": self.categorical,
        }
        taken: dict[str, str] = {}
        for role, names in roles.items():
            for name in names:
                if name not in columns:
                    close = difflib.get_close_matches(name, columns, n=1)
                    remedy = f" Did you mean {shown(close[0])}?" if close else ""
                    raise InputError(
                        f"`{role}` must be a column of the file; got {shown(name)}. "
                        f"The columns are {listed(columns)}.{remedy}"
                    )
                other = taken.setdefault(name, role)
                if other != role:
                    raise InputError(
                        f"Each column must play one role; {shown(name)} is named as `{other}` and "
                        f"as `{role}`."
                    )

    def _usual_target(self, columns: Sequence[str]) -> str:
        others = {self.group, *self.drop, *self.text, *self.categorical}
        found = [
            name for name in columns if name not in others and name.strip().lower() in USUAL_TARGETS
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                f"`target` must be one column; the names {listed(found)} could all be it. "
                f"Say which with --target."
            )
        raise InputError(
            f"`target` must be the column with the labels; none is called "
            f"{', '.join(USUAL_TARGETS)}. The columns are {listed(columns)}. "
            f"Say which with --target."
        )


@dataclass(frozen=True, kw_only=True)
class SettledRoles:
    """The columns that are used; `features` in the order of the file."""

    target: str
    group: str | None
    features: tuple[str, ...]
