import { Histogram } from 'prom-client'

/** Upper bounds of the buckets, in seconds; the last bucket is unbounded. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const

/** Durations of one kind, counted in a plain array, so that counting costs only a few comparisons. */
export class TimeCounts {
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
export type Series<L extends string> = readonly (readonly [Readonly<Record<L, string>>, TimeCounts])[]

/** A histogram that is counted outside of prom-client, and read at each scrape. */
export class CountedHistogram<L extends string> extends Histogram<L> {
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
