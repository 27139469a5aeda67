"""Tables for `make crash`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Table:
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]] = field(default_factory=list)

    def row(self, *cells: object) -> None:
        assert len(cells) == len(self.columns)
        self.rows.append(cells)

    def show(self) -> None:
        if not self.rows:
            return
        body = [tuple(str(cell) for cell in row) for row in (self.columns, *self.rows)]
        widths = [max(len(row[number]) for row in body) for number in range(len(self.columns))]
        print(f"\n\n{self.title}\n")
        for number, row in enumerate(body):
            cells = (
                cell.rjust(width) if cell.isdigit() else cell.ljust(width)
                for cell, width in zip(row, widths, strict=True)
            )
            print(f"| {' | '.join(cells)} |")
            if number == 0:
                print(f"|{'|'.join('-' * (width + 2) for width in widths)}|")
