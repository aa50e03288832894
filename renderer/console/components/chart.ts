import type uPlot from 'uplot'

/** A mark on the time axis of charts. */
export interface ChartMark {
  /** Time of the mark, in milliseconds since the epoch. */
  at: number
  tone: 'info' | 'warn' | 'bad'
  /** Time or time span of its events. */
  time: string
  /** Number of its events by kind, e.g. "3 camera problems". */
  summary: string
  /** Texts of its events, the most important first. */
  lines: readonly string[]
  /** Note on further events that have no text; empty: none. */
  more: string
}

/** Maximum distance of the cursor to a mark, in pixels; size of a mark. */
const reachPx = 7
const sizePx = 5

/** Draws a line and a triangle at each mark. @param colour colour by tone */
export function drawMarks(plot: uPlot, marks: readonly ChartMark[], colour: (tone: ChartMark['tone']) => string): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  for (const { at, tone } of marks) {
    const x = Math.round(plot.valToPos(at / 1_000, 'x', true))
    const bottom = bbox.top + bbox.height
    ctx.strokeStyle = colour(tone)
    ctx.fillStyle = colour(tone)
    ctx.globalAlpha = 0.35
    ctx.setLineDash([2 * ratio, 3 * ratio])
    ctx.lineWidth = ratio
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bottom)
    ctx.stroke()
    ctx.globalAlpha = 1
    ctx.beginPath()
    ctx.moveTo(x - sizePx * ratio, bottom)
    ctx.lineTo(x + sizePx * ratio, bottom)
    ctx.lineTo(x, bottom - 1.6 * sizePx * ratio)
    ctx.fill()
  }
  ctx.restore()
}

/** Returns the mark under the cursor; undefined: none. */
export function markUnder(plot: uPlot, marks: readonly ChartMark[]): ChartMark | undefined {
  const left = plot.cursor.left ?? -1
  if (left < 0) return undefined
  const near = marks.map((mark) => ({ mark, distance: Math.abs(plot.valToPos(mark.at / 1_000, 'x') - left) }))
  return near.filter(({ distance }) => distance <= reachPx).sort((one, other) => one.distance - other.distance)[0]?.mark
}

/** Returns the next mark before or after a time; undefined: none. */
export function nextMark(marks: readonly ChartMark[], at: number, forward: boolean): ChartMark | undefined {
  return forward ? marks.find((mark) => mark.at > at) : marks.findLast((mark) => mark.at < at)
}

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
