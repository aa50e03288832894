import { readdir, readFile, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** Clock ticks per second in Linux's process statistics. */
const ticks = 100

/** Processor time of a process so far, in milliseconds. */
export async function processorMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name, in parentheses, may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticks
}

/** Measures the processor time of a process from now on, in milliseconds per second. */
export async function processorRate(pid: number, seconds: number): Promise<number> {
  const [before, began] = [await processorMs(pid), performance.now()]
  await sleep(seconds * 1_000)
  return ((await processorMs(pid)) - before) / ((performance.now() - began) / 1_000)
}

/** Reads the resident memory of a process, in megabytes. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** Arguments of Node for a process whose live memory is measured. */
export const liveMemoryArguments = ['--expose-gc', '--import', `${import.meta.dirname}/live-memory.ts`]
/** Timeout of its answer, in milliseconds. */
const tellMs = 5_000

/** Measures the live memory of a process after garbage collection, in megabytes. The process needs `liveMemoryArguments`, and this file as `LIVE_MEMORY_FILE`. */
export async function liveMegabytes(pid: number, file: string): Promise<number> {
  await rm(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  const until = performance.now() + tellMs
  for (;;) {
    const told = await readFile(file, 'utf8').catch(() => '')
    if (told.endsWith('\n')) return Number(told) / 1024 / 1024
    if (performance.now() > until) throw new Error('the process does not tell what it keeps')
    await pause(20)
  }
}

/** Counts the open files and sockets of a process. */
export async function descriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** Total processor time of this machine so far, and the part that its host gave to other machines, in ticks. */
export interface HostTime {
  all: number
  stolen: number
}

/** Reads the machine's times since boot. */
export async function hostTime(): Promise<HostTime> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number)
  return { all: fields.reduce((sum, field) => sum + field, 0), stolen: fields[7] ?? 0 }
}
