import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { figureNames, figureOf, type FigureName } from '../../../shared/console/figures.ts'

/** Records of one resolution: each record spans `stepMs`; the newest `slots` records are kept. */
interface Tier {
  readonly stepMs: number
  readonly slots: number
  /** Index of the tier's first record in the file. */
  readonly first: number
}

/** Resolutions: 5 s for an hour, 1 min for a day, 15 min for 30 days; each step is a multiple of the previous step. */
const tiers: readonly [Tier, Tier, Tier] = [
  { stepMs: 5_000, slots: 720, first: 0 },
  { stepMs: 60_000, slots: 1_440, first: 720 },
  { stepMs: 900_000, slots: 2_880, first: 2_160 },
]
const records = 5_040
/** Duration of the finest record, in milliseconds. */
export const finestMs = tiers[0].stepMs

/** Size of the header, in bytes: a line of JSON, padded with spaces. */
const headBytes = 16_384
/** Header of a record: start time (8 bytes), checksum (4), reserved (4). */
const recordHead = 16
/** Size of a column in a record: average, minimum and maximum, 4 bytes each. */
const columnBytes = 12
const maxColumns = 256

const headSchema = z.strictObject({
  format: z.literal(1),
  columns: z.array(z.strictObject({ figure: z.string(), node: z.string() })).max(maxColumns),
})

/** Values of a column in one record; NaN: none. */
export interface FigureRange {
  avg: number
  min: number
  max: number
}

export interface WrittenPart {
  offset: number
  length: number
}

/**
 * Figures over time in one block of bytes, in the format of the file. The time of a record determines its slot, so a
 * new record overwrites the expired record. After a change of the clock, old records match no query.
 */
export class FigureRing {
  readonly columns: readonly FigureColumn[]
  readonly bytes: Buffer
  readonly #recordBytes: number
  readonly #index: ReadonlyMap<string, number>

  constructor(columns: readonly FigureColumn[], bytes?: Buffer) {
    this.columns = columns
    this.#recordBytes = recordHead + columns.length * columnBytes
    this.#index = new Map(columns.map((column, index) => [columnKey(column), index]))
    this.bytes = bytes ?? Buffer.alloc(sizeFor(columns.length))
    if (bytes === undefined) this.#writeHead()
  }

