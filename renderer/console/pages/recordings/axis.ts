/** The visible time span, in milliseconds since the epoch. */
export interface TimeView {
  from: number
  to: number
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Minimum and maximum length of the visible time span, in milliseconds. */
export const minViewMs = 10 * second
export const maxViewMs = 7 * day

const steps = [
  ...[1, 2, 5, 10, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  day,
]

/** Returns the ticks of an axis, at round local times, at least `apart` pixels apart. */
export function ticksOf({ from, to }: TimeView, pixels: number, apart = 88): { at: number; step: number }[] {
  const wanted = ((to - from) / Math.max(1, pixels)) * apart
  const step = steps.find((one) => one >= wanted) ?? day
  const ticks: { at: number; step: number }[] = []
  // Aligned with local midnight, so that hours are round in zones with an offset of half an hour.
  const offset = new Date(from).getTimezoneOffset() * minute
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= to; at += step) ticks.push({ at, step })
  return ticks
}

/** Returns the view zoomed around a moment. @param factor below 1: zooms in */
export function zoomed({ from, to }: TimeView, around: number, factor: number): TimeView {
  const length = Math.min(maxViewMs, Math.max(minViewMs, (to - from) * factor))
  const share = (around - from) / (to - from)
  const begin = around - share * length
  return { from: begin, to: begin + length }
}

/** Returns the view zoomed with a moment at its centre. */
export function centred({ from, to }: TimeView, at: number, factor: number): TimeView {
  const length = Math.min(maxViewMs, Math.max(minViewMs, (to - from) * factor))
  return { from: at - length / 2, to: at + length / 2 }
}

export function moved({ from, to }: TimeView, by: number): TimeView {
  return { from: from + by, to: to + by }
}

/** Returns the local day of a moment. */
export function dayOf(at: number): TimeView {
  const begin = new Date(at)
  begin.setHours(0, 0, 0, 0)
  const end = new Date(begin)
  end.setDate(end.getDate() + 1)
  return { from: begin.getTime(), to: end.getTime() }
}

/** Returns the view moved to contain a moment; unchanged if it already does. */
export function following(view: TimeView, at: number): TimeView {
  const length = view.to - view.from
  if (at >= view.from && at <= view.to - length * 0.02) return view
  return { from: at - length * 0.1, to: at + length * 0.9 }
}
