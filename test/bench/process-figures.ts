import { readdir, readFile, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
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

/** How a process is started whose live memory is asked for. */
export const liveMemoryArguments = ['--expose-gc', '--import', `${import.meta.dirname}/live-memory.ts`]
/** How long it may take to tell, in milliseconds. */
const tellMs = 5_000

/** What a process keeps once everything is cleared away that nothing refers to, in megabytes. It runs with `liveMemoryArguments`, and `LIVE_MEMORY_FILE` names this file to it. */
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
