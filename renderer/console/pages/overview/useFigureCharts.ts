import { computed, type ComputedRef, type Ref, ref, watch } from 'vue'
import {
  type FigureHistoryView,
  type FigureName,
  figureOf,
  type FigureSpan,
} from '../../../../shared/console/figures.ts'
import { type EventMark, markKindOf } from '../../../../shared/console/marks.ts'
import { browserStorage } from '../../../kit/storage.ts'
import type { ChartMark, Series } from '../../components/chart.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import { useReading } from '../../live/useReading.ts'
import { useEventText } from '../events/useEventText.ts'

interface FigureChart {
  key: 'traffic' | 'cpu' | 'memory' | 'disk' | 'load' | 'requests' | 'failures' | 'latency'
  title: string
  series: Series[]
  format: (value: number) => string
  /** Upper end of the scale; undefined: determined by the values. */
  top?: number
  /** Text shown instead of the chart; empty: the chart is shown. */
  instead: string
}

type Values = (number | null)[]
type Colour = Series['colour']
const nodeColours: readonly Colour[] = [2, 4, 5, 6]

/** Charts of the recorded figures. */
export function useFigureCharts(
  history: Readonly<Ref<FigureHistoryView | undefined>>,
): ComputedRef<readonly FigureChart[]> {
  const { t } = useText()
  const { bitrate, decimal, percent, size } = useFormat()

  /** Returns the values of a line, of the site or of one node. */
  function valuesOf(figure: FigureName, node = ''): Values {
    const found = history.value?.series.find((one) => one.figure === figure && one.node === node)
    const values = found?.[figureOf(figure).line] ?? []
    return values.length > 0 ? values : (found?.avg ?? [])
  }

  const line = (name: string, colour: Colour, values: Values, fill = false): Series => ({ name, colour, values, fill })

  /** Returns the lines of the nodes. If there are more nodes than colours, the last line is the sum of the rest. */
  function nodeLines(figure: FigureName, scale = (value: number) => value): Series[] {
    const nodes = (history.value?.series ?? []).filter((one) => one.figure === figure && one.avg.some(isThere))
    const own = nodes.length > nodeColours.length ? nodes.slice(0, nodeColours.length - 1) : nodes
    const scaled = (values: Values): Values => values.map((value) => value && scale(value))
    const lines = own.map(({ node }, index) =>
      line(t('overview.charts.node', { name: node }), nodeColours[index] ?? 6, scaled(valuesOf(figure, node))),
    )
    if (own.length === nodes.length) return lines
    const rest = summed(nodes.slice(own.length).map(({ node }) => valuesOf(figure, node)))
    return [...lines, line(t('overview.charts.otherNodes'), 6, scaled(rest))]
  }

  const share = (value: number) => value / Math.max(history.value?.cores ?? 1, 1)
  const load = (value: number) => percent(value / 100, value < 10 ? 1 : 0)
  const millis = (value: number) => `${decimal(value, value > 0 && value < 10 ? 1 : 0)} ms`
  const count = (value: number) => decimal(value, Number.isInteger(value) ? 0 : 1)
  const rate = (value: number) => decimal(value, value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2)

  return computed(() => {
    const failures = valuesOf('failures')
    const used = valuesOf('disk_used')
    const free = valuesOf('disk_free')
    const disk = Math.max(0, ...used.map((value, index) => (value ?? 0) + (free[index] ?? 0)))
    const charts: Omit<FigureChart, 'title' | 'instead'>[] = [
      {
        key: 'traffic',
        format: bitrate,
        series: [
          line(t('overview.charts.in'), 1, valuesOf('traffic_in'), true),
          line(t('overview.charts.out'), 2, valuesOf('traffic_out')),
        ],
      },
      {
        key: 'load',
        format: count,
        series: [
          line(t('overview.charts.people'), 4, valuesOf('people'), true),
          line(t('overview.charts.meetings'), 3, valuesOf('meetings')),
          line(t('overview.charts.cameras'), 2, valuesOf('cameras')),
        ],
      },
      {
        key: 'cpu',
        format: load,
        top: 100,
        series: [
          line(t('overview.charts.machine'), 1, valuesOf('machine_cpu'), true),
          line(
            t('overview.charts.controller'),
            3,
            valuesOf('controller_cpu').map((value) => value && share(value)),
          ),
          ...nodeLines('node_cpu', share),
        ],
      },
      {
        key: 'memory',
        format: size,
        ...topOf(history.value?.memory_total),
        series: [
          line(t('overview.charts.machine'), 1, valuesOf('machine_memory'), true),
          line(t('overview.charts.controller'), 3, valuesOf('controller_memory')),
          ...nodeLines('node_memory'),
        ],
      },
      {
        key: 'requests',
        format: rate,
        series: [
          line(t('overview.charts.media'), 1, valuesOf('media_requests'), true),
          line(t('overview.charts.device'), 2, valuesOf('device_requests')),
        ],
      },
      { key: 'failures', format: rate, series: [line(t('overview.charts.bothApis'), 5, failures, true)] },
      {
        key: 'latency',
        format: millis,
        series: [
          line(t('overview.charts.p50'), 1, valuesOf('latency_p50')),
          line(t('overview.charts.p99'), 3, valuesOf('latency_p99')),
        ],
      },
      {
        key: 'disk',
        format: size,
        ...topOf(disk),
        series: [line(t('overview.charts.used'), 1, used, true), line(t('overview.charts.free'), 4, free)],
      },
    ]
    return charts.map((chart) => ({ ...chart, title: t(`overview.charts.${chart.key}`), instead: insteadOf(chart) }))
  })

  function insteadOf({ key, series }: Pick<FigureChart, 'key' | 'series'>): string {
    const values = series.flatMap((one) => one.values).filter(isThere)
    if (key === 'traffic' && values.length === 0) return t('overview.charts.noTraffic')
    if (key === 'latency' && values.length === 0) return t('overview.charts.noRequests')
    if (values.length === 0) return t('overview.charts.waiting')
    return key === 'failures' && values.every((value) => value === 0) ? t('overview.charts.noFailures') : ''
  }
}

function isThere(value: number | null): value is number {
  return value !== null
}

function topOf(value: number | undefined): { top?: number } {
  return value ? { top: value } : {}
}

/** Returns the sum of several lines; null if none of them has a value. */
function summed(lines: readonly Values[]): Values {
  return (lines[0] ?? []).map((_, index) => {
    const values = lines.map((one) => one[index] ?? null).filter(isThere)
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0)
  })
}

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
