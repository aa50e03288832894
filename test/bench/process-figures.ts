import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Clock ticks a second, as Linux counts them for every process. */
const ticks = 100

/** Processor time of a process so far, in milliseconds. */
export async function processorMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name, in brackets, may hold spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticks
}

/** Processor time that a process uses from now on, in milliseconds a second. */
export async function processorRate(pid: number, seconds: number): Promise<number> {
  const [before, began] = [await processorMs(pid), performance.now()]
  await sleep(seconds * 1_000)
  return ((await processorMs(pid)) - before) / ((performance.now() - began) / 1_000)
}

/** Memory that a process holds, in megabytes. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** Open files and sockets of a process. */
export async function descriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** Of all that this machine's processors could have done so far, and what their host gave to others of it, in ticks. */
export interface HostTime {
  all: number
  stolen: number
}

/** What the host gave and took since the machine began. */
export async function hostTime(): Promise<HostTime> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number)
  return { all: fields.reduce((sum, field) => sum + field, 0), stolen: fields[7] ?? 0 }
}
