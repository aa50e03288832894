import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'

/**
 * Load since the previous reading: CPU of the machine in percent of all of its cores, CPU of this process in percent of
 * one core; memory in bytes.
 */
interface MachineReading {
  machineCpu: number
  controllerCpu: number
  machineMemory: number
  controllerMemory: number
}

/** CPU time in milliseconds: used and available. */
interface CpuTime {
  used: number
  all: number
}

/** Files of Linux control groups, version 2 (Documentation/admin-guide/cgroup-v2.rst). */
const quotaFile = 'cpu.max'
const usageFile = 'cpu.stat'

/** Load of the machine, or of the container if it is limited to a part of the machine. */
export class MachineLoad {
  /** Number of usable cores; a fraction if a container has a fractional limit. */
  readonly cores: number
  /** Total memory, in bytes. */
  readonly memoryTotal: number
  readonly #group: string
  readonly #isLimited: boolean
  #cpu: CpuTime
  #own: NodeJS.CpuUsage
  #at: number

  /** @param group folder of the control group, which exists only on Linux */
  constructor(group = '/sys/fs/cgroup') {
    this.#group = group
    const quota = quotaOf(textOf(join(group, quotaFile)))
    const memory = process.constrainedMemory()
    this.#isLimited = quota !== undefined && textOf(join(group, usageFile)) !== undefined
    this.cores = quota ?? availableParallelism()
    this.memoryTotal = memory > 0 && memory < totalmem() ? memory : totalmem()
    this.#cpu = this.#cpuTime()
    this.#own = process.cpuUsage()
    this.#at = performance.now()
  }

  /** Reads the load since the last reading. Takes tens of microseconds. */
  read(): MachineReading {
    const now = performance.now()
    const cpu = this.#cpuTime()
    const own = process.cpuUsage()
    const elapsed = Math.max(1, now - this.#at)
    const ownMs = (own.user + own.system - this.#own.user - this.#own.system) / 1_000
    const reading = {
      machineCpu: percent(cpu.used - this.#cpu.used, cpu.all - this.#cpu.all),
      controllerCpu: (ownMs / elapsed) * 100,
      machineMemory: Math.max(0, this.memoryTotal - process.availableMemory()),
      controllerMemory: process.memoryUsage.rss(),
    }
    this.#cpu = cpu
    this.#own = own
    this.#at = now
    return reading
  }

  #cpuTime(): CpuTime {
    if (this.#isLimited) {
      const used =
        Number(/^usage_usec (\d+)$/m.exec(textOf(join(this.#group, usageFile)) ?? '')?.[1] ?? Number.NaN) / 1_000
      return { used, all: performance.now() * this.cores }
    }
    let all = 0
    let idle = 0
    for (const { times } of cpus()) {
      all += times.user + times.nice + times.sys + times.irq + times.idle
      idle += times.idle
    }
    return { used: all - idle, all }
  }
}

/** Returns the cores granted by `cpu.max`, e.g. 1.5 for `150000 100000`; undefined: no limit. */
function quotaOf(text: string | undefined): number | undefined {
  const [quota, period] = (text ?? '').split(/\s/).map(Number)
  return quota && period ? quota / period : undefined
}

function percent(part: number, whole: number): number {
  return whole > 0 ? Math.min(100, Math.max(0, (part / whole) * 100)) : Number.NaN
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Only Linux has this file.
    return undefined
  }
}

/** A machine that has used almost all of its CPU time for a while. */
export interface BusyMachine {
  /** CPU use, in percent of all cores. */
  percent: number
  /** Start of the high CPU use, in milliseconds since the epoch. */
  since: number
}

/** CPU use from which media has losses, in percent of all cores. */
const busyPercent = 90
/** High CPU use is reported after this time, in milliseconds: a backup or an export takes less. */
const minBusyMs = 60_000

/** Tracks the CPU use of the machine. */
export class BusyWatch {
  #since = 0
  #percent = 0
  #at = 0

  /** Takes a sample. @param percent NaN: unknown */
  take(percent: number, at: number): void {
    if (!(percent >= busyPercent)) this.#since = 0
    else this.#since ||= at
    this.#percent = percent
    this.#at = at
  }

  /** CPU use of the machine at the latest sample; undefined: the machine is not busy. */
  get busy(): BusyMachine | undefined {
    if (this.#since === 0 || this.#at - this.#since < minBusyMs) return undefined
    return { percent: this.#percent, since: this.#since }
  }
}
