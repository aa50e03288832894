import { type FigureHistoryView, figureSpans, type FigureSpan } from '../../../shared/console/figures.ts'
import type { Sample } from '../../../shared/console/site.ts'
import { type BusyMachine, BusyWatch } from './machine-load.ts'
import { columnsFor, type FigureColumn, maxNodes, nodesInColumns, finestMs, type FigureRange } from './figure-ring.ts'
import { FigureFile, type FigureFileOptions } from './figure-file.ts'
import { FigureValues, type FigureValuesOptions, type ValuesByNode } from './figure-values.ts'

interface FigureHistoryOptions extends Omit<FigureFileOptions, 'now'>, FigureValuesOptions {
  now?: () => number
}

/** Maximum number of steps filled by one late sample: a minute. */
const maxCovered = 12

/** Figures of the site and of this controller over 30 days. */
export class FigureHistory {
  readonly #options: FigureHistoryOptions
  readonly #now: () => number
  readonly #values: FigureValues
  #file: FigureFile | undefined
  #opening: Promise<void> | undefined
  #closed = false
  /** Start of the last recorded step, in milliseconds since the epoch. */
  #last = Number.NaN
  #latest: ValuesByNode = new Map()
  readonly #busy = new BusyWatch()

  constructor(options: FigureHistoryOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#values = new FigureValues(options)
  }

  /** Reads the figures of earlier runs. Samples before the end of this call are not recorded. Never rejects. */
  open(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  record(sample: Sample): void {
    this.#latest = this.#values.of(sample)
    this.#busy.take(this.#latest.get('')?.machine_cpu ?? Number.NaN, sample.at)
    const file = this.#file
    if (file === undefined) return
    this.#fit(
      file,
      [...this.#latest.keys()].filter((node) => node !== ''),
    )
    const values = file.ring.columns.map((column) => this.#latest.get(column.node)?.[column.figure] ?? Number.NaN)
    const at = Math.round(sample.at / finestMs) * finestMs - finestMs
    for (let begin = this.#firstCovered(at, sample.seconds); begin <= at; begin += finestMs) file.put(begin, values)
    this.#last = at
  }

  /** Values of the last sample by node; the values of the site have an empty name. */
  get latest(): ValuesByNode {
    return this.#latest
  }

  /** CPU use of the machine, if its CPU is almost fully used; undefined: not busy. */
  get busy(): BusyMachine | undefined {
    return this.#busy.busy
  }

  /** Returns the figures of a span up to now. */
  async view(span: FigureSpan, since = 0): Promise<Omit<FigureHistoryView, 'controller'>> {
    await this.open()
    const { length, step } = figureSpans[span]
    const end = (Math.floor(this.#now() / step) + 1) * step
    const from = Math.min(end, Math.max(end - length, Math.floor(since / step) * step))
    const points = (end - from) / step
    const ring = this.#file?.ring
    const series = (ring?.columns ?? []).map((column: FigureColumn) => {
      const ranges = ring?.read(column, from, step, points, length) ?? []
      const values = (read: (range: FigureRange) => number): (number | null)[] =>
        ranges.map((range) => rounded(read(range)))
      const isSingle = step === finestMs
      return {
        ...column,
        avg: values(({ avg }) => avg),
        min: isSingle ? [] : values(({ min }) => min),
        max: isSingle ? [] : values(({ max }) => max),
      }
    })
    const { memoryTotal: memory_total, cores } = this.#values.machine
    return { from, step_ms: step, points, memory_total, cores, series }
  }

  /** Writes the remaining values. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#opening
    await this.#file?.close()
    this.#file = undefined
  }

  async #open(): Promise<void> {
    const { folder, logger } = this.#options
    const file = await FigureFile.open(columnsFor([]), { folder, logger, now: this.#now })
    if (!this.#closed) this.#file = file
  }

  /**
   * Returns the first step to fill with a sample. A late sample fills all steps since the previous sample, unless the
   * machine slept.
   */
  #firstCovered(at: number, seconds: number): number {
    const covered = Math.min(maxCovered, Math.ceil((seconds * 1_000) / finestMs + 0.05))
    const first = at - (covered - 1) * finestMs
    const next = this.#last + finestMs
    return next >= first && next <= at ? next : at
  }

  /** Adds columns for new nodes; nodes that no longer exist keep their columns while there is room. */
  #fit(file: FigureFile, nodes: readonly string[]): void {
    const recorded = nodesInColumns(file.ring.columns)
    if (nodes.slice(0, maxNodes).every((node) => recorded.includes(node))) return
    const wanted = new Set([...nodes, ...recorded].slice(0, maxNodes))
    file.fit(columnsFor([...wanted]))
  }
}

/** Rounds to three decimals, enough for every unit; NaN becomes null, because JSON has no NaN. */
function rounded(value: number): number | null {
  return Number.isNaN(value) ? null : Math.round(value * 1_000) / 1_000
}
