import { computed, ref, type Ref, watch } from 'vue'
import type { FigureSpan } from '../../../../shared/console/figures.ts'
import { type EventMark, markKindOf } from '../../../../shared/console/marks.ts'
import type { ChartMark } from '../../components/chartMarks.ts'
import { useReading } from '../../live/useReading.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import { useEventText } from '../events/useEventText.ts'
import { browserStorage } from '../../../kit/storage.ts'

const stored = 'roomdesk.figures.marks'
/** Delay before another read while the controller builds its index, in milliseconds. */
const againMs = 2_000
const tones = { info: 'info', warning: 'warn', error: 'bad' } as const

/** Events as marks on the charts of a time span. Whether they are shown is stored in this browser. */
export function useMarks(span: Ref<FigureSpan>) {
  const { t } = useText()
  const { pointTime, list } = useFormat()
  const { sentence } = useEventText()
  const shown = ref(browserStorage.get(stored) !== 'false')

  const live = useReading('events.marks', () => ({ span: span.value }), {
    throttleMs: 3_000,
    keepPrevious: true,
    updates: {
      // Most events have no mark.
      'events.added': (before, { items }) =>
        items.some((entry) => markKindOf(entry) !== undefined) ? undefined : before,
    },
  })
  watch(live.value, (answer, _before, onCleanup) => {
    if (answer === undefined || answer.complete) return
    const timer = setTimeout(() => void live.refresh(), againMs)
    onCleanup(() => clearTimeout(timer))
  })
  watch(shown, (now) => browserStorage.set(stored, String(now)))

  function markOf({ at, from, level, count, kinds, events }: EventMark, step: number): ChartMark {
    const begin = pointTime(count === 1 ? at : from, Math.max(step, 1))
    return {
      at,
      tone: tones[level],
      time: count === 1 ? begin : t('time.fromTo', { from: begin, to: pointTime(from + step, Math.max(step, 1)) }),
      summary: list(kinds.map((one) => t(`overview.marks.kinds.${one.kind}`, { n: one.count }))),
      lines: events.map(sentence),
      more: count > events.length && events.length > 0 ? t('overview.marks.more', { n: count - events.length }) : '',
    }
  }

  const marks = computed(() => {
    const answer = live.value.value
    return shown.value && answer ? answer.items.map((mark) => markOf(mark, answer.step_ms)) : []
  })
  return { marks, shown }
}
