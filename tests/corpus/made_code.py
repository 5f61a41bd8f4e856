"""Invented programs: a Python service, a Go package, a C header, a TypeScript class, an SQL dump, a minified script."""

from __future__ import annotations

from collections.abc import Iterator

NAMES = ["auth", "billing", "cart", "courier", "gate", "ledger", "mailer", "orders", "pricing", "quota", "stock", "tax"]

LICENCE = """\
# Copyright 2026 The Example Shop. All rights reserved.
#
# Use of this source code is governed by words that nobody reads, which go on for a while so that there is something
# to leave out. It comes with no warranty, neither for merchantability nor for fitness for any purpose at all.
"""

PYTHON = '''\
    @traced("{name}")
    def load_{name}(self, key: str, *,
                    fresh: bool = False) -> dict[str, Any]:
        """Load the {name} record of a customer.

        The record comes from the cache unless ``fresh`` is set. A record that is older than the limit of its kind is
        loaded anew, and the old one is kept for comparison until the next run.
        """
        cached = self._cache.get(("{name}", key))
        if cached is not None and not fresh:
            self._hits["{name}"] += 1
            return cached
        row = self._store.fetch("{name}", key, timeout={timeout})
        if row is None:
            raise MissingRecord(f"no {name} record for {{key}}")
        record = {{column: convert(value) for column, value in row.items()}}
        # TODO: {name} records of closed accounts should not be cached
        self._cache[("{name}", key)] = record
        return record
'''

GO = """\
// {Name}Handler answers requests for {name}. It never blocks for longer than its timeout.
// The caller owns the context, which is passed on to every query.
func (s *Server) {Name}Handler(w http.ResponseWriter, r *http.Request) error {{
	ctx, cancel := context.WithTimeout(r.Context(), {timeout}*time.Second)
	defer cancel()
	rows, err := s.db.Query(ctx, "{name}", r.URL.Query().Get("key"))
	if err != nil {{
		return fmt.Errorf("query {name}: %w", err)
	}}
	for _, row := range rows {{
		if row.Hidden {{
			continue
		}}
		s.metrics.Count("{name}.rows", 1)
		if err := s.encode(w, row); err != nil {{
			return err
		}}
	}}
	return nil
}}

"""

HEADER = """\
/**
 * Opens the {name} unit.
 *
 * The unit stays open until {name}_close() is called; opening it a second time gives the same handle. The flags are
 * those of the platform, of which only the lower {timeout} bits count.
 */
{name}_t *{name}_open(const char *path, unsigned flags);

/** Closes the unit. */
void {name}_close({name}_t *unit);

#define {NAME}_LIMIT {timeout}

struct {name}_state {{
    int fd;             /* file descriptor, or -1 */
    size_t used;
    char label[{timeout}];
}};

"""

TYPESCRIPT = """\
  /**
   * Renders the {name} panel.
   */
  private async render{Name}(state: PanelState, options: RenderOptions = {{}}): Promise<Panel> {{
    const items = state.items.filter((item) => item.kind === '{name}' && !item.hidden);
    if (items.length > {timeout}) {{
      throw new RangeError(`too many {name} items: ${{items.length}}`);
    }}
    const panel = this.panels.get('{name}') ?? this.create('{name}', options);
    for (const item of items) {{
      panel.append(await this.renderItem(item, {{ ...options, parent: panel }}));
    }}
    panel.title = this.translate('panel.{name}.title', {{ count: items.length }});
    return panel;
  }}

"""


def made(template: str) -> str:
    return "".join(
        template.format(name=name, Name=name.title(), NAME=name.upper(), timeout=5 + 3 * i)
        for i, name in enumerate(NAMES)
    )


def python() -> str:
    head = f'{LICENCE}"""Loads records."""\n\nfrom __future__ import annotations\n\nimport time\nfrom typing import Any\n\n'
    head += "LIMIT = 300\n\n\nclass MissingRecord(LookupError):\n    pass\n\n\nclass Loader(Base):\n"
    head += '    """Loads records of customers, by kind."""\n\n    retries: int = 3\n\n'
    return head + "\n".join(PYTHON.format(name=name, timeout=5 + 3 * i) for i, name in enumerate(NAMES[:8]))


def sql() -> str:
    head = "CREATE TABLE customer (\n    id integer PRIMARY KEY,\n    name varchar(40) NOT NULL,\n    state varchar(8)\n);\n\n"
    rows = (
        f"({1000 + i}, '{name}-{i}', '{'closed' if i == 71 else 'open'}')"
        for i in range(180)
        for name in [NAMES[i % 12]]
    )
    return head + "INSERT INTO customer (id, name, state) VALUES\n" + ",\n".join(rows) + ";\n"


def minified() -> str:
    inside = "".join(f"function a{i}(b,c){{return b.{name}(c+{i})||d['{name}']}};" for i in range(12) for name in NAMES)
    return f"!function(e,t){{var d={{}};{inside}}}(this,1);\n"


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    go = 'package shop\n\nimport (\n\t"context"\n\t"fmt"\n)\n\nconst Limit = 300\n\n' + made(GO)
    header = "#ifndef UNITS_H\n#define UNITS_H\n\n#include <stddef.h>\n\n" + made(HEADER) + "#endif\n"
    typescript = "import { Panel } from './panel';\n\nexport class Panels extends Base {\n" + made(TYPESCRIPT) + "}\n"
    yield "code", "python", python().encode(), {}
    yield "code", "go", go.encode(), {}
    yield "code", "header_crlf", header.replace("\n", "\r\n").encode(), {}
    yield "code", "typescript_query", typescript.encode(), {"query": "panel.quota.title"}
    yield "code", "python_ceiling", python().encode(), {"max_tokens": 700}
    yield "code", "sql_rows", sql().encode(), {"content_type": "code"}
    yield "code", "minified", minified().encode(), {"content_type": "code"}
