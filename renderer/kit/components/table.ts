/** A column of a DataTable. */
export interface Column {
  key: string
  title: string
  /** Its track in the grid, e.g. `minmax(120px, 2fr)` or `90px`. Never by content: nothing jumps when content changes. */
  track: string
  align?: 'end'
  sortable?: boolean
  /** Shown from this width of the table on, in pixels. */
  from?: number
  /** The title is for screen readers only. */
  quiet?: boolean
}

/** The column a list is sorted by. */
export interface Sort {
  key: string
  descending: boolean
}
