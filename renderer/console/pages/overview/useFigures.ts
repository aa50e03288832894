import { ref, watch } from 'vue'
import { type FigureHistoryView, type FigureSpan, figureSpans } from '../../../../shared/console/figures.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useReading } from '../../live/useReading.ts'
import { browserStorage } from '../../../kit/storage.ts'

export const spanNames: readonly FigureSpan[] = ['15m', '1h', '24h', '30d']

const stored = 'roomdesk.figures.span'
/** Interval between two reads, in milliseconds. */
const everyMs: Readonly<Record<FigureSpan, number>> = { '15m': 5_000, '1h': 10_000, '24h': 60_000, '30d': 600_000 }

/**
 * Recorded figures of the chosen time span, read repeatedly while the page is visible. The choice is stored in this
 * browser.
 */
export function useFigures() {
  const client = useConsole()
  const span = ref(rememberedSpan())
  const figures = useReading<'overview.history', FigureHistoryView>('overview.history', () => ({ span: span.value }), {
    read: (_input, before) => read(span.value, before),
    everyMs: () => everyMs[span.value],
    keepPrevious: true,
  })

  /** Reads only the points since the previous read, if that had the same time span. */
  async function read(wanted: FigureSpan, before: FigureHistoryView | undefined): Promise<FigureHistoryView> {
    if (before?.step_ms === figureSpans[wanted].step) {
      const newer = await client.call('overview.history', { span: wanted, since: rereadFrom(before) })
      const merged = mergeFigures(wanted, before, newer)
      if (merged) return merged
    }
    return client.call('overview.history', { span: wanted })
  }

  watch(span, (chosen) => browserStorage.set(stored, chosen))
  return { span, ...figures }
}

function rememberedSpan(): FigureSpan {
  const choice = browserStorage.get(stored)
  return spanNames.find((one) => one === choice) ?? '15m'
}

/** Times of the points, in milliseconds since the epoch. */
export function timesOf({ from, step_ms, points }: FigureHistoryView): number[] {
  return Array.from({ length: points }, (_, index) => from + index * step_ms)
}

type FigureSeries = FigureHistoryView['series'][number]
type Part = 'avg' | 'min' | 'max'

/** Returns the time from which to read again: the latest points may still change. */
function rereadFrom({ from, step_ms, points }: FigureHistoryView): number {
  return Math.max(from, from + (points - 3) * step_ms)
}

/** Appends newer points to a history. Returns undefined if they do not continue it, e.g. because a node was added. */
function mergeFigures(
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