  /**
   * Reads the bytes of a file. Records with a wrong checksum, as after a torn write, are skipped and counted.
   * @returns undefined: the bytes do not have this format
   */
  static read(bytes: Buffer): ReadRing | undefined {
    const head = headOf(bytes)
    if (head === undefined || bytes.length > sizeFor(head.length)) return undefined
    // A truncated file lacks its last records.
    const whole = Buffer.concat([bytes, Buffer.alloc(sizeFor(head.length) - bytes.length)])
    const stored = new StoredRing(whole, head.length)
    const columns = head.map(({ figure, node }) => columnOf(figure, node))
    const known = columns.filter((column) => column !== undefined)
    const ring = new FigureRing(known)
    const sources = columns.flatMap((column, index) => (column === undefined ? [] : [index]))
    const damaged = stored.each((tier, at, record) => ring.#copy(tier, at, record, sources))
    return { ring, damaged, changed: known.length !== columns.length || bytes.length !== whole.length }
  }

  /** Returns the same figures with other columns. */
  withColumns(columns: readonly FigureColumn[]): FigureRing {
    const ring = new FigureRing(columns)
    const sources = columns.map((column) => this.#index.get(columnKey(column)) ?? -1)
    new StoredRing(this.bytes, this.columns.length).each((tier, at, record) => ring.#copy(tier, at, record, sources))
    return ring
  }

  /**
   * Writes the values of the finest step that begins at `at`, in the order of the columns. Updates the records of
   * longer steps that contain this step.
   */
  put(at: number, values: readonly number[]): WrittenPart[] {
    const parts = [this.#write(0, at, (column) => same(values[column] ?? Number.NaN))]
    for (let tier = 1; tier < tiers.length; tier++) {
      const { stepMs } = tierAt(tier)
      const begin = Math.floor(at / stepMs) * stepMs
      parts.push(this.#write(tier, begin, (column) => this.#merged(tier - 1, column, begin, stepMs)))
    }
    return parts
  }

  /**
   * Returns the values of a column in steps from `from`.
   * @param spanMs span of the query, which determines the resolution: the finest records that are kept for this span
   */
  read(column: FigureColumn, from: number, stepMs: number, points: number, spanMs: number): FigureRange[] {
    const index = this.#index.get(columnKey(column)) ?? -1
    const tier = tierFor(stepMs, spanMs)
    return Array.from({ length: index < 0 ? 0 : points }, (_, point) =>
      this.#merged(tier, index, from + point * stepMs, stepMs),
    )
  }

  /** Merges the records within a period, with equal weight. */
  #merged(tier: number, column: number, from: number, lengthMs: number): FigureRange {
    const { stepMs } = tierAt(tier)
    let sum = 0
    let count = 0
    let min = Number.POSITIVE_INFINITY
    let max = Number.NEGATIVE_INFINITY
    for (let at = from; at < from + lengthMs; at += stepMs) {
      const offset = this.#offset(tier, at)
      if (this.bytes.readDoubleLE(offset) !== at) continue
      const place = offset + recordHead + column * columnBytes
      const avg = this.bytes.readFloatLE(place)
      if (Number.isNaN(avg)) continue
      sum += avg
      count += 1
      min = Math.min(min, this.bytes.readFloatLE(place + 4))
      max = Math.max(max, this.bytes.readFloatLE(place + 8))
    }
    return count === 0 ? same(Number.NaN) : { avg: sum / count, min, max }
  }

  #write(tier: number, at: number, rangeOf: (column: number) => FigureRange): WrittenPart {
    const offset = this.#offset(tier, at)
    for (let column = 0; column < this.columns.length; column++) {
      const { avg, min, max } = rangeOf(column)
      const place = offset + recordHead + column * columnBytes
      this.bytes.writeFloatLE(avg, place)
      this.bytes.writeFloatLE(min, place + 4)
      this.bytes.writeFloatLE(max, place + 8)
    }
    this.bytes.writeDoubleLE(at, offset)
    this.bytes.writeUInt32LE(checksum(this.bytes, offset, this.#recordBytes), offset + 8)
    return { offset, length: this.#recordBytes }
  }

  /** @param sources index of each column in the record; -1: not in the record */
  #copy(tier: number, at: number, record: Buffer, sources: readonly number[]): void {
    this.#write(tier, at, (column) => {
      const source = sources[column] ?? -1
      if (source < 0) return same(Number.NaN)
      const place = recordHead + source * columnBytes
      return { avg: record.readFloatLE(place), min: record.readFloatLE(place + 4), max: record.readFloatLE(place + 8) }
    })
  }

  #offset(tier: number, at: number): number {
    return offsetOf(tier, at, this.#recordBytes)
  }

  #writeHead(): void {
    const head = JSON.stringify({ format: 1, columns: this.columns })
    this.bytes.fill(' ', 0, headBytes)
    this.bytes.write(head, 0)
    this.bytes.write('\n', headBytes - 1)
  }
}

interface ReadRing {
  ring: FigureRing
  damaged: number
  /** Whether columns or length of the file differ from those of the ring. */
  changed: boolean
}

class StoredRing {
  readonly #bytes: Buffer
  readonly #recordBytes: number

  constructor(bytes: Buffer, columns: number) {
    this.#bytes = bytes
    this.#recordBytes = recordHead + columns * columnBytes
  }

  /** Calls `take` for each valid record. @returns the number of damaged records */
  each(take: (tier: number, at: number, record: Buffer) => void): number {
    let damaged = 0
    for (const [tier, { slots, stepMs }] of tiers.entries()) {
      for (let slot = 0; slot < slots; slot++) {
        const offset = offsetOf(tier, slot * stepMs, this.#recordBytes)
        const at = this.#bytes.readDoubleLE(offset)
        if (at === 0 && this.#bytes.readUInt32LE(offset + 8) === 0) continue
        const good =
          at % stepMs === 0 &&
          offsetOf(tier, at, this.#recordBytes) === offset &&
          this.#bytes.readUInt32LE(offset + 8) === checksum(this.#bytes, offset, this.#recordBytes)
        if (good) take(tier, at, this.#bytes.subarray(offset, offset + this.#recordBytes))
        else damaged += 1
      }
    }
    return damaged
  }
}

function headOf(bytes: Buffer): z.output<typeof headSchema>['columns'] | undefined {
  if (bytes.length < headBytes) return undefined
  try {
    const head = headSchema.safeParse(JSON.parse(bytes.toString('utf8', 0, headBytes)))
    return head.data?.columns
  } catch {
    return undefined
  }
}

/** Returns the tier with the finest records that are kept for long enough and divide the step. */
function tierFor(stepMs: number, spanMs: number): number {
  const found = tiers.findIndex((tier) => tier.stepMs * tier.slots >= spanMs && stepMs % tier.stepMs === 0)
  return Math.max(found, 0)
}

function tierAt(tier: number): Tier {
  return tiers[tier] ?? tiers[0]
}

/** Returns the offset of the record for a time, in bytes. */
function offsetOf(tier: number, at: number, recordBytes: number): number {
  const { stepMs, slots, first } = tierAt(tier)
  return headBytes + (first + (Math.floor(at / stepMs) % slots)) * recordBytes
}

function sizeFor(columns: number): number {
  return headBytes + records * (recordHead + columns * columnBytes)
}

function checksum(bytes: Buffer, offset: number, recordBytes: number): number {
  return crc32(bytes.subarray(offset + recordHead, offset + recordBytes), crc32(bytes.subarray(offset, offset + 8)))
}

function same(value: number): FigureRange {
  return { avg: value, min: value, max: value }
}

/** One recorded series. */
export interface FigureColumn {
  readonly figure: FigureName
  /** Name of the node; empty: the figure is not recorded per node. */
  readonly node: string
}

/** Maximum number of nodes with separate figures: limits the size of the file. */
export const maxNodes = 8

/** Returns the columns for these nodes, in the order of the table of figures. */
export function columnsFor(nodes: readonly string[]): FigureColumn[] {
  const shared = figureNames.filter((figure) => figureOf(figure).node !== true)
  const each = figureNames.filter((figure) => figureOf(figure).node === true)
  return [
    ...shared.map((figure) => ({ figure, node: '' })),
    ...nodes.flatMap((node) => each.map((figure) => ({ figure, node }))),
  ]
}

/** Returns the key of a column, unique within a file. */
export function columnKey({ figure, node }: FigureColumn): string {
  return `${figure} ${node}`
}

/** Returns the column of this name; undefined: this version does not record the figure. */
function columnOf(figure: string, node: string): FigureColumn | undefined {
  const name = figureNames.find((one) => one === figure)
  return name === undefined ? undefined : { figure: name, node }
}

/** Returns the nodes that have columns, in their order. */
export function nodesInColumns(columns: readonly FigureColumn[]): string[] {
  return [...new Set(columns.map(({ node }) => node))].filter((node) => node !== '')
}
