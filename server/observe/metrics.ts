import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ApiName } from '../../shared/result-codes.ts'
import type { FigureHistory } from './figures/figure-history.ts'
import type { Observation, RequestObserver } from './observation.ts'
import {
  addControllerGauges,
  addFigureGauges,
  addRecordingGauges,
  type ControllerMetricSources,
  type RecordingFigures,
} from './gauges.ts'

/** Sources of the metrics, read at each scrape. */
export interface MetricSources {
  rooms(): number
  /** Returns the number of people and devices in rooms. */
  users(): number
  sessions(): number
  nodes(): Readonly<Record<string, number>>
  /**
   * Returns the number of differences from the expected state that were corrected on nodes since the start, by node and
   * kind.
   */
  drifts(): Iterable<{ node: string; kind: string; count: number }>
  /**
   * Returns the counts of media dropped because queues of embedded nodes were full, since the start of each process.
   */
  droppedMedia(): Iterable<{ node: string; queue: string; count: number }>
  /** Returns the number of streams that Janus nodes relay to each other, by state. */
  relays(): Readonly<Record<string, number>>
  devices(): Readonly<Record<string, number>>
  store(): { healthy: boolean; backlog: number; journalBytes: number }
  /** Returns how often the controller restarted itself after an unexpected error. */
  restarts(): number
  /** Returns the number of calls that only clients of the original platform make. */
  olderClients(): { served: number; refused: number }
  connections(): Promise<Readonly<Record<string, number>>>
}

interface Cell {
  api: ApiName
  operation: string
  byRet: Map<number, number>
  times: TimeCounts
}

/** The metrics of `/metrics`: plain counters, updated for every request and copied into prom-client at each scrape. */
export class Metrics implements RequestObserver {
  readonly #registry = new Registry()
  readonly #cells = { media: new Map<string, Cell>(), device: new Map<string, Cell>() }
  readonly #flushes = new TimeCounts()
  readonly #sources: MetricSources

