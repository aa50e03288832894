import { z } from 'zod'
import { moment } from '../domain/outcome.ts'

/** Suffixes of metric names, by unit. */
const unitSuffixes = {
  perSecond: 'per_second',
  milliseconds: 'milliseconds',
  count: '',
  percent: 'percent',
  bytes: 'bytes',
  bitsPerSecond: 'bits_per_second',
} as const
type FigureUnit = keyof typeof unitSuffixes

/** Metric that is recorded over time. */
interface FigureDefinition {
  unit: FigureUnit
  /**
   * Value drawn in a chart if a point represents several samples. Average, minimum and maximum are stored for each
   * point.
   */
  line: 'avg' | 'min' | 'max'
  /** Recorded once for each embedded node of this controller; undefined: recorded once per controller. */
  node?: true
  /** English help text of the metric. */
  help: string
  /**
   * Exported by `/metrics`; undefined: another metric there, e.g. `roomdesk_requests_total`, already contains this
   * value.
   */
  exported?: true
}

/**
 * All recorded metrics. Storage, procedures, charts and exported metrics are derived from this table. New entries must
 * be appended.
 */
const figures = {
  media_requests: { unit: 'perSecond', line: 'avg', help: 'Requests to the media API.' },
  device_requests: { unit: 'perSecond', line: 'avg', help: 'Requests to the device API.' },
  failures: { unit: 'perSecond', line: 'avg', help: 'Requests that failed, both APIs.' },
  latency_p50: { unit: 'milliseconds', line: 'avg', help: 'Median time of a request.' },
  latency_p99: { unit: 'milliseconds', line: 'max', help: 'Time within which 99 of 100 requests are answered.' },
  people: { unit: 'count', line: 'avg', help: 'People in rooms.', exported: true },
  meetings: { unit: 'count', line: 'avg', help: 'Rooms with people in them.', exported: true },
  cameras: { unit: 'count', line: 'avg', help: 'Outgoing users in rooms.' },
  traffic_in: { unit: 'bitsPerSecond', line: 'avg', help: 'Media received by the embedded nodes.', exported: true },
  traffic_out: { unit: 'bitsPerSecond', line: 'avg', help: 'Media sent by the embedded nodes.', exported: true },
  machine_cpu: {
    unit: 'percent',
    line: 'avg',
    help: 'CPU time in use, of all cores of the machine or container.',
    exported: true,
  },
  controller_cpu: { unit: 'percent', line: 'avg', help: 'CPU time of the controller, in percent of one core.' },
  machine_memory: { unit: 'bytes', line: 'avg', help: 'Memory of the machine or container in use.', exported: true },
  controller_memory: { unit: 'bytes', line: 'avg', help: 'Resident memory of the controller.' },
  disk_used: { unit: 'bytes', line: 'max', help: 'Used space of the disk with the data folder.', exported: true },
  disk_free: { unit: 'bytes', line: 'min', help: 'Free space of the disk with the data folder.', exported: true },
  node_cpu: {
    unit: 'percent',
    line: 'avg',
    node: true,
    help: 'CPU time of the media process, in percent of one core.',
    exported: true,
  },
  node_memory: {
    unit: 'bytes',
    line: 'avg',
    node: true,
    help: 'Resident memory of the media process.',
    exported: true,
  },
  node_traffic_in: { unit: 'bitsPerSecond', line: 'avg', node: true, help: 'Media received.', exported: true },
  node_traffic_out: { unit: 'bitsPerSecond', line: 'avg', node: true, help: 'Media sent.', exported: true },
} as const satisfies Record<string, FigureDefinition>

export type FigureName = keyof typeof figures
export const figureNames = Object.keys(figures) as [FigureName, ...FigureName[]]

export function figureOf(name: FigureName): FigureDefinition {
  return figures[name]
}

/** Returns the full name of a metric, e.g. `roomdesk_disk_free_bytes`. */
export function metricName(name: FigureName): string {
  return ['roomdesk', name, unitSuffixes[figures[name].unit]].filter((part) => part !== '').join('_')
}

/** Time spans that can be read, with the step between their points, both in milliseconds. */
export const figureSpans = {
  '15m': { length: 900_000, step: 5_000 },
  '1h': { length: 3_600_000, step: 10_000 },
  '24h': { length: 86_400_000, step: 240_000 },
  '30d': { length: 2_592_000_000, step: 7_200_000 },
} as const
export type FigureSpan = keyof typeof figureSpans
const figureSpanNames = Object.keys(figureSpans) as [FigureSpan, ...FigureSpan[]]

const values = z.array(z.number().nullable())

export const figureQuery = z.strictObject({
  span: z.enum(figureSpanNames).default('24h'),
  /** Time of the first point to return; undefined: the whole span. */
  since: moment.optional(),
})

/**
 * Recorded metrics of one controller. Point i is for the step that starts at `from` + i * `step_ms`; null: not
 * recorded, e.g. because the controller was not running.
 */
export const figureHistory = z.strictObject({
  /** Controller that recorded the metrics while it was the leader. */
  controller: z.string(),
  from: moment,
  step_ms: z.int(),
  points: z.int(),
  /** Memory of the machine or container, in bytes; `cores`: its number of cores. */
  memory_total: z.number(),
  cores: z.number(),
  series: z.array(
    z.strictObject({
      figure: z.enum(figureNames),
      /** Name of the node; empty: the metric is recorded once per controller. */
      node: z.string(),
      avg: values,
      min: values,
      max: values,
    }),
  ),
})
export type FigureHistoryView = z.output<typeof figureHistory>
