import { type FigureHistoryView, figureSpans, type FigureSpan } from '../../../../shared/console/figures.ts'

type FigureSeries = FigureHistoryView['series'][number]
type Part = 'avg' | 'min' | 'max'

/** Returns the time from which to read again: the latest points may still change. */
export function rereadFrom({ from, step_ms, points }: FigureHistoryView): number {
  return Math.max(from, from + (points - 3) * step_ms)
}

/** Appends newer points to a history. Returns undefined if they do not continue it, e.g. because a node was added. */
export function mergeFigures(
  span: FigureSpan,
  before: FigureHistoryView,
  after: FigureHistoryView,
): FigureHistoryView | undefined {
  const { length, step } = figureSpans[span]
  const kept = (after.from - before.from) / step
  const isNext = Number.isInteger(kept) && kept >= 0 && kept <= before.points
  const isAlike =
    before.controller === after.controller &&
    before.series.map(nameOf).join('\n') === after.series.map(nameOf).join('\n')
  if (!isNext || !isAlike) return undefined
  const drop = Math.max(0, kept + after.points - length / step)
  const joined = (part: Part) => (one: FigureSeries, index: number) => {
    const newer = after.series[index]?.[part] ?? []
    return newer.length === 0 && one[part].length === 0 ? [] : [...one[part].slice(drop, kept), ...newer]
  }
  return {
    ...after,
    from: before.from + drop * step,
    points: kept + after.points - drop,
    series: before.series.map((one, index) => ({
      ...one,
      avg: joined('avg')(one, index),
      min: joined('min')(one, index),
      max: joined('max')(one, index),
    })),
  }
}

function nameOf({ figure, node }: FigureSeries): string {
  return `${figure} ${node}`
}