  constructor(sources: MetricSources) {
    this.#sources = sources
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 20 })
    this.#addRequests()
    this.#addGauges()
    this.#registry.registerMetric(
      new CountedHistogram(
        { name: 'roomdesk_store_flush_seconds', help: 'Time of one write to the disk.', labelNames: [], registers: [] },
        () => [[{}, this.#flushes]],
      ),
    )
  }

  observe({ api, operation, ret, duration }: Observation): void {
    const cells = this.#cells[api]
    let cell = cells.get(operation)
    if (cell === undefined) {
      cell = { api, operation, byRet: new Map(), times: new TimeCounts() }
      cells.set(operation, cell)
    }
    cell.byRet.set(ret, (cell.byRet.get(ret) ?? 0) + 1)
    cell.times.add(duration)
  }

  flushed(milliseconds: number): void {
    this.#flushes.add(milliseconds)
  }

  addControllers(sources: ControllerMetricSources): void {
    addControllerGauges(this.#registry, sources)
  }

  addRecordings(read: () => RecordingFigures): void {
    addRecordingGauges(this.#registry, read)
  }

  addFigures(history: Pick<FigureHistory, 'latest'>): void {
    addFigureGauges(this.#registry, history)
  }

  /** Returns the Prometheus text. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  *#allCells(): Generator<Cell> {
    yield* this.#cells.media.values()
    yield* this.#cells.device.values()
  }

  #addRequests(): void {
    const cells = () => this.#allCells()
    new Counter({
      name: 'roomdesk_requests_total',
      help: 'Requests answered, by API, operation and ret; operation is empty for a path that does not exist.',
      labelNames: ['api', 'operation', 'ret'],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const { api, operation, byRet } of cells()) {
          for (const [ret, count] of byRet) this.inc({ api, operation, ret }, count)
        }
      },
    })
    this.#registry.registerMetric(
      new CountedHistogram(
        {
          name: 'roomdesk_request_seconds',
          help: 'Time from the head of a request to its answer.',
          labelNames: ['api', 'operation'],
          registers: [],
        },
        () => [...cells()].map(({ api, operation, times }) => [{ api, operation }, times] as const),
      ),
    )
  }

  #addGauges(): void {
    const sources = this.#sources
    new Counter({
      name: 'roomdesk_restarts_total',
      help: 'Times that the controller started itself again after an unexpected error, since somebody started it.',
      registers: [this.#registry],
      collect() {
        this.reset()
        this.inc(sources.restarts())
      },
    })
    new Counter({
      name: 'roomdesk_older_client_calls_total',
      help: 'Calls that only clients of the original platform make, served or refused because the setting is off.',
      labelNames: ['outcome'],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(sources.olderClients())) this.inc({ outcome }, count)
      },
    })
    new Counter({
      name: 'roomdesk_node_drift_total',
      help: 'Rooms and cameras that were missing on a node, or there although they should not be, and were put right.',
      labelNames: ['node', 'kind'],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const { node, kind, count } of sources.drifts()) this.inc({ node, kind }, count)
      },
    })
    new Counter({
      name: 'roomdesk_node_dropped_total',
      help: 'Media left out because a queue of the node was full since its process started: packets for viewers, frames for ffmpeg (conversion).',
      labelNames: ['node', 'queue'],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const { node, queue, count } of sources.droppedMedia()) this.inc({ node, queue }, count)
      },
    })
    this.#addGauge('roomdesk_rooms', 'Rooms that exist.', () => sources.rooms())
    this.#addGauge('roomdesk_users', 'People and outgoing users in rooms.', () => sources.users())
    this.#addGauge('roomdesk_sessions', 'Live sessions.', () => sources.sessions())
    this.#addGauge('roomdesk_store_healthy', '1 while the disk takes writes.', () => Number(sources.store().healthy))
    this.#addGauge('roomdesk_store_backlog', 'Records waiting for the disk.', () => sources.store().backlog)
    this.#addGauge(
      'roomdesk_store_journal_bytes',
      'Bytes that a start would replay.',
      () => sources.store().journalBytes,
    )
    this.#addLabelledGauge('roomdesk_nodes', 'MCU nodes by state.', 'state', () => sources.nodes())
    this.#addLabelledGauge('roomdesk_relays', 'Streams that Janus nodes hand to each other by state.', 'state', () =>
      sources.relays(),
    )
    this.#addLabelledGauge('roomdesk_devices', 'Outgoing users by state.', 'state', () => sources.devices())
    this.#addLabelledGauge('roomdesk_connections', 'Open connections by listener.', 'listener', () =>
      sources.connections(),
    )
  }

  #addGauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read())
      },
    })
  }

  #addLabelledGauge(
    name: string,
    help: string,
    label: string,
    read: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      async collect() {
        const counts = await read()
        this.reset()
        for (const [value, count] of Object.entries(counts)) this.set({ [label]: value }, count)
      },
    })
  }
}

/** Upper bounds of the buckets, in seconds; the last bucket is unbounded. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const

/** Durations of one kind, counted in a plain array, so that counting costs only a few comparisons. */
class TimeCounts {
  readonly counts = new Float64Array(bounds.length + 1)
  /** Sum of the durations, in seconds. */
  sum = 0

  add(milliseconds: number): void {
    const seconds = milliseconds / 1000
    let index = 0
    while (index < bounds.length && seconds > (bounds[index] ?? Number.POSITIVE_INFINITY)) index++
    this.counts[index] = (this.counts[index] ?? 0) + 1
    this.sum += seconds
  }
}

/** Labels of a series and its counts. */
type Series<L extends string> = readonly (readonly [Readonly<Record<L, string>>, TimeCounts])[]

/** A histogram that is counted outside of prom-client, and read at each scrape. */
class CountedHistogram<L extends string> extends Histogram<L> {
  readonly #name: string
  /** Empty histogram, which provides the type and help text of the output. */
  readonly #frame: Histogram<L>
  readonly #series: () => Series<L>

  /** @param series returns all current series */
  constructor(configuration: { name: string; help: string; labelNames: L[]; registers: [] }, series: () => Series<L>) {
    super({ ...configuration, buckets: [...bounds] })
    this.#name = configuration.name
    this.#frame = new Histogram<L>(configuration)
    this.#series = series
  }

  override async get(): ReturnType<Histogram<L>['get']> {
    return this.getForPromString()
  }

  /** Called by prom-client when it writes the text. */
  async getForPromString(): ReturnType<Histogram<L>['get']> {
    const frame = await this.#frame.get()
    const values: typeof frame.values = []
    for (const [labels, { counts, sum }] of this.#series()) {
      let total = 0
      counts.forEach((count, index) => {
        total += count
        const le = bounds[index] ?? '+Inf'
        values.push({ metricName: `${this.#name}_bucket`, value: total, labels: { ...labels, le } })
      })
      values.push({ metricName: `${this.#name}_sum`, value: sum, labels })
      values.push({ metricName: `${this.#name}_count`, value: total, labels })
    }
    return { ...frame, values }
  }
}
