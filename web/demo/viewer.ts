/** A read-only code view with ranges set off, by CodeMirror: it lays out only what is in sight, so size is no matter. */

import { EditorState, RangeSetBuilder, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, hoverTooltip, keymap, lineNumbers, type DecorationSet, type Tooltip } from "@codemirror/view";
import { make } from "./dom.js";

export interface Range {
  readonly from: number;
  readonly to: number;
  /** "marker" in the shorter text, "gone" in the original. */
  readonly kind: "marker" | "gone";
  /** Ranges of one marker share it. */
  readonly id: number;
}

const highlight = StateEffect.define<number>();

/** Ranges as decorations; those of the highlighted id stand out. */
function marked(ranges: readonly Range[]): Extension {
  const draw = (chosen: number): DecorationSet => {
    const builder = new RangeSetBuilder<Decoration>();
    for (const { from, to, kind, id } of ranges) {
      if (from < to) builder.add(from, to, Decoration.mark({ class: id === chosen ? `${kind} chosen` : kind }));
    }
    return builder.finish();
  };
  return StateField.define<DecorationSet>({
    create: () => draw(-1),
    update: (drawn, { effects }) => effects.reduce((last, effect) => (effect.is(highlight) ? draw(effect.value) : last), drawn),
    provide: (field) => EditorView.decorations.from(field),
  });
}

/** CodeMirror's styles must not come in a style element (the policy forbids it): in a shadow root they are adopted. */
const look = EditorView.theme({
  "&": { height: "100%", fontSize: "0.8rem", color: "inherit", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", borderRight: "1px solid var(--line)" },
  ".cm-content": { padding: "0.5rem 0" },
  ".marker": { backgroundColor: "var(--mark)", color: "var(--mark-ink)", borderRadius: "0.2rem", cursor: "pointer" },
  ".gone": { color: "var(--faint)" },
  ".marker.chosen, .gone.chosen": { backgroundColor: "var(--chosen)", color: "var(--ink)" },
  ".cm-tooltip": {
    maxWidth: "26rem",
    padding: "0.5rem 0.7rem",
    border: "1px solid var(--line)",
    borderRadius: "0.5rem",
    backgroundColor: "var(--card)",
    color: "var(--ink)",
    fontFamily: "var(--sans)",
    boxShadow: "0 4px 18px rgb(0 0 0 / 0.16)",
  },
});

export class Viewer {
  readonly #view: EditorView;
  readonly #label: string;
  readonly #explain: (id: number) => Node;
  readonly #pick: (id: number) => void;
  #ranges: readonly Range[] = [];

  /** `explain` says what a range is about when it is pointed at; `pick` is called when it is clicked. */
  constructor(host: HTMLElement, label: string, explain: (id: number) => Node, pick: (id: number) => void) {
    const root = host.attachShadow({ mode: "open" });
    const parent = make("div", { class: "view" });
    root.append(parent);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(":host { display: block; } .view { height: 100%; }");
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    this.#label = label;
    this.#explain = explain;
    this.#pick = pick;
    this.#view = new EditorView({ parent, root });
    this.show("", []);
  }

  /** `ranges` in the order of their places, which do not overlap. */
  show(text: string, ranges: readonly Range[]): void {
    this.#ranges = ranges;
    const extensions: Extension[] = [
      look,
      lineNumbers(),
      EditorView.lineWrapping,
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ "aria-label": this.#label, role: "textbox", "aria-readonly": "true", tabindex: "0" }),
      keymap.of([]),
      marked(ranges),
      hoverTooltip((_, position) => this.#tooltip(position), { hoverTime: 150 }),
      EditorView.domEventHandlers({
        click: (event, view) => {
          const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
          const range = position === null ? undefined : this.#at(position);
          if (range) this.#pick(range.id);
        },
      }),
    ];
    this.#view.setState(EditorState.create({ doc: text, extensions }));
  }

  /** Sets the ranges of this id off and brings the first of them into sight. */
  reveal(id: number): void {
    const first = this.#ranges.find((range) => range.id === id);
    const effects: StateEffect<unknown>[] = [highlight.of(id)];
    if (first) effects.push(EditorView.scrollIntoView(first.from, { y: "center" }));
    this.#view.dispatch({ effects });
  }

  #at(position: number): Range | undefined {
    return this.#ranges.find(({ from, to }) => from <= position && position < to);
  }

  #tooltip(position: number): Tooltip | null {
    const range = this.#at(position);
    if (!range) return null;
    return { pos: range.from, end: range.to, above: true, create: () => ({ dom: this.#explainIn(range.id) }) };
  }

  #explainIn(id: number): HTMLElement {
    return make("div", {}, this.#explain(id));
  }
}
