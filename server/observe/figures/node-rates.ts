import type { NodeLoad } from '../../nodes/port/media-node-port.ts'

/** A node as it reported its load last; undefined: it reports none, or is offline. */
export interface ReportedLoad {
  name: string
  load: NodeLoad | undefined
}

/** Load of a node between its last two reports. */
export interface NodeReading {
  /** CPU milliseconds a second. */
  cpu: number
  /** Bytes. */
  memory: number
  /** Bits a second. */
  trafficIn: number
  trafficOut: number
}

/** Turns the totals that nodes report into rates. */
export class NodeRates {
  readonly #before = new Map<string, { load: NodeLoad; reading: NodeReading }>()

  /** Readings of the nodes that report; a node that reported for the first time, or restarted, has one from its next report on. */
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
    // It was not polled since.
    if (before?.load.uptime_ms === load.uptime_ms) return before.reading
    const seconds = before === undefined ? 0 : (load.uptime_ms - before.load.uptime_ms) / 1_000
    // Totals go back when the process restarted.
    const rate = (now: number, then = 0): number => (seconds > 0 && now >= then ? (now - then) / seconds : Number.NaN)
    return {
      cpu: rate(load.cpu_ms, before?.load.cpu_ms),
      memory: load.memory,
      trafficIn: rate(load.bytes_in, before?.load.bytes_in) * 8,
      trafficOut: rate(load.bytes_out, before?.load.bytes_out) * 8,
    }
  }
}
