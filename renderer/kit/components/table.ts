/** A column of a DataTable. */
export interface Column {
  key: string
  title: string
  /** Its track in the grid, e.g. `minmax(120px, 2fr)` or `90px`. Independent of content, so that nothing jumps. */
  track: string
  align?: 'end'
  sortable?: boolean
  /** Minimum width of the table that shows it, in pixels. */
  from?: number
  /**
   * Position in the two lines of a row on a phone: top left (`title`), bottom left (`note`), top right (`figure`) or
   * bottom right (`aside`). undefined: shown on wider screens only.
   */
  phone?: 'title' | 'figure' | 'note' | 'aside'
  /** The title is for screen readers only. */
  quiet?: boolean
}

/** A column of a PlainTable. */
export interface PlainColumn extends Pick<Column, 'key' | 'title' | 'align' | 'quiet'> {
  /** Takes the remaining width, and shortens its texts. */
  clip?: boolean
  /** Its cells are the headings of their rows. */
  heading?: boolean
}

/** Minimum width of a column, in pixels: the first length of its track. */
export function minWidthOf({ track }: Column): number {
  return Number(/(\d+)px/.exec(track)?.[1] ?? 96)
}

/**
 * Returns the columns that a table shows. If the minimum widths do not fit, columns with `from` are hidden, the largest
 * `from` first.
 * @param width of the table in pixels; 0: not known yet
 * @param margins width beside the columns, in pixels
 */
export function fittingColumns(columns: readonly Column[], width: number, margins: number): Column[] {
  const shown = columns.filter(({ from = 0 }) => width === 0 || width >= from)
  const optional = shown
    .filter(({ from }) => from !== undefined)
    .sort((one, other) => (one.from ?? 0) - (other.from ?? 0))
  const isTooWide = (): boolean => shown.reduce((sum, one) => sum + minWidthOf(one), margins) > width
  while (width > 0 && isTooWide()) {
    const least = optional.pop()
    if (least === undefined) break
    shown.splice(shown.indexOf(least), 1)
  }
  return shown
}

/** Sort column of a list. */
export interface Sort {
  key: string
  descending: boolean
}
