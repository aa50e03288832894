import { statfs } from 'node:fs/promises'
import type { FigureName } from '../../../shared/console/figures.ts'
import type { NodeLoad } from '../../../shared/domain/nodes.ts'
import type { Sample } from '../../../shared/console/site.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { MachineLoad } from './machine-load.ts'

type Values = Readonly<Partial<Record<FigureName, number>>>
/** Values of one sample by node; the values of the site have an empty name. NaN: unknown. */
export type ValuesByNode = ReadonlyMap<string, Values>

/** Sources of figures that are not in the samples. */
export interface FigureValuesOptions {
  folder: string
  /** Returns the number of rooms with people in them. */
  meetings: () => number
  nodes: () => Iterable<ReportedLoad>
}

/** Number of samples between two readings of the disk: a minute. */
const diskEvery = 12

/** Measures the figures with each sample. */
export class FigureValues {
  readonly machine = new MachineLoad()
  readonly #options: FigureValuesOptions
  readonly #rates = new NodeRates()
  #samples = 0
  #disk = { used: Number.NaN, free: Number.NaN }
  #isReadingDisk = false

  constructor(options: FigureValuesOptions) {
    this.#options = options
  }

  /** Returns all figures at the time of a sample. */
  of(sample: Sample): ValuesByNode {
    if (this.#samples++ % diskEvery === 0) mustNotFail(this.#readDisk())
    const readings = this.#rates.read(this.#options.nodes())
    const values = new Map<string, Values>([['', { ...valuesOf(sample), ...this.#measured([...readings.values()]) }]])
    for (const [name, { cpu, memory, trafficIn, trafficOut }] of readings) {
      values.set(name, {
        node_cpu: cpu / 10,
        node_memory: memory,
        node_traffic_in: trafficIn,
        node_traffic_out: trafficOut,
      })
    }
    return values
  }

  #measured(nodes: readonly NodeReading[]): Values {
    const { machineCpu, controllerCpu, machineMemory, controllerMemory } = this.machine.read()
    const total = (read: (reading: NodeReading) => number): number =>
      nodes.length === 0 ? Number.NaN : nodes.reduce((sum, reading) => sum + read(reading), 0)
    return {
      meetings: this.#options.meetings(),
      traffic_in: total(({ trafficIn }) => trafficIn),
      traffic_out: total(({ trafficOut }) => trafficOut),
      machine_cpu: machineCpu,
      controller_cpu: controllerCpu,
      machine_memory: machineMemory,
      controller_memory: controllerMemory,
      disk_used: this.#disk.used,
      disk_free: this.#disk.free,
    }
  }

  /** Reads the use of the disk, unless an earlier call still hangs. */
  async #readDisk(): Promise<void> {
    if (this.#isReadingDisk) return
    this.#isReadingDisk = true
    try {
      const { blocks, bfree, bavail, bsize } = await statfs(this.#options.folder)
      this.#disk = { used: (blocks - bfree) * bsize, free: bavail * bsize }
    } catch {
      // The chart shows a gap.
      this.#disk = { used: Number.NaN, free: Number.NaN }
    } finally {
      this.#isReadingDisk = false
    }
  }
}

/** Returns the figures contained in the sample itself. */
function valuesOf({ seconds, failures, p50, p99, ...sample }: Sample): Values {
  const rate = (count: number): number => count / Math.max(seconds, 0.001)
  const isAnswered = p99 > 0
  return {
    media_requests: rate(sample.media_requests),
    device_requests: rate(sample.device_requests),
    failures: rate(Object.values(failures).reduce((sum, count) => sum + count, 0)),
    latency_p50: isAnswered ? p50 : Number.NaN,
    latency_p99: isAnswered ? p99 : Number.NaN,
    people: sample.people,
    cameras: sample.devices,
  }
}

/** A node with its last reported load; undefined: the node reports no load, or is offline. */
interface ReportedLoad {
  name: string
  load: NodeLoad | undefined
}

/** Load of a node between its last two reports. */
interface NodeReading {
  /** CPU milliseconds per second. */
  cpu: number
  /** Memory in use, in bytes. */
  memory: number
  /** Traffic, in bits per second. */
  trafficIn: number
  trafficOut: number
}

/** Converts the totals that nodes report to rates. */
class NodeRates {
  readonly #before = new Map<string, { load: NodeLoad; reading: NodeReading }>()

  /** Returns the readings of reporting nodes. A new or restarted node has rates from its second report on. */
  read(reports: Iterable<ReportedLoad>): Map<string, NodeReading> {
    const readings = new Map<string, NodeReading>()
    const seen = new Set<string>()
    for (const { name, load } of reports) {
      if (load === undefined) continue
      seen.add(name)
      const reading = this.#readingOf(name, load)
      this.#before.set(name, { load, reading })
      readings.set(name, reading)
    }
    for (const name of this.#before.keys()) if (!seen.has(name)) this.#before.delete(name)
    return readings
  }

  #readingOf(name: string, load: NodeLoad): NodeReading {
    const before = this.#before.get(name)
    // The node has not reported since the last reading.
    if (before?.load.uptime_ms === load.uptime_ms) return before.reading
    const seconds = before === undefined ? 0 : (load.uptime_ms - before.load.uptime_ms) / 1_000
    // Totals decrease when the process restarts.
    const rate = (now: number, then = 0): number => (seconds > 0 && now >= then ? (now - then) / seconds : Number.NaN)
    return {
      cpu: rate(load.cpu_ms, before?.load.cpu_ms),
      memory: load.memory,
      trafficIn: rate(load.bytes_in, before?.load.bytes_in) * 8,
      trafficOut: rate(load.bytes_out, before?.load.bytes_out) * 8,
    }
  }
}
