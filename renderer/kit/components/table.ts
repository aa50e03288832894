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
   * Place in the two lines of a row on a phone: at the left above (`title`) and below (`note`), at the right above (`figure`) and below (`aside`). Without one it
   * is shown on wider screens only.
   */
  phone?: 'title' | 'figure' | 'note' | 'aside'
  /** The title is for screen readers only. */
  quiet?: boolean
}

/** Sort column of a list. */
export interface Sort {
  key: string
  descending: boolean
}
