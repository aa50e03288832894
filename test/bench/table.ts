/** One line of the table of figures. */
export interface Row {
  what: string
  measured: string
  /** Goal in words; `none` for a figure that others are compared with. */
  goal: string
  reached: boolean
}

const rows: Row[] = []

/** Records a figure, and prints it at once: a run takes minutes. */
export function report(what: string, measured: string, goal: string, reached: boolean): void {
  rows.push({ what, measured, goal, reached })
  console.error(`${reached ? ' ' : '!'} ${what}: ${measured} (goal ${goal})`)
}

/** Records that a part of the run ended without its figures. */
export function brokeOff(part: string): void {
  rows.push({ what: part, measured: 'broke off', goal: 'figures', reached: false })
}

/** Prints every figure of this run. */
export function printTable(): void {
  console.table(
    Object.fromEntries(rows.map(({ what, measured, goal, reached }) => [what, { measured, goal, reached }])),
  )
  const missed = rows.filter(({ reached }) => !reached).map(({ what }) => what)
  console.log(missed.length === 0 ? 'Every goal was reached.' : `Not reached: ${missed.join('; ')}.`)
}
