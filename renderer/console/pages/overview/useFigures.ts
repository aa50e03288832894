import { onScopeDispose, ref, watch } from 'vue'
import type { FigureHistoryView, FigureSpan } from '../../../../shared/console/figures.ts'
import { useLive } from '../../../kit/composables/useLive.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { mergeFigures, rereadFrom } from './mergeFigures.ts'

export const spanNames: readonly FigureSpan[] = ['15m', '1h', '24h', '30d']

const stored = 'roomdesk.figures.span'
/** Time between two readings, in milliseconds. */
const everyMs: Readonly<Record<FigureSpan, number>> = { '15m': 5_000, '1h': 10_000, '24h': 60_000, '30d': 600_000 }

/** Recorded figures of the chosen span, read again while the page is visible. The choice is stored in this browser. */
export function useFigures() {
  const client = useConsole()
  const span = ref(rememberedSpan())
  /** Span of the value. */
  let readSpan: FigureSpan | undefined
  let readAt = 0

  const figures = useLive(client, async (): Promise<FigureHistoryView> => {
    const wanted = span.value
    const before = readSpan === wanted ? figures.value.value : undefined
    readAt = Date.now()
    const next = await readAfter(wanted, before)
    readSpan = wanted
    return next
  })

  async function readAfter(wanted: FigureSpan, before: FigureHistoryView | undefined): Promise<FigureHistoryView> {
    if (before !== undefined) {
      const newer = await client.call('overview.history', { span: wanted, since: rereadFrom(before) })
      const merged = mergeFigures(wanted, before, newer)
      if (merged) return merged
    }
    return client.call('overview.history', { span: wanted })
  }

  function look(): void {
    if (!document.hidden && Date.now() - readAt >= everyMs[span.value] - 100) void figures.refresh()
  }

  watch(span, (chosen) => {
    try {
      localStorage.setItem(stored, chosen)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    void figures.refresh()
  })
  const timer = setInterval(look, everyMs['15m'])
  document.addEventListener('visibilitychange', look)
  onScopeDispose(() => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', look)
  })
  return { span, ...figures }
}

function rememberedSpan(): FigureSpan {
  try {
    const choice = localStorage.getItem(stored)
    return spanNames.find((one) => one === choice) ?? '15m'
  } catch {
    return '15m'
  }
}

/** Times of the points, in milliseconds since the epoch. */
export function timesOf({ from, step_ms, points }: FigureHistoryView): number[] {
  return Array.from({ length: points }, (_, index) => from + index * step_ms)
}
