/** A group of rows below one heading. */
export interface RowGroup {
  key: string
  title: string
  /** Number of its rows. */
  count: number
  isOpen: boolean
}

/** Place of a line in a grouped list. */
export interface GroupPlace {
  group: RowGroup
  /** Index of the row in its group; -1: the heading. */
  at: number
}

/** Lines of a grouped list by index: the heading of each group, followed by its rows while it is open. */
export class GroupLayout {
  readonly groups: readonly RowGroup[]
  /** Line of each heading, ascending. */
  readonly #starts: number[] = []
  readonly #byKey = new Map<string, number>()
  /** Number of lines. */
  readonly total: number

  constructor(groups: readonly RowGroup[]) {
    this.groups = groups
    let line = 0
    for (const { key, count, isOpen } of groups) {
      this.#starts.push(line)
      this.#byKey.set(key, line)
      line += isOpen ? count + 1 : 1
    }
    this.total = line
  }

  /** Place of a line; undefined: there is none. */
  placeOf(line: number): GroupPlace | undefined {
    if (!(line >= 0 && line < this.total)) return undefined
    let [low, high] = [0, this.#starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#starts[middle] ?? 0) <= line) low = middle
      else high = middle - 1
    }
    const group = this.groups[low]
    return group && { group, at: line - (this.#starts[low] ?? 0) - 1 }
  }

  /** Line of a heading; -1: there is no such group. */
  lineOf(key: string): number {
    return this.#byKey.get(key) ?? -1
  }

  /** Open groups with rows among these lines, and the rows: from `first` to before `end`. */
  among(first: number, end: number): { group: RowGroup; first: number; end: number }[] {
    const found: { group: RowGroup; first: number; end: number }[] = []
    let line = Math.max(0, first)
    while (line < Math.min(end, this.total)) {
      const place = this.placeOf(line)
      if (place === undefined) break
      const { group } = place
      const start = this.lineOf(group.key) + 1
      const next = start + (group.isOpen ? group.count : 0)
      const rows = { first: Math.max(line, start) - start, end: Math.min(end, next) - start }
      if (rows.end > rows.first) found.push({ group, ...rows })
      line = next
    }
    return found
  }
}
