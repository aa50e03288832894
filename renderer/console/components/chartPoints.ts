/** A line of a chart. `values` correspond to `times`; null is a gap. */
export interface Series {
  name: string
  /** Number of the chart colour token, 1 to 6. */
  colour: 1 | 2 | 3 | 4 | 5 | 6
  values: readonly (number | null)[]
  fill?: boolean
}

type Values = readonly (number | null | undefined)[] | ArrayLike<number | null | undefined>

/** Returns the index of the last value; -1: none. */
export function lastIndex(values: Values): number {
  for (let index = values.length - 1; index >= 0; index--) if (isThere(values[index])) return index
  return -1
}

/** Returns the indices of values between two gaps: they are drawn as points, because they have no line. */
export function lonelyPoints(values: Values): number[] {
  const found: number[] = []
  for (let index = 0; index < values.length; index++) {
    if (isThere(values[index]) && !isThere(values[index - 1]) && !isThere(values[index + 1])) found.push(index)
  }
  return found
}

/** Returns at most `count` indices, evenly spread, including the last one. */
export function spreadIndices(length: number, count: number): number[] {
  const step = Math.max(1, Math.ceil(length / count))
  const found: number[] = []
  for (let index = length - 1; index >= 0; index -= step) found.unshift(index)
  return found
}

function isThere(value: number | null | undefined): boolean {
  return value !== null && value !== undefined
}
